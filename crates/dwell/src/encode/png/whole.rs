//! A whole picture as a PNG in memory.

use super::Png;
use crate::base::limits::{filled, push, reserved};
use crate::base::schedule::Schedule;
use crate::base::thread_pool::ThreadPool;
use crate::colour::Depth;
use crate::encode::adler::Adler;
use crate::encode::encoder::{FileEncoder, Header, PictureEncoder, chunk_rows};
use crate::encode::space::{WHAT, make_space, out_of_memory};
use crate::view::Size;
use std::io;
use std::ops::Range;

/// Encodes a picture as a PNG, on the threads of `pool`: rows from the top, red, green and blue of each pixel, 1 or 2
/// bytes each by the depth, the high byte first. `text` is stored in the file unless it is empty.
///
/// # Errors
/// When the length of `picture` does not fit the size and the depth.
pub fn png_bytes(picture: &[u8], size: Size, depth: Depth, text: &str, pool: &ThreadPool) -> io::Result<Vec<u8>> {
    let row = size.width as usize * depth.bytes_per_pixel();
    if row.checked_mul(size.height as usize) != Some(picture.len()) {
        return Err(io::Error::other(format!(
            "{} bytes are no picture of {} x {}",
            picture.len(),
            size.width,
            size.height
        )));
    }
    let encoder = Png::new(Header { size, limit: 0, depth, text }).map_err(out_of_memory)?;
    let rows = chunk_rows(row as u64) as usize;
    let count = (size.height as usize).div_ceil(rows);
    let start = encoder.start()?;
    let mut done = encode_chunks(&encoder, picture, row * rows, pool)?;
    let mut places: Vec<Option<(usize, Range<usize>, Adler)>> = filled(count, None, WHAT).map_err(out_of_memory)?;
    for (thread, (_, chunks)) in done.iter_mut().enumerate() {
        for (number, place, sum) in chunks.drain(..) {
            places[number] = Some((thread, place, sum));
        }
    }
    let sum = places.iter().flatten().fold(Adler::default(), |sum, (_, _, next)| sum.then(*next));
    let end = encoder.end(sum, &[])?;
    let length = places.iter().flatten().map(|(_, place, _)| place.len()).sum::<usize>();
    let mut file = match done.as_mut_slice() {
        // One thread has encoded all chunks, in order unless it took some of another thread before its own.
        [(bytes, _)] if places.iter().flatten().is_sorted_by_key(|(_, place, _)| place.start) => {
            make_space(bytes, start.len() + end.len())?;
            bytes.splice(0..0, start);
            std::mem::take(bytes)
        }
        _ => {
            let mut file = reserved(start.len() + length + end.len(), WHAT).map_err(out_of_memory)?;
            file.extend_from_slice(&start);
            for (thread, place, _) in places.into_iter().flatten() {
                file.extend_from_slice(&done[thread].0[place]);
            }
            file
        }
    };
    file.extend(end);
    Ok(file)
}

/// The bytes that a thread has encoded, and the chunks in them: the number of each, its place and its checksum.
type Encoded = (Vec<u8>, Vec<(usize, Range<usize>, Adler)>);

/// Encodes chunks of so many bytes of a picture on all threads. Each thread appends its chunks to one buffer: a new
/// allocation for each chunk costs a tenth of the encoding time.
fn encode_chunks(encoder: &Png, picture: &[u8], chunk: usize, pool: &ThreadPool) -> io::Result<Vec<Encoded>> {
    let work = |(bytes, chunks): &mut Encoded, number: usize| {
        let (start, first) = (bytes.len(), number * chunk);
        let sum = encoder.chunk(&picture[first..picture.len().min(first + chunk)], bytes)?;
        push(chunks, (number, start..bytes.len(), sum), WHAT).map_err(out_of_memory)
    };
    pool.for_each(Schedule::default(), 0..picture.len().div_ceil(chunk.max(1)), || Ok(Encoded::default()), work)
}

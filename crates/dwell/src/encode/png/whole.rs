//! A whole picture as a PNG in memory.

use super::Png;
use crate::base::schedule::Schedule;
use crate::base::thread_pool::ThreadPool;
use crate::colour::Depth;
use crate::encode::adler::Adler;
use crate::encode::encoder::{FileEncoder, Header, PictureEncoder, chunk_rows};
use crate::view::Size;
use std::io;

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
    let encoder = Png::new(Header { size, depth, text });
    let rows = chunk_rows(row as u64) as usize;
    let count = (size.height as usize).div_ceil(rows);
    // Each thread appends its chunks to one buffer: a new allocation for each chunk costs a tenth of the encoding time.
    let pieces = picture.chunks(row * rows).enumerate().collect();
    let work = |(bytes, chunks): &mut (Vec<u8>, Vec<_>), (number, picture): (usize, &[u8])| {
        let start = bytes.len();
        let sum = encoder.chunk(picture, bytes);
        chunks.push((number, start..bytes.len(), sum));
    };
    let start = encoder.start()?;
    let mut done = pool.for_each(Schedule::default(), pieces, || (start.clone(), Vec::new()), work);
    let mut places: Vec<Option<(usize, std::ops::Range<usize>, Adler)>> = vec![None; count];
    for (thread, (_, chunks)) in done.iter_mut().enumerate() {
        for (number, place, sum) in chunks.drain(..) {
            places[number] = Some((thread, place, sum?));
        }
    }
    let sum = places.iter().flatten().fold(Adler::default(), |sum, (_, _, next)| sum.then(*next));
    let mut file = if done.len() == 1 {
        // One thread has encoded all chunks in order.
        done.swap_remove(0).0
    } else {
        let length = places.iter().flatten().map(|(_, place, _)| place.len()).sum::<usize>();
        let mut file = Vec::with_capacity(start.len() + length + 64);
        file.extend_from_slice(&start);
        places.iter().flatten().for_each(|(thread, place, _)| file.extend_from_slice(&done[*thread].0[place.clone()]));
        file
    };
    file.extend(encoder.end(sum, &[])?);
    Ok(file)
}

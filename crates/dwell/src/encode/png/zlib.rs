//! One zlib stream from chunks that were compressed separately: all threads compress, and the bytes depend on the rows
//! of each chunk alone, not on the threads.
//!
//! A zlib stream is two bytes of header, deflate blocks one after the other to the bit, and the Adler-32 of what was
//! compressed (RFC 1950, 1951). In each chunk's stream the last block loses its mark as the last one, an empty stored
//! block fills the stream up to a whole byte (as `Z_SYNC_FLUSH` does), header and checksum are removed, and the
//! checksums are combined.

use crate::encode::adler::Adler;
use std::io;

/// The header of the joint stream: 32 KiB window, fastest compression.
pub(super) const HEADER: [u8; 2] = [0x78, 0x01];
/// An empty last block, which ends the stream.
const LAST_BLOCK: [u8; 5] = [1, 0, 0, 0xff, 0xff];
/// Bytes of the header of a stream.
pub(super) const HEADER_BYTES: usize = HEADER.len();
/// Bytes of the checksum at the end of a stream.
const SUM_BYTES: usize = 4;

/// Opens the stream at the end of `bytes`, from `start` on, so that another can follow: removes its checksum and clears
/// the mark of its last block. Its header stays. The stream is that of a chunk of `length` bytes before compression,
/// and is one block of Huffman codes or several stored blocks, as the compressor writes them.
pub(super) fn open(bytes: &mut Vec<u8>, start: usize, length: u64) -> io::Result<Adler> {
    let unexpected = || io::Error::other("the compressor made a stream of another kind than it used to");
    let end = bytes.len().checked_sub(SUM_BYTES).filter(|end| *end > start + HEADER_BYTES).ok_or_else(unexpected)?;
    let value = bytes[end..].first_chunk().map(|sum| u32::from_be_bytes(*sum)).ok_or_else(unexpected)?;
    bytes.truncate(end);
    let blocks = &mut bytes[start + HEADER_BYTES..];
    match blocks[0] >> 1 & 3 {
        0 => {
            let mut at = 0;
            loop {
                let [kind, low, high, ..] = blocks.get_mut(at..).ok_or_else(unexpected)? else {
                    return Err(unexpected());
                };
                let end = at + 5 + usize::from(u16::from_le_bytes([*low, *high]));
                match *kind {
                    0 => at = end,
                    1 => {
                        *kind = 0;
                        return if end == blocks.len() { Ok(Adler { value, length }) } else { Err(unexpected()) };
                    }
                    _ => return Err(unexpected()),
                }
            }
        }
        2 if blocks[0] & 1 == 1 => {
            blocks[0] &= !1;
            // The code of the end of the block ends with a 1 (a test checks that), so the zeros behind it are filling.
            // Three of them are the header of a stored block, whose length starts at the next whole byte.
            let filling = blocks.last().map_or(0, |byte| byte.leading_zeros());
            if filling < 3 {
                bytes.push(0);
            }
            bytes.extend_from_slice(&[0, 0, 0xff, 0xff]);
            Ok(Adler { value, length })
        }
        _ => Err(unexpected()),
    }
}

/// The bytes after the last chunk.
pub(super) fn end(sum: Adler) -> Vec<u8> {
    let mut bytes = LAST_BLOCK.to_vec();
    bytes.extend_from_slice(&sum.value.to_be_bytes());
    bytes
}

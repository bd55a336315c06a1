//! One zlib stream from parts that were compressed apart, so that all threads can compress and the bytes depend on
//! where the image was cut but not on who compressed which part.
//!
//! A zlib stream is two bytes of header, deflate blocks one after the other to the bit, and the Adler-32 of what was
//! compressed (RFC 1950, 1951). The part's last block is made an ordinary one, the stream is brought to a whole byte by an
//! empty stored block (as `Z_SYNC_FLUSH` does), header and checksum are left out, and the checksums are combined.

use std::io;

/// The header of every stream that is made of parts: 32 KiB window, fastest.
pub(super) const HEADER: [u8; 2] = [0x78, 0x01];
/// The last block, empty: it marks the end.
const LAST_BLOCK: [u8; 5] = [1, 0, 0, 0xff, 0xff];
/// The largest prime below 2^16.
const MODULUS: u64 = 65521;

/// The Adler-32 of parts joined so far, and how long they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Adler {
    pub(crate) value: u32,
    pub(crate) length: u64,
}

impl Default for Adler {
    /// Of nothing.
    fn default() -> Self {
        Self { value: 1, length: 0 }
    }
}

impl Adler {
    /// Of these bytes followed by those of `next`: the low half is 1 + the sum of the bytes, the high half the sum of the
    /// low halves after each byte.
    pub(crate) fn then(self, next: Self) -> Self {
        let halves = |value: u32| (u64::from(value & 0xffff), u64::from(value >> 16));
        let ((a, b), (next_a, next_b)) = (halves(self.value), halves(next.value));
        let sum = (a + next_a + MODULUS - 1) % MODULUS;
        let sums = (b + next_b + next.length % MODULUS * (a + MODULUS - 1)) % MODULUS;
        #[allow(clippy::cast_possible_truncation, reason = "both halves are under 2^16")]
        let value = (sums << 16 | sum) as u32;
        Self { value, length: self.length + next.length }
    }
}

/// Bytes of the header of a stream.
pub(super) const HEADER_BYTES: usize = HEADER.len();
/// Bytes of the checksum behind it.
const SUM_BYTES: usize = 4;

/// Makes the stream that `bytes` ends with, from `start` on, of a part of `length` bytes before they were compressed, one
/// that can be followed by another: its checksum is taken off and its blocks are opened. Its header stays in front. It is
/// one block of Huffman codes or several stored blocks, as the compressor makes them.
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
            // The code of the end of the block ends with a 1 (a test sees to that), so the zeros behind it are filling. Three
            // of them are the header of a stored block; its length starts at the next whole byte.
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

/// What follows the last part.
pub(super) fn end(sum: Adler) -> Vec<u8> {
    let mut bytes = LAST_BLOCK.to_vec();
    bytes.extend_from_slice(&sum.value.to_be_bytes());
    bytes
}

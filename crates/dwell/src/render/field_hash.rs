//! BLAKE3 with a state that can be stored, so that the hash of a field can be continued after an interruption.
//!
//! The hash is a binary tree over chunks of 1024 bytes in which every left subtree is the largest power of two. So the stream
//! is cut into groups of 32 chunks, each group is hashed as a subtree, and subtrees of equal size are merged as a binary
//! counter carries. The state is one subtree for each 1 in the binary number of groups so far, and the bytes of the group
//! that is not full. The last group is merged only when it is known to be the last, since the root is computed in another way.
//!
//! The subtree of a group depends on its bytes and its position alone, so threads hash the groups of their rows
//! ([`HashedGroups`]) before the rows are put in order.

use crate::base::error::InputError;
use crate::base::limits::collected;
use blake3::Hasher;
use blake3::hazmat::{ChainingValue, HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};

/// Bytes of a group of 32 chunks: enough for every vector instruction of the hash.
const GROUP: usize = 32 * 1024;

/// The state of a hash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldHasher {
    /// Bytes of all groups that are in `subtrees`.
    grouped: u64,
    /// Subtrees, the largest first: one for each 1 in the binary number of groups.
    subtrees: Vec<ChainingValue>,
    /// Bytes of the current group. Empty only before the first byte.
    rest: Vec<u8>,
}

/// Successive groups of a stream that are hashed already.
#[derive(Debug, Default)]
pub(crate) struct HashedGroups {
    /// The position of the first group in the stream.
    position: u64,
    subtrees: Vec<ChainingValue>,
}

impl HashedGroups {
    /// Hashes the whole groups among the bytes from this position of a stream on.
    ///
    /// # Errors
    /// When the system has not enough memory.
    pub(crate) fn of(bytes: &[u8], position: u64) -> Result<Self, InputError> {
        let first = position.next_multiple_of(GROUP as u64);
        let before = usize::try_from(first - position).unwrap_or(usize::MAX).min(bytes.len());
        let groups = (first..).step_by(GROUP).zip(bytes[before..].chunks_exact(GROUP));
        let subtrees = groups.map(|(at, group)| subtree(group, at));
        Ok(Self { position: first, subtrees: collected(subtrees, "the hashes of the rows")? })
    }

    /// The subtree of the group at a position, if it is one of these.
    fn at(&self, position: u64) -> Option<&ChainingValue> {
        let number = position.checked_sub(self.position)? / GROUP as u64;
        self.subtrees.get(usize::try_from(number).ok()?)
    }
}

impl FieldHasher {
    /// Hashes further bytes. Of the groups that are hashed already, in the order of the stream, some may be among them.
    pub(crate) fn update(&mut self, mut bytes: &[u8], hashed: &[HashedGroups]) {
        let mut hashed = hashed.iter().peekable();
        while !bytes.is_empty() {
            if self.rest.len() == GROUP {
                self.close_group();
            }
            // Whole groups are hashed without a copy. The last one is kept, since it may be the last of the stream.
            if self.rest.is_empty() && bytes.len() > GROUP {
                let (group, others) = bytes.split_at(GROUP);
                let is_over =
                    |groups: &&HashedGroups| groups.position + (groups.subtrees.len() * GROUP) as u64 <= self.grouped;
                while hashed.next_if(is_over).is_some() {}
                match hashed.peek().and_then(|groups| groups.at(self.grouped)) {
                    Some(known) => self.push(*known),
                    None => self.push(subtree(group, self.grouped)),
                }
                bytes = others;
                continue;
            }
            let (now, later) = bytes.split_at(bytes.len().min(GROUP - self.rest.len()));
            self.rest.extend_from_slice(now);
            bytes = later;
        }
    }

    fn close_group(&mut self) {
        self.push(subtree(&self.rest, self.grouped));
        self.rest.clear();
    }

    /// Adds the subtree of a full group that is not the last.
    fn push(&mut self, mut subtree: ChainingValue) {
        self.grouped += GROUP as u64;
        let mut groups = self.grouped / GROUP as u64;
        while groups.is_multiple_of(2) {
            let Some(left) = self.subtrees.pop() else { break };
            subtree = merge_subtrees_non_root(&left, &subtree, Mode::Hash);
            groups /= 2;
        }
        self.subtrees.push(subtree);
    }

    /// The hash of all bytes so far, in hex.
    pub(crate) fn hex(&self) -> String {
        let Some((first, others)) = self.subtrees.split_first() else {
            return blake3::hash(&self.rest).to_hex().to_string();
        };
        let last = subtree(&self.rest, self.grouped);
        let right = others.iter().rev().fold(last, |right, left| merge_subtrees_non_root(left, &right, Mode::Hash));
        merge_subtrees_root(first, &right, Mode::Hash).to_hex().to_string()
    }

    /// The state, to be stored: the bytes of all groups in subtrees, the subtrees, and the bytes of the current group.
    pub(crate) fn parts(&self) -> (u64, &[ChainingValue], &[u8]) {
        (self.grouped, &self.subtrees, &self.rest)
    }

    /// The inverse of [`Self::parts`]. `None` if the parts do not fit each other.
    pub(crate) fn from_parts(grouped: u64, subtrees: Vec<ChainingValue>, rest: Vec<u8>) -> Option<Self> {
        let group = GROUP as u64;
        let fits = grouped.is_multiple_of(group)
            && subtrees.len() == (grouped / group).count_ones() as usize
            && rest.len() <= GROUP
            && (grouped == 0 || !rest.is_empty());
        fits.then_some(Self { grouped, subtrees, rest })
    }
}

fn subtree(bytes: &[u8], offset: u64) -> ChainingValue {
    Hasher::new().set_input_offset(offset).update(bytes).finalize_non_root()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_blake3_for_every_cut_and_after_every_resumption() {
        let bytes: Vec<u8> = (0..GROUP as u32 * 21 + 77).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for length in [0, 1, 1023, 1025, GROUP - 1, GROUP, GROUP + 1, 2 * GROUP, 3 * GROUP, 8 * GROUP, bytes.len()] {
            for step in [1 + length / 3, 5000, GROUP, 3 * GROUP + 1] {
                let mut hasher = FieldHasher::default();
                for (number, piece) in bytes[..length].chunks(step).enumerate() {
                    // Every second piece is hashed in two parts beforehand, as rows are by two threads.
                    let (at, middle) = (number * step, piece.len() * 2 / 3);
                    let of = |from: usize, to: usize| HashedGroups::of(&piece[from..to], (at + from) as u64).unwrap();
                    let hashed = [of(0, middle), of(middle, piece.len())];
                    hasher.update(piece, if number % 2 == 0 { &hashed } else { &[] });
                    let (grouped, subtrees, rest) = hasher.parts();
                    let again = FieldHasher::from_parts(grouped, subtrees.to_vec(), rest.to_vec());
                    assert_eq!(again.as_ref(), Some(&hasher));
                    hasher = again.unwrap();
                }
                assert_eq!(hasher.hex(), blake3::hash(&bytes[..length]).to_hex().as_str(), "{length} by {step}");
            }
        }
        // A group that was hashed beforehand is not hashed again.
        let mut wrong = HashedGroups::of(&bytes[..2 * GROUP], 0).unwrap();
        wrong.subtrees[1][0] ^= 1;
        let mut hasher = FieldHasher::default();
        hasher.update(&bytes, &[wrong]);
        assert_ne!(hasher.hex(), blake3::hash(&bytes).to_hex().as_str());
        assert_eq!(FieldHasher::from_parts(GROUP as u64, Vec::new(), vec![1]), None);
        assert_eq!(FieldHasher::from_parts(GROUP as u64, vec![[0; 32]], Vec::new()), None);
    }
}

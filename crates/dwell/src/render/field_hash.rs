//! BLAKE3 whose state can be written down, so that the hash of a field survives an interruption.
//!
//! The hash is a binary tree over chunks of 1024 bytes whose left subtrees are the largest powers of two. So a stream is
//! cut into groups of 64 chunks, each hashed as a subtree, and subtrees of equal size are merged as a binary counter
//! carries: what is left to remember are the subtrees that are the ones of the number of groups so far, and the bytes of
//! the group that is not full. The last group is never merged before it is known to be the last, as the root is finished
//! in another way.

use blake3::Hasher;
use blake3::hazmat::{ChainingValue, HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};

/// Bytes of a group.
const GROUP: usize = 64 * 1024;

/// The state of a hash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldHasher {
    /// Bytes in full groups, all of which are in `subtrees`.
    grouped: u64,
    /// Subtrees, the largest first: one for each 1 in the number of groups.
    subtrees: Vec<ChainingValue>,
    /// The group at hand: empty only at the very start.
    rest: Vec<u8>,
}

impl FieldHasher {
    /// Goes on with these bytes.
    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.rest.len() == GROUP {
                self.close_group();
            }
            // Whole groups are not copied; the last may be the end of everything.
            if self.rest.is_empty() && bytes.len() > GROUP {
                let (group, others) = bytes.split_at(GROUP);
                self.push(group);
                bytes = others;
                continue;
            }
            let (now, later) = bytes.split_at(bytes.len().min(GROUP - self.rest.len()));
            self.rest.extend_from_slice(now);
            bytes = later;
        }
    }

    fn close_group(&mut self) {
        let rest = std::mem::take(&mut self.rest);
        self.push(&rest);
        self.rest = rest;
        self.rest.clear();
    }

    /// A full group that is not the last.
    fn push(&mut self, group: &[u8]) {
        let mut subtree = subtree(group, self.grouped);
        self.grouped += GROUP as u64;
        let mut groups = self.grouped / GROUP as u64;
        while groups.is_multiple_of(2) {
            let Some(left) = self.subtrees.pop() else { break };
            subtree = merge_subtrees_non_root(&left, &subtree, Mode::Hash);
            groups /= 2;
        }
        self.subtrees.push(subtree);
    }

    /// The hash of everything, in hex.
    pub(crate) fn hex(&self) -> String {
        let Some((first, others)) = self.subtrees.split_first() else {
            return blake3::hash(&self.rest).to_hex().to_string();
        };
        let last = subtree(&self.rest, self.grouped);
        let right = others.iter().rev().fold(last, |right, left| merge_subtrees_non_root(left, &right, Mode::Hash));
        merge_subtrees_root(first, &right, Mode::Hash).to_hex().to_string()
    }

    /// Its parts, to be written down: bytes in full groups, subtrees, the group at hand.
    pub(crate) fn parts(&self) -> (u64, &[ChainingValue], &[u8]) {
        (self.grouped, &self.subtrees, &self.rest)
    }

    /// From its parts, if they fit each other.
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
    fn is_blake3_however_it_is_cut_and_resumed() {
        let bytes: Vec<u8> = (0..GROUP as u32 * 21 + 77).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for length in [0, 1, 1023, 1025, GROUP - 1, GROUP, GROUP + 1, 2 * GROUP, 3 * GROUP, 8 * GROUP, bytes.len()] {
            for step in [1 + length / 3, 5000, GROUP, 3 * GROUP + 1] {
                let mut hasher = FieldHasher::default();
                for piece in bytes[..length].chunks(step) {
                    hasher.update(piece);
                    let (grouped, subtrees, rest) = hasher.parts();
                    let again = FieldHasher::from_parts(grouped, subtrees.to_vec(), rest.to_vec());
                    assert_eq!(again.as_ref(), Some(&hasher));
                    hasher = again.unwrap();
                }
                assert_eq!(hasher.hex(), blake3::hash(&bytes[..length]).to_hex().as_str(), "{length} by {step}");
            }
        }
        assert_eq!(FieldHasher::from_parts(GROUP as u64, Vec::new(), vec![1]), None);
        assert_eq!(FieldHasher::from_parts(GROUP as u64, vec![[0; 32]], Vec::new()), None);
    }
}

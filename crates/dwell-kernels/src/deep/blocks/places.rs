//! Where the blocks of a table lie: those that begin at the same m are neighbours, from the shortest on.
//!
//! Blocks begin at m = 0, where orbits are rebased to, and at m = 1 + 2^f k, with f the level of the shortest. The origin of m is 0 for m = 0 and k + 1 for the others.

/// The most blocks from m = 0: by each of the lengths from m = 1, and on from the longest of them to the end of the reference. They fit into
/// a mask of 64 bits.
pub(super) const OF_ZERO: usize = 63;
/// The lengths of blocks from m = 1: up to 2^33 steps and more.
const OF_ONE: usize = 32;

/// The origin of m, or of the last m before it at which a block may begin, where the shortest have 2^`first` steps.
#[inline(always)]
pub(super) fn origin_up_to(m: usize, first: u32) -> usize {
    (m + (1 << first) - 1) >> first
}

/// The origin of m, if a block may begin there.
#[inline(always)]
pub(super) fn origin(m: usize, first: u32) -> Option<usize> {
    let is_one = m.wrapping_sub(1) & ((1 << first) - 1) == 0;
    (is_one || m == 0).then(|| origin_up_to(m, first))
}

/// The number of origins of a reference of so many steps after the first.
pub(super) fn origins(steps: usize, first: u32) -> usize {
    1 + (steps >> first)
}

/// The place of the shortest block of an origin. Of k > 0 there are as many as zeros at the end of k and one more, together before k:
/// 2 (k - 1) less the ones of k - 1.
#[inline(always)]
pub(super) fn first_of(origin: usize) -> usize {
    match origin {
        0 => 0,
        1 => OF_ZERO,
        _ => OF_ZERO + OF_ONE + 2 * (origin - 2) - (origin - 2).count_ones() as usize,
    }
}

/// A mask with a one for each length of an origin other than 0, of at most `most` steps.
#[inline(always)]
pub(super) fn lengths(origin: usize, most: usize, first: u32) -> u64 {
    // k ^ (k - 1) has one more than k has zeros at its end.
    let k = origin.wrapping_sub(1);
    let of_origin = (k ^ k.wrapping_sub(1)) as u64 & ((1 << OF_ONE) - 1);
    let units = most >> first;
    if units == 0 { 0 } else { of_origin & (u64::MAX >> units.leading_zeros()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_a_list_of_all_blocks() {
        let steps = 5000;
        for first in [2, 3, 6] {
            let shortest = 1 << first;
            let mut place = OF_ZERO;
            for m in (1..=steps).step_by(shortest) {
                let of_m = origin(m, first).unwrap();
                assert_eq!(first_of(of_m), place, "{m}");
                let count = if m == 1 { OF_ONE } else { ((m - 1) >> first).trailing_zeros() as usize + 1 };
                let of = |most| lengths(of_m, most, first);
                assert_eq!(of(usize::MAX).count_ones() as usize, count);
                assert_eq!(of(3 * shortest - 1).trailing_ones() as usize, count.min(2), "one and two of the shortest");
                assert_eq!(of(shortest - 1), 0);
                assert_eq!([m + 1, m + shortest - 1].map(|m| origin(m, first)), [None, None]);
                assert_eq!([m + 1, m + shortest - 1].map(|m| origin_up_to(m, first)), [of_m; 2]);
                assert_eq!(origin_up_to(m + shortest, first), of_m + 1);
                place += count;
            }
            assert_eq!(origin(0, first), Some(0));
        }
    }
}

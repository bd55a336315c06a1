//! Where the blocks of a table lie: those that begin at the same m are neighbours, from the shortest on.
//!
//! Blocks begin at m = 0, where orbits are rebased to, and at m = 1 + 2^[`FIRST`] k. The origin of m is 0 for m = 0 and k + 1 for the others.

use super::FIRST;

/// The most blocks from m = 0: by each of the lengths from m = 1, and on from the longest of them to the end of the reference. They fit into
/// a mask of 64 bits.
pub(super) const OF_ZERO: usize = 63;
/// The lengths of blocks from m = 1: up to 2^33 steps.
const OF_ONE: usize = 32;

/// The origin of m, or that of the next m at which a block may begin.
#[inline(always)]
pub(super) fn origin_after(m: usize) -> usize {
    (m + (1 << FIRST) - 1) >> FIRST
}

/// The origin of m, if a block may begin there.
#[inline(always)]
pub(super) fn origin(m: usize) -> Option<usize> {
    let is_one = m.wrapping_sub(1) & ((1 << FIRST) - 1) == 0;
    (is_one || m == 0).then(|| origin_after(m))
}

/// The number of origins of a reference of so many steps after the first.
pub(super) fn origins(steps: usize) -> usize {
    1 + (steps >> FIRST)
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
pub(super) fn lengths(origin: usize, most: usize) -> u64 {
    // k ^ (k - 1) has one more than k has zeros at its end.
    let k = origin.wrapping_sub(1);
    let of_origin = (k ^ k.wrapping_sub(1)) as u64 & ((1 << OF_ONE) - 1);
    let units = most >> FIRST;
    if units == 0 { 0 } else { of_origin & (u64::MAX >> units.leading_zeros()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_a_list_of_all_blocks() {
        let steps = 5000;
        let mut place = OF_ZERO;
        for m in (1..=steps).step_by(1 << FIRST) {
            let of_m = origin(m).unwrap();
            assert_eq!(first_of(of_m), place, "{m}");
            let count = if m == 1 { OF_ONE } else { ((m - 1) >> FIRST).trailing_zeros() as usize + 1 };
            assert_eq!(lengths(of_m, usize::MAX).count_ones() as usize, count);
            assert_eq!(lengths(of_m, 11).trailing_ones() as usize, count.min(2), "4 and 8");
            assert_eq!(lengths(of_m, 3), 0);
            place += count;
        }
        assert_eq!([origin(0), origin(2), origin(4), origin(5)], [Some(0), None, None, Some(2)]);
    }
}

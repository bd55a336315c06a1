//! The orbits and blocks of a formula as engines on a device read them.

use super::blocks::Blocks;
use super::orbits::Orbits;
use crate::deep::mantissa::Mantissa;

/// A value of an orbit with a part that is not 0 and below 2^-300: each part is a pair of f64 and a power of two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TinyParts {
    /// The index of the value.
    pub index: u32,
    /// The real and the imaginary part, each with what is left of it beyond f64.
    pub parts: [f64; 4],
    /// Their powers of two.
    pub exponents: [i32; 2],
}

/// The blocks of a length of one of the orbits, one after the other from its first value on.
#[derive(Clone, Copy, Debug)]
pub struct BlockList<'a, T: Mantissa> {
    /// 0 for the critical orbit, 1 for that of the centre of a Julia set.
    pub orbit: usize,
    /// Each block has 2^level steps.
    pub level: u32,
    /// The radius of each block, 0 where there is none.
    pub radii: &'a [f64],
    pub(super) lines: &'a [T::Lines],
    pub(super) of_c: &'a [T::Lines],
}

impl Orbits {
    /// Of each value both parts in f64, and upper bounds on its modulus and its error.
    pub fn values(&self) -> impl ExactSizeIterator<Item = [f64; 4]> {
        self.entries.iter().map(|entry| [entry.re, entry.im, entry.modulus, entry.error])
    }

    /// What is left of both parts of each value beyond f64.
    #[must_use]
    pub fn low_parts(&self) -> &[[f64; 2]] {
        &self.low
    }

    /// Powers of two that are upper bounds on the error of each value.
    #[must_use]
    pub fn error_exponents(&self) -> &[i32] {
        &self.errors
    }

    /// The values with a part that is not 0 and below 2^-300, in the order of indices.
    pub fn tiny_parts(&self) -> impl ExactSizeIterator<Item = TinyParts> {
        self.tiny.iter().map(|(index, [re, im])| TinyParts {
            index: *index,
            parts: [re.m.hi, re.m.lo, im.m.hi, im.m.lo],
            exponents: [re.e, im.e],
        })
    }

    /// The index of the last value of the critical orbit, which begins with 0.
    #[must_use]
    pub fn last(&self) -> usize {
        self.last
    }

    /// The indices of the first and of the last value of the orbit of the centre of a Julia set.
    #[must_use]
    pub fn of_centre(&self) -> Option<(usize, usize)> {
        self.of_centre
    }

    /// The radius of a disc about the last value of the critical orbit of a Julia set, of which no point ever escapes.
    #[must_use]
    pub fn stays(&self) -> Option<f64> {
        self.stays
    }
}

impl<T: Mantissa> Blocks<T> {
    /// The f64 of each block: A, Q, B and B', the four coefficients of k, the slack, |Q|, the sign of the imaginary part of zeta, and padding. As many are those of S (2) and T (3), where they are kept.
    #[must_use]
    pub fn doubles() -> usize {
        8 * T::NO_LINES.as_ref().len()
    }

    /// All blocks, by orbits and lengths.
    pub fn lists(&self) -> impl Iterator<Item = BlockList<'_, T>> {
        self.of_orbits().enumerate().flat_map(|(orbit, of)| of.lists(orbit))
    }
}

impl<'a, T: Mantissa> BlockList<'a, T> {
    /// The f64 of all blocks in order, by eights.
    pub fn lines(self) -> impl Iterator<Item = &'a [f64; 8]> {
        self.lines.iter().flat_map(|lines| lines.as_ref()).map(|line| &line.0)
    }

    /// Those of S and T; none where they are left out.
    pub fn terms_of_c(self) -> impl Iterator<Item = &'a [f64; 8]> {
        self.of_c.iter().flat_map(|lines| lines.as_ref()).map(|line| &line.0)
    }
}

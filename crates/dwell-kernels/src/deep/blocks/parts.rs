//! What a table consists of, as plain numbers: for engines that copy it to a device.

use super::{Start, Table, WideEntry};
use crate::deep::extended::{Bound, Extended};
use crate::deep::mantissa::{Complex, Mantissa};

/// The parts of a complex number: each with its second f64, 0 for numbers of one.
pub type ComplexParts = [f64; 4];

/// m 2^e.
pub type BoundParts = (f64, i32);

/// The blocks that begin at one m: the radius of the shortest, its place, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OriginParts {
    /// The radius of the shortest.
    pub shortest: f64,
    /// Its place.
    pub first: u32,
    /// How many blocks there are, one after the other.
    pub count: u32,
}

/// A block for deltas below the range of f64.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WideParts {
    /// A, B, Q, S and T with their exponents.
    pub coefficients: [(ComplexParts, i32); 5],
    /// The four coefficients of k, the constant first; the slack; what is multiplied by the error of c, and |S|; |Q|; and the radius.
    pub bounds: [BoundParts; 9],
}

/// The beginning that all pixels share: z = P + (B + T c) c in units of 2^unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StartParts {
    /// P, B and T.
    pub coefficients: [ComplexParts; 3],
    /// The unit: 0 in the range of f64.
    pub unit: i32,
    /// A bound on the error of z, in the plane.
    pub error: BoundParts,
    /// The index in the reference.
    pub m: usize,
    /// The number of steps.
    pub n: u64,
}

fn complex<T: Mantissa>(z: Complex<T>) -> ComplexParts {
    let part = |x: T, index: usize| if index < T::PARTS { x.part(index) } else { 0.0 };
    [part(z.re, 0), part(z.re, 1), part(z.im, 0), part(z.im, 1)]
}

impl<T: Mantissa> Table<T> {
    /// R of each block, by places; the last ones are padding.
    #[must_use]
    pub fn radii(&self) -> &[f64] {
        &self.radius
    }

    /// The level of the shortest blocks.
    #[must_use]
    pub fn first_level(&self) -> u32 {
        self.first_level
    }

    /// The blocks of each m at which one may begin: m = 0 and m = 1 + 2^f k, with f = [`Self::first_level`].
    pub fn origins(&self) -> impl ExactSizeIterator<Item = OriginParts> {
        self.origins.iter().map(|origin| OriginParts {
            shortest: origin.shortest,
            first: origin.first,
            count: origin.count,
        })
    }

    /// The number of blocks, and the f64 of each: A, B, Q, S and T, the four coefficients of k, the slack, |Q|, and padding.
    #[must_use]
    pub fn blocks(&self) -> (usize, usize) {
        (self.entries.len(), 8 * T::NO_LINES.as_ref().len())
    }

    /// The f64 of all blocks in order, by eights.
    pub fn lines(&self) -> impl Iterator<Item = &[f64; 8]> {
        self.entries.iter().flat_map(|lines| lines.as_ref()).map(|line| &line.0)
    }

    /// The f64 of the terms of the third and the fourth degree of all blocks in order, by eights: 24 of each, real and imaginary parts by powers of c in each degree, and padding. None where blocks are of the second degree.
    pub fn higher_lines(&self) -> impl ExactSizeIterator<Item = &[f64; 8]> {
        self.higher.as_flattened().iter().map(|line| &line.0)
    }

    /// The steps of the blocks from m = 0.
    #[must_use]
    pub fn steps_from_zero(&self) -> &[usize] {
        &self.from_zero
    }

    /// The number of the block for deltas below the range of f64 at each place, counted from 1, 0 where there is none; empty where there are no such blocks.
    #[must_use]
    pub fn wide_numbers(&self) -> &[u32] {
        self.wide.numbers()
    }

    /// The blocks for deltas below the range of f64.
    pub fn wide_blocks(&self) -> impl ExactSizeIterator<Item = WideParts> {
        self.wide.blocks().iter().map(|(_, entry)| WideParts::of(entry))
    }

    /// Where pixels begin for a limit, with c in units of 2^scale.
    #[must_use]
    pub fn start_parts(&self, limit: u64, scale: i32) -> StartParts {
        let start = if self.start.n() <= limit { self.start } else { Start::first(scale) };
        let (coefficients, unit) = start.coefficients();
        let (m, n) = (start.m(), start.n());
        StartParts { coefficients: coefficients.map(complex), unit, error: start.e.parts(), m, n }
    }
}

impl WideParts {
    fn of<T: Mantissa>(entry: &WideEntry<T>) -> Self {
        let coefficient = |of: Extended<T>| (complex(of.m), of.e);
        let [k0, k1, k2, k3] = entry.k;
        let bounds = [k0, k1, k2, k3, entry.slack, entry.by_c, entry.s_modulus, entry.q_modulus, entry.radius];
        Self {
            coefficients: [entry.a, entry.b, entry.q, entry.s, entry.t].map(coefficient),
            bounds: bounds.map(Bound::parts),
        }
    }
}

//! Blocks: many steps of a delta at once, with a proof.
//!
//! A block of l steps at m replaces them by
//!
//! ```text
//! z' = (A + S c + Q z) z + (B + T c) c + delta,    |delta| <= d3 |z|^3 + d2 |z|^2 + d1 |z| + d0
//! ```
//!
//! for |z| <= R and every c of the view. c is in units of 2^scale, at most `REACH` in modulus, and B, S and T are multiplied accordingly (T
//! twice). One step is exact: A = 2 Z_m, B = 1, Q = 1, delta = 0, and its radius R_e - |Z_m| makes certain that |Z_m + z| does not
//! escape. Two neighbours x and y are merged to y after x. With the linear part L = Ax z + Bx c of x, its quadratic
//! part N = Qx z^2 + Sx c z + Tx c^2 and its remainder D, the terms of y after x up to the second degree are kept, and
//!
//! ```text
//! D' = |Ay| D + |Qy| (2 L N + N^2 + D (2 L + 2 N + D)) + |Sy c| (N + D) + dy(L + N + D)
//! ```
//!
//! bounds the rest, all of it as polynomials in |z| with coefficients of moduli. Powers above the third are folded down by R.
//! R is such that L + N + D at R is within the radius of y: so no point of a block's domain escapes within the block.
//!
//! Blocks begin at m = 1 + 4 k and at m = 0, where an orbit is rebased to. There A is 0, so that what is tolerated is a share of Q z^2, and the
//! remainder's part with |z|, which has a factor of c, is computed with an exponent. The deltas of a very deep view come back to m = 0 once for each
//! period of the reference while they grow from c to the size of the set: one block from there takes them to its end (`path.rs`). What all pixels
//! have in common at the beginning is one polynomial of c (`start.rs`).
//!
//! Of a reference for whose blocks there is no memory, the shortest are left out: with those of 16 steps and more, or of 64 and more, blocks begin at m = 1 + 16 k or 1 + 64 k, and take a quarter or a
//! sixteenth of the memory.
//!
//! Blocks of up to 64 steps are merged in vectors, with the powers of 2^scale left out (`runs.rs`); longer ones, and those near a Z_m that is near 0, one at a time with exponents
//! (`merge.rs`). Blocks of the fourth degree (`quartic.rs`) are merged in the same order (`merged.rs`). What a table takes on one core of a Zen 5 with 512 bits, in nanoseconds of a step of rf-dragon (scale 2^-639, a tolerance of 2^-26):
//!
//! - all blocks merged with exponents, two steps by their own formula: 520; with the form for deltas below the range of f64 of every block;
//! - runs in vectors: 270, half of it for that form;
//! - that form only where an orbit may need it (`wide.rs`): 86, of which a third is memory that is touched first.

mod entry;
pub(in crate::deep) mod majorant;
mod merge;
mod merged;
mod parts;
mod path;
mod places;
mod quartic;
mod runs;
mod segments;
mod start;
mod two_steps;
mod wide;

use super::derivative::U;
use super::extended::{Bound, Extended};
use super::lanes::{LANES, Reals};
use super::mantissa::{Complex, Dd, Mantissa};
use super::reference::WINDOW;
use super::{Degree, NoTable, TableSetting};
use crate::prefetch::prefetch;
use crate::vector::bits;
pub(in crate::deep) use entry::{Entry, WideEntry};
use fearless_simd::Simd;
use merge::Block;
pub use parts::{BoundParts, ComplexParts, OriginParts, StartParts, WideParts};
use path::Path;
use places::{OF_ZERO, first_of, lengths, origin, origin_up_to, origins};
pub(in crate::deep) use quartic::HigherLines;
use quartic::{NO_HIGHER, Quartic};
pub(in crate::deep) use start::Start;
use wide::{Kept, Wide};

/// The greatest |c| in units of 2^scale.
pub const REACH: f64 = 1.001;
/// The lowest level that is kept: blocks of 2^FIRST steps. Shorter ones save less than they cost.
pub const FIRST: u32 = 2;
/// The greatest level that may be the lowest of a table.
pub const MOST_FIRST: u32 = 8;
/// The error of A and B in blocks of one step, relative to majorants without cancellation: for l steps l times as much, and for Q, S and T twice that.
///
/// In units of u^2, u = 2^-53, a product of pairs is off by at most 5, of which 6 is taken here, and a sum by 3 (`mantissa.rs`), so that one of complex numbers is off by (6 + 3) sqrt 2 < 12.8 of its modulus and 3 of its own.
/// Z is off by less than 2. If A and B of l steps are off by 2 l + 17.5 (l - 1), and Q, S and T by twice that, so are those of y after x, of k and l steps: the errors of factors add up to
/// 2 (k + l) + 17.5 (k + l - 2), or twice that, for each term, and the most that is added are 12.8 + 3 for B, and for T two products and three sums, 34.6. With 20 there is room for terms of second order.
const EPSILON: f64 = 20.0 * U * U;
/// The share of |Q| (|z| + e) that is added to the derivative by z for the roundings of Q z and the error of Q.
pub const SHARE: f64 = 1e-13;
/// Added to every bound of a block in the range of f64, for results below its range.
const UNDERFLOW: f64 = 1.0e-270;

/// The blocks of a reference for one number type and tolerance, in the order of `places.rs`.
#[derive(Clone, Debug)]
pub struct Table<T: Mantissa> {
    /// The level of the shortest blocks.
    first_level: u32,
    /// R in f64, 0 where the block cannot be used in its range or there is none.
    radius: Vec<f64>,
    origins: Vec<Origin>,
    entries: Vec<T::Lines>,
    /// The terms of the third and the fourth degree; empty in a table of the second degree.
    higher: Vec<HigherLines>,
    wide: Wide<T>,
    /// The steps of the blocks from m = 0.
    from_zero: Vec<usize>,
    /// Where the pixels of the view begin.
    pub(in crate::deep) start: Start<T>,
}

/// How blocks from m = 0 are kept.
struct FromZero<'a, T: Mantissa> {
    tolerance: f64,
    with_wide: bool,
    kept: &'a mut Vec<Kept<T>>,
}

/// Radii after the last one, so that as many as a vector has can be loaded from any.
const PADDING: usize = LANES;

/// Bytes of blocks that are taken to be in a cache near the processor.
const NEAR: usize = 1 << 20;

/// The blocks of an origin.
#[derive(Clone, Copy, Debug)]
struct Origin {
    /// R of the shortest: most orbits look at this alone.
    shortest: f64,
    /// The place of the shortest.
    first: u32,
    /// How many there are.
    count: u32,
}

/// A vector of a value, if there is memory for it.
fn filled<V: Clone>(value: V, count: usize) -> Result<Vec<V>, NoTable> {
    let mut list = Vec::new();
    list.try_reserve_exact(count).map_err(|_| NoTable::Memory)?;
    list.resize(count, value);
    Ok(list)
}

/// The scale below which blocks are also kept for deltas below the range of f64. Above it, few orbits come there.
const WIDE_BELOW: i32 = -400;
/// The exponent of deltas from which blocks in the range of f64 are as good: what these leave out is below 2^-800.
const NARROW_ABOVE: i32 = -300;
/// The radius of a block that cannot be used.
const NO_RADIUS: f64 = 0.0;

impl<T: Mantissa> Table<T> {
    /// Bytes of the blocks of a reference of so many steps, where the shortest have 2^`first_level` steps.
    #[must_use]
    pub fn bytes(steps: u64, scale: i32, degree: Degree, first_level: u32) -> u64 {
        let wide = if scale < WIDE_BELOW { Wide::<T>::bytes_of_place(first_level) } else { 0 };
        let higher = if Self::has_quartic(scale, degree) { size_of::<HigherLines>() } else { 0 };
        let each = size_of::<T::Lines>() + size_of::<f64>() + size_of::<Origin>() + wide + higher;
        // The levels from the first on have fewer than twice as many blocks as the first alone.
        (steps >> (first_level - 1)).saturating_add((2 * OF_ZERO + PADDING) as u64).saturating_mul(each as u64)
    }

    /// The blocks of a reference for c up to [`REACH`] in units of 2^scale. Where that is far below the range of f64, also for deltas
    /// below it.
    #[inline(always)]
    pub(crate) fn new<S: Simd>(simd: S, setting: &TableSetting<'_>) -> Result<Self, NoTable> {
        let TableSetting { reference, scale, escape_radius, tolerance, degree, first_level, .. } = *setting;
        assert!((FIRST..=MOST_FIRST).contains(&first_level), "blocks of 2^{first_level} steps as the shortest");
        let is_quartic = Self::has_quartic(scale, degree);
        let unit = Extended::new(Complex { re: Dd::whole(1.0), im: Dd::ZERO }, scale);
        let steps = reference.last().saturating_sub(1);
        let places = first_of(origins(steps, first_level).max(1));
        let mut table = Self {
            first_level,
            radius: filled(NO_RADIUS, places + PADDING)?,
            origins: filled(Origin { shortest: NO_RADIUS, first: 0, count: 0 }, origins(steps, first_level))?,
            entries: filled(T::NO_LINES, places)?,
            higher: filled(NO_HIGHER, if is_quartic { places } else { 0 })?,
            wide: Wide::none(),
            from_zero: Vec::new(),
            start: Start::first(scale),
        };
        for (origin, of_origin) in table.origins.iter_mut().enumerate() {
            of_origin.first = u32::try_from(first_of(origin)).map_err(|_| NoTable::Memory)?;
            of_origin.count = if origin == 0 { 0 } else { lengths(origin, steps, first_level).count_ones() };
        }
        if is_quartic {
            // Known before code is generated: no table of f64 has these, so that none is compiled for them.
            if const { T::PARTS == 2 } {
                table.fill::<S, Quartic>(simd, setting, steps, false)?;
                table.start = Start::new(&table, setting);
            }
            return Ok(table);
        }
        let with_wide = scale < WIDE_BELOW;
        let (path, mut kept) = table.fill::<S, Block>(simd, setting, steps, with_wide)?;
        if let Some(zero) = Block::step(Extended::ZERO, unit, escape_radius) {
            let mut from_zero = FromZero { tolerance, with_wide, kept: &mut kept };
            table.keep_from_zero(&zero, &path, &mut from_zero);
        }
        table.wide = Wide::new(kept, places)?;
        table.start = Start::new(&table, setting);
        Ok(table)
    }

    /// Whether blocks are of the fourth degree where that is wanted: those of pairs of f64, except in views that are far below the range of f64.
    #[must_use]
    pub fn has_quartic(scale: i32, degree: Degree) -> bool {
        degree == Degree::Fourth && T::PARTS == 2 && scale >= quartic::LEAST_SCALE
    }

    /// Keeps blocks from m = 0, where deltas begin again after each period: the step from there and then each of the blocks from m = 1, and on from the
    /// longest of these, so that the last ends with the reference.
    fn keep_from_zero(&mut self, zero: &Block, path: &Path, keeping: &mut FromZero<'_, T>) {
        let tolerance = keeping.tolerance;
        let mut longest = None;
        for (level, block) in &path.from_one {
            let Some(joined) = zero.then(block, tolerance) else {
                return;
            };
            longest = Some((joined, 1 + (1 << level)));
            self.keep_next_from_zero(&joined, 1 + (1 << level), keeping);
        }
        while let Some((joined, steps)) = longest {
            let Some((level, block)) = path.at(steps) else {
                return;
            };
            longest = joined.then(block, tolerance).map(|joined| (joined, steps + (1 << level)));
            if let Some((joined, steps)) = &longest {
                self.keep_next_from_zero(joined, *steps, keeping);
            }
        }
    }

    fn keep_next_from_zero(&mut self, block: &Block, steps: usize, keeping: &mut FromZero<'_, T>) {
        if self.from_zero.len() < OF_ZERO {
            let number = self.from_zero.len();
            let mut whole = self.whole(keeping.with_wide);
            whole.keep(0, number, &WideEntry::of(block, steps as u64));
            keeping.kept.append(&mut whole.wide);
            self.from_zero.push(steps);
            self.origins[0].count += 1;
        }
    }

    /// The steps of the block of number `length` of an origin.
    #[inline(always)]
    fn steps(&self, origin: usize, length: usize) -> usize {
        if origin == 0 {
            self.from_zero.get(length).copied().unwrap_or(0)
        } else {
            1 << (self.first_level as usize + length)
        }
    }

    /// The lengths of an origin, of at most so many steps.
    #[inline(always)]
    fn lengths(&self, origin: usize, most: usize) -> u64 {
        if origin == 0 {
            let count = self.from_zero.iter().take_while(|steps| **steps <= most).count();
            return (1 << count) - 1;
        }
        lengths(origin, most, self.first_level)
    }

    /// The origin at or before m, or the last.
    #[inline(always)]
    fn origin_at(&self, m: usize) -> (usize, &Origin) {
        let origin = origin_up_to(m, self.first_level).min(self.origins.len() - 1);
        (origin, &self.origins[origin])
    }

    /// R of the shortest block at m, if one may begin there. It is any number where none may.
    #[inline(always)]
    pub(in crate::deep) fn shortest_radius(&self, m: usize) -> f64 {
        self.origin_at(m).1.shortest
    }

    /// R of the shortest block from m = 0 with at least so many steps; 0 if there is none.
    pub(in crate::deep) fn radius_from_zero(&self, least_steps: usize) -> f64 {
        let number = self.from_zero.iter().position(|steps| *steps >= least_steps);
        number.map_or(NO_RADIUS, |number| self.radius[first_of(0) + number])
    }

    /// The place of the longest block at m for deltas in the range of f64 up to `reach`, of at most `most` steps, and its steps; where the shortest is valid.
    #[inline(always)]
    pub(in crate::deep) fn longest<S: Simd>(
        &self,
        simd: S,
        m: usize,
        most: Option<usize>,
        reach: f64,
    ) -> (usize, usize) {
        // Lanes that are not in use may have any m.
        let (origin, Origin { first, count, .. }) = self.origin_at(m);
        let lengths = match most {
            None => (1_u64 << count) - 1,
            Some(most) => self.lengths(origin, most),
        };
        let first = *first as usize;
        let reach = Reals::splat(simd, reach);
        let mut found = 0;
        // Radii fall with the length.
        loop {
            let radii = Reals::load(simd, &self.radius[first + found..]);
            let valid = bits::<S, _>(reach.at_most(radii)) & lengths >> found;
            let length = valid.trailing_ones() as usize;
            found += length;
            if length < Reals::<S>::LEN {
                break;
            }
        }
        let length = found.max(1) - 1;
        (first + length, self.steps(origin, length))
    }

    /// The steps of the shortest blocks from another m than 0, and between two m at which blocks may begin.
    #[inline(always)]
    pub(in crate::deep) fn shortest(&self) -> usize {
        1 << self.first_level
    }

    /// Whether the shortest blocks have so many steps that orbits are stepped through a whole window of the reference at a time.
    #[inline(always)]
    pub(in crate::deep) fn is_coarse(&self) -> bool {
        self.shortest() >= WINDOW
    }

    /// Whether blocks are so many that most of them are not in a cache near the processor.
    #[inline(always)]
    pub(in crate::deep) fn is_far(&self) -> bool {
        (size_of::<T::Lines>() + size_of::<HigherLines>()) * self.entries.len() > NEAR
    }

    /// Begins to load the radii of the blocks at m.
    #[inline(always)]
    pub(in crate::deep) fn prefetch_radii(&self, m: usize) {
        prefetch(&self.radius[self.origin_at(m).1.first as usize]);
    }

    /// Begins to load what [`Self::shortest_radius`] reads.
    #[inline(always)]
    pub(in crate::deep) fn prefetch_origin(&self, m: usize) {
        prefetch(self.origin_at(m).1);
    }

    /// Begins to load the block at a place.
    #[inline(always)]
    pub(in crate::deep) fn prefetch_block(&self, place: usize) {
        self.entries[place].as_ref().iter().for_each(prefetch);
        if let Some(higher) = self.higher.get(place) {
            higher.iter().for_each(prefetch);
        }
    }

    /// The terms of the third and the fourth degree of a block of so many steps at m, by powers of c in each.
    #[cfg(test)]
    pub(in crate::deep) fn terms_above(&self, m: usize, steps: usize) -> [Complex<f64>; 9] {
        let length = (steps >> self.first_level).max(1).ilog2() as usize;
        let lines =
            self.higher.get(origin(m, self.first_level).map_or(0, first_of) + length).copied().unwrap_or(NO_HIGHER);
        let part = |index: usize| lines[index / 8].0[index % 8];
        std::array::from_fn(|term| Complex { re: part(2 * term), im: part(2 * term + 1) })
    }

    /// The block at a place. There is one at place 0, of any values.
    #[inline(always)]
    pub(in crate::deep) fn block(&self, place: usize) -> &T::Lines {
        &self.entries[place]
    }

    /// Its terms above the second degree, where blocks have them.
    #[inline(always)]
    pub(in crate::deep) fn higher(&self, place: usize) -> &HigherLines {
        &self.higher[place]
    }

    /// Whether blocks are of the fourth degree.
    #[inline(always)]
    pub(in crate::deep) fn is_quartic(&self) -> bool {
        !self.higher.is_empty()
    }

    /// All blocks in the range of f64: m, steps, radius and values.
    #[cfg(test)]
    pub(in crate::deep) fn all(&self) -> impl Iterator<Item = (usize, usize, f64, Entry<T>)> {
        let origins = 0..self.origins.len();
        let places = origins.flat_map(|origin| {
            let m = if origin == 0 { 0 } else { 1 + ((origin - 1) << self.first_level) };
            let count = self.lengths(origin, usize::MAX).trailing_ones() as usize;
            (0..count).map(move |length| (m, origin, length))
        });
        places.filter_map(|(m, origin, length)| {
            let place = first_of(origin) + length;
            let radius = self.radius[place];
            (radius > 0.0).then(|| (m, self.steps(origin, length), radius, self.entry(place)))
        })
    }

    fn entry(&self, place: usize) -> Entry<T> {
        Entry::read(&self.entries[place])
    }

    /// The longest block at m for deltas of any magnitude up to `reach`, of at most `most` steps, and its steps, from whichever form is kept.
    pub(in crate::deep) fn longest_of_either(
        &self,
        m: usize,
        most: usize,
        reach: Bound,
    ) -> Option<(WideEntry<T>, usize)> {
        if !self.wide.is_empty() && reach.exponent() < NARROW_ABOVE {
            return self.longest_wide(m, most, reach).map(|(entry, steps)| (*entry, steps));
        }
        let reach = reach.to_f64() + UNDERFLOW;
        let (origin, first, count) = self.lengths_at(m, most)?;
        // Radii fall with the length.
        let length = self.radius[first..first + count].partition_point(|radius| *radius >= reach).checked_sub(1)?;
        let place = first + length;
        let mut entry = self.entry(place).widened();
        if self.is_quartic() {
            quartic::leave_out(&mut entry, &self.higher[place], self.radius[place]);
        }
        Some((entry, self.steps(origin, length)))
    }

    /// The longest block at m for deltas below the range of f64 up to `reach`, of at most `most` steps, and its steps.
    #[inline(always)]
    pub(in crate::deep) fn longest_wide(&self, m: usize, most: usize, reach: Bound) -> Option<(&WideEntry<T>, usize)> {
        if self.wide.is_empty() {
            return None;
        }
        let (origin, first, count) = self.lengths_at(m, most)?;
        let valid = |length: usize| self.wide.at(first + length).filter(|entry| !entry.radius.below(reach));
        let (entry, length) = (0..count).rev().find_map(|length| Some((valid(length)?, length)))?;
        Some((entry, self.steps(origin, length)))
    }

    /// The origin of m, if a block may begin there, the place of its first block, and how many have at most `most` steps.
    #[inline(always)]
    fn lengths_at(&self, m: usize, most: usize) -> Option<(usize, usize, usize)> {
        let origin = origin(m, self.first_level).filter(|origin| *origin < self.origins.len())?;
        Some((origin, first_of(origin), self.lengths(origin, most).trailing_ones() as usize))
    }
}

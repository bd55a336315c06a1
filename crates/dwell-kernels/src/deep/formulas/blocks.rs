//! Blocks of a formula: many steps of a delta at once, with a proof.
//!
//! A block of l steps at m replaces them by
//!
//! ```text
//! z' = (A + S c + S' conj(c) + Q zeta) zeta + B c + B' conj(c) + T c^2 + T' |c|^2 + T'' conj(c)^2 + delta,    |delta| <= d3 |z|^3 + d2 |z|^2 + d1 |z| + d0
//! ```
//!
//! for |z| <= R and every c of the view, where zeta is z or its conjugate: each block says which. c is in units of 2^scale, at most [`REACH`] in modulus, and B, S and T are multiplied accordingly (T
//! twice); of a Julia set they are 0, since nothing is added in its steps. S and T matter where the tolerance is not far above 2^scale: beyond a zoom of about 1e48 they are left in the remainder.
//!
//! **Folds.** Where a delta is so small that no part of Z + z has another sign than that of Z, with s and t the signs of the parts of Z, the fold of the Burning Ship is linear, F(Z + z) = F(Z) + (s x, t y),
//! and (s x, t y) is s z where s = t, and s conj(z) elsewhere. So a step is complex analytic in zeta, and so is everything that is composed of such steps: the derivative by z is a complex number and
//! no 2x2 matrix, and its modulus is exact. Only c comes with its conjugate, since it is added after the folds. The radius of a step is below the distances of Z from the axes. Conjugation is linear everywhere.
//!
//! **One step** at Z, with V = F(Z), is z' = (V + s zeta)^N - V^N + c, so that
//!
//! ```text
//! A = s N V^(N-1),    Q = N (N - 1) / 2 V^(N-2),    B = 1,    B' = 0,    d3 = sum over k >= 3 of binomial(N, k) |V|^(N-k) R^(k-3)
//! ```
//!
//! and its radius is also at most R_e - |Z|, so that no point of the domain escapes in the block. From Z = 0 there is no block: A is 0 there.
//!
//! **Two neighbours** x and y are merged to y after x, of which x is conjugated where y takes conjugates (its coefficients are, zeta is the other one, and the parts for c and conj(c) are exchanged). With L = |Ax| |z| + |Bx c|
//! (|B c| stands for (|B| + |B'|) |c|, and so on), N = |Qx| |z|^2 + |Sx c| |z| + |Tx c^2|, the remainder D of x and V = L + N + D, the terms of y after x up to the second degree are kept, and
//!
//! ```text
//! D' = |Ay| D + (N + D) (|Qy| (2 L + N + D) + |Sy c|) + dy(V)
//! ```
//!
//! bounds the rest. Where S and T are left out, |Qy| (2 |Ax| |z| + |Bx c|) |Bx c| is added. Powers above the third are folded down by R, which is such that V at R is within the radius of y.
//!
//! Blocks begin at m = 1 + 4 k of an orbit, and have 4, 8, 16 and more steps.

mod entry;
mod in_lanes;
mod merge;
#[cfg(test)]
mod tests;

use super::orbits::Orbits;
use super::parts::BlockList;
use super::{NARROW, Setting};
use crate::deep::blocks::REACH;
use crate::deep::extended::Bound;
use crate::deep::mantissa::Mantissa;
use crate::deep::{NoTable, Watch};
use crate::level::{Kernel, Level};
use entry::Entry;
pub use entry::NUMBERS;
pub(super) use entry::{Before, WideEntry};
use fearless_simd::Simd;
pub(super) use in_lanes::{BlockInLanes, DeltaInLanes, modulus_of};
use merge::{Block, Steps};

/// The lowest level that is kept: blocks of 2^FIRST steps.
pub const FIRST: u32 = 2;
/// The lowest level that is kept for deltas below the range of f64, which long blocks take.
const FIRST_WIDE: u32 = 4;
/// The scale below which blocks are also kept for deltas below the range of f64.
pub const WIDE_BELOW: i32 = -700;
/// The scale above which S and T are kept: growth by 2^40 within a block leaves in the finest tier, of 2^-88, some 2^-160 2^80 of the remainder.
const WITH_C_ABOVE: i32 = -160;
/// The radius of a block that cannot be used.
const NO_RADIUS: f64 = 0.0;

/// The blocks of one length.
#[derive(Clone, Debug)]
struct OfLength<T: Mantissa> {
    radius: Vec<f64>,
    lines: Vec<T::Lines>,
    /// S and T, where they are kept.
    of_c: Vec<T::Lines>,
}

/// A block as lanes read it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'a, T: Mantissa> {
    pub(super) lines: &'a T::Lines,
    /// S and T, or any, where they are left out.
    pub(super) of_c: &'a T::Lines,
    pub(super) steps: usize,
}

/// The blocks of one orbit, by length: those of each length one after the other.
#[derive(Clone, Debug)]
pub(super) struct OfOrbit<T: Mantissa> {
    /// The index of Z_1.
    first: usize,
    lengths: Vec<OfLength<T>>,
    wide: Vec<Vec<Option<WideEntry<T>>>>,
}

/// The blocks of the reference orbits of a view for one number type and tolerance.
#[derive(Clone, Debug)]
pub struct Blocks<T: Mantissa> {
    critical: OfOrbit<T>,
    centre: Option<OfOrbit<T>>,
    with_c: bool,
    none: T::Lines,
}

/// What blocks are made for.
#[derive(Clone, Copy, Debug)]
pub struct BlockSetting<'a> {
    /// What pixels are iterated with.
    pub setting: Setting<'a>,
    /// The greatest remainder of a block, relative to its linear part.
    pub tolerance: f64,
    /// Looked at meanwhile.
    pub watch: Watch<'a>,
}

impl BlockSetting<'_> {
    /// Whether S and T are kept.
    fn with_c(&self) -> bool {
        !self.setting.is_julia && self.setting.scale > WITH_C_ABOVE
    }
}

/// A list with room for so many values, if there is memory for it.
fn reserved<V>(count: usize) -> Result<Vec<V>, NoTable> {
    let mut list = Vec::new();
    list.try_reserve_exact(count).map_err(|_| NoTable::Memory)?;
    Ok(list)
}

impl<T: Mantissa> OfOrbit<T> {
    /// No blocks of an orbit from Z_1 at `first` to Z at `last`.
    fn reserved(first: usize, last: usize, (with_c, with_wide): (bool, bool)) -> Result<Self, NoTable> {
        let steps = last.saturating_sub(first);
        let levels = |least: u32| (least..usize::BITS).map(move |level| steps >> level).take_while(|count| *count > 0);
        let of_length = |count: usize| {
            let of_c = reserved(if with_c { count } else { 0 })?;
            Ok(OfLength { radius: reserved(count)?, lines: reserved(count)?, of_c })
        };
        let lengths = levels(FIRST).map(of_length).collect::<Result<_, _>>()?;
        let wide = if with_wide { levels(FIRST_WIDE).map(reserved).collect::<Result<_, _>>()? } else { Vec::new() };
        Ok(Self { first, lengths, wide })
    }

    /// Computes the blocks.
    #[inline(always)]
    fn fill(&mut self, last: usize, steps: &Steps<'_>, watch: Watch<'_>) -> Result<(), NoTable> {
        // Blocks that wait for their right neighbours, of falling levels.
        let mut waiting: Vec<(u32, Option<Block>)> = Vec::new();
        let with_c = steps.with_c();
        for index in self.first..last {
            if watch.stops(index) {
                return Err(NoTable::Stopped);
            }
            let (mut level, mut block) = (0, steps.at(index));
            while let Some((of_left, left)) = waiting.pop_if(|(of_left, _)| *of_left == level) {
                block = match (left, block) {
                    (Some(left), Some(right)) => left.then(&right, steps),
                    _ => None,
                };
                level = of_left + 1;
                if level >= FIRST {
                    self.keep(level, block.as_ref().map(|block| Entry::of(block, 1 << level, steps.power())), with_c);
                }
            }
            waiting.push((level, block));
        }
        Ok(())
    }

    /// Keeps the next block of a level.
    #[inline(always)]
    fn keep(&mut self, level: u32, block: Option<Entry<T>>, with_c: bool) {
        if let Some(wide) = level.checked_sub(FIRST_WIDE).and_then(|place| self.wide.get_mut(place as usize)) {
            wide.push(block.map(|block| block.wide));
        }
        if let Some(of_length) = self.lengths.get_mut((level - FIRST) as usize) {
            let (mut lines, mut of_c) = (T::NO_LINES, T::NO_LINES);
            let radius = block.and_then(|block| block.write(&mut lines, &mut of_c)).unwrap_or(NO_RADIUS);
            of_length.radius.push(radius);
            of_length.lines.push(lines);
            if with_c {
                of_length.of_c.push(of_c);
            }
        }
    }

    /// The blocks of each length.
    pub(super) fn lists<'b>(&'b self, orbit: usize) -> impl Iterator<Item = BlockList<'b, T>> {
        let list = move |(level, OfLength { radius, lines, of_c }): (u32, &'b OfLength<T>)| BlockList {
            orbit,
            level,
            radii: radius,
            lines,
            of_c,
        };
        (FIRST..).zip(&self.lengths).map(list)
    }

    /// The longest block at an index for deltas up to `reach`, of at most `most` steps, and its steps.
    #[inline(always)]
    fn longest(&self, at: usize, most: f64, reach: f64) -> Option<Found<'_, T>> {
        let after = at - self.first;
        let mut found = None;
        // Radii fall with the length.
        for (shift, of_length) in (FIRST..).zip(&self.lengths) {
            let place = after >> shift;
            let fits = place << shift == after && (1_u64 << shift) as f64 <= most;
            match of_length.radius.get(place) {
                Some(radius) if fits && reach <= *radius => found = Some((of_length, place, 1 << shift)),
                _ => break,
            }
        }
        found.map(
            #[inline(always)]
            |(of_length, place, steps)| {
                let lines = &of_length.lines[place];
                Found { lines, of_c: of_length.of_c.get(place).unwrap_or(lines), steps }
            },
        )
    }

    /// As [`Self::longest`], for deltas of any magnitude.
    fn longest_wide(&self, at: usize, most: u64, reach: Bound) -> Option<(&WideEntry<T>, usize)> {
        let after = at - self.first;
        let levels = FIRST_WIDE..FIRST_WIDE + self.wide.len() as u32;
        levels.zip(&self.wide).rev().find_map(|(shift, of_length)| {
            let place = after >> shift;
            let fits = place << shift == after && 1_u64 << shift <= most;
            let entry = of_length.get(place).filter(|_| fits)?.as_ref()?;
            (!entry.radius.below(reach)).then_some((entry, 1 << shift))
        })
    }
}

impl<T: Mantissa> Blocks<T> {
    /// Bytes of the blocks of orbits of so many entries.
    #[must_use]
    pub fn bytes(entries: u64, scale: i32) -> u64 {
        // From a level on there are fewer than half as many blocks as the level before has.
        let lines = if scale > WITH_C_ABOVE { 2 } else { 1 } * size_of::<T::Lines>();
        let narrow = (entries >> (FIRST - 1)).saturating_mul((lines + size_of::<f64>()) as u64);
        let wide = (entries >> (FIRST_WIDE - 1)).saturating_mul(size_of::<Option<WideEntry<T>>>() as u64);
        narrow.saturating_add(if scale < WIDE_BELOW { wide } else { 0 })
    }

    /// The blocks of the orbits of a setting.
    ///
    /// # Errors
    /// When there is no memory, and when the flag is set.
    pub(crate) fn new(level: Level, wanted: &BlockSetting<'_>) -> Result<Self, NoTable> {
        level.run(Making { wanted, of: std::marker::PhantomData })
    }

    #[inline(always)]
    fn of_orbit(first: usize, last: usize, wanted: &BlockSetting<'_>) -> Result<OfOrbit<T>, NoTable> {
        let with_wide = wanted.setting.scale < WIDE_BELOW;
        let mut made = OfOrbit::reserved(first, last, (wanted.with_c(), with_wide))?;
        made.fill(last, &Steps::new(wanted), wanted.watch)?;
        Ok(made)
    }

    /// The blocks of the orbit that an index is in, unless none may begin there.
    #[inline(always)]
    fn of(&self, at: usize) -> Option<&OfOrbit<T>> {
        let orbit = match &self.centre {
            Some(centre) if at >= centre.first => centre,
            _ => &self.critical,
        };
        (at > 0 && (at - orbit.first) & ((1 << FIRST) - 1) == 0).then_some(orbit)
    }

    /// The longest block at an index for deltas in the range of f64 up to `reach`, of at most `most` steps, and its steps.
    #[inline(always)]
    pub(super) fn longest(&self, at: usize, most: f64, reach: f64) -> Option<Found<'_, T>> {
        self.of(at)?.longest(at, most, reach)
    }

    /// The longest block at an index for deltas of any magnitude up to `reach`, of at most `most` steps, and its steps; of those that are kept for deltas below the range of f64.
    pub(super) fn longest_wide(&self, at: usize, most: u64, reach: Bound) -> Option<(&WideEntry<T>, usize)> {
        self.of(at)?.longest_wide(at, most, reach)
    }

    /// Those of the critical orbit, and those of the orbit of the centre of a Julia set.
    pub(super) fn of_orbits(&self) -> impl Iterator<Item = &OfOrbit<T>> {
        [Some(&self.critical), self.centre.as_ref()].into_iter().flatten()
    }

    /// All blocks in the range of f64: the index, steps, radius, and what lanes read.
    #[cfg(test)]
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, f64, Found<'_, T>)> {
        self.of_orbits().flat_map(|orbit| {
            (FIRST..).zip(&orbit.lengths).flat_map(move |(level, of_length)| {
                of_length.radius.iter().enumerate().filter(|(_, radius)| **radius > 0.0).map(move |(place, radius)| {
                    let lines = &of_length.lines[place];
                    let of_c = of_length.of_c.get(place).unwrap_or(lines);
                    (orbit.first + (place << level), *radius, Found { lines, of_c, steps: 1 << level })
                })
            })
        })
    }

    /// Whether S and T are kept.
    #[inline(always)]
    #[must_use]
    pub fn has_terms_of_c(&self) -> bool {
        self.with_c
    }

    /// No block, for lanes that take none.
    #[inline(always)]
    pub(super) fn none(&self) -> &T::Lines {
        &self.none
    }
}

struct Making<'a, T> {
    wanted: &'a BlockSetting<'a>,
    of: std::marker::PhantomData<T>,
}

impl<T: Mantissa> Kernel for Making<'_, T> {
    type Output = Result<Blocks<T>, NoTable>;
    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(self, _: S) -> Self::Output {
        let orbits: &Orbits = self.wanted.setting.orbits;
        let critical = Blocks::of_orbit(1, orbits.last, self.wanted)?;
        let centre = match orbits.of_centre {
            Some((first, last)) => Some(Blocks::of_orbit(first, last, self.wanted)?),
            None => None,
        };
        Ok(Blocks { critical, centre, with_c: self.wanted.with_c(), none: T::NO_LINES })
    }
}

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

mod cubic;
mod entry;
mod merge;

use super::extended::{Bound, Extended};
use super::mantissa::{Complex, Dd, Mantissa};
use super::{NoTable, TableSetting};
use entry::wide;
pub(in crate::deep) use entry::{Entry, WideEntry};
use merge::Block;
use std::sync::atomic::Ordering;

/// The greatest |c| in units of 2^scale.
pub const REACH: f64 = 1.001;
/// The lowest level that is kept: blocks of 2^FIRST steps. Shorter ones save less than they cost.
pub const FIRST: u32 = 2;
/// The error of merged coefficients, per step, relative to majorants without cancellation. A coefficient is a sum of monomials of degree at
/// most 2 l in the Z, each with a relative error of 2^-103; every merge adds less than six operations, each with an error below
/// 2^-100 of the moduli of its operands, and errors of factors add up: less than 2 l (2^-103 + 6 2^-100).
const EPSILON_EXPONENT: i32 = -95;
/// The share of |Q| (|z| + e) that is added to the derivative by z for the roundings of Q z and the error of Q.
pub(crate) const SHARE: f64 = 1e-13;
/// Added to every bound of a block in the range of f64, for results below its range.
const UNDERFLOW: f64 = 1.0e-270;

/// The blocks of 2^level steps: number i begins at m = 1 + i 2^level.
#[derive(Clone, Debug)]
pub(in crate::deep) struct Level<T> {
    /// R in f64, 0 where the block cannot be used in its range.
    pub(in crate::deep) radius: Vec<f64>,
    pub(in crate::deep) entries: Vec<Entry<T>>,
    pub(in crate::deep) wide: Vec<WideEntry<T>>,
    /// R of any magnitude, 0 where there is no block.
    pub(in crate::deep) wide_radius: Vec<Bound>,
}

impl<T> Level<T> {
    /// Room for so many blocks.
    fn with_room_for(count: usize, with_wide: bool) -> Option<Self> {
        let mut level = Self { radius: Vec::new(), entries: Vec::new(), wide: Vec::new(), wide_radius: Vec::new() };
        level.radius.try_reserve_exact(count).ok()?;
        level.entries.try_reserve_exact(count).ok()?;
        if with_wide {
            level.wide.try_reserve_exact(count).ok()?;
            level.wide_radius.try_reserve_exact(count).ok()?;
        }
        Some(level)
    }
}

/// The blocks of a reference for one number type and tolerance.
#[derive(Clone, Debug)]
pub struct Table<T> {
    pub(in crate::deep) levels: Vec<Level<T>>,
}

/// The scale below which blocks are also kept for deltas below the range of f64. Above it, few orbits come there.
const WIDE_BELOW: i32 = -400;
/// The radius of a block that cannot be used.
const NO_RADIUS: f64 = 0.0;

impl<T: Mantissa> Table<T> {
    /// Bytes of the blocks of a reference of so many steps.
    #[must_use]
    pub fn bytes(steps: u64, scale: i32) -> u64 {
        let wide = if scale < WIDE_BELOW { size_of::<WideEntry<T>>() + size_of::<Bound>() } else { 0 };
        let each = size_of::<Entry<T>>() + size_of::<f64>() + wide;
        // Levels from FIRST on have fewer than half as many blocks as the reference has steps.
        (steps >> (FIRST - 1)).saturating_mul(each as u64)
    }

    /// The blocks of a reference for c up to [`REACH`] in units of 2^scale. Where that is far below the range of f64, also for deltas
    /// below it.
    #[inline(always)]
    pub(crate) fn new(setting: &TableSetting<'_>) -> Result<Self, NoTable> {
        let TableSetting { reference, scale, escape_radius, tolerance, stop } = *setting;
        let with_wide = scale < WIDE_BELOW;
        let unit = Extended::new(Complex { re: Dd::whole(1.0), im: Dd::ZERO }, scale);
        let mut levels: Vec<Level<T>> = Vec::new();
        let steps = reference.last().saturating_sub(1);
        // Blocks that wait for their right neighbours, of falling levels.
        let mut waiting: Vec<(u32, Option<Block>)> = Vec::new();
        for m in 1..=steps {
            if m & 0xfff == 0 && stop.load(Ordering::Relaxed) {
                return Err(NoTable::Stopped);
            }
            let mut block = Block::step(reference.extended(m), unit, escape_radius);
            let mut level = 0;
            while let Some((of_left, left)) = waiting.pop_if(|(of_left, _)| *of_left == level) {
                block = match (left, block) {
                    (Some(left), Some(right)) => left.then(&right, tolerance),
                    _ => None,
                };
                level = of_left + 1;
                if level < FIRST {
                    continue;
                }
                let index = (level - FIRST) as usize;
                if levels.len() <= index {
                    levels.push(Level::with_room_for(steps >> level, with_wide).ok_or(NoTable::Memory)?);
                }
                let kept = &mut levels[index];
                let wide = block.as_ref().map(|block| wide::<T>(block, 1 << level));
                let (radius, entry) = wide.as_ref().and_then(WideEntry::narrow).unwrap_or((NO_RADIUS, Entry::NONE));
                kept.radius.push(radius);
                kept.entries.push(entry);
                if with_wide {
                    kept.wide_radius.push(wide.as_ref().map_or(Bound::ZERO, |wide| wide.radius));
                    kept.wide.push(wide.unwrap_or(WideEntry::NONE));
                }
            }
            waiting.push((level, block));
        }
        // The highest levels may have no block that can be used.
        while levels
            .last()
            .is_some_and(|l| l.radius.iter().all(|r| *r == 0.0) && l.wide_radius.iter().all(|r| r.is_zero()))
        {
            levels.pop();
        }
        Ok(Self { levels })
    }
}

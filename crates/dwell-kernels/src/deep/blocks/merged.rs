//! What blocks of either degree have in common while a table is built: how they begin, are merged, and are kept.

use super::WideEntry;
use super::merge::Block;
use super::quartic::Quartic;
use super::segments::{Filled, Segment};
use crate::deep::TableSetting;
use crate::deep::extended::Extended;
use crate::deep::mantissa::{Complex, Dd, Mantissa};
use fearless_simd::Simd;

/// A block while a table is built.
pub(super) trait Merged: Copy + Send {
    /// One step at Z_m = `z`; `None` where the disc of escape leaves no room.
    fn step(z: Extended<Dd>, setting: &TableSetting<'_>) -> Option<Self>;

    /// Two steps; `None` where nothing is left of their domain.
    fn two_steps(z: [Extended<Dd>; 2], setting: &TableSetting<'_>) -> Option<Self>;

    /// This block and then `y`; `None` where nothing is left of its domain.
    fn then(&self, y: &Self, tolerance: f64) -> Option<Self>;

    /// Keeps it: a block at m = `begin`, of 2^level steps.
    fn keep<T: Mantissa>(&self, segment: &mut Segment<'_, T>, begin: usize, level: u32);

    /// What a path has of it, if it is of use there.
    fn piece(&self) -> Option<Block>;

    /// Adds the steps of runs that begin at m and are done before the next look at a watch, where blocks are merged in vectors. How many.
    #[inline(always)]
    fn add_runs<T: Mantissa, S: Simd>(
        _: S,
        _: &mut Segment<'_, T>,
        _: &TableSetting<'_>,
        _: (usize, usize),
        _: &mut Filled<Self>,
    ) -> usize {
        0
    }
}

/// c in units of 2^scale, in the plane.
#[inline(always)]
fn unit(setting: &TableSetting<'_>) -> Extended<Dd> {
    Extended::new(Complex { re: Dd::whole(1.0), im: Dd::ZERO }, setting.scale)
}

impl Merged for Block {
    #[inline(always)]
    fn step(z: Extended<Dd>, setting: &TableSetting<'_>) -> Option<Self> {
        Self::step(z, unit(setting), setting.escape_radius)
    }

    #[inline(always)]
    fn two_steps(z: [Extended<Dd>; 2], setting: &TableSetting<'_>) -> Option<Self> {
        Self::two_steps(z, unit(setting), setting.escape_radius, setting.tolerance)
    }

    #[inline(always)]
    fn then(&self, y: &Self, tolerance: f64) -> Option<Self> {
        Self::then(self, y, tolerance)
    }

    fn keep<T: Mantissa>(&self, segment: &mut Segment<'_, T>, begin: usize, level: u32) {
        segment.keep(begin, (level - segment.first_level) as usize, &WideEntry::of(self, 1 << level));
    }

    fn piece(&self) -> Option<Block> {
        Some(*self)
    }

    #[inline(always)]
    fn add_runs<T: Mantissa, S: Simd>(
        simd: S,
        segment: &mut Segment<'_, T>,
        setting: &TableSetting<'_>,
        (m, look): (usize, usize),
        filled: &mut Filled<Self>,
    ) -> usize {
        segment.add_runs(simd, setting, (m, look), filled)
    }
}

impl Merged for Quartic {
    fn step(z: Extended<Dd>, setting: &TableSetting<'_>) -> Option<Self> {
        Self::step(z, unit(setting), setting.escape_radius)
    }

    #[inline(always)]
    fn two_steps(z: [Extended<Dd>; 2], setting: &TableSetting<'_>) -> Option<Self> {
        Self::two_steps(z, unit(setting), setting.escape_radius)
    }

    #[inline(always)]
    fn then(&self, y: &Self, tolerance: f64) -> Option<Self> {
        Self::then(self, y, self.low.coefficients(&y.low), tolerance)
    }

    fn keep<T: Mantissa>(&self, segment: &mut Segment<'_, T>, begin: usize, level: u32) {
        if let Some((radius, entry, higher)) = self.entry::<T>(1 << level) {
            segment.keep_quartic(begin, (level - segment.first_level) as usize, (radius, &entry, higher));
        }
    }

    // Blocks from m = 0, which are made of a path, are of the second degree.
    fn piece(&self) -> Option<Block> {
        None
    }
}

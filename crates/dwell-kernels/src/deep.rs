//! Deep zoom: dwells of exact arithmetic, each with a proof, from deltas to a reference orbit.
//!
//! Pixels of a deep view differ from one another far beyond the last bit of an f64. One orbit Z_m, the reference, is computed in
//! fixed point ([`mod@reference`], `limbs.rs`); of every pixel only its delta from the reference is iterated, in f64 or in pairs of f64
//! ([`mantissa`]), with an exponent of its own where it is below their range ([`extended`]). Precomputed [`blocks`] replace many steps. All of it
//! carries bounds on its errors, and an orbit whose bound leaves its dwell open is undecided ([`orbit`]): it is tried again with blocks
//! of a smaller tolerance, with more bits, and at last in arbitrary precision, which is up to the caller. So a dwell that is found is a fact about the pixel, and
//! neither the level nor the choice of blocks can change it.
//!
//! Perturbation is due to K. I. Martin (2013), rebasing and bivariate linear blocks to Zhuoran (2021). The running bounds and the quadratic
//! blocks with proofs are this project's.

pub mod blocks;
pub mod cells;
pub mod cycle;
pub(crate) mod derivative;
pub mod device_constants;
#[cfg(target_arch = "x86_64")]
mod digits;
pub mod direct;
pub mod extended;
mod fixed_orbit;
pub mod formulas;
mod kernels;
mod lanes;
mod leading;
pub mod limbs;
pub mod mantissa;
pub mod orbit;
pub mod reference;
pub mod roots;
mod running;
pub mod values;
mod view_trap;

#[cfg(test)]
mod tests;

pub use kernels::DeepKernels;

use crate::level::{Kernel, Level};
use blocks::Table;
use fearless_simd::Simd;
use mantissa::{Complex, Mantissa};
use orbit::{Counts, Found, Pool, Setting, Shortcuts};
use reference::{End, Reference};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Whether deltas are iterated with bounds on their errors: always, except in a build with `RUSTFLAGS="--cfg unproved"`, which shows what the bounds cost. There blocks are
/// chosen by |z| alone, and no dwell that is found by deltas is proved.
pub const PROVED: bool = !cfg!(unproved);

/// Why there is no table of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoTable {
    /// There is no memory for it.
    Memory,
    /// The flag was set.
    Stopped,
}

/// What long computations look at, and where they say how far they are.
#[derive(Clone, Copy, Debug)]
pub struct Watch<'a> {
    /// Set to stop.
    pub stop: &'a AtomicBool,
    /// The steps of the reference that are done.
    pub done: &'a AtomicU64,
}

/// Steps between two looks at a watch, less one.
const WATCH_MASK: usize = 0xfff;

impl<'a> Watch<'a> {
    /// A watch of which only the flag is used.
    #[must_use]
    pub fn unseen(stop: &'a AtomicBool) -> Self {
        static UNSEEN: AtomicU64 = AtomicU64::new(0);
        Self { stop, done: &UNSEEN }
    }

    /// Whether the flag is set.
    fn is_stopped(self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Says that m steps are done, once in a while. Whether to stop.
    #[inline(always)]
    fn stops(self, m: usize) -> bool {
        if m & WATCH_MASK != 0 {
            return false;
        }
        self.done.store(m as u64, Ordering::Relaxed);
        self.stop.load(Ordering::Relaxed)
    }
}

/// The degree of the polynomials of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Degree {
    /// For all numbers and views.
    Second,
    /// For pairs of f64, without derivatives: a table takes several times as long, and its blocks hold for far larger deltas.
    Fourth,
}

/// What a table of blocks is made for.
#[derive(Clone, Copy, Debug)]
pub struct TableSetting<'a> {
    /// The reference.
    pub reference: &'a Reference,
    /// c is in units of 2^scale.
    pub scale: i32,
    /// R.
    pub escape_radius: f64,
    /// The greatest remainder of a block, relative to its linear part.
    pub tolerance: f64,
    /// The degree of its blocks.
    pub degree: Degree,
    /// The level of its shortest blocks, from [`blocks::FIRST`] to [`blocks::MOST_FIRST`]: with each higher one, blocks take half of the memory, and orbits more single steps.
    pub first_level: u32,
    /// The most threads that compute it.
    pub threads: usize,
    /// Looked at meanwhile.
    pub watch: Watch<'a>,
}

/// See [`DeepKernels::table`].
fn table<T: Mantissa>(level: Level, setting: TableSetting<'_>) -> Result<Table<T>, NoTable> {
    level.run(TableKernel { setting, of: std::marker::PhantomData })
}

struct TableKernel<'a, T> {
    setting: TableSetting<'a>,
    of: std::marker::PhantomData<T>,
}

impl<T: Mantissa> Kernel for TableKernel<'_, T> {
    type Output = Result<Table<T>, NoTable>;
    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(self, simd: S) -> Self::Output {
        Table::new(simd, &self.setting)
    }
}

/// Bytes that a call of [`DeepKernels::decide`] takes while it runs.
pub const BYTES_OF_CALL: usize = orbit::BYTES;

/// See [`DeepKernels::decide`].
fn decide<T: Mantissa>(
    level: Level,
    setting: &Setting<'_>,
    shortcuts: Shortcuts<'_, T>,
    pixels: &[Complex<T>],
    found: &mut [Found],
) -> Counts {
    assert_eq!(pixels.len(), found.len(), "the lists differ in length");
    assert!(
        setting.units.is_none() || !shortcuts.table.is_quartic(),
        "blocks of the fourth degree have no derivatives"
    );
    if setting.units.is_some() {
        level.run(DecideKernel::<T, true> { setting, shortcuts, pixels, found })
    } else {
        level.run(DecideKernel::<T, false> { setting, shortcuts, pixels, found })
    }
}

struct DecideKernel<'a, T: Mantissa, const DERIVED: bool> {
    setting: &'a Setting<'a>,
    shortcuts: Shortcuts<'a, T>,
    pixels: &'a [Complex<T>],
    found: &'a mut [Found],
}

impl<T: Mantissa, const DERIVED: bool> Kernel for DecideKernel<'_, T, DERIVED> {
    type Output = Counts;
    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(self, simd: S) -> Counts {
        if self.setting.reference.end == End::Trap {
            self.found.fill(Found::Stays);
            return Counts::default();
        }
        Pool::<T, DERIVED>::new(self.setting, self.shortcuts).run(simd, self.pixels, self.found)
    }
}

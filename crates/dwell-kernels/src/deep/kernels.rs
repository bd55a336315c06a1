//! The entry points of the kernels of deep views, for the numbers of the tiers.
//!
//! The generic kernels are instantiated in this file and not in the calling crates, so that they are compiled once, with the optimisation level of this crate.

use super::blocks::Table;
use super::formulas;
use super::formulas::blocks::{BlockSetting, Blocks};
use super::mantissa::{Complex, Dd, Mantissa};
use super::orbit::{Counts, Found, Setting, Shortcuts};
use super::{NoTable, TableSetting};
use crate::level::Level;

/// A number of a tier with its kernels.
pub trait DeepKernels: Mantissa {
    /// The blocks of a reference.
    ///
    /// # Errors
    /// When there is no memory, and when the flag is set.
    fn table(level: Level, setting: TableSetting<'_>) -> Result<Table<Self>, NoTable>;

    /// Decides the dwells of pixels, given by their c in units of 2^scale, as far as these numbers and blocks do. Where the flag of the setting is set meanwhile, what is left
    /// is undecided.
    ///
    /// If the lists differ in length, or derivatives are wanted with blocks of the fourth degree.
    fn decide(
        level: Level,
        setting: &Setting<'_>,
        shortcuts: Shortcuts<'_, Self>,
        pixels: &[Complex<Self>],
        found: &mut [Found],
    ) -> Counts;

    /// The blocks of the reference orbits of any formula.
    ///
    /// # Errors
    /// When there is no memory, and when the flag is set.
    fn blocks_of_formula(level: Level, wanted: &BlockSetting<'_>) -> Result<Blocks<Self>, NoTable>;

    /// Decides the dwells of pixels of any formula, given by their offsets in units of 2^scale, by these blocks and single steps, as far as these numbers do. Where the flag of the setting
    /// is set meanwhile, what is left is undecided.
    ///
    /// If the lists differ in length.
    fn decide_formula(
        level: Level,
        setting: &formulas::Setting<'_>,
        blocks: Option<&Blocks<Self>>,
        pixels: &[Complex<Self>],
        found: &mut [Found],
    ) -> Counts;
}

macro_rules! deep_kernels {
    ($($number:ty),*) => {$(
        impl DeepKernels for $number {
            fn table(level: Level, setting: TableSetting<'_>) -> Result<Table<Self>, NoTable> {
                super::table(level, setting)
            }

            fn decide(
                level: Level,
                setting: &Setting<'_>,
                shortcuts: Shortcuts<'_, Self>,
                pixels: &[Complex<Self>],
                found: &mut [Found],
            ) -> Counts {
                super::decide(level, setting, shortcuts, pixels, found)
            }

            fn blocks_of_formula(level: Level, wanted: &BlockSetting<'_>) -> Result<Blocks<Self>, NoTable> {
                Blocks::new(level, wanted)
            }

            fn decide_formula(
                level: Level,
                setting: &formulas::Setting<'_>,
                blocks: Option<&Blocks<Self>>,
                pixels: &[Complex<Self>],
                found: &mut [Found],
            ) -> Counts {
                formulas::decide(level, setting, blocks, pixels, found)
            }
        }
    )*};
}

deep_kernels!(f64, Dd);

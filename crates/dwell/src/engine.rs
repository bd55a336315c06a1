//! Engines: who iterates. All give the same bytes.

mod cpu;
mod worker;

pub use cpu::CpuEngine;

use crate::cancel::Cancel;
use crate::error::Error;
use crate::field::{Extras, FieldPart};
use crate::parallel::{Schedule, Team};
use crate::plan::Plan;
use crate::progress::Progress;
use crate::strategy::Strategy;
use crate::tiles::TileSize;
use std::time::Duration;

/// Exact shortcuts: they change no dwell, only the time it takes. All hold for both recipes and every R >= 2; where one
/// does not hold for a formula it is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortcuts {
    /// Points inside the main cardioid or the period-2 disc, by a margin that rounding cannot cross, are not iterated.
    /// Holds for z^2 + c in the parameter plane. See [`dwell_kernels::interior`].
    pub interior: bool,
    /// A point whose orbit comes back to a z that it had before is spared the rest. Holds for every formula. See
    /// [`dwell_kernels::escape`].
    pub cycles: bool,
    /// Rows whose imaginary parts are exact negatives are computed once: every operation of a step commutes with
    /// conjugation, rounding to nearest is symmetric, and |z|^2 is the same. Holds where the formula is symmetric under
    /// conjugation (see [`dwell_kernels::Formula::mirrors`]) in views that are not rotated.
    pub symmetry: bool,
}

impl Default for Shortcuts {
    fn default() -> Self {
        Self::EXACT
    }
}

impl Shortcuts {
    /// Every point is iterated to its escape or the limit.
    pub const NONE: Self = Self { interior: false, cycles: false, symmetry: false };
    /// All of them.
    pub const EXACT: Self = Self { interior: true, cycles: true, symmetry: true };
    /// Names of single ones.
    pub const NAMES: [&'static str; 3] = ["interior", "cycles", "symmetry"];

    /// Those named: some of `none`, `exact` (all) and [`Self::NAMES`], with commas between.
    ///
    /// # Errors
    /// The name that is none of these.
    pub fn parse(text: &str) -> Result<Self, &str> {
        let mut shortcuts = Self::NONE;
        for name in text.split(',') {
            match name {
                "none" => {}
                "exact" => shortcuts = Self::EXACT,
                "interior" => shortcuts.interior = true,
                "cycles" => shortcuts.cycles = true,
                "symmetry" => shortcuts.symmetry = true,
                _ => return Err(name),
            }
        }
        Ok(shortcuts)
    }
}

impl std::fmt::Display for Shortcuts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::NONE => f.write_str("none"),
            Self::EXACT => f.write_str("exact"),
            _ => {
                let chosen = Self::NAMES.into_iter().zip([self.interior, self.cycles, self.symmetry]);
                f.write_str(&chosen.filter_map(|(name, on)| on.then_some(name)).collect::<Vec<_>>().join(","))
            }
        }
    }
}

/// Something that turns rows of a plan into a field.
pub trait Engine: Sync {
    /// Its name: `cpu`.
    fn name(&self) -> &'static str;
    /// The level its kernels run on: an instruction set, or a device's architecture.
    fn level(&self) -> String;
    /// The shortcuts it takes.
    fn shortcuts(&self) -> Shortcuts;
    /// The threads of this machine that it keeps busy.
    fn team(&self) -> &Team;
    /// How it hands out work to its threads, and in which pieces, for the statistics.
    fn work(&self) -> Work;
    /// Bytes of buffers that it comes to take for a plan, a strategy and these extras.
    fn bytes(&self, plan: &Plan, strategy: Strategy, extras: Extras) -> u64;
    /// Fills rows of a plan's image: every dwell, and every extra that there is room for.
    ///
    /// # Errors
    /// [`Error::Interrupted`]; the rows' contents are then undefined.
    fn iterate(
        &self,
        plan: &Plan,
        strategy: Strategy,
        part: FieldPart<'_>,
        cancel: &Cancel,
        progress: &Progress,
    ) -> Result<Spent, Error>;
}

/// How an engine hands out work to its threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// In which order, and to whom.
    pub schedule: Schedule,
    /// Pixels of a piece, across and down, if they were asked for; chosen by the size of the image otherwise.
    pub tile: Option<TileSize>,
}

/// Wall time that an engine spent on a call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// On dwells.
    pub iterate: Duration,
    /// On extras: part of colouring, though the engine does it while the points are at hand.
    pub extras: Duration,
}

//! Engines: who iterates. All give the same bytes.

use crate::base::cancel::Cancel;
use crate::base::error::{Error, InputError};
use crate::base::progress::Progress;
use crate::base::thread_pool::{Schedule, Team};
use crate::colour::Painter;
use crate::field::{Extras, FieldPart};
use crate::iterate::strategy::Strategy;
use crate::iterate::tiles::TileSize;
use crate::plan::Plan;
use serde::Serialize;
use std::ops::Range;
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

    /// Samples of a band that keep it busy. By default a few parts for each of many threads, of which dwells and smooth
    /// values stay in a last-level cache until they are painted.
    fn band_samples(&self) -> u64 {
        1 << 20
    }

    /// Whether it takes the shortcut `symmetry` by itself, within a plan, so that nobody need keep rows for it.
    fn mirrors(&self, _strategy: Strategy, _extras: Extras) -> bool {
        false
    }

    /// Whether [`Self::paint`] can do what a painter does, now.
    fn paints(&self, _painter: &Painter, _strategy: Strategy) -> bool {
        false
    }

    /// Iterates rows and paints them at once, to the same bytes as [`Painter::paint`] would: `picture` holds whole rows of
    /// pixels. Called only where [`Self::paints`].
    ///
    /// # Errors
    /// [`Error::Interrupted`]; the picture's contents are then undefined.
    #[allow(clippy::too_many_arguments, reason = "a call's parts, as of iterate")]
    fn paint(
        &self,
        _plan: &Plan,
        _strategy: Strategy,
        _painter: &Painter,
        _rows: Range<u32>,
        _picture: &mut [u8],
        _cancel: &Cancel,
        _progress: &Progress,
    ) -> Result<Painted, Error> {
        Err(InputError::new("engine", "does not paint").into())
    }

    /// What the user should know of the calls so far, although their results are right.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// What a device did in the calls so far, if one did.
    fn device(&self) -> Option<DeviceReport> {
        None
    }
}

/// What became of rows that were painted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Painted {
    /// Wall time.
    pub spent: Spent,
    /// Iterations that the plain loop needs for them.
    pub iterations: u64,
    /// Samples that did not escape.
    pub interior_pixels: u64,
}

/// What a device did, in seconds, added up over calls. Stages overlap.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DeviceReport {
    /// Its name.
    pub name: String,
    /// Which kernel iterated, and how it was launched.
    pub kernel: String,
    /// Finding the device and making a context on it.
    pub context_seconds: f64,
    /// Loading kernels.
    pub load_seconds: f64,
    /// Taking memory, on the device and pinned on the host.
    pub allocate_seconds: f64,
    /// Iterating, by events on the device.
    pub kernel_seconds: f64,
    /// Smooth values and painting, by events on the device.
    pub paint_seconds: f64,
    /// Copies over the bus, by events on the device.
    pub copy_seconds: f64,
    /// Bytes that were copied from the device.
    pub copied_bytes: u64,
    /// Rows that the device did not do, so that processors did.
    pub rows_on_cpu: u64,
    /// What part of a multiprocessor's threads the kernel's blocks can keep resident, from 0 to 1.
    pub theoretical_occupancy: f64,
    /// Pixels that the kernel counted as written, where it counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_pixels: Option<u64>,
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

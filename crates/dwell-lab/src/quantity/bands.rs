//! The workload of a quantity, whose field is computed in bands: memory does not grow with the height of the image.

use crate::axes;
use crate::convention::Convention;
use crate::counts;
use crate::experiment::Flags;
use crate::setup::{FlagReader, Setup, Unusable};
use dwell::{Cancel, ChannelSet, ChannelSlicesMut, Control, FieldRowsMut, Plan, Progress, Size, Strategy, Task};
use std::ops::Range;

/// The most pixels of a band, unless a single row has more.
const BAND_PIXELS: u64 = 1 << 22;

/// What is computed, and what computes it.
pub(super) struct Workload {
    pub(super) setup: Setup,
    pub(super) plan: Plan,
    pub(super) convention: Convention,
}

impl Workload {
    /// Reads flags and plans their scene under a convention.
    pub(super) fn of(flags: &Flags, convention: &Convention, reader: &dyn FlagReader) -> Result<Self, String> {
        let setup = reader.setup(flags).map_err(|unusable| match unusable {
            Unusable::NotHere(why) | Unusable::Wrong(why) => why,
        })?;
        let plan = axes::plan(&setup.scene, convention, &setup.limits).map_err(|error| error.to_string())?;
        Ok(Self { setup, plan, convention: *convention })
    }

    pub(super) fn size(&self) -> Size {
        self.plan.size()
    }

    /// Whether the value of an interior point is recorded for an escaped one with this dwell.
    pub(super) fn is_merged(&self, dwell: u32) -> bool {
        counts::is_merged(dwell, self.plan.direct_limit(), self.convention.counts)
    }

    /// The rows of the bands, from the top.
    pub(super) fn bands(&self) -> impl DoubleEndedIterator<Item = Range<u32>> + use<> {
        let Size { width, height } = self.size();
        let rows = (BAND_PIXELS / u64::from(width)).clamp(1, u64::from(height)) as u32;
        (0..height.div_ceil(rows)).map(move |band| band * rows..height.min((band + 1) * rows))
    }

    /// Computes the dwells of some rows of a plan of this workload into `dwells`.
    pub(super) fn dwells_of(
        &self,
        plan: &Plan,
        rows: Range<u32>,
        dwells: &mut Vec<u32>,
        cancel: &Cancel,
    ) -> Result<(), String> {
        let pixels = plan.size().width as usize * rows.len();
        dwells.clear();
        dwells.try_reserve_exact(pixels).map_err(|_| format!("the system has no memory for {pixels} dwells"))?;
        dwells.resize(pixels, 0);
        let task = Task { plan, strategy: Strategy::EveryPixel, channels: ChannelSet::NONE };
        let control = Control { cancel, progress: &Progress::default() };
        FieldRowsMut::new(plan.size().width, rows, ChannelSlicesMut::of_dwells(dwells))
            .map_err(dwell::Error::from)
            .and_then(|rows| self.setup.engine.run(&task, rows, &control))
            .map(drop)
            .map_err(|error| error.to_string())
    }

    /// Computes the whole field in bands from the top.
    pub(super) fn for_each_band(
        &self,
        cancel: &Cancel,
        mut band: impl FnMut(Range<u32>, &[u32]),
    ) -> Result<(), String> {
        let mut dwells = Vec::new();
        for rows in self.bands() {
            self.dwells_of(&self.plan, rows.clone(), &mut dwells, cancel)?;
            band(rows, &dwells);
        }
        Ok(())
    }

    /// The sum of a value of each dwell.
    pub(super) fn sum(&self, value: impl Fn(u32) -> u64, cancel: &Cancel) -> Result<u64, String> {
        let mut sum = 0;
        self.for_each_band(cancel, |_, dwells| sum += dwells.iter().map(|n| value(*n)).sum::<u64>())?;
        Ok(sum)
    }

    /// The pixels whose dwell has a property.
    pub(super) fn count(&self, property: impl Fn(u32) -> bool, cancel: &Cancel) -> Result<u64, String> {
        self.sum(|n| u64::from(property(n)), cancel)
    }
}

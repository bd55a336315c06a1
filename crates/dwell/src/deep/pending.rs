//! Pixels of rows that are computed but for these, which wait for others so that vectors are full and all threads have work.

use super::tiers::Attempt;
use crate::base::error::Error;
use crate::base::limits::extend;
use dwell_kernels::deep::direct::UnderWay;
use std::collections::HashMap;

/// What the memory is for, in messages.
const WHAT: &str = "a list of pixels";

/// Pixels that a call for some rows of a field left to a later one, with the orbits that are under way.
#[derive(Debug)]
pub struct Pending {
    /// By columns and rows, those that wait longest first; and the last attempt that was made at them.
    open: Vec<((u32, u32), Attempt)>,
    /// Orbits in fixed point, with the attempts that they belong to.
    under_way: HashMap<(u32, u32), (Attempt, UnderWay)>,
    required: u32,
}

impl Default for Pending {
    /// None, and all pixels are required.
    fn default() -> Self {
        Self { open: Vec::new(), under_way: HashMap::new(), required: u32::MAX }
    }
}

impl Pending {
    /// Bytes of memory for each pixel at most: lists grow by doubling.
    pub(super) const BYTES_OF_PIXEL: usize = 2 * size_of::<((u32, u32), Attempt)>();

    /// The next call decides all pixels in the rows before this one.
    pub(crate) fn require_before(&mut self, row: u32) {
        self.required = row;
    }

    /// The rows before this one are required.
    pub(crate) fn required(&self) -> u32 {
        self.required
    }

    /// The first row with a pixel that is not decided.
    pub(crate) fn first_row(&self) -> Option<u32> {
        self.open.iter().map(|((_, row), _)| *row).min()
    }

    /// The number of pixels that are not decided.
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    pub(super) fn take_open(&mut self) -> Vec<((u32, u32), Attempt)> {
        std::mem::take(&mut self.open)
    }

    pub(super) fn keep_open(
        &mut self,
        places: impl ExactSizeIterator<Item = (u32, u32)>,
        before: Attempt,
    ) -> Result<(), Error> {
        Ok(extend(&mut self.open, places.map(|place| (place, before)), WHAT)?)
    }

    /// The orbits under way of an attempt at some pixels, by their places in the list. Those of another attempt at them are given up.
    pub(super) fn take_under_way(
        &mut self,
        places: impl Iterator<Item = (u32, u32)>,
        attempt: Attempt,
    ) -> HashMap<usize, UnderWay> {
        let orbits = places.map(|place| self.under_way.remove(&place)).enumerate();
        orbits.filter_map(|(place, orbit)| Some((place, orbit.filter(|(of, _)| *of == attempt)?.1))).collect()
    }

    pub(super) fn keep_under_way(&mut self, orbits: impl Iterator<Item = ((u32, u32), UnderWay)>, attempt: Attempt) {
        self.under_way.extend(orbits.map(|(place, orbit)| (place, (attempt, orbit))));
    }
}

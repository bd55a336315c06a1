//! The blocks that are kept for deltas below the range of f64.
//!
//! These deltas are smaller than the radius of any block of a run (`runs.rs`), so that an orbit goes on by whole runs. Within a run, blocks are kept only where
//! one of its blocks is outside of the range of f64, near a Z_m that is near 0. That is rare, and at most a quarter of all blocks are kept: without them there are more
//! single steps. Of the blocks of a table whose shortest have more than 4 steps, those of whole runs and more are a larger share: an eighth with blocks from 8 steps on, all of them with those from 64 steps on.

use super::{FIRST, WideEntry, filled};
use crate::deep::NoTable;
use crate::deep::mantissa::Mantissa;

/// Of so many places, one has a block that is kept, where blocks have 4 steps and more.
const PLACES_OF_EACH: usize = 4;

/// The same where the shortest blocks have 2^`first_level` steps.
fn places_of_each(first_level: u32) -> usize {
    (PLACES_OF_EACH >> (first_level - FIRST)).max(1)
}

/// A block and its place.
pub(super) type Kept<T> = (usize, WideEntry<T>);

/// Blocks by their places.
#[derive(Clone, Debug)]
pub(super) struct Wide<T: Mantissa> {
    /// The number of the block of each place, counted from 1; 0 where none is kept.
    numbers: Vec<u32>,
    blocks: Vec<Kept<T>>,
}

impl<T: Mantissa> Wide<T> {
    /// An upper bound of the bytes for each place: the list may grow by doubling.
    pub(super) fn bytes_of_place(first_level: u32) -> usize {
        size_of::<u32>() + 2 * size_of::<Kept<T>>() / places_of_each(first_level)
    }

    /// The most blocks that are kept of so many places.
    pub(super) fn most(places: usize, first_level: u32) -> usize {
        places / places_of_each(first_level)
    }

    /// No blocks.
    pub(super) fn none() -> Self {
        Self { numbers: Vec::new(), blocks: Vec::new() }
    }

    /// These blocks, in any order, of so many places.
    pub(super) fn new(mut blocks: Vec<Kept<T>>, places: usize) -> Result<Self, NoTable> {
        if blocks.is_empty() {
            return Ok(Self::none());
        }
        blocks.sort_unstable_by_key(|(place, _)| *place);
        let mut numbers = filled(0, places)?;
        for (number, (place, _)) in blocks.iter().enumerate() {
            numbers[*place] = u32::try_from(number + 1).map_err(|_| NoTable::Memory)?;
        }
        Ok(Self { numbers, blocks })
    }

    /// The number of the block of each place, counted from 1; 0 where none is kept.
    pub(super) fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// All blocks, in the order of their places.
    pub(super) fn blocks(&self) -> &[Kept<T>] {
        &self.blocks
    }

    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The block of a place, if one is kept.
    #[inline(always)]
    pub(super) fn at(&self, place: usize) -> Option<&WideEntry<T>> {
        let number = *self.numbers.get(place)? as usize;
        (number > 0).then(|| &self.blocks[number - 1].1)
    }
}

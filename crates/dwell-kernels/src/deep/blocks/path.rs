//! The blocks, one after the other, from m = 1 to the end of the reference, of which blocks from m = 0 are made.

use super::merge::Block;
use std::collections::BTreeMap;

/// Halvings of the longest length to the shortest of the pieces of the path.
pub(super) const HALVINGS: u32 = 8;

/// A block, where it begins, and its level.
pub(super) type Piece = (usize, u32, Block);

/// Whether a path has a block of a level at m.
#[inline(always)]
pub(super) fn is_piece(m: usize, level: u32, least_level: u32) -> bool {
    m == 1 || level >= least_level
}

/// Blocks while a table is built.
pub(super) struct Path {
    /// The least level of the pieces.
    pub(super) level: u32,
    /// Levels and blocks from m = 1.
    pub(super) from_one: Vec<(u32, Block)>,
    /// By where they begin, levels and the longest blocks there.
    longest: BTreeMap<usize, (u32, Block)>,
}

impl Path {
    /// The path of a reference of so many steps after the first.
    pub(super) fn new(steps: usize) -> Self {
        let level = steps.max(1).ilog2().saturating_sub(HALVINGS);
        Self { level, from_one: Vec::new(), longest: BTreeMap::new() }
    }

    /// Adds a block at m. Of those that begin there, the longest is the last.
    #[inline(always)]
    pub(super) fn add(&mut self, m: usize, level: u32, block: &Block) {
        if m == 1 {
            self.from_one.push((level, *block));
        } else if level >= self.level {
            self.longest.insert(m, (level, *block));
        }
    }

    /// Adds what is left at the end of the reference: blocks of falling levels, each after the one before.
    pub(super) fn add_rest(&mut self, all: impl Iterator<Item = (u32, Option<Block>)>) {
        let mut m = 1;
        for (level, block) in all {
            if let Some(block) = block {
                self.longest.insert(m, (level, block));
            }
            m += 1 << level;
        }
    }

    /// The longest block at m that the path has.
    pub(super) fn at(&self, m: usize) -> Option<&(u32, Block)> {
        self.longest.get(&m)
    }
}

//! References and blocks on the device: copied when an attempt first needs them, and kept for as long as the host has them.

mod formula;
mod squares;
mod writer;

use super::formula_layout::DeepFormula;
use super::layout::DeepView;
use crate::driver::{Context, Fault, Pinned, Stream};
use crate::pool::SessionPool;
use dwell::{DeepAttempt, DeepBlocks, DeepTable, DeepWork};
use std::any::Any;
use std::sync::{Arc, Weak};
use writer::{Device, STAGING_BYTES};

/// Which blocks are loaded. The weak reference keeps the address from being used again.
type Key = Weak<dyn Any + Send + Sync>;

/// The blocks of an attempt, of any type.
fn of(work: &DeepWork<'_>) -> Arc<dyn Any + Send + Sync> {
    match work {
        DeepWork::Squares { table: DeepTable::InF64(table), .. } => Arc::clone(table) as _,
        DeepWork::Squares { table: DeepTable::InPairs(table), .. } => Arc::clone(table) as _,
        DeepWork::Formula { blocks: DeepBlocks::InF64(blocks), .. } => Arc::clone(blocks) as _,
        DeepWork::Formula { blocks: DeepBlocks::InPairs(blocks), .. } => Arc::clone(blocks) as _,
    }
}

/// A reference with the blocks of a tier.
enum Loaded {
    Squares(squares::Loaded),
    Formula(formula::Loaded),
}

/// What kernels are given for an attempt.
#[expect(clippy::large_enum_variant, reason = "there is one in each attempt")]
#[derive(Clone, Copy)]
pub(super) enum View<'a> {
    /// Of z^2 + c.
    Squares(DeepView<'a>),
    /// Of another formula, or of a Julia set.
    Formula(DeepFormula<'a>),
}

/// What is loaded, the last used one at the end.
pub(super) struct Tables {
    loaded: Vec<(Key, Loaded)>,
    staging: Pinned,
    context: Arc<Context>,
}

impl Tables {
    pub(super) fn new(context: &Arc<Context>) -> Result<Self, Fault> {
        let staging = Pinned::new(context, STAGING_BYTES)?;
        Ok(Self { loaded: Vec::new(), staging, context: Arc::clone(context) })
    }

    /// What kernels are given for an attempt, whose reference and blocks are copied unless they are there.
    pub(super) fn view(
        &mut self,
        attempt: &DeepAttempt<'_>,
        memory: &SessionPool,
        stream: &Stream,
    ) -> Result<View<'_>, Fault> {
        let key = Arc::downgrade(&of(&attempt.work));
        self.loaded.retain(|(key, _)| key.strong_count() > 0);
        match self.loaded.iter().position(|(own, _)| std::ptr::addr_eq(own.as_ptr(), key.as_ptr())) {
            Some(place) => {
                let loaded = self.loaded.remove(place);
                self.loaded.push(loaded);
            }
            None => {
                let loaded = self.load(&attempt.work, memory, stream)?;
                self.loaded.push((key, loaded));
            }
        }
        let Some((_, loaded)) = self.loaded.last() else { return Err(Fault::Memory) };
        match (loaded, &attempt.work) {
            (Loaded::Squares(loaded), DeepWork::Squares { setting, table }) => {
                Ok(View::Squares(loaded.view(setting, table)))
            }
            (Loaded::Formula(loaded), DeepWork::Formula { setting, blocks }) => {
                Ok(View::Formula(loaded.view(setting, blocks)))
            }
            _ => Err(Fault::Lost("the blocks of a formula are not those of z^2 + c".to_owned())),
        }
    }

    /// Copies blocks; frees those that were used longest ago until there is memory for them.
    fn load(&mut self, work: &DeepWork<'_>, memory: &SessionPool, stream: &Stream) -> Result<Loaded, Fault> {
        loop {
            match self.try_load(work, memory, stream) {
                Err(Fault::Memory) if !self.loaded.is_empty() => drop(self.loaded.remove(0)),
                Err(Fault::Memory) if memory.clear() => {}
                loaded => return loaded,
            }
        }
    }

    fn try_load(&mut self, work: &DeepWork<'_>, memory: &SessionPool, stream: &Stream) -> Result<Loaded, Fault> {
        let mut to = Device { context: &self.context, memory, staging: &mut self.staging, stream };
        Ok(match work {
            DeepWork::Squares { setting, table: DeepTable::InF64(table) } => {
                Loaded::Squares(squares::Loaded::new(setting, table, &mut to)?)
            }
            DeepWork::Squares { setting, table: DeepTable::InPairs(table) } => {
                Loaded::Squares(squares::Loaded::new(setting, table, &mut to)?)
            }
            DeepWork::Formula { setting, blocks: DeepBlocks::InF64(blocks) } => {
                Loaded::Formula(formula::Loaded::new(setting, blocks, &mut to)?)
            }
            DeepWork::Formula { setting, blocks: DeepBlocks::InPairs(blocks) } => {
                Loaded::Formula(formula::Loaded::new(setting, blocks, &mut to)?)
            }
        })
    }
}

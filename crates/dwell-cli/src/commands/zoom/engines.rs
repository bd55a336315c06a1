//! The engines of a zoom's frames: shallow frames may be computed on a device, and deep ones by the processors alone.

use crate::cli::ZoomArgs;
use crate::error_text::Failure;
use crate::{choice, engine, output};
use dwell::{CpuEngine, Engine, NumberKind, Scene};
use dwell_engines::{EngineName, Work};
use std::sync::Arc;

/// An engine for each number that frames need.
pub(super) struct Engines {
    cpu: CpuEngine,
    name: Option<EngineName>,
    quiet: bool,
    chosen: Vec<(NumberKind, Arc<dyn Engine>)>,
}

impl Engines {
    pub(super) fn new(args: &ZoomArgs) -> Result<Self, Failure> {
        let name = choice::name(args.engine_choice.engine.as_deref())?;
        Ok(Self { cpu: engine::engine(&args.engine)?, name, quiet: args.quiet, chosen: Vec::new() })
    }

    /// The engine of a frame's scene, chosen when its number is first needed.
    pub(super) fn of(&mut self, scene: &Scene) -> Result<Arc<dyn Engine>, Failure> {
        let number = scene.settings.number;
        if let Some((_, engine)) = self.chosen.iter().find(|(known, _)| *known == number) {
            return Ok(Arc::clone(engine));
        }
        let pixels = scene.sample_view()?.size.pixels();
        let work = Work { pixels, strategy: scene.strategy, channels: scene.colouring.channels(), number };
        let cpu = self.cpu.like().with_shortcuts(scene.shortcuts).with_tile(scene.tile);
        let (engine, remark) = choice::choose(self.name, cpu, None, work)?;
        if let Some(remark) = remark.filter(|_| !self.quiet && self.chosen.is_empty()) {
            output::remark(&remark);
        }
        self.chosen.push((number, Arc::clone(&engine)));
        Ok(engine)
    }
}

//! Lanes on a real device.

use crate::driver::{Context, Device, Fault};
use crate::lane::{Job, Lane, Opens};
use crate::modules::Modules;
use crate::session::Session;
use dwell::{Coordinates, DeviceReport};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

/// A device, its context made and its kernels loaded when first needed.
pub(crate) struct Real {
    device: Device,
    opened: OnceLock<Result<Opened, Fault>>,
}

/// What is there once the device was needed.
struct Opened {
    // Before the context, which it is of.
    modules: Mutex<Modules>,
    context: Arc<Context>,
}

impl Real {
    pub(crate) fn new(device: Device) -> Self {
        Self { device, opened: OnceLock::new() }
    }
}

impl Opens for Real {
    fn open(
        &self,
        job: &Job<'_>,
        pixels: u64,
        frugal: bool,
        report: &mut DeviceReport,
    ) -> Result<Box<dyn Lane>, Fault> {
        let begun = Instant::now();
        let mut is_new = false;
        let opened = self.opened.get_or_init(|| {
            is_new = true;
            let context = Context::new(self.device.number)?;
            let modules = Mutex::new(Modules::new(&context));
            Ok(Opened { modules, context })
        });
        if is_new {
            report.context_seconds += begun.elapsed().as_secs_f64();
        }
        let Opened { modules, context } = opened.as_ref().map_err(Clone::clone)?;
        context.enter()?;
        Ok(match job.plan.coordinates() {
            Coordinates::F32(points) => {
                Box::new(Session::open(context, &self.device, modules, job, points, (pixels, frugal))?)
            }
            Coordinates::F64(points) => {
                Box::new(Session::open(context, &self.device, modules, job, points, (pixels, frugal))?)
            }
        })
    }
}

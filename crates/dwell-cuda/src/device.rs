//! A CUDA device on which sessions are opened.

use crate::cuda_session::CudaSession;
use crate::deep::cuda::CudaDeepSession;
use crate::deep::session::DeepSession;
use crate::driver::{Context, Device, Fault};
use crate::modules::Modules;
use crate::needs::{Capacity, Needs};
use crate::pool::SessionPool;
use crate::session::{DeviceSession, OpenSession, SessionSpec};
use dwell::{DeviceReport, DirectPoints, PointsVisitor};
use dwell_kernels::Kernels;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

/// A device whose context is created, and whose kernels are loaded, when they are first needed.
pub(crate) struct CudaDevice {
    device: Device,
    opened: OnceLock<Result<Opened, Fault>>,
}

/// The state of a device once it has been used.
struct Opened {
    // Dropped before the context that it belongs to.
    modules: Mutex<Modules>,
    context: Arc<Context>,
}

impl CudaDevice {
    pub(crate) fn new(device: Device) -> Self {
        Self { device, opened: OnceLock::new() }
    }

    /// The context, which is entered, and the kernels.
    fn enter(&self, report: &mut DeviceReport) -> Result<(&Arc<Context>, MutexGuard<'_, Modules>), Fault> {
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
        Ok((context, modules.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl OpenSession for CudaDevice {
    fn open(
        &self,
        spec: &SessionSpec<'_>,
        needs: &Needs,
        room: &Capacity,
        report: &mut DeviceReport,
    ) -> Result<Box<dyn DeviceSession>, Fault> {
        let (context, mut modules) = self.enter(report)?;
        let modules = &mut *modules;
        let (begun, loading) = (Instant::now(), modules.seconds);
        let opened = spec.plan.points().visit(Open { context, device: &self.device, modules, needs, room });
        let opened =
            opened.unwrap_or_else(|| Err(Fault::Lost(spec.plan.points().unsupported_by("cuda").to_string())))?;
        let loading = modules.seconds - loading;
        report.load_seconds += loading;
        report.allocate_seconds += begun.elapsed().as_secs_f64() - loading;
        Ok(opened)
    }

    fn open_deep(
        &self,
        pixels: usize,
        memory: &SessionPool,
        report: &mut DeviceReport,
    ) -> Result<Box<dyn DeepSession>, Fault> {
        let (context, mut modules) = self.enter(report)?;
        let (begun, loading) = (Instant::now(), modules.seconds);
        let opened = CudaDeepSession::open(context, &self.device, &mut modules, pixels, memory)?;
        let loading = modules.seconds - loading;
        report.load_seconds += loading;
        report.allocate_seconds += begun.elapsed().as_secs_f64() - loading;
        Ok(Box::new(opened))
    }
}

/// Opens a session for points of either number.
struct Open<'a> {
    context: &'a Arc<Context>,
    device: &'a Device,
    modules: &'a mut Modules,
    needs: &'a Needs,
    room: &'a Capacity,
}

impl PointsVisitor for Open<'_> {
    type Output = Result<Box<dyn DeviceSession>, Fault>;

    fn direct<N: Kernels>(self, _: &DirectPoints<N>) -> Self::Output {
        let Self { context, device, modules, needs, room } = self;
        Ok(Box::new(CudaSession::<N>::open(context, device, modules, &needs.shape, room)?))
    }
}

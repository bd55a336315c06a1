//! The device as [`CpuEngine::run_with_device`] sees it: it takes a session out of those that are kept, and turns faults into warnings.

use super::pixels;
use super::session::{DeepSession, MOST_PIXELS, Part};
use crate::driver::Fault;
use crate::engine::{CudaEngine, copy};
use dwell::{
    Attempted, Cancel, ChannelSet, ChannelSlicesMut, Control, CpuEngine, DeepAttempt, DeepDevice, DeepPoints,
    DeviceFailed, DeviceReport, Engine, Error, FieldRowsMut, Notes, Outcome, Pending, Points, Requirements, Strategy,
    Task,
};
use std::ops::Range;

/// Pinned bytes of a pixel, and those through which blocks are copied.
const PINNED_BYTES: u64 = 16;
const PINNED_BYTES_OF_TABLES: u64 = 9 << 20;

/// Whether the device makes attempts at the pixels of a task.
pub(crate) fn computes(task: &Task<'_>, channels: ChannelSet) -> bool {
    let is_deep = matches!(task.plan.points(), Points::Deep(_));
    is_deep
        // Of deep views every pixel is computed: `Auto` comes to that.
        && matches!(task.strategy, Strategy::EveryPixel | Strategy::Auto)
        && CudaEngine::DEEP_CHANNELS.includes(task.channels)
        && task.channels.includes(channels)
}

/// What a task takes, given what it takes of the processors: a session has room for the same number of pixels whatever the task, and the blocks may take
/// all of the device's memory.
pub(crate) fn requirements(on_cpu: Requirements, memory: u64) -> Requirements {
    let pinned_bytes = MOST_PIXELS as u64 * PINNED_BYTES + PINNED_BYTES_OF_TABLES;
    let host_bytes = on_cpu.host_bytes.saturating_add(pinned_bytes);
    Requirements { host_bytes, pinned_bytes, device_bytes: memory, ..on_cpu }
}

/// Upper bound of the device memory of so many sessions at the same view, given what it takes of the processors' memory, blocks included.
pub(crate) fn memory_of_sessions(count: u64, on_cpu: &Requirements) -> u64 {
    count.saturating_mul(pixels::bytes(MOST_PIXELS).saturating_add(on_cpu.host_bytes))
}

/// One call of the engine.
struct DeepCall<'a> {
    engine: &'a CudaEngine,
    session: Option<Box<dyn DeepSession>>,
    warnings: Vec<String>,
    report: DeviceReport,
}

/// Computes some of the rows of a deep view, and what is pending of others.
pub(crate) fn run(
    engine: &CudaEngine,
    cpu: &CpuEngine,
    task: &Task<'_>,
    slice: (FieldRowsMut<'_>, Range<u32>),
    control: &Control<'_>,
    pending: &mut Pending,
) -> Result<Outcome, Error> {
    let report = DeviceReport {
        name: engine.device.name.clone(),
        kernel: "deltas and blocks, a thread for each pixel".to_owned(),
        ..DeviceReport::default()
    };
    let mut call = DeepCall { engine, session: None, warnings: Vec::new(), report };
    let outcome = cpu.run_with_device(task, slice, control, (&mut call, pending));
    let notes = call.end();
    let mut outcome = outcome?;
    outcome.notes.add(notes);
    Ok(outcome)
}

impl DeepCall<'_> {
    /// A session: a kept one, or a new one with as much room as there is memory for.
    fn open(&mut self) -> Result<&mut Box<dyn DeepSession>, Fault> {
        let engine = self.engine;
        let mut pixels = MOST_PIXELS;
        while self.session.is_none() {
            self.session = match engine.deep_sessions.take(&mut self.report)? {
                None => match engine.backend.open_deep(pixels, &engine.sessions, &mut self.report) {
                    Ok(session) => Some(session),
                    // What no call is using is freed before less is tried.
                    Err(Fault::Memory) if engine.free_idle() => None,
                    Err(Fault::Memory) if pixels as u64 / 2 >= engine.pieces.fewest => {
                        pixels /= 2;
                        None
                    }
                    Err(fault) => return Err(fault),
                },
                kept => kept,
            };
        }
        self.session.as_mut().ok_or(Fault::Memory)
    }

    /// Notes a fault, after which the session is not used again.
    fn failed(&mut self, fault: &Fault) -> DeviceFailed {
        let engine = self.engine;
        self.session = None;
        let reason = if *fault == Fault::Memory { fault.to_string() } else { engine.lose(fault).to_owned() };
        let (number, name) = (engine.device.number, &engine.device.name);
        self.warnings.push(format!("cuda:{number} ({name}) failed, so the processors continued: {reason}"));
        DeviceFailed
    }

    /// Does something with the session.
    fn with<R>(
        &mut self,
        act: impl FnOnce(&mut dyn DeepSession, &CudaEngine) -> Result<R, Fault>,
    ) -> Result<R, DeviceFailed> {
        let engine = self.engine;
        let Some(session) = &mut self.session else { return Err(DeviceFailed) };
        act(session.as_mut(), engine).map_err(|fault| self.failed(&fault))
    }

    /// What the call did.
    fn end(mut self) -> Notes {
        if let Some(mut session) = self.session.take() {
            session.report(&mut self.report);
            self.engine.deep_sessions.give_back(session);
        }
        let report = DeviceReport { lost: self.engine.lost().map(str::to_owned), ..self.report };
        Notes { warnings: self.warnings, device: Some(report), deep: None }
    }
}

impl DeepDevice for DeepCall<'_> {
    fn is_ready(&mut self) -> bool {
        self.session.is_some() || !self.engine.deep_sessions.is_getting_ready()
    }

    fn most_rows(&mut self, width: u32) -> Result<u32, DeviceFailed> {
        if self.engine.lost().is_some() {
            return Err(DeviceFailed);
        }
        let capacity = match self.open() {
            Ok(session) => session.capacity(),
            Err(fault) => return Err(self.failed(&fault)),
        };
        let rows = u32::try_from(capacity / width.max(1) as usize).unwrap_or(u32::MAX);
        // Not even one row fits.
        if rows == 0 { Err(self.failed(&Fault::Memory)) } else { Ok(rows) }
    }

    fn begin(&mut self, points: &DeepPoints, rows: Range<u32>) -> Result<(), DeviceFailed> {
        self.with(|session, _| session.begin(points, rows))
    }

    fn attempt(&mut self, attempt: &DeepAttempt<'_>, cancel: &Cancel) -> Result<Attempted, DeviceFailed> {
        self.with(|session, engine| match session.attempt(attempt, &engine.sessions, cancel) {
            // The blocks in sessions that no call is using are freed before the attempt is given up.
            Err(Fault::Memory) if engine.free_idle() => session.attempt(attempt, &engine.sessions, cancel),
            attempted => attempted,
        })
    }

    fn finish(&mut self, mut out: ChannelSlicesMut<'_>) -> Result<Vec<u32>, DeviceFailed> {
        self.with(|session, engine| {
            session.finish(out.set(), &mut |part, bytes| match part {
                Part::Dwells => copy(engine.pool(), out.dwell, bytes),
                Part::Values(channel) => copy(engine.pool(), out[channel], bytes),
            })
        })
    }

    fn leaves(&mut self, rows: Range<u32>) {
        self.report.rows_on_cpu += rows.len() as u64;
    }
}

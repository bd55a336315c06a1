//! One call of the engine: pieces of rows are computed on a device in turns, and copied to their places while the next
//! are computed. When the device's memory is full it retries with fewer pixels; when the device fails it returns the rows
//! that are left.

use crate::driver::Fault;
use crate::engine::CudaEngine;
use crate::needs::Needs;
use crate::session::{Budget, DeliveredRows, DeviceSession, SLOTS, SessionSpec};
use dwell::{Control, DeviceReport, Notes};
use std::ops::Range;

/// Stores delivered rows.
pub(crate) type Store<'a> = dyn FnMut(Range<u32>, DeliveredRows<'_>) + 'a;

/// A call in progress, with what it will report.
pub(crate) struct Call<'a> {
    engine: &'a CudaEngine,
    control: &'a Control<'a>,
    warnings: Vec<String>,
    report: DeviceReport,
}

impl<'a> Call<'a> {
    pub(crate) fn new(engine: &'a CudaEngine, control: &'a Control<'a>) -> Self {
        let report = DeviceReport {
            name: engine.device.name.clone(),
            kernel: engine.options.described(),
            ..DeviceReport::default()
        };
        Self { engine, control, warnings: Vec::new(), report }
    }

    /// Notes rows that the processors compute.
    pub(crate) fn leave_to_cpu(&mut self, rows: &Range<u32>) {
        self.report.rows_on_cpu += rows.len() as u64;
    }

    /// What the call did.
    pub(crate) fn into_notes(self) -> Notes {
        let report = DeviceReport { lost: self.engine.lost().map(str::to_owned), ..self.report };
        Notes { warnings: self.warnings, device: Some(report), deep: None }
    }

    /// Computes rows on the device, as far as it can. Returns the first row that is left.
    pub(crate) fn on_device(&mut self, spec: &SessionSpec<'_>, rows: Range<u32>, store: &mut Store<'_>) -> u32 {
        let engine = self.engine;
        self.report.kernel = spec.options.described();
        let mut budget = Budget { pixels: engine.pieces.pixels, frugal: false };
        let mut next = rows.start;
        while engine.lost().is_none() && !self.control.cancel.is_cancelled() && next < rows.end {
            let fault = match engine.sessions.needs(spec, budget) {
                Err(fault) => fault,
                Ok(needs) => match self.try_rows(spec, &needs, next..rows.end, &mut next, store) {
                    Ok(()) => break,
                    // The memory of sessions that no call is using is freed before anything else is tried.
                    Err(Fault::Memory) if engine.free_idle() => continue,
                    Err(fault) => fault,
                },
            };
            if fault == Fault::Memory && budget.pixels / 2 >= engine.pieces.fewest {
                budget = Budget { pixels: budget.pixels / 2, frugal: true };
                continue;
            }
            if fault != Fault::Memory {
                engine.lose(&fault);
            }
            let (number, name) = (engine.device.number, &engine.device.name);
            self.warnings.push(format!("cuda:{number} ({name}) failed, so the processors continued: {fault}"));
            break;
        }
        next
    }

    fn try_rows(
        &mut self,
        spec: &SessionSpec<'_>,
        needs: &Needs,
        rows: Range<u32>,
        next: &mut u32,
        store: &mut Store<'_>,
    ) -> Result<(), Fault> {
        let sessions = &self.engine.sessions;
        let device = self.engine.backend.as_ref();
        let mut opened = sessions.take(spec, needs, device, &mut self.report)?;
        let width = u64::from(spec.plan.size().width);
        let done = self.turns(opened.session(), pieces(rows, needs.rows), width, next, store);
        opened.session().report(&mut self.report);
        // A session that failed is closed.
        if done.is_ok() {
            sessions.give_back(opened);
        }
        done
    }

    /// Computes pieces in turns: some are computed while those before are stored.
    fn turns(
        &self,
        session: &mut dyn DeviceSession,
        mut pieces: impl Iterator<Item = Range<u32>>,
        width: u64,
        next: &mut u32,
        store: &mut Store<'_>,
    ) -> Result<(), Fault> {
        let Control { cancel, progress } = *self.control;
        let mut begun: [Option<Range<u32>>; SLOTS] = Default::default();
        // Slots are used in turns, so that the oldest piece in progress is in the slot that is used next.
        for slot in (0..SLOTS).cycle() {
            if let Some(piece) = begun[slot].take() {
                let delivered = session.finish(slot)?;
                *next = piece.end;
                progress.add(width * piece.len() as u64);
                store(piece, delivered);
            }
            if !cancel.is_cancelled()
                && let Some(piece) = pieces.next()
            {
                session.start(slot, piece.clone(), cancel)?;
                begun[slot] = Some(piece);
            } else if begun.iter().all(Option::is_none) {
                break;
            }
        }
        Ok(())
    }
}

/// Splits rows into pieces of at most `most`.
pub(crate) fn pieces(rows: Range<u32>, most: u32) -> impl Iterator<Item = Range<u32>> {
    let end = rows.end;
    rows.step_by(most.max(1) as usize).map(move |start| start..start.saturating_add(most).min(end))
}

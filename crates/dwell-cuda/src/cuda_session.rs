//! A session on a CUDA device.
//!
//! Dwells are computed into device memory: of the whole image at once where there is room (then mirrored rows are never
//! computed twice), otherwise of the rows in a slot. From there the dwells, or the picture that a kernel paints from
//! them, are copied into pinned memory on a second stream, while the first stream computes the next rows.

use crate::driver::{Context, Device, Fault};
use crate::kernel::{Kernel, SmoothValues};
use crate::launch::{Counted, Launcher};
use crate::loaded_plan::LoadedPlan;
use crate::modules::Modules;
use crate::needs::{Capacity, Needs, Shape};
use crate::paint_tables::{Canvas, PaintTables};
use crate::session::{Content, DeliveredRows, DeviceSession, Loss, SessionSpec};
use crate::shared::BLOCK_THREADS;
use crate::workspace::{OUTCOME, Slot, Workspace};
use dwell::{Cancel, DeviceReport, DirectPoints, Plan, PointsVisitor};
use dwell_kernels::Kernels;
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// Buffers and kernels for plans of one shape on a CUDA device.
pub(crate) struct CudaSession<N: Kernels> {
    content: Content,
    launcher: Launcher<N>,
    smooth: Option<Kernel<SmoothValues<N>>>,
    paint: Option<PaintTables>,
    workspace: Workspace<N>,
    plan: Option<LoadedPlan<N>>,
    done: DeviceReport,
    context: Arc<Context>,
}

impl<N: Kernels> CudaSession<N> {
    /// Allocates buffers and loads kernels.
    pub(crate) fn open(
        context: &Arc<Context>,
        device: &Device,
        modules: &mut Modules,
        shape: &Shape,
        room: &Capacity,
    ) -> Result<Self, Fault> {
        let is_picture = shape.content == Content::Picture;
        Ok(Self {
            content: shape.content,
            launcher: Launcher::new(modules, device, shape.options, shape.rule, shape.with_smooth)?,
            smooth: if shape.with_smooth { Some(modules.smooth(shape.rule)?) } else { None },
            paint: if is_picture { Some(PaintTables::new(context, modules)?) } else { None },
            workspace: Workspace::new(context, shape, room)?,
            plan: None,
            done: DeviceReport::default(),
            context: Arc::clone(context),
        })
    }

    /// Loads the points of a plan.
    fn load_points(&mut self, spec: &SessionSpec<'_>, points: &DirectPoints<N>, needs: &Needs) -> Result<(), Fault> {
        self.plan = None;
        self.workspace.axes.load(points, &self.workspace.compute)?;
        self.plan = Some(LoadedPlan::new(spec, points, needs));
        Ok(())
    }
}

/// Loads points into a session for the same number.
struct Load<'a, N: Kernels> {
    session: &'a mut CudaSession<N>,
    spec: &'a SessionSpec<'a>,
    needs: &'a Needs,
}

impl<N: Kernels> PointsVisitor for Load<'_, N> {
    type Output = Result<(), Fault>;

    fn direct<M: Kernels>(self, points: &DirectPoints<M>) -> Self::Output {
        match (points as &dyn Any).downcast_ref() {
            Some(points) => self.session.load_points(self.spec, points, self.needs),
            None => Err(Fault::Lost(format!("a session for {} was given points in {}", N::NAME, M::NAME))),
        }
    }
}

impl<N: Kernels> DeviceSession for CudaSession<N> {
    fn loss(&self, plan: &Plan) -> Loss {
        self.plan.as_ref().map_or(Loss::Nothing, |loaded| loaded.loss(plan))
    }

    fn has_colours(&self, spec: &SessionSpec<'_>) -> bool {
        let has = |painter| self.paint.as_ref().is_some_and(|paint| paint.has(painter, spec.plan.direct_limit()));
        spec.painter.is_none_or(has)
    }

    fn load(&mut self, spec: &SessionSpec<'_>, needs: &Needs) -> Result<(), Fault> {
        self.context.enter()?;
        if let (Some(paint), Some(painter)) = (&mut self.paint, spec.painter) {
            paint.load(painter, spec.plan.direct_limit(), &self.workspace.compute)?;
        }
        match &self.plan {
            Some(plan) if plan.id.is_of(spec.plan) && plan.needs == *needs => Ok(()),
            _ => spec.visit_points(Load { session: self, spec, needs }),
        }
    }

    fn start(&mut self, slot: usize, rows: Range<u32>, cancel: &Cancel) -> Result<(), Fault> {
        self.context.enter()?;
        let Some(plan) = &mut self.plan else { return Err(no_plan()) };
        assert!(rows.len() <= plan.needs.rows as usize, "rows that a slot has room for");
        let claimed = plan.claim(rows.clone(), self.launcher.infers());
        let Workspace { compute, copy, slots, field, lists, axes } = &mut self.workspace;
        // The task over the whole image where there is memory for it, or over the rows in the slot.
        let (task, first_pixel) = match &plan.whole {
            Some(whole) => (plan.task.within(axes, (field, 0), 0..whole.height(), whole.mirrored.clone()), 0),
            None => {
                let first_pixel = slot * plan.needs.capacity.slot_pixels;
                (plan.task.within(axes, (field, first_pixel), rows.clone(), (0..0, 0)), first_pixel)
            }
        };
        let place: &mut Slot = &mut slots[slot];
        // In most cases they were cleared after the rows before.
        lists.counters.clear(compute)?;
        place.began.record(compute)?;
        place.counted = Counted::Nothing;
        for rows in claimed {
            let counted =
                self.launcher.iterate(compute, (lists, plan.needs.list_rows), (task, &plan.proof), rows, cancel)?;
            place.counted = place.counted.and(counted);
        }
        place.iterated.record(compute)?;
        if place.counted != Counted::Nothing {
            // The counters are cleared for the next rows before the copy to the host begins.
            lists.counters.copy_outcome(&place.notes, OUTCOME, compute)?;
        }
        lists.counters.clear(compute)?;
        let pixels = rows.len() * task.width() as usize;
        let from = (rows.start - task.first_row()) as usize * task.width() as usize;
        let blocks = u32::try_from(pixels.div_ceil(4 * BLOCK_THREADS as usize)).unwrap_or(u32::MAX).clamp(1, 1 << 16);
        if let (Some(smooth), Some(values)) = (self.smooth, &place.values) {
            assert!(pixels <= values.len(), "a value for each pixel");
            // The kernel counts from the field's first row.
            let arguments = (task.over(rows.clone()), values.address().as_element(from), plan.per_log2_power);
            smooth.launch(compute, [blocks, 1], [BLOCK_THREADS, 1], arguments)?;
        }
        let dwell = (&field.dwell, first_pixel + from);
        let mut picture_bytes = 0;
        if let (Some(paint), Some(picture)) = (&self.paint, &place.picture) {
            // Totals.
            place.notes.clear(0..OUTCOME, compute)?;
            let size = [task.width(), rows.end - rows.start];
            let first_row = rows.start / paint.side();
            let smooth = place.values.as_ref();
            let canvas = Canvas { dwell, size, first_row, smooth, picture, totals: &place.notes };
            paint.paint(compute, blocks, &canvas)?;
            picture_bytes = paint.picture_bytes(pixels);
        }
        place.painted.record(compute)?;
        copy.after(&place.painted)?;
        place.copying.record(copy)?;
        place.copy_out(self.content, dwell, pixels, picture_bytes, copy)?;
        if cancel.is_cancelled() {
            // A cancelled launch leaves rows out.
            plan.forget();
        }
        Ok(())
    }

    fn finish(&mut self, slot: usize) -> Result<DeliveredRows<'_>, Fault> {
        self.context.enter()?;
        let place = &mut self.workspace.slots[slot];
        place.pinned.wait()?;
        self.done.kernel_seconds += place.iterated.seconds_since(&place.began)?;
        self.done.paint_seconds += place.painted.seconds_since(&place.iterated)?;
        self.done.copy_seconds += place.pinned.copied().seconds_since(&place.copying)?;
        self.done.copied_bytes += (place.bytes[0] + place.bytes[1]) as u64;
        let (counted, failures) = (place.note(OUTCOME), place.note(OUTCOME + 2));
        match place.counted {
            Counted::Nothing => {}
            Counted::NotProved(pixels) => {
                *self.done.proved_pixels.get_or_insert(0) += pixels.saturating_sub(counted);
            }
            Counted::Written(pixels) => {
                *self.done.written_pixels.get_or_insert(0) += counted;
                if counted != pixels || failures != 0 {
                    return Err(Fault::Lost(format!(
                        "{counted} of {pixels} pixels were written, {} device-side launches failed (error {})",
                        failures & 0xffff_ffff,
                        failures >> 32
                    )));
                }
            }
        }
        let bytes = place.pinned.bytes();
        let [first, second] = place.bytes;
        Ok(DeliveredRows {
            bytes: &bytes[..first],
            smooth: &bytes[first..first + second],
            totals: if self.content == Content::Picture { (place.note(0), place.note(2)) } else { (0, 0) },
        })
    }

    fn report(&mut self, report: &mut DeviceReport) {
        let done = std::mem::take(&mut self.done);
        report.kernel_seconds += done.kernel_seconds;
        report.paint_seconds += done.paint_seconds;
        report.copy_seconds += done.copy_seconds;
        report.copied_bytes += done.copied_bytes;
        report.theoretical_occupancy = self.launcher.occupancy.part;
        if let Some(written) = done.written_pixels {
            *report.written_pixels.get_or_insert(0) += written;
        }
        if let Some(proved) = done.proved_pixels {
            *report.proved_pixels.get_or_insert(0) += proved;
        }
    }
}

fn no_plan() -> Fault {
    Fault::Lost("no plan is loaded".to_owned())
}

//! Deep views with a device: it makes the attempts by deltas at all pixels, and the processors decide what it leaves open.

use super::CpuEngine;
use super::deep::{check, prepared_since};
use crate::base::control::Control;
use crate::base::error::Error;
use crate::base::limits::collected;
use crate::deep::pending::Pending;
use crate::deep::points::DeepPoints;
use crate::deep::rest::Rest;
use crate::deep::tiers::device::DeepDevice;
use crate::deep::tiers::{Course, DeepBuffers};
use crate::field::FieldRowsMut;
use crate::iterate::engine::{Engine, Notes, Outcome, Task, Times};
use crate::plan::points::Points;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Pixels that the processors compute at once, about, while the device gets ready: these at first, and twice as many as before where that took less than so long.
const MEANWHILE: u32 = if cfg!(test) { 1 << 6 } else { 1 << 12 };
const SHORT: Duration = Duration::from_millis(5);
/// What the memory is for, in messages.
const WHAT: &str = "a list of pixels";

impl CpuEngine {
    /// As [`Engine::run_slice`] for a deep view, with a device that makes the attempts by deltas. Until it is ready, and where it fails, the processors compute all of it.
    ///
    /// # Errors
    /// As [`Engine::run_slice`].
    pub fn run_with_device(
        &self,
        task: &Task<'_>,
        (mut rows, slice): (FieldRowsMut<'_>, Range<u32>),
        control: &Control<'_>,
        (device, pending): (&mut dyn DeepDevice, &mut Pending),
    ) -> Result<Outcome, Error> {
        let Points::Deep(points) = task.plan.points() else {
            return self.run_slice(task, (rows, slice), control, pending);
        };
        check(task.channels, task.plan.limit(), task.strategy)?;
        let (began, prepared_before) = (Instant::now(), points.shared.report().of_preparing());
        let course = self.deep_call(points, task.plan.limit(), control).course(task.channels)?;
        let (mut next, mut notes, mut waiting) = (slice.start, Notes::default(), Duration::ZERO);
        let (all, required, mut meanwhile) = (rows.rows(), pending.required(), MEANWHILE);
        while course.suits_a_device() && next < slice.end {
            let is_ready = device.is_ready();
            let most = if is_ready { device.most_rows(rows.width()) } else { Ok(meanwhile / rows.width().max(1)) };
            let Ok(most) = most else { break };
            let end = next.saturating_add(most.max(1)).min(slice.end);
            // Pixels wait for those of the next pieces.
            pending.require_before(if end < slice.end { 0 } else { required });
            if is_ready {
                let piece = (&mut rows, next..end);
                let waited = self.decide_with_device(
                    (&course, points),
                    piece,
                    control,
                    (&mut *device, &mut *pending),
                    &mut notes,
                )?;
                let Some(waited) = waited else { break };
                waiting += waited;
            } else {
                let began = Instant::now();
                device.leaves(next..end);
                let piece = (rows.some_rows_mut(all.clone()), next..end);
                let outcome = self.run_deep(task, points, piece, control, pending)?;
                notes.add(outcome.notes);
                waiting += outcome.times.waiting;
                if began.elapsed() < SHORT {
                    meanwhile = meanwhile.saturating_mul(2);
                }
            }
            next = end;
        }
        pending.require_before(required);
        if next < slice.end {
            device.leaves(next..slice.end);
            let outcome = self.run_deep(task, points, (rows, next..slice.end), control, pending)?;
            notes.add(outcome.notes);
            waiting += outcome.times.waiting;
        }
        let preparing = prepared_since(points, prepared_before, began);
        let times = Times { iterate: began.elapsed(), channels: Duration::ZERO, waiting, preparing };
        Ok(Outcome { times, notes })
    }

    /// Decides some rows, and what is pending of others, on a device that is ready. The time in which threads waited, or the device had few orbits under way; `None` where it fails.
    fn decide_with_device(
        &self,
        (course, points): (&Course<'_>, &DeepPoints),
        (rows, range): (&mut FieldRowsMut<'_>, Range<u32>),
        control: &Control<'_>,
        (device, pending): (&mut dyn DeepDevice, &mut Pending),
        notes: &mut Notes,
    ) -> Result<Option<Duration>, Error> {
        let width = rows.width();
        let pixels = u64::from(width) * range.len() as u64;
        if device.begin(points, range.clone()).is_err() {
            return Ok(None);
        }
        let mut of_device = DeepBuffers::default();
        let (mut open, mut last, mut waiting) = (pixels, None, Duration::ZERO);
        let mut next = Some(0);
        while let Some(number) = next {
            let Some(attempt) = course.for_device(number)? else { break };
            let Ok(attempted) = device.attempt(&attempt, control.cancel) else { return Ok(None) };
            control.cancel.check()?;
            course.note(attempt.tier, open, attempted, &mut of_device);
            waiting += Duration::from_secs_f64(attempted.few_seconds);
            next = course.next_on_device(number, open, &attempted);
            open = open.saturating_sub(attempted.decided);
            last = Some(number);
        }
        let Some(last) = last else { return Ok(None) };
        let Ok(list) = device.finish(rows.some_rows_mut(range.clone()).channels_mut()) else { return Ok(None) };
        control.progress.add(pixels.saturating_sub(list.len() as u64));
        let mut end = |mut buffers: Box<super::deep::TileBuffers>| {
            self.end_deep(&mut buffers, points, notes);
            self.pool.kept().keep(buffers);
        };
        let place = |pixel: &u32| (pixel % width, range.start + pixel / width);
        // At least once, for what is pending.
        let lists = list.chunks(Rest::MOST).chain(list.is_empty().then_some([].as_slice()));
        for list in lists {
            let rest = Rest::of(collected(list.iter().map(place), WHAT)?);
            waiting += rest.decide(
                (course, last),
                (&mut *rows, &mut *pending),
                &self.pool,
                (|| self.take_deep_buffers(), &mut end),
                |pixels| {
                    control.progress.add(pixels);
                },
            )?;
        }
        if let Some(deep) = of_device.take_report(points) {
            notes.add(Notes { deep: Some(deep), ..Notes::default() });
        }
        control.cancel.check()?;
        Ok(Some(waiting))
    }
}

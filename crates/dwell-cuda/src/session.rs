//! A lane on a real device.
//!
//! Dwells are computed into device memory, where there is room for the whole image at once (then rows that mirror others
//! are never computed twice), or for the rows in a slot. From there what is wanted of them, dwells or the picture that a
//! kernel paints from them, is copied into pinned memory on a second stream, while the first goes on with the next rows.

use crate::colours::Colours;
use crate::driver::{Buffer, Context, Device, Event, Fault, Function, Occupancy, Pinned, Stream};
use crate::lane::{Delivered, Job, Lane, SLOTS, Wanted};
use crate::launch::{Launcher, Lists};
use crate::modules::{Modules, Source};
use crate::task::{Task, rule};
use dwell::{Cancel, DeviceReport, Plan, Points};
use dwell_kernels::Kernels;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Bytes behind a slot's data in pinned memory: a picture's totals, and what kernels counted.
const NOTES: usize = 64;
/// Of the memory that is free, the image's dwells may take one part in so many.
const OF_FREE: u64 = 2;

pub(crate) struct Session<N: Kernels> {
    wanted: Wanted,
    task: Task<N>,
    launcher: Launcher,
    lists: Lists,
    rows: u32,
    samples: u32,
    /// Whether the buffers of dwells and ends hold the whole image.
    is_whole: bool,
    /// Which rows are computed, where they do.
    computed: Vec<bool>,
    /// Rows that are images of others, and the sum of the numbers of both.
    images: (Range<u32>, u32),
    /// The end of the rows started last.
    next: u32,
    compute: Stream,
    copy: Stream,
    colours: Option<Colours>,
    paint: Option<Function>,
    smooth: Option<Function>,
    per_log2_power: f64,
    slots: Vec<Slot>,
    /// What `task` has the addresses of, and of the whole image or slot by slot: dwells, ends.
    _axes: Vec<Buffer>,
    fields: Vec<[Option<Buffer>; 3]>,
    done: DeviceReport,
    context: Arc<Context>,
}

struct Slot {
    values: Option<Buffer>,
    picture: Option<Buffer>,
    notes: Buffer,
    pinned: Pinned,
    /// Bytes of the two parts of what is delivered.
    bytes: [usize; 2],
    rows: Range<u32>,
    began: Event,
    iterated: Event,
    painted: Event,
    copying: Event,
    copied: Event,
    /// Pixels that kernels are to count as written.
    to_write: u64,
}

/// 1 / log2 of the powers: `PER_LOG2_POWER` of smooth.rs.
fn per_log2(power: u32) -> f64 {
    dwell_kernels::smooth::per_log2_power(power)
}

impl<N: Kernels> Session<N> {
    pub(crate) fn open(
        context: &Arc<Context>,
        device: &Device,
        modules: &Mutex<Modules>,
        job: &Job<'_>,
        points: &Points<N>,
        (pixels, frugal): (u64, bool),
    ) -> Result<Self, Fault> {
        let begun = Instant::now();
        let mut modules = modules.lock().unwrap_or_else(PoisonError::into_inner);
        let loaded_before = modules.seconds;
        let plan: &Plan = job.plan;
        let size = plan.size();
        let width = u64::from(size.width);
        let colours = match (job.wanted, job.painter) {
            (Wanted::Picture, Some(painter)) => Some(Colours::new(context, painter, plan.limit())?),
            _ => None,
        };
        let samples = colours.as_ref().map_or(1, |colours| colours.task.samples);
        let with_smooth = job.wanted == Wanted::SmoothValues || colours.as_ref().is_some_and(|c| c.needs_smooth);
        let least = u64::from(samples) * width;
        let rows = (pixels.max(least) / least).min(u64::from(size.height.div_ceil(samples))) * u64::from(samples);
        let rows = u32::try_from(rows).unwrap_or(u32::MAX).min(size.height);
        let number = size_of::<N>() as u64;
        // Dwells, and both parts of z_n.
        let each = [4, number, number].map(|bytes| bytes * u64::from(with_smooth || bytes == 4));
        let each = if with_smooth { each } else { [4, 0, 0] };
        let free = context.memory()?.0.min(job.options.memory_bytes);
        let of_image = size.pixels().saturating_mul(each.iter().sum::<u64>());
        let is_whole = !frugal && of_image <= free / OF_FREE;
        let places = if is_whole { 1 } else { SLOTS };
        let field_pixels = if is_whole { size.pixels() } else { u64::from(rows) * width };
        let bytes_of = |each: u64| {
            field_pixels.checked_mul(each).and_then(|bytes| usize::try_from(bytes).ok()).ok_or(Fault::Memory)
        };
        let mut fields = Vec::new();
        for _ in 0..places {
            let mut field = [None, None, None];
            for (buffer, each) in field.iter_mut().zip(each) {
                if each > 0 {
                    *buffer = Some(Buffer::new(context, bytes_of(each)?)?);
                }
            }
            fields.push(field);
        }
        let slot_pixels = usize::try_from(u64::from(rows) * width).map_err(|_| Fault::Memory)?;
        let picture_bytes =
            colours.as_ref().map_or(0, |c| slot_pixels / (samples * samples) as usize * c.task.bytes as usize);
        let bytes = match job.wanted {
            Wanted::Dwells => [slot_pixels * 4, 0],
            Wanted::SmoothValues => [slot_pixels * 4, slot_pixels * 8],
            Wanted::Picture => [picture_bytes, 0],
        };
        let (compute, copy) = (Stream::new(context)?, Stream::new(context)?);
        let slot = || {
            let notes = Buffer::new(context, NOTES)?;
            notes.clear(NOTES, &compute)?;
            Ok::<Slot, Fault>(Slot {
                values: if with_smooth { Some(Buffer::new(context, slot_pixels * 8)?) } else { None },
                picture: if picture_bytes > 0 { Some(Buffer::new(context, picture_bytes)?) } else { None },
                notes,
                pinned: Pinned::new(context, bytes[0] + bytes[1] + NOTES)?,
                bytes,
                rows: 0..0,
                began: Event::new(context)?,
                iterated: Event::new(context)?,
                painted: Event::new(context)?,
                copying: Event::new(context)?,
                copied: Event::new(context)?,
                to_write: 0,
            })
        };
        let slots = (0..SLOTS).map(|_| slot()).collect::<Result<Vec<_>, _>>()?;
        let axes = points.axes.arrays().map(|axis| Buffer::of(context, axis));
        let axes = axes.into_iter().collect::<Result<Vec<_>, _>>()?;
        let mut task = Task::new(plan, points, job.shortcuts);
        for (address, axis) in task.axes.iter_mut().zip(&axes) {
            *address = axis.at(0);
        }
        let rule = rule(points.map.formula, points.map.recipe);
        let launcher = Launcher::new(context, &mut modules, device, job.options, rule, N::NAME, with_smooth)?;
        let taken: u64 = fields.iter().flatten().flatten().map(Buffer::bytes).sum();
        let of_slot = |slot: &Slot| slot.values.iter().chain(&slot.picture).map(Buffer::bytes).sum::<u64>();
        let left = free.saturating_sub(taken + slots.iter().map(of_slot).sum::<u64>());
        let lists = launcher.lists::<N>(context, size, u64::from(rows) * width, left)?;
        let smooth = format!("smooth_{rule}_{}", N::NAME);
        let (smooth, paint) = (
            if with_smooth { Some(modules.function(Source::Paint, &smooth)?) } else { None },
            match &colours {
                Some(colours) => Some(modules.function(Source::Paint, colours.kernel)?),
                None => None,
            },
        );
        let mut images = plan.mirrored_rows();
        if !is_whole || !job.shortcuts.symmetry {
            images.0 = 0..0;
        }
        // Tables come from memory that is not pinned, on a stream of their own: what is launched must not overtake them.
        context.wait()?;
        let load = modules.seconds - loaded_before;
        let done = DeviceReport {
            load_seconds: load,
            allocate_seconds: begun.elapsed().as_secs_f64() - load,
            ..DeviceReport::default()
        };
        Ok(Self {
            wanted: job.wanted,
            task,
            launcher,
            lists,
            rows,
            samples,
            is_whole,
            computed: if is_whole { vec![false; size.height as usize] } else { Vec::new() },
            images,
            next: 0,
            compute,
            copy,
            colours,
            paint,
            smooth,
            per_log2_power: per_log2(points.map.formula.power()),
            slots,
            _axes: axes,
            fields,
            done,
            context: Arc::clone(context),
        })
    }

    /// What the kernel's blocks keep resident.
    pub(crate) fn occupancy(&self) -> Occupancy {
        self.launcher.occupancy
    }

    /// The task with the buffers that rows in a slot go to.
    fn task_at(&self, slot: usize, first_row: u32) -> Task<N> {
        let field = &self.fields[if self.is_whole { 0 } else { slot }];
        let address = |buffer: &Option<Buffer>| buffer.as_ref().map_or(0, |buffer| buffer.at(0));
        let mut task = self.task;
        task.dwell = address(&field[0]);
        task.ends = [address(&field[1]), address(&field[2])];
        task.first_row = if self.is_whole { 0 } else { first_row };
        (task.mirror_begin, task.mirror_end, task.mirror_sum) = (self.images.0.start, self.images.0.end, self.images.1);
        task
    }

    /// Has rows computed that are not, and some behind them while it is at it.
    fn iterate(&mut self, task: Task<N>, rows: Range<u32>, cancel: &Cancel) -> Result<u64, Fault> {
        if !self.is_whole {
            return self.launcher.iterate(&self.compute, &self.lists, task, rows, cancel);
        }
        let mut written = 0;
        // What is inferred depends on where rectangles begin: the whole image at once, whichever rows are asked for.
        let infers = self.launcher.infers();
        let (mut row, end) = match infers && !rows.clone().all(|row| self.computed[row as usize]) {
            true => (0, u32::try_from(self.computed.len()).unwrap_or(u32::MAX)),
            false => (rows.start, rows.end),
        };
        let rows = row..end;
        while row < rows.end {
            if self.computed[row as usize] {
                row += 1;
                continue;
            }
            let most = self.lists.rows.max(rows.end - row);
            let unknown = self.computed[row as usize..].iter().take(most as usize).take_while(|known| !**known).count();
            // An image of a row in the same piece is computed with it: it is left out here.
            let mut end = row + u32::try_from(unknown).unwrap_or(u32::MAX);
            let (images, sum) = &self.images;
            if row < images.start && images.start < end {
                end = images.start;
            }
            written += self.launcher.iterate(&self.compute, &self.lists, task, row..end, cancel)?;
            for row in row..end {
                self.computed[row as usize] = true;
                let image = sum.wrapping_sub(row);
                if images.contains(&image) {
                    self.computed[image as usize] = true;
                }
            }
            row = end;
        }
        Ok(written)
    }
}

impl<N: Kernels> Lane for Session<N> {
    fn start(&mut self, slot: usize, rows: Range<u32>, cancel: &Cancel) -> Result<(), Fault> {
        self.context.enter()?;
        // Rows asked for again are computed again.
        if rows.start < self.next {
            self.computed.fill(false);
        }
        self.next = rows.end;
        let width = self.task.width as usize;
        let pixels = rows.len() * width;
        let mut task = self.task_at(slot, rows.start);
        // Mostly it was done behind the rows before.
        self.lists.clear_counts(&self.compute)?;
        self.slots[slot].began.record(&self.compute)?;
        let to_write = self.iterate(task, rows.clone(), cancel)?;
        if cancel.is_cancelled() {
            // What was not waited for is not there.
            self.computed.fill(false);
        }
        let place = &mut self.slots[slot];
        place.to_write = to_write;
        place.iterated.record(&self.compute)?;
        if to_write > 0 {
            // The counters are cleared for the next rows before the copy comes by.
            place.notes.take(16, &self.lists.counters, 16, &self.compute)?;
        }
        self.lists.clear_counts(&self.compute)?;
        let from = (rows.start - task.first_row) as usize * width;
        (task.begin, task.end) = (rows.start, rows.end);
        let blocks = u32::try_from(pixels.div_ceil(1024)).unwrap_or(u32::MAX).clamp(1, 1 << 16);
        if let (Some(function), Some(values)) = (self.smooth, &place.values) {
            // The kernel counts from the field's first row.
            let mut address = values.at(0).wrapping_sub(from as u64 * 8);
            let mut per = self.per_log2_power;
            let arguments: &mut [*mut c_void] =
                &mut [(&raw mut task).cast(), (&raw mut address).cast(), (&raw mut per).cast()];
            self.launcher.launch(&self.compute, function, [blocks, 1], [256, 1], arguments)?;
        }
        let field = &self.fields[if self.is_whole { 0 } else { slot }];
        if let (Some(function), Some(colours), Some(picture)) = (self.paint, &self.colours, &place.picture) {
            place.notes.clear(16, &self.compute)?;
            let mut paint = colours.task;
            paint.dwell = task.dwell + from as u64 * 4;
            paint.smooth = place.values.as_ref().filter(|_| colours.needs_smooth).map_or(0, |values| values.at(0));
            paint.picture = picture.at(0);
            paint.totals = place.notes.at(0);
            (paint.width, paint.rows) = (task.width, rows.end - rows.start);
            self.launcher.launch(&self.compute, function, [blocks, 1], [256, 1], &mut [(&raw mut paint).cast()])?;
        }
        place.painted.record(&self.compute)?;
        self.copy.after(&place.painted)?;
        place.copying.record(&self.copy)?;
        let (first, second) = match (self.wanted, &place.picture) {
            (Wanted::Picture, Some(picture)) => {
                let colours = self.colours.as_ref().map_or(3, |colours| colours.task.bytes as usize);
                let bytes = pixels / (self.samples * self.samples) as usize * colours;
                picture.copy_to(0, &mut place.pinned, 0, bytes, &self.copy)?;
                (bytes, 0)
            }
            _ => {
                if let Some(dwell) = &field[0] {
                    dwell.copy_to(from * 4, &mut place.pinned, 0, pixels * 4, &self.copy)?;
                }
                match &place.values {
                    Some(values) if self.wanted == Wanted::SmoothValues => {
                        values.copy_to(0, &mut place.pinned, pixels * 4, pixels * 8, &self.copy)?;
                        (pixels * 4, pixels * 8)
                    }
                    _ => (pixels * 4, 0),
                }
            }
        };
        place.bytes = [first, second];
        place.rows = rows;
        place.notes.copy_to(0, &mut place.pinned, first + second, 32, &self.copy)?;
        place.copied.record(&self.copy)
    }

    fn finish(&mut self, slot: usize) -> Result<Delivered<'_>, Fault> {
        self.context.enter()?;
        let place = &self.slots[slot];
        place.copied.wait()?;
        self.done.kernel_seconds += place.iterated.seconds_since(&place.began)?;
        self.done.paint_seconds += place.painted.seconds_since(&place.iterated)?;
        self.done.copy_seconds += place.copied.seconds_since(&place.copying)?;
        self.done.copied_bytes += (place.bytes[0] + place.bytes[1]) as u64;
        let bytes = place.pinned.bytes();
        let [first, second] = place.bytes;
        let note = |i: usize| {
            let at = first + second + i * 8;
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            u64::from_ne_bytes(word)
        };
        let (written, failures) = (note(2), note(3));
        if place.to_write > 0 {
            self.done.written_pixels = Some(self.done.written_pixels.unwrap_or(0) + written);
            if written != place.to_write || failures != 0 {
                return Err(Fault::Lost(format!(
                    "{written} of {} pixels were written, {} device-side launches failed (error {})",
                    place.to_write,
                    failures & 0xffff_ffff,
                    failures >> 32
                )));
            }
        }
        Ok(Delivered {
            bytes: &bytes[..first],
            smooth: &bytes[first..first + second],
            totals: if self.wanted == Wanted::Picture { (note(0), note(1)) } else { (0, 0) },
        })
    }

    fn rows(&self) -> u32 {
        self.rows
    }

    fn report(&mut self, report: &mut DeviceReport) {
        let done = std::mem::take(&mut self.done);
        report.load_seconds += done.load_seconds;
        report.allocate_seconds += done.allocate_seconds;
        report.kernel_seconds += done.kernel_seconds;
        report.paint_seconds += done.paint_seconds;
        report.copy_seconds += done.copy_seconds;
        report.copied_bytes += done.copied_bytes;
        report.theoretical_occupancy = self.occupancy().part;
        if let Some(written) = done.written_pixels {
            *report.written_pixels.get_or_insert(0) += written;
        }
    }
}

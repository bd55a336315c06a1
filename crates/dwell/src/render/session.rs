//! A session is one render, from opening its outputs to its report: open or resume, count the field if colours need that,
//! stream rows through the pipeline, finish.

use super::bands::{Bands, Position};
use super::clock::Clock;
use super::counting::Counting;
use super::probe::cost_of_strips;
use super::resumption::{self, Opened, Start, damaged};
use super::scratch::Scratch;
use super::sidecar::{Describe, Sidecar};
use super::sources::RowSource;
use crate::base::error::Error;
use crate::colour::Painter;
use crate::encode::{Encoder, Format, Header};
use crate::field::Field;
use crate::iterate::engine::{PaintingEngine, Task};
use crate::render::field_filler::FieldFiller;
use crate::render::files::Files;
use crate::render::journal::Journal;
use crate::render::layout::{Layout, MAX_BANDS, tile_of};
use crate::render::pipeline::{BandBuffers, Pipeline, PipelineSettings};
use crate::render::refine::Refiner;
use crate::render::report::{OutputReport, Report};
use crate::render::request::Request;
use crate::render::tally::Tally;
use crate::render::writer::{Reached, Writer};
use crate::store::Output;
use crate::view::Size;
use std::io::Write;
use std::time::Instant;

/// Images of fewer pixels are rendered without a probe, since they are complete before an estimate of the remaining time is
/// useful.
const PROBE_FROM_PIXELS: u64 = 1 << 19;

/// A render in progress.
pub(super) struct Session<'r> {
    request: &'r Request<'r>,
    layout: &'r Layout,
    began: Instant,
    clock: Clock,
    encoders: Vec<Encoder>,
    /// Whether every output is a picture.
    pictures_only: bool,
    painter: Option<Painter>,
    warnings: Vec<String>,
}

impl<'r> Session<'r> {
    /// Renders into `outputs`, whose formats are `formats`, and writes the sidecar.
    pub(super) fn render(
        layout: &'r Layout,
        request: &'r Request<'r>,
        formats: &[Format],
        outputs: Vec<Output>,
        sidecar: Option<Sidecar<'_>>,
        scratch: &mut Scratch,
    ) -> Result<Report, Error> {
        let began = Instant::now();
        let Request { plan, paint, .. } = *request;
        let size = plan.size();
        let header = Header {
            size: Size { width: size.width / paint.samples.side(), height: size.height / paint.samples.side() },
            limit: plan.limit(),
            depth: paint.depth,
            text: paint.text,
        };
        let encoders: Result<_, _> = formats.iter().map(|format| Encoder::new(*format, header)).collect();
        let encoders = encoders?;
        let (sidecar, describe) = sidecar.map(|sidecar| (sidecar.output, sidecar.describe)).unzip();
        let files = Files { outputs, sidecar };
        let Opened { writer, start, warnings } = resumption::open(layout, request, formats, files)?;
        let with_picture = formats.iter().any(|format| format.is_picture());
        let mut session = Self {
            request,
            layout,
            began,
            clock: Clock::new(request, began),
            encoders,
            pictures_only: formats.iter().all(|format| format.is_picture()),
            painter: with_picture
                .then(|| Painter::new(paint.colouring, plan.limit(), paint.depth, paint.samples, paint.dither))
                .transpose()?,
            warnings: plan.warnings().iter().cloned().chain(warnings).collect(),
        };
        match start {
            Some(start) => {
                let (writer, tally) = session.run(writer, start, scratch)?;
                session.publish(writer, Some(tally), describe)
            }
            // An earlier process wrote every byte and was stopped before it renamed the files.
            None => session.publish(writer, None, describe),
        }
    }

    /// Writes the files up to their ends. Returns the tally of this run as well.
    fn run(&mut self, mut writer: Writer, start: Start, scratch: &mut Scratch) -> Result<(Writer, Tally), Error> {
        let (request, layout) = (self.request, self.layout);
        self.start_progress()?;
        let Scratch { bands: buffers, kept, verified, mirror, .. } = scratch;
        mirror.prepare(request.plan, layout.channels, layout.originals);
        let task = Task { plan: request.plan, strategy: request.strategy, channels: layout.channels };
        let mut filler = FieldFiller::new(task, request.engine, request.control, mirror, self.clock.check_interval());
        filler.verified = request.verify.then_some(verified);
        let mut position = Position { first: start.row, computed: Some(start.computed) };
        let counts = if self.painter.as_ref().is_some_and(|painter| painter.colouring().needs_counts()) {
            self.count(start.counted, &start.counts, &mut position, &mut filler, &mut writer, kept, buffers)?
        } else {
            Vec::new()
        };
        for (number, (output, encoder)) in writer.files.outputs.iter_mut().zip(&self.encoders).enumerate() {
            if start.lengths.get(number).is_none_or(|length| *length == 0) {
                encoder.start().and_then(|bytes| output.write_all(&bytes)).map_err(|e| output.error(e))?;
            }
        }
        let bands = if layout.kept { 0 } else { MAX_BANDS as usize };
        let free = std::iter::repeat_with(|| buffers.pop().unwrap_or_default()).take(bands).collect();
        let (free, mut writer, thread_seconds) =
            self.stream(writer, free, &mut filler, &mut position, kept, &counts)?;
        buffers.extend(free);
        let tally = self.finish(&mut writer, &filler.tally, thread_seconds, counts)?;
        Ok((writer, tally))
    }

    /// Whether pixels may be refined.
    fn refines(&self) -> bool {
        self.painter.is_some() && self.request.plan.finer_points().is_some()
    }

    /// Sets the total work of the progress, in pixels, and its expected distribution over the image.
    fn start_progress(&self) -> Result<(), Error> {
        let (request, passes) = (self.request, self.layout.passes);
        let pixels = request.plan.size().pixels();
        let probed = request.watched && pixels >= PROBE_FROM_PIXELS;
        let strips = if probed { cost_of_strips(request)? } else { Vec::new() };
        // A refined pixel counts a second time.
        let refined = u32::from(self.refines());
        let mut all = strips.repeat(passes as usize + usize::from(self.refines() && self.layout.kept));
        if refined > 0 && passes > 1 {
            // The second pass goes on at half the speed, so that it counts as two.
            all.truncate(strips.len());
            all.extend(strips.iter().flat_map(|cost| [*cost; 2]));
        }
        request.control.progress.start(pixels * u64::from(passes + refined), all);
        Ok(())
    }

    /// Counts the whole field for the painter. Returns the counts as a journal stores them, or nothing without a journal.
    #[expect(clippy::too_many_arguments, reason = "the state of a render and the buffers of a pass, each used once")]
    fn count(
        &mut self,
        counted: bool,
        counts: &[u8],
        position: &mut Position,
        filler: &mut FieldFiller<'_>,
        writer: &mut Writer,
        kept: &mut Field,
        buffers: &mut Vec<BandBuffers>,
    ) -> Result<Vec<u8>, Error> {
        let Some(painter) = self.painter.as_mut() else { return Ok(Vec::new()) };
        let bands = Bands { layout: self.layout, plan: self.request.plan, beside: 0 };
        let mut stored = Vec::new();
        if self.layout.kept {
            Counting { painter, bands, clock: &self.clock, writer }.fill_and_count(kept, filler, position)?;
        } else {
            if !painter.restore_counts(counts) {
                return Err(damaged(writer.journal.as_ref().map(Journal::path)));
            }
            if counted {
                self.request.control.progress.add(self.request.plan.size().pixels());
            } else {
                // The time of the first of two passes is reported as colouring; the second pass is verified and reported.
                let verified = filler.verified.take();
                filler.tally.for_colour = true;
                Counting { painter, bands, clock: &self.clock, writer }.count_by_bands(buffers, filler, position)?;
                filler.tally.for_colour = false;
                filler.mirror.prepare(self.request.plan, self.layout.channels, self.layout.originals);
                filler.restart();
                (filler.verified, *position) = (verified, Position::default());
            }
            if self.clock.is_running() {
                stored = painter.counts()?;
            }
        }
        let begun = Instant::now();
        painter.finish_counting()?;
        filler.tally.seconds.colour += begun.elapsed().as_secs_f64();
        Ok(stored)
    }

    /// Streams all rows through the pipeline into the outputs. Returns the buffers and the writer of the pipeline, and the
    /// thread times of colouring and encoding in seconds.
    fn stream(
        &self,
        writer: Writer,
        free: Vec<BandBuffers>,
        filler: &mut FieldFiller<'_>,
        position: &mut Position,
        kept: &Field,
        counts: &[u8],
    ) -> Result<(Vec<BandBuffers>, Writer, [f64; 3]), Error> {
        let (request, painter) = (self.request, self.painter.as_ref());
        let begun = Instant::now();
        let refiner = match painter.filter(|_| self.refines()) {
            Some(painter) => {
                let refined = u64::from(position.first) * u64::from(request.plan.size().width);
                request.control.progress.add(refined);
                Refiner::new(painter, request.plan, self.layout.channels, request.engine, request.control)?
            }
            None => None,
        };
        filler.tally.seconds.colour += begun.elapsed().as_secs_f64();
        let settings = PipelineSettings {
            painter,
            encoders: &self.encoders,
            division: self.layout.division,
            samples: request.paint.samples.side(),
            refiner: refiner.as_ref(),
            threads: request.engine.pool().threads() as u64,
            limit: request.plan.limit(),
            cancel: request.control.cancel,
        };
        let journal = writer.journal.as_ref().map(|journal| journal.path().to_owned());
        let pipeline = Pipeline::new(settings, free, writer);
        request.engine.pool().with_background_jobs(|jobs| {
            pipeline.run(|| {
                let source = RowSource {
                    pipeline: &pipeline,
                    jobs,
                    bands: Bands { layout: self.layout, plan: request.plan, beside: self.layout.beside },
                    clock: &self.clock,
                    journal: journal.as_deref(),
                    counts,
                };
                if self.layout.kept {
                    return source.kept(kept);
                }
                if let Some((engine, painter)) = self.painting(&filler.task) {
                    source.painted(engine, painter, filler, position)?;
                }
                if position.first < request.plan.size().height { source.filled(filler, position) } else { Ok(()) }
            })
        })?;
        let thread_seconds = pipeline.thread_seconds();
        let (free, writer) = pipeline.into_parts();
        if let Some(refiner) = &refiner {
            // The kernel that is named is that of the field.
            let of_field = std::mem::replace(&mut filler.tally.notes, refiner.take_notes());
            filler.tally.notes.add(of_field);
        }
        Ok((free, writer, thread_seconds))
    }

    /// The engine as one that paints, if it can and no dwells are needed on this machine.
    fn painting(&self, task: &Task<'_>) -> Option<(&'r dyn PaintingEngine, &Painter)> {
        let painter = self.painter.as_ref()?;
        let dwells_are_needed = self.request.hash || self.request.verify || !self.pictures_only;
        let engine = self.request.engine.painting().filter(|_| !dwells_are_needed)?;
        engine.can_paint(task, painter).then_some((engine, painter))
    }

    /// Writes the ends of the files and syncs them. Returns the tally of this run.
    fn finish(
        &self,
        writer: &mut Writer,
        tally: &Tally,
        thread_seconds: [f64; 3],
        counts: Vec<u8>,
    ) -> Result<Tally, Error> {
        let request = self.request;
        // Problems that the engine reported. The picture is correct in spite of them.
        let warnings = &tally.notes.warnings;
        for ((output, encoder), sum) in writer.files.outputs.iter_mut().zip(&self.encoders).zip(&writer.sums) {
            encoder.end(*sum, warnings).and_then(|bytes| output.write_all(&bytes)).map_err(|e| output.error(e))?;
        }
        let tally = self.clock.tally(tally, thread_seconds, request.engine.pool().threads());
        // Several outputs are published as one transaction: after this, the next run finishes it.
        if writer.journaled || writer.files.outputs.len() > 1 {
            writer.save(Reached {
                complete: true,
                counted: true,
                row: request.plan.size().height,
                tally: tally.clone(),
                // If a file is lost before it is published, its rows are painted again.
                counts,
                ..Reached::default()
            })?;
        }
        writer.files.outputs.iter_mut().try_for_each(Output::sync)?;
        Ok(tally)
    }

    /// Publishes the outputs, of which this run has a tally if it wrote to them, and then the sidecar.
    fn publish(
        self,
        mut writer: Writer,
        tally: Option<Tally>,
        describe: Option<Describe<'_>>,
    ) -> Result<Report, Error> {
        resumption::publish(&mut writer, self.request.control.cancel)?;
        if let Some(mut tally) = tally {
            tally.seconds.write = writer.files.outputs.iter().map(|output| output.spent().as_secs_f64()).sum();
            tally.seconds.total = self.began.elapsed().as_secs_f64();
            writer.tally.add(&tally);
        }
        let mut report = self.report(&mut writer);
        if let Some(describe) = describe {
            let bytes = describe(&mut report)?;
            writer.publish_sidecar(&bytes)?;
        }
        writer.journal.as_mut().map_or(Ok(()), Journal::remove)?;
        Ok(report)
    }

    fn report(self, writer: &mut Writer) -> Report {
        let mut tally = std::mem::take(&mut writer.tally);
        let Request { plan, engine, paint, .. } = *self.request;
        tally.samples = paint.samples.side();
        tally.refines = self.refines();
        tally.planned_bytes = self.layout.bytes();
        tally.tile = Some(tile_of(self.request, self.layout));
        let strategy = engine.info().strategy_for(&self.layout.task(self.request));
        let warnings = self.warnings.into_iter().chain(std::mem::take(&mut tally.notes.warnings)).collect();
        let mut report = Report::new(plan, engine, strategy, tally, warnings);
        if self.request.hash {
            report.outputs = writer.files.outputs.iter().filter_map(OutputReport::of).collect();
        }
        report
    }
}

//! The pipeline, wired: plan -> field -> picture -> files, a band of rows at a time. The only file that knows the
//! order.

use crate::cancel::Cancel;
use crate::colour::{Colouring, Depth, MOST_SAMPLES, Painter};
use crate::encode::{self, Adler, Format, Header};
use crate::engine::Engine;
use crate::error::{Error, InputError};
use crate::field::{Extras, Field};
use crate::journal::{Ahead, Journal, Journaling, State};
use crate::layout::{BANDS_AT_HAND, Layout, Task, tile_of};
use crate::limits::Limits;
use crate::mirror::Mirror;
use crate::pipeline::{Finish, Pipeline, Rows, Writer};
use crate::plan::Plan;
use crate::progress::Progress;
use crate::report::{Report, Tally};
use crate::store::Output;
use crate::strategy::Strategy;
use crate::sweep::Sweep;
use crate::view::Size;
use std::io::Write;
use std::time::{Duration, Instant};

/// Strips, and points across each, of the probe that an estimate of the remaining time is made from.
const PROBE: (u32, u32) = (64, 32);
/// Images of fewer pixels are done before an estimate is worth its probe of 2048 points.
const PROBE_FROM_PIXELS: u64 = 1 << 19;
/// Pixels across and down of the renders that a time is estimated from: each is larger than the one before, and the last is
/// the first that takes [`ENOUGH`].
const ESTIMATES: [(u32, u32); 4] = [(64, 32), (256, 128), (1024, 512), (2048, 1024)];
/// Time enough to be measured.
const ENOUGH: Duration = Duration::from_millis(150);
/// The longest time between two looks at the clock of a journal.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// What to render and who watches.
pub struct Request<'a> {
    /// The points and the limit: of the samples, [`Paint::samples`] times as many as the picture's pixels each way.
    pub plan: &'a Plan,
    /// Who iterates.
    pub engine: &'a dyn Engine,
    /// How pixels are asked for.
    pub strategy: Strategy,
    /// Whether to ask for every pixel as well, and count those whose dwell differs.
    pub verify: bool,
    /// How pictures look.
    pub paint: Paint<'a>,
    /// Whether to hash the dwells.
    pub hash: bool,
    /// How to keep a journal, if all outputs are files; none if it is not worth it.
    pub journaling: Option<Journaling>,
    /// What it may take.
    pub limits: Limits,
    /// Whether somebody watches `progress`, so that a probe for an honest estimate is worth its time.
    pub watched: bool,
    /// How to stop it.
    pub cancel: &'a Cancel,
    /// How far it is.
    pub progress: &'a Progress,
}

/// How pictures look.
#[derive(Clone, Copy, Debug)]
pub struct Paint<'a> {
    /// Which colour a sample has.
    pub colouring: &'a Colouring,
    /// Samples of a pixel on a side, 1 to [`MOST_SAMPLES`], averaged in linear light.
    pub samples: u32,
    /// Bits of a channel.
    pub depth: Depth,
    /// A text to go into a picture that can hold one (PNG), such as [`crate::Scene::text`]; none if empty. A journal
    /// tells renders apart by it.
    pub text: &'a str,
}

/// Buffers kept from one render to the next: the first touch of fresh memory can cost more than iterating into it.
#[derive(Debug, Default)]
pub struct Buffers {
    fields: Vec<Field>,
    verified: Field,
    mirror: Mirror,
}

/// Computes the whole field at once, pixels asked for by a strategy, with extras if asked for.
///
/// # Errors
/// [`Error::Interrupted`], or [`Error::Input`] when it would take more memory than `limits` allows.
pub fn field(
    plan: &Plan,
    engine: &dyn Engine,
    strategy: Strategy,
    extras: Extras,
    limits: &Limits,
    cancel: &Cancel,
) -> Result<Field, Error> {
    let symmetry = engine.shortcuts().symmetry;
    let most_mirrored = if symmetry { u64::MAX } else { 0 };
    let mirrored = Mirror::bytes(plan, extras, most_mirrored);
    let buffers = mirrored + engine.bytes(plan, strategy, extras);
    limits.reserve("the field", Field::bytes(plan.size().pixels(), extras).saturating_add(buffers))?;
    let mut field = Field::default();
    field.prepare(plan, 0..plan.size().height, extras)?;
    let mut mirror = Mirror::default();
    mirror.prepare(plan, extras, most_mirrored);
    let quiet = Progress::default();
    let mut sweep = Sweep::new(plan, engine, strategy, cancel, &quiet, &mut mirror, None, None);
    sweep.fill(&mut field, plan.size().height, |_, _| Ok(()))?;
    Ok(field)
}

/// How a render into files of these formats would be laid out.
///
/// # Errors
/// When it would take more memory than the limits allow, or formats and samples do not go together.
pub fn layout(request: &Request<'_>, formats: &[Format]) -> Result<Layout, InputError> {
    check_samples(request.plan.size(), request.paint.samples, formats.iter().copied())?;
    Layout::new(&task(request, formats), &request.limits)
}

fn task<'a>(request: &Request<'a>, formats: &'a [Format]) -> Task<'a> {
    let Request { plan, engine, strategy, verify, paint, .. } = *request;
    Task { plan, engine, strategy, paint, formats, verify, journaled: request.journaling.is_some() }
}

/// Renders into any number of outputs at once. They are complete when it returns, all or none of those that are regular
/// files having been left alone before.
///
/// With [`Request::journaling`], what is done when it is killed, or fails, is not lost: the same call goes on with it.
///
/// # Errors
/// [`Error::Interrupted`], [`Error::Write`], or [`Error::Input`] when it would take more memory than was allowed or can be
/// had, dwells are to be written of a picture with several samples a pixel, or there is a journal of another render.
pub fn render(request: &Request<'_>, outputs: Vec<(Format, Output)>, buffers: &mut Buffers) -> Result<Report, Error> {
    let (formats, outputs): (Vec<_>, Vec<_>) = outputs.into_iter().unzip();
    let layout = layout(request, &formats)?;
    render_as(&layout, request, &formats, outputs, buffers)
}

fn render_as(
    layout: &Layout,
    request: &Request<'_>,
    formats: &[Format],
    mut outputs: Vec<Output>,
    buffers: &mut Buffers,
) -> Result<Report, Error> {
    let began = Instant::now();
    let (plan, paint) = (request.plan, request.paint);
    let (size, samples) = (plan.size(), paint.samples);
    let header = Header {
        size: Size { width: size.width / samples, height: size.height / samples },
        depth: paint.depth,
        text: paint.text,
    };
    let encoders: Vec<_> = formats.iter().map(|format| encode::encoder(*format, header)).collect();
    let journal = journal(request, formats, &outputs)?;
    let mut state = match &journal {
        Some(journal) => found(journal, request, layout, &mut outputs)?,
        None => None,
    };
    let mut warnings = plan.warnings().to_vec();
    if let Some(state) = &mut state {
        state.tally.resumes += 1;
        if request.hash && state.tally.hasher.is_none() {
            warnings.push("gone on with from a run without statistics: no hash of the dwells".to_owned());
        }
    }
    let resumed = state.is_some();
    let State { complete, counted, row, files, tally, counts, ahead } = state.unwrap_or_else(|| State {
        tally: Tally { hasher: request.hash.then(Default::default), ..Tally::default() },
        ..State::default()
    });
    let sums =
        if resumed { files.iter().map(|(_, sum)| *sum).collect() } else { vec![Adler::default(); formats.len()] };
    let mut writer = Writer::new(outputs, sums, tally, journal.as_ref());
    writer.journaled = resumed;
    let report = |mut tally: Tally, warnings| {
        tally.samples = samples;
        tally.planned_bytes = layout.bytes();
        tally.tile = Some(tile_of(request.engine, request.strategy, layout, size.width));
        Report::new(plan, request.engine, request.strategy, tally, warnings)
    };
    if complete {
        publish(&mut writer, request.cancel)?;
        return Ok(report(writer.tally, warnings));
    }
    if !resumed {
        for output in &mut writer.outputs {
            output.go_on_at(0)?;
        }
    }

    let mut painter = formats
        .iter()
        .any(|format| format.is_picture())
        .then(|| Painter::new(paint.colouring, plan.limit(), paint.depth, samples));
    let passes = u64::from(layout.passes);
    let probed = request.watched && size.pixels() >= PROBE_FROM_PIXELS;
    let strips = if probed { cost_of_strips(request)? } else { Vec::new() };
    request.progress.start(size.pixels() * passes, strips.repeat(layout.passes as usize));
    let Buffers { fields, verified, mirror } = buffers;
    let most_mirrored = if request.engine.shortcuts().symmetry { layout.mirrored_bytes } else { 0 };
    mirror.prepare(plan, layout.extras, most_mirrored);
    let clock = Clock::new(request, began);
    let mut sweep = Sweep::new(
        plan,
        request.engine,
        request.strategy,
        request.cancel,
        request.progress,
        mirror,
        request.verify.then_some(verified),
        clock.pause(),
    );
    let bands = Bands { layout, plan };
    let mut first = row;
    let mut ahead = Some(ahead);
    let mut written_counts = Vec::new();
    let mut whole = Field::default();
    if let Some(painter) = painter.as_mut().filter(|painter| painter.colouring().needs_counts()) {
        if layout.kept {
            whole = fields.pop().unwrap_or_default();
            bands.count_kept(painter, &mut whole, &mut sweep, ahead.take(), &mut writer, &clock)?;
            first = 0;
        } else {
            if !painter.restore_counts(&counts) {
                return Err(damaged(journal.as_ref()));
            }
            if !counted {
                // The first of two passes: what it takes, it takes for the colours; the second is verified and told of.
                let verified = sweep.verified.take();
                sweep.tally.for_colour = true;
                bands.count(painter, fields, &mut sweep, (first, ahead.take()), &mut writer, &clock)?;
                sweep.tally.for_colour = false;
                sweep.mirror.prepare(plan, layout.extras, most_mirrored);
                (sweep.verified, sweep.next, first) = (verified, 0, 0);
            } else {
                request.progress.add(size.pixels());
            }
            if clock.interval.is_some() {
                written_counts = painter.counts();
            }
        }
        let begun = Instant::now();
        painter.finish_counting();
        sweep.tally.seconds.colour += begun.elapsed().as_secs_f64();
    }
    for ((output, encoder), (length, _)) in
        writer.outputs.iter_mut().zip(&encoders).zip(files.into_iter().chain(std::iter::repeat((0, Adler::default()))))
    {
        if length == 0 {
            encoder.start().and_then(|bytes| output.write_all(&bytes)).map_err(|e| output.error(e))?;
        }
    }
    let finish = Finish {
        painter: painter.as_ref(),
        encoders: &encoders,
        part_rows: layout.part_rows,
        samples,
        limit: plan.limit(),
        cancel: request.cancel,
    };
    let at_hand = if layout.kept { 0 } else { BANDS_AT_HAND as usize };
    let mut at_hand: Vec<Field> =
        fields.drain(..fields.len().min(at_hand)).chain(std::iter::repeat_with(Field::default)).take(at_hand).collect();
    at_hand.reverse();
    let pipeline = Pipeline::new(finish, at_hand, writer);
    let team = request.engine.team();
    team.with_crew(|crew| {
        pipeline.run(|| {
            if layout.kept {
                for start in (0..size.height).step_by(layout.band_rows as usize) {
                    request.cancel.check()?;
                    pipeline.submit(Rows::Kept(&whole, bands.from(start)), crew);
                }
                return Ok(());
            }
            let mut field = pipeline.empty_field()?;
            bands.prepare(&mut field, first, ahead.as_ref())?;
            let restored = bands.restore(&mut field, &mut sweep, first, ahead.take());
            restored.then_some(()).ok_or_else(|| damaged(journal.as_ref()))?;
            request.progress.add(u64::from(sweep.next) * u64::from(size.width));
            while first < size.height {
                let band = bands.from(first);
                sweep.fill(&mut field, band.end, |sweep, field| {
                    if clock.is_due() {
                        pipeline.checkpoint(|| State {
                            counted: passes > 1,
                            row: first,
                            tally: clock.tally(sweep, pipeline.thread_seconds(), team.threads()),
                            counts: written_counts.clone(),
                            ahead: Ahead::of(field.some_rows(first..sweep.next)),
                            ..State::default()
                        });
                    }
                    Ok(())
                })?;
                first = band.end;
                let mut next = if first < size.height { pipeline.empty_field()? } else { Field::default() };
                if first < size.height {
                    bands.prepare(&mut next, first, None)?;
                    next.take_over(&field, first..sweep.next);
                }
                pipeline.submit(Rows::Own(std::mem::replace(&mut field, next), band), crew);
            }
            Ok(())
        })
    })?;
    let seconds = pipeline.thread_seconds();
    let (empty, mut writer) = pipeline.into_parts();
    for ((output, encoder), sum) in writer.outputs.iter_mut().zip(&encoders).zip(&writer.sums) {
        encoder.end(*sum).and_then(|bytes| output.write_all(&bytes)).map_err(|e| output.error(e))?;
    }
    let mut tally = clock.tally(&sweep, seconds, team.threads());
    if writer.journaled {
        writer.save(State {
            complete: true,
            counted: true,
            row: size.height,
            tally: tally.clone(),
            ..State::default()
        })?;
    }
    publish(&mut writer, request.cancel)?;
    tally.seconds.write = writer.outputs.iter().map(|output| output.spent().as_secs_f64()).sum();
    tally.seconds.total = began.elapsed().as_secs_f64();
    writer.tally.add(&tally);
    let tally = writer.tally;
    *fields = empty;
    if layout.kept {
        fields.push(whole);
    }
    Ok(report(tally, warnings))
}

/// The journal of a render, if it is to have one and every output is a file.
fn journal(request: &Request<'_>, formats: &[Format], outputs: &[Output]) -> Result<Option<Journal>, Error> {
    let Some(first) = outputs.first().filter(|_| request.journaling.is_some()) else { return Ok(None) };
    let places: Option<Vec<_>> = outputs.iter().map(Output::place).collect();
    let Some((place, disk)) = places.as_ref().and_then(|places| places.first()) else { return Ok(None) };
    let names: Vec<String> = formats
        .iter()
        .zip(places.iter().flatten())
        .map(|(format, (place, _))| {
            format!("{} {}", format.name(), place.file_name().unwrap_or_default().to_string_lossy())
        })
        .collect();
    let identity = format!(
        "program = \"dwell {}\"\noutputs = {}\nverify = {}\n{}",
        env!("CARGO_PKG_VERSION"),
        toml::Value::from(names),
        request.verify,
        request.paint.text
    );
    Journal::beside((*disk).clone(), place, identity).map(Some).map_err(|e| first.error(e))
}

/// What an earlier run has left to go on with, its outputs made ready for that.
fn found(
    journal: &Journal,
    request: &Request<'_>,
    layout: &Layout,
    outputs: &mut Vec<Output>,
) -> Result<Option<State>, Error> {
    if request.journaling.as_ref().is_some_and(|journaling| journaling.fresh) {
        journal.remove()?;
        return Ok(None);
    }
    // Whatever is wrong with a journal, what it speaks of is not to be lost by that.
    outputs.iter_mut().for_each(Output::keep);
    let state = match journal.find(request.plan) {
        Ok(Some(state)) => state,
        none => {
            outputs.iter_mut().filter(|output| none.is_ok() || output.is_empty()).for_each(Output::abandon);
            return none;
        }
    };
    if state.files.len() != outputs.len() || !state.row.is_multiple_of(layout.part_rows) && !state.complete {
        return Err(damaged(Some(journal)));
    }
    let mut there = Vec::new();
    for (output, (length, _)) in outputs.iter_mut().zip(&state.files) {
        there.push(output.go_on_at(*length)?);
    }
    let mut published = Vec::new();
    for output in outputs.iter().filter(|_| state.complete) {
        published.push(output.is_published()?);
    }
    if state.complete && there.iter().zip(&published).all(|(there, published)| *there || *published) {
        // Those that are missing have their names already.
        let mut there = there.into_iter();
        outputs.retain_mut(|output| {
            let there = there.next().unwrap_or(false);
            if !there {
                output.abandon();
            }
            there
        });
        return Ok(Some(state));
    }
    if state.complete || there.contains(&false) {
        outputs.iter_mut().for_each(Output::abandon);
        journal.remove()?;
        return Ok(None);
    }
    Ok(Some(state))
}

/// Completes outputs that have all their bytes, all of them or, at the very first, none.
fn publish(writer: &mut Writer<'_>, cancel: &Cancel) -> Result<(), Error> {
    for output in &mut writer.outputs {
        output.secure()?;
    }
    cancel.check()?;
    for output in &mut writer.outputs {
        output.publish()?;
    }
    match writer.journal.filter(|_| writer.journaled) {
        Some(journal) => journal.remove(),
        None => Ok(()),
    }
}

fn damaged(journal: Option<&Journal>) -> Error {
    let path = journal.map_or_else(String::new, |journal| journal.path().to_string_lossy().into_owned());
    InputError::new(path, "does not fit what it is a journal of").hint("--fresh starts over").into()
}

/// When to make the next entry of a journal.
struct Clock {
    began: Instant,
    interval: Option<Duration>,
    last: std::cell::Cell<Instant>,
}

impl Clock {
    fn new(request: &Request<'_>, began: Instant) -> Self {
        let interval = request.journaling.as_ref().map(|journaling| journaling.interval);
        Self { began, interval, last: std::cell::Cell::new(Instant::now()) }
    }

    /// How long to work between two looks at it.
    fn pause(&self) -> Option<Duration> {
        self.interval.map(|interval| (interval / 8).min(LONGEST_PAUSE))
    }

    fn is_due(&self) -> bool {
        let due = self.interval.is_some_and(|interval| self.last.get().elapsed() >= interval);
        if due {
            self.last.set(Instant::now());
        }
        due
    }

    /// What was done since the process began, less what the writer has counted.
    fn tally(&self, sweep: &Sweep<'_>, [colour, encode]: [f64; 2], threads: usize) -> Tally {
        let mut tally = sweep.tally.clone();
        // As though all threads had done it at once, and nothing else.
        tally.seconds.colour += colour / threads as f64;
        tally.seconds.encode += encode / threads as f64;
        tally.seconds.total = self.began.elapsed().as_secs_f64();
        tally
    }
}

/// The bands of an image.
#[derive(Clone, Copy)]
struct Bands<'a> {
    layout: &'a Layout,
    plan: &'a Plan,
}

impl Bands<'_> {
    /// The band that begins at a row.
    fn from(&self, start: u32) -> std::ops::Range<u32> {
        start..start.saturating_add(self.layout.band_rows).min(self.plan.size().height)
    }

    /// Makes room for the band that begins at a row, and for what is there of it.
    fn prepare(&self, field: &mut Field, start: u32, ahead: Option<&Ahead>) -> Result<(), InputError> {
        let rows = (self.layout.band_rows.saturating_add(self.layout.overhang)).max(ahead.map_or(0, Ahead::rows));
        let end = start.saturating_add(rows).min(self.plan.size().height);
        field.prepare(self.plan, start..end, self.layout.extras)
    }

    /// Puts what is there of a band into its field. False if it does not fit.
    fn restore(&self, field: &mut Field, sweep: &mut Sweep<'_>, start: u32, ahead: Option<Ahead>) -> bool {
        let ahead = ahead.unwrap_or_default();
        if ahead.rows() > 0 && !ahead.restore(field, start) {
            return false;
        }
        sweep.resume(field, start + ahead.rows());
        true
    }

    /// Shows the whole of a field that is kept to a painter.
    fn count_kept(
        &self,
        painter: &Painter,
        field: &mut Field,
        sweep: &mut Sweep<'_>,
        ahead: Option<Ahead>,
        writer: &mut Writer<'_>,
        clock: &Clock,
    ) -> Result<(), Error> {
        let height = self.plan.size().height;
        field.prepare(self.plan, 0..height, self.layout.extras)?;
        if !self.restore(field, sweep, 0, ahead) {
            return Err(damaged(writer.journal));
        }
        sweep.progress.add(u64::from(sweep.next) * u64::from(field.width()));
        let save = |sweep: &Sweep<'_>, field: &Field, writer: &mut Writer<'_>| {
            let tally = clock.tally(sweep, [0.0; 2], 1);
            writer.save(State { tally, ahead: Ahead::of(field.some_rows(0..sweep.next)), ..State::default() })
        };
        sweep.fill(field, height, |sweep, field| if clock.is_due() { save(sweep, field, writer) } else { Ok(()) })?;
        if writer.journaled {
            save(sweep, field, writer)?;
        }
        self.show(painter, field, 0..height, sweep);
        Ok(())
    }

    /// Shows a field to a painter, band by band.
    fn count(
        &self,
        painter: &Painter,
        fields: &mut Vec<Field>,
        sweep: &mut Sweep<'_>,
        (mut first, mut ahead): (u32, Option<Ahead>),
        writer: &mut Writer<'_>,
        clock: &Clock,
    ) -> Result<(), Error> {
        let height = self.plan.size().height;
        let (mut field, mut next) = (fields.pop().unwrap_or_default(), fields.pop().unwrap_or_default());
        self.prepare(&mut field, first, ahead.as_ref())?;
        if !self.restore(&mut field, sweep, first, ahead.take()) {
            return Err(damaged(writer.journal));
        }
        sweep.progress.add(u64::from(sweep.next) * u64::from(field.width()));
        while first < height {
            let band = self.from(first);
            sweep.fill(&mut field, band.end, |sweep, field| {
                if !clock.is_due() {
                    return Ok(());
                }
                let (tally, counts) = (clock.tally(sweep, [0.0; 2], 1), painter.counts());
                let ahead = Ahead::of(field.some_rows(first..sweep.next));
                writer.save(State { row: first, tally, counts, ahead, ..State::default() })
            })?;
            self.show(painter, &field, band.clone(), sweep);
            first = band.end;
            if first < height {
                self.prepare(&mut next, first, None)?;
                next.take_over(&field, first..sweep.next);
                std::mem::swap(&mut field, &mut next);
            }
        }
        fields.extend([field, next]);
        Ok(())
    }

    fn show(&self, painter: &Painter, field: &Field, rows: std::ops::Range<u32>, sweep: &mut Sweep<'_>) {
        let begun = Instant::now();
        painter.count(field.some_rows(rows), sweep.engine.team());
        sweep.tally.seconds.colour += begun.elapsed().as_secs_f64();
    }
}

/// How long a render would take, in seconds, from one of a few of its own pixels, evenly spread, into the same formats.
///
/// # Errors
/// As [`render()`].
pub fn estimate(request: &Request<'_>, formats: &[Format]) -> Result<f64, Error> {
    let samples = request.paint.samples;
    let Size { width, height } = request.plan.size();
    let mut buffers = Buffers::default();
    let mut seconds = 0.0;
    for (across, down) in ESTIMATES {
        let begun = Instant::now();
        let plan = request.plan.thinned(across * samples, down * samples);
        let thinned = Request { plan: &plan, journaling: None, watched: false, ..*request };
        let outputs = formats.iter().map(|format| (*format, Output::nowhere())).collect();
        render(&thinned, outputs, &mut buffers)?;
        let spent = begun.elapsed();
        let pixels = u64::from(width) * u64::from(height);
        seconds = spent.as_secs_f64() * pixels as f64 / plan.size().pixels() as f64;
        if spent > ENOUGH || plan.size() == request.plan.size() {
            break;
        }
    }
    Ok(seconds)
}

/// The samples of a pixel on a side, if they fit the field and the formats.
fn check_samples(size: Size, samples: u32, mut formats: impl Iterator<Item = Format>) -> Result<u32, InputError> {
    let fits = |side: u32| side.is_multiple_of(samples);
    if !(1..=MOST_SAMPLES).contains(&samples) || !fits(size.width) || !fits(size.height) {
        return Err(InputError::new("samples", format!("{samples} do not divide {} x {}", size.width, size.height))
            .accepted(format!("1 to {MOST_SAMPLES}, a divisor of both sides of the plan")));
    }
    if let Some(format) = formats.find(|format| samples > 1 && !format.is_picture()) {
        let problem = format!("a .{} file holds dwells, and those of several samples have no average", format.name());
        return Err(InputError::new("samples", problem).accepted("1"));
    }
    Ok(samples)
}

/// The expected cost of strips of the image, from a coarse grid of its own points.
fn cost_of_strips(request: &Request<'_>) -> Result<Vec<f64>, Error> {
    let (strips, across) = PROBE;
    let probe = request.plan.thinned(across, strips);
    let mut field = Field::default();
    field.prepare(&probe, 0..probe.size().height, Extras::NONE)?;
    request.engine.iterate(&probe, Strategy::EveryPixel, field.whole(), request.cancel, &Progress::default())?;
    let limit = probe.limit();
    let cost = |row: &[u32]| row.iter().map(|n| f64::from(if *n == 0 { limit } else { *n }) + 20.0).sum();
    Ok(field.dwell().chunks(field.width() as usize).map(cost).collect())
}

#[cfg(test)]
mod survival;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::{By, Palette, Scale};
    use crate::engine::CpuEngine;
    use crate::scene::Scene;
    use crate::store::Leftovers;
    use crate::{Level, Settings, Shortcuts, View};

    /// The picture of a scene as the bytes of a PPM, and how often its field was iterated, in fields.
    fn picture(scene: &Scene, most_kept: u64, shortcuts: Shortcuts) -> (Vec<u8>, Report, u64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ppm");
        let output = Output::create(&path, false, &Leftovers::default()).unwrap();
        let plan = Plan::new(&scene.sample_view().unwrap(), &scene.settings, &Limits::default()).unwrap();
        let progress = Progress::default();
        let request = Request {
            plan: &plan,
            engine: &CpuEngine::new(Level::best(), 2).with_shortcuts(shortcuts),
            strategy: scene.strategy,
            verify: true,
            paint: Paint { colouring: &scene.colouring, samples: scene.samples, depth: scene.depth, text: "" },
            hash: true,
            journaling: None,
            limits: Limits::default(),
            watched: false,
            cancel: &Cancel::default(),
            progress: &progress,
        };
        let formats = [Format::Ppm];
        let layout = Layout::of(&task(&request, &formats), 1 << 18, most_kept);
        let report = render_as(&layout, &request, &formats, vec![output], &mut Buffers::default()).unwrap();
        (std::fs::read(&path).unwrap(), report, progress.pixels_done() / plan.size().pixels())
    }

    /// A view of several bands, astride the real axis, with rows that do not fall together with bands or pixels.
    fn scene(by: By, scale: Scale, samples: u32) -> Scene {
        let size = Size::new(2400 / samples, 1302 / samples).unwrap();
        let mut scene = Scene {
            view: View::centred("-0.6", "0.1", "1.2").unwrap().sized(size),
            settings: Settings { limit: 60, ..Settings::default() },
            samples,
            ..Scene::default()
        };
        scene.colouring = Colouring { by, scale, ..Colouring::of(Palette::default()) };
        scene
    }

    #[test]
    fn a_field_kept_and_one_computed_twice_give_one_picture() {
        for (by, samples) in [(By::Smooth, 1), (By::Banded, 3), (By::Distance, 2)] {
            let scene = scene(by, Scale::Histogram, samples);
            let (kept, kept_report, once) = picture(&scene, u64::MAX, Shortcuts::EXACT);
            let (twice, twice_report, passes) = picture(&scene, 0, Shortcuts::EXACT);
            assert!(kept == twice, "{by:?}");
            assert_eq!((once, passes), (1, 2), "{by:?}");
            assert_eq!(kept_report.field_blake3, twice_report.field_blake3);
            assert_eq!((kept_report.differing_pixels, twice_report.differing_pixels), (Some(0), Some(0)));
            assert_eq!(kept_report.iterations, twice_report.iterations);
        }
    }

    #[test]
    fn mirrored_rows_are_painted_like_all_others() {
        for samples in [1, 2, 3, 6] {
            let scene = scene(By::Smooth, Scale::Root, samples);
            let (mirrored, report, _) = picture(&scene, u64::MAX, Shortcuts::EXACT);
            let (plain, plain_report, _) = picture(&scene, u64::MAX, Shortcuts::NONE);
            assert!(mirrored == plain, "{samples}");
            assert_eq!(report.field_blake3, plain_report.field_blake3);
        }
    }

    #[test]
    fn samples_that_do_not_fit_are_refused() {
        let size = Size::new(12, 9).unwrap();
        let formats = || [Format::Png].into_iter();
        assert!(check_samples(size, 3, formats()).is_ok());
        assert!(check_samples(size, 2, formats()).is_err() && check_samples(size, 0, formats()).is_err());
        assert!(check_samples(Size::new(34, 34).unwrap(), 17, formats()).is_err());
        assert!(check_samples(size, 3, [Format::Png, Format::Npy].into_iter()).is_err());
        assert!(check_samples(size, 1, [Format::Csv].into_iter()).is_ok());
    }
}

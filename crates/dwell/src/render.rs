//! The pipeline, wired: plan -> field -> picture -> files, a band of rows at a time. The only file that knows the
//! order.

mod bands;
mod field_filler;
mod field_hash;
pub(crate) mod journal;
pub(crate) mod layout;
mod mirror;
mod painted;
mod pipeline;
mod record;
pub(crate) mod report;
pub(crate) mod request;
mod resumption;
#[cfg(test)]
mod survival;

use crate::base::cancel::Cancel;
use crate::base::error::{Error, InputError};
use crate::base::limits::Limits;
use crate::base::progress::Progress;
use crate::colour::{MOST_SAMPLES, Painter};
use crate::encode::{self, Adler, Format, Header};
use crate::field::{Extras, Field};
use crate::iterate::engine::Engine;
use crate::iterate::strategy::Strategy;
use crate::plan::Plan;
use crate::render::field_filler::Sweep;
use crate::render::journal::{Ahead, State};
use crate::render::layout::{BANDS_AT_HAND, Layout, Task, tile_of};
use crate::render::mirror::Mirror;
use crate::render::pipeline::{Finish, Pipeline, Rows, Writer};
use crate::render::report::{Report, Tally};
use crate::render::request::Request;
use crate::store::Output;
use crate::view::Size;
use bands::{Bands, Clock};
use resumption::{damaged, found, journal, publish};
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
    let most_mirrored = if mirror::serves(engine, strategy, extras) { u64::MAX } else { 0 };
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
        if !request.hash {
            // Nobody asks for it any more, and rows may come painted now.
            state.tally.hasher = None;
        }
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
        let mut warnings: Vec<String> = warnings;
        warnings.extend(request.engine.warnings());
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
    let most_mirrored =
        if mirror::serves(request.engine, request.strategy, layout.extras) { layout.mirrored_bytes } else { 0 };
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
            if let Some(painter) = painter.as_ref().filter(|painter| painted::is_wanted(request, painter, formats)) {
                first = painted::fill(painter, request, bands, first, &mut sweep.tally, &clock, &pipeline, crew)?;
                if first == size.height {
                    return Ok(());
                }
                // The engine has stopped painting: from here on as without. What was iterated ahead was painted anew.
                ahead = None;
            }
            let mut field = pipeline.empty_field()?;
            bands.prepare(&mut field, first, ahead.as_ref().map_or(0, Ahead::rows))?;
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
                    bands.prepare(&mut next, first, sweep.next.saturating_sub(first))?;
                    next.take_over(&field, first..sweep.next);
                }
                pipeline.submit(Rows::Own(std::mem::replace(&mut field, next), band), crew);
            }
            Ok(())
        })
    })?;
    let seconds = pipeline.thread_seconds();
    let (empty, mut writer) = pipeline.into_parts();
    // What went wrong with the engine on the way, although the picture is right.
    let troubles = request.engine.warnings();
    for ((output, encoder), sum) in writer.outputs.iter_mut().zip(&encoders).zip(&writer.sums) {
        encoder.end(*sum, &troubles).and_then(|bytes| output.write_all(&bytes)).map_err(|e| output.error(e))?;
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
mod tests {
    use super::*;
    use crate::colour::{By, Colouring, Palette, Scale};
    use crate::iterate::cpu::CpuEngine;
    use crate::render::request::Paint;
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

//! The pipeline, wired: plan -> field -> picture -> files, a band of rows at a time. The only file that knows the
//! order.

use crate::cancel::Cancel;
use crate::colour::{Colouring, Depth, MOST_SAMPLES, Painter};
use crate::encode::{self, Encoder, Format, Header};
use crate::engine::Engine;
use crate::error::{Error, InputError};
use crate::field::{Extras, Field, FieldRows};
use crate::limits::{Limits, resize};
use crate::mirror::Mirror;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::report::{Report, Tally};
use crate::store::{Output, Shared};
use crate::strategy::Strategy;
use crate::view::Size;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Samples of a band: its dwells, smooth values and picture, 15 bytes each, stay in a last-level cache between stages.
const BAND_PIXELS: usize = 1 << 20;
/// Strips, and points across each, of the probe that an estimate of the remaining time is made from.
const PROBE: (u32, u32) = (64, 32);
/// Images of fewer pixels are done before an estimate is worth its probe of 2048 points.
const PROBE_FROM_PIXELS: u64 = 1 << 19;
/// A field of up to so many bytes is kept where the whole image has to be known before it can be coloured; a larger one is
/// computed twice.
const KEPT_BYTES: u64 = 1 << 28;

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
    /// A text to go into a picture that can hold one (PNG), such as [`crate::Scene::text`]; none if empty.
    pub text: &'a str,
}

/// Buffers kept from one render to the next: the first touch of fresh memory can cost more than iterating into it.
#[derive(Debug, Default)]
pub struct Buffers {
    field: Field,
    verified: Field,
    mirror: Mirror,
    picture: Vec<u8>,
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
    let mirrored = if symmetry { Mirror::bytes(plan, extras) } else { 0 };
    let buffers = mirrored + engine.bytes(plan, extras);
    limits.reserve("the field", Field::bytes(plan.size().pixels(), extras).saturating_add(buffers))?;
    let mut field = Field::default();
    field.prepare(plan, 0..plan.size().height, extras)?;
    let mut mirror = Mirror::default();
    mirror.prepare(plan, symmetry, extras, 1);
    let mut row = 0;
    while row < plan.size().height {
        let (rows, images) = mirror.alike(row, plan.size().height);
        row = rows.end;
        if images {
            mirror.fill(field.part(rows));
        } else {
            engine.iterate(plan, strategy, field.part(rows.clone()), cancel, &Progress::default())?;
            mirror.keep(&field, rows);
        }
    }
    Ok(field)
}

/// Renders into any number of outputs at once. They are complete when it returns, all or none of those that are regular
/// files having been left alone before.
///
/// # Errors
/// [`Error::Interrupted`], [`Error::Write`], or [`Error::Input`] when the system has less memory than was allowed, or
/// dwells are to be written of a picture with several samples a pixel.
pub fn render(request: &Request<'_>, outputs: Vec<(Format, Output)>, buffers: &mut Buffers) -> Result<Report, Error> {
    render_keeping(KEPT_BYTES, request, outputs, buffers)
}

/// [`render`] with a field kept of up to so many bytes.
fn render_keeping(
    most_kept: u64,
    request: &Request<'_>,
    outputs: Vec<(Format, Output)>,
    buffers: &mut Buffers,
) -> Result<Report, Error> {
    let began = Instant::now();
    let (plan, paint) = (request.plan, request.paint);
    let size = plan.size();
    let samples = check_samples(size, paint.samples, outputs.iter().map(|(format, _)| *format))?;
    let with_picture = outputs.iter().any(|(format, _)| format.is_picture());
    let extras = if with_picture { paint.colouring.extras() } else { Extras::NONE };
    let mut painter = with_picture.then(|| Painter::new(paint.colouring, plan.limit(), paint.depth, samples));
    let header = Header {
        size: Size { width: size.width / samples, height: size.height / samples },
        depth: paint.depth,
        text: paint.text,
    };

    let band_rows = u32::try_from(BAND_PIXELS / size.width as usize).unwrap_or(u32::MAX);
    let band_rows = (band_rows / samples * samples).clamp(samples, size.height);
    let mut work =
        Work { request, band_rows, tally: Tally::default(), verified: &mut buffers.verified, verifying: true };
    work.tally.hasher = request.hash.then(blake3::Hasher::new);
    work.tally.samples = samples;
    let counted = painter.as_ref().is_some_and(|painter| painter.colouring().needs_counts());
    let kept = counted && Field::bytes(size.pixels(), extras) <= most_kept;
    let passes = if counted && !kept { 2 } else { 1 };
    let strips =
        if request.watched && size.pixels() >= PROBE_FROM_PIXELS { cost_of_strips(request)? } else { Vec::new() };
    request.progress.start(size.pixels() * passes, strips.repeat(usize::try_from(passes).unwrap_or(1)));

    let mut files = outputs
        .into_iter()
        .map(|(format, output)| EncodedFile::start(format, header, output))
        .collect::<Result<Vec<_>, _>>()?;
    let Buffers { field, mirror, picture, .. } = buffers;
    if let Some(painter) = painter.as_mut().filter(|_| counted) {
        mirror.prepare(plan, request.engine.shortcuts().symmetry, extras, samples);
        if kept {
            field.prepare(plan, 0..size.height, extras)?;
        } else {
            // The first of two: what it takes, it takes for the colours, and the second is verified and told of.
            (work.tally.for_colour, work.verifying) = (true, false);
        }
        let mut row = 0;
        while let Some((rows, images)) = work.next_band(&mut row, mirror) {
            if !kept {
                field.prepare(plan, rows.clone(), extras)?;
            }
            work.compute(field, rows.clone(), images, mirror)?;
            let begun = Instant::now();
            painter.count(field.some_rows(rows), request.engine.team());
            work.tally.seconds.colour += begun.elapsed().as_secs_f64();
        }
        let begun = Instant::now();
        painter.finish_counting();
        work.tally.seconds.colour += begun.elapsed().as_secs_f64();
        (work.tally.for_colour, work.verifying) = (false, true);
    }
    mirror.prepare(plan, request.engine.shortcuts().symmetry && !kept, extras, samples);
    let mut row = 0;
    while let Some((rows, images)) = work.next_band(&mut row, mirror) {
        if !kept {
            field.prepare(plan, rows.clone(), extras)?;
            work.compute(field, rows.clone(), images, mirror)?;
        }
        let rows = field.some_rows(rows);
        if let Some(painter) = &painter {
            let begun = Instant::now();
            let pixels = rows.dwell.len() / (samples * samples) as usize;
            resize(picture, pixels * painter.bytes_per_pixel(), 0, "the picture")?;
            painter.paint(rows, request.engine.team(), picture);
            work.tally.seconds.colour += begun.elapsed().as_secs_f64();
        }
        request.cancel.check()?;
        work.tally.count(rows, plan.limit());
        let begun = Instant::now();
        for file in &mut files {
            file.rows(rows, picture)?;
            request.cancel.check()?;
        }
        work.tally.seconds.encode += begun.elapsed().as_secs_f64();
    }
    let mut tally = work.tally;
    let begun = Instant::now();
    let complete = files.into_iter().map(EncodedFile::finish).collect::<Result<Vec<_>, _>>()?;
    tally.seconds.encode += begun.elapsed().as_secs_f64();
    let mut while_encoding = Duration::ZERO;
    let mut writing = Duration::ZERO;
    for output in complete {
        request.cancel.check()?;
        while_encoding += output.spent();
        writing += output.commit()?;
    }
    // What the encoders waited for the system is writing, not encoding.
    tally.seconds.encode = (tally.seconds.encode - while_encoding.as_secs_f64()).max(0.0);
    tally.seconds.write = writing.as_secs_f64();
    tally.seconds.total = began.elapsed().as_secs_f64();
    Ok(Report::new(plan, request.engine, request.strategy, tally))
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

/// The work on a field, band by band.
struct Work<'a, 'b> {
    request: &'a Request<'b>,
    band_rows: u32,
    tally: Tally,
    verified: &'a mut Field,
    /// Whether this pass is the one to be verified, where that is asked for.
    verifying: bool,
}

impl Work<'_, '_> {
    /// The band after those up to `row`, and whether its rows are images.
    fn next_band(&self, row: &mut u32, mirror: &Mirror) -> Option<(Range<u32>, bool)> {
        let height = self.request.plan.size().height;
        if *row >= height {
            return None;
        }
        let (rows, images) = mirror.alike(*row, (*row + self.band_rows).min(height));
        *row = rows.end;
        Some((rows, images))
    }

    /// Computes a band of a field that has room for it.
    fn compute(&mut self, field: &mut Field, rows: Range<u32>, images: bool, mirror: &mut Mirror) -> Result<(), Error> {
        let request = self.request;
        if images {
            let begun = Instant::now();
            mirror.fill(field.part(rows.clone()));
            let pixels = rows.len() as u64 * u64::from(field.width());
            request.progress.add(pixels);
            self.tally.iterated_in(begun.elapsed());
        } else {
            let part = field.part(rows.clone());
            let spent =
                request.engine.iterate(request.plan, request.strategy, part, request.cancel, request.progress)?;
            self.tally.iterated_in(spent.iterate);
            self.tally.seconds.colour += spent.extras.as_secs_f64();
            self.tally.tile = self.tally.tile.or(spent.tile);
            mirror.keep(field, rows.clone());
        }
        if request.verify && self.verifying {
            let begun = Instant::now();
            let differing = differing(request, field.some_rows(rows.clone()), rows, self.verified)?;
            self.tally.differing = Some(self.tally.differing.unwrap_or(0) + differing);
            self.tally.seconds.verify += begun.elapsed().as_secs_f64();
        }
        Ok(())
    }
}

/// How many dwells of some rows differ when every pixel is asked for.
fn differing(
    request: &Request<'_>,
    found: FieldRows<'_>,
    rows: Range<u32>,
    verified: &mut Field,
) -> Result<u64, Error> {
    verified.prepare(request.plan, rows, Extras::NONE)?;
    let quiet = Progress::default();
    request.engine.iterate(request.plan, Strategy::EveryPixel, verified.whole(), request.cancel, &quiet)?;
    Ok(found.dwell.iter().zip(verified.dwell()).filter(|(a, b)| a != b).count() as u64)
}

/// An output and the encoder that fills it.
struct EncodedFile {
    output: Shared,
    encoder: Box<dyn Encoder>,
    path: PathBuf,
}

impl EncodedFile {
    fn start(format: Format, header: Header<'_>, output: Output) -> Result<Self, Error> {
        let path = output.path().to_owned();
        let output = Shared::new(output);
        match encode::start(format, header, output.clone()) {
            Ok(encoder) => Ok(Self { output, encoder, path }),
            Err(source) => Err(Error::Write { path, source }),
        }
    }

    fn rows(&mut self, rows: FieldRows<'_>, picture: &[u8]) -> Result<(), Error> {
        self.encoder.rows(rows, picture).map_err(|source| Error::Write { path: self.path.clone(), source })
    }

    /// The output with every byte in it, to be committed.
    fn finish(self) -> Result<Output, Error> {
        let Self { output, encoder, path } = self;
        let finished = encoder.finish();
        let kept = || io::Error::other("the encoder kept the file");
        finished.and_then(|()| output.into_output().ok_or_else(kept)).map_err(|source| Error::Write { path, source })
    }
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
            watched: false,
            cancel: &Cancel::default(),
            progress: &progress,
        };
        let report = render_keeping(most_kept, &request, vec![(Format::Ppm, output)], &mut Buffers::default()).unwrap();
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

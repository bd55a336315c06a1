//! The pipeline, wired: plan -> field -> picture -> files, a band of rows at a time. The only file that knows the
//! order.

use crate::cancel::Cancel;
use crate::colour::{self, CHANNELS, Palette};
use crate::encode::{self, Encoder, Format};
use crate::engine::Engine;
use crate::error::Error;
use crate::field::{Extras, Field};
use crate::limits::{Limits, resize};
use crate::mirror::Mirror;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::report::{Report, Tally};
use crate::store::{Output, Shared};
use crate::strategy::Strategy;
use crate::view::Size;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Pixels of a band: its dwells, smooth values and picture, 15 bytes each, stay in a last-level cache between stages.
const BAND_PIXELS: usize = 1 << 20;
/// Strips, and points across each, of the probe that an estimate of the remaining time is made from.
const PROBE: (u32, u32) = (64, 32);
/// Images of fewer pixels are done before an estimate is worth its probe of 2048 points.
const PROBE_FROM_PIXELS: u64 = 1 << 19;

/// What to render and who watches.
pub struct Request<'a> {
    /// The points and the limit.
    pub plan: &'a Plan,
    /// Who iterates.
    pub engine: &'a dyn Engine,
    /// How pixels are asked for.
    pub strategy: Strategy,
    /// Whether to ask for every pixel as well, and count those whose dwell differs.
    pub verify: bool,
    /// The colours of pictures.
    pub palette: &'a Palette,
    /// Whether to hash the dwells.
    pub hash: bool,
    /// Whether somebody watches `progress`, so that a probe for an honest estimate is worth its time.
    pub watched: bool,
    /// How to stop it.
    pub cancel: &'a Cancel,
    /// How far it is.
    pub progress: &'a Progress,
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
    mirror.prepare(plan, symmetry, extras);
    let mut row = 0;
    while row < plan.size().height {
        let (rows, images) = mirror.alike(row, plan.size().height);
        row = rows.end;
        if images {
            mirror.keep(&field);
            mirror.fill(field.part(rows));
        } else {
            engine.iterate(plan, strategy, field.part(rows), cancel, &Progress::default())?;
        }
    }
    Ok(field)
}

/// Renders into any number of outputs at once. They are complete when it returns, all or none of those that are regular
/// files having been left alone before.
///
/// # Errors
/// [`Error::Interrupted`], [`Error::Write`], or [`Error::Input`] when the system has less memory than was allowed.
pub fn render(request: &Request<'_>, outputs: Vec<(Format, Output)>, buffers: &mut Buffers) -> Result<Report, Error> {
    let began = Instant::now();
    let plan = request.plan;
    let size = plan.size();
    let with_picture = outputs.iter().any(|(format, _)| format.is_picture());
    let band_rows = u32::try_from(BAND_PIXELS / size.width as usize).unwrap_or(u32::MAX).clamp(1, size.height);

    let mut tally = Tally { hasher: request.hash.then(blake3::Hasher::new), ..Tally::default() };
    let strips =
        if request.watched && size.pixels() >= PROBE_FROM_PIXELS { cost_of_strips(request)? } else { Vec::new() };
    request.progress.start(size.pixels(), strips);

    let mut files = outputs
        .into_iter()
        .map(|(format, output)| EncodedFile::start(format, size, output))
        .collect::<Result<Vec<_>, _>>()?;
    let extras = if with_picture { Extras::SMOOTH } else { Extras::NONE };
    buffers.mirror.prepare(plan, request.engine.shortcuts().symmetry, extras);
    let mut row = 0;
    while row < size.height {
        let (rows, images) = buffers.mirror.alike(row, (row + band_rows).min(size.height));
        row = rows.end;
        buffers.field.prepare(plan, rows, extras)?;
        if images {
            let begun = Instant::now();
            buffers.mirror.fill(buffers.field.whole());
            request.progress.add(buffers.field.dwell().len() as u64);
            tally.seconds.iterate += begun.elapsed().as_secs_f64();
        } else {
            let whole = buffers.field.whole();
            let spent = request.engine.iterate(plan, request.strategy, whole, request.cancel, request.progress)?;
            tally.seconds.iterate += spent.iterate.as_secs_f64();
            tally.seconds.colour += spent.extras.as_secs_f64();
            tally.tile = tally.tile.or(spent.tile);
            buffers.mirror.keep(&buffers.field);
        }
        if request.verify {
            let begun = Instant::now();
            let differing = differing(request, &buffers.field, &mut buffers.verified)?;
            tally.differing = Some(tally.differing.unwrap_or(0) + differing);
            tally.seconds.verify += begun.elapsed().as_secs_f64();
        }
        if with_picture {
            let begun = Instant::now();
            resize(&mut buffers.picture, buffers.field.dwell().len() * CHANNELS, 0, "the picture")?;
            colour::colour(&buffers.field, request.palette, request.engine.team(), &mut buffers.picture);
            tally.seconds.colour += begun.elapsed().as_secs_f64();
        }
        request.cancel.check()?;
        tally.count(&buffers.field, plan.limit());
        let begun = Instant::now();
        for file in &mut files {
            file.rows(&buffers.field, &buffers.picture)?;
            request.cancel.check()?;
        }
        tally.seconds.encode += begun.elapsed().as_secs_f64();
    }
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

/// How many dwells of some rows differ when every pixel is asked for.
fn differing(request: &Request<'_>, field: &Field, verified: &mut Field) -> Result<u64, Error> {
    verified.prepare(request.plan, field.rows(), Extras::NONE)?;
    let quiet = Progress::default();
    request.engine.iterate(request.plan, Strategy::EveryPixel, verified.whole(), request.cancel, &quiet)?;
    Ok(field.dwell().iter().zip(verified.dwell()).filter(|(a, b)| a != b).count() as u64)
}

/// An output and the encoder that fills it.
struct EncodedFile {
    output: Shared,
    encoder: Box<dyn Encoder>,
    path: PathBuf,
}

impl EncodedFile {
    fn start(format: Format, size: Size, output: Output) -> Result<Self, Error> {
        let path = output.path().to_owned();
        let output = Shared::new(output);
        match encode::start(format, size, output.clone()) {
            Ok(encoder) => Ok(Self { output, encoder, path }),
            Err(source) => Err(Error::Write { path, source }),
        }
    }

    fn rows(&mut self, field: &Field, picture: &[u8]) -> Result<(), Error> {
        self.encoder.rows(field, picture).map_err(|source| Error::Write { path: self.path.clone(), source })
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

//! More samples for the pixels whose colours differ visibly from those around them ([`Samples::Auto`]): the stage between
//! the field, which has one sample for each pixel, and the picture.
//!
//! A pixel with *contrast* ([`crate::colour::contrast`]) gets samples out of the 4 x 4 of a view with as many times more
//! columns and rows: first four, of which each row and each column of the 4 x 4 has one. If the colours of these and of the
//! field's own sample are within [`SPREAD`](batch::SPREAD), the pixel is done; otherwise it gets up to 8 or 16 samples, as the
//! [`Effort`] for its kind of contrast says. The light of all samples is averaged. With all 16, the field's own sample is
//! left out: the pixel is then that of [`Samples::Fixed`] 4, but for samples that escape after the limit
//! of the effort.
//!
//! The samples are computed in two ways, to the same bytes: the threads that paint pieces of a band compute lists of them, each its own; or an
//! engine that takes lists ([`Engine::lists_at_once`]) computes those of a whole band before it is divided ([`band`]), many at a time.
//!
//! What a pixel gets depends on the field at the pixel and at its eight neighbours, and on the effort, which depends on the view. So
//! the bytes do not depend on bands, chunks, threads or interruptions.
//!
//! [`Samples::Auto`]: crate::Samples::Auto
//! [`Samples::Fixed`]: crate::Samples::Fixed

mod band;
mod batch;
mod effort;
mod search;

use crate::base::control::Control;
use crate::base::error::Error;
use crate::base::limits::resize;
use crate::colour::{Painter, Wide};
use crate::field::Field;
use crate::field::channels::ChannelSet;
use crate::iterate::cpu::CpuEngine;
use crate::iterate::engine::{Engine, Notes};
use crate::plan::{FinerPoints, Plan};
use crate::view::settings::NumberKind;
pub(crate) use band::RefinedBand;
use batch::{BATCH, Batch, POINTS};
use effort::Effort;
use search::{Pixel, Search};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Pixels of the rows that are painted at once, at least a row.
const SLAB: usize = 1 << 15;

/// The name of the buffers, for messages.
const WHAT: &str = "the samples of the pixels";

/// How many pixels were refined, and the samples that they got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Refined {
    pub(crate) pixels: u64,
    pub(crate) samples: u64,
}

impl Refined {
    /// Adds those of other rows.
    pub(crate) fn add(&mut self, other: Self) {
        self.pixels += other.pixels;
        self.samples += other.samples;
    }
}

/// Paints the rows of an image with more samples where they are needed.
pub(crate) struct Refiner<'a> {
    painter: &'a Painter,
    plan: &'a Plan,
    finer: &'a FinerPoints,
    channels: ChannelSet,
    effort: Effort,
    engine: &'a dyn Engine,
    /// Computes the samples, on the calling thread.
    cpu: CpuEngine,
    control: Control<'a>,
    idle: Mutex<Vec<Buffers>>,
    /// What the engine reported.
    notes: Mutex<Notes>,
}

/// The buffers of a thread.
#[derive(Default)]
struct Buffers {
    /// Colours of the rows that are painted.
    colours: Vec<Wide>,
    search: Search,
    pixels: Vec<Pixel>,
    batch: Batch,
}

impl<'a> Refiner<'a> {
    /// A refiner for the field of a plan with these channels; `None` if the plan has no finer points. Computes a few pixels
    /// of the view to find the effort.
    ///
    /// # Errors
    /// As [`Engine::run`].
    pub(crate) fn new(
        painter: &'a Painter,
        plan: &'a Plan,
        channels: ChannelSet,
        engine: &'a dyn Engine,
        control: Control<'a>,
    ) -> Result<Option<Self>, Error> {
        let Some(finer) = plan.finer_points() else { return Ok(None) };
        let (effort, notes) = Effort::find(painter, plan, channels, engine, control)?;
        let cpu = CpuEngine::beside(engine);
        let (idle, notes) = (Mutex::default(), Mutex::new(notes));
        Ok(Some(Self { painter, plan, finer, channels, effort, engine, cpu, control, idle, notes }))
    }

    /// The number that the samples are computed in.
    pub(crate) fn number(&self) -> NumberKind {
        self.plan.number()
    }

    /// Upper bound of the bytes of memory that a thread takes.
    pub(crate) fn bytes_of_thread(plan: &Plan, channels: ChannelSet) -> u64 {
        let width = u64::from(plan.size().width);
        let rows = (SLAB as u64 / width).max(1);
        Effort::bytes(channels)
            + rows * width * (size_of::<Wide>() + 2 * size_of::<Pixel>()) as u64
            + Search::bytes(width, rows)
            + Batch::bytes()
            + channels.bytes(POINTS as u64)
            + CpuEngine::scattered_bytes(plan.points(), POINTS, channels)
    }

    /// Paints rows of the image into `picture`. `field` holds them and the rows above and below them that the image has. `band` has been refined before, if the engine does that, and holds them.
    ///
    /// # Errors
    /// [`Error::Interrupted`] when the render was cancelled, [`Error::Input`] when the system has not enough memory.
    pub(crate) fn paint(
        &self,
        field: &Field,
        band: Option<&RefinedBand>,
        rows: Range<u32>,
        picture: &mut [u8],
    ) -> Result<Refined, Error> {
        let lock = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let width = field.width() as usize;
        if let Some(band) = band {
            self.write(band.colours(width, &rows), rows.start, picture);
            return Ok(Refined::default());
        }
        let mut buffers = lock().pop().unwrap_or_default();
        let slab = (SLAB / width).max(1);
        let slabs = picture.chunks_mut(slab * width * self.painter.bytes_per_pixel());
        let mut refined = Refined::default();
        for (first, picture) in rows.clone().step_by(slab).zip(slabs) {
            self.control.cancel.check()?;
            let rows = first..rows.end.min(first.saturating_add(slab as u32));
            let Buffers { colours, search, pixels, batch } = &mut buffers;
            resize(colours, rows.len() * width, Wide::default(), WHAT)?;
            pixels.clear();
            search.find(self, field, rows.clone(), colours, pixels)?;
            refined.add(self.refine(batch, pixels, field, rows.start, colours)?);
            self.write(colours, rows.start, picture);
            self.control.progress.add((rows.len() * width) as u64);
        }
        lock().push(buffers);
        Ok(refined)
    }

    /// Writes colours of whole rows from a row of the picture on.
    fn write(&self, colours: &[Wide], first: u32, picture: &mut [u8]) {
        let width = self.plan.size().width as usize;
        let lines = picture.chunks_mut(width * self.painter.bytes_per_pixel());
        for ((row, colours), line) in (first..).zip(colours.chunks(width)).zip(lines) {
            self.painter.write(colours, row, 0, line);
        }
    }

    /// Replaces the colours of the pixels with contrast. `first` is the row of the image that the colours begin with.
    fn refine(
        &self,
        batch: &mut Batch,
        pixels: &[Pixel],
        field: &Field,
        first: u32,
        colours: &mut [Wide],
    ) -> Result<Refined, Error> {
        let width = field.width() as usize;
        let mut refined = Refined::default();
        let limits = [self.effort.limit, self.plan.limit()];
        for pixels in pixels.chunks(BATCH) {
            batch.begin(self, field, pixels, |pixel| colours[pixel.place(first, width)])?;
            while batch.list(self)? {
                batch.compute_and_add(self, |places, out| {
                    self.cpu.compute_scattered(&self.finer.points, limits, places, out, &self.control)
                })?;
            }
            refined.add(batch.finish(self)?);
            batch.finished().for_each(|(pixel, colour)| colours[pixel.place(first, width)] = colour);
        }
        Ok(refined)
    }
}

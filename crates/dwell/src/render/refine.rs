//! More samples for the pixels whose colours differ visibly from those around them ([`Samples::Auto`]): the stage between
//! the field, which has one sample for each pixel, and the picture.
//!
//! A pixel with *contrast* ([`crate::colour::contrast`]) gets samples out of the 4 x 4 of a view with as many times more
//! columns and rows: first four, of which each row and each column of the 4 x 4 has one. If the colours of these and of the
//! field's own sample are within [`SPREAD`], the pixel is done; otherwise it gets up to 8 or 16 samples, as the
//! [`Effort`] for its kind of contrast says. The light of all samples is averaged. With all 16, the field's own sample is
//! left out: the pixel is then that of [`Samples::Fixed`] 4, but for samples that escape after the limit
//! of the effort.
//!
//! What a pixel gets depends on the field at the pixel and at its eight neighbours, and on the effort, which depends on the view. So
//! the bytes do not depend on bands, chunks, threads or interruptions.
//!
//! [`Samples::Auto`]: crate::Samples::Auto
//! [`Samples::Fixed`]: crate::Samples::Fixed

mod effort;

use crate::base::control::Control;
use crate::base::error::{Error, InputError};
use crate::base::limits::{extend, resize};
use crate::colour::contrast::{Contrast, ContrastRow, contrasts};
use crate::colour::{Painter, Wide};
use crate::field::Field;
use crate::field::channels::{ChannelBuffers, ChannelSet};
use crate::iterate::cpu::CpuEngine;
use crate::iterate::engine::Engine;
use crate::plan::{FinerPoints, Plan};
use crate::view::settings::NumberKind;
use effort::Effort;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The samples that every pixel with contrast gets first.
const FIRST: u32 = 4;
/// The greatest difference, in 16-bit values of a channel, at which the first samples suffice: 24 of 255.
const SPREAD: u16 = 24 * 257;
/// Points that are computed at once.
const POINTS: usize = 1 << 13;
/// Pixels that are refined at once.
const BATCH: usize = POINTS / FIRST as usize;
/// Pixels of the rows that are painted at once, at least a row.
const SLAB: usize = 1 << 15;
/// The order in which the samples of a pixel are taken, as rows and columns: with 4 x 4 and 2 x 2 samples.
const ORDER_OF_16: [(u32, u32); 16] = [
    (0, 1),
    (1, 3),
    (2, 0),
    (3, 2),
    (0, 2),
    (1, 0),
    (2, 3),
    (3, 1),
    (0, 0),
    (1, 1),
    (2, 2),
    (3, 3),
    (0, 3),
    (1, 2),
    (2, 1),
    (3, 0),
];
const ORDER_OF_4: [(u32, u32); 4] = [(0, 0), (1, 1), (0, 1), (1, 0)];

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
    /// Computes the samples, on the calling thread.
    cpu: CpuEngine,
    control: Control<'a>,
    idle: Mutex<Vec<Buffers>>,
}

/// The buffers of a thread.
#[derive(Default)]
struct Buffers {
    /// Colours of the rows that are painted.
    colours: Vec<Wide>,
    /// Colours of a row beside them.
    beside: Vec<Wide>,
    /// The rows that are painted, and one above and below.
    rows: Vec<ContrastRow>,
    curved: Vec<i16>,
    found: Vec<Contrast>,
    /// The pixels with contrast.
    pixels: Vec<Pixel>,
    /// What the samples of each pixel of a batch add up to.
    sums: Vec<Sum>,
    list: List,
}

/// A pixel with contrast.
#[derive(Clone, Copy)]
struct Pixel {
    column: u32,
    row: u32,
    contrast: Contrast,
}

/// The samples of a pixel so far.
#[derive(Clone, Copy)]
struct Sum {
    samples: u32,
    light: [u32; 3],
    /// The light of the field's own sample.
    own: [u32; 3],
    /// The least and the greatest values of the own sample and the first ones.
    least: Wide,
    greatest: Wide,
}

/// Samples that are computed at once.
#[derive(Default)]
struct List {
    /// Columns and rows of the finer points.
    places: Vec<(u32, u32)>,
    /// For each place, the number of its pixel in the batch.
    owners: Vec<u32>,
    samples: ChannelBuffers,
    colours: Vec<Wide>,
    lights: Vec<[u32; 3]>,
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
        engine: &dyn Engine,
        control: Control<'a>,
    ) -> Result<Option<Self>, Error> {
        let Some(finer) = plan.finer_points() else { return Ok(None) };
        let effort = Effort::find(painter, plan, channels, engine, control)?;
        let cpu = CpuEngine::beside(engine);
        Ok(Some(Self { painter, plan, finer, channels, effort, cpu, control, idle: Mutex::default() }))
    }

    /// The number that the samples are computed in.
    pub(crate) fn number(&self) -> NumberKind {
        self.plan.number()
    }

    /// Upper bound of the bytes of memory that a thread takes.
    pub(crate) fn bytes_of_thread(plan: &Plan, channels: ChannelSet) -> u64 {
        let width = u64::from(plan.size().width);
        let rows = (SLAB as u64 / width).max(1);
        // Lists grow by doubling.
        let of_pixel = size_of::<Wide>() + size_of::<Contrast>() + size_of::<i16>() + 2 * size_of::<Pixel>();
        let of_sample = 2 * (size_of::<(u32, u32)>() + size_of::<u32>()) + size_of::<Wide>() + size_of::<[u32; 3]>();
        let slab = (rows + 1) * width * of_pixel as u64 + (rows + 2) * ContrastRow::bytes(width);
        let list = POINTS as u64 * of_sample as u64 + channels.bytes(POINTS as u64);
        Effort::bytes(channels)
            + slab
            + list
            + (2 * BATCH * size_of::<Sum>()) as u64
            + CpuEngine::scattered_bytes(plan.points(), POINTS, channels)
    }

    /// Paints rows of the image into `picture`. `field` holds them and the rows above and below them that the image has.
    ///
    /// # Errors
    /// [`Error::Interrupted`] when the render was cancelled, [`Error::Input`] when the system has not enough memory.
    pub(crate) fn paint(&self, field: &Field, rows: Range<u32>, picture: &mut [u8]) -> Result<Refined, Error> {
        let lock = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let mut buffers = lock().pop().unwrap_or_default();
        let width = field.width() as usize;
        let slab = (SLAB / width).max(1);
        let slabs = picture.chunks_mut(slab * width * self.painter.bytes_per_pixel());
        let mut refined = Refined::default();
        for (first, picture) in rows.clone().step_by(slab).zip(slabs) {
            self.control.cancel.check()?;
            let rows = first..rows.end.min(first.saturating_add(slab as u32));
            self.find_pixels(&mut buffers, field, rows.clone())?;
            refined.add(self.refine(&mut buffers, field, rows.start)?);
            let lines = picture.chunks_mut(width * self.painter.bytes_per_pixel());
            for ((row, colours), line) in rows.clone().zip(buffers.colours.chunks(width)).zip(lines) {
                self.painter.write(colours, row, 0, line);
            }
            self.control.progress.add((rows.len() * width) as u64);
        }
        lock().push(buffers);
        Ok(refined)
    }

    /// Colours rows by their own samples, and finds the pixels with contrast.
    fn find_pixels(&self, buffers: &mut Buffers, field: &Field, rows: Range<u32>) -> Result<(), Error> {
        let Buffers { colours, beside, rows: prepared, curved, found, pixels, .. } = buffers;
        let width = field.width() as usize;
        resize(colours, rows.len() * width, Wide::default(), WHAT)?;
        resize(beside, width, Wide::default(), WHAT)?;
        resize(found, width, Contrast::None, WHAT)?;
        let seen = rows.start.saturating_sub(1)..self.plan.size().height.min(rows.end.saturating_add(1));
        resize(prepared, seen.len(), ContrastRow::default(), WHAT)?;
        for (row, prepared) in seen.clone().zip(prepared.iter_mut()) {
            let line = match row.checked_sub(rows.start).map(|row| row as usize * width) {
                Some(at) if rows.contains(&row) => &mut colours[at..at + width],
                _ => &mut beside[..],
            };
            self.painter.colour_samples(field.some_rows(row..row + 1).channels(), line);
            prepared.take(line)?;
        }
        pixels.clear();
        for row in rows {
            let at = (row - seen.start) as usize;
            let below = (at + 1).min(seen.len() - 1);
            contrasts([&prepared[at.saturating_sub(1)], &prepared[at], &prepared[below]], curved, found)?;
            let with_contrast = (0..).zip(&*found).filter(|(_, contrast)| **contrast != Contrast::None);
            extend(pixels, with_contrast.map(|(column, contrast)| Pixel { column, row, contrast: *contrast }), WHAT)?;
        }
        Ok(())
    }

    /// Replaces the colours of the pixels with contrast. `first` is the row of the image that the colours begin with.
    fn refine(&self, buffers: &mut Buffers, field: &Field, first: u32) -> Result<Refined, Error> {
        let Buffers { colours, pixels, sums, list, .. } = buffers;
        let width = field.width() as usize;
        let at = |pixel: &Pixel| (pixel.row - first) as usize * width + pixel.column as usize;
        let total = self.finer.side * self.finer.side;
        let mut refined = Refined { pixels: pixels.len() as u64, samples: 0 };
        for batch in pixels.chunks(BATCH) {
            self.start_sums(list, field, batch)?;
            sums.clear();
            extend(sums, batch.iter().zip(&list.lights).map(|(pixel, own)| Sum::of(*own, colours[at(pixel)])), WHAT)?;
            self.add_samples(list, sums, batch, |pixel, _| FIRST.min(self.effort.most(pixel.contrast)).min(total))?;
            self.add_samples(list, sums, batch, |pixel, sum| {
                if sum.is_spread() { self.effort.most(pixel.contrast).min(total) } else { sum.samples }
            })?;
            for (pixel, sum) in batch.iter().zip(&*sums) {
                refined.samples += u64::from(sum.samples);
                colours[at(pixel)] = if sum.samples == total {
                    self.painter.average(sum.light, total)
                } else {
                    let [red, green, blue] = sum.own;
                    let light = [sum.light[0] + red, sum.light[1] + green, sum.light[2] + blue];
                    self.painter.average(light, sum.samples + 1)
                };
            }
        }
        Ok(refined)
    }

    /// Finds the light of the field's own samples of a batch.
    fn start_sums(&self, list: &mut List, field: &Field, batch: &[Pixel]) -> Result<(), InputError> {
        list.samples.resize(batch.len(), self.channels)?;
        let mut own = list.samples.slices_mut();
        let all = field.all_rows().channels();
        let from = field.rows().start;
        for (number, pixel) in batch.iter().enumerate() {
            let at = (pixel.row - from) as usize * field.width() as usize + pixel.column as usize;
            own.reborrow().slice(number..number + 1).copy_from(all.slice(at..at + 1));
        }
        resize(&mut list.lights, batch.len(), [0; 3], WHAT)?;
        self.painter.light_of_samples(list.samples.slices(), &mut list.lights);
        Ok(())
    }

    /// Adds samples to each pixel of a batch until it has as many as `wanted`.
    fn add_samples(
        &self,
        list: &mut List,
        sums: &mut [Sum],
        batch: &[Pixel],
        wanted: impl Fn(&Pixel, &Sum) -> u32,
    ) -> Result<(), Error> {
        let side = self.finer.side;
        let order: &[(u32, u32)] = if side == 4 { &ORDER_OF_16 } else { &ORDER_OF_4 };
        list.places.clear();
        list.owners.clear();
        for (number, pixel) in batch.iter().enumerate() {
            let sum = sums[number];
            let more = &order[sum.samples as usize..wanted(pixel, &sum).max(sum.samples) as usize];
            if list.places.len() + more.len() > POINTS {
                self.add_list(list, sums)?;
            }
            let place = |(row, column): &(u32, u32)| (pixel.column * side + column, pixel.row * side + row);
            extend(&mut list.places, more.iter().map(place), WHAT)?;
            extend(&mut list.owners, more.iter().map(|_| number as u32), WHAT)?;
        }
        self.add_list(list, sums)
    }

    /// Computes the listed samples, adds them to the sums of their pixels, and clears the list.
    fn add_list(&self, list: &mut List, sums: &mut [Sum]) -> Result<(), Error> {
        let List { places, owners, samples, colours, lights } = list;
        if places.is_empty() {
            return Ok(());
        }
        samples.resize(places.len(), self.channels)?;
        let limits = [self.effort.limit, self.plan.limit()];
        self.cpu.compute_scattered(&self.finer.points, limits, places, samples.slices_mut(), &self.control)?;
        resize(colours, places.len(), Wide::default(), WHAT)?;
        resize(lights, places.len(), [0; 3], WHAT)?;
        self.painter.light_and_colour_samples(samples.slices(), lights, colours);
        for ((owner, colour), light) in owners.iter().zip(&*colours).zip(&*lights) {
            sums[*owner as usize].add(*light, *colour);
        }
        places.clear();
        owners.clear();
        Ok(())
    }
}

impl Sum {
    /// No samples beside the field's own.
    fn of(own: [u32; 3], colour: Wide) -> Self {
        Self { samples: 0, light: [0; 3], own, least: colour, greatest: colour }
    }

    fn add(&mut self, light: [u32; 3], colour: Wide) {
        self.samples += 1;
        for channel in 0..3 {
            self.light[channel] += light[channel];
            self.least[channel] = self.least[channel].min(colour[channel]);
            self.greatest[channel] = self.greatest[channel].max(colour[channel]);
        }
    }

    /// Whether the colours differ so much that the first samples do not suffice.
    fn is_spread(&self) -> bool {
        self.greatest.iter().zip(self.least).any(|(greatest, least)| greatest - least > SPREAD)
    }
}

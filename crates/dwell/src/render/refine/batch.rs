//! Some pixels with contrast, and the samples that they get.

use super::search::Pixel;
use super::{Refined, Refiner, WHAT};
use crate::base::error::{Error, InputError};
use crate::base::limits::{extend, resize};
use crate::colour::Wide;
use crate::field::Field;
use crate::field::channels::{ChannelBuffers, ChannelSlices, ChannelSlicesMut};

/// The samples that every pixel with contrast gets first.
pub(super) const FIRST: u32 = 4;
/// The greatest difference, in 16-bit values of a channel, at which the first samples suffice: 24 of 255.
pub(super) const SPREAD: u16 = 24 * 257;
/// Samples that are listed at once.
pub(super) const POINTS: usize = 1 << 13;
/// The most pixels.
pub(super) const BATCH: usize = POINTS / FIRST as usize;
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

/// Pixels, at most [`BATCH`], and a list of samples that they need next.
#[derive(Default)]
pub(super) struct Batch {
    pixels: Vec<Pixel>,
    /// What the samples of each pixel add up to.
    sums: Vec<Sum>,
    /// Whether all pixels have their first samples.
    has_first: bool,
    /// The first pixel whose next samples are not listed.
    next: usize,
    /// Columns and rows of the listed samples in the finer points.
    places: Vec<(u32, u32)>,
    /// For each of them, the number of its pixel.
    owners: Vec<u32>,
    samples: ChannelBuffers,
    colours: Vec<Wide>,
    lights: Vec<[u32; 3]>,
}

impl Batch {
    /// Upper bound of its bytes of memory, samples aside.
    pub(super) fn bytes() -> u64 {
        // Lists grow by doubling.
        let of_pixel = 2 * (size_of::<Pixel>() + size_of::<Sum>());
        let of_sample = 2 * (size_of::<(u32, u32)>() + size_of::<u32>()) + size_of::<Wide>() + size_of::<[u32; 3]>();
        (BATCH * of_pixel + POINTS * of_sample) as u64
    }

    /// Begins pixels of a field, with the colours of their own samples.
    pub(super) fn begin(
        &mut self,
        of: &Refiner<'_>,
        field: &Field,
        pixels: &[Pixel],
        colour: impl Fn(&Pixel) -> Wide,
    ) -> Result<(), InputError> {
        let Self { sums, samples, lights, .. } = self;
        samples.resize(pixels.len(), of.channels)?;
        let mut own = samples.slices_mut();
        let (all, from, width) = (field.all_rows().channels(), field.rows().start, field.width() as usize);
        for (number, pixel) in pixels.iter().enumerate() {
            let at = pixel.place(from, width);
            own.reborrow().slice(number..number + 1).copy_from(all.slice(at..at + 1));
        }
        resize(lights, pixels.len(), [0; 3], WHAT)?;
        of.painter.light_of_samples(samples.slices(), lights);
        sums.clear();
        extend(sums, pixels.iter().zip(lights).map(|(pixel, own)| Sum::of(*own, colour(pixel))), WHAT)?;
        self.pixels.clear();
        extend(&mut self.pixels, pixels.iter().copied(), WHAT)?;
        (self.has_first, self.next) = (false, 0);
        Ok(())
    }

    /// Lists samples that the pixels need next, at most [`POINTS`]; the samples of an earlier list are added to the pixels. Whether there are any.
    pub(super) fn list(&mut self, of: &Refiner<'_>) -> Result<bool, InputError> {
        let Self { pixels, sums, places, owners, .. } = self;
        let side = of.finer.side;
        let (order, total): (&[(u32, u32)], u32) = (if side == 4 { &ORDER_OF_16 } else { &ORDER_OF_4 }, side * side);
        places.clear();
        owners.clear();
        loop {
            while let Some(pixel) = pixels.get(self.next) {
                let sum = sums[self.next];
                let most = of.effort.most(pixel.contrast).min(total);
                let wanted = match self.has_first {
                    false => FIRST.min(most),
                    true if sum.is_spread() => most,
                    true => sum.samples,
                };
                let more = &order[sum.samples as usize..wanted.max(sum.samples) as usize];
                if places.len() + more.len() > POINTS {
                    return Ok(true);
                }
                let place = |(row, column): &(u32, u32)| (pixel.column * side + column, pixel.row * side + row);
                extend(places, more.iter().map(place), WHAT)?;
                extend(owners, more.iter().map(|_| self.next as u32), WHAT)?;
                self.next += 1;
            }
            // Whether more are needed depends on the first ones.
            if self.has_first || !places.is_empty() {
                break;
            }
            (self.has_first, self.next) = (true, 0);
        }
        if !self.has_first {
            (self.has_first, self.next) = (true, 0);
        }
        Ok(!places.is_empty())
    }

    /// The listed samples, by columns and rows of the finer points.
    pub(super) fn places(&self) -> &[(u32, u32)] {
        &self.places
    }

    /// Adds the listed samples to their pixels, which `compute` computes of their columns and rows.
    pub(super) fn compute_and_add(
        &mut self,
        of: &Refiner<'_>,
        compute: impl FnOnce(&[(u32, u32)], ChannelSlicesMut<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut samples = std::mem::take(&mut self.samples);
        samples.resize(self.places.len(), of.channels)?;
        compute(&self.places, samples.slices_mut())?;
        self.add(of, samples.slices())?;
        self.samples = samples;
        Ok(())
    }

    /// Adds the listed samples, which were computed elsewhere.
    pub(super) fn add(&mut self, of: &Refiner<'_>, samples: ChannelSlices<'_>) -> Result<(), Error> {
        let Self { sums, owners, colours, lights, .. } = self;
        resize(colours, owners.len(), Wide::default(), WHAT)?;
        resize(lights, owners.len(), [0; 3], WHAT)?;
        of.painter.light_and_colour_samples(samples, lights, colours);
        for ((owner, colour), light) in owners.iter().zip(&*colours).zip(&*lights) {
            sums[*owner as usize].add(*light, *colour);
        }
        Ok(())
    }

    /// Averages the samples of each pixel, once none are left to be listed.
    pub(super) fn finish(&mut self, of: &Refiner<'_>) -> Result<Refined, InputError> {
        let total = of.finer.side * of.finer.side;
        let mut refined = Refined { pixels: self.pixels.len() as u64, samples: 0 };
        self.colours.clear();
        resize(&mut self.colours, self.sums.len(), Wide::default(), WHAT)?;
        for (sum, colour) in self.sums.iter().zip(&mut self.colours) {
            refined.samples += u64::from(sum.samples);
            *colour = if sum.samples == total {
                of.painter.average(sum.light, total)
            } else {
                let [red, green, blue] = sum.own;
                let light = [sum.light[0] + red, sum.light[1] + green, sum.light[2] + blue];
                of.painter.average(light, sum.samples + 1)
            };
        }
        Ok(refined)
    }

    /// The pixels with these averages.
    pub(super) fn finished(&self) -> impl Iterator<Item = (&Pixel, Wide)> {
        self.pixels.iter().zip(self.colours.iter().copied())
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

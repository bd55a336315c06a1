//! The painter: turns rows of a field into rows of a picture by the tables of a colouring.
//!
//! # What it costs
//!
//! `cargo bench -p dwell --bench colour` measures painting and copying its input. Nanoseconds per sample on one thread
//! of a Zen 4, and the ratio to the copy: banded 1.0 (2.6; one table has all dwells), smooth by root 4.1 (3.4), linear
//! 2.8 (2.4), by logarithm 3.7 (3.3), by histogram 10.4 (8.2: a random access to half a mebibyte per octave of values).
//! 16 bits cost 1 more; averaged samples cost 6.3 to 6.9 each. The smooth values, which an engine computes while it has the
//! points, cost 5.5 more (`cargo bench -p dwell-kernels -- smooth set`).
//!
//! Values are processed [`CHUNK`] at a time, so that roots and logarithms are computed in vectors and no memory is
//! allocated per row.

use super::colouring::Colouring;
use super::dither;
use super::layers::Composer;
use super::light::{self, Encoder, EncoderTables};
use super::mapping::{By, Scale};
use super::palette::{Palette, TABLE, index};
use super::ranks::Ranks;
use super::rgb::Rgb16;
use super::samples::{MOST_SAMPLES, Samples};
use crate::base::error::InputError;
use crate::base::limits::{collected, reserved};
use crate::base::schedule::Schedule;
use crate::base::thread_pool::ThreadPool;
use crate::field::FieldRows;
use crate::field::channels::ChannelSlices;
use dwell_kernels::{Level, with_standard_floats};
use std::sync::{Mutex, PoisonError};

/// Bits of each channel of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// A byte each.
    #[default]
    Eight,
    /// Two bytes each, the high byte first.
    Sixteen,
}

dwell_kernels::named!(Depth, "depth": Eight => "8", Sixteen => "16");

impl Depth {
    /// 8 or 16.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Self::Eight => 8,
            Self::Sixteen => 16,
        }
    }

    /// Bytes of a pixel: red, green, blue.
    #[must_use]
    pub fn bytes_per_pixel(self) -> usize {
        match self {
            Self::Eight => 3,
            Self::Sixteen => 6,
        }
    }
}

/// Samples whose positions are computed at once: a multiple of most numbers of samples along a side.
const CHUNK: usize = super::layers::MOST_SAMPLES_AT_ONCE;
/// Samples that a thread counts at once.
const SPAN: usize = 1 << 14;
/// With a limit up to this, dwells are coloured by one table of all dwells.
const MOST_BANDS: u32 = (1 << 16) - 1;

/// The name of the tables, for messages.
const WHAT: &str = "the tables of the colours";

/// Red, green and blue, 65535 being full, padded so that a colour is read by one load.
pub(crate) type Wide = [u16; 4];

/// Colours as they are written into a picture, padded so that each is read by one load; or with 16 bits, where they are
/// dithered or compared before they are written.
#[derive(Debug)]
enum Codes {
    Eight(Table<[u8; 4]>),
    Sixteen(Table<[u8; 8]>),
    Wide(Table<Wide>),
}

#[derive(Debug)]
struct Table<T> {
    interior: T,
    /// By palette index.
    palette: Vec<T>,
    /// By dwell; empty unless dwells are coloured and the limit is at most [`MOST_BANDS`].
    bands: Vec<T>,
}

impl<T: Copy> Table<T> {
    /// The table of a palette, without bands.
    fn of(palette: &Palette, code: impl Fn(Rgb16) -> T) -> Result<Self, InputError> {
        Ok(Self {
            interior: code(palette.interior()),
            palette: collected(palette.table().iter().map(|colour| code(*colour)), WHAT)?,
            bands: Vec::new(),
        })
    }
}

/// A colouring with the tables to apply it to an image.
#[derive(Debug)]
pub struct Painter {
    by: By,
    scale: Scale,
    /// Index = slope * scale(v) + start, modulo [`TABLE`].
    slope: f64,
    start: f64,
    limit: f64,
    samples: Samples,
    depth: Depth,
    /// Whether dithering was requested, and whether it changes any pixel.
    dither: bool,
    dithers: bool,
    level: Level,
    codes: Codes,
    /// Light by palette index, then of the interior; empty with one sample per pixel and no layer.
    light: Vec<[u32; 3]>,
    /// For values of the depth; of 16 bits where they are dithered.
    encoder: Option<&'static Encoder>,
    layers: Composer,
    ranks: Ranks,
    /// The counts of each thread, not yet added.
    counts: Mutex<Vec<Ranks>>,
    colouring: Colouring,
}

/// The tables of a [`Painter`]. The colour of an escaped sample is the palette entry floor(slope s(v) + start) modulo
/// the number of entries before the last, a power of two; the last entry is the colour of a sample that has not
/// escaped. v is the dwell, or the smooth value but at least 1, or 1 + 1000 times the distance; s is the scale.
#[derive(Debug)]
pub struct Tables<'a> {
    /// The quantity v.
    pub by: By,
    /// The scale s: never `histogram`.
    pub scale: Scale,
    /// Palette entries per unit of s(v).
    pub slope: f64,
    /// The entry at s(v) = 0.
    pub start: f64,
    /// Bits of each channel.
    pub depth: Depth,
    /// Samples along a side of a pixel.
    pub samples: u32,
    /// Whether 16-bit values v are written as 8-bit ones, floor((v + t) / 257), with the threshold t of the pixel's column
    /// and row in the picture: t = floor((257 rev(row + rev(floor(column / 16))) + 128) / 8), where rev(n) is the number of
    /// the last three bits of n in reverse order.
    pub dither: bool,
    /// By entry, red, green and blue as written, 0 to 255 or 0 to 65535; 0 to 65535 with `dither`. The last entry is the
    /// interior colour.
    pub palette: Vec<[u16; 3]>,
    /// By dwell, its entry; empty unless dwells are coloured and the limit is small enough. The entry of dwell 0 has no
    /// meaning.
    pub bands: Vec<usize>,
    /// By entry, its light. The light of a pixel is the sum of its samples divided by their number, rounded to nearest
    /// (halves up). Empty with one sample per pixel.
    pub light: &'a [[u32; 3]],
    /// Encodes light as values: see [`EncoderTables`].
    pub encoder: Option<EncoderTables<'a>>,
}

impl Painter {
    /// The painter of a colouring, for a field with this limit of which n x n values, n = `samples.side()` from 1 to
    /// [`MOST_SAMPLES`], make one pixel of the picture. With `dither`, pictures of 8 bits are dithered: see [`Tables`].
    ///
    /// If [`Colouring::needs_counts`], call [`Self::count`] with all rows and [`Self::finish_counting`] before
    /// painting.
    ///
    /// # Errors
    /// When the system has not enough memory for the tables.
    pub fn new(
        colouring: &Colouring,
        limit: u64,
        depth: Depth,
        samples: Samples,
        dither: bool,
    ) -> Result<Self, InputError> {
        with_standard_floats(|| Self::prepared(colouring, limit, depth, samples, dither))
    }

    fn prepared(
        colouring: &Colouring,
        limit: u64,
        depth: Depth,
        samples: Samples,
        dither: bool,
    ) -> Result<Self, InputError> {
        let palette = &colouring.palette;
        let per_turn = TABLE as f64 / palette.period();
        let samples = match samples {
            Samples::Fixed(side) => Samples::Fixed(side.clamp(1, MOST_SAMPLES)),
            Samples::Auto => Samples::Auto,
        };
        // Averages and layers are computed in light.
        let in_light = samples != Samples::Fixed(1) || !colouring.layers.is_empty();
        let colours = palette.table().iter().copied().chain([palette.interior()]);
        let is_exact = |colour: Rgb16| colour.iter().all(|value| value.is_multiple_of(257));
        let dithers = dither && depth == Depth::Eight && (in_light || !colours.clone().all(is_exact));
        let codes = match depth {
            _ if dithers || samples == Samples::Auto => Codes::Wide(Table::of(palette, wide)?),
            Depth::Eight => Codes::Eight(Table::of(palette, eight)?),
            Depth::Sixteen => Codes::Sixteen(Table::of(palette, sixteen)?),
        };
        let encoder = if depth == Depth::Eight && !dithers { Encoder::eight } else { Encoder::sixteen };
        let light = if in_light {
            let of_values = light::of_values()?;
            collected(colours.map(|colour| colour.map(|value| of_values[usize::from(value)])), WHAT)?
        } else {
            Vec::new()
        };
        let mut painter = Self {
            by: colouring.by,
            scale: colouring.scale,
            slope: colouring.density * per_turn,
            start: colouring.offset * per_turn,
            limit: limit as f64,
            samples,
            depth,
            dither,
            dithers,
            level: Level::best(),
            codes,
            light,
            encoder: in_light.then(encoder).transpose()?,
            layers: Composer::new(&colouring.layers, limit as f64, Level::best())?,
            ranks: Ranks::default(),
            counts: Mutex::default(),
            colouring: colouring.clone(),
        };
        if !colouring.needs_counts() {
            painter.prepare_bands()?;
        }
        Ok(painter)
    }

    /// Whether [`Self::new`] would make an equal painter from these values. False where colours depend on a field,
    /// since the painter then has the counts of one field.
    pub(crate) fn is_for(
        &self,
        colouring: &Colouring,
        limit: u64,
        depth: Depth,
        samples: Samples,
        dither: bool,
    ) -> bool {
        !colouring.needs_counts()
            && self.limit == limit as f64
            && (self.depth, self.samples, self.dither) == (depth, samples, dither)
            && self.colouring == *colouring
    }

    /// The colouring.
    #[must_use]
    pub fn colouring(&self) -> &Colouring {
        &self.colouring
    }

    /// Bytes of a pixel of the picture.
    #[must_use]
    pub fn bytes_per_pixel(&self) -> usize {
        self.depth.bytes_per_pixel()
    }

    /// Samples of the field along a side of a pixel.
    #[must_use]
    pub fn side(&self) -> u32 {
        self.samples.side()
    }

    /// The samples of a pixel.
    #[must_use]
    pub fn samples(&self) -> Samples {
        self.samples
    }

    /// Whether dithering was requested.
    #[must_use]
    pub fn dither(&self) -> bool {
        self.dither
    }

    /// The tables, for engines that paint where they iterate; none where colours depend on the whole field (the scale
    /// `histogram`) or on samples that are not of the field ([`Samples::Auto`]), and where there are layers.
    ///
    /// # Errors
    /// When the system has not enough memory.
    pub fn tables(&self) -> Result<Option<Tables<'_>>, InputError> {
        if self.scale == Scale::Histogram || self.samples == Samples::Auto || !self.layers.is_empty() {
            return Ok(None);
        }
        let colours = self.colouring.palette.table().iter().copied().chain([self.colouring.palette.interior()]);
        let code = |colour: [u16; 3]| match self.depth {
            Depth::Eight if !self.dithers => {
                let [red, green, blue, _] = eight(colour);
                [red, green, blue].map(u16::from)
            }
            _ => colour,
        };
        Ok(Some(Tables {
            by: self.by,
            scale: self.scale,
            slope: self.slope,
            start: self.start,
            depth: self.depth,
            samples: self.side(),
            dither: self.dithers,
            palette: colours.map(code).collect(),
            bands: if self.has_bands() { with_standard_floats(|| self.band_entries())? } else { Vec::new() },
            light: &self.light,
            encoder: self.encoder.map(Encoder::tables),
        }))
    }

    /// Counts the values of some rows, for the scale `histogram`.
    ///
    /// # Errors
    /// When the system has not enough memory.
    pub fn count(&self, rows: FieldRows<'_>, team: &ThreadPool) -> Result<(), InputError> {
        let (dwell, values) = (rows.dwell(), self.values(rows.channels()));
        let lock = || self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let start = || Ok(lock().pop().unwrap_or_default());
        let work = |ranks: &mut Ranks, span: usize| -> Result<(), InputError> {
            let first = span * SPAN;
            let dwell = &dwell[first..dwell.len().min(first + SPAN)];
            let mut v = [0.0; CHUNK];
            for (from, dwell) in (first..).step_by(CHUNK).zip(dwell.chunks(CHUNK)) {
                self.quantities(dwell, slice(values, from, dwell.len()), &mut v);
                for (dwell, v) in dwell.iter().zip(v) {
                    if *dwell != 0 {
                        ranks.count(v)?;
                    }
                }
            }
            Ok(())
        };
        let counted = team.for_each(Schedule::default(), 0..dwell.len().div_ceil(SPAN), start, work)?;
        lock().extend(counted);
        Ok(())
    }

    /// The counts so far, as bytes for a journal.
    ///
    /// # Errors
    /// When the system has not enough memory.
    pub(crate) fn counts(&self) -> Result<Vec<u8>, InputError> {
        let mut all = Ranks::default();
        for counts in self.counts.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            all.add(counts)?;
        }
        all.to_bytes()
    }

    /// Restores counts from [`Self::counts`]. False if the bytes are not counts or the system has not enough memory.
    pub(crate) fn restore_counts(&mut self, bytes: &[u8]) -> bool {
        let counts = Ranks::from_bytes(bytes);
        let found = counts.is_some();
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner) = counts.into_iter().collect();
        found
    }

    /// Prepares painting after all rows have been counted.
    ///
    /// # Errors
    /// When the system has not enough memory.
    pub fn finish_counting(&mut self) -> Result<(), InputError> {
        let mut counts = std::mem::take(&mut *self.counts.lock().unwrap_or_else(PoisonError::into_inner));
        self.ranks = counts.pop().unwrap_or_default();
        for counts in counts {
            self.ranks.add(&counts)?;
        }
        with_standard_floats(|| {
            self.ranks.finish()?;
            self.prepare_bands()
        })
    }

    /// Paints rows of a field, a multiple of the samples along a side of a pixel, into rows of the picture from the row
    /// `first` on. With [`Samples::Auto`], each pixel has its one sample.
    ///
    /// # Panics
    /// When the field lacks the channel that is coloured, its sides are not multiples of the samples, or the picture
    /// has a different size.
    pub fn paint(&self, rows: FieldRows<'_>, first: u32, picture: &mut [u8]) {
        with_standard_floats(|| self.paint_rows(rows, first, picture));
    }

    fn paint_rows(&self, rows: FieldRows<'_>, first: u32, picture: &mut [u8]) {
        let samples = self.side() as usize;
        let pixels = rows.dwell().len() / (samples * samples);
        assert!((rows.width() as usize).is_multiple_of(samples), "whole pixels in each row");
        assert!(rows.dwell().len() == pixels * samples * samples, "whole rows of pixels");
        assert!(rows.dwell().len().is_multiple_of(rows.width() as usize), "whole rows");
        assert_eq!(picture.len(), pixels * self.bytes_per_pixel(), "a colour for each pixel");
        match &self.codes {
            _ if !self.layers.is_empty() => self.paint_averages(rows, first, picture),
            Codes::Eight(table) if samples == 1 => self.paint_singly::<4, 3>(table, rows, picture),
            Codes::Sixteen(table) if samples == 1 => self.paint_singly::<8, 6>(table, rows, picture),
            Codes::Wide(_) if samples == 1 => self.paint_wide(rows, first, picture),
            _ => self.paint_averages(rows, first, picture),
        }
    }

    /// Paints with one sample per pixel.
    fn paint_singly<const W: usize, const BYTES: usize>(
        &self,
        table: &Table<[u8; W]>,
        rows: FieldRows<'_>,
        picture: &mut [u8],
    ) {
        if !table.bands.is_empty() {
            for (out, dwell) in picture.chunks_exact_mut(BYTES).zip(rows.dwell()) {
                // Dwells are at most the limit, and the table has an entry for each up to the limit.
                out.copy_from_slice(&table.bands[*dwell as usize][..BYTES]);
            }
            return;
        }
        let values = self.values(rows.channels());
        let mut positions = [0.0; CHUNK];
        let chunks = picture.chunks_mut(CHUNK * BYTES).zip(rows.dwell().chunks(CHUNK));
        for (from, (out, dwell)) in (0..).step_by(CHUNK).zip(chunks) {
            self.positions(dwell, slice(values, from, dwell.len()), &mut positions);
            for ((out, dwell), position) in out.chunks_exact_mut(BYTES).zip(dwell).zip(positions) {
                let code = if *dwell == 0 { table.interior } else { table.palette[index(position)] };
                out.copy_from_slice(&code[..BYTES]);
            }
        }
    }

    /// Paints with one sample per pixel, by colours of 16 bits.
    fn paint_wide(&self, rows: FieldRows<'_>, first: u32, picture: &mut [u8]) {
        let (width, bytes) = (rows.width() as usize, self.bytes_per_pixel());
        let mut colours = [Wide::default(); CHUNK];
        for (row, out) in picture.chunks_mut(width * bytes).enumerate() {
            for (from, out) in (0..).step_by(CHUNK).zip(out.chunks_mut(CHUNK * bytes)) {
                let at = row * width + from;
                let colours = &mut colours[..out.len() / bytes];
                self.colour_samples(rows.channels().slice(at..at + colours.len()), colours);
                self.write(colours, first + row as u32, from, out);
            }
        }
    }

    /// The colours of samples, for painters of 16-bit colours: with dithering or [`Samples::Auto`].
    ///
    /// # Panics
    /// When the channel that is coloured is missing, or the numbers of samples differ.
    pub(crate) fn colour_samples(&self, samples: ChannelSlices<'_>, colours: &mut [Wide]) {
        assert_eq!(samples.dwell.len(), colours.len(), "a colour for each sample");
        if !self.layers.is_empty() {
            let mut light = [[0; 3]; CHUNK];
            for (from, colours) in (0..).step_by(CHUNK).zip(colours.chunks_mut(CHUNK)) {
                let light = &mut light[..colours.len()];
                self.light_of_samples(samples.slice(from..from + colours.len()), light);
                colours.iter_mut().zip(light).for_each(|(colour, light)| *colour = self.average(*light, 1));
            }
            return;
        }
        let Codes::Wide(table) = &self.codes else { return };
        if !table.bands.is_empty() {
            // Dwells are at most the limit, and the table has an entry for each up to the limit.
            colours.iter_mut().zip(samples.dwell).for_each(|(colour, dwell)| *colour = table.bands[*dwell as usize]);
            return;
        }
        let values = self.values(samples);
        let mut positions = [0.0; CHUNK];
        let chunks = colours.chunks_mut(CHUNK).zip(samples.dwell.chunks(CHUNK));
        for (from, (colours, dwell)) in (0..).step_by(CHUNK).zip(chunks) {
            self.positions(dwell, slice(values, from, dwell.len()), &mut positions);
            for ((colour, dwell), position) in colours.iter_mut().zip(dwell).zip(positions) {
                *colour = if *dwell == 0 { table.interior } else { table.palette[index(position)] };
            }
        }
    }

    /// The light of samples with the layers, for painters that average some or have layers.
    ///
    /// # Panics
    /// As [`Self::colour_samples`].
    pub(crate) fn light_of_samples(&self, samples: ChannelSlices<'_>, lights: &mut [[u32; 3]]) {
        assert_eq!(samples.dwell.len(), lights.len(), "light for each sample");
        let values = self.values(samples);
        let mut positions = [0.0; CHUNK];
        let chunks = lights.chunks_mut(CHUNK).zip(samples.dwell.chunks(CHUNK));
        for (from, (lights, dwell)) in (0..).step_by(CHUNK).zip(chunks) {
            self.positions(dwell, slice(values, from, dwell.len()), &mut positions);
            for ((light, dwell), position) in lights.iter_mut().zip(dwell).zip(positions) {
                *light = self.light[if *dwell == 0 { TABLE } else { index(position) }];
            }
            self.layers.compose(samples.slice(from..from + dwell.len()), lights);
        }
    }

    /// As [`Self::light_of_samples`] and [`Self::colour_samples`], in less time.
    ///
    /// # Panics
    /// As these.
    pub(crate) fn light_and_colour_samples(
        &self,
        samples: ChannelSlices<'_>,
        lights: &mut [[u32; 3]],
        colours: &mut [Wide],
    ) {
        let (true, Codes::Wide(table)) = (self.layers.is_empty(), &self.codes) else {
            self.light_of_samples(samples, lights);
            colours.iter_mut().zip(lights).for_each(|(colour, light)| *colour = self.average(*light, 1));
            return;
        };
        assert_eq!(samples.dwell.len(), lights.len(), "light for each sample");
        assert_eq!(samples.dwell.len(), colours.len(), "a colour for each sample");
        let values = self.values(samples);
        let mut positions = [0.0; CHUNK];
        for (number, dwell) in samples.dwell.chunks(CHUNK).enumerate() {
            let from = number * CHUNK;
            self.positions(dwell, slice(values, from, dwell.len()), &mut positions);
            let out = lights[from..].iter_mut().zip(&mut colours[from..]);
            for ((dwell, position), (light, colour)) in dwell.iter().zip(positions).zip(out) {
                (*light, *colour) = if *dwell == 0 {
                    (self.light[TABLE], table.interior)
                } else {
                    let index = index(position);
                    (self.light[index], table.palette[index])
                };
            }
        }
    }

    /// The colour of the average of `count` samples, 1 to 256, whose light is summed.
    #[inline]
    pub(crate) fn average(&self, sum: [u32; 3], count: u32) -> Wide {
        let Some(encoder) = self.encoder else { return Wide::default() };
        let [red, green, blue] = sum.map(|sum| encoder.encode((sum + count / 2) / count));
        let unit = if self.encodes_bytes() { 257 } else { 1 };
        [red * unit, green * unit, blue * unit, 0]
    }

    /// Whether averages have 8 bits and not 16.
    fn encodes_bytes(&self) -> bool {
        self.depth == Depth::Eight && !self.dithers
    }

    /// Writes colours of a row of the picture, from a column on.
    pub(crate) fn write(&self, colours: &[Wide], row: u32, column: usize, out: &mut [u8]) {
        match self.depth {
            Depth::Eight if self.dithers => dither::write(colours, row, column, out),
            Depth::Eight => {
                for (out, [red, green, blue, _]) in out.chunks_exact_mut(3).zip(colours) {
                    out.copy_from_slice(&eight([*red, *green, *blue])[..3]);
                }
            }
            Depth::Sixteen => {
                for (out, [red, green, blue, _]) in out.chunks_exact_mut(6).zip(colours) {
                    out.copy_from_slice(&sixteen([*red, *green, *blue])[..6]);
                }
            }
        }
    }

    /// Paints in linear light: with layers, or with several samples per pixel, which are averaged.
    fn paint_averages(&self, rows: FieldRows<'_>, first: u32, picture: &mut [u8]) {
        let samples = self.side() as usize;
        let (width, bytes) = (rows.width() as usize, self.bytes_per_pixel());
        let across = width / samples;
        let channels = rows.channels();
        let chunk = CHUNK / samples * samples;
        let count = self.side() * self.side();
        for (line, out) in picture.chunks_mut(across * bytes).enumerate() {
            // The pixels of a chunk, of which all rows of samples are summed before they are written.
            let parts = out.chunks_mut(chunk / samples * bytes);
            for (from, out) in (0..).step_by(chunk).zip(parts) {
                let mut sums = [[0_u32; 3]; CHUNK];
                let mut light = [[0; 3]; CHUNK];
                let light = &mut light[..out.len() / bytes * samples];
                for row in 0..samples {
                    let at = (line * samples + row) * width + from;
                    self.light_of_samples(channels.slice(at..at + light.len()), light);
                    for (sum, light) in sums.iter_mut().zip(light.chunks(samples)) {
                        for light in light {
                            *sum = [sum[0] + light[0], sum[1] + light[1], sum[2] + light[2]];
                        }
                    }
                }
                let mut colours = [Wide::default(); CHUNK];
                let colours = &mut colours[..out.len() / bytes];
                colours.iter_mut().zip(&sums).for_each(|(colour, sum)| *colour = self.average(*sum, count));
                self.write(colours, first + line as u32, from / samples, out);
            }
        }
    }

    /// The channel that is coloured; empty for dwells of 32 bits.
    fn values<'a>(&self, samples: ChannelSlices<'a>) -> &'a [f64] {
        let values = self.by.values(|channel| samples[channel]);
        let is_complete = values.len() == samples.dwell.len() || values.is_empty() && self.by.channel().is_none();
        assert!(is_complete, "a field with {} values", self.by.name());
        values
    }

    /// v of each of at most [`CHUNK`] samples; v of a sample that has not escaped is any number of at least 1.
    #[inline]
    fn quantities(&self, dwell: &[u32], values: &[f64], v: &mut [f64; CHUNK]) {
        self.by.quantities(dwell, values, v);
    }

    /// Palette positions of at most [`CHUNK`] samples, in entries of the table. By IEEE operations and our own
    /// logarithm only, so that they are the same on every machine.
    #[inline]
    fn positions(&self, dwell: &[u32], values: &[f64], v: &mut [f64; CHUNK]) {
        self.quantities(dwell, values, v);
        let v = &mut v[..dwell.len()];
        match self.scale {
            Scale::Histogram => v.iter_mut().for_each(|v| *v = self.ranks.rank(*v)),
            scale => scale.turns(self.level, self.limit, v),
        }
        v.iter_mut().for_each(|v| *v = self.slope * *v + self.start);
    }

    /// Whether dwells are coloured by one table of all dwells.
    fn has_bands(&self) -> bool {
        self.by == By::Banded && self.limit <= f64::from(MOST_BANDS)
    }

    /// By dwell, its palette entry.
    fn band_entries(&self) -> Result<Vec<usize>, InputError> {
        // At most MOST_BANDS.
        let end = self.limit as u32 + 1;
        let mut indices = reserved(end as usize, WHAT)?;
        let (mut dwells, mut positions) = ([0; CHUNK], [0.0; CHUNK]);
        for first in (0..end).step_by(CHUNK) {
            let dwells = &mut dwells[..CHUNK.min((end - first) as usize)];
            dwells.iter_mut().zip(first..).for_each(|(dwell, n)| *dwell = n);
            self.positions(dwells, &[], &mut positions);
            indices.extend(positions[..dwells.len()].iter().map(|position| index(*position)));
        }
        Ok(indices)
    }

    /// Fills the table of all dwells.
    fn prepare_bands(&mut self) -> Result<(), InputError> {
        if !self.has_bands() {
            return Ok(());
        }
        let indices = self.band_entries()?;
        fn bands<T: Copy>(table: &mut Table<T>, indices: &[usize]) -> Result<(), InputError> {
            table.bands = collected(indices.iter().map(|index| table.palette[*index]), WHAT)?;
            table.bands[0] = table.interior;
            Ok(())
        }
        match &mut self.codes {
            Codes::Eight(table) => bands(table, &indices),
            Codes::Sixteen(table) => bands(table, &indices),
            Codes::Wide(table) => bands(table, &indices),
        }
    }
}

/// `count` values from `from` on; none if there are no values.
#[inline]
fn slice(values: &[f64], from: usize, count: usize) -> &[f64] {
    if values.is_empty() { values } else { &values[from..from + count] }
}

/// The 16-bit values.
fn wide([red, green, blue]: Rgb16) -> Wide {
    [red, green, blue, 0]
}

/// The nearest 8-bit values.
fn eight(colour: [u16; 3]) -> [u8; 4] {
    // At most (65535 + 128) / 257 = 255.
    let byte = |channel: u16| ((u32::from(channel) + 128) / 257) as u8;
    [byte(colour[0]), byte(colour[1]), byte(colour[2]), 0]
}

/// The 16-bit values, the high byte first, as in PNG and PPM.
fn sixteen(colour: [u16; 3]) -> [u8; 8] {
    let [r, g, b] = colour.map(u16::to_be_bytes);
    [r[0], r[1], g[0], g[1], b[0], b[1], 0, 0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::Palette;
    use crate::field::channels::{Channel, ChannelBuffers, ChannelSlices};

    const WIDTH: u32 = 60;

    /// An invented field: some pixels inside, dwells up to 900, and values of every channel that does not belong to the dwells.
    fn field(rows: u32) -> ChannelBuffers {
        let pixels = 0..WIDTH * rows;
        let dwell: Vec<u32> = pixels.map(|i| if i % 7 == 0 { 0 } else { i * i % 901 }).collect();
        // No two values are equal, as in real fields.
        let each = |(i, n): (usize, &u32)| if *n == 0 { 0.0 } else { f64::from(*n) - 0.3 + i as f64 * 1e-4 };
        let values: Vec<f64> = dwell.iter().enumerate().map(each).collect();
        ChannelBuffers::from_fn(dwell, |channel| if channel == Channel::Overflow { Vec::new() } else { values.clone() })
    }

    fn paint(painter: &mut Painter, rows: u32, threads: usize) -> Vec<u8> {
        let field = field(rows);
        let rows_of = FieldRows::new(WIDTH, field.slices()).unwrap();
        let team = ThreadPool::new(threads);
        if painter.colouring().needs_counts() {
            painter.count(rows_of, &team).unwrap();
            painter.finish_counting().unwrap();
        }
        let samples = painter.side() as usize;
        let mut picture = vec![7; field.dwell.len() / (samples * samples) * painter.bytes_per_pixel()];
        painter.paint(rows_of, 0, &mut picture);
        picture
    }

    fn colourings() -> Vec<Colouring> {
        let mut all = Vec::new();
        for by in By::ALL {
            for scale in Scale::ALL {
                let palette = Palette::built_in(if scale == Scale::Linear { "viridis" } else { "ember" }).unwrap();
                let colouring = Colouring { by, scale, density: 1.7, offset: -0.3, palette, layers: Vec::new() };
                if colouring.check().is_ok() {
                    all.push(colouring);
                }
            }
        }
        all
    }

    /// The rule as documented by [`Colouring`], one sample at a time.
    #[expect(clippy::disallowed_methods, reason = "a reference computation")]
    fn by_definition(colouring: &Colouring, limit: u64, rows: u32) -> Vec<[u16; 3]> {
        let field = field(rows);
        let dwell = &field.dwell;
        let mut v = vec![0.0; dwell.len()];
        let values = colouring.by.channel().map_or(&[][..], |channel| &field[channel]);
        colouring.by.quantities(dwell, values, &mut v);
        let escaped: Vec<f64> = (0..dwell.len()).filter(|i| dwell[*i] != 0).map(|i| v[i]).collect();
        (0..dwell.len())
            .map(|i| {
                let turns = match colouring.scale {
                    Scale::Root => 0.11 * (v[i].sqrt() - 1.0),
                    Scale::Linear => v[i] / 256.0,
                    Scale::Log => v[i].log2() / 4.0,
                    Scale::Limit => v[i] / limit as f64,
                    Scale::Histogram => escaped.iter().filter(|o| **o < v[i]).count() as f64 / escaped.len() as f64,
                };
                let position = colouring.offset + colouring.density * turns;
                if dwell[i] == 0 { colouring.palette.interior() } else { colouring.palette.at(position) }
            })
            .collect()
    }

    #[test]
    fn every_rule_equals_its_definition() {
        for colouring in colourings() {
            let expected = by_definition(&colouring, 901, 20);
            for limit in [901, 901 + MOST_BANDS] {
                if limit != 901 && colouring.scale == Scale::Limit {
                    continue;
                }
                let picture = paint(
                    &mut Painter::new(&colouring, limit.into(), Depth::Sixteen, Samples::Fixed(1), false).unwrap(),
                    20,
                    2,
                );
                let mut far = 0;
                for (found, expected) in picture.chunks(6).zip(&expected) {
                    let found = [0, 2, 4].map(|at| u16::from_be_bytes([found[at], found[at + 1]]));
                    // One entry of the table, or one sample's rank, off at most.
                    let off = (0..3).map(|c| found[c].abs_diff(expected[c])).max().unwrap();
                    far += usize::from(off > if colouring.scale == Scale::Histogram { 1500 } else { 400 });
                }
                assert_eq!(far, 0, "{:?} {:?} limit {limit}", colouring.by, colouring.scale);
            }
        }
    }

    #[test]
    fn depths_agree_and_results_do_not_depend_on_threads() {
        for colouring in colourings() {
            for samples in [1, 2, 3].map(Samples::Fixed) {
                let eight = paint(&mut Painter::new(&colouring, 901, Depth::Eight, samples, false).unwrap(), 12, 1);
                let sixteen = paint(&mut Painter::new(&colouring, 901, Depth::Sixteen, samples, false).unwrap(), 12, 1);
                for (eight, sixteen) in eight.iter().zip(sixteen.chunks(2)) {
                    let wide = f64::from(u16::from_be_bytes([sixteen[0], sixteen[1]])) / 257.0;
                    assert!((wide - f64::from(*eight)).abs() <= 0.51, "{eight} {wide}");
                }
                assert_eq!(
                    eight,
                    paint(&mut Painter::new(&colouring, 901, Depth::Eight, samples, false).unwrap(), 12, 3)
                );
            }
        }
    }

    #[cfg(feature = "toml")]
    #[test]
    fn averages_are_of_light() {
        // Two black samples and two white ones: half the light, which is 188.
        let palette =
            Palette::parse("colours = [\"#000\", \"#fff\"]\nblend = \"step\"\ninterior = \"#000\"", "x").unwrap();
        let colouring = Colouring { by: By::Banded, scale: Scale::Linear, density: 128.0, ..Colouring::of(palette) };
        let painter = Painter::new(&colouring, 10, Depth::Eight, Samples::Fixed(2), false).unwrap();
        let rows = FieldRows::new(4, ChannelSlices::of_dwells(&[2, 1, 0, 1, 1, 2, 1, 1])).unwrap();
        let mut picture = [0; 6];
        painter.paint(rows, 0, &mut picture);
        assert_eq!(picture[..3], [188; 3]);
        // Three of four samples are white.
        assert_eq!(picture[3..], [225; 3]);
    }

    #[test]
    fn positions_of_any_sign_have_an_entry() {
        assert_eq!([0.0, 0.9, 8191.99, 8192.0, -0.1, -8192.0].map(index), [0, 0, 8191, 0, 8191, 0]);
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
            assert!(index(odd) < TABLE);
        }
    }
}

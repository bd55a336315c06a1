//! A painter's tables in device memory, and the task that the `paint` kernels take.

use crate::driver::{Address, Buffer, ConstAddress, Context, Fault, Stream};
use crate::engine::CudaEngine;
use crate::kernel::{Kernel, Paint};
use crate::modules::Modules;
use crate::shared::{BLOCK_THREADS, pixel_bytes, scale_code, shared_struct};
use crate::upload::{Sections, Upload};
use dwell::{By, Colouring, Depth, Painter, Samples, Scale};
use std::sync::Arc;

shared_struct! {
    /// A picture to paint: samples, tables, and where the picture is written.
    struct PaintTask<'a> {
        dwell: ConstAddress<'a, u32>,
        /// Smooth values; null where dwells are coloured.
        smooth: ConstAddress<'a, f64>,
        picture: Address<'a, u8>,
        /// Channels of a palette entry, 16 bits each, in 64; the entry of the interior is the last.
        palette: ConstAddress<'a, u64>,
        /// The palette entry of each dwell; null where positions are computed.
        bands: ConstAddress<'a, u16>,
        /// Light of each palette entry, and of the interior: red, green, blue.
        light: ConstAddress<'a, u32>,
        /// From light to the nearest value: see `EncoderTables` of light.rs.
        midpoints: ConstAddress<'a, u32>,
        start: ConstAddress<'a, u16>,
        /// Iterations that the plain loop needs, and number of samples that did not escape.
        totals: Address<'a, u64>,
        /// Palette entries for each unit of the scaled value, and the entry at 0.
        slope: f64,
        start_position: f64,
        limit_value: f64,
        /// In samples.
        width: u32,
        rows: u32,
        /// Samples of a pixel, across and down.
        samples: u32,
        /// Bytes of a pixel.
        bytes: u32,
        /// A code of a scale.
        scale: u32,
        limit: u32,
        /// Palette entries, a power of two, without that of the interior.
        entries: u32,
        /// Number of midpoints, and bits of light that `start` leaves out.
        values: u32,
        shift: u32,
        /// The row of the picture that is written first.
        first_row: u32,
        /// 1 if 16-bit values are dithered to 8 bits, otherwise 0.
        dither: u32,
    }
}

const _: () = assert!(size_of::<PaintTask<'_>>() == 12 * 8 + 11 * 4 + 4);

/// Whether there are kernels for a painter: for all but layers, colours by other channels, colours that depend on the whole
/// field, and pixels with more samples than the field has.
pub(crate) fn can_paint(painter: &Painter) -> bool {
    let colouring = painter.colouring();
    colouring.layers.is_empty()
        && CudaEngine::CHANNELS.includes(colouring.channels())
        && colouring.scale != Scale::Histogram
        && painter.samples() != Samples::Auto
}

/// What a painter's tables are made of: equal colours have equal tables.
#[derive(Clone, Debug)]
pub(crate) struct Colours {
    colouring: Colouring,
    limit: u32,
    samples: u32,
    bytes_per_pixel: usize,
    dither: bool,
}

impl Colours {
    /// Those of a painter for a limit.
    pub(crate) fn of(painter: &Painter, limit: u32) -> Self {
        let (samples, bytes_per_pixel) = (painter.side(), painter.bytes_per_pixel());
        Self { colouring: painter.colouring().clone(), limit, samples, bytes_per_pixel, dither: painter.dither() }
    }

    /// Whether a painter has the same.
    pub(crate) fn are_of(&self, painter: &Painter, limit: u32) -> bool {
        (self.limit, self.samples, self.bytes_per_pixel) == (limit, painter.side(), painter.bytes_per_pixel())
            && self.dither == painter.dither()
            && self.colouring == *painter.colouring()
    }
}

/// The kernels that paint.
#[derive(Clone, Copy, Debug)]
struct PaintKernels {
    bytes: Kernel<Paint>,
    words: Kernel<Paint>,
    averages: Kernel<Paint>,
}

/// A painter's tables on a device, and the kernels that use them.
#[derive(Debug)]
pub(crate) struct PaintTables {
    kernels: PaintKernels,
    memory: Upload,
    loaded: Option<LoadedTables>,
}

/// The tables of one painter.
#[derive(Debug)]
struct LoadedTables {
    colours: Colours,
    kernel: Kernel<Paint>,
    needs_smooth: bool,
    pixel_bytes: u32,
    slope: f64,
    start_position: f64,
    scale: u32,
    palette: Section,
    /// Empty where positions are computed.
    bands: Section,
    encoder: Option<Encoder>,
    dither: bool,
}

/// Where a table begins in the device's memory, in bytes, and its length.
#[derive(Clone, Copy, Debug, Default)]
struct Section {
    at: usize,
    len: usize,
}

/// Tables of averages in linear light.
#[derive(Debug)]
struct Encoder {
    light: Section,
    midpoints: Section,
    start: Section,
    shift: u32,
}

/// Bytes of tables for which there is room from the beginning: those of most painters.
pub(crate) const USUAL_TABLE_BYTES: usize = 1 << 18;

/// The samples that a picture is painted from, and the memory that it is written to.
pub(crate) struct Canvas<'a> {
    /// Dwells, from an element on, and their size in samples.
    pub(crate) dwell: (&'a Buffer<u32>, usize),
    pub(crate) size: [u32; 2],
    /// The first row of the picture.
    pub(crate) first_row: u32,
    /// Smooth values of the same samples.
    pub(crate) smooth: Option<&'a Buffer<f64>>,
    pub(crate) picture: &'a Buffer<u8>,
    /// Two totals of 64 bits, from its beginning.
    pub(crate) totals: &'a Buffer<u32>,
}

/// Writes a table.
fn section<T: bytemuck::Pod>(sections: &mut Sections<'_>, values: &[T]) -> Section {
    Section { at: sections.values(values), len: values.len() }
}

impl PaintTables {
    /// Room for tables, and the kernels.
    pub(crate) fn new(context: &Arc<Context>, modules: &mut Modules) -> Result<Self, Fault> {
        let kernels = PaintKernels {
            bytes: modules.paint_bytes()?,
            words: modules.paint_words()?,
            averages: modules.paint_averages()?,
        };
        Ok(Self { kernels, memory: Upload::new(context, USUAL_TABLE_BYTES)?, loaded: None })
    }

    /// Whether the tables of a painter are loaded.
    pub(crate) fn has(&self, painter: &Painter, limit: u32) -> bool {
        self.loaded.as_ref().is_some_and(|loaded| loaded.colours.are_of(painter, limit))
    }

    /// Copies a painter's tables to the device in a stream's order, unless they are there.
    pub(crate) fn load(&mut self, painter: &Painter, limit: u32, stream: &Stream) -> Result<(), Fault> {
        if self.has(painter, limit) {
            return Ok(());
        }
        self.loaded = None;
        let unpainted = || Fault::Lost("no kernel paints these colours".to_owned());
        let tables =
            painter.tables().map_err(|_| Fault::Memory)?.filter(|_| can_paint(painter)).ok_or_else(unpainted)?;
        let entry = |c: &[u16; 3]| u64::from(c[0]) | u64::from(c[1]) << 16 | u64::from(c[2]) << 32;
        let palette: Vec<u64> = tables.palette.iter().map(entry).collect();
        let bands: Vec<u16> = tables.bands.iter().map(|entry| u16::try_from(*entry).unwrap_or(0)).collect();
        let light = tables.light.as_flattened();
        let of_encoder = tables
            .encoder
            .as_ref()
            .map_or(0, |encoder| size_of_val(light) + size_of_val(encoder.midpoints) + size_of_val(encoder.start));
        let bytes = size_of_val(&palette[..]) + size_of_val(&bands[..]) + of_encoder;
        let mut loaded = LoadedTables {
            colours: Colours::of(painter, limit),
            kernel: match (tables.samples, tables.depth) {
                (1, Depth::Eight) => self.kernels.bytes,
                (1, Depth::Sixteen) => self.kernels.words,
                _ => self.kernels.averages,
            },
            needs_smooth: tables.by == By::Smooth,
            pixel_bytes: pixel_bytes(tables.depth),
            slope: tables.slope,
            start_position: tables.start,
            scale: scale_code(tables.scale).ok_or_else(unpainted)?,
            palette: Section::default(),
            bands: Section::default(),
            encoder: None,
            dither: tables.dither,
        };
        self.memory.fill(bytes + Upload::bytes_of::<u8>(0, 5), stream, |sections| {
            loaded.palette = section(sections, &palette);
            loaded.bands = section(sections, &bands);
            loaded.encoder = tables.encoder.as_ref().map(|encoder| Encoder {
                light: section(sections, light),
                midpoints: section(sections, encoder.midpoints),
                start: section(sections, encoder.start),
                shift: encoder.shift,
            });
        })?;
        self.loaded = Some(loaded);
        Ok(())
    }

    /// Samples along a side of a pixel; 1 where no tables are loaded.
    pub(crate) fn side(&self) -> u32 {
        self.loaded.as_ref().map_or(1, |loaded| loaded.colours.samples)
    }

    /// Bytes of the picture of so many samples; 0 where no tables are loaded.
    pub(crate) fn picture_bytes(&self, samples: usize) -> usize {
        self.loaded.as_ref().map_or(0, |loaded| loaded.picture_bytes(samples))
    }

    /// Queues the painting of a picture.
    pub(crate) fn paint(&self, stream: &Stream, blocks: u32, canvas: &Canvas<'_>) -> Result<(), Fault> {
        let Some(loaded) = &self.loaded else {
            return Err(Fault::Lost("no colours are loaded".to_owned()));
        };
        let [width, rows] = canvas.size;
        let samples = width as usize * rows as usize;
        let (dwell, from) = canvas.dwell;
        assert!(from + samples <= dwell.len() && loaded.picture_bytes(samples) <= canvas.picture.len(), "room");
        let smooth = canvas.smooth.filter(|_| loaded.needs_smooth);
        assert!(smooth.is_none_or(|values| samples <= values.len()), "a value for each sample");
        let encoder = loaded.encoder.as_ref();
        let limit = loaded.colours.limit;
        let task = PaintTask {
            dwell: dwell.at(from).read_only(),
            smooth: smooth.map_or(ConstAddress::NULL, |values| values.address().read_only()),
            picture: canvas.picture.address(),
            palette: self.table(loaded.palette),
            bands: if loaded.bands.len > 0 { self.table(loaded.bands) } else { ConstAddress::NULL },
            light: encoder.map_or(ConstAddress::NULL, |encoder| self.table(encoder.light)),
            midpoints: encoder.map_or(ConstAddress::NULL, |encoder| self.table(encoder.midpoints)),
            start: encoder.map_or(ConstAddress::NULL, |encoder| self.table(encoder.start)),
            totals: canvas.totals.view(0),
            slope: loaded.slope,
            start_position: loaded.start_position,
            limit_value: f64::from(limit),
            width,
            rows,
            samples: loaded.colours.samples,
            bytes: loaded.pixel_bytes,
            scale: loaded.scale,
            limit,
            entries: u32::try_from(loaded.palette.len - 1).unwrap_or(0),
            values: encoder.map_or(0, |encoder| u32::try_from(encoder.midpoints.len).unwrap_or(0)),
            shift: encoder.map_or(0, |encoder| encoder.shift),
            first_row: canvas.first_row,
            dither: loaded.dither.into(),
        };
        loaded.kernel.launch(stream, [blocks, 1], [BLOCK_THREADS, 1], (task,))
    }

    /// The address of a table.
    fn table<T>(&self, Section { at, len }: Section) -> ConstAddress<'_, T> {
        self.memory.values(at, len).read_only()
    }
}

impl LoadedTables {
    /// Bytes of the picture of so many samples.
    fn picture_bytes(&self, samples: usize) -> usize {
        let of_pixel = (self.colours.samples * self.colours.samples) as usize;
        samples / of_pixel * self.pixel_bytes as usize
    }
}

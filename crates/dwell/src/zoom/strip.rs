//! The exponential map of a zoom: a strip of samples from which frames are resampled.
//!
//! Frames are rectangles of one shape around one centre. The strip has a row for each of such rectangles, from the largest frame inwards,
//! each smaller by the same factor 2^(-1 / R), and a column for each of K points at even spacing along a rectangle. So a frame is a
//! window of the strip: zooming moves the window along the strip and computes nothing twice. Circles in place of rectangles would give the
//! usual exponential map, whose samples at the top and the bottom of a wide frame are as dense as at its corners; a rectangle needs as many
//! samples as its own edge has pixels.
//!
//! With a size of W x H pixels, K is the number of pixels along the edge, 2 (W + H), and R = ln 2 (W + H) / 4: on the average of the four
//! sides, rows are a pixel apart at the edge of a frame. A doubling of the zoom takes K R = 0.35 (W + H)^2 samples, 1.5 W H with 16:9,
//! however many frames it has. Further inwards samples are denser, and frames take the averages of blocks of them (`pyramid.rs`).
//!
//! A sample is a pixel of a grid [`FINER`] times finer than the frame whose edge is the first row of its block, so that each is proved at
//! any depth as pixels are. It is at most 1 / 32 of a pixel from the point of its row and column.

use crate::base::control::Control;
use crate::base::error::Error;
use crate::base::limits::{Limits, filled, resize};
use crate::base::pieces::ChunksMut;
use crate::base::schedule::Schedule;
use crate::colour::elementary::exp2;
use crate::colour::{Painter, Wide};
use crate::field::channels::{ChannelBuffers, ChannelSet};
use crate::iterate::cpu::CpuEngine;
use crate::iterate::engine::Engine;
use crate::iterate::lists;
use crate::plan::Plan;
use crate::scene::Scene;
use crate::view::Size;

/// Rows of a block, a power of two, so that all levels of its pyramid are whole.
pub(super) const BLOCK_ROWS: usize = 128;
/// Pixels of the grid of samples along a side of a pixel, at most.
const FINER: u32 = 16;
/// The most columns and rows of the grid: those of a list of points.
const MOST_SIDE: u32 = 1 << 15;
/// Samples that a thread computes at once.
const CHUNK: usize = 1 << 12;

/// What the memory is for, in messages.
pub(super) const WHAT: &str = "the exponential map";

/// The rows and columns of a strip for frames of one size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Geometry {
    pub(super) size: Size,
    /// Samples of a row, a multiple of [`BLOCK_ROWS`].
    pub(super) columns: usize,
    /// Rows of a doubling.
    pub(super) rows_per_octave: f64,
}

impl Geometry {
    pub(super) fn of(size: Size) -> Self {
        let [width, height] = [size.width, size.height].map(f64::from);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "four sides at most")]
        let edge = (2.0 * (width + height)) as usize;
        let columns = edge.next_multiple_of(BLOCK_ROWS);
        Self { size, columns, rows_per_octave: std::f64::consts::LN_2 * (width + height) / 4.0 }
    }

    /// Half the width and half the height of a frame, in pixels.
    fn half(self) -> [f64; 2] {
        [self.size.width, self.size.height].map(|side| f64::from(side) / 2.0)
    }

    /// The point of the edge of a frame at a column, in pixels to the right of the centre and up: from the middle of the right side
    /// counter-clockwise.
    fn edge(self, column: f64) -> [f64; 2] {
        let [half_width, half_height] = self.half();
        let [width, height] = [2.0 * half_width, 2.0 * half_height];
        let along = (column / self.columns as f64).rem_euclid(1.0) * 2.0 * (width + height);
        // From the lower right corner on.
        let along = (along + half_height) % (2.0 * (width + height));
        if along < height {
            [half_width, along - half_height]
        } else if along < height + width {
            [half_width - (along - height), half_height]
        } else if along < 2.0 * height + width {
            [-half_width, half_height - (along - height - width)]
        } else {
            [(along - 2.0 * height - width) - half_width, -half_height]
        }
    }

    /// The place of a point of a frame in the strip: its column, 0 to below the number of columns, and the share by which its rectangle is
    /// smaller than the frame, 0 to 1. The point is given in pixels to the right of the centre and up.
    pub(super) fn place(self, [right, up]: [f64; 2]) -> (f64, f64) {
        let [half_width, half_height] = self.half();
        let share = (right.abs() / half_width).max(up.abs() / half_height);
        if share == 0.0 {
            return (0.0, 0.0);
        }
        let [x, y] = [right / share, up / share];
        let [width, height] = [2.0 * half_width, 2.0 * half_height];
        // The distances from the sides decide on which of them the point is.
        let along = if half_width - x.abs() <= half_height - y.abs() {
            if x > 0.0 { y + half_height } else { height + width + (half_height - y) }
        } else if y > 0.0 {
            height + (half_width - x)
        } else {
            2.0 * height + width + (x + half_width)
        };
        let turns = ((along - half_height) / (2.0 * (width + height))).rem_euclid(1.0);
        (turns * self.columns as f64, share)
    }

    /// The size of the grid of samples.
    pub(super) fn finer_size(self) -> Size {
        let Size { width, height } = self.size;
        let finer = (MOST_SIDE / width.max(height)).clamp(1, FINER);
        Size { width: width * finer, height: height * finer }
    }

    /// Samples of a block.
    pub(super) fn samples(self) -> usize {
        self.columns * BLOCK_ROWS
    }

    /// The depth of the first row of a block, in doublings from the largest frame.
    pub(super) fn depth_of(self, block: usize) -> f64 {
        (block * BLOCK_ROWS) as f64 / self.rows_per_octave
    }
}

/// What samples are computed with.
#[derive(Clone, Copy)]
pub(super) struct Sampling<'a> {
    pub(super) painter: &'a Painter,
    pub(super) channels: ChannelSet,
    pub(super) engine: &'a dyn Engine,
    pub(super) limits: &'a Limits,
    pub(super) control: Control<'a>,
}

/// The buffers of a thread.
#[derive(Default)]
struct Buffers {
    places: Vec<(u32, u32)>,
    samples: ChannelBuffers,
}

impl Sampling<'_> {
    /// The colours of the samples of a block, row by row, and the warnings of the engine. `scene` is that of a frame whose edge is the first row, of the finer size.
    pub(super) fn block(&self, geometry: Geometry, scene: &Scene) -> Result<(Vec<Wide>, Vec<String>), Error> {
        let (Size { width, height }, size) = (geometry.size, geometry.finer_size());
        let plan = Plan::new(&scene.view, &scene.settings, self.limits)?;
        self.limits.reserve(WHAT, self.bytes(&plan, geometry))?;
        let mut colours = filled(geometry.samples(), Wide::default(), WHAT)?;
        let pool = self.engine.pool();
        let cpu = CpuEngine::beside(self.engine);
        let limits = [plan.limit(); 2];
        let place = |sample: usize| {
            let (row, column) = (sample / geometry.columns, sample % geometry.columns);
            let [x, y] = geometry.edge(column as f64 + 0.5);
            let share = exp2(-(row as f64 + 0.5) / geometry.rows_per_octave);
            let [across, down] = [x * share / f64::from(width) + 0.5, 0.5 - y * share / f64::from(height)];
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to below a side")]
            let pixel = |at: f64, side: u32| ((at * f64::from(side)) as u32).min(side - 1);
            (pixel(across, size.width), pixel(down, size.height))
        };
        if lists::at_once(self.engine, &plan, self.channels) > 0 {
            let mut places = filled(colours.len(), (0, 0), WHAT)?;
            pool.for_each_chunk(Schedule::default(), &mut places, CHUNK, |number, places| {
                places.iter_mut().enumerate().for_each(|(at, slot)| *slot = place(number * CHUNK + at));
                Ok::<(), Error>(())
            })?;
            let of = (&plan, plan.points());
            let (samples, notes) = lists::compute(self.engine, of, places, self.channels, &self.control)?;
            pool.for_each_chunk(Schedule::default(), &mut colours, CHUNK, |number, colours| {
                let from = number * CHUNK;
                self.painter.colour_samples(samples.slices().slice(from..from + colours.len()), colours);
                Ok::<(), Error>(())
            })?;
            return Ok((colours, notes.warnings));
        }
        let work = |buffers: &mut Buffers, (number, colours): (usize, &mut [Wide])| -> Result<(), Error> {
            self.control.cancel.check()?;
            let Buffers { places, samples } = buffers;
            resize(places, colours.len(), (0, 0), WHAT)?;
            places.iter_mut().enumerate().for_each(|(at, slot)| *slot = place(number * CHUNK + at));
            samples.resize(places.len(), self.channels)?;
            cpu.compute_scattered(plan.points(), limits, places, samples.slices_mut(), &self.control)?;
            self.painter.colour_samples(samples.slices(), colours);
            self.control.progress.add(colours.len() as u64);
            Ok(())
        };
        let chunks = ChunksMut::new(&mut colours, CHUNK);
        pool.for_each(Schedule::default(), chunks, || Ok(Buffers::default()), work)?;
        Ok((colours, Vec::new()))
    }

    /// Bytes of memory for samples, in lists or of threads, beside those of blocks.
    fn bytes(&self, plan: &Plan, geometry: Geometry) -> u64 {
        if lists::at_once(self.engine, plan, self.channels) > 0 {
            return lists::bytes(geometry.samples() as u64, self.channels);
        }
        let of_thread = CpuEngine::scattered_bytes(plan.points(), CHUNK, self.channels)
            + self.channels.bytes(CHUNK as u64)
            + (CHUNK * size_of::<(u32, u32)>()) as u64;
        self.engine.pool().threads() as u64 * of_thread
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_edges_are_inverse() {
        for (width, height) in [(640, 360), (360, 640), (64, 64), (101, 37)] {
            let geometry = Geometry::of(Size { width, height });
            for column in 0..geometry.columns {
                let [x, y] = geometry.edge(column as f64 + 0.5);
                for share in [1.0, 0.7, 0.01] {
                    let (place, found) = geometry.place([x * share, y * share]);
                    assert!((place - column as f64 - 0.5).abs() < 1e-6, "{width}x{height} {column}: {place}");
                    assert!((found - share).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn columns_are_a_pixel_apart() {
        let geometry = Geometry::of(Size { width: 640, height: 360 });
        let apart = |column: usize| {
            let [a, b] = [column, column + 1].map(|column| geometry.edge(column as f64));
            (a[0] - b[0]).abs() + (a[1] - b[1]).abs()
        };
        assert!((0..geometry.columns).all(|column| (0.9..1.001).contains(&apart(column))));
        assert!((geometry.rows_per_octave - 173.3).abs() < 0.1);
    }
}

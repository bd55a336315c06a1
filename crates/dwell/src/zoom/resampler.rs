//! Frames resampled from an exponential map.
//!
//! A pixel of a frame is the average of the light of about as many samples as there are in it: of the two levels of the pyramid between
//! which the density of samples lies, each by the four nearest averages. The inside of the smallest frame is resampled from that frame,
//! which is rendered as a picture alone, with its further samples at edges; the smallest frame is that picture itself.
//!
//! Blocks of the strip are computed when the first frame needs them and dropped when no later one does, so that the memory is that of a
//! frame's window: as many doublings as the shorter side of a frame has powers of two.

use super::course::Course;
use super::film::{Film, Means};
use super::findings::RESAMPLED;
use super::pyramid::{Light, Lights, Pyramid, between, mixed};
use super::strip::{BLOCK_ROWS, Geometry, Sampling, WHAT};
use crate::base::error::{Error, InputError};
use crate::base::limits::{Limits, filled, reserved, resize};
use crate::base::pieces::ChunksMut;
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::base::schedule::Schedule;
use crate::colour::elementary::{exp2, log2};
use crate::colour::{Depth, Painter, Samples, Wide, lights_of_values};
use crate::encode::png_bytes;
use crate::field::channels::{Channel, ChannelSet};
use crate::render::scratch::Scratch;
use crate::scene::Scene;
use crate::store::Output;
use crate::view::Size;
use std::collections::BTreeMap;
use std::io::Write;

/// Doublings inwards of a frame's edge beyond which nothing is resolved: the averages of the levels there are taken for the centre.
const INNERMOST: f64 = 0.5;

/// Where a pixel of every frame is in the strip.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// The column.
    column: f64,
    /// Doublings inwards of the edge of the frame.
    inwards: f64,
}

/// Resamples the frames of a film.
#[derive(Debug)]
pub struct Resampler {
    geometry: Geometry,
    channels: ChannelSet,
    painter: Painter,
    lights: Lights,
    places: Vec<Place>,
    blocks: BTreeMap<usize, Pyramid>,
    key: Option<Pyramid>,
}

impl Resampler {
    /// Checks that the frames of a film can be resampled.
    ///
    /// # Errors
    /// When colours depend on each frame: by the distance, on the scale `histogram`, or found for each frame.
    pub fn check(film: &Film) -> Result<(), InputError> {
        let colouring = film.scene(0).colouring;
        let by = if colouring.channels().includes(ChannelSet::NONE.with(Channel::Distance)) {
            "by the distance, which is a share of a frame's height"
        } else if colouring.needs_counts() {
            "on the scale histogram, which depends on all pixels of a frame"
        } else if film.finds_colours_of_frames() {
            "that are found for each frame"
        } else {
            return Ok(());
        };
        let problem = format!("frames cannot be resampled in colours {by}");
        let conflict = InputError::new(Problem::Conflict(problem)).about(Parameter::Named("method"));
        Err(conflict.accepts("direct for such colours"))
    }

    /// A resampler for the frames of a film, for which its colours and limits are found.
    ///
    /// # Errors
    /// As [`Self::check`]; when a frame's part of the map takes more memory than is allowed.
    pub fn new(film: &Film, limits: &Limits) -> Result<Self, InputError> {
        Self::check(film)?;
        let scene = film.scene(0);
        let channels = scene.colouring.channels();
        let geometry = Geometry::of(scene.view.size);
        let most_limit = (0..film.course().frames()).map(|frame| film.scene(frame).settings.limit).max();
        let limit = most_limit.unwrap_or(scene.settings.limit);
        let channels = channels.and(ChannelSet::of_dwells(limit));
        let painter = Painter::new(&scene.colouring, limit, scene.depth, Samples::Auto, scene.dither)?;
        let resampler = Self {
            geometry,
            channels,
            painter,
            lights: Lights::new(lights_of_values()?)?,
            places: places(geometry)?,
            blocks: BTreeMap::new(),
            key: None,
        };
        limits.reserve(WHAT, resampler.bytes())?;
        Ok(resampler)
    }

    /// Bytes of the blocks of a frame, its places, and the smallest frame.
    fn bytes(&self) -> u64 {
        let Size { width, height } = self.geometry.size;
        let pixels = width as usize * height as usize;
        let blocks = (self.window() * self.geometry.rows_per_octave / BLOCK_ROWS as f64).ceil() as u64 + 2;
        blocks * Pyramid::bytes(self.geometry.samples())
            + Pyramid::bytes(pixels)
            + (pixels * (size_of::<Place>() + 2 * size_of::<Wide>())) as u64
    }

    /// The doublings from the edge of a frame inwards that it shows.
    fn window(&self) -> f64 {
        let Size { width, height } = self.geometry.size;
        log2(f64::from(width.min(height))) - INNERMOST
    }

    /// The blocks that a frame shows, of those that are not inside the smallest one.
    fn needed(&self, course: &Course, frame: u32) -> std::ops::Range<usize> {
        let depth = course.depth(frame);
        let block = |depth: f64| (depth * self.geometry.rows_per_octave / BLOCK_ROWS as f64).max(0.0) as usize;
        // A sample between two rows takes both.
        let last = (depth + self.window()).min(course.octaves());
        block(depth - 1.0 / self.geometry.rows_per_octave)..block(last) + 1
    }

    /// The samples that a frame needs and the one that was made before it did not, as multiples of a frame's pixels; with the smallest
    /// frame where none was made before.
    #[must_use]
    pub fn new_samples(&self, film: &Film, before: Option<u32>, frame: u32) -> f64 {
        let needed = self.needed(film.course(), frame);
        let known = before.map_or(0..0, |before| self.needed(film.course(), before));
        let blocks = needed.filter(|block| !known.contains(block)).count();
        let of_key = if before.is_none() { 1.0 } else { 0.0 };
        (blocks * self.geometry.samples()) as f64 / self.geometry.size.pixels() as f64 + of_key
    }

    /// Resamples a frame into a PNG. The smallest frame is rendered first, and the blocks that the frame needs and no frame before needed.
    /// Frames are the same in any order; it takes the least time from one end to the other. Returns warnings, such as that a device failed, so that the processors continued.
    ///
    /// # Errors
    /// As [`Film::render`].
    pub fn frame(
        &mut self,
        film: &Film,
        frame: u32,
        means: &Means<'_>,
        mut output: Output,
        scratch: &mut Scratch,
    ) -> Result<Vec<String>, Error> {
        let course = film.course();
        let scene = film.scene(frame);
        let needed = self.needed(course, frame);
        let missing: Vec<usize> = needed.clone().filter(|block| !self.blocks.contains_key(block)).collect();
        let Size { width, height } = self.geometry.size;
        let pixels = u64::from(width) * u64::from(height);
        let of_key = if self.key.is_none() { pixels } else { 0 };
        let samples = (missing.len() * self.geometry.samples()) as u64;
        means.control.progress.start(pixels / 8 + samples + of_key, Vec::new());
        let mut warnings = Vec::new();
        if self.key.is_none() {
            warnings = self.render_key(film, means, scratch)?;
            means.control.progress.start(pixels / 8 + samples + of_key, Vec::new());
            means.control.progress.add(of_key);
        }
        self.blocks.retain(|block, _| needed.contains(block));
        for block in missing {
            let (colours, of_block) = self.block(film, block, means)?;
            warnings.extend(of_block);
            let pyramid = Pyramid::new(&colours, self.geometry.columns, &self.lights, BLOCK_ROWS.ilog2() as usize)?;
            self.blocks.insert(block, pyramid);
        }
        let picture = self.resampled(course, frame, scene.depth, means)?;
        let text = scene.text(&[RESAMPLED.to_owned()]);
        let bytes = png_bytes(&picture, self.geometry.size, scene.depth, &text, means.engine.pool());
        let bytes = bytes.map_err(|error| output.error(error))?;
        output.write_all(&bytes).map_err(|error| output.error(error))?;
        means.control.cancel.check()?;
        output.commit()?;
        Ok(warnings)
    }

    /// Renders the smallest frame. Returns its warnings.
    fn render_key(&mut self, film: &Film, means: &Means<'_>, scratch: &mut Scratch) -> Result<Vec<String>, Error> {
        let course = film.course();
        let last = course.frames() - 1;
        let deepest = if course.depth(0) > course.depth(last) { 0 } else { last };
        // In 16 bits and not dithered, as samples are.
        let scene = Scene { depth: Depth::Sixteen, ..film.scene(deepest) };
        let Means { engine, limits, control, .. } = means;
        let picture = scratch.picture(&scene, *engine, limits, control)?;
        let (bytes, warnings) = (picture.bytes(), picture.notes().warnings.clone());
        let mut colours = reserved(bytes.len() / 6, WHAT)?;
        let value = |pair: &[u8]| u16::from(pair[0]) << 8 | u16::from(pair[1]);
        colours.extend(bytes.chunks_exact(6).map(|p| [value(&p[..2]), value(&p[2..4]), value(&p[4..]), 0]));
        self.key = Some(Pyramid::new(&colours, self.geometry.size.width as usize, &self.lights, usize::MAX)?);
        Ok(warnings)
    }

    /// The samples of a block, and warnings.
    fn block(&self, film: &Film, block: usize, means: &Means<'_>) -> Result<(Vec<Wide>, Vec<String>), Error> {
        let depths = [block, block + 1].map(|block| self.geometry.depth_of(block));
        let scene = film.finer_scene(depths, self.geometry.finer_size());
        let sampling = Sampling {
            painter: &self.painter,
            channels: self.channels,
            engine: means.engine,
            limits: &means.limits,
            control: means.control,
        };
        sampling.block(self.geometry, &scene)
    }

    /// The bytes of a frame's pixels.
    fn resampled(&mut self, course: &Course, frame: u32, depth: Depth, means: &Means<'_>) -> Result<Vec<u8>, Error> {
        let width = self.geometry.size.width as usize;
        let line = width * self.painter.bytes_per_pixel();
        let mut picture = filled(line * self.geometry.size.height as usize, 0_u8, WHAT)?;
        let at = course.depth(frame);
        // How many pixels of the smallest frame a pixel of this one has along a side.
        let finer = exp2(course.octaves() - at);
        let work = |colours: &mut Vec<Wide>, (row, out): (usize, &mut [u8])| -> Result<(), Error> {
            resize(colours, width, Wide::default(), WHAT)?;
            for (column, colour) in colours.iter_mut().enumerate() {
                let light = self.light(row, column, at, finer);
                // Nearest: halves up.
                let sum = light.map(|light| (light + 0.5) as u32);
                *colour = self.painter.average(sum, 1);
            }
            self.painter.write(colours, row as u32, 0, out);
            means.control.progress.add(width as u64 / 8);
            Ok(())
        };
        debug_assert_eq!(self.painter.bytes_per_pixel(), depth.bytes_per_pixel());
        let lines = ChunksMut::new(&mut picture, line);
        means.engine.pool().for_each(Schedule::default(), lines, || Ok(Vec::new()), work)?;
        Ok(picture)
    }

    /// The light of a pixel of a frame at a depth.
    fn light(&self, row: usize, column: usize, depth: f64, finer: f64) -> Light {
        let Size { width, height } = self.geometry.size;
        // From the upper left corner of the smallest frame, in its pixels.
        let of_key = |at: usize, side: u32| {
            let half = f64::from(side) / 2.0;
            (at as f64 + 0.5 - half) * finer + half
        };
        let [x, y] = [of_key(column, width), of_key(row, height)];
        let is_inside = (0.0..=f64::from(width)).contains(&x) && (0.0..=f64::from(height)).contains(&y);
        match &self.key {
            Some(key) if is_inside => key.light([x, y], finer),
            _ => self.of_strip(self.places[row * width as usize + column], depth),
        }
    }

    /// The light of the strip at a place.
    fn of_strip(&self, place: Place, depth: f64) -> Light {
        let row = (depth + place.inwards) * self.geometry.rows_per_octave;
        let most = f64::from(BLOCK_ROWS.ilog2());
        let level = place.inwards.clamp(0.0, most);
        let (fine, share) = (level.floor(), level.fract());
        let at_level = |level: usize| {
            let unit = (1_usize << level) as f64;
            let [x, y] = [place.column / unit - 0.5, row / unit - 0.5];
            let (left, upper) = (x.floor(), y.floor());
            let columns = self.geometry.columns >> level;
            // The first column follows the last.
            let sample = |dx: f64, dy: f64| {
                let column = (left + dx).rem_euclid(columns as f64) as usize;
                self.sample(level, column, (upper + dy).max(0.0) as usize)
            };
            let corners = [[sample(0.0, 0.0), sample(1.0, 0.0)], [sample(0.0, 1.0), sample(1.0, 1.0)]];
            between(corners, [(x - left) as f32, (y - upper) as f32])
        };
        let finer = at_level(fine as usize);
        if share > 0.0 { mixed(finer, at_level(fine as usize + 1), share as f32) } else { finer }
    }

    /// An average of the strip, of the nearest block that is there.
    fn sample(&self, level: usize, column: usize, row: usize) -> Light {
        let rows = BLOCK_ROWS >> level;
        let (block, within) = (row / rows, row % rows);
        if let Some(pyramid) = self.blocks.get(&block) {
            return pyramid.at(level, column, within);
        }
        let below = self.blocks.range(..block).next_back().map(|(_, pyramid)| pyramid.at(level, column, rows - 1));
        let above = || self.blocks.range(block..).next().map(|(_, pyramid)| pyramid.at(level, column, 0));
        below.or_else(above).unwrap_or_default()
    }
}

/// The places of all pixels of a frame.
fn places(geometry: Geometry) -> Result<Vec<Place>, InputError> {
    let Size { width, height } = geometry.size;
    let mut places = reserved(width as usize * height as usize, WHAT)?;
    for row in 0..height {
        for column in 0..width {
            let right = f64::from(column) + 0.5 - f64::from(width) / 2.0;
            let up = f64::from(height) / 2.0 - f64::from(row) - 0.5;
            let (column, share) = geometry.place([right, up]);
            // The pixel in the middle of odd sides is taken a quarter of a pixel from the centre.
            let share = share.max(0.5 / f64::from(width.max(height)));
            places.push(Place { column, inwards: -log2(share) });
        }
    }
    Ok(places)
}

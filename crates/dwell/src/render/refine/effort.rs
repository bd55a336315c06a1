//! How many samples the pixels of a picture get at most: one effort for the whole picture, found from a few patches of the
//! view, so that refining takes a bounded multiple of the time of the picture with one sample a pixel.
//!
//! Noise, where neighbouring pixels have unrelated dwells, has the most pixels with contrast and the most expensive ones.
//! An error is least visible there, so its pixels get fewer samples first. The costs are counted in iterations of the
//! pixels of the patches, not in time, so that the effort is the same on every machine.

use crate::base::cancel::Cancel;
use crate::base::control::Control;
use crate::base::error::Error;
use crate::base::limits::{collected, filled, push};
use crate::base::progress::Progress;
use crate::colour::contrast::{Contrast, ContrastRow, contrasts};
use crate::colour::{Painter, Wide};
use crate::deep::points::DeepPoints;
use crate::field::Field;
use crate::field::channels::ChannelSet;
use crate::iterate::engine::{Engine, Notes, Task};
use crate::iterate::strategy::Strategy;
use crate::plan::Plan;
use crate::plan::points::{DirectPoints, PointsVisitor};
use crate::view::Size;
use crate::view::settings::NumberKind;
use dwell_kernels::{Kernels, cycle};

/// The most patches across and down, squares of neighbouring pixels; so many that a picture of 1920 x 1080 has them.
const MOST_PATCHES: [u32; 2] = [24, 16];
/// The fewest, and the pixels of a picture on a side for each patch: so many that the patches are little of the picture.
const FEWEST_PATCHES: u32 = 4;
const PIXELS_PER_PATCH: u32 = 67;
/// Pixels on a side of a patch. Those at its border are seen and not counted, since their neighbours are not computed. A
/// quarter as many patches with twice the side missed the lines of a Julia set, and its picture took 4.5 times the time.
const PATCH: u32 = 8;
/// The cost of a picture in sixteenths of that with one sample a pixel, up to which an effort is accepted.
const MOST_COST: u64 = 34;
/// The same where nearly every pixel has contrast. There one or two samples a pixel give a picture of grains, whatever the
/// palette, and four of them the structure behind.
const MOST_COST_IN_NOISE: u64 = 128;
const COST_UNIT: u64 = 16;
/// The pixels with contrast, in thousandths of the view, between which the accepted cost grows from one to the other. Of 28
/// built-in places, none has more than 683.
const CONTRAST_OF_NOISE: [u64; 2] = [690, 800];
/// What a pixel takes beside its iterations (colours, encoding, writing), and what another sample takes, in iterations; and
/// what an iteration of another sample takes, as thirds: scattered points fill vectors less well. Fitted to seven views on
/// one thread of an Intel Xeon with 512-bit vectors, where an iteration in f64 took 0.15 ns.
const OF_PIXEL: u64 = 190;
const OF_SAMPLE: u64 = 420;
const THIRDS: u64 = 4;
/// Of the pixels with contrast, so many in a thousand escape before half the limit of further samples.
const EARLY: usize = 995;
/// The least limit of further samples.
const LEAST_LIMIT: u64 = 256;
/// Points of the set whose iterations are found, of those at edges and of the others, and the most steps of each: the time
/// until a point is proved to be inside differs a thousandfold from view to view.
const MOST_SEARCHED: usize = 32;
const MOST_STEPS: u32 = 1 << 13;
/// What a pixel of a deep view takes, in the same units. Blocks make the costs of pixels nearly equal, whatever their dwells, and what differs
/// between machines, as the tiers that fit into the memory, must not show in a picture.
const OF_DEEP_PIXEL: u64 = 10_000;

/// What the memory is for, in messages.
const WHAT: &str = "the patches of the view";

/// What further samples of a picture may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effort {
    most: Most,
    /// The limit on the iterations of further samples, at most that of the picture: a sample that escapes later is coloured
    /// as one of the inside. Inside samples at the edge of the set, which are proved late, would take most of the time.
    pub(super) limit: u64,
}

/// The most samples of a pixel with each kind of contrast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Most {
    edge: u32,
    noise: u32,
}

/// The efforts, the greatest first.
const EFFORTS: [Most; 9] = [
    Most { edge: 16, noise: 16 },
    Most { edge: 16, noise: 8 },
    Most { edge: 8, noise: 8 },
    Most { edge: 8, noise: 4 },
    Most { edge: 4, noise: 4 },
    Most { edge: 4, noise: 2 },
    Most { edge: 2, noise: 2 },
    Most { edge: 2, noise: 1 },
    Most { edge: 1, noise: 1 },
];

impl Effort {
    /// The most samples of a pixel with this contrast.
    pub(super) fn most(self, contrast: Contrast) -> u32 {
        match contrast {
            Contrast::None => 0,
            Contrast::Edge => self.most.edge,
            Contrast::Noise => self.most.noise,
        }
    }

    /// The greatest effort for a view whose cost is accepted, or the least one; and what the engine reported.
    ///
    /// # Errors
    /// As [`Engine::run`].
    pub(super) fn find(
        painter: &Painter,
        plan: &Plan,
        channels: ChannelSet,
        engine: &dyn Engine,
        control: Control<'_>,
    ) -> Result<(Self, Notes), Error> {
        let patches = plan.thinned(patches_of(plan.size()), Size { width: PATCH, height: PATCH });
        let Size { width, height } = patches.size();
        let mut field = Field::default();
        field.prepare(width, 0..height, channels)?;
        let task = Task { plan: &patches, strategy: Strategy::EveryPixel, channels };
        let progress = Progress::default();
        let outcome = engine.run(&task, field.all_rows_mut(), &Control { progress: &progress, ..control })?;
        let (costs, limit) = Costs::of(painter, &field, &patches, control.cancel)?;
        let accepted = EFFORTS.into_iter().find(|most| costs.accept(*most));
        let effort = Self { most: accepted.unwrap_or(EFFORTS[EFFORTS.len() - 1]), limit };
        Ok((effort, outcome.notes.beside_pixels()))
    }

    /// Bytes of memory that [`Self::find`] takes.
    pub(super) fn bytes(channels: ChannelSet) -> u64 {
        let [across, down] = MOST_PATCHES.map(|patches| u64::from(patches * PATCH));
        let pixels = across * down;
        channels.bytes(pixels) + pixels * (size_of::<Wide>() as u64 + ContrastRow::bytes(1))
    }
}

/// The pixels of the patches of a picture, across and down.
fn patches_of(size: Size) -> Size {
    let side = |length: u32, most: u32| (length / PIXELS_PER_PATCH).clamp(FEWEST_PATCHES, most) * PATCH;
    Size { width: side(size.width, MOST_PATCHES[0]), height: side(size.height, MOST_PATCHES[1]) }
}

/// The costs of some pixels, in iterations.
#[derive(Clone, Copy, Debug, Default)]
struct Costs {
    /// The pixels, and those with contrast.
    pixels: u64,
    with_contrast: u64,
    /// With one sample each.
    alone: u64,
    /// Of one more sample for each pixel at an edge, and in noise.
    of_edges: u64,
    of_noise: u64,
}

impl Costs {
    /// The costs of the inner pixels of patches, and the limit of further samples.
    fn of(painter: &Painter, field: &Field, patches: &Plan, cancel: &Cancel) -> Result<(Self, u64), Error> {
        let (width, rows) = (field.width() as usize, field.all_rows().channels());
        let mut colours = filled(width, Wide::default(), WHAT)?;
        let mut prepared = filled(field.rows().len(), ContrastRow::default(), WHAT)?;
        for (row, prepared) in prepared.iter_mut().enumerate() {
            painter.colour_samples(rows.slice(row * width..(row + 1) * width), &mut colours);
            prepared.take(&colours)?;
        }
        let (mut costs, mut curved, mut found) = (Self::default(), Vec::new(), filled(width, Contrast::None, WHAT)?);
        let (mut stays, mut seen) = ([Vec::new(), Vec::new()], Vec::new());
        let is_deep = patches.number() == NumberKind::Exact;
        let is_inner = |at: usize| (1..PATCH as usize - 1).contains(&(at % PATCH as usize));
        for (row, window) in prepared.windows(3).enumerate().filter(|(row, _)| is_inner(row + 1)) {
            contrasts([&window[0], &window[1], &window[2]], &mut curved, &mut found)?;
            let dwells = rows.slice((row + 1) * width..(row + 2) * width).dwells();
            for (column, (contrast, dwell)) in
                found.iter().zip(dwells).enumerate().filter(|(column, _)| is_inner(*column))
            {
                costs.add(*contrast, 1, if is_deep { OF_DEEP_PIXEL } else { dwell });
                if *contrast != Contrast::None {
                    push(&mut seen, dwell, WHAT)?;
                }
                if dwell == 0 && !is_deep {
                    let stays = &mut stays[usize::from(*contrast != Contrast::None)];
                    push(stays, (column as u32, row as u32 + 1, *contrast), WHAT)?;
                }
            }
        }
        seen.retain(|dwell| *dwell > 0);
        seen.sort_unstable();
        let latest = seen.get(seen.len() * EARLY / 1000).copied().unwrap_or(patches.limit());
        // At depth blocks take a sample to its escape, whenever that is.
        let limit =
            if is_deep { patches.limit() } else { latest.saturating_mul(2).max(LEAST_LIMIT).min(patches.limit()) };
        for stays in &stays {
            let every = stays.len().div_ceil(MOST_SEARCHED).max(1);
            let searched = collected(stays.iter().step_by(every).copied(), WHAT)?;
            let steps = patches.points().visit(Steps { limit, searched: &searched, cancel });
            let steps = steps.ok_or_else(|| patches.points().unsupported_by("the processors"))??;
            let each = steps.div_ceil(searched.len().max(1) as u64);
            stays.iter().for_each(|(_, _, contrast)| costs.add(*contrast, 0, each));
        }
        Ok((costs, limit))
    }

    /// Adds `pixels` pixels of that contrast, and iterations of them.
    fn add(&mut self, contrast: Contrast, pixels: u64, iterations: u64) {
        self.pixels += pixels;
        self.with_contrast += if contrast == Contrast::None { 0 } else { pixels };
        self.alone += pixels * OF_PIXEL + iterations;
        let more = pixels * OF_SAMPLE + iterations * THIRDS / 3;
        match contrast {
            Contrast::None => {}
            Contrast::Edge => self.of_edges += more,
            Contrast::Noise => self.of_noise += more,
        }
    }

    /// Whether the pixels with that many more samples cost little enough.
    fn accept(self, most: Most) -> bool {
        // About a quarter of the pixels at edges need no more than the first samples.
        let at_edges = most.edge - most.edge.saturating_sub(super::batch::FIRST) / 4;
        let more = u64::from(at_edges) * self.of_edges + u64::from(most.noise) * self.of_noise;
        (self.alone + more) * COST_UNIT <= self.alone * self.most_cost()
    }

    /// The accepted cost, in sixteenths of that with one sample a pixel.
    fn most_cost(self) -> u64 {
        let [from, to] = CONTRAST_OF_NOISE;
        let share = (self.with_contrast * 1000 / self.pixels.max(1)).clamp(from, to);
        MOST_COST + (MOST_COST_IN_NOISE - MOST_COST) * (share - from) / (to - from)
    }
}

/// Sums the steps after which points, given by column and row, are proved to be inside, one point at a time, so that the sum
/// is the same on every machine and with every choice of shortcuts.
struct Steps<'a> {
    limit: u64,
    searched: &'a [(u32, u32, Contrast)],
    cancel: &'a Cancel,
}

impl PointsVisitor for Steps<'_> {
    type Output = Result<u64, Error>;

    fn direct<N: Kernels>(self, points: &DirectPoints<N>) -> Result<u64, Error> {
        let [columns, _, rows, _] = points.axes.arrays().map(|axis| axis.len() as u32);
        let grid = points.axes.grid(0..columns, 0..rows);
        let most = u32::try_from(self.limit).unwrap_or(u32::MAX).min(MOST_STEPS);
        let mut sum = 0;
        for (column, row, _) in self.searched {
            self.cancel.check()?;
            let pixel = grid.point(*column as usize, *row as usize);
            let proved = cycle::proved_after(&points.map, pixel, most, self.cancel.flag());
            sum += u64::from(proved.unwrap_or(most));
        }
        Ok(sum)
    }

    fn deep(self, _: &DeepPoints) -> Option<Result<u64, Error>> {
        // Each pixel has its cost already.
        Some(Ok(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_effort_falls_as_more_pixels_have_contrast() {
        let accepted = |of_edges, of_noise| {
            let costs = Costs { alone: 1000, of_edges, of_noise, ..Costs::default() };
            EFFORTS.into_iter().position(|most| costs.accept(most))
        };
        assert_eq!(accepted(0, 0), Some(0));
        assert_eq!(accepted(50, 29), Some(0), "13 x 50 + 16 x 29 <= 1125");
        assert_eq!(accepted(50, 58), Some(1), "13 x 50 + 8 x 58 <= 1125");
        assert_eq!(accepted(90, 60), Some(2));
        assert_eq!(accepted(90, 120), Some(3));
        assert_eq!(accepted(140, 140), Some(4));
        assert_eq!(accepted(180, 190), Some(5));
        assert_eq!(accepted(280, 280), Some(6));
        assert_eq!(accepted(280, 560), Some(7));
        assert_eq!(accepted(500, 500), Some(8));
        assert_eq!(accepted(700, 700), None);
    }

    #[test]
    fn more_is_accepted_where_nearly_every_pixel_has_contrast() {
        let accepted = |with_contrast| {
            // Each pixel has a cost of 1000 for one sample, and of 1500 for another.
            let costs =
                Costs { pixels: 1000, with_contrast, alone: 1_000_000, of_edges: 0, of_noise: 1500 * with_contrast };
            (costs.most_cost(), EFFORTS.into_iter().find(|most| costs.accept(*most)).map(|most| most.noise))
        };
        assert_eq!(accepted(0), (34, Some(16)));
        assert_eq!(accepted(700), (42, Some(1)));
        assert_eq!(accepted(745), (81, Some(2)));
        assert_eq!(accepted(1000), (128, Some(4)));
    }
}

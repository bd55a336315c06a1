//! Decides lists of pixels: by each tier those that the one before left undecided.

use super::points::DeepPoints;
use super::prepared::{Means, Prepared, in_limbs};
use super::report::{DeepReport, Tier, TierReport};
use super::values::Out;
use crate::base::control::Control;
use crate::base::error::{Error, InputError};
use crate::base::limits::{extend, resize};
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::field::channels::ChannelSlicesMut;
use crate::truth::exact_points::Enclosed;
use crate::truth::{Truth, Wanted, dwell_and_values};
use dwell_kernels::Level;
use dwell_kernels::deep::blocks::Table;
use dwell_kernels::deep::direct;
use dwell_kernels::deep::mantissa::{Complex, Dd, Mantissa};
use dwell_kernels::deep::orbit::{Found, Setting};
use std::time::Instant;

/// What the memory is for, in messages.
const WHAT: &str = "a list of pixels";
/// Bits of the first attempt in arbitrary precision beyond those of the view.
const MORE_BITS: i64 = 128;
/// Bits of the attempts in fixed point beyond those of the view: an error of one unit may grow so much more than the size of a pixel's delta.
const FIXED_BITS: [i64; 2] = [130, 400];
/// The error of a pixel in fixed point, in units: 4 for each part of its enclosure.
const FIXED_ERROR: f64 = 6.0;
/// The tiers for dwells alone, and for other values, which need to be known closer to be decided: by measurement, the fastest; and fewer of them, for references
/// of which not all blocks fit into the memory.
const OF_DWELLS: [&[usize]; 3] = [&[0, 2, 3, 4], &[0, 2, 4], &[0, 4]];
const OF_VALUES: [&[usize]; 3] = [&[1, 2, 3, 4], &[1, 2, 4], &[1, 4]];

/// The buffers of a thread.
#[derive(Debug, Default)]
pub(crate) struct DeepBuffers {
    /// Numbers of the pixels that are not decided.
    open: Vec<u32>,
    in_f64: Vec<Complex<f64>>,
    in_pairs: Vec<Complex<Dd>>,
    found: Vec<Found>,
    tiers: Vec<TierReport>,
    /// Pixels whose dwell is taken without a proof.
    unproved: u64,
}

/// A call for some pixels of a view.
#[derive(Clone, Copy)]
pub(crate) struct DeepCall<'a> {
    pub(crate) points: &'a DeepPoints,
    pub(crate) limit: u64,
    pub(crate) level: Level,
    /// The threads that compute blocks while others wait for them.
    pub(crate) threads: usize,
    pub(crate) control: Control<'a>,
}

impl DeepBuffers {
    /// Bytes of the buffers for lists of so many pixels.
    pub(crate) fn bytes(pixels: usize) -> usize {
        let each = size_of::<u32>() + size_of::<Complex<f64>>() + size_of::<Complex<Dd>>() + size_of::<Found>();
        2 * pixels * each + dwell_kernels::deep::BYTES_OF_CALL
    }

    /// What the tiers did since the last call of this function.
    pub(crate) fn take_report(&mut self, points: &DeepPoints) -> Option<DeepReport> {
        let prepared = points.shared.already_prepared();
        let tiers = std::mem::take(&mut self.tiers);
        let mut report = prepared.map_or_else(DeepReport::without_reference, |prepared| prepared.report());
        report.tiers = tiers;
        report.unproved = std::mem::take(&mut self.unproved);
        (!report.tiers.is_empty()).then_some(report)
    }
}

impl DeepCall<'_> {
    /// Computes the dwells of pixels, given by columns and rows, and those of [`CHANNELS`](super::values::CHANNELS) that `out` has.
    ///
    /// # Errors
    /// [`Error::Interrupted`] after the call was cancelled; [`Error::Input`] when memory is exhausted.
    pub(crate) fn compute(
        &self,
        buffers: &mut DeepBuffers,
        places: &[(u32, u32)],
        out: ChannelSlicesMut<'_>,
    ) -> Result<(), Error> {
        self.control.cancel.check()?;
        buffers.open.clear();
        extend(&mut buffers.open, by_neighbours(places), WHAT)?;
        let mut out = Out::new(out);
        if let Some(prepared) = self.points.shared.prepared(self.limit, self.means())? {
            self.compute_by_deltas(&prepared, buffers, places, &mut out)?;
        }
        self.compute_exactly(buffers, places, &mut out)
    }

    fn means(&self) -> Means<'_> {
        Means { level: self.level, threads: self.threads, control: self.control }
    }

    fn compute_by_deltas(
        &self,
        prepared: &Prepared,
        buffers: &mut DeepBuffers,
        places: &[(u32, u32)],
        out: &mut Out<'_>,
    ) -> Result<(), Error> {
        let lists = if out.is_dwells_alone() { &OF_DWELLS } else { &OF_VALUES };
        let pixels = self.points.columns().len() as u64 * self.points.rows().len() as u64;
        let mut before = None;
        for tier in prepared.fitting(lists, &self.points.shared).iter().copied() {
            if buffers.open.is_empty() {
                return Ok(());
            }
            if before.is_some_and(|before| !prepared.pays(tier, before, pixels)) {
                continue;
            }
            before = Some(tier);
            if tier < Tier::IN_F64 {
                let table = prepared.in_f64(tier, &self.points.shared, self.means())?;
                let mut pixels = std::mem::take(&mut buffers.in_f64);
                self.tier(tier, prepared, &table, &mut pixels, buffers, places, out)?;
                buffers.in_f64 = pixels;
            } else {
                let table = prepared.in_pairs(tier, &self.points.shared, self.means())?;
                let mut pixels = std::mem::take(&mut buffers.in_pairs);
                self.tier(tier, prepared, &table, &mut pixels, buffers, places, out)?;
                buffers.in_pairs = pixels;
            }
        }
        self.compute_in_fixed_point(buffers, places, out)
    }

    /// Iterates what is left in fixed point.
    fn compute_in_fixed_point(
        &self,
        buffers: &mut DeepBuffers,
        places: &[(u32, u32)],
        out: &mut Out<'_>,
    ) -> Result<(), Error> {
        for more_bits in FIXED_BITS {
            self.attempt_in_fixed_point(more_bits, buffers, places, out)?;
        }
        Ok(())
    }

    fn attempt_in_fixed_point(
        &self,
        more_bits: i64,
        buffers: &mut DeepBuffers,
        places: &[(u32, u32)],
        out: &mut Out<'_>,
    ) -> Result<(), Error> {
        let DeepBuffers { open, found, tiers, .. } = buffers;
        if open.is_empty() {
            return Ok(());
        }
        let began = Instant::now();
        let shared = &self.points.shared;
        let bits = usize::try_from((more_bits - shared.scale()).max(more_bits)).unwrap_or(usize::MAX);
        let limbs = 1 + bits.div_ceil(64);
        resize(found, open.len(), Found::Undecided, WHAT)?;
        let goal = direct::Goal {
            limbs,
            error: FIXED_ERROR,
            escape: shared.escape(),
            limit: self.limit,
            smooth: out.smooth,
            units: out.slopes.then(|| (*self.points.units(), shared.unit())),
            stop: self.control.cancel.flag(),
        };
        let mut point = |place: usize| {
            let (column, row) = places[open[place] as usize];
            let (points, [right, up]) = self.points.exact(column, row);
            let enclosed = points.at_half_pixels(right, up).enclose(64 * (limbs - 1));
            enclosed.map(|(low, _)| in_limbs(&low, limbs))
        };
        direct::follow(self.level, &goal, &mut point, found);
        self.control.cancel.check()?;
        let samples = open.len();
        out.take(open, found);
        let decided = (samples - open.len()) as u64;
        let seconds = began.elapsed().as_secs_f64();
        let tier = Tier::FixedPoint;
        add(tiers, TierReport { tier, samples: samples as u64, decided, seconds, steps: 0, blocks: 0 });
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one tier")]
    fn tier<T: Mantissa>(
        &self,
        number: usize,
        prepared: &Prepared,
        table: &Table<T>,
        pixels: &mut Vec<Complex<T>>,
        buffers: &mut DeepBuffers,
        places: &[(u32, u32)],
        out: &mut Out<'_>,
    ) -> Result<(), Error> {
        let began = Instant::now();
        let DeepBuffers { open, found, tiers, .. } = buffers;
        let shared = &self.points.shared;
        pixels.clear();
        let offset = |pixel: &u32| {
            let (column, row) = places[*pixel as usize];
            Complex::of(self.points.offset(column, row))
        };
        extend(pixels, open.iter().map(offset), WHAT)?;
        resize(found, open.len(), Found::Undecided, WHAT)?;
        let setting = Setting {
            reference: &prepared.reference,
            scale: shared.unit(),
            escape_radius: shared.escape_radius(),
            escape: shared.escape(),
            limit: self.limit,
            smooth: out.smooth,
            units: out.slopes.then(|| *self.points.units()),
            stop: self.control.cancel.flag(),
        };
        let counts = dwell_kernels::deep::decide(self.level, &setting, table, pixels, found);
        self.control.cancel.check()?;
        let samples = open.len();
        out.take(open, found);
        let report = TierReport {
            tier: Tier::ALL[number],
            samples: samples as u64,
            decided: (samples - open.len()) as u64,
            seconds: began.elapsed().as_secs_f64(),
            steps: counts.steps + counts.wide,
            blocks: counts.blocks,
        };
        prepared.measured.add(number, &report);
        add(tiers, report);
        Ok(())
    }

    /// Decides what is left in arbitrary precision.
    fn compute_exactly(
        &self,
        buffers: &mut DeepBuffers,
        places: &[(u32, u32)],
        out: &mut Out<'_>,
    ) -> Result<(), Error> {
        let DeepBuffers { open, tiers, unproved, .. } = buffers;
        if open.is_empty() {
            return Ok(());
        }
        let began = Instant::now();
        let shared = &self.points.shared;
        let bits = usize::try_from((MORE_BITS - shared.scale()).max(2 * MORE_BITS)).unwrap_or(usize::MAX);
        let units = out.slopes.then(|| (self.points.units(), shared.scale()));
        let wanted = Wanted { smooth: out.smooth, units };
        for pixel in &*open {
            let (column, row) = places[*pixel as usize];
            let (points, [right, up]) = self.points.exact(column, row);
            let point = points.at_half_pixels(right, up);
            let found = dwell_and_values(&point, self.limit, shared.radius(), bits, wanted, self.control.cancel)?;
            *unproved += u64::from(!found.is_proved);
            match found.truth {
                Truth::Dwell(n) => out.set(*pixel, n, found.values),
                Truth::Undecided { n } => return Err(undecided(column, row, n)),
            }
        }
        let samples = open.len() as u64;
        let seconds = began.elapsed().as_secs_f64();
        let tier = Tier::ArbitraryPrecision;
        add(tiers, TierReport { tier, samples, decided: samples, seconds, steps: 0, blocks: 0 });
        open.clear();
        Ok(())
    }
}

/// The numbers of all places so that neighbours follow one another, whose orbits do the same for long: where rows of the same length follow one another, four
/// of one and four of the next.
fn by_neighbours(places: &[(u32, u32)]) -> impl Iterator<Item = u32> {
    let count = places.len() as u32;
    let is_of_first = |place: &&(u32, u32)| places.first().is_some_and(|first| first.1 == place.1);
    let width = places.iter().take_while(is_of_first).count().max(1) as u32;
    let rows = count.div_ceil(width);
    (0..rows).step_by(2).flat_map(move |row| {
        (0..width).step_by(4).flat_map(move |column| {
            let of_row = move |row: u32| row * width + column..(row * width + (column + 4).min(width)).min(count);
            (row..(row + 2).min(rows)).flat_map(of_row)
        })
    })
}

/// The error of a pixel of which no bits decide a value.
fn undecided(column: u32, row: u32, n: u64) -> Error {
    let problem = format!("the values at |z_{n}| > R are not decided at column {column}, row {row}");
    InputError::new(Problem::Unsupported(problem)).about(Parameter::View).into()
}

fn add(tiers: &mut Vec<TierReport>, of_tier: TierReport) {
    match tiers.iter_mut().find(|own| own.tier == of_tier.tier) {
        Some(own) => own.add(&of_tier),
        None => {
            let mut own = TierReport::new(of_tier.tier);
            own.add(&of_tier);
            tiers.push(own);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::values::CHANNELS;
    use super::*;
    use crate::base::cancel::Cancel;
    use crate::base::limits::Limits;
    use crate::base::progress::Progress;
    use crate::field::channels::ChannelBuffers;
    use crate::view::settings::{NumberKind, Settings};
    use crate::view::{Size, View};

    /// All values of all pixels of a view, by all tiers or by the last one alone.
    fn computed(points: &DeepPoints, size: Size, limit: u64, last_alone: bool) -> ChannelBuffers {
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let call = DeepCall {
            points,
            limit,
            level: Level::best(),
            threads: 2,
            control: Control { cancel: &cancel, progress: &progress },
        };
        let places: Vec<_> =
            (0..size.height).flat_map(|row| (0..size.width).map(move |column| (column, row))).collect();
        let mut found = ChannelBuffers::default();
        found.resize(places.len(), CHANNELS).unwrap();
        let mut buffers = DeepBuffers::default();
        if last_alone {
            buffers.open.extend(0..places.len() as u32);
            call.compute_exactly(&mut buffers, &places, &mut Out::new(found.slices_mut())).unwrap();
        } else {
            call.compute(&mut buffers, &places, found.slices_mut()).unwrap();
        }
        found
    }

    #[test]
    fn all_places_are_there_once_with_neighbours_together() {
        for (width, height, missing) in [(1, 1, 0), (7, 5, 0), (8, 4, 3), (64, 3, 1), (5, 1, 0), (1, 9, 2)] {
            let mut places: Vec<_> =
                (0..height).flat_map(|row| (10..10 + width).map(move |column| (column, row))).collect();
            places.truncate(places.len() - missing);
            let mut numbers: Vec<u32> = by_neighbours(&places).collect();
            if (width, height) == (8, 4) {
                assert_eq!(numbers[..10], [0, 1, 2, 3, 8, 9, 10, 11, 4, 5]);
            }
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..places.len() as u32), "{width}x{height}");
        }
        assert_eq!(by_neighbours(&[]).count(), 0);
    }

    #[test]
    fn all_tiers_give_the_values_of_the_last() {
        let size = Size { width: 14, height: 10 };
        // A seahorse, an elephant, a spike that is real, a view from far away, and one of the whole set.
        for (re, im, zoom, rotation, limit) in [
            ("-0.74364388703715870475219150611477", "0.13182590420531197049313205638514", "1e13", "0", 5000),
            ("-0.74364388703715870475219150611477", "0.13182590420531197049313205638514", "3e27", "30", 5000),
            ("0.28693186889504513", "0.014286693904085048", "1e9", "-7.5", 3000),
            ("-1.76877883727888640", "0", "1e22", "0", 900),
            ("0", "0", "1e-5", "0", 50),
            ("-0.5", "0", "0.7", "90", 300),
            ("3e9", "1e9", "1e3", "0", 50),
            ("-0.75", "0.0000000001", "1e11", "0", 400),
        ] {
            let mut view = View::centred(re, im, zoom).unwrap().sized(size);
            view.rotation = rotation.parse().unwrap();
            let settings = Settings { number: NumberKind::Exact, ..Settings::default() };
            let points = DeepPoints::new(&view, &settings, &Limits::default()).unwrap();
            let (all, last) = (computed(&points, size, limit, false), computed(&points, size, limit, true));
            assert_eq!(all.dwell, last.dwell, "{re} {im} {zoom}");
            for channel in CHANNELS.iter() {
                assert_eq!(all[channel], last[channel], "{} of {re} {im} {zoom}", channel.name());
            }
        }
    }

    #[test]
    fn fewer_tiers_give_the_same_where_memory_is_short() {
        let (re, im) = ("-0.74364388703715870475219150611477", "0.13182590420531197049313205638514");
        let size = Size { width: 14, height: 10 };
        let view = View::centred(re, im, "3e27").unwrap().sized(size);
        let settings = Settings { number: NumberKind::Exact, ..Settings::default() };
        let (mut lengths, mut first) = (Vec::new(), None);
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let control = Control { cancel: &cancel, progress: &progress };
        let means = Means { level: Level::best(), threads: 2, control };
        for kibibytes in (256..8192).step_by(128) {
            let limits = Limits { memory_bytes: kibibytes << 10 };
            let points = DeepPoints::new(&view, &settings, &limits).unwrap();
            let Ok(Some(prepared)) = points.shared.prepared(5000, means) else { continue };
            let fitting = prepared.fitting(&OF_DWELLS, &points.shared);
            if OF_DWELLS.last() == Some(&fitting) {
                // Even these may not fit.
                continue;
            }
            lengths.push(fitting.len());
            let found = computed(&points, size, 5000, false).dwell;
            assert_eq!(*first.get_or_insert_with(|| found.clone()), found, "{kibibytes} KiB");
        }
        lengths.dedup();
        assert_eq!(lengths, [3, 4]);
    }
}

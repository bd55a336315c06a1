//! Runs of 2^6 steps from m = 1 + 2^6 k on, several side by side in vectors: 63 of 64 blocks are merged so.

mod entries;
mod row;

use super::TableSetting;
use super::merge::Block;
use super::path::{Piece, is_piece};
use super::segments::Segment;
use crate::deep::lanes::{LANES, Reals};
use crate::deep::mantissa::{Complex, Dd, Mantissa, Pair};
use crate::deep::reference::Reference;
use crate::vector::bits;
use entries::Entries;
use fearless_simd::Simd;
use row::{Common, Row};

/// The level of the block of a run.
pub(super) const LEVEL: u32 = 6;
/// The steps of a run.
pub(super) const STEPS: usize = 1 << LEVEL;

/// Some blocks of a run are outside of the range of f64: it has to be computed with exponents.
#[derive(Clone, Copy)]
pub(super) struct OutOfRange;

/// Runs that follow one another, at most as many as a vector has lanes.
pub(super) struct Runs {
    common: Common,
    first: usize,
    count: usize,
    least_level: u32,
    /// A bit for each run with a block that is outside of the range of f64.
    outside: u64,
    /// The pieces of the path, and which run they are of.
    pieces: Vec<(usize, Piece)>,
}

impl Runs {
    /// So many runs from m = `first` on, of which blocks of at least the least level are pieces of a path.
    pub(super) fn new(setting: &TableSetting<'_>, (first, count): (usize, usize), least_level: u32) -> Self {
        let common = Common::new(setting.scale, setting.tolerance, setting.escape_radius);
        Self { common, first, count, least_level, outside: 0, pieces: Vec::new() }
    }

    /// Where a run begins.
    fn begin(&self, run: usize) -> usize {
        self.first + run * STEPS
    }

    fn is_in_range(&self, run: usize) -> bool {
        self.outside >> run & 1 == 0
    }

    /// Computes the blocks and keeps them. Of each run, the block of all of its steps, if there is one.
    #[inline(always)]
    pub(super) fn compute<T: Mantissa, S: Simd>(
        &mut self,
        simd: S,
        reference: &Reference,
        segment: &mut Segment<'_, T>,
    ) -> [Result<Option<Block>, OutOfRange>; LANES] {
        // The blocks that wait for their right neighbours, by their levels.
        let mut waiting: [Option<Row<S>>; LEVEL as usize] = [None; LEVEL as usize];
        let mut end = 0;
        let whole = loop {
            let z = [self.values(simd, reference, end), self.values(simd, reference, end + 1)];
            end += 2;
            let mut level = 1;
            let mut row = Row::two_steps(simd, z, &self.common);
            loop {
                self.keep(simd, segment, &row, (level, end));
                let Some(left) = waiting.get_mut(level as usize).and_then(Option::take) else { break };
                row = left.then(simd, &row, &self.common);
                level += 1;
            }
            match waiting.get_mut(level as usize) {
                Some(place) => *place = Some(row),
                None => break row.blocks(&self.common),
            }
        };
        std::array::from_fn(|run| {
            if run >= self.count || !self.is_in_range(run) {
                return Err(OutOfRange);
            }
            let block = whole.of(run);
            let kept = segment.keep_run(self.begin(run), block.as_ref());
            kept.map(|()| block).ok_or(OutOfRange)
        })
    }

    /// The pieces of the path that runs in the range of f64 have.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Piece> {
        self.pieces.iter().filter(|(run, _)| self.is_in_range(*run)).map(|(_, piece)| *piece)
    }

    /// Z at so many steps from where runs begin.
    #[inline(always)]
    fn values<S: Simd>(&self, simd: S, reference: &Reference, step: usize) -> Complex<Pair<Reals<S>>> {
        let z: [Complex<Dd>; LANES] = std::array::from_fn(
            #[inline(always)]
            |lane| reference.at(self.begin(lane.min(self.count - 1)) + step),
        );
        let all = |of: &dyn Fn(&Complex<Dd>) -> f64| z.each_ref().map(of);
        let pair = |hi: [f64; LANES], lo: [f64; LANES]| Pair { hi: Reals::load(simd, &hi), lo: Reals::load(simd, &lo) };
        Complex { re: pair(all(&|z| z.re.hi), all(&|z| z.re.lo)), im: pair(all(&|z| z.im.hi), all(&|z| z.im.lo)) }
    }

    /// Keeps the blocks of a level whose last step is the one before `end`.
    #[inline(always)]
    fn keep<T: Mantissa, S: Simd>(
        &mut self,
        simd: S,
        segment: &mut Segment<'_, T>,
        row: &Row<S>,
        (level, end): (u32, usize),
    ) {
        self.outside |= bits::<S, _>(row.out_of_range(simd));
        if level < segment.first_level {
            return;
        }
        let entries = Entries::new::<T, S>(simd, row, &self.common, 1 << level);
        for run in 0..self.count {
            let radius = entries.radius[run];
            if radius == 0.0 || !self.is_in_range(run) {
                continue;
            }
            let begin = self.begin(run) + end - (1 << level);
            segment.keep_narrow(begin, (level - segment.first_level) as usize, radius, |lines| {
                entries.write::<T>(run, lines)
            });
            if is_piece(begin, level, self.least_level)
                && let Some(block) = row.blocks(&self.common).of(run)
            {
                self.pieces.push((run, (begin, level, block)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deep::blocks::places::{first_of, origin};
    use crate::deep::blocks::{Entry, FIRST, REACH, Table, WideEntry};
    use crate::deep::extended::{Bound, Extended};
    use crate::deep::limbs::Fixed;
    use crate::deep::reference::Room;
    use crate::deep::{Degree, Watch, table};
    use crate::level::Level;
    use std::sync::atomic::AtomicBool;

    const TOLERANCE: f64 = 1.0 / (1_u64 << 26) as f64;

    /// The orbit of x + iy + 2^-`bits`.
    fn reference([x, y]: [f64; 2], bits: usize, scale: i32, limit: u64, stop: &AtomicBool) -> Reference {
        let limbs = 3 + (170 - scale).unsigned_abs().div_ceil(64) as usize;
        let part = |v: f64| {
            let mut part = Fixed::zero(limbs);
            part.negative = v < 0.0;
            (part.limbs[limbs - 1], part.limbs[limbs - 2]) =
                (v.abs() as u64, (v.abs().fract() * 2_f64.powi(64)) as u64);
            part
        };
        let (mut x, y) = (part(x), part(y));
        x.limbs[limbs - 2 - bits / 64] |= 1 << (63 - bits % 64);
        let radius = Bound::new(REACH, scale);
        Reference::new(Level::best(), [&x, &y], radius, 4.0, limit, Room::of_pairs(1 << 20), Watch::unseen(stop))
            .unwrap()
    }

    /// The block of so many steps, merged with exponents.
    fn general(setting: &TableSetting<'_>, m: usize, steps: usize) -> Option<Block> {
        let z = |m: usize| setting.reference.extended(m);
        if steps == 2 {
            let unit = Extended::new(Complex { re: Dd::whole(1.0), im: Dd::ZERO }, setting.scale);
            return Block::two_steps([z(m), z(m + 1)], unit, setting.escape_radius, setting.tolerance);
        }
        let half = steps / 2;
        general(setting, m, half)?.then(&general(setting, m + half, half)?, setting.tolerance)
    }

    fn check<T: Mantissa>(level: Level, c: [f64; 2], bits: usize, scale: i32) -> [usize; 2] {
        let stop = AtomicBool::new(false);
        let reference = reference(c, bits, scale, 330, &stop);
        let setting = TableSetting {
            reference: &reference,
            scale,
            escape_radius: 2.0,
            tolerance: TOLERANCE,
            degree: Degree::Second,
            first_level: FIRST,
            threads: 1,
            watch: Watch::unseen(&stop),
        };
        let made: Table<T> = table(level, setting).unwrap();
        let mut found = 0;
        for (m, steps, radius, entry) in made.all().filter(|(m, ..)| *m > 0) {
            let other = WideEntry::<T>::of(&general(&setting, m, steps).unwrap(), steps as u64);
            let (of_other, other) = other.narrow().unwrap();
            assert!((0.9..1.1).contains(&(radius / of_other)), "{c:?}, 2^{scale}, {m}, {steps}: {radius}, {of_other}");
            let close = |own: Complex<T>, other: Complex<T>| {
                let off = Complex { re: own.re + -other.re, im: own.im + -other.im };
                off.square() <= other.square() * (64.0 * T::UNIT * T::UNIT) + 1e-600
            };
            let parts = |of: &Entry<T>| [of.a, of.b, of.q, of.s, of.t];
            assert!(parts(&entry).into_iter().zip(parts(&other)).all(|(own, other)| close(own, other)), "{m}, {steps}");
            let at_edge = |k: [f64; 4]| ((k[3] * radius + k[2]) * radius + k[1]) * radius + k[0];
            let ratio = |own: f64, other: f64| if own == other { 1.0 } else { own / other };
            let ratios = [
                ratio(at_edge(entry.k), at_edge(other.k)),
                ratio(entry.slack, other.slack),
                ratio(entry.q_modulus, other.q_modulus),
            ];
            assert!(ratios.iter().all(|ratio| (0.98..1.2).contains(ratio)), "{m}, {steps}: {ratios:?}");
            found += 1;
        }
        // All that there are were found.
        let levels =
            (FIRST..9).flat_map(|level| (1..330 >> level << level).step_by(1 << level).map(move |m| (m, level)));
        let (mut there, mut wide) = (0, 0);
        for (m, level) in levels.filter(|(m, level)| m + (1 << level) <= reference.last()) {
            let steps = 1 << level;
            let block = general(&setting, m, steps).map(|block| WideEntry::<T>::of(&block, steps as u64));
            there += usize::from(block.is_some_and(|block| block.narrow().is_some()));
            if let Some(kept) = made.wide.at(first_of(origin(m, FIRST).unwrap()) + (level - FIRST) as usize) {
                let ratio = kept.radius.over(block.unwrap().radius).to_f64();
                assert!((0.9..1.1).contains(&ratio), "{c:?}, 2^{scale}, {m}, {steps}: {ratio}");
                wide += 1;
            }
        }
        assert!(there.abs_diff(found) <= 2, "{c:?}, 2^{scale}: {found} of {there}");
        [found, wide]
    }

    #[test]
    fn runs_have_the_blocks_that_are_merged_with_exponents() {
        for level in Level::available() {
            for c in
                [[0.25, 0.0], [-1.401_155_189_093, 0.0], [0.0, 1.0], [-0.743_643_887, 0.131_825_904], [-1.99, 0.001]]
            {
                for scale in [-12, -60, -380, -700, -1500] {
                    let [found, wide] = check::<f64>(level, c, 63, scale);
                    assert_eq!(check::<Dd>(level, c, 63, scale)[1], wide);
                    assert!(
                        (found > 0 || scale > -20) && (wide > 0) == (scale < -400),
                        "{c:?}, 2^{scale}: {found}, {wide}"
                    );
                }
            }
        }
    }

    #[test]
    fn runs_near_0_are_merged_with_exponents() {
        for (bits, scale) in [(170, -900), (400, -900), (1100, -2500)] {
            let [found, wide] = check::<f64>(Level::best(), [-1.0, 0.0], bits, scale);
            // All levels, not only those from the block of a run on, up to a quarter of what there is room for.
            // Where every second Z_m is below the range of f64 there are no blocks.
            assert!(wide >= 20 || bits > 1000, "{bits}: {found}, {wide}");
        }
    }
}

//! Proofs that no pixel of a rectangle escapes, by trapping regions: sets of cells of the plane that the map takes into
//! themselves.
//!
//! Orbits of folded maps may be attracted by a set on which they are chaotic (z -> (|x| + i|y|)^2 + c for many c inside small
//! copies of the Burning Ship). They never return to an earlier z, and no disc about a cycle is mapped into itself, so nothing
//! else in this crate proves that they stay.
//!
//! # The proof
//!
//! Let f be the map of a pixel p of a rectangle P, with c = p, or the constant of a Julia set. A *computed* step differs from f(z)
//! by some v with |v| <= eps, a bound for all |z| <= 2. Let Q be the plane, or for the fold of the Burning Ship the closed
//! quadrant of folded points, and let z be folded after each step. Q is divided into square cells. A set S of cells is grown
//! from those that meet P, and some others that may save time. Its *frontier* are the cells of S of which one of the eight neighbours is not in S (for the fold of the
//! Burning Ship, also those at the axes). The cells that meet the image of each cell of the frontier are added to S, where the
//! image is a rectangle that holds f(w) + v for all pixels of P, all w of the cell and all |v| <= eps. If an image extends
//! beyond the radius R' up to which every computed test finds that a point has not escaped (`sure_radii`), there is no
//! proof. A *hole* is a bounded component of Q - S. For the fold of the Burning Ship, the cells of holes that lie at an axis are
//! added to S, too. S is complete after finitely many cells. Let T be S with its holes. Then every computed step takes T into T and into
//! the disc |z| <= R', and since z_1 = p is in both, no pixel of P escapes, whatever the limit.
//!
//! To see this, fix a pixel and v, and let g(z) be f(z) + v, folded. A power is an open map, conjugation and translation are
//! homeomorphisms, and folding maps open sets of the plane to open sets of Q. So g maps the interior of T (in the plane) to open
//! sets of Q, and the boundary of g(T) in Q is contained in the image of the boundary of T in the plane. That lies in the frontier
//! of S: a boundary point of T is one of S, its cells have neighbours outside S, or it lies on an axis, where the quadrant ends.
//! (Without the cells at the axes, a hole there would have boundary points of T on the axis whose images nothing bounds. With 128 cells in
//! a unit, this proved a rectangle with five points that escape after 285,821 to 852,420 steps, which a test holds.)
//! So the boundary of g(T) lies in S. Were some point of g(T) outside T, in the unbounded component of Q - S, then a path in
//! it that leads to infinity would leave the compact set g(T) at a point of its boundary, which is in S: a contradiction. With the
//! disc for S, g(T) lies in the disc, too.
//!
//! *The image of a cell* with centre w and half a side d, for N >= 2: with p = w^(N-1) and |delta| <= r = d sqrt(2),
//!
//! ```text
//! (w + delta)^N = w^N + N p delta + e,    |e| <= (|w| + r)^N - |w|^N - N |w|^(N-1) r,
//! ```
//!
//! and |Re (p delta)| and |Im (p delta)| are at most d (|Re p| + |Im p|). All of this is computed in f64;
//! `OWN_ROUNDINGS` covers the roundings.
//!
//! # What it costs
//!
//! Only cells of the frontier have to be mapped, so the number of images grows with the number of cells in a unit, not with its
//! square. With 32, 128 and 512 cells in a unit, a proof for the Burning Ship takes 20 us, 0.25 ms and 1.3 ms on an Intel Xeon, and a
//! failed attempt as much. Beside Re c = 0.21, Im c = -1.11, they prove 65, 20 and 8 % of the points that are alive after 16,384
//! steps; the rest escapes, or is too near to those that do.
//!
//! *Tried:* 1024 and 2048 cells in a unit prove 1 % more of those points each, and take 9 and 35 ms on a Zen 3, where 512 take 2.5 ms.
//! All cells mapped, not those of the frontier alone, took 2.5 times as long with 128 cells in a unit. To try the way by which
//! the attempt before left the radius first was of no use: it ends differently for the next pixel. Sweeps that map only cells
//! found in an earlier sweep took 5 % longer.

mod outside;

use crate::enclosure::{power, roundings_of_a_step, smallest, sure_radii, unit};
use crate::formula::Fold;
use crate::map::Map;
use crate::number::Number;
use std::collections::TryReserveError;

/// The bound on all moduli. Beyond it, every orbit of R = 2 has escaped.
const MOST_RADIUS: f64 = 2.0;
/// What a bound is enlarged by, relative to |z|^N + |c|: some hundred roundings in f64, of results up to twice as large.
const OWN_ROUNDINGS: f64 = 1.0 / (1_u64 << 44) as f64;
/// Cells in a unit from which on a region begins with seeds: those of a good part of it, from an orbit of so many steps, in coarse
/// cells of which so many lie in a unit. With 512 cells in a unit this takes a third of the time; with 128 it would gain nothing.
/// Coarse cells of half the size with twice the steps took 1.4 times as long.
const SEEDED_FROM: f64 = 512.0;
const COARSE: u32 = 32;
const ORBIT_STEPS: u32 = 1 << 13;
const WORD: usize = u64::BITS as usize;

/// A rectangle of the plane: [least, greatest] of x and y.
pub type Rectangle = [[f64; 2]; 2];

/// Cells of the plane, reused from proof to proof.
#[derive(Debug, Default)]
pub struct TrappingRegion {
    /// Cells of the region, and those of them that have been neither mapped nor found to be no frontier: one bit for each, by rows
    /// from the least y.
    cells: Vec<u64>,
    open: Vec<u64>,
    /// Coarse cells that an orbit meets.
    met: Vec<bool>,
}

/// The cells of a proof.
#[derive(Clone, Copy)]
struct Division {
    /// The number of cells in a unit, a power of two.
    per_unit: f64,
    /// The least x and y of a cell.
    least: f64,
    /// Cells on a side of the square that they fill, and words of a row.
    side: usize,
    words: usize,
}

impl Division {
    fn new(fold: Fold, per_unit: u32) -> Self {
        let least = if fold == Fold::Absolute { 0.0 } else { -MOST_RADIUS };
        let side = ((MOST_RADIUS - least) * f64::from(per_unit)) as usize;
        Self { per_unit: per_unit.into(), least, side, words: side.div_ceil(WORD) }
    }

    /// The first and the last cell that a range meets, with room for the roundings here.
    fn range(&self, [low, high]: [f64; 2]) -> [usize; 2] {
        [low - OWN_ROUNDINGS, high + OWN_ROUNDINGS]
            .map(|v| (((v - self.least) * self.per_unit) as usize).min(self.side - 1))
    }

    /// The middle of a cell's range.
    fn middle(&self, cell: usize) -> f64 {
        self.least + (cell as f64 + 0.5) / self.per_unit
    }
}

/// The map of a proof, with its bounds.
struct Image {
    fold: Fold,
    /// N.
    power: u32,
    /// The c of the pixels.
    c: Rectangle,
    /// What a result may differ by: eps, and the roundings of [`Self::of`].
    noise: f64,
    /// The greatest modulus.
    radius: f64,
    /// Half a side of a cell, and of its diagonal.
    half: f64,
    half_diagonal: f64,
}

impl Image {
    fn new<N: Number>(map: &Map<N>, pixels: Rectangle, radius_squared: N, division: &Division) -> Self {
        let (fold, n) = (map.formula.fold(), map.formula.power());
        let c = map.julia.map_or(pixels, |c| c.map(|part| [part.to_f64(); 2]));
        let [a, b] = c.map(|[low, high]| low.abs().max(high.abs()));
        let relative = roundings_of_a_step(n) * unit::<N>() + OWN_ROUNDINGS;
        let half = 0.5 / division.per_unit;
        Self {
            fold,
            power: n,
            c,
            noise: relative * (power(1.5 * MOST_RADIUS, n) + a + b) + smallest::<N>(),
            radius: sure_radii(radius_squared)[0].min(MOST_RADIUS) * (1.0 - OWN_ROUNDINGS),
            half,
            half_diagonal: half * std::f64::consts::SQRT_2 * (1.0 + OWN_ROUNDINGS),
        }
    }

    /// w^(N-1) and w^N for a folded point, whose imaginary part conjugation has not negated.
    #[inline(always)]
    fn power(&self, [x, y]: [f64; 2]) -> [[f64; 2]; 2] {
        let w = if self.fold == Fold::Conjugate { [x, -y] } else { [x, y] };
        let times = |[a, b]: [f64; 2], [c, d]: [f64; 2]| [a * c - b * d, a * d + b * c];
        let p = (2..self.power).fold(w, |p, _| times(p, w));
        [p, times(p, w)]
    }

    /// A rectangle that holds the results of a step for a cell of folded points, given by its centre.
    #[inline(always)]
    fn of(&self, [x, y]: [f64; 2]) -> Rectangle {
        let n = f64::from(self.power);
        let [p, [re, im]] = self.power([x, y]);
        let modulus = (x * x + y * y).sqrt();
        let most = power(modulus + self.half_diagonal, self.power);
        let lower = power(modulus, self.power - 1);
        let rest = (most - lower * (modulus + n * self.half_diagonal)).max(0.0);
        let extent = n * self.half * (p[0].abs() + p[1].abs()) + rest + self.noise;
        let [a, b] = self.c;
        [[re + a[0] - extent, re + a[1] + extent], [im + b[0] - extent, im + b[1] + extent]]
    }

    /// Whether a rectangle lies within the radius; none with a NaN does.
    #[inline(always)]
    fn is_within(&self, rectangle: Rectangle) -> bool {
        let [x, y] = rectangle.map(|[low, high]| if low <= high { high.max(-low) } else { f64::NAN });
        x * x + y * y <= self.radius * self.radius
    }

    /// The range of folded coordinates.
    #[inline(always)]
    fn folded(&self, range: [f64; 2]) -> [f64; 2] {
        let [low, high] = range;
        match self.fold {
            Fold::Absolute if low >= 0.0 => range,
            Fold::Absolute if high <= 0.0 => [-high, -low],
            Fold::Absolute => [0.0, high.max(-low)],
            Fold::None | Fold::Conjugate => range,
        }
    }
}

impl TrappingRegion {
    /// Bytes that the cells of a formula take, with so many in a unit.
    #[must_use]
    pub fn bytes(fold: Fold, per_unit: u32) -> usize {
        let Division { side, words, .. } = Division::new(fold, per_unit);
        2 * side * words * size_of::<u64>() + (4 * COARSE as usize + 2).pow(2)
    }

    /// Whether every pixel of a rectangle is proved never to escape beyond the radius, given squared, by cells of which
    /// `per_unit`, a power of two from 1 to 2^11, lie in a unit. The rectangle may be any one that holds the pixels. The answer is
    /// the same on every machine.
    ///
    /// # Errors
    /// When the allocation of the cells fails.
    pub fn proves<N: Number>(
        &mut self,
        map: &Map<N>,
        radius_squared: N,
        rectangle: Rectangle,
        per_unit: u32,
    ) -> Result<bool, TryReserveError> {
        let division = Division::new(map.formula.fold(), per_unit.next_power_of_two().clamp(1, 1 << 11));
        let image = Image::new(map, rectangle, radius_squared, &division);
        for bits in [&mut self.cells, &mut self.open] {
            bits.clear();
            bits.try_reserve_exact(division.side * division.words)?;
            bits.resize(division.side * division.words, 0);
        }
        if division.per_unit >= SEEDED_FROM && !self.seed(&division, &image, rectangle)? {
            return Ok(false);
        }
        if !self.add(&division, &image, rectangle) {
            return Ok(false);
        }
        loop {
            if !self.grow(&division, &image) {
                return Ok(false);
            }
            if image.fold != Fold::Absolute || !self.add_holes_at_axes(&division) {
                return Ok(true);
            }
        }
    }

    /// Adds cells that are likely to lie in the region: those of coarser cells which the orbit of the rectangle's centre meets, with
    /// all their neighbours. Returns whether the orbit stays.
    fn seed(&mut self, division: &Division, image: &Image, pixels: Rectangle) -> Result<bool, TryReserveError> {
        let coarse = Division::new(image.fold, COARSE);
        // With a border of cells on each side.
        let pitch = coarse.side + 2;
        self.met.clear();
        self.met.try_reserve_exact(pitch * pitch)?;
        self.met.resize(pitch * pitch, false);
        let middle = |rectangle: Rectangle| rectangle.map(|[low, high]| f64::midpoint(low, high));
        let (mut z, c) = (middle(pixels), middle(image.c));
        for step in 0..ORBIT_STEPS {
            let w = z.map(|v| image.folded([v, v])[0]);
            if !image.is_within(w.map(|v| [v, v])) {
                return Ok(false);
            }
            if step >= ORBIT_STEPS / 8 {
                let [column, row] = w.map(|v| coarse.range([v, v])[0]);
                self.met[(row + 1) * pitch + column + 1] = true;
            }
            let [x, y] = image.power([w[0], w[1]])[1];
            z = [x + c[0], y + c[1]];
        }
        if image.fold == Fold::Absolute {
            // Beyond the axes lies the mirror image of what is at them.
            for i in 0..pitch {
                self.met[i] = self.met[pitch + i];
                self.met[i * pitch] = self.met[i * pitch + 1];
            }
            self.met[0] = self.met[pitch + 1];
        }
        let factor = (division.per_unit as u32 / COARSE) as usize;
        for row in 0..coarse.side {
            for column in 0..coarse.side {
                let is_met = |row: usize| self.met[row * pitch + column..][..3].iter().all(|met| *met);
                if !(row..row + 3).all(is_met) {
                    continue;
                }
                let (word, bit) = (column * factor / WORD, column * factor % WORD);
                let bits = u64::MAX >> (WORD - factor) << bit;
                for row in row * factor..(row + 1) * factor {
                    let at = row * division.words + word;
                    self.cells[at] |= bits;
                    self.open[at] |= bits;
                }
            }
        }
        Ok(true)
    }

    /// Adds the cells that a rectangle meets, once folded. Returns whether it lies within the radius.
    #[inline(always)]
    fn add(&mut self, division: &Division, image: &Image, rectangle: Rectangle) -> bool {
        let [x, y] = rectangle.map(|range| image.folded(range));
        if !image.is_within([x, y]) {
            return false;
        }
        let ([first, last], [top, bottom]) = (division.range(x), division.range(y));
        for row in top..=bottom {
            for word in first / WORD..=last / WORD {
                let from = u64::MAX << first.saturating_sub(word * WORD);
                let to = u64::MAX >> (WORD - 1 - (last - word * WORD).min(WORD - 1));
                let at = row * division.words + word;
                let new = from & to & !self.cells[at];
                self.cells[at] |= new;
                self.open[at] |= new;
            }
        }
        true
    }

    /// The cells of a word whose eight neighbours are in the region, and at no axis where the quadrant of folded points ends.
    #[inline(always)]
    fn surrounded(&self, division: &Division, row: usize, word: usize) -> u64 {
        if row == 0 || row + 1 == division.side {
            return 0;
        }
        let mut all = u64::MAX;
        for row in row - 1..=row + 1 {
            let at = row * division.words + word;
            let before = if word == 0 { 0 } else { self.cells[at - 1] >> (WORD - 1) };
            let after = if word + 1 == division.words { 0 } else { self.cells[at + 1] << (WORD - 1) };
            let cells = self.cells[at];
            all &= cells & (cells << 1 | before) & (cells >> 1 | after);
        }
        all
    }

    /// Adds the images of the frontier. Returns whether all lie within the radius.
    fn grow(&mut self, division: &Division, image: &Image) -> bool {
        let mut is_open = true;
        while is_open {
            is_open = false;
            for row in 0..division.side {
                for word in 0..division.words {
                    let at = row * division.words + word;
                    if self.open[at] == 0 {
                        continue;
                    }
                    is_open = true;
                    // Cells that have all neighbours keep them.
                    let mut frontier = self.open[at] & !self.surrounded(division, row, word);
                    self.open[at] = 0;
                    while frontier != 0 {
                        let column = word * WORD + frontier.trailing_zeros() as usize;
                        frontier &= frontier - 1;
                        let centre = [column, row].map(|cell| division.middle(cell));
                        if !self.add(division, image, image.of(centre)) {
                            return false;
                        }
                    }
                }
            }
        }
        true
    }

    /// Adds the cells at the axes that lie in holes of the region. No cell may be open. Returns whether there are any.
    fn add_holes_at_axes(&mut self, division: &Division) -> bool {
        let Division { side, words, .. } = *division;
        // A hole parts the cells at the axes, from the greatest y over 0 to the greatest x, into several runs.
        let is_in = |(row, column): (usize, usize)| self.cells[row * words + column / WORD] >> (column % WORD) & 1 == 1;
        let at_axes = (1..side).rev().map(|row| (row, 0)).chain((0..side).map(|column| (0, column)));
        let count = |(runs, last): (u32, bool), cell| (runs + u32::from(!last && is_in(cell)), is_in(cell));
        let (runs, _) = at_axes.fold((0, false), count);
        if runs < 2 {
            return false;
        }
        outside::find(division, &self.cells, &mut self.open);
        let mut is_any = false;
        for (at, (cells, open)) in self.cells.iter_mut().zip(&mut self.open).enumerate() {
            let at_axes = if at < words { u64::MAX } else { u64::from(at % words == 0) };
            *open = at_axes & !*cells & !*open;
            *cells |= *open;
            is_any |= *open != 0;
        }
        is_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cycle;
    use crate::formula::Formula;
    use crate::map::tests::some_maps;
    use crate::naive;
    use crate::recipe::{Recipe, Rule, with_rule};
    use crate::test_random::Random;
    use std::sync::atomic::AtomicBool;

    fn ship() -> Map<f64> {
        Map { formula: Formula::new(Fold::Absolute, 2).unwrap(), recipe: Recipe::Fused, julia: None }
    }

    fn proves<N: Number>(map: &Map<N>, rectangle: Rectangle, per_unit: u32) -> bool {
        TrappingRegion::default().proves(map, N::from(4_u8), rectangle, per_unit).unwrap()
    }

    #[test]
    fn chaotic_orbits_of_the_burning_ship_are_proved_to_stay() {
        let pixel = [0.306_211_28, -0.984_761_01];
        let returns = cycle::proved_after(&ship(), pixel, 100_000, &AtomicBool::new(false));
        assert_eq!((returns, naive::dwell(&ship(), pixel, 100_000, 4.0)), (None, 0));
        let point = pixel.map(|part| [part; 2]);
        assert!(!proves(&ship(), point, 2));
        assert!([32, 128, 512].into_iter().all(|per_unit| proves(&ship(), point, per_unit)));
        let map = Map { formula: ship().formula, recipe: Recipe::Separate, julia: None };
        assert!(proves::<f32>(&map, point, 32));
        let around = point.map(|[part, _]| [part - 0.002, part + 0.002]);
        assert!(proves(&ship(), around, 32));
        // A rectangle that reaches to pixels which escape.
        assert!(!proves(&ship(), point.map(|[part, _]| [part - 0.2, part + 0.2]), 32));
    }

    #[test]
    fn what_is_proved_does_not_escape() {
        let mut random = Random(3);
        let mut region = TrappingRegion::default();
        let mut proved = [0; 3];
        for (map, _) in some_maps() {
            for _ in 0..400 {
                let size = [0.0, 1e-3, 3e-2][random.below(3)];
                let corner = [random.between(-1.8, 1.8), random.between(-1.8, 1.8)];
                let rectangle = corner.map(|low| [low, low + size]);
                let per_unit = [8, 32, 64, 512][random.below(4)];
                if !region.proves(&map, 4.0, rectangle, per_unit).unwrap() {
                    continue;
                }
                proved[map.formula.fold() as usize] += 1;
                for _ in 0..10 {
                    let pixel = corner.map(|low| random.between(low, low + size).clamp(low, low + size));
                    let dwell = naive::dwell(&map, pixel, 2000, 4.0);
                    assert_eq!(dwell, 0, "{map:?} {pixel:?} in {rectangle:?} with {per_unit}");
                }
            }
        }
        assert!(proved.iter().all(|proved| *proved > 20), "{proved:?}");
    }

    #[test]
    fn no_point_that_escapes_late_is_proved() {
        // Beside a region that is proved, where chaotic orbits escape after thousands of steps.
        let mut random = Random(4);
        let mut region = TrappingRegion::default();
        let mut late = 0;
        for _ in 0..3000 {
            let pixel = [random.between(0.0, 0.4), random.between(-1.25, -1.0)];
            let dwell = naive::dwell(&ship(), pixel, 50_000, 4.0);
            if dwell > 500 {
                late += 1;
                for (per_unit, around) in
                    [32, 64, 128, 256, 512].into_iter().flat_map(|cells| [0.0, 0.002, 0.005].map(|d| (cells, d)))
                {
                    let rectangle = pixel.map(|part| [part - around, part + around]);
                    let is_proved = region.proves(&ship(), 4.0, rectangle, per_unit).unwrap();
                    assert!(!is_proved, "{pixel:?} in {rectangle:?} with {per_unit} has dwell {dwell}");
                }
            }
        }
        assert!(late > 30, "{late} points");
    }

    #[test]
    fn a_hole_at_an_axis_hides_no_point_that_escapes() {
        let rectangle =
            [[0.121_290_649_907_817_35, 0.127_639_856_257_023_7], [-1.066_507_037_154_972_7, -1.063_332_433_980_369_6]];
        assert_eq!(naive::dwell(&ship(), rectangle.map(|[low, _]| low), 300_000, 4.0), 287_879);
        for per_unit in [32, 64, 128, 256, 512, 1024] {
            assert!(!proves(&ship(), rectangle, per_unit), "{per_unit}");
        }
    }

    #[test]
    fn images_hold_the_computed_results() {
        fn check<N: Number>(map: &Map<N>, random: &mut Random) {
            let power = map.formula.power();
            let division = Division::new(map.formula.fold(), 16);
            for _ in 0..200 {
                let c = [0, 1].map(|_| random.between(-1.0, 1.0));
                let image = Image::new(map, c.map(|part| [part, part + 0.01]), N::from(4_u8), &division);
                let cell = [0, 1].map(|_| random.below(division.side));
                let rectangle = image.of(cell.map(|cell| division.middle(cell)));
                for _ in 0..20 {
                    // Points of the cell, among them its corners.
                    let mut within = |low: f64, size: f64| low + size * random.between(-0.3, 1.3).clamp(0.0, 1.0);
                    let z = cell.map(|cell| N::nearest(within(division.middle(cell) - 1.0 / 32.0, 1.0 / 16.0)));
                    let [a, b] = map.julia.unwrap_or_else(|| c.map(|low| N::nearest(within(low + 1e-7, 0.0099))));
                    let (x, y) = with_rule!(map.formula, map.recipe, rule => rule.step(z[0], z[1], a, b));
                    for (v, [low, high]) in [x, y].map(N::to_f64).into_iter().zip(rectangle) {
                        assert!(low <= v && v <= high, "{map:?} power {power}: {v} is not in {low}..={high}");
                    }
                }
            }
        }
        let mut random = Random(5);
        for (double, single) in some_maps() {
            check(&double, &mut random);
            check(&single, &mut random);
        }
    }

    #[test]
    fn surrounded_cells_have_eight_neighbours() {
        let mut random = Random(6);
        for (fold, per_unit) in [(Fold::Absolute, 16), (Fold::Absolute, 64), (Fold::Conjugate, 32)] {
            let division = Division::new(fold, per_unit);
            let mut word = || (0..WORD).fold(0, |word, _| word << 1 | u64::from(random.below(12) > 0));
            let side_of_word = u64::MAX >> (WORD - division.side.min(WORD));
            let cells = (0..division.side * division.words).map(|_| word() & side_of_word).collect();
            let region = TrappingRegion { cells, ..TrappingRegion::default() };
            let is_in = |row: isize, column: isize| {
                let side = division.side.cast_signed();
                let inside = (0..side).contains(&row) && (0..side).contains(&column);
                inside && {
                    let (row, column) = (row.cast_unsigned(), column.cast_unsigned());
                    region.cells[row * division.words + column / WORD] >> (column % WORD) & 1 == 1
                }
            };
            let mut found = 0;
            for row in 0..division.side {
                for column in 0..division.side {
                    let bits = region.surrounded(&division, row, column / WORD);
                    let near = |at: usize| at.cast_signed() - 1..=at.cast_signed() + 1;
                    let expected = near(row).all(|row| near(column).all(|column| is_in(row, column)));
                    assert_eq!(bits >> (column % WORD) & 1 == 1, expected, "{fold:?} {row} {column}");
                    found += u32::from(expected);
                }
            }
            assert!(found > 20, "{found}");
        }
    }

    #[test]
    fn rectangles_that_are_no_ranges_of_the_plane_are_not_proved() {
        for part in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -3.0] {
            assert!(!proves(&ship(), [[part; 2], [0.0; 2]], 32), "{part}");
            assert!(!proves(&ship(), [[0.0; 2], [part; 2]], 32), "{part}");
        }
        assert!(proves(&ship(), [[0.0; 2]; 2], 32));
        assert!(TrappingRegion::bytes(Fold::Conjugate, 512) < 2 << 20);
    }
}

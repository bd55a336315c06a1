//! Cells against single steps in pairs of f64, from points at the edge of what bounds allow, and whole orbits by cells against fixed point.

use super::{CellSetting, Cells};
use crate::deep::blocks::{FIRST, REACH};
use crate::deep::direct::{self, Goal, Iterated, Queue};
use crate::deep::extended::{Bound, power_of_two};
use crate::deep::lanes::{LANES, Lanes, Reals};
use crate::deep::limbs::Fixed;
use crate::deep::mantissa::{Complex, Dd, Mantissa};
use crate::deep::orbit::{Found, Setting, Shortcuts};
use crate::deep::reference::{Reference, Room};
use crate::deep::tests::{direction, four, offset, plus};
use crate::deep::{DeepKernels, Degree, TableSetting, Watch};
use crate::level::{Kernel, Level};
use crate::test_random::Random;
use fearless_simd::Simd;
use std::sync::atomic::AtomicBool;

/// Beside the points -3/4, where orbits take a thousand steps through a gap, and i, and in a valley of seahorses.
const PLACES: [[f64; 2]; 4] =
    [[-0.749_99, 0.003], [0.000_01, 1.000_01], [-0.743_643_887, 0.131_825_904], [-0.548_205_7, -0.577_570_8]];

/// x and y with so many limbs.
fn parts([x, y]: [f64; 2], limbs: usize) -> [Fixed; 2] {
    let zero = || Fixed::zero(limbs);
    [plus(zero(), Dd::whole(x), 0), plus(zero(), Dd::whole(y), 0)]
}

fn reference(c: [f64; 2], scale: i32, stop: &AtomicBool) -> Reference {
    let [x, y] = parts(c, 3 + (170 - scale).unsigned_abs().div_ceil(64) as usize);
    let radius = Bound::new(REACH, scale);
    Reference::new(Level::best(), [&x, &y], radius, 4.0, 3000, Room::of_pairs(1 << 20), Watch::unseen(stop)).unwrap()
}

fn setting(tolerance: f64, most_tiles: usize) -> CellSetting {
    CellSetting { tolerance, least_error: tolerance / 4.0, most_tiles }
}

/// Values of orbits with their bounds, after the steps of their cells.
struct Apply<'a, T: Mantissa> {
    cells: &'a Cells<T>,
    w: [Complex<Dd>; LANES],
    e: f64,
}

impl<T: Mantissa> Kernel for Apply<'_, T> {
    type Output = Vec<(Complex<Dd>, f64, usize)>;
    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(self, simd: S) -> Self::Output {
        let of = |number: &dyn Fn(usize) -> Dd| {
            <T::Lanes<S>>::from_parts(|part| Reals::from_fn(simd, |lane| T::of(number(lane)).part(part)))
        };
        let w = Complex { re: of(&|lane| self.w[lane].re), im: of(&|lane| self.w[lane].im) };
        let e = Reals::splat(simd, self.e);
        let all = Reals::<S>::first_lanes(simd, LANES);
        let after = self.cells.applied(simd, (w, e, Reals::splat(simd, 1e6)), all);
        let stored = |values: Reals<S>| {
            let mut list = [0.0; LANES];
            values.store(&mut list);
            list
        };
        let parts = |number: T::Lanes<S>| {
            let lists: Vec<_> = (0..T::PARTS).map(|part| stored(number.part(part))).collect();
            move |lane: usize| Dd { hi: lists[0][lane], lo: lists.get(1).map_or(0.0, |list| list[lane]) }
        };
        let (re, im, e, steps) = (parts(after.w.re), parts(after.w.im), stored(after.e), stored(after.steps));
        (0..Reals::<S>::LEN)
            .map(|lane| (Complex { re: re(lane), im: im(lane) }, e[lane], steps[lane] as usize))
            .collect()
    }
}

#[test]
fn cells_hold_for_every_point_within_the_bound() {
    hold_for_every_point::<f64>([(-60, 42), (-500, 42), (-90, 48), (-42, 48)], 45);
}

#[test]
fn cells_in_pairs_hold_for_every_point_within_the_bound() {
    hold_for_every_point::<Dd>([(-90, 56), (-500, 56), (-90, 60), (-48, 60)], 60);
}

/// For these scales and tolerances of 2^-number, and errors down to so many times 1/2 of the greatest.
fn hold_for_every_point<T: Mantissa>(cases: [(i32, i32); 4], halvings: u64) {
    let (mut random, stop) = (Random(91), AtomicBool::new(false));
    let of_pair = |z: Complex<f64>| Complex { re: Dd::whole(z.re), im: Dd::whole(z.im) };
    let (mut used, mut of_steps, mut near) = (0, 0, [0; 2]);
    for (place, scale, tolerance) in
        PLACES.iter().flat_map(|place| cases.map(|(scale, tolerance)| (*place, scale, 2_f64.powi(-tolerance))))
    {
        let cells = Cells::<T>::new(&reference(place, scale, &stop), scale, 2.0, setting(tolerance, 4096)).unwrap();
        let c = cells.c;
        for level in Level::available() {
            for _ in 0..300 {
                let e = Cells::<T>::MOST_ERROR * power_of_two(-((random.next() % halvings) as i32));
                let w = std::array::from_fn(|_| {
                    let (at, radius) = (direction(&mut random), 2.0 * random.unit());
                    let mut part = |part: f64| {
                        let low = if T::PARTS == 2 { part * (random.unit() - 0.5) / (1_u64 << 53) as f64 } else { 0.0 };
                        Dd::sum(part, low)
                    };
                    Complex { re: part(radius * at[0]), im: part(radius * at[1]) }
                });
                for (w, (found, bound, steps)) in w.into_iter().zip(level.run(Apply { cells: &cells, w, e })) {
                    if steps == 0 {
                        continue;
                    }
                    let at = |size: f64, direction: [f64; 2]| {
                        of_pair(Complex { re: size * direction[0], im: size * direction[1] })
                    };
                    let c = c + at(if scale == -500 { 0.0 } else { power_of_two(scale) }, direction(&mut random));
                    let mut z = w + at(e * (1.0 - 1e-9), direction(&mut random));
                    for _ in 0..steps {
                        assert!(z.square() <= 4.0, "{place:?}: {w:?} escapes within {steps} steps");
                        z = z * z + c;
                    }
                    let off = z + Complex { re: -found.re, im: -found.im };
                    let share = off.square().sqrt() / bound;
                    assert!(
                        share <= 1.0,
                        "{place:?}, 2^{scale}, {:?}: {w:?} by {steps} steps, {share} of {bound:e} with {e:e}, {off:?}",
                        level.name()
                    );
                    used += 1;
                    of_steps += steps;
                    near[usize::from(e < tolerance)] += usize::from(share > 0.2);
                }
            }
        }
    }
    assert!(of_steps > 5 * used, "{of_steps} steps of {used}");
    // Of errors of the orbits and of those of cells.
    assert!(near.iter().all(|near| *near > used / 100), "the bounds are never near: {near:?} of {used}");
}

#[test]
fn cells_that_differ_too_much_over_a_view_are_not_made() {
    let stop = AtomicBool::new(false);
    let reference = reference(PLACES[2], -40, &stop);
    assert!(Cells::<f64>::new(&reference, -40, 2.0, setting(2_f64.powi(-42), 64)).is_none());
    assert!(
        Cells::<f64>::new(&reference, -45, 2.0, setting(2_f64.powi(-42), 64))
            .is_some_and(|cells| cells.setting.tolerance > 2_f64.powi(-42))
    );
    assert!(Cells::<f64>::new(&reference, -60, 2.0, setting(2_f64.powi(-42), 0)).is_none());
}

#[test]
fn dwells_of_orbits_by_cells_are_those_of_fixed_point() {
    let (mut random, stop) = (Random(92), AtomicBool::new(false));
    let (mut applied, mut decided, limit) = ([0; 2], [0; 2], 20_000);
    for scale in [-52, -80, -300] {
        let reference = reference(PLACES[0], scale, &stop);
        let limbs = 3 + (170 - scale).unsigned_abs().div_ceil(64) as usize;
        let pixels: Vec<Complex<Dd>> = (0..200).map(|_| offset(&mut random)).collect();
        let points: Vec<[Fixed; 2]> = pixels
            .iter()
            .map(|pixel| {
                let [x, y] = parts(PLACES[0], limbs);
                [plus(x, pixel.re, scale), plus(y, pixel.im, scale)]
            })
            .collect();
        let exact_escape = four(limbs);
        let goal = Goal {
            iterated: Iterated::default(),
            limbs,
            error: 6.0,
            escape: 4.0,
            exact_escape: &exact_escape,
            limit,
            smooth: false,
            units: None,
            stop: &stop,
        };
        let queue = Queue::new(points.len(), 1);
        let mut exact = vec![Found::Undecided; points.len()];
        direct::follow(Level::best(), &goal, &queue, &mut |at| points[at].clone(), &mut |at, found| exact[at] = found);
        for (most_tiles, in_pairs) in [(4096, false), (3, false), (4096, true), (3, true)] {
            for level in Level::available() {
                let place = (level, &reference, limit, scale, &stop);
                let (found, of_cells) = if in_pairs {
                    by_cells::<Dd>(
                        place,
                        CellSetting { least_error: 0.0, ..setting(2_f64.powi(-56), most_tiles) },
                        -30,
                        &pixels,
                    )
                } else {
                    by_cells::<f64>(place, setting(2_f64.powi(-42), most_tiles), -26, &pixels)
                };
                applied[usize::from(in_pairs)] += of_cells;
                for (found, exact) in found.iter().zip(&exact) {
                    decided[usize::from(in_pairs)] += usize::from(*found != Found::Undecided);
                    let is_open = *found == Found::Undecided;
                    assert!(is_open || found == exact, "{:?}, 2^{scale}: {found:?}, {exact:?}", level.name());
                }
            }
        }
    }
    let runs = 6 * Level::available().len();
    assert!(
        applied.iter().all(|cells| *cells > 500 * runs as u64) && decided.iter().all(|decided| *decided > 150 * runs),
        "{applied:?} cells, {decided:?} decided of {} each",
        200 * runs
    );
}

/// What is found of pixels with blocks of 2^`tolerance`, and the cells that it took.
fn by_cells<T: DeepKernels>(
    (level, reference, limit, scale, stop): (Level, &Reference, u64, i32, &AtomicBool),
    cells: CellSetting,
    tolerance: i32,
    pixels: &[Complex<Dd>],
) -> (Vec<Found>, u64) {
    let cells = Cells::<T>::new(reference, scale, 2.0, cells).unwrap();
    let pixels: Vec<_> = pixels.iter().map(|pixel| Complex::of(*pixel)).collect();
    let of_table = TableSetting {
        reference,
        scale,
        escape_radius: 2.0,
        tolerance: 2_f64.powi(tolerance),
        degree: Degree::Second,
        first_level: FIRST,
        threads: 1,
        watch: Watch::unseen(stop),
    };
    let table = T::table(level, of_table).unwrap();
    let setting =
        Setting { reference, scale, escape_radius: 2.0, escape: 4.0, limit, smooth: false, units: None, stop };
    let mut found = vec![Found::Undecided; pixels.len()];
    let counts = T::decide(level, &setting, Shortcuts { table: &table, cells: Some(&cells) }, &pixels, &mut found);
    (found, counts.cells)
}

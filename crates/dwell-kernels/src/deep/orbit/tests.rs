//! Steps and blocks of vectors against exact ones, with bounds that each of their parts is needed for.

use super::operations::Here;
use super::pile::{Pile, Row};
use super::{Orbit, Setting, Shortcuts};
use crate::deep::Watch;
use crate::deep::blocks::{FIRST, Table};
use crate::deep::derivative::Derivative;
use crate::deep::extended::{Bound, Extended};
use crate::deep::lanes::Reals;
use crate::deep::mantissa::{Complex, Dd, Mantissa};
use crate::deep::reference::Reference;
use crate::deep::tests::{UNITS, derived, direction, offset, place, stepped};
use crate::deep::{Degree, TableSetting, table};
use crate::level::{Kernel, Level};
use crate::test_random::Random;
use crate::vector::bits;
use fearless_simd::Simd;
use std::sync::atomic::AtomicBool;

/// What is done with the orbits of a list.
#[derive(Clone, Copy, PartialEq)]
enum What {
    Look,
    Step,
    /// Steps as where blocks are far.
    Steps,
    Block,
}

struct Run<'a, T: Mantissa, const DERIVED: bool> {
    orbit: Orbit<'a, T, DERIVED>,
    rows: &'a [Row<T>],
    what: What,
}

impl<T: Mantissa, const DERIVED: bool> Kernel for Run<'_, T, DERIVED> {
    /// The orbits afterwards, and whether a block was valid before.
    type Output = Vec<(Row<T>, bool)>;
    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(self, simd: S) -> Self::Output {
        let mut out = Vec::new();
        for rows in self.rows.chunks(Reals::<S>::LEN) {
            let (mut before, mut after) = (Pile::<T, DERIVED>::new(), Pile::<T, DERIVED>::new());
            rows.iter().for_each(|row| before.push(*row));
            let mut orbits = before.load(simd, 0);
            let active = Reals::<S>::first_lanes(simd, rows.len());
            let here: Here<'_, T, S> = self.orbit.here(simd, &orbits);
            let with_block = bits::<S, _>(self.orbit.with_block(simd, orbits.e, &here));
            match self.what {
                What::Look => {}
                What::Step => {
                    assert_eq!(self.orbit.steps(simd, &mut orbits, here, active, false, None), 4 * rows.len())
                }
                What::Steps => {
                    // Up to the next m = 1 + 16 k.
                    let count: usize = rows.iter().map(|row| 16 - (row.m - 1) % 16).sum();
                    assert_eq!(self.orbit.steps(simd, &mut orbits, here, active, true, None), count);
                }
                What::Block => {
                    let chosen = self.orbit.longest(simd, &orbits, active);
                    self.orbit.block(simd, &mut orbits, active, &chosen);
                }
            }
            after.append(&orbits, active);
            out.extend((0..rows.len()).map(|at| (after.row(at).0, with_block >> at & 1 != 0)));
        }
        out
    }
}

pub(super) fn setting<'a>(reference: &'a Reference, scale: i32, stop: &'a AtomicBool) -> Setting<'a> {
    Setting { reference, scale, escape_radius: 2.0, escape: 4.0, limit: 9000, smooth: false, units: Some(UNITS), stop }
}

pub(super) fn blocks_of<T: Mantissa>(setting: &Setting<'_>) -> Table<T> {
    table_of(setting, Degree::Second, -26)
}

/// Blocks of a degree with a tolerance of 2^`exponent`.
fn table_of<T: Mantissa>(setting: &Setting<'_>, degree: Degree, exponent: i32) -> Table<T> {
    let Setting { reference, scale, escape_radius, stop, .. } = *setting;
    let tolerance = 2_f64.powi(exponent);
    table(
        Level::best(),
        TableSetting {
            reference,
            scale,
            escape_radius,
            tolerance,
            degree,
            first_level: FIRST,
            threads: 1,
            watch: Watch::unseen(stop),
        },
    )
    .unwrap()
}

fn distance(exact: Extended<Dd>, found: Complex<Dd>) -> f64 {
    let minus = Complex { re: -found.re, im: -found.im };
    Bound::modulus(exact.plus(Extended::new(minus, 0))).to_f64()
}

fn in_pairs<T: Mantissa>(z: Complex<T>) -> Complex<Dd> {
    let pair = |part: T| Dd::from_parts(|index| if index < T::PARTS { part.part(index) } else { 0.0 });
    Complex { re: pair(z.re), im: pair(z.im) }
}

/// A delta in a direction.
fn delta<T: Mantissa>(random: &mut Random, size: f64) -> Complex<T> {
    let [x, y] = direction(random);
    Complex::of(Complex { re: Dd::whole(size * x), im: Dd::whole(size * y) })
}

#[test]
fn steps_are_within_their_bounds_and_need_the_roundings() {
    let mut random = Random(31);
    let stop = AtomicBool::new(false);
    let (mut checked, mut needed) = (0, 0);
    for number in 0..6 {
        let scale = [-60, -90, -150][number % 3];
        let place = place(&mut random, scale, 4000);
        let reference = &place.reference;
        let setting = setting(reference, scale, &stop);
        let table = blocks_of::<f64>(&setting);
        let orbit = Orbit::<_, false>::new(&setting, Shortcuts::blocks(&table));
        let rows: Vec<Row<f64>> = (0..200)
            .map(|_| {
                let m = 1 + 4 * (random.next() as usize % (reference.last() / 4 - 5));
                // Smaller than Z, and far from it: the orbit stays where Z is.
                let near = (0..16).map(|step| reference.at::<f64>(m + step).size()).fold(1.0, f64::min);
                let size = near * 2_f64.powi(-24 - (random.next() % 12) as i32);
                Row {
                    z: delta(&mut random, size),
                    c: Complex::of(offset(&mut random)),
                    e: 0.0,
                    derivative: Derivative::NONE,
                    m,
                    room: 4000,
                    slot: 0,
                }
            })
            .collect();
        for (level, what) in
            Level::available().into_iter().flat_map(|level| [What::Step, What::Steps].map(|what| (level, what)))
        {
            let period = if matches!(what, What::Step) { 1 << FIRST } else { 16 };
            let found = level.run(Run { orbit, rows: &rows, what });
            for (before, (after, _)) in rows.iter().zip(found) {
                let c = Extended::new(in_pairs(before.c), scale);
                let steps = period - (before.m - 1) % period;
                let exact = stepped(reference, before.m, steps, Extended::new(in_pairs(before.z), 0), c);
                let off = distance(exact, in_pairs(after.z));
                assert!(off <= after.e, "{off:e} of {:e} at {}", after.e, before.m);
                assert_eq!((after.m, after.room), (before.m + steps, before.room - steps));
                checked += 1;
                // What is added for the error of c is far below the roundings.
                needed += usize::from(off > 1e3 * orbit.of_c);
            }
        }
    }
    assert!(needed * 2 > checked, "a bound without roundings is caught: {needed} of {checked}");
}

#[test]
fn blocks_hold_for_every_delta_within_the_bound_and_are_not_taken_beyond() {
    check_blocks_taken(Degree::Second, -26);
    check_blocks_taken(Degree::Fourth, -26);
    check_blocks_taken(Degree::Fourth, -80);
}

fn check_blocks_taken(degree: Degree, exponent: i32) {
    let mut random = Random(32);
    let stop = AtomicBool::new(false);
    let (mut taken, mut refused, mut large) = (0, 0, 0);
    for scale in [-60, -90, -300] {
        let place = place(&mut random, scale, 4000);
        let reference = &place.reference;
        let setting = setting(reference, scale, &stop);
        let table = table_of::<Dd>(&setting, degree, exponent);
        let orbit = Orbit::<_, false>::new(&setting, Shortcuts::blocks(&table));
        let shortest = table.all().filter(|(m, steps, ..)| *steps == if *m == 0 { 5 } else { 4 });
        let (mut rows, mut radii) = (Vec::new(), Vec::new());
        for (m, _, radius, _) in shortest.step_by(3) {
            // |z| + e below the radius, and above it, though |z| alone is below.
            for (of_z, of_e) in [(0.6, 0.3), (0.3, 0.6), (0.6, 0.5), (0.95, 0.1)] {
                let (z, c) = (delta::<Dd>(&mut random, radius * of_z), offset(&mut random));
                let e = radius * of_e;
                rows.push(Row { z, c, e, derivative: Derivative::NONE, m, room: 4000, slot: 0 });
                radii.push(of_z + of_e);
            }
        }
        let level = Level::best();
        let looked = level.run(Run { orbit, rows: &rows, what: What::Look });
        for ((_, with_block), share) in looked.iter().zip(&radii) {
            assert_eq!(
                *with_block,
                *share < 1.0,
                "a block is taken where |z| + e is within its radius, and only there"
            );
            refused += usize::from(!with_block);
        }
        let rows: Vec<Row<Dd>> =
            rows.into_iter().zip(&radii).filter(|(_, share)| **share < 1.0).map(|(r, _)| r).collect();
        let found = level.run(Run { orbit, rows: &rows, what: What::Block });
        for (before, (after, _)) in rows.iter().zip(found) {
            // A delta at the edge of what the bound allows.
            let edge = before.z + delta::<Dd>(&mut random, before.e * (1.0 - 1e-9));
            let exact = stepped(
                reference,
                before.m,
                after.m - before.m,
                Extended::new(edge, 0),
                Extended::new(before.c, scale),
            );
            let off = distance(exact, after.z);
            assert!(off <= after.e, "{off:e} of {:e} after {} steps", after.e, after.m - before.m);
            let reach = Bound::modulus(Extended::new(before.z, 0)).to_f64() + before.e;
            let of_taken = table.all().find(|(m, steps, ..)| (*m, m + steps) == (before.m, after.m));
            assert!(of_taken.is_some_and(|(_, _, radius, _)| reach <= radius), "|z| + e is within the radius");
            taken += 1;
            large += usize::from(off > 0.2 * after.e);
        }
    }
    assert!(
        taken > 200 && refused > 200 && large * 4 > taken,
        "{taken} taken, {large} of them near the bound, {refused} refused"
    );
}

/// Blocks of numbers that are exact at first, far within the radius: what is off is the roundings.
#[test]
fn blocks_of_exact_deltas_are_within_their_bounds_and_need_the_roundings() {
    let mut random = Random(33);
    let stop = AtomicBool::new(false);
    let (mut checked, mut from_zero, mut near) = (0, 0, 0);
    for scale in [-60, -150, -300] {
        let place = place(&mut random, scale, 4000);
        let reference = &place.reference;
        let setting = setting(reference, scale, &stop);
        let table = blocks_of::<f64>(&setting);
        let orbit = Orbit::<_, false>::new(&setting, Shortcuts::blocks(&table));
        let rows: Vec<Row<f64>> = table
            .all()
            .filter(|(m, steps, ..)| *m == 0 || *steps == 4)
            .flat_map(|(m, _, radius, _)| [(m, radius); 4])
            .map(|(m, radius)| {
                let size = radius * 2_f64.powi(-30 - (random.next() % 8) as i32);
                let z = delta(&mut random, size);
                Row {
                    z,
                    c: Complex::of(offset(&mut random)),
                    e: 0.0,
                    derivative: Derivative::NONE,
                    m,
                    room: 4000,
                    slot: 0,
                }
            })
            .collect();
        let found = Level::best().run(Run { orbit, rows: &rows, what: What::Block });
        for (before, (after, _)) in rows.iter().zip(found) {
            let c = Extended::new(in_pairs(before.c), scale);
            let exact = stepped(reference, before.m, after.m - before.m, Extended::new(in_pairs(before.z), 0), c);
            let off = distance(exact, in_pairs(after.z));
            assert!(off <= after.e, "{off:e} of {:e} after {} steps from {}", after.e, after.m - before.m, before.m);
            checked += 1;
            from_zero += usize::from(before.m == 0);
            near += usize::from(off > 1e-2 * after.e);
        }
    }
    assert!(checked > 1000 && from_zero > 20, "{checked} blocks, {from_zero} from 0");
    assert!(near * 2 > checked, "a bound without roundings is caught: {near} of {checked}");
}

/// Blocks of the fourth degree, of exact deltas near their radii, at every level: what is off is the remainder and the errors of the terms in f64, which are far below these terms.
#[test]
fn blocks_of_the_fourth_degree_are_within_their_bounds_in_vectors() {
    let mut random = Random(35);
    let stop = AtomicBool::new(false);
    let (mut checked, mut near) = (0, 0);
    for (scale, exponent) in [(-60, -26), (-60, -80), (-150, -80), (-300, -80)] {
        let place = place(&mut random, scale, 4000);
        let reference = &place.reference;
        let setting = setting(reference, scale, &stop);
        let table = table_of::<Dd>(&setting, Degree::Fourth, exponent);
        let orbit = Orbit::<_, false>::new(&setting, Shortcuts::blocks(&table));
        let rows: Vec<Row<Dd>> = table
            .all()
            .step_by(3)
            .map(|(m, _, radius, _)| {
                let z = delta(&mut random, radius * 0.95);
                Row { z, c: offset(&mut random), e: 0.0, derivative: Derivative::NONE, m, room: 4000, slot: 0 }
            })
            .collect();
        for level in Level::available() {
            let found = level.run(Run { orbit, rows: &rows, what: What::Block });
            for (before, (after, _)) in rows.iter().zip(found) {
                let steps = after.m - before.m;
                let c = Extended::new(before.c, scale);
                let off = distance(stepped(reference, before.m, steps, Extended::new(before.z, 0), c), after.z);
                assert!(off <= after.e, "{off:e} of {:e} after {steps} steps from {}", after.e, before.m);
                checked += 1;
                near += usize::from(off > 1e-2 * after.e);
            }
        }
    }
    assert!(checked > 1000 && near * 4 > checked, "{near} of {checked} are near the bound");
}

/// The edge of a disc of f64 numbers.
fn at_edge(random: &mut Random, d: Complex<f64>, off: f64) -> Extended<Dd> {
    let centre = Complex { re: Dd::whole(d.re), im: Dd::whole(d.im) };
    Extended::new(centre + delta::<Dd>(random, off * (1.0 - 1e-9)), 0)
}

/// Derivatives of steps and blocks, of deltas and derivatives at the edge of what the bounds allow and of exact ones.
fn check_derivatives<T: Mantissa>(what: What) {
    let mut random = Random(34);
    let stop = AtomicBool::new(false);
    let (mut checked, mut near, mut cut_off) = (0, [0; 2], 0);
    for scale in [-40, -60, -90, -300] {
        let place = place(&mut random, scale, 4000);
        let reference = &place.reference;
        let setting = setting(reference, scale, &stop);
        let table = blocks_of::<T>(&setting);
        let orbit = Orbit::<_, true>::new(&setting, Shortcuts::blocks(&table));
        let mut rows: Vec<Row<T>> = Vec::new();
        for (m, _, radius, _) in table.all().filter(|(m, steps, ..)| *m > 0 && *steps == 4).step_by(2) {
            // Blocks are taken where twice |z| + e is within the radius. A step is for orbits near Z.
            let most = if what == What::Block { radius * 0.49 } else { radius * 1e-3 };
            for (of_e, of_off) in [(0.0, 0.0), (1e-4, 0.0), (0.0, 1e-4), (0.3, 0.3)] {
                let size = most * (1.0 - of_e) * 2_f64.powi(-((random.next() % 6) as i32));
                let (z, c) = (delta(&mut random, size), Complex::of(offset(&mut random)));
                let d = delta::<f64>(&mut random, 1.0);
                let derivative = Derivative { d, off: of_off };
                rows.push(Row { z, c, e: size * of_e, derivative, m, room: 4000, slot: 0 });
            }
        }
        let found = Level::best().run(Run { orbit, rows: &rows, what });
        let unit = Extended::new(Complex { re: Dd::whole(1.0), im: Dd::ZERO }, scale);
        for (number, (before, (after, _))) in rows.iter().zip(found).enumerate() {
            let z = Extended::new(in_pairs(before.z) + delta(&mut random, before.e * (1.0 - 1e-9)), 0);
            let d = at_edge(&mut random, before.derivative.d, before.derivative.off);
            let c = Extended::new(in_pairs(before.c), scale);
            let [_, exact] = derived(reference, before.m, after.m - before.m, [z, d], c, unit);
            let Derivative { d, off: bound } = after.derivative;
            let off = distance(exact, Complex { re: Dd::whole(d.re), im: Dd::whole(d.im) });
            assert!(off <= bound, "{off:e} of {bound:e} after {} steps from {}", after.m - before.m, before.m);
            checked += 1;
            match number % 4 {
                0 => cut_off += usize::from(off > 64.0 * f64::UNIT * exact.taxicab().to_f64()),
                1 => near[0] += usize::from(off > 0.05 * bound),
                2 => near[1] += usize::from(off > 0.2 * bound),
                _ => {}
            }
        }
    }
    let kind = checked / 4;
    assert!(kind > 100, "{kind} of each kind were checked");
    assert!(near[0] * 3 > kind, "a bound without the error of the delta is caught: {near:?} of {kind}");
    assert!(near[1] * 3 > kind, "a bound without the error before is caught: {near:?} of {kind}");
    assert!(what == What::Step || cut_off * 3 > kind, "a bound without the remainder is caught: {cut_off} of {kind}");
}

#[test]
fn derivatives_of_steps_are_within_their_bounds_and_need_them() {
    check_derivatives::<f64>(What::Step);
    check_derivatives::<Dd>(What::Step);
}

#[test]
fn derivatives_of_blocks_are_within_their_bounds_and_need_them() {
    check_derivatives::<f64>(What::Block);
    check_derivatives::<Dd>(What::Block);
}

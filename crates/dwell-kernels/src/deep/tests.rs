//! Tests of deltas, blocks and bounds against orbits in fixed point, which share no code with them but the limbs.

use super::Watch;
use super::blocks::{FIRST, MOST_FIRST, REACH, Table};
use super::direct::{self, Goal, Iterated};
use super::extended::{Bound, Extended};
use super::leading::pair;
use super::limbs::{Fixed, Stepper};
use super::mantissa::{Complex, Dd, Mantissa};
use super::orbit::{Found, Setting, Shortcuts};
use super::reference::{self, End, NoReference, Reference, Room};
use super::values::Units;
use super::{Degree, TableSetting, decide, table};
use crate::formula::Fold;
use crate::level::{Level, LevelName};
use crate::test_random::Random;
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::AtomicBool;

/// A point of the plane in fixed point: the f64 numbers, and digits behind them that are random.
fn fixed(random: &mut Random, value: f64, limbs: usize) -> Fixed {
    let mut fixed = Fixed::zero(limbs);
    fixed.negative = value < 0.0;
    let whole = value.abs().floor();
    fixed.limbs[limbs - 1] = whole as u64;
    fixed.limbs[limbs - 2] = ((value.abs() - whole) * 18_446_744_073_709_551_616.0) as u64;
    fixed.limbs[..limbs - 2].iter_mut().for_each(|limb| *limb = random.next());
    fixed
}

/// R^2 of the default radius.
pub(super) fn four(limbs: usize) -> Fixed {
    let mut four = Fixed::zero(limbs);
    four.limbs[limbs - 1] = 4;
    four
}

/// Adds v 2^scale, of which v is a pair.
pub(super) fn plus(mut at: Fixed, v: Dd, scale: i32) -> Fixed {
    let places = 64 * (at.limbs.len() as u32 - 1).cast_signed();
    for part in [v.hi, v.lo] {
        if part == 0.0 {
            continue;
        }
        // part = mantissa 2^exponent with a whole mantissa.
        let exponent = ((part.to_bits() >> 52) & 0x7ff) as i32 - 1075 + scale;
        let mantissa = part.to_bits() & ((1 << 52) - 1) | 1 << 52;
        let shift = places + exponent;
        assert!(shift >= 0, "too few limbs");
        let mut offset = Fixed::zero(at.limbs.len());
        let (limb, bit) = (shift as usize / 64, shift as usize % 64);
        offset.limbs[limb] = mantissa << bit;
        if bit > 11 {
            offset.limbs[limb + 1] = mantissa >> (64 - bit);
        }
        offset.negative = part < 0.0;
        at.add(&offset);
    }
    at
}

/// A point of the unit circle, to a few roundings.
pub(super) fn direction(random: &mut Random) -> [f64; 2] {
    let [x, y] = [random.unit() - 0.5, random.unit() - 0.5];
    let modulus = (x * x + y * y).sqrt();
    [x / modulus, y / modulus]
}

/// Points on the boundary of the set to 14 digits, found by bisection between a point inside and one outside.
fn boundary_point(random: &mut Random) -> [f64; 2] {
    let escapes = |[x, y]: [f64; 2]| {
        let (mut a, mut b) = (0.0_f64, 0.0_f64);
        (0..3000).any(|_| {
            (a, b) = (a * a - b * b + x, 2.0 * a * b + y);
            a * a + b * b > 4.0
        })
    };
    let outer = direction(random).map(|part| 2.1 * part);
    let (mut inside, mut outside) = ([-0.1 * random.unit(), 0.1 * random.unit()], outer);
    for _ in 0..52 {
        let middle = [f64::midpoint(inside[0], outside[0]), f64::midpoint(inside[1], outside[1])];
        *(if escapes(middle) { &mut outside } else { &mut inside }) = middle;
    }
    outside
}

pub(super) struct Place {
    pub(super) parts: [Fixed; 2],
    pub(super) scale: i32,
    pub(super) reference: Reference,
}

impl Place {
    /// The same with the orbit kept as waypoints.
    fn compressed(self, limit: u64) -> Self {
        let (stop, [x, y]) = (AtomicBool::new(false), self.parts.each_ref());
        let room = Room { pairs: 0, waypoints: 1 << 20 };
        let (radius, watch) = (Bound::new(REACH, self.scale), Watch::unseen(&stop));
        let reference = Reference::new(Level::best(), [x, y], radius, 4.0, limit, room, watch).unwrap();
        assert!(reference.is_compressed() && reference.pairs() == [&[] as &[[f64; 2]]; 2]);
        Self { reference, ..self }
    }
}

/// A place with a view of 2^scale about a point near the boundary.
pub(super) fn place(random: &mut Random, scale: i32, limit: u64) -> Place {
    let point = boundary_point(random);
    place_at(random, point, scale, limit)
}

/// A place with a view of 2^scale about a point, with random digits behind it.
pub(super) fn place_at(random: &mut Random, [x, y]: [f64; 2], scale: i32, limit: u64) -> Place {
    let mut limbs = 3 + ((170 - scale) as usize).div_ceil(64);
    let seed = random.0;
    loop {
        random.0 = seed;
        let parts = [fixed(random, x, limbs), fixed(random, y, limbs)];
        let stop = AtomicBool::new(false);
        match Reference::new(
            Level::best(),
            [&parts[0], &parts[1]],
            Bound::new(REACH, scale),
            4.0,
            limit,
            Room::of_pairs(1 << 20),
            Watch::unseen(&stop),
        ) {
            Ok(reference) => return Place { parts, scale, reference },
            Err(NoReference::TooFewBits) => limbs += 2,
            Err(other) => panic!("{other:?}"),
        }
    }
}

/// A view a thousand times as large as a copy of the set, about its nucleus: the reference ends there and is far shorter than orbits.
pub(super) fn place_at_a_nucleus(random: &mut Random) -> Place {
    let (limbs, stop) = (13, AtomicBool::new(false));
    loop {
        let [x, y] = boundary_point(random);
        let mut parts = [fixed(random, x, limbs), fixed(random, y, limbs)];
        let of = |parts: &[Fixed; 2], scale: i32| {
            Reference::new(
                Level::best(),
                [&parts[0], &parts[1]],
                Bound::new(REACH, scale),
                4.0,
                20_000,
                Room::of_pairs(1 << 20),
                Watch::unseen(&stop),
            )
        };
        let period = match of(&parts, -70) {
            Ok(reference) if reference.end == End::Period => reference.last(),
            _ => continue,
        };
        // Newton's method for Z_period = 0, with a derivative of 53 bits.
        let mut size = Bound::ZERO;
        for _ in 0..6 {
            let (mut z, mut stepper) = (parts.clone(), Stepper::new(Fold::None, [&parts[0], &parts[1]]));
            let one = Extended::new(Complex { re: 1.0, im: 0.0 }, 0);
            let (mut by_c, mut by_z) = (one, one);
            for _ in 1..period {
                let twice = Extended::<f64>::of(pair(&z[0], &z[1])).doubled();
                by_c = twice.times(by_c).plus(one);
                by_z = twice.times(by_z);
                stepper.step(&mut z);
            }
            // -Z / (dZ / dC) = -Z conj(dZ / dC) / |dZ / dC|^2.
            let square = Bound::modulus(by_c).times(Bound::modulus(by_c));
            let conjugate = Extended { m: Complex { re: by_c.m.re, im: -by_c.m.im }, e: by_c.e };
            let step = Extended::<f64>::of(pair(&z[0], &z[1])).times(conjugate);
            let unit = Bound::ONE.over(square);
            let by = |part: f64| Dd::whole(-part * unit.in_unit(unit.exponent()));
            let scale = step.e + unit.exponent();
            if scale > -500 {
                let [x, y] = parts;
                parts = [plus(x, by(step.m.re), scale), plus(y, by(step.m.im), scale)];
            }
            size = Bound::ONE.over(Bound::modulus(by_z).times(Bound::modulus(by_z)));
        }
        let scale = size.exponent() + 10;
        if !(-400..-100).contains(&scale) {
            continue;
        }
        match of(&parts, scale) {
            Ok(reference) if reference.end == End::Period => return Place { parts, scale, reference },
            _ => {}
        }
    }
}

pub(super) fn offset(random: &mut Random) -> Complex<Dd> {
    let part =
        |random: &mut Random| Dd::sum((random.unit() - 0.5) * 1.4, (random.unit() - 0.5) * 2_f64.powi(-60)).scaled(1.0);
    Complex { re: part(random), im: part(random) }
}

/// Two rows of four pixels, of a view of some dozen to some thousand pixels.
fn neighbours(random: &mut Random) -> Vec<Complex<Dd>> {
    let (first, spacing) = (offset(random), 2_f64.powi(-5 - (random.next() % 8) as i32));
    let part = |number: i32| Dd::whole(f64::from(number) * spacing);
    (0..8).map(|number| first + Complex { re: part(number % 4), im: part(number / 4) }).collect()
}

/// Units of distances and slopes for [`offset`]s, with pixels that are turned and stretched.
pub(super) const UNITS: Units =
    Units { height: 1.25, pixel: [Complex { re: 0.75, im: 0.25 }, Complex { re: -0.125, im: 1.0 }], farthest: 0.9901 };

/// What is computed of pixels.
#[derive(Clone, Copy)]
struct Wanted {
    limit: u64,
    smooth: bool,
    units: Option<Units>,
    /// The level of the shortest blocks.
    first_level: u32,
}

/// What a tier finds of some pixels.
fn by_deltas<T: Mantissa>(
    place: &Place,
    (tolerance, degree): (f64, Degree),
    wanted: Wanted,
    pixels: &[Complex<Dd>],
) -> Vec<Found> {
    let stop = AtomicBool::new(false);
    let level = Level::best();
    let Place { reference, scale, .. } = place;
    let of_table = TableSetting {
        reference,
        scale: *scale,
        escape_radius: 2.0,
        tolerance,
        degree,
        first_level: wanted.first_level,
        threads: 1,
        watch: Watch::unseen(&stop),
    };
    let table: Table<T> = table(level, of_table).unwrap();
    let Wanted { limit, smooth, units, .. } = wanted;
    let scale = *scale;
    let setting = Setting { reference, scale, escape_radius: 2.0, escape: 4.0, limit, smooth, units, stop: &stop };
    let pixels: Vec<Complex<T>> = pixels.iter().map(|pixel| Complex::of(*pixel)).collect();
    let mut found = vec![Found::Undecided; pixels.len()];
    decide(level, &setting, Shortcuts::blocks(&table), &pixels, &mut found);
    let mut again = vec![Found::Stays; pixels.len()];
    for level in Level::available() {
        decide(level, &setting, Shortcuts::blocks(&table), &pixels, &mut again);
        let is_decided = |found: &&Found| **found != Found::Undecided;
        // What is left open depends on the width of groups.
        for (found, again) in found.iter().zip(&again) {
            assert!(
                found == again || [found, again].contains(&&Found::Undecided),
                "{:?}: {found:?}, {again:?}",
                level.name()
            );
        }
        let [of_best, of_level] = [&found, &again].map(|list| list.iter().filter(is_decided).count());
        assert!(of_best.abs_diff(of_level) * 4 <= pixels.len(), "{:?}: {of_best}, {of_level}", level.name());
    }
    found
}

/// What orbits in fixed point give: by limbs, and the same by every level, on one thread and on three.
fn followed(goal: &Goal<'_>, points: &[[Fixed; 2]]) -> Vec<Found> {
    let of = |level, threads| {
        let queue = direct::Queue::new(points.len(), threads);
        let of_thread = || {
            let mut found = Vec::new();
            let mut point = |place: usize| points[place].clone();
            direct::follow(level, goal, &queue, &mut point, &mut |place, of| found.push((place, of)));
            found
        };
        let mut found = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(of_thread)).collect();
            let own = of_thread();
            others.into_iter().fold(own, |mut all, other| {
                all.extend(other.join().unwrap());
                all
            })
        });
        found.sort_by_key(|(place, _)| *place);
        assert!(found.iter().map(|(place, _)| *place).eq(0..points.len()), "each point once");
        found.into_iter().map(|(_, found)| found).collect::<Vec<_>>()
    };
    let by_limbs = of(Level::get(LevelName::Scalar).unwrap(), 1);
    for (level, threads) in Level::available().into_iter().flat_map(|level| [(level, 1), (level, 3)]) {
        for (found, by_limbs) in of(level, threads).into_iter().zip(&by_limbs) {
            let is_open = *by_limbs == Found::Undecided || found == Found::Undecided;
            assert!(is_open || found == *by_limbs, "{:?}, {threads}: {found:?}, {by_limbs:?}", level.name());
        }
    }
    for (level, threads) in Level::available().into_iter().flat_map(|level| [(level, 1), (level, 3)]) {
        let (found, _) = followed_in_turns((level, threads), goal, points);
        for (found, by_limbs) in found.into_iter().zip(&by_limbs) {
            let is_open = *by_limbs == Found::Undecided || found == Found::Undecided;
            assert!(is_open || found == *by_limbs, "{:?}, {threads}, in turns: {found:?}, {by_limbs:?}", level.name());
        }
    }
    by_limbs
}

/// The same by queues that stop, each with some more points and the orbits that the one before left under way, and how many these were.
fn followed_in_turns((level, threads): (Level, usize), goal: &Goal<'_>, points: &[[Fixed; 2]]) -> (Vec<Found>, usize) {
    const MORE: usize = 11;
    let mut found = vec![None; points.len()];
    let (mut open, mut kept, mut next, mut all_kept) = (Vec::new(), HashMap::new(), 0, 0);
    while next < points.len() || !open.is_empty() {
        let required = if next < points.len() { next / MORE % 3 } else { usize::MAX };
        let end = (next + MORE).min(points.len());
        open.extend(next..end);
        next = end;
        if next % 2 == 0 {
            // Orbits under way go on in lanes that others leave, too.
            open.reverse();
        }
        let of_list = open.iter().enumerate().filter_map(|(place, point)| Some((place, kept.remove(point)?)));
        let queue = direct::Queue::that_stops((open.len(), of_list.collect()), threads, required.min(open.len()));
        let of_thread = || {
            let mut found = Vec::new();
            let mut point = |place: usize| points[open[place]].clone();
            direct::follow(level, goal, &queue, &mut point, &mut |place, of| found.push((open[place], of)));
            found
        };
        let decided = std::thread::scope(|scope| {
            let all: Vec<_> = (0..threads).map(|_| scope.spawn(of_thread)).collect();
            all.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        for (point, of) in decided {
            assert!(found[point].replace(of).is_none(), "once");
        }
        let of_required = &open[..required.min(open.len())];
        assert!(of_required.iter().all(|point| found[*point].is_some()), "all that are required");
        kept.extend(queue.into_under_way().into_iter().map(|(place, orbit)| (open[place], orbit)));
        open.retain(|point| found[*point].is_none());
        all_kept += open.len();
        assert!(open.iter().all(|point| kept.contains_key(point)), "what is not decided is under way");
    }
    (found.into_iter().map(Option::unwrap).collect(), all_kept)
}

#[test]
fn orbits_of_many_lengths_are_left_under_way_and_gone_on_with() {
    let (mut random, stop, four) = (Random(83), AtomicBool::new(false), four(5));
    // Beside the boundary at -3/4: dwells from 30 to 3000 and more.
    let points: Vec<_> = (0..64)
        .map(|number| [-0.75, 0.1 / (1.0 + f64::from(number) * 1.7)].map(|part| fixed(&mut random, part, 5)))
        .collect();
    // Without derivatives, with some that are below the range of f64 at first, and with others.
    for units in [None, Some((UNITS, -900)), Some((UNITS, -4))] {
        let goal = Goal {
            iterated: Iterated::default(),
            limbs: 5,
            error: 6.0,
            escape: 4.0,
            exact_escape: &four,
            limit: 100_000,
            smooth: true,
            units,
            stop: &stop,
        };
        let found = followed(&goal, &points);
        let dwells: BTreeSet<_> = found
            .iter()
            .filter(|found| matches!(found, Found::Escapes(..)))
            .map(|found| format!("{found:?}"))
            .collect();
        assert!(dwells.len() > 50, "{dwells:?}");
        for (level, threads) in Level::available().into_iter().flat_map(|level| [(level, 1), (level, 3)]) {
            let (again, kept) = followed_in_turns((level, threads), &goal, &points);
            assert_eq!(again, found, "{:?}, {threads}", level.name());
            // One thread that follows several leaves the others when one ends. With several threads it depends on which comes first.
            assert!(threads > 1 || direct::at_once(level) == 1 || kept > 0, "{:?}", level.name());
        }
    }
}

#[test]
fn dwells_by_deltas_are_those_of_orbits_in_fixed_point() {
    let mut random = Random(11);
    let (mut decided, mut total, mut periods) = (0, 0, 0);
    for number in 0..60 {
        let scale = -[3, 20, 45, 60, 90, 150, 300, 450, 700, 1300][number % 10];
        let limit = if number % 3 == 0 { 300 } else { 20_000 };
        let place = if number % 10 == 3 { place_at_a_nucleus(&mut random) } else { place(&mut random, scale, limit) };
        let scale = place.scale;
        let place = if number % 5 == 1 { place.compressed(limit) } else { place };
        periods += usize::from(place.reference.end == End::Period);
        let mut pixels: Vec<Complex<Dd>> = (0..8).map(|_| offset(&mut random)).collect();
        pixels.extend((0..2).flat_map(|_| neighbours(&mut random)));
        let wanted = Wanted {
            limit,
            smooth: number % 2 == 0,
            units: (number % 4 > 1).then_some(UNITS),
            first_level: [FIRST, 4, MOST_FIRST][number / 10 % 3],
        };
        let stop = AtomicBool::new(false);
        let points: Vec<[Fixed; 2]> = pixels
            .iter()
            .map(|pixel| {
                let [x, y] = place.parts.clone();
                [plus(x, pixel.re, scale), plus(y, pixel.im, scale)]
            })
            .collect();
        let Wanted { limit, smooth, units, .. } = wanted;
        let (limbs, of_units) = (points[0][0].limbs.len(), units.map(|units| (units, scale)));
        let exact = followed(
            &Goal {
                iterated: Iterated::default(),
                limbs,
                error: 0.0,
                escape: 4.0,
                exact_escape: &four(limbs),
                limit,
                smooth,
                units: of_units,
                stop: &stop,
            },
            &points,
        );
        let check = |found: Vec<Found>, name: &str| {
            let mut decided = 0;
            for (found, exact) in found.iter().zip(&exact) {
                let is_open = *found == Found::Undecided || *exact == Found::Undecided;
                assert!(is_open || found == exact, "{name}, place {number}: {found:?}, exactly {exact:?}");
                decided += usize::from(!is_open);
            }
            decided
        };
        decided += check(by_deltas::<f64>(&place, (2_f64.powi(-26), Degree::Second), wanted, &pixels), "f64 2^-26");
        decided += check(by_deltas::<f64>(&place, (2_f64.powi(-44), Degree::Second), wanted, &pixels), "f64 2^-44");
        decided += check(by_deltas::<Dd>(&place, (2_f64.powi(-60), Degree::Second), wanted, &pixels), "pairs 2^-60");
        decided += check(by_deltas::<Dd>(&place, (2_f64.powi(-88), Degree::Second), wanted, &pixels), "pairs 2^-88");
        // Views of the fourth degree have no derivatives.
        if units.is_none() {
            decided += check(
                by_deltas::<Dd>(&place, (2_f64.powi(-80), Degree::Fourth), wanted, &pixels),
                "pairs of the fourth degree",
            );
            total += pixels.len();
        }
        total += 4 * pixels.len();
    }
    assert!(decided * 10 > total * 8 && periods > 10, "{decided} of {total} were decided, {periods} periods");
}

/// The delta after `steps` steps from m, in pairs of f64 with exponents, and whether every iterate of a view's point stays within 2.
pub(super) fn stepped(reference: &Reference, m: usize, steps: usize, z: Extended<Dd>, c: Extended<Dd>) -> Extended<Dd> {
    derived(reference, m, steps, [z, Extended::ZERO], c, Extended::ZERO)[0]
}

/// The delta and its derivative after `steps` steps from m, where a step adds `unit` to the derivative.
pub(super) fn derived(
    reference: &Reference,
    m: usize,
    steps: usize,
    [mut z, mut d]: [Extended<Dd>; 2],
    c: Extended<Dd>,
    unit: Extended<Dd>,
) -> [Extended<Dd>; 2] {
    for step in 0..steps {
        let w = reference.extended::<Dd>(m + step).plus(z);
        assert!(Bound::modulus(w).to_f64() < 2.0 + 1e-9, "an orbit escapes within a block");
        z = z.times(reference.extended::<Dd>(m + step).plus(w)).plus(c);
        d = w.times(d).doubled().plus(unit);
    }
    [z, d]
}

/// The errors of blocks over random deltas in their domains are within the bounds, and would not be without the part for the remainder: the terms that blocks leave out.
fn check_blocks(degree: Degree, exponent: i32, scales: &[i32]) {
    let mut random = Random(5);
    let stop = AtomicBool::new(false);
    let (mut checked, mut from_zero, mut beyond_roundings, mut of_higher) = (0, 0, 0, 0);
    for scale in scales.iter().copied() {
        let place = place(&mut random, scale, 4000);
        let reference = &place.reference;
        let (tolerance, watch) = (2_f64.powi(exponent), Watch::unseen(&stop));
        let first_level = [FIRST, 4, MOST_FIRST][scale.unsigned_abs() as usize / 10 % 3];
        let setting =
            TableSetting { reference, scale, escape_radius: 2.0, tolerance, degree, first_level, threads: 1, watch };
        let table: Table<Dd> = table(Level::best(), setting).unwrap();
        let every = if first_level == FIRST { 7 } else { 2 };
        for (m, steps, radius, entry) in table.all().step_by(every) {
            let higher = table.terms_above(m, steps);
            for number in 0..4 {
                let c = offset(&mut random);
                let smaller = if number == 0 { 0.0 } else { random.unit() * 20.0 };
                let size = radius * (1.0 - 0.1 * random.unit()) * 2_f64.powi(-(smaller as i32));
                let [x, y] = direction(&mut random);
                let z = Complex { re: Dd::whole(size * x), im: Dd::whole(size * y) };
                let exact = stepped(reference, m, steps, Extended::new(z, 0), Extended::new(c, scale));
                let block = (entry.a + entry.s * c + entry.q * z) * z + (entry.b + entry.t * c) * c;
                let minus = |of: Complex<Dd>| Extended::new(Complex { re: -of.re, im: -of.im }, 0);
                let off = Bound::modulus(exact.plus(minus(block + higher_at(&higher, z, c)))).to_f64();
                let reach = size * (1.0 + 1e-12);
                let [k0, k1, k2, k3] = entry.k;
                let bound = ((k3 * reach + k2) * reach + k1) * reach + k0;
                // The comparison itself has roundings of 2^-100 of the values, times the steps.
                let own = 2_f64.powi(-97) * steps as f64 * (exact.taxicab().to_f64() + reach * 4.0);
                assert!(off <= bound + own, "scale {scale}, {steps} steps at {m}: {off:e} of {bound:e}");
                checked += 1;
                from_zero += usize::from(m == 0);
                beyond_roundings += usize::from(off > 1e3 * own);
                let off_of_second = Bound::modulus(exact.plus(minus(block))).to_f64();
                of_higher += usize::from(off_of_second > bound + own);
            }
        }
    }
    assert!(checked > 1000 && (from_zero > 20 || degree == Degree::Fourth), "{checked} blocks, {from_zero} from 0");
    if degree == Degree::Second {
        assert!(
            beyond_roundings * 4 > checked,
            "a bound without the remainder is caught: {beyond_roundings} of {checked}"
        );
    } else {
        assert!(of_higher * 4 > checked, "terms that are left out are caught: {of_higher} of {checked}");
    }
}

/// The terms of the third and the fourth degree, as these are listed, in pairs.
fn higher_at(terms: &[Complex<f64>; 9], z: Complex<Dd>, c: Complex<Dd>) -> Complex<Dd> {
    let mut sum = Complex::<Dd>::ZERO;
    for (number, term) in terms.iter().enumerate() {
        let (degree, of_c) = if number < 4 { (3, number) } else { (4, number - 4) };
        let mut product = Complex { re: Dd::whole(term.re), im: Dd::whole(term.im) };
        for factor in 0..degree {
            product = product * if factor < of_c { c } else { z };
        }
        sum = sum + product;
    }
    sum
}

#[test]
fn blocks_are_within_their_bounds_and_need_them() {
    check_blocks(Degree::Second, -26, &[-40, -45, -80, -200, -460, -900]);
}

/// At 2^-26 the remainder is far above the roundings of the comparison; at 2^-80 the errors of the terms in f64 are what is left.
#[test]
fn blocks_of_the_fourth_degree_are_within_their_bounds() {
    check_blocks(Degree::Fourth, -26, &[-20, -40, -45, -80, -200, -390]);
    check_blocks(Degree::Fourth, -80, &[-60, -100, -150, -200, -300, -390]);
}

/// Radii are those of far larger deltas.
#[test]
fn blocks_of_the_fourth_degree_reach_further() {
    let mut random = Random(12);
    let stop = AtomicBool::new(false);
    let place = place(&mut random, -120, 4000);
    let (reference, scale, watch) = (&place.reference, place.scale, Watch::unseen(&stop));
    let table = |degree| -> Table<Dd> {
        let tolerance = 2_f64.powi(-80);
        let first_level = FIRST;
        let setting =
            TableSetting { reference, scale, escape_radius: 2.0, tolerance, degree, first_level, threads: 1, watch };
        table(Level::best(), setting).unwrap()
    };
    let [second, fourth] = [Degree::Second, Degree::Fourth].map(table);
    let mut checked = 0;
    for ((m, steps, radius, _), (of_other, other, larger, _)) in second.all().filter(|(m, ..)| *m > 0).zip(fourth.all())
    {
        assert_eq!((m, steps), (of_other, other));
        // 2^-20 and 2^-40 of a distance, but for factors.
        let ratio = larger / radius;
        assert!((2_f64.powi(14)..2_f64.powi(26)).contains(&ratio), "{steps} steps at {m}: {ratio:e}");
        checked += 1;
    }
    assert!(checked > 500, "{checked}");
}

/// A table whose shortest blocks are longer has the blocks of another that are as long, and no others.
#[test]
fn coarse_tables_are_parts_of_fine_ones() {
    fn check<T: Mantissa + std::fmt::Debug>(scale: i32, degree: Degree) {
        let stop = AtomicBool::new(false);
        let place = place(&mut Random(15), scale, 4000);
        let (reference, scale, watch) = (&place.reference, place.scale, Watch::unseen(&stop));
        let steps = reference.last() as u64;
        let all = |first_level| -> Vec<String> {
            let (tolerance, escape_radius) = (2_f64.powi(-60), 2.0);
            let setting =
                TableSetting { reference, scale, escape_radius, tolerance, degree, first_level, threads: 1, watch };
            let table: Table<T> = table(Level::best(), setting).unwrap();
            assert_eq!(table.first_level(), first_level);
            let shortest = 1 << first_level;
            let of =
                |(m, steps, radius, entry)| (steps >= shortest).then(|| format!("{m} {steps} {radius:e} {entry:?}"));
            table.all().filter(|(m, ..)| *m > 0).filter_map(of).collect()
        };
        let fine = all(FIRST);
        for first_level in FIRST..=MOST_FIRST {
            let coarse = all(first_level);
            let has_steps = |line: &&String| {
                let steps: usize = line.split(' ').nth(1).unwrap().parse().unwrap();
                let m: usize = line.split(' ').next().unwrap().parse().unwrap();
                steps >> first_level > 0 && (m - 1).is_multiple_of(1 << first_level)
            };
            let of_fine: Vec<&String> = fine.iter().filter(has_steps).collect();
            assert!(of_fine.len() > 10 && of_fine.iter().copied().eq(coarse.iter()), "2^{scale}, {first_level}");
            let bytes = |first_level| Table::<T>::bytes(steps, scale, degree, first_level);
            // Below the range of f64, a larger share of the blocks have a second form.
            let is_half = |level| scale < -400 || bytes(level) <= bytes(level - 1) / 2 + (1 << 16);
            assert!(first_level == FIRST || bytes(first_level) < bytes(first_level - 1) && is_half(first_level));
        }
    }
    check::<f64>(-60, Degree::Second);
    check::<Dd>(-120, Degree::Second);
    check::<Dd>(-120, Degree::Fourth);
    check::<f64>(-600, Degree::Second);
}

/// The beginning of all pixels is that of each, and some are long.
#[test]
fn beginnings_are_those_of_each_pixel() {
    let mut random = Random(6);
    let stop = AtomicBool::new(false);
    let (mut checked, mut periods) = (0, 0);
    for number in 0..24 {
        let place = if number % 2 == 0 {
            place_at_a_nucleus(&mut random)
        } else {
            place(&mut random, [-60, -300, -500, -900][number / 2 % 4], 20_000)
        };
        let scale = place.scale;
        let reference = &place.reference;
        let setting = TableSetting {
            reference,
            scale,
            escape_radius: 2.0,
            tolerance: 2_f64.powi(-26),
            degree: if number % 3 == 2 { Degree::Fourth } else { Degree::Second },
            first_level: if number % 4 == 3 { MOST_FIRST } else { FIRST },
            threads: 1,
            watch: Watch::unseen(&stop),
        };
        let table: Table<Dd> = table(Level::best(), setting).unwrap();
        let start = table.start;
        let ([p, b, t], of_start) = start.coefficients();
        for _ in 0..8 {
            let c = offset(&mut random);
            let wide = Extended::new(c, scale);
            // Steps from m = 1, rebased where the reference ends.
            let unit = Extended::new(Complex { re: Dd::whole(1.0), im: Dd::ZERO }, scale);
            let (mut z, mut d, mut m) = (wide, unit, 1);
            for _ in 1..start.n() {
                if m == reference.last() {
                    (z, m) = (reference.extended::<Dd>(m).plus(z), 0);
                }
                [z, d] = derived(reference, m, 1, [z, d], wide, unit);
                m += 1;
            }
            if m != start.m() {
                (z, m) = (reference.extended::<Dd>(m).plus(z), 0);
            }
            assert_eq!(m, start.m());
            let mut found = Extended::new(p + (b + t * c) * c, of_start);
            let minus = start.derivative(c, 1.0 / (REACH - UNITS.farthest));
            let minus_d = Complex { re: Dd::whole(-minus.d.m.re), im: Dd::whole(-minus.d.m.im) };
            let off = Bound::modulus(d.plus(Extended::new(minus_d, minus.d.e)));
            assert!(!minus.off.below(off), "derivative at 2^{scale}: {off:?} of {:?}", minus.off);
            found.m = Complex { re: -found.m.re, im: -found.m.im };
            let off = Bound::modulus(z.plus(found));
            let own = z.taxicab().times(Bound::new(start.n() as f64, -97));
            assert!(!start.e.plus(own).below(off), "2^{scale}: {off:?} of {:?}", start.e);
            checked += 1;
            periods += usize::from(start.n() > reference.last() as u64);
        }
    }
    assert!(checked > 100 && periods > 10, "{checked} pixels, {periods} beyond the first period");
}

#[test]
fn references_end_at_periods_escapes_and_limits() {
    let mut random = Random(2);
    let stop = AtomicBool::new(false);
    let near = |random: &mut Random, x: f64, y: f64| [fixed(random, x, 6), fixed(random, y, 6)];
    let of = |[x, y]: &[Fixed; 2], radius: Bound, limit| {
        Reference::new(Level::best(), [x, y], radius, 4.0, limit, Room::of_pairs(1 << 20), Watch::unseen(&stop))
    };
    // Near the centre of the disc of period 2, and of the component of period 3 on the axis.
    let two = of(&near(&mut random, -1.0, 0.0), Bound::new(1.0, -50), 1000).unwrap();
    assert_eq!((two.end, two.last()), (End::Period, 2));
    let three = of(&near(&mut random, -1.754_877_666_246_693, 0.0), Bound::new(1.0, -45), 1000).unwrap();
    assert_eq!((three.end, three.last()), (End::Period, 3));
    let escape = of(&near(&mut random, 0.5, 0.5), Bound::new(1.0, -100), 1000).unwrap();
    assert_eq!(escape.end, End::Escape);
    let limit = of(&near(&mut random, -0.1, 0.1), Bound::new(1.0, -100), 50).unwrap();
    assert_eq!((limit.end, limit.last()), (End::Limit, 50));
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let stopped = of(&near(&mut random, -0.1, 0.1), Bound::new(1.0, -100), 50);
    assert_eq!(stopped.err(), Some(NoReference::Stopped));
}

#[test]
fn orbits_that_are_kept_as_waypoints_are_as_precise() {
    let mut random = Random(31);
    for scale in [-60, -60, -300, -1300, 0] {
        // At a nucleus Z_M is 0 but for 2^-500, and orbits in a deep view come near 0 on their way.
        let whole = if scale == 0 { place_at_a_nucleus(&mut random) } else { place(&mut random, scale, 5000) };
        let limit = if scale == 0 { 20_000 } else { 5000 };
        let pairs = whole.reference.clone();
        let computed = whole.compressed(limit).reference;
        let last = pairs.last();
        assert_eq!((computed.last(), computed.end), (last, pairs.end));
        assert_eq!(
            format!("{:?} {:?}", computed.end_error, computed.tiny),
            format!("{:?} {:?}", pairs.end_error, pairs.tiny)
        );
        // Few are kept themselves.
        let most = 5 * Reference::bytes_of_waypoints(last as u64) / 4 + 256 * (64 + 40);
        assert!(computed.allocated() <= most, "{last}: {}", computed.allocated());
        let is_near = |own: Complex<Dd>, other: Complex<Dd>| {
            let off = Complex { re: own.re + -other.re, im: own.im + -other.im };
            off.size() <= other.size() * 2_f64.powi(-104)
        };
        // In order, and in none.
        let others: Vec<usize> = (0..2000).map(|_| random.next() as usize % (last + 1)).collect();
        for m in (0..=last).chain(others) {
            let [own, other] = [&computed, &pairs].map(|reference| reference.at::<Dd>(m));
            assert!(is_near(own, other), "2^{scale}, Z_{m} of {last}: {own:?}, {other:?}");
        }
        let mut windows = reference::windows();
        for _ in 0..200 {
            let at = std::array::from_fn(|lane| if lane == 0 { last } else { random.next() as usize % (last + 1) });
            computed.fill(&at, &mut windows);
            for (lane, m) in at.into_iter().enumerate() {
                // Up to the next waypoint, where blocks may begin.
                let count = if m == 0 { 1 } else { 16 - (m - 1) % 16 };
                for step in 0..count.min(last + 1 - m) {
                    let value = computed.at::<Dd>(m + step);
                    assert_eq!(windows[0][lane][step], [value.re.hi, value.im.hi], "{m} + {step}");
                    assert_eq!(windows[1][lane][step], [value.re.lo, value.im.lo], "{m} + {step}");
                }
            }
        }
    }
}

#[test]
fn orbits_without_room_for_pairs_are_kept_as_waypoints() {
    let mut random = Random(33);
    // Beside the cusp, where orbits are long.
    let place = place_at(&mut random, [0.25, 0.0], -200, 20_000);
    let (stop, [x, y]) = (AtomicBool::new(false), place.parts.each_ref());
    let entries = place.reference.last() + 1;
    assert!(entries > 9000, "{entries}");
    let of = |pairs, waypoints| {
        let (radius, room) = (Bound::new(REACH, -200), Room { pairs, waypoints });
        Reference::new(Level::best(), [x, y], radius, 4.0, 20_000, room, Watch::unseen(&stop))
    };
    for (pairs, is_compressed) in [(0, true), (5000, true), (entries / 2, true), (entries + 100, false)] {
        let reference = of(pairs, 1 << 20).unwrap();
        assert_eq!(reference.is_compressed(), is_compressed, "{pairs}");
        let off = |m: usize| {
            let [own, other] = [&reference, &place.reference].map(|reference| reference.at::<f64>(m));
            (own.re - other.re).abs().max((own.im - other.im).abs())
        };
        assert!((0..entries).all(|m| off(m) < 1e-15));
    }
    assert_eq!(of(5000, 5000).err(), Some(NoReference::Memory));
    assert_eq!(of(0, entries / 2).err(), Some(NoReference::Memory));
}

#[test]
fn points_inside_the_set_are_proved_to_stay_at_any_limit() {
    let mut random = Random(21);
    let stop = AtomicBool::new(false);
    // The cardioid, components of periods 2, 3 and 4, near their centres and near their rims; with a view of one component and of the whole set.
    let places = [
        (-0.1, 0.1),
        (0.2, 0.3),
        (-1.1, 0.05),
        (-1.754_8, 0.000_5),
        (-0.125, 0.74),
        (-1.31, 0.01),
        (-0.7, 0.05),
        (0.28, 0.53),
    ];
    for (x, y) in places {
        for scale in [-120, -60, -12] {
            let parts = [fixed(&mut random, x, 8), fixed(&mut random, y, 8)];
            let limit = i64::MAX as u64;
            let radius = Bound::new(REACH, scale);
            let mut reference = Reference::new(
                Level::best(),
                [&parts[0], &parts[1]],
                radius,
                4.0,
                1 << 16,
                Room::of_pairs(1 << 20),
                Watch::unseen(&stop),
            )
            .unwrap();
            let is_deep = scale < -50;
            assert!(
                !is_deep || matches!(reference.end, End::Trap | End::Period),
                "{x} {y} {scale}: {:?}",
                reference.end
            );
            // The view-wide proof is for the whole view; a view of 2^-12 is decided point by point.
            reference.end = if is_deep { reference.end } else { End::Limit };
            let place = Place { parts, scale, reference };
            let pixels: Vec<Complex<Dd>> = (0..8).map(|_| offset(&mut random)).collect();
            let wanted = Wanted { limit, smooth: true, units: None, first_level: FIRST };
            let found = by_deltas::<f64>(&place, (2_f64.powi(-26), Degree::Second), wanted, &pixels);
            assert_eq!(found, [Found::Stays; 8], "{x} {y} 2^{scale}");
        }
    }
}

#[test]
fn points_that_are_attracted_slowly_are_proved_to_stay_in_a_view_of_the_whole_set() {
    // Beside the rim of the cardioid. Attempts fail there one after the other before one does not, and each that
    // follows on another goes back to before the first.
    let mut random = Random(23);
    let stop = AtomicBool::new(false);
    let parts = [fixed(&mut random, -0.75, 8), fixed(&mut random, 0.0, 8)];
    let reference = Reference::new(
        Level::best(),
        [&parts[0], &parts[1]],
        Bound::new(REACH, 2),
        4.0,
        9,
        Room::of_pairs(9),
        Watch::unseen(&stop),
    )
    .unwrap();
    assert_eq!((reference.end, reference.last()), (End::Period, 1));
    let place = Place { parts, scale: 2, reference };
    // c = mu / 2 - mu^2 / 4 has a fixed point with the multiplier mu.
    let pixel = |turns: f64, modulus: f64| {
        let (sine, cosine) = (turns * std::f64::consts::TAU).sin_cos();
        let mu = Complex { re: modulus * cosine, im: modulus * sine };
        let square = mu * mu;
        let part = |mu: f64, square: f64| (mu / 2.0 - square / 4.0) / 4.0;
        Complex { re: Dd::whole(part(mu.re, square.re) + 0.1875), im: Dd::whole(part(mu.im, square.im)) }
    };
    let turns = [0.09, 0.161, 0.23, 0.289, 0.357, 0.41, 0.443, 0.487];
    let pixels: Vec<_> =
        turns.iter().flat_map(|turns| [0.97, 0.99, 0.997].map(|modulus| pixel(*turns, modulus))).collect();
    let wanted = Wanted { limit: i64::MAX as u64, smooth: true, units: None, first_level: FIRST };
    assert_eq!(by_deltas::<f64>(&place, (2_f64.powi(-26), Degree::Second), wanted, &pixels), [Found::Stays; 24]);
}

/// The dwell of a point by steps alone, without bounds.
fn by_plain_steps(parts: &[Fixed; 2], limit: u64) -> Option<u64> {
    let mut stepper = Stepper::new(Fold::None, parts.each_ref());
    let mut z = parts.clone();
    for n in 1..=limit {
        if z[0].at_point().powi(2) + z[1].at_point().powi(2) > 4.0 {
            return Some(n);
        }
        stepper.step(&mut z);
    }
    None
}

/// What fixed point finds of points without a limit. A minute later what is left is undecided: without a proof, an orbit that stays never ends.
fn followed_without_limit(points: &[[Fixed; 2]], units: Option<(Units, i32)>) -> Vec<Found> {
    let (stop, limbs) = (AtomicBool::new(false), points[0][0].limbs.len());
    let four = four(limbs);
    let goal = Goal {
        iterated: Iterated::default(),
        limbs,
        error: 2.0,
        escape: 4.0,
        exact_escape: &four,
        limit: i64::MAX as u64,
        smooth: false,
        units,
        stop: &stop,
    };
    std::thread::scope(|scope| {
        let (done, wait) = std::sync::mpsc::channel::<()>();
        let stop = &stop;
        scope.spawn(move || {
            if wait.recv_timeout(std::time::Duration::from_secs(60)).is_err() {
                stop.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        });
        let found = followed(&goal, points);
        done.send(()).unwrap();
        found
    })
}

#[test]
fn orbits_in_fixed_point_are_proved_to_stay_at_any_limit_and_only_those() {
    let mut random = Random(24);
    let mut cases = [0; 2];
    for _ in 0..4 {
        let place = place_at_a_nucleus(&mut random);
        // The size of the copy is 2^-10 of the view, to a small factor; its angle is unknown. Three circles about its nucleus.
        let limit = 100 * place.reference.last() as u64;
        let points: Vec<[Fixed; 2]> = (0..24)
            .map(|number| {
                let (sine, cosine) = (f64::from(number % 8) / 8.0 * std::f64::consts::TAU).sin_cos();
                let radius = [0.01, 0.06, 0.3][number as usize / 8] * 2_f64.powi(-10);
                let [x, y] = place.parts.clone();
                [plus(x, Dd::whole(radius * cosine), place.scale), plus(y, Dd::whole(radius * sine), place.scale)]
            })
            .collect();
        let all = followed_without_limit(&points, None);
        // Few points are followed one by one, many in vectors where the processor has these; with derivatives each step is looked at.
        assert_eq!(followed_without_limit(&points[3..4], None), all[3..4]);
        let stays = |found: &Found| *found == Found::Stays;
        let derived = followed_without_limit(&points[..8], Some((UNITS, place.scale)));
        assert!(derived.iter().zip(&all).all(|(derived, found)| stays(derived) == stays(found)));
        for (point, found) in points.iter().zip(&all) {
            // One of more chaotic periods than there are bits is undecided.
            let expected = match found {
                Found::Stays => None,
                Found::Escapes(n, _) => Some(*n).filter(|n| *n <= limit),
                Found::Undecided => continue,
            };
            assert_eq!(by_plain_steps(point, limit), expected, "{found:?}");
            cases[usize::from(stays(found))] += 1;
        }
    }
    assert!(cases.iter().all(|count| *count > 20), "{cases:?} escape and stay");
}

#[test]
fn nothing_that_escapes_is_trapped() {
    // Just outside of the rims of components, where orbits seem to be attracted for a long time.
    let mut random = Random(22);
    let stop = AtomicBool::new(false);
    for (x, y, limit) in
        [(0.25 + 1e-6, 0.0, 100_000), (-0.75, 1e-5, 1_000_000), (-1.25, 2e-4, 100_000), (0.25 + 1e-4, 1e-9, 9000)]
    {
        for scale in [-30, -70, -200] {
            let parts = [fixed(&mut random, x, 9), fixed(&mut random, y, 9)];
            let radius = Bound::new(REACH, scale);
            let reference = Reference::new(
                Level::best(),
                [&parts[0], &parts[1]],
                radius,
                4.0,
                limit,
                Room::of_pairs(1 << 22),
                Watch::unseen(&stop),
            )
            .unwrap();
            assert_ne!(reference.end, End::Trap);
            let place = Place { parts, scale, reference };
            let wanted = Wanted { limit, smooth: false, units: None, first_level: MOST_FIRST };
            let found = by_deltas::<f64>(&place, (2_f64.powi(-26), Degree::Second), wanted, &[Complex::ZERO; 1]);
            let [a, b] = [&place.parts[0], &place.parts[1]];
            let four = four(a.limbs.len());
            let goal = Goal {
                iterated: Iterated::default(),
                limbs: a.limbs.len(),
                error: 0.0,
                escape: 4.0,
                exact_escape: &four,
                limit,
                smooth: false,
                units: None,
                stop: &stop,
            };
            let exact = followed(&goal, &[[a.clone(), b.clone()]])[0];
            assert!(
                found[0] == exact || found[0] == Found::Undecided,
                "{x} {y} 2^{scale}: {:?}, exactly {exact:?}",
                found[0]
            );
            assert_ne!(exact, Found::Stays);
        }
    }
}

//! Blocks of every formula against their steps, in pairs of f64 with exponents.

use super::super::folds::{of_extended, of_value};
use super::super::power::difference;
use super::super::tests::{KINDS, Place};
use super::*;
use crate::deep::derivative::UP;
use crate::deep::extended::{Extended, power_of_two};
use crate::deep::formulas::derivative::Columns;
use crate::deep::lanes::{ComplexLanes, Lanes, Reals, transposed};
use crate::deep::mantissa::{Complex, Dd};
use crate::test_random::Random;
use fearless_simd::Fallback;

/// A delta after steps from an index, for c in units of 2^scale.
fn stepped(place: &Place, (at, steps): (usize, usize), z: Extended<Dd>, c: Extended<Dd>) -> Extended<Dd> {
    let setting = place.setting();
    let (fold, power) = (setting.formula.fold(), setting.formula.power());
    (at..at + steps).fold(z, |z, index| {
        let parts = place.orbits.parts::<Dd>(index);
        let [re, im] = parts.map(|part| Extended::new(Complex { re: part.m, im: Dd::ZERO }, part.e));
        let reference = re.plus(Extended { m: Complex { re: Dd::ZERO, im: im.m.re }, e: im.e });
        let folded = of_extended(fold, z, parts);
        let after = difference(folded, of_value(fold, reference.plus(z)), of_value(fold, reference), power);
        if setting.is_julia { after } else { after.plus(Extended { e: c.e + place.scale, ..c }) }
    })
}

fn lanes<T: Mantissa>(z: Extended<Dd>) -> ComplexLanes<T, Fallback> {
    let simd = Fallback::new();
    let z: Complex<T> = Complex::of(z.in_range().unwrap());
    let of = |part: T| <T::Lanes<Fallback>>::from_parts(|index| Reals::splat(simd, part.part(index)));
    Complex { re: of(z.re), im: of(z.im) }
}

fn first(v: Reals<Fallback>) -> f64 {
    let mut parts = [0.0; 8];
    v.store(&mut parts);
    parts[0]
}

fn of_lanes<T: Mantissa>(z: ComplexLanes<T, Fallback>) -> Extended<Dd> {
    let part = |lanes: T::Lanes<Fallback>| {
        let low = if T::PARTS == 2 { first(lanes.part(1)) } else { 0.0 };
        Dd::sum(first(lanes.part(0)), low)
    };
    Extended::new(Complex { re: part(z.re), im: part(z.im) }, 0)
}

fn point(random: &mut Random) -> Complex<f64> {
    let t = 4.0 * random.unit() - 2.0;
    Complex { re: (1.0 - t * t) / (1.0 + t * t), im: 2.0 * t / (1.0 + t * t) }
}

fn times(z: Complex<f64>, r: f64, e: i32) -> Extended<Dd> {
    Extended::new(Complex { re: Dd::whole(z.re * r), im: Dd::whole(z.im * r) }, e)
}

/// What tests count.
#[derive(Default)]
struct Counted {
    blocks: usize,
    /// Blocks whose error exceeds their roundings, and those whose error exceeds what does not grow with e.
    beyond_roundings: usize,
    beyond_k: usize,
    with_terms_of_c: usize,
    conjugated: usize,
}

fn check<T: Mantissa>(random: &mut Random, place: &Place, tolerance: f64, counted: &mut Counted) {
    let simd = Fallback::new();
    let Some(blocks) = place.blocks::<T>(Level::best(), tolerance) else { return };
    let all: Vec<_> = blocks.all().collect();
    for number in 0..all.len().min(60) {
        let (at, radius, found) = all[if all.len() > 60 { random.next() as usize % all.len() } else { number }];
        let share = if number % 2 == 0 { 0.0 } else { 0.25 };
        // With derivatives, twice |z| + e is within the radius.
        let size = radius * [0.97, 0.3, 0.02][number % 3] / (1.0 + share) / 2.0;
        let (exponent, mantissa) = Bound::of(size).parts();
        let z = times(point(random), exponent, mantissa);
        let off = times(point(random), exponent * share, mantissa);
        let c = times(point(random), random.unit(), 0);
        let d = [point(random), point(random)];
        let splat = |x: f64| Reals::splat(simd, x);
        let before = DeltaInLanes::<T, Fallback> {
            z: lanes::<T>(z),
            e: splat(size * share * UP),
            d: d.map(|d| Complex { re: splat(d.re), im: splat(d.im) }),
            off: splat(0.0),
        };
        let of_c = blocks.has_terms_of_c().then(|| transposed(simd, &[found.of_c; 8]));
        let block = BlockInLanes::<T, Fallback>::read(&transposed(simd, &[found.lines; 8]), of_c.as_ref());
        let over_margin = if place.setting().is_julia { 0.0 } else { UP / 1e-3 };
        let after = block.apply::<2>(simd, lanes::<T>(c), &before, over_margin);
        let case = format!("{:?} {} {at} {} {number}", place.setting().formula, place.scale, found.steps);
        // The exact delta is off by e at most, and the value by the new bound.
        let exact = stepped(place, (at, found.steps), of_lanes::<T>(before.z).plus(off), c);
        let error = Bound::modulus(exact.minus(of_lanes::<T>(after.z))).to_f64();
        let bound = first(after.e);
        assert!(error <= bound, "{case}: {error:e} {bound:e}");
        let value = Bound::modulus(exact).to_f64();
        counted.blocks += 1;
        counted.beyond_roundings += usize::from(share == 0.0 && error > 100.0 * T::UNIT * value);
        let no_error = DeltaInLanes { e: splat(0.0), ..before };
        counted.beyond_k += usize::from(error > first(block.apply::<0>(simd, lanes::<T>(c), &no_error, 0.0).e));
        counted.with_terms_of_c += usize::from(blocks.has_terms_of_c());
        counted.conjugated += usize::from(block.conjugates());
        // Derivatives by the pixel along 1 and i, as differences at the exact delta.
        let h = power_of_two(-40);
        for (column, (along, d)) in [(1.0, 0.0), (0.0, 1.0)].into_iter().zip(d).enumerate() {
            let direction = Complex { re: along.0, im: along.1 };
            // In units in which D has the size of the delta, so that the step stays small.
            let unit = if place.setting().is_julia { size } else { size.min(1.0) };
            let moved_z = of_lanes::<T>(before.z).plus(off).plus(times(d, h * unit, 0));
            let moved_c = c.plus(times(direction, h * unit, 0));
            let moved = stepped(place, (at, found.steps), moved_z, moved_c);
            let slope = moved.minus(exact);
            let computed = after.d[column];
            let computed = times(Complex { re: first(computed.re), im: first(computed.im) }, h * unit, 0);
            let error = Bound::modulus(slope.minus(computed)).to_f64() / (h * unit);
            let scale = Bound::modulus(slope).to_f64() / (h * unit) + value / size;
            let bound = first(after.off) + 1e-9 * scale;
            assert!(error <= bound, "{case} {column}: {error:e} {bound:e}");
        }
    }
}

#[test]
fn blocks_are_within_their_bounds_and_need_them() {
    let mut random = Random(57);
    let mut counted = Counted::default();
    for kind in KINDS {
        for scale in [-20_i32, -60, -120, -240, -600] {
            let place = Place::new(&mut random, kind, scale);
            check::<f64>(&mut random, &place, power_of_two(-26), &mut counted);
            check::<Dd>(&mut random, &place, power_of_two(-60), &mut counted);
        }
    }
    let Counted { blocks, beyond_roundings, beyond_k, with_terms_of_c, conjugated } = counted;
    assert!(
        blocks > 2000 && 10 * beyond_roundings > blocks && 10 * beyond_k > blocks,
        "{beyond_roundings} {beyond_k} of {blocks}"
    );
    assert!(with_terms_of_c > 200 && conjugated > 200, "{with_terms_of_c} {conjugated} of {blocks}");
}

#[test]
fn blocks_with_exponents_are_those_of_lanes() {
    let mut random = Random(58);
    let mut compared = 0;
    for kind in KINDS {
        let place = Place::new(&mut random, kind, -720);
        let Some(blocks) = place.blocks::<Dd>(Level::best(), power_of_two(-44)) else { continue };
        let simd = Fallback::new();
        for (at, radius, found) in blocks.all().filter(|(_, radius, _)| *radius > 1e-100) {
            let (m, exponent) = Bound::of(radius / 3.0).parts();
            let (z, c) = (times(point(&mut random), m, exponent), times(point(&mut random), 1.0, 0));
            let e = Bound::new(m * 1e-9, exponent);
            let Some((wide, steps)) = blocks.longest_wide(at, found.steps as u64, Bound::of(radius)) else { continue };
            if steps != found.steps {
                continue;
            }
            compared += 1;
            let derivative =
                Columns { d: [Extended::one(), times(point(&mut random), 1.0, 0).in_f64()], off: Bound::of(1e-6) };
            let d = derivative.d.map(|d| d.in_range().unwrap());
            let splat = |x: f64| Reals::splat(simd, x);
            let before = DeltaInLanes::<Dd, Fallback> {
                z: lanes::<Dd>(z),
                e: splat(e.to_f64()),
                d: d.map(|d| Complex { re: splat(d.re), im: splat(d.im) }),
                off: splat(1e-6),
            };
            let block = BlockInLanes::<Dd, Fallback>::read(&transposed(simd, &[found.lines; 8]), None);
            let narrow = block.apply::<2>(simd, lanes::<Dd>(c), &before, 3.0);
            let after = wide.apply(c.in_range().unwrap(), Before { z, e, derivative }, Some(3.0));
            let near = |a: Bound, b: f64| (a.to_f64() - b).abs() <= 1e-3 * b;
            let difference = Bound::modulus(after.z.minus(of_lanes::<Dd>(narrow.z)));
            assert!(difference.to_f64() <= 1e-28 * Bound::modulus(after.z).to_f64(), "{kind:?} {at}");
            assert!(near(after.e, first(narrow.e)), "{kind:?} {at}: {:?} {}", after.e, first(narrow.e));
            for (wide, narrow) in after.derivative.d.into_iter().zip(narrow.d) {
                let narrow = times(Complex { re: first(narrow.re), im: first(narrow.im) }, 1.0, 0).in_f64();
                let off = Bound::modulus(wide.minus(narrow)).to_f64();
                assert!(off <= 1e-9 * Bound::modulus(wide).to_f64(), "{kind:?} {at}");
            }
            assert!((after.derivative.off.to_f64() / first(narrow.off) - 1.0).abs() < 0.5, "{kind:?} {at}");
        }
    }
    assert!(compared > 100, "{compared}");
}

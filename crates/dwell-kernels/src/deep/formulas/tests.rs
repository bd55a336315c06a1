//! Deltas of every formula against orbits in fixed point, and their bounds against exact steps.

use super::blocks::{BlockSetting, Blocks};
use super::fixed::{PowerStepper, error_after};
use super::folds;
use super::orbits::{Orbits, Wanted};
use super::points::{Orbit, follow};
use super::power::{difference, of_real, raised, roundings};
use super::{Setting, decide};
use crate::deep::Watch;
use crate::deep::direct::{self, Goal, Iterated, Queue};
use crate::deep::extended::{Bound, Extended, power_of_two};
use crate::deep::leading::pair;
use crate::deep::limbs::Fixed;
use crate::deep::mantissa::{Complex, Dd, Mantissa};
use crate::deep::orbit::Found;
use crate::formula::{Fold, Formula};
use crate::level::Level;
use crate::test_random::Random;
use fearless_simd::Fallback;
use std::sync::atomic::AtomicBool;

const FOLDS: [Fold; 3] = [Fold::None, Fold::Absolute, Fold::Conjugate];

/// A number below `most` in fixed point.
fn fixed(random: &mut Random, limbs: usize, most: f64) -> Fixed {
    let mut fixed = Fixed::zero(limbs);
    fixed.limbs.iter_mut().for_each(|limb| *limb = random.next());
    let whole = random.unit() * most;
    fixed.limbs[limbs - 1] = whole as u64;
    fixed.limbs[limbs - 2] = ((whole - whole.floor()) * 18_446_744_073_709_551_616.0) as u64;
    fixed.negative = random.next().is_multiple_of(2);
    fixed
}

/// The same with more limbs.
fn longer(fixed: &Fixed, limbs: usize) -> Fixed {
    let mut out = vec![0; limbs - fixed.limbs.len()];
    out.extend(&fixed.limbs);
    Fixed { negative: fixed.negative, limbs: out }
}

/// a - b, to 106 bits.
fn minus(a: &[Fixed; 2], b: &[Fixed; 2]) -> Extended<Dd> {
    let part = |part: usize| {
        let mut difference = b[part].clone();
        difference.negative = !difference.negative;
        difference.add(&a[part]);
        difference
    };
    pair(&part(0), &part(1))
}

#[test]
fn steps_in_fixed_point_are_within_their_bound() {
    let mut random = Random(21);
    for fold in FOLDS {
        for power in 2..=16 {
            let formula = Formula::new(fold, power).unwrap();
            for number in 0..40 {
                let limbs = 3 + number % 6;
                let most = if number % 3 == 0 { 0.3 } else { 1.9 };
                let [x, y, a, b] = [(); 4].map(|()| fixed(&mut random, limbs, most));
                let (mut short, mut long) = ([x.clone(), y.clone()], [x, y].map(|part| longer(&part, 3 * limbs + 30)));
                let modulus = Bound::modulus(pair(&short[0], &short[1]));
                PowerStepper::new(formula, [&a, &b]).step(&mut short);
                let c = [a, b].map(|part| longer(&part, 3 * limbs + 30));
                PowerStepper::new(formula, c.each_ref()).step(&mut long);
                let short = short.map(|part| longer(&part, 3 * limbs + 30));
                let unit = -64 * (limbs.cast_signed() as i32 - 1);
                let off = Bound::modulus(minus(&short, &long));
                let bound = error_after(formula, modulus, Bound::ZERO, unit, Bound::ZERO).times(Bound::new(1.0, unit));
                assert!(off.below(bound), "{fold:?} {power} {number}");
            }
        }
    }
}

/// Chaotic orbits of points up to a quarter to the right of -2 and of Julia sets there, with limbs that are cut off and with all of them.
#[test]
fn limbs_that_are_cut_off_are_within_the_bound() {
    const LONG: usize = 30;
    let mut random = Random(23);
    let mut cut = 0;
    for (fold, julia) in
        [(Fold::None, false), (Fold::Absolute, false), (Fold::Conjugate, false), (Fold::Absolute, true)]
    {
        let formula = Formula::new(fold, 2).unwrap();
        for _ in 0..30 {
            let mut c = [fixed(&mut random, 12, 0.25), Fixed::zero(12)];
            c[0].negative = true;
            c[0].limbs[11] = 1;
            c[0].limbs[10] |= 3 << 62;
            c[1].limbs[9] = random.next() >> 30;
            let start = if julia { [fixed(&mut random, 12, 0.9), Fixed::zero(12)] } else { c.clone() };
            let long = |of: &[Fixed; 2]| of.each_ref().map(|part| longer(part, LONG));
            let (long_c, mut exact) = (long(&c), long(&start));
            let mut stepper = PowerStepper::new(formula, long_c.each_ref());
            let iterated = Iterated { formula, julia: julia.then_some((c.each_ref(), 0.0)) };
            let mut orbit = Orbit::new(iterated, start.each_ref(), 0.0);
            for n in 0..1200 {
                let square = orbit.near().square();
                if square > 4.0 || orbit.error.absolute() > 1e-9 {
                    break;
                }
                orbit.step(square.sqrt());
                stepper.step(&mut exact);
                let off = Bound::modulus(minus(&long(&orbit.z), &exact));
                assert!(off.below(orbit.error.bound()), "{formula:?} {julia} {n}");
            }
            cut += 12 - orbit.z[0].limbs.len();
        }
    }
    // Most of these orbits escape early, with a limb or two cut off.
    assert!(cut > 60, "{cut} limbs");
}

/// The delta after one step in lanes' arithmetic, and what the bound of a step gives for it; without a part of the bound it would not hold.
#[test]
fn steps_of_deltas_are_within_their_bound() {
    let mut random = Random(22);
    let simd = Fallback::new();
    // How near to the whole bound the worst error is, and without the constant of the roundings.
    let (mut nearest, mut without_roundings, mut without_error) = (0.0_f64, 0, 0);
    for fold in FOLDS {
        for power in [2, 3, 4, 5, 7, 8, 11, 16] {
            for number in 0..400 {
                let limbs = 24;
                let size = if number % 4 == 0 { 0.05 } else { 1.3 };
                let reference = [(); 2].map(|()| fixed(&mut random, limbs, size));
                // A delta as large as the reference or much smaller, exact and as it is computed.
                let scale = [1.0, 0.5, 1e-3, 1e-9, 1e-30][number % 5];
                let small = |random: &mut Random| (random.unit() - 0.5) * scale;
                let z = Complex { re: small(&mut random), im: small(&mut random) };
                let e = [0.0, 1e-12, 1e-6][number % 3] * z.square().sqrt();
                // A point of the unit circle.
                let t = 4.0 * random.unit() - 2.0;
                let (along, across) = ((1.0 - t * t) / (1.0 + t * t), 2.0 * t / (1.0 + t * t));
                let exact = [z.re + e * along, z.im + e * across];
                let in_fixed = |v: f64| {
                    // 2^-600 is below the last bit of all of these.
                    let bits = v.abs().to_bits();
                    let (m, shift) = ((bits & ((1 << 52) - 1)) | 1 << 52, (bits >> 52) as i32 - 1075);
                    let mut fixed = Fixed { negative: v < 0.0, limbs: vec![0; limbs] };
                    if v != 0.0 {
                        let place = 64 * (limbs.cast_signed() as i32 - 1) + shift;
                        let (limb, by) = ((place / 64) as usize, place % 64);
                        let wide = u128::from(m) << by;
                        fixed.limbs[limb] = wide as u64;
                        if limb + 1 < limbs {
                            fixed.limbs[limb + 1] = (wide >> 64) as u64;
                        }
                    }
                    fixed
                };
                let mut value = exact.map(in_fixed);
                value.iter_mut().zip(&reference).for_each(|(part, of)| part.add(of));
                let zero = Fixed::zero(limbs);
                let formula = Formula::new(fold, power).unwrap();
                let mut stepper = PowerStepper::new(formula, [&zero, &zero]);
                let (mut of_value, mut of_reference) = (value.clone(), reference.clone());
                stepper.step(&mut of_value);
                stepper.step(&mut of_reference);
                let after = Extended::<f64>::of(minus(&of_value, &of_reference)).in_range().unwrap();
                // As lanes do it.
                let near = Extended::<f64>::of(pair(&reference[0], &reference[1])).in_range().unwrap();
                let w = near + z;
                let lanes = |v: Complex<f64>| Complex {
                    re: crate::deep::lanes::Reals::splat(simd, v.re),
                    im: crate::deep::lanes::Reals::splat(simd, v.im),
                };
                let [d, of_w, of_z] = folds::of_lanes::<f64, Fallback>(simd, fold, [z, w, near].map(lanes));
                let computed = difference(d, of_w, of_z, power);
                let first = |v: crate::deep::lanes::Reals<Fallback>| {
                    let mut parts = [0.0; 8];
                    v.store(&mut parts);
                    parts[0]
                };
                let computed = Complex { re: first(computed.re), im: first(computed.im) };
                let off = ((computed.re - after.re).powi(2) + (computed.im - after.im).powi(2)).sqrt();
                let n = f64::from(power);
                let modulus = w.square().sqrt();
                let most = modulus.max(near.square().sqrt());
                let of_error = n * of_real(modulus + e, power - 1) * e * (1.0 + 1e-9);
                let of_rounding = roundings(power) * f64::UNIT * z.taxicab() * of_real(most, power - 1);
                assert!(
                    off <= of_error + of_rounding,
                    "{fold:?} {power} {number}: {off:e} {of_error:e} {of_rounding:e}"
                );
                without_roundings += usize::from(off > of_error);
                without_error += usize::from(off > of_rounding);
                if e == 0.0 && off > 0.0 {
                    nearest = nearest.max(off / of_rounding);
                }
            }
        }
    }
    assert!(without_roundings > 100 && without_error > 100, "{without_roundings} {without_error}");
    // The constant is not too large by more than its worst case analysis makes it.
    assert!(nearest > 0.02, "{nearest}");
}

#[test]
fn powers_are_those_of_repeated_products() {
    let w = Complex { re: 1.0, im: 1.0 };
    let mut product = w;
    for power in 1..=16 {
        assert_eq!(raised(w, power), product, "{power}");
        product = product * w;
        assert_eq!(of_real(3.0, power), 3_f64.powi(power.cast_signed()));
    }
    // (2 + i)^N - 1^N.
    for power in 2..=16 {
        let (z, one) = (Complex { re: 1.0, im: 1.0 }, Complex { re: 1.0, im: 0.0 });
        let found: Complex<f64> = difference(z, z + one, one, power);
        let whole = raised(z + one, power);
        assert_eq!(found, Complex { re: whole.re - 1.0, im: whole.im }, "{power}");
    }
}

/// The parts of a folded delta in f64, by the definition.
#[test]
fn folded_deltas_are_differences_of_absolute_values() {
    let simd = Fallback::new();
    let values = [0.0, 1.0, -1.0, 0.25, -0.25, 3.0, -3.0];
    for reference in values {
        for z in values {
            let of = |v: f64| Complex { re: v, im: -v };
            let lanes = |v: Complex<f64>| Complex {
                re: crate::deep::lanes::Reals::splat(simd, v.re),
                im: crate::deep::lanes::Reals::splat(simd, v.im),
            };
            let all = [of(z), of(reference + z), of(reference)].map(lanes);
            let [d, w, folded] = folds::of_lanes::<f64, Fallback>(simd, Fold::Absolute, all);
            let first = |v: crate::deep::lanes::Reals<Fallback>| {
                let mut parts = [0.0; 8];
                v.store(&mut parts);
                parts[0]
            };
            let exact = (reference + z).abs() - reference.abs();
            assert_eq!([d.re, d.im].map(first), [exact; 2], "{reference} {z}");
            assert_eq!(([w.re, folded.re].map(first)), [(reference + z).abs(), reference.abs()]);
            let part = |v: f64| {
                let e = if v == 0.0 { 0 } else { crate::deep::extended::exponent(v.abs()) };
                folds::Part { m: v * power_of_two(-e), e }
            };
            let wide = folds::of_extended(Fold::Absolute, Extended::new(of(z), 0), [part(reference), part(-reference)]);
            let wide = wide.in_range().unwrap();
            assert_eq!([wide.re, wide.im], [exact; 2], "{reference} {z}");
        }
    }
}

/// A point that does not escape up to a limit beside one that does, by bisection in fixed point.
fn boundary(random: &mut Random, iterated: Iterated<'_>, limbs: usize, limit: u64, bits: u32) -> [Fixed; 2] {
    let stop = AtomicBool::new(false);
    let four = crate::deep::tests::four(limbs);
    let goal = Goal {
        iterated,
        limbs,
        error: 2.0,
        escape: 4.0,
        exact_escape: &four,
        limit,
        smooth: false,
        units: None,
        stop: &stop,
    };
    let dwell = |point: &[Fixed; 2]| follow(&goal, point.each_ref());
    let pick = |random: &mut Random| [(); 2].map(|()| fixed(random, limbs, 1.4));
    let mut inside = pick(random);
    let mut tries = 0;
    while !matches!(dwell(&inside), Found::Stays) {
        tries += 1;
        inside = if tries > 3000 { [Fixed::zero(limbs), Fixed::zero(limbs)] } else { pick(random) };
        if tries > 3000 {
            break;
        }
    }
    let mut outside = pick(random);
    while !matches!(dwell(&outside), Found::Escapes(..)) {
        outside = pick(random).map(|mut part| {
            part.limbs[limbs - 1] += 1;
            part
        });
    }
    for _ in 0..bits {
        let middle: [Fixed; 2] = std::array::from_fn(|part| {
            let mut sum = inside[part].clone();
            sum.add(&outside[part]);
            let mut carry = 0;
            for limb in sum.limbs.iter_mut().rev() {
                (*limb, carry) = (*limb >> 1 | carry, *limb << 63);
            }
            sum
        });
        let side = if matches!(dwell(&middle), Found::Stays) { &mut inside } else { &mut outside };
        *side = middle;
    }
    outside
}

/// A point moved by an offset in units of 2^scale.
fn moved(point: &[Fixed; 2], offset: &Complex<f64>, scale: i32) -> [Fixed; 2] {
    let mut point = point.clone();
    for (part, offset) in point.iter_mut().zip([offset.re, offset.im]) {
        let limbs = part.limbs.len();
        // 53 bits of the offset in units of 2^scale.
        let units = (offset.abs() * power_of_two(53)) as u128;
        let place = 64 * (limbs.cast_signed() as i32 - 1) + scale - 53;
        let mut more = Fixed::zero(limbs);
        let wide = units << (place % 64);
        more.limbs[place as usize / 64] = wide as u64;
        if place as usize / 64 + 1 < limbs {
            more.limbs[place as usize / 64 + 1] = (wide >> 64) as u64;
        }
        more.negative = offset < 0.0;
        part.add(&more);
    }
    point
}

/// A view of a formula beside its boundary.
pub(super) struct Place {
    formula: Formula,
    centre: [Fixed; 2],
    c: Option<[Fixed; 2]>,
    pub(super) orbits: Orbits,
    limit: u64,
    pub(super) scale: i32,
    stop: AtomicBool,
}

/// Every fold, small and large powers, in the parameter plane and as Julia sets.
pub(super) const KINDS: [(Fold, u32, Option<[f64; 2]>); 11] = [
    (Fold::None, 3, None),
    (Fold::None, 2, Some([-0.8, 0.156])),
    (Fold::None, 2, Some([0.0, 1.0])),
    (Fold::Absolute, 2, None),
    (Fold::Absolute, 2, Some([-0.5, -0.6])),
    (Fold::Conjugate, 2, None),
    (Fold::Conjugate, 3, None),
    (Fold::None, 5, None),
    (Fold::None, 16, None),
    (Fold::None, 4, Some([0.3, 0.6])),
    (Fold::Absolute, 5, None),
];

impl Place {
    pub(super) fn new(random: &mut Random, (fold, power, julia): (Fold, u32, Option<[f64; 2]>), scale: i32) -> Self {
        let formula = Formula::new(fold, power).unwrap();
        let depth = u64::from(scale.unsigned_abs());
        let limit = 300 - depth / 4 + 2 * depth;
        let limbs = 8 + scale.unsigned_abs() as usize / 64;
        let half = |v: f64| {
            let mut fixed = Fixed::zero(limbs);
            (fixed.negative, fixed.limbs[limbs - 2]) = (v < 0.0, (v.abs().fract() * 1.8e19) as u64);
            fixed.limbs[limbs - 1] = v.abs() as u64;
            fixed
        };
        let c = julia.map(|c: [f64; 2]| c.map(half));
        let iterated = Iterated { formula, julia: c.as_ref().map(|c| (c.each_ref(), 0.0)) };
        let centre = boundary(random, iterated, limbs, limit, scale.unsigned_abs() + 8);
        let long = c.as_ref().map(|c| c.each_ref().map(|part| longer(part, power as usize * limbs)));
        let stop = AtomicBool::new(false);
        let orbits = Orbits::new(&Wanted {
            formula,
            centre: centre.each_ref(),
            julia: long.as_ref().map(|c| (c.each_ref(), 0.0)),
            radius: Bound::new(1.001, scale),
            escape: 4.0,
            limit,
            most: 1 << 20,
            watch: Watch::unseen(&stop),
        })
        .unwrap();
        Self { formula, centre, c, orbits, limit, scale, stop }
    }

    fn iterated(&self) -> Iterated<'_> {
        Iterated { formula: self.formula, julia: self.c.as_ref().map(|c| (c.each_ref(), 0.0)) }
    }

    pub(super) fn setting(&self) -> Setting<'_> {
        let rounded = |[x, y]: &[Fixed; 2]| pair(x, y).in_range().unwrap();
        Setting {
            formula: self.formula,
            is_julia: self.c.is_some(),
            orbits: &self.orbits,
            centre: rounded(&self.centre),
            c: rounded(self.c.as_ref().unwrap_or(&self.centre)),
            scale: self.scale,
            escape_radius: 2.0,
            escape: 4.0,
            limit: self.limit,
            smooth: false,
            units: None,
            stop: &self.stop,
        }
    }

    /// Blocks with a tolerance, where there is a reference.
    pub(super) fn blocks<T: Mantissa>(&self, level: Level, tolerance: f64) -> Option<Blocks<T>> {
        let wanted = BlockSetting { setting: self.setting(), tolerance, watch: Watch::unseen(&self.stop) };
        self.orbits.has_reference().then(|| Blocks::new(level, &wanted).unwrap())
    }

    /// What fixed point finds at an offset; nothing where some |z| is so near R that only limbs tell the side, as where the orbit of a place on the boundary reaches the limit there.
    fn truth(&self, offset: &Complex<f64>) -> Found {
        let limbs = self.centre[0].limbs.len();
        let four = crate::deep::tests::four(limbs);
        let found = |escape: f64| {
            let goal = Goal {
                iterated: self.iterated(),
                limbs,
                error: 6.0,
                escape,
                exact_escape: &four,
                limit: self.limit,
                smooth: false,
                units: None,
                stop: &self.stop,
            };
            follow(&goal, moved(&self.centre, offset, self.scale).each_ref())
        };
        let [below, above] = [-1.0, 1.0].map(|sign: f64| found(4.0 + sign * power_of_two(-38)));
        if below == above { found(4.0) } else { Found::Undecided }
    }
}

/// Points of formulas of power 2, by the way of `direct.rs` on every level, as this module has them.
#[test]
fn squares_are_followed_like_other_powers() {
    let (stop, mut random) = (AtomicBool::new(false), Random(58));
    let (limbs, four) = (9, crate::deep::tests::four(9));
    let constant = [(); 2].map(|()| fixed(&mut random, limbs, 0.8));
    let (mut escaped, mut stay) = (0, 0);
    for (fold, is_julia, smooth) in [Fold::None, Fold::Absolute, Fold::Conjugate]
        .into_iter()
        .flat_map(|fold| [(fold, false, false), (fold, true, false), (fold, false, true), (fold, true, true)])
    {
        let julia = is_julia.then_some((constant.each_ref(), 2.0));
        let iterated = Iterated { formula: Formula::new(fold, 2).unwrap(), julia };
        let goal = Goal {
            iterated,
            limbs,
            error: 6.0,
            escape: 4.0,
            exact_escape: &four,
            limit: 300,
            smooth,
            units: None,
            stop: &stop,
        };
        let points: Vec<_> = (0..60).map(|_| [(); 2].map(|()| fixed(&mut random, limbs, 1.6))).collect();
        let expected: Vec<_> = points.iter().map(|point| follow(&goal, point.each_ref())).collect();
        escaped += expected.iter().filter(|found| matches!(found, Found::Escapes(n, _) if *n > 4)).count();
        stay += expected.iter().filter(|found| **found == Found::Stays).count();
        for level in Level::available() {
            let mut found = vec![Found::Undecided; points.len()];
            let mut point = |place: usize| points[place].clone();
            direct::follow(level, &goal, &Queue::new(points.len(), 1), &mut point, &mut |place, of| found[place] = of);
            assert_eq!(found, expected, "{fold:?}, a Julia set: {is_julia}");
        }
    }
    assert!(escaped > 100 && stay > 20, "{escaped} escape late, {stay} stay");
}

/// How many pixels were decided: in fixed point, in f64, and in pairs; and the blocks that were taken.
#[derive(Default)]
struct Decided {
    all: usize,
    in_f64: usize,
    in_pairs: usize,
    blocks: u64,
}

/// Compares what every level decides, by single steps and with blocks, with what fixed point does.
fn compare(place: &Place, offsets: &[Complex<f64>], truth: &[Found], (case, decided): (&str, &mut Decided)) {
    let in_pairs = |offset: &Complex<f64>| Complex { re: Dd::whole(offset.re), im: Dd::whole(offset.im) };
    let pairs: Vec<Complex<Dd>> = offsets.iter().map(in_pairs).collect();
    let setting = place.setting();
    for (number, level) in Level::available().into_iter().enumerate() {
        // By single steps and with a small tolerance once.
        let tolerances: &[Option<i32>] = if number == 0 { &[None, Some(-26), Some(-44)] } else { &[Some(-26)] };
        for tolerance in tolerances {
            let (mut narrow, mut wide) = (vec![Found::Undecided; truth.len()], vec![Found::Undecided; truth.len()]);
            let tolerance = tolerance.map(power_of_two);
            let in_f64 = tolerance.and_then(|tolerance| place.blocks::<f64>(level, tolerance));
            let in_pairs = tolerance.and_then(|tolerance| place.blocks::<Dd>(level, tolerance * tolerance));
            decided.blocks += decide::<f64>(level, &setting, in_f64.as_ref(), offsets, &mut narrow).blocks;
            decided.blocks += decide::<Dd>(level, &setting, in_pairs.as_ref(), &pairs, &mut wide).blocks;
            for (pixel, truth) in truth.iter().enumerate().filter(|(_, truth)| **truth != Found::Undecided) {
                for found in [narrow[pixel], wide[pixel]] {
                    assert!(found == Found::Undecided || found == *truth, "{case} {tolerance:?} {found:?} {truth:?}");
                }
                decided.all += 1;
                decided.in_f64 += usize::from(narrow[pixel] != Found::Undecided);
                decided.in_pairs += usize::from(wide[pixel] != Found::Undecided);
            }
        }
    }
}

#[test]
fn all_levels_and_numbers_decide_as_fixed_point_does() {
    let mut random = Random(23);
    let mut decided = Decided::default();
    for kind in KINDS {
        for scale in [-3_i32, -60, -240, -900] {
            let place = Place::new(&mut random, kind, scale);
            let offsets: Vec<Complex<f64>> =
                (0..24).map(|_| Complex { re: random.unit() - 0.5, im: random.unit() - 0.5 }).collect();
            let truth: Vec<Found> = offsets.iter().map(|offset| place.truth(offset)).collect();
            compare(&place, &offsets, &truth, (&format!("{kind:?} {scale}"), &mut decided));
        }
    }
    let Decided { all, in_f64, in_pairs, blocks } = decided;
    assert!(10 * in_f64 > 7 * all && 100 * in_pairs > 95 * all, "{in_f64} and {in_pairs} of {all}");
    assert!(blocks > 10_000, "{blocks}");
}

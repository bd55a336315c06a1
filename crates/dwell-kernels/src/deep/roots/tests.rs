use super::Equation::{Misiurewicz, Nucleus};
use super::proof::{NoProof, Proof, prove, prove_in};
use super::search::{Found, NotFound, Region, misiurewicz, nucleus};
use super::shape::{Number, Shape, shape};
use super::*;
use crate::deep::extended::Bound;
use crate::test_random::Random;
use std::sync::atomic::AtomicBool;

static NEVER: AtomicBool = AtomicBool::new(false);

fn watch() -> Watch<'static> {
    Watch::unseen(&NEVER)
}

/// An f64 in fixed point, exact to 2^-128.
fn fixed(value: f64, limbs: usize) -> Fixed {
    let mut fixed = Fixed::zero(limbs);
    fixed.negative = value < 0.0;
    let mut rest = value.abs();
    for limb in fixed.limbs.iter_mut().rev() {
        *limb = rest as u64;
        rest = (rest - *limb as f64) * 2_f64.powi(64);
    }
    fixed
}

const LIMBS: usize = 6;

fn at([x, y]: [f64; 2]) -> [Fixed; 2] {
    [fixed(x, LIMBS), fixed(y, LIMBS)]
}

fn region<'a>(centre: &'a [Fixed; 2], radius: f64) -> Region<'a> {
    Region {
        level: Level::best(),
        centre: centre.each_ref(),
        radius: Bound::of(radius),
        limit: 10_000,
        most: 1 << 20,
        watch: watch(),
    }
}

fn in_f64(number: Extended<Dd>) -> [f64; 2] {
    let z = number.in_range().unwrap();
    [z.re.hi, z.im.hi]
}

/// The least period in a disc, and the root.
fn least(centre: [f64; 2], radius: f64) -> Result<(Found, [f64; 2]), NotFound> {
    let parts = at(centre);
    let inside = |delta: Extended<Dd>| Bound::modulus(delta).to_f64() <= radius;
    let (found, _) = nucleus(&region(&parts, radius), inside)?;
    let [x, y] = in_f64(found.delta);
    Ok((found, [centre[0] + x, centre[1] + y]))
}

/// The point of period 3 on the real axis, by Newton's method in f64.
fn period_three() -> f64 {
    (0..50).fold(-1.75_f64, |c, _| c - (c * c * c + 2.0 * c * c + c + 1.0) / (3.0 * c * c + 4.0 * c + 1.0))
}

/// What is proved at a point in f64 with a disc of a radius; nothing where the orbit meets 0 before its end.
fn proved(c: [f64; 2], equation: Equation, radius: f64) -> Option<Proof> {
    let parts = at(c);
    let orbit = orbit(Level::best(), parts.each_ref(), equation, 1 << 20, watch()).ok()?;
    prove_in(&orbit, equation, Bound::of(radius), watch()).unwrap()
}

#[test]
fn known_centres_are_found() {
    for (centre, radius, period, expected) in [
        ([-1.76, 0.01], 0.05, 3, [-1.754_877_666_246_692_8, 0.0]),
        ([-1.05, 0.02], 0.2, 2, [-1.0, 0.0]),
        ([0.1, 0.1], 0.4, 1, [0.0, 0.0]),
        ([-0.12, 0.74], 0.05, 3, [-0.122_561_166_876_653_62, 0.744_861_766_619_744_2]),
        ([-1.31, 0.0], 0.05, 4, [-1.310_702_641_336_833, 0.0]),
    ] {
        let (found, root) = least(centre, radius).unwrap();
        assert_eq!(found.equation, Nucleus { period });
        assert!((root[0] - expected[0]).hypot(root[1] - expected[1]) < 1e-15, "{root:?}");
        assert!(found.is_least, "{centre:?}");
    }
}

#[test]
fn nothing_is_found_where_nothing_is() {
    assert_eq!(least([-0.5, 0.1], 0.01).unwrap_err(), NotFound::Inside);
    assert!(matches!(least([0.6, 0.6], 0.01).unwrap_err(), NotFound::Escapes | NotFound::Undecided));
}

#[test]
fn discs_without_smaller_periods_have_none() {
    let mut random = Random(61);
    let (mut proofs, mut tried) = (0, 0);
    while proofs < 40 {
        tried += 1;
        assert!(tried < 4000, "{proofs}");
        let centre = [random.unit() * 2.5 - 2.0, random.unit() * 1.2];
        let radius = 0.2 * random.unit() * random.unit();
        let Ok((Found { equation, is_least: true, .. }, _)) = least(centre, radius) else { continue };
        let period = equation.period();
        if period < 3 {
            continue;
        }
        proofs += 1;
        // Newton's method in f64 from many points of the disc, for each smaller period.
        for n in 1..period {
            for _ in 0..20 {
                let mut c = centre.map(|part| part + radius * (random.unit() * 2.0 - 1.0));
                for _ in 0..60 {
                    let (mut z, mut d) = ([0.0; 2], [0.0; 2]);
                    for _ in 0..n {
                        d = [2.0 * (z[0] * d[0] - z[1] * d[1]) + 1.0, 2.0 * (z[0] * d[1] + z[1] * d[0])];
                        z = [z[0] * z[0] - z[1] * z[1] + c[0], 2.0 * z[0] * z[1] + c[1]];
                    }
                    let square = d[0] * d[0] + d[1] * d[1];
                    let step = [(z[0] * d[0] + z[1] * d[1]) / square, (z[1] * d[0] - z[0] * d[1]) / square];
                    c = [c[0] - step[0], c[1] - step[1]];
                }
                let away = (c[0] - centre[0]).hypot(c[1] - centre[1]);
                assert!(away.is_nan() || away > radius, "{centre:?} {radius}: period {n} at {c:?}, not {period}");
            }
        }
    }
}

#[test]
fn discs_with_one_root_are_proved_and_others_refused() {
    let c = [period_three(), 0.0];
    let proof = proved(c, Nucleus { period: 3 }, 1e-3).unwrap();
    assert!(proof.is_exact && proof.within.to_f64() < 1e-15);
    // Three other points have a period that divides 3; two of them are in a disc of radius 2, and the one of radius 1.7 has a point where the derivative is 0.
    for radius in [2.0, 1.7, 0.6] {
        assert!(proved(c, Nucleus { period: 3 }, radius).is_none(), "{radius}");
    }
    // The disc has no root.
    assert!(proved([c[0] + 0.01, 0.0], Nucleus { period: 3 }, 1e-3).is_none());
    assert!(proved([c[0] + 1e-9, 0.0], Nucleus { period: 3 }, 1e-10).is_none());
    assert!(proved([c[0] + 1e-9, 0.0], Nucleus { period: 3 }, 1e-8).is_some());
    // z_6 is 0 there, too, but 6 is not the period; z_4 is not 0.
    assert!(!proved(c, Nucleus { period: 6 }, 1e-4).unwrap().is_exact);
    assert!(proved(c, Nucleus { period: 4 }, 1e-3).is_none());
}

#[test]
fn discs_of_proofs_are_as_large_as_the_method_allows() {
    let parts = at([period_three(), 0.0]);
    let equation = Nucleus { period: 3 };
    let orbit = orbit(Level::best(), parts.each_ref(), equation, 1 << 20, watch()).unwrap();
    let proof = prove(&orbit, equation, Bound::ZERO, watch()).unwrap();
    // |f'| / |f''| is 5.65 / 17.9 there.
    assert!(proof.alone_within.to_f64() > 0.05, "{proof:?}");
    // About another point, both radii are worse by its distance.
    let rounding = Bound::of(1e-3);
    let about = prove(&orbit, equation, rounding, watch()).unwrap();
    assert!(about.within.to_f64() >= 1e-3 && about.alone_within.to_f64() <= proof.alone_within.to_f64() - 1e-3);
    assert_eq!(prove(&orbit, equation, Bound::of(0.5), watch()).unwrap_err(), NoProof::Refused);
}

#[test]
fn misiurewicz_points_are_found_and_proved() {
    let inside = |_: Extended<Dd>| true;
    for (centre, radius, preperiod, period, expected, multiplier) in [
        ([-1.99, 0.001], 0.02, 2, 1, [-2.0, 0.0], 4.0),
        ([0.001, 0.999], 0.01, 2, 2, [0.0, 1.0], 32_f64.sqrt()),
        ([-1.543_6, 0.001], 0.005, 3, 1, [-1.543_689_012_692_076_4, 0.0], 2.0 * 0.839_286_755_214_161_1),
    ] {
        let parts = at(centre);
        let (found, _) = misiurewicz(&region(&parts, radius), inside).unwrap();
        assert_eq!(found.equation, Misiurewicz { preperiod, period });
        let [x, y] = in_f64(found.delta);
        assert!((centre[0] + x - expected[0]).hypot(centre[1] + y - expected[1]) < 1e-14);
        let proof = proved(expected, found.equation, 1e-5).unwrap();
        assert!(proof.is_exact);
        let parts = at(expected);
        let orbit = orbit(Level::best(), parts.each_ref(), found.equation, 1 << 20, watch()).unwrap();
        let Some(Shape::Spiral { multiplier: of_cycle }) = shape(&orbit, found.equation, watch()) else { panic!() };
        assert!((size(of_cycle) - multiplier).abs() < 1e-9, "{}", size(of_cycle));
    }
}

#[test]
fn points_of_another_kind_are_no_misiurewicz_points_of_a_period() {
    // A multiple of the period, a smaller preperiod, and the centre of a component.
    assert!(!proved([-2.0, 0.0], Misiurewicz { preperiod: 2, period: 2 }, 1e-5).is_some_and(|proof| proof.is_exact));
    assert!(proved([-2.0, 0.0], Misiurewicz { preperiod: 3, period: 1 }, 1e-5).is_none());
    assert!(!proved([-1.0, 0.0], Misiurewicz { preperiod: 3, period: 2 }, 1e-5).is_some_and(|proof| proof.is_exact));
}

/// The modulus of a number in the range of f64.
fn size(number: Number) -> f64 {
    let unit = 2_f64.powi(i32::try_from(number.exponent).unwrap());
    number.parts[0].hypot(number.parts[1]) * unit
}

#[test]
fn sizes_and_shapes_are_those_of_components() {
    for (c, period, of_size, cardioid) in [
        ([0.0, 0.0], 1, 1.0, true),
        ([-1.0, 0.0], 2, 0.5, false),
        // The cusp is at -1.75, and the period doubles at -1.768529: 1.25 sizes apart for a cardioid.
        ([period_three(), 0.0], 3, 0.019, true),
        ([-0.122_561_166_876_653_6, 0.744_861_766_619_744_2], 3, 0.189, false),
    ] {
        let parts = at(c);
        let equation = Nucleus { period };
        let orbit = orbit(Level::best(), parts.each_ref(), equation, 1 << 20, watch()).unwrap();
        let Some(Shape::Component { size: found, is_cardioid, .. }) = shape(&orbit, equation, watch()) else {
            panic!()
        };
        assert!((size(found) / of_size - 1.0).abs() < 0.02, "{c:?}: {}", size(found));
        assert_eq!(is_cardioid, cardioid, "{c:?}");
    }
}

#[test]
fn values_are_the_same_on_every_level() {
    let mut random = Random(62);
    for limbs in [3, 7, 12, 40] {
        let c = [(); 2].map(|()| {
            let mut part = Fixed::zero(limbs);
            part.limbs[..limbs - 1].iter_mut().for_each(|limb| *limb = random.next() >> 2);
            part.negative = random.next().is_multiple_of(2);
            part
        });
        for equation in [Nucleus { period: 7 }, Misiurewicz { preperiod: 3, period: 4 }] {
            let value = |level| equation.value(level, c.each_ref(), watch()).unwrap();
            let [a, b] = [Level::best(), Level::get(crate::level::LevelName::Scalar).unwrap()].map(value);
            for (a, b) in a.into_iter().zip(b) {
                let mut difference = a;
                difference.add(&Fixed { negative: !b.negative, ..b });
                // Some steps of less than 8 units, each quadrupled at most.
                assert!(difference.limbs[0] < 1 << 20 && difference.limbs[1..].iter().all(|limb| *limb == 0));
            }
        }
    }
}

#[test]
fn divisors_are_all_found() {
    assert_eq!(proper_divisors(1), []);
    assert_eq!(proper_divisors(12), [1, 2, 3, 4, 6]);
    assert_eq!(proper_divisors(49), [1, 7]);
    assert_eq!(Nucleus { period: 1 }.degenerate(), []);
}

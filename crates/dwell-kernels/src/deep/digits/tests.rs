//! Tests of digits against whole numbers of any size.

use super::*;
use crate::deep::extended::{Bound, Extended};
use crate::deep::fixed_orbit::EachStep;
use crate::deep::leading::{joined, pair};
use crate::deep::limbs::Stepper;
use crate::deep::mantissa::{Complex, Dd};
use crate::formula::Fold;
use crate::test_random::Random;
use dashu_int::ops::Abs;
use dashu_int::{IBig, UBig};

/// A part of a point, of |part| < 2, with limbs of ones and of zeros, which make carries.
fn random_part(random: &mut Random, limbs: usize) -> Fixed {
    let mut part = Fixed::zero(limbs);
    part.limbs.iter_mut().for_each(|limb| {
        *limb = match random.next() % 4 {
            0 => 0,
            1 => u64::MAX,
            _ => random.next(),
        };
    });
    part.limbs[limbs - 1] %= 2;
    part.negative = random.next().is_multiple_of(2);
    part
}

/// A number of so many digits in units of its last place.
fn whole(count: usize, digit: impl Fn(usize) -> u64, is_negative: bool) -> IBig {
    let magnitude = (0..count).rev().map(digit).fold(UBig::ZERO, |sum, digit| {
        assert!(digit <= MASK, "a digit is too large");
        (sum << BITS as usize) + digit
    });
    if is_negative { -IBig::from(magnitude) } else { magnitude.into() }
}

/// Asserts that the parts of a step are off by less than so many units.
fn assert_step([x, y]: &[IBig; 2], c: &[IBig; 2], after: &[IBig; 2], fraction: usize, most: [f64; 2]) {
    let exact = [x * x - y * y, IBig::from(2) * x * y];
    for (((exact, c), after), most) in exact.into_iter().zip(c).zip(after).zip(most) {
        let off = exact + (c << fraction) - (after << fraction);
        let most = (IBig::from((most * 1024.0) as u64) << fraction) >> 10;
        assert!(off.clone().abs() < most, "off by {off:?} of 2^{fraction}");
    }
}

fn products() -> Option<Products> {
    Level::available().into_iter().find_map(Products::of)
}

#[test]
fn steps_of_eight_orbits_are_off_by_less_than_eight_units() {
    let Some(products) = products() else { return };
    let mut random = Random(31);
    for limbs in (2..14).chain([40, 101]) {
        for _ in 0..if limbs < 14 { 40 } else { 3 } {
            let fold = FOLDS[random.next() as usize % FOLDS.len()];
            let mut orbits = EightOrbits::new(products, fold, limbs, 4.0).unwrap();
            let c: [[Fixed; 2]; LANES] = std::array::from_fn(|_| [(); 2].map(|()| random_part(&mut random, limbs)));
            for (lane, [x, y]) in c.iter().enumerate() {
                assert!(orbits.begin(lane, [[x, y]; 2]));
            }
            let of = |orbits: &EightOrbits, lane| {
                let [x, y] = orbits.signs(lane);
                let part = |part: usize, sign| whole(orbits.digits(), |place| orbits.z[part][place].0[lane], sign);
                [part(0, x), part(1, y)]
            };
            let first: [_; LANES] = std::array::from_fn(|lane| of(&orbits, lane));
            for (lane, [x, y]) in first.iter().enumerate() {
                let more = -orbits.unit() as usize - 64 * (limbs - 1);
                let exact = c[lane].each_ref().map(|part| {
                    let words = part.limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect::<Vec<u8>>();
                    let magnitude = IBig::from(UBig::from_le_bytes(&words)) << more;
                    if part.negative { -magnitude } else { magnitude }
                });
                assert_eq!(exact, [x.clone(), y.clone()]);
            }
            for _ in 0..3 {
                let before: [_; LANES] = std::array::from_fn(|lane| folded(fold, of(&orbits, lane)));
                orbits.step();
                for lane in 0..LANES {
                    let after = of(&orbits, lane);
                    assert_step(&before[lane], &first[lane], &after, -orbits.unit() as usize, [4.0, 6.0]);
                    if !orbits.is_few() {
                        let is_negative = orbits.negative[2] >> lane & 1 != 0;
                        let sum = whole(orbits.digits(), |place| orbits.z[2][place].0[lane], is_negative);
                        assert_eq!(sum, &after[0] + &after[1]);
                    }
                }
            }
        }
    }
}

const FOLDS: [Fold; 3] = [Fold::None, Fold::Absolute, Fold::Conjugate];

fn folded(fold: Fold, [x, y]: [IBig; 2]) -> [IBig; 2] {
    match fold {
        Fold::None => [x, y],
        Fold::Absolute => [x.abs(), y.abs()],
        Fold::Conjugate => [x, -y],
    }
}

/// z to 106 bits, digit by digit.
fn pair_of_digits(orbit: &OneOrbit) -> Extended<Dd> {
    let parts = [0, 1].map(|part: usize| leading(orbit.z.len(), |place| orbit.z[place].0[part]));
    joined(parts, [0, 1].map(|part: usize| orbit.negative >> part & 1 != 0))
}

/// Has an orbit make so many steps.
struct Most(usize);

impl EachStep for Most {
    fn goes_on(&mut self, _: Complex<f64>) -> bool {
        let goes_on = self.0 > 0;
        self.0 -= usize::from(goes_on);
        goes_on
    }
}

#[test]
fn steps_of_one_orbit_are_off_by_less_than_three_units() {
    let Some(products) = products() else { return };
    let mut random = Random(32);
    for limbs in (2..40).chain([101, 700]) {
        for _ in 0..if limbs < 20 { 60 } else { 3 } {
            let [z, c] = [(); 2].map(|()| [(); 2].map(|()| random_part(&mut random, limbs)));
            let parts = [z.each_ref(), c.each_ref()];
            let fold = FOLDS[random.next() as usize % FOLDS.len()];
            let mut orbit = OneOrbit::new(products, fold, parts, 4.0).unwrap();
            let of = |orbit: &OneOrbit| {
                let digit = |place: usize, part: usize| orbit.z[place].0[part];
                let is_negative = |part: usize| orbit.negative >> part & 1 != 0;
                [0, 1].map(|part| whole(orbit.z.len(), |place| digit(place, part), is_negative(part)))
            };
            let c = of(&OneOrbit::new(products, fold, [parts[1]; 2], 4.0).unwrap());
            for _ in 0..3 {
                let before = folded(fold, of(&orbit));
                orbit.step();
                assert_step(&before, &c, &of(&orbit), -orbit.unit() as usize, [2.1; 2]);
                let leading = orbit.leading();
                let off = pair_of_digits(&orbit).plus(Extended { m: leading.m.scaled(-1.0), e: leading.e });
                let most = Bound::modulus(leading).by(2_f64.powi(-105));
                assert!(!most.below(Bound::modulus(off)), "{limbs}: {off:?} of {leading:?}");
                let (near, exact) = (orbit.near(), Extended::<f64>::of(leading).in_range().unwrap());
                for (near, exact) in [(near.re, exact.re), (near.im, exact.im)] {
                    let most = 1e-15 * exact.abs() + 2_f64.powi(-103);
                    assert!((near - exact).abs() <= most && near * exact >= 0.0, "{near}, {exact}");
                }
            }
            // The same by one call.
            let mut other = OneOrbit::new(products, fold, parts, 4.0).unwrap();
            other.steps(&mut Most(3));
            assert_eq!(of(&other), of(&orbit), "{limbs} limbs");
        }
    }
}

/// With few digits, one orbit and eight make the same sums.
#[test]
fn steps_of_one_orbit_are_those_of_eight() {
    let Some(products) = products() else { return };
    let mut random = Random(34);
    for limbs in 2..17 {
        let [z, c] = [(); 2].map(|()| [(); 2].map(|()| random_part(&mut random, limbs)));
        let parts = [z.each_ref(), c.each_ref()];
        let fold = FOLDS[limbs % FOLDS.len()];
        let mut one = OneOrbit::new(products, fold, parts, 4.0).unwrap();
        let mut eight = EightOrbits::new(products, fold, limbs, 4.0).unwrap();
        eight.begin(5, parts);
        for _ in 0..4 {
            assert_eq!(pair_of_digits(&one), eight.leading(5));
            one.step();
            eight.step();
        }
    }
}

#[test]
fn leading_bits_and_magnitudes_are_those_of_limbs() {
    let Some(products) = products() else { return };
    let mut random = Random(33);
    for limbs in 3..20 {
        let mut parts = [(); 2].map(|()| random_part(&mut random, limbs));
        let mut stepper = Stepper::new(Fold::None, parts.each_ref());
        let mut orbits = EightOrbits::new(products, Fold::None, limbs, 4.0).unwrap();
        orbits.begin(3, [parts.each_ref(); 2]);
        for _ in 0..3 {
            let (of_digits, of_limbs) = (orbits.leading(3), pair(&parts[0], &parts[1]));
            // The orbits differ in their last places.
            let negative = Extended { m: of_limbs.m.scaled(-1.0), e: of_limbs.e };
            let difference = of_digits.plus(negative);
            assert!(difference.m.size() == 0.0 || difference.e < of_limbs.e - 100 || limbs == 3, "{limbs}");
            let [re, im] = orbits.magnitudes().map(|of| of[3]);
            let exact = Extended::<f64>::of(of_limbs).in_range().unwrap();
            assert!(
                (re - exact.re.abs()).abs() < 1e-15 * re.max(1.0) && (im - exact.im.abs()).abs() < 1e-15 * im.max(1.0)
            );
            assert_eq!(orbits.signs(3), [exact.re < 0.0, exact.im < 0.0]);
            orbits.step();
            stepper.step(&mut parts);
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let Some(products) = products() else { return };
    assert!(EightOrbits::new(products, Fold::None, 2 * MOST_DIGITS, 4.0).is_none());
    assert!(EightOrbits::new(products, Fold::None, 4, 1e18).is_none());
    let (near, mut far) = (Fixed::zero(4), Fixed::zero(4));
    far.limbs[3] = FARTHEST;
    for parts in [[[&near, &far], [&near; 2]], [[&near; 2], [&near, &far]]] {
        assert!(OneOrbit::new(products, Fold::None, parts, 4.0).is_none());
        assert!(!EightOrbits::new(products, Fold::None, 4, 4.0).unwrap().begin(0, parts));
    }
}

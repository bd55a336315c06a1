//! Bounds and derivatives that each step of a reference orbit multiplies.
//!
//! They leave the range of f64, but slowly: their exponents are looked at only where a mantissa leaves a wide range, so that a step is a few operations of f64. With numbers that are
//! normalised in each operation ([`Bound`], [`Extended`]), what is computed beside a reference of 5 limbs took 126 ns a step, for 44 of the step itself.

use super::extended::{Bound, Extended, power_of_two};
use super::mantissa::Complex;

/// Mantissas are kept between the inverse of this, 2^-400, and this.
const LARGE: f64 = f64::from_bits((1023 + 400) << 52);
const SMALL: f64 = 1.0 / LARGE;
/// What is added where a summand is below the range of f64.
const NEXT_TO_NOTHING: f64 = 1e-300;
/// Bounds are not less than 2 to this power, far below all that they are compared with.
const LEAST: i32 = -(1 << 27);
/// For the roundings of a step.
const UP: f64 = 1.0 + 1e-14;

/// 2^power; 0 for powers below -1000, and infinity above 1000.
#[inline(always)]
fn power(power: i32) -> f64 {
    match power {
        ..-1000 => 0.0,
        1001.. => f64::INFINITY,
        _ => power_of_two(power),
    }
}

/// A bound x with x' = growth x + added for each step: m 2^e.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunningBound {
    m: f64,
    e: i32,
    /// In units of 2^e.
    added: f64,
    of_added: Bound,
}

impl RunningBound {
    /// The first value, and what each step adds.
    pub(super) fn new(first: Bound, added: Bound) -> Self {
        // A first value far below what is added is one of 2^-400 of that.
        let least = Bound::new(SMALL, added.exponent().max(LEAST));
        let mut new = Self { m: 0.0, e: 0, added: 0.0, of_added: added };
        new.set(if first.below(least) { least } else { first });
        new
    }

    #[cold]
    fn set(&mut self, value: Bound) {
        let (m, e) = if value.exponent() < LEAST { (1.0, LEAST) } else { value.parts() };
        let added = self.of_added.in_unit(e).max(NEXT_TO_NOTHING);
        *self = Self { m, e, added, ..*self };
    }

    /// One step, with a growth of at least 0.
    #[inline(always)]
    pub(super) fn step(&mut self, growth: f64) {
        self.m = (growth * self.m + self.added) * UP;
        if !(SMALL..LARGE).contains(&self.m) {
            self.set(Bound::new(self.m, self.e));
        }
    }

    /// Its value.
    pub(super) fn value(&self) -> Bound {
        Bound::new(self.m, self.e)
    }

    /// At least the product with 2^by: below the range of f64 it may be up to 2^-600, and above it is infinity.
    #[inline(always)]
    pub(super) fn scaled(self, by: i32) -> f64 {
        self.m * power(self.e.saturating_add(by).max(-1000))
    }
}

/// The derivative d of Z_m by C: d' = 2 Z d + 1, as d 2^e.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunningDerivative {
    d: Complex<f64>,
    e: i32,
    /// 1 in units of 2^e.
    one: f64,
}

impl RunningDerivative {
    /// That of Z_1 = C.
    pub(super) const FIRST: Self = Self { d: Complex { re: 1.0, im: 0.0 }, e: 0, one: 1.0 };

    /// One step from z.
    #[inline(always)]
    pub(super) fn step(&mut self, z: Complex<f64>) {
        let product = z * self.d;
        self.d = Complex { re: product.re + product.re + self.one, im: product.im + product.im };
        if !(SMALL..LARGE).contains(&self.d.size()) {
            self.settle();
        }
    }

    #[cold]
    fn settle(&mut self) {
        let Extended { m: d, e } = self.value();
        *self = if d.size() == 0.0 { Self { d, e: 0, one: 1.0 } } else { Self { d, e, one: power(-e) } };
    }

    /// Its value.
    pub(super) fn value(self) -> Extended<f64> {
        Extended::new(self.d, self.e)
    }

    /// Whether the product of its modulus and a radius may be more than `size`: not for certain.
    #[inline(always)]
    pub(super) fn may_reach(self, radius: Bound, size: f64) -> bool {
        // The modulus is at most sqrt 2 times the larger part.
        let reach = 1.5 * radius.mantissa() * self.d.size();
        size <= reach * power(self.e.saturating_add(radius.exponent()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deep::tests::direction;
    use crate::test_random::Random;

    /// Growths of orbits, some of them near 0 or far out.
    fn growth(random: &mut Random) -> f64 {
        match random.next() % 50 {
            0 => 0.0,
            1 => power_of_two(-((random.next() % 900) as i32)),
            2 => 1e18,
            _ => 4.0 * random.unit(),
        }
    }

    #[test]
    fn bounds_are_those_of_normalised_numbers_and_not_less() {
        let mut random = Random(5);
        for (first, added) in [
            (Bound::ZERO, Bound::of(8.0)),
            (Bound::new(1.0, -60), Bound::new(1.0, -60)),
            (Bound::new(1.5, -40_000), Bound::new(1.5, -40_000)),
            (Bound::new(1.0, 900), Bound::new(1.0, -1500)),
            (Bound::ZERO, Bound::ZERO),
            (Bound::new(1.0, -3000), Bound::ZERO),
        ] {
            let (mut running, mut bound) = (RunningBound::new(first, added), first);
            for step in 0..20_000 {
                let growth = growth(&mut random);
                running.step(growth);
                bound = Bound::of(growth).times(bound).plus(added).by(1.0 + 4.0 * f64::EPSILON);
                let value = running.value();
                assert!(!value.below(bound), "{first:?}, {added:?}, step {step}: {value:?}, {bound:?}");
                if !added.is_zero() {
                    // Roundings upwards add up over the steps since it was near what is added.
                    assert!(
                        value.below(bound.by(1.0 + 1e-8)),
                        "{first:?}, {added:?}, step {step}: {value:?}, {bound:?}"
                    );
                }
                let in_f64 = running.scaled(-200);
                let exact = value.times(Bound::new(1.0, -200));
                assert!(in_f64 == exact.to_f64() || in_f64 < 1e-180 && in_f64 >= exact.to_f64(), "{in_f64}, {exact:?}");
            }
        }
    }

    #[test]
    fn derivatives_are_those_of_normalised_numbers() {
        let mut random = Random(6);
        let (mut running, mut derivative, mut filtered) = (RunningDerivative::FIRST, Extended::<f64>::one(), 0);
        for step in 0..20_000 {
            let (at, size) = (direction(&mut random), growth(&mut random).min(4.0) / 2.0);
            let z = Complex { re: size * at[0], im: size * at[1] };
            running.step(z);
            derivative = Extended::new(z, 0).times(derivative).doubled().plus(Extended::one());
            let off = Bound::modulus(running.value().minus(derivative));
            // What cancels is lost to both.
            assert!(off.below(Bound::modulus(derivative).plus(Bound::ONE).by(1e-9)), "step {step}: {off:?}");
            let radius = Bound::new(1.0, -derivative.e - (random.next() % 8) as i32);
            let reach = Bound::modulus(running.value()).times(radius).to_f64();
            assert!(running.may_reach(radius, reach), "step {step}");
            filtered += usize::from(!running.may_reach(radius, 4.0 * reach));
        }
        assert!(filtered > 19_000, "{filtered}");
    }
}

//! The orbit of a point in fixed point, of z^2 + c with or without a fold, by the fastest of the ways that the machine has.

#[cfg(target_arch = "x86_64")]
use super::digits::{OneOrbit, Products};
use super::extended::Extended;
use super::leading::pair;
use super::limbs::{Fixed, Stepper};
use super::mantissa::{Complex, Dd};
use crate::formula::Fold;
use crate::level::Level;

/// What is asked before each step of an orbit that is followed: whether to make it.
pub(super) trait EachStep {
    /// At z in f64, to 52 bits of its larger part where that is 2^-40 or more, and otherwise to within 2^-92.
    fn goes_on(&mut self, z: Complex<f64>) -> bool;
}

/// |z| from which the digits at the point have 53 bits of the larger part: 2^-40.
#[cfg(target_arch = "x86_64")]
pub(super) const NEAR_ZERO: f64 = 9.1e-13;
/// |z| from which the limbs at the point have 53 bits of the larger part: 2^-10.
pub(super) const NEAR_ONE: f64 = 1.0 / 1024.0;

/// An orbit.
pub(super) struct FixedOrbit {
    way: Way,
    /// The limbs of the parts of c.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only digits are cut off to limbs"))]
    limbs: usize,
}

enum Way {
    Limbs {
        z: [Fixed; 2],
        stepper: Stepper,
    },
    #[cfg(target_arch = "x86_64")]
    Digits(OneOrbit),
}

impl FixedOrbit {
    /// The orbit of a point by z^2 + c, up to R^2.
    pub(super) fn new(level: Level, c: [&Fixed; 2], escape: f64) -> Self {
        Self::from(level, Fold::None, [c, c], escape)
    }

    /// The orbit from z by a fold, its square and c, which has as many limbs as z, up to R^2.
    pub(super) fn from(level: Level, fold: Fold, [z, c]: [[&Fixed; 2]; 2], escape: f64) -> Self {
        let limbs = c[0].limbs.len();
        #[cfg(target_arch = "x86_64")]
        if let Some(orbit) = Products::of(level).and_then(|products| OneOrbit::new(products, fold, [z, c], escape)) {
            return Self { way: Way::Digits(orbit), limbs };
        }
        let _ = (level, escape);
        Self { way: Way::Limbs { z: z.map(Fixed::clone), stepper: Stepper::new(fold, c) }, limbs }
    }

    /// The exponent of a unit of the last place, which is at most that of c.
    pub(super) fn unit(&self) -> i32 {
        match &self.way {
            Way::Limbs { z: [x, _], .. } => x.unit(),
            #[cfg(target_arch = "x86_64")]
            Way::Digits(orbit) => orbit.unit(),
        }
    }

    /// Makes a step, off by less than 8 units of the last place.
    #[inline(always)]
    pub(super) fn step(&mut self) {
        match &mut self.way {
            Way::Limbs { z, stepper } => stepper.step(z),
            #[cfg(target_arch = "x86_64")]
            Way::Digits(orbit) => orbit.step(),
        }
    }

    /// Makes steps as long as it is told to.
    #[inline(always)]
    pub(super) fn steps(&mut self, each: &mut impl EachStep) {
        #[cfg(target_arch = "x86_64")]
        if let Way::Digits(orbit) = &mut self.way {
            return orbit.steps(each);
        }
        while each.goes_on(self.near()) {
            self.step();
        }
    }

    /// z to 106 bits of its larger part.
    #[inline(always)]
    pub(super) fn leading(&self) -> Extended<Dd> {
        match &self.way {
            Way::Limbs { z: [x, y], .. } => pair(x, y),
            #[cfg(target_arch = "x86_64")]
            Way::Digits(orbit) => orbit.leading(),
        }
    }

    /// z in f64, to 52 bits of its larger part.
    #[inline(always)]
    pub(super) fn near(&self) -> Complex<f64> {
        let (near, least) = match &self.way {
            Way::Limbs { z, .. } => {
                let [re, im] = z.each_ref().map(Fixed::at_point);
                (Complex { re, im }, NEAR_ONE)
            }
            #[cfg(target_arch = "x86_64")]
            Way::Digits(orbit) => (orbit.near(), NEAR_ZERO),
        };
        if near.size() >= least {
            return near;
        }
        Extended::of(self.leading()).in_range().unwrap_or(Complex::ZERO)
    }

    /// The parts of z in fixed point with so many limbs as c has.
    pub(super) fn parts(&self) -> [Fixed; 2] {
        match &self.way {
            Way::Limbs { z, .. } => z.clone(),
            #[cfg(target_arch = "x86_64")]
            Way::Digits(orbit) => orbit.parts(self.limbs),
        }
    }
}

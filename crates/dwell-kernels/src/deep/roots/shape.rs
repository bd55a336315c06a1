//! What the surroundings of a root look like.
//!
//! **Of a nucleus** c_0 of period p. With lambda the product of 2 z_k for 0 < k < p, and D = dz_p/dc, points near 0 return after p steps as F(z) = D (c - c_0) + lambda z^2 + ...: in the
//! units z = Z / lambda and c - c_0 = s C this is Z^2 + C, with s = 1 / (D lambda). So |s| is the size of the component and of the copy of the set around it, 1 for the set itself, and the argument of s is
//! its orientation. (The formula 1 / (beta lambda^2) of C. Heiland-Allen is the same, since D = beta lambda.)
//!
//! **Its shape.** The next terms of F, D'/2 (c - c_0)^2 and lambda' (c - c_0) z^2 with D' = d^2 z_p/dc^2 and lambda' = d lambda/dc, have in these units the coefficients D' / (2 D^2 lambda) and lambda' / (D lambda^2). Their sum is near
//! 0 for a cardioid, the main component of a copy of the set, and near -1 for a disc, a component that touches a larger one (A. Dolotin and A. Morozov, "On the shapes of elementary domains", 2008).
//!
//! **Of a Misiurewicz point**: the multiplier of the cycle, the product of 2 z_n over one period, by whose powers the set looks alike around it.

use super::Equation;
use crate::deep::Watch;
use crate::deep::extended::{Bound, Extended};
use crate::deep::reference::Reference;

/// A complex number of any magnitude: m 2^exponent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    /// Real and imaginary part of m, of which the larger is in [1, 2) in magnitude.
    pub parts: [f64; 2],
    /// The exponent of 2.
    pub exponent: i64,
}

impl From<Extended<f64>> for Number {
    fn from(number: Extended<f64>) -> Self {
        Self { parts: [number.m.re, number.m.im], exponent: number.e.into() }
    }
}

/// The surroundings of a root.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Of a nucleus.
    Component {
        /// s.
        size: Number,
        /// D.
        derivative: Number,
        /// Whether it is a cardioid, not a disc.
        is_cardioid: bool,
    },
    /// Of a Misiurewicz point.
    Spiral {
        /// The multiplier of the cycle.
        multiplier: Number,
    },
}

/// The surroundings of a root, from its orbit; `None` when the flag is set.
#[must_use]
pub fn shape(reference: &Reference, equation: Equation, watch: Watch<'_>) -> Option<Shape> {
    let one = Extended::<f64>::one;
    let (mut d, mut of_d) = (one(), Extended::ZERO);
    let (mut lambda, mut of_lambda) = (one(), Extended::ZERO);
    let mut multiplier = one();
    let last = equation.last();
    for n in 1..=last {
        if n & 0xfff == 0 && watch.is_stopped() {
            return None;
        }
        let z = reference.extended::<f64>(n as usize);
        if equation.earlier().is_some_and(|earlier| n > earlier) {
            multiplier = multiplier.times(z).doubled();
        }
        if n < last {
            of_d = z.times(of_d).plus(d.times(d)).doubled();
            of_lambda = z.times(of_lambda).plus(d.times(lambda)).doubled();
            d = z.times(d).doubled().plus(one());
            lambda = z.times(lambda).doubled();
        }
    }
    if equation.earlier().is_some() {
        return Some(Shape::Spiral { multiplier: multiplier.into() });
    }
    let size = one().over(d.times(lambda));
    let by_c = of_d.over(d.doubled());
    let by_z = of_lambda.over(lambda);
    let terms = by_c.plus(by_z).times(size);
    let is_cardioid = Bound::modulus(terms).below(Bound::modulus(terms.plus(one())));
    Some(Shape::Component { size: size.into(), derivative: d.into(), is_cardioid })
}

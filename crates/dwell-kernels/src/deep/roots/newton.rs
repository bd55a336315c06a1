//! Newton's method for the roots of an equation near a reference orbit, by deltas from it.
//!
//! With c = C + delta, z_n = Z_n + d_n and d' = (2 Z + d) d + delta, so that no step needs more bits than a [`Dd`] has, however deep the view is. It finds a root to some 90 bits of the radius of the
//! view, and proves nothing.

use super::Equation;
use crate::deep::Watch;
use crate::deep::extended::{Bound, Extended};
use crate::deep::mantissa::{Complex, Dd, Mantissa};
use crate::deep::reference::Reference;

/// The most steps of the method.
const MOST_STEPS: usize = 40;
/// Corrections below these parts of the radius end it, in f64 and in pairs.
const CONVERGED: [i32; 2] = [-40, -88];
/// Beyond so many radii, a point is no longer near.
const FAR: f64 = 16.0;
/// The greatest exponent of values, above which orbits have escaped.
const MOST_EXPONENT: i32 = 40;

/// A root near the centre C of a reference orbit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Root {
    /// c - C.
    pub(super) delta: Extended<Dd>,
    /// The derivative of the equation at c.
    pub(super) derivative: Extended<Dd>,
    /// The product of 2 z_n for all n before the last in the equation.
    pub(super) product: Extended<f64>,
}

/// The left side of an equation and its derivative.
struct Value<T> {
    value: Extended<T>,
    derivative: Extended<T>,
    product: Extended<f64>,
    /// |z| / |dz/dc| of the earlier z in the equation: about the distance to its root.
    earlier: Option<Bound>,
}

/// The left side of an equation at C + delta; `None` where the orbit escapes, or the flag is set.
fn evaluate<T: Mantissa>(
    reference: &Reference,
    equation: Equation,
    delta: Extended<T>,
    watch: Watch<'_>,
) -> Option<Value<T>> {
    let mut d = delta;
    let mut derivative = Extended::<T>::one();
    let (mut earlier, mut product) = (None, Extended::one());
    for n in 1..=equation.last() {
        let exact = reference.extended::<T>(n as usize);
        let w = exact.plus(d);
        if Some(n) == equation.earlier() {
            earlier = Some((w, derivative));
        }
        if n == equation.last() {
            let of_earlier = earlier.map(|(w, d)| Bound::modulus(w).over(Bound::modulus(d)));
            let (of_w, of_derivative) = earlier.unwrap_or((Extended::ZERO, Extended::ZERO));
            let (value, derivative) = (w.plus(of_w), derivative.plus(of_derivative));
            return Some(Value { value, derivative, product, earlier: of_earlier });
        }
        if w.e > MOST_EXPONENT || d.e > MOST_EXPONENT || n & 0xfff == 0 && watch.is_stopped() {
            return None;
        }
        derivative = w.times(derivative).doubled().plus(Extended::one());
        product = w.in_f64().times(product).doubled();
        d = exact.plus(w).times(d).plus(delta);
    }
    None
}

/// A quotient to the precision of the type.
fn quotient<T: Mantissa>(a: Extended<T>, b: Extended<T>) -> Extended<T> {
    let nearly = a.over(b.in_f64());
    nearly.plus(a.minus(nearly.times(b)).over(b.in_f64()))
}

/// Newton's method in one type, from some delta, until corrections are below a part of the radius.
fn iterate<T: Mantissa>(
    reference: &Reference,
    equation: Equation,
    radius: Bound,
    mut delta: Extended<T>,
    converged: i32,
    watch: Watch<'_>,
) -> Option<(Extended<T>, Value<T>)> {
    let (least, most) = (radius.times(Bound::new(1.0, converged)), radius.by(FAR));
    for _ in 0..MOST_STEPS {
        let value = evaluate(reference, equation, delta, watch)?;
        if value.derivative.m.size() == 0.0 {
            return None;
        }
        let correction = quotient(value.value, value.derivative);
        delta = delta.minus(correction);
        if !Bound::modulus(delta).below(most) {
            return None;
        }
        if Bound::modulus(correction).below(least) {
            return Some((delta, value));
        }
    }
    None
}

/// The root that the method finds from the centre of a disc.
pub(super) fn root(reference: &Reference, equation: Equation, radius: Bound, watch: Watch<'_>) -> Option<Root> {
    let (nearly, _) = iterate::<f64>(reference, equation, radius, Extended::ZERO, CONVERGED[0], watch)?;
    let pair = |part: f64| Dd::whole(part);
    let start = Extended { m: Complex { re: pair(nearly.m.re), im: pair(nearly.m.im) }, e: nearly.e };
    let (delta, value) = iterate::<Dd>(reference, equation, radius, start, CONVERGED[1], watch)?;
    // The centre of a component solves the equation of a Misiurewicz point, too.
    let is_periodic = value.earlier.is_some_and(|away| away.below(radius.times(Bound::new(1.0, CONVERGED[0]))));
    (!is_periodic).then_some(Root { delta, derivative: value.derivative, product: value.product })
}

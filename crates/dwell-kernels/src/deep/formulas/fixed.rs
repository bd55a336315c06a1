//! Steps of every formula in fixed point.
//!
//! A fold changes signs alone. w^N is found by the binary digits of N. Squares and products of complex numbers are off by less than 8 units of the last place each ([`Stepper::step`]; four products of magnitudes below the
//! exact ones by less than 2 units). With G = max(1, |w|), w^j is off by less than 8 (j - 1) G^(j-1) units: a squaring gives 2 G^j (8 (j - 1) G^(j-1)) + 8 <= 8 (2 j - 1) G^(2j-1), and a product with w
//! 8 (j - 1) G^j + 8 <= 8 j G^j. (The square of the error is less than a unit by far.) So a step from a z that is off by E is off by N (|z| + E)^(N-1) E + 8 (N - 1) G^(N-1) units, for N = 2 with 8 units, and by the error of c.

use crate::deep::extended::Bound;
use crate::deep::formulas::power::of_bound;
use crate::deep::limbs::{self, Fixed, Stepper, add, few, fold, negate_if, product, square_of};
use crate::formula::Formula;

/// Steps of a formula for one c.
#[derive(Debug)]
pub(super) struct PowerStepper {
    formula: Formula,
    /// c in two's complement.
    c: [Vec<u64>; 2],
    squares: Option<Stepper>,
    scratch: Vec<u64>,
    step: Step,
}

/// Replaces z by z^N + c.
type Step = fn(&mut [Fixed; 2], &[Vec<u64>; 2], &mut [u64], u32);

/// Limbs of scratch memory for each limb of a number: z, and what squares take, or columns of a product, two products and a sum.
const SCRATCH: usize = 2 + limbs::SCRATCH;

impl PowerStepper {
    /// For numbers of as many limbs as the parts of c. Steps of few limbs are compiled for each number of limbs.
    pub(super) fn new(formula: Formula, c: [&Fixed; 2]) -> Self {
        let limbs = c[0].limbs.len();
        let squares = (formula.power() == 2).then(|| Stepper::new(formula.fold(), c));
        let complement = |part: &Fixed| {
            let mut limbs = part.limbs.clone();
            negate_if(part.negative, &mut limbs);
            limbs
        };
        let step: Step = match limbs {
            4 => of_few::<4>,
            5 => of_few::<5>,
            6 => of_few::<6>,
            7 => of_few::<7>,
            8 => of_few::<8>,
            9 => of_few::<9>,
            10 => of_few::<10>,
            _ => of_many,
        };
        Self { formula, c: c.map(complement), squares, scratch: vec![0; SCRATCH * limbs], step }
    }

    /// The greatest modulus whose power fits in front of the point.
    pub(super) fn greatest(formula: Formula) -> f64 {
        // With room for intermediate results, which are below twice the square of the last but one.
        let bits = 58 / formula.power();
        (1_u64 << bits.min(30)) as f64
    }

    /// Replaces z by the next z.
    pub(super) fn step(&mut self, z: &mut [Fixed; 2]) {
        if let Some(squares) = &mut self.squares {
            return squares.step(z);
        }
        fold(self.formula.fold(), z);
        (self.step)(z, &self.c, &mut self.scratch, self.formula.power());
    }
}

fn of_few<const N: usize>(z: &mut [Fixed; 2], c: &[Vec<u64>; 2], scratch: &mut [u64], power: u32) {
    let square = |z: &mut [Fixed; 2], _: &mut [u64]| {
        few::put(few::square_of::<N>(&few::magnitudes(z), z[0].negative != z[1].negative), z);
    };
    step_of(N, (z, c), scratch, power, square);
}

fn of_many(z: &mut [Fixed; 2], c: &[Vec<u64>; 2], scratch: &mut [u64], power: u32) {
    let square = |z: &mut [Fixed; 2], scratch: &mut [u64]| {
        square_of(z, scratch);
        z.iter_mut().for_each(|part| part.settle(part.limbs.len()));
    };
    step_of(c[0].len(), (z, c), scratch, power, square);
}

#[inline(always)]
fn step_of(
    n: usize,
    (z, c): (&mut [Fixed; 2], &[Vec<u64>; 2]),
    scratch: &mut [u64],
    power: u32,
    square: impl Fn(&mut [Fixed; 2], &mut [u64]),
) {
    let (u, rest) = scratch[..SCRATCH * n].split_at_mut(n);
    let (v, rest) = rest.split_at_mut(n);
    u.copy_from_slice(&z[0].limbs[..n]);
    v.copy_from_slice(&z[1].limbs[..n]);
    let signs = [z[0].negative, z[1].negative];
    for digit in (0..power.ilog2()).rev() {
        square(z, rest);
        if power >> digit & 1 == 1 {
            multiply(n, z, ([u, v], signs), rest);
        }
    }
    for (part, c) in z.iter_mut().zip(c) {
        negate_if(part.negative, &mut part.limbs[..n]);
        add(&mut part.limbs[..n], &c[..n]);
        part.settle(n);
    }
}

/// The magnitudes and signs of the parts of a number.
type Parts<'a> = ([&'a [u64]; 2], [bool; 2]);

/// Replaces z by its product with another number.
#[inline(always)]
fn multiply(n: usize, [x, y]: &mut [Fixed; 2], ([u, v], [of_u, of_v]): Parts<'_>, scratch: &mut [u64]) {
    let (columns, rest) = scratch.split_at_mut(2 * n);
    let (re, rest) = rest.split_at_mut(n);
    let (im, other) = rest.split_at_mut(n);
    let (x_limbs, y_limbs) = (&mut x.limbs[..n], &mut y.limbs[..n]);
    product(x_limbs, u, columns, re);
    negate_if(x.negative != of_u, re);
    product(y_limbs, v, columns, other);
    negate_if(y.negative == of_v, other);
    add(re, other);
    product(x_limbs, v, columns, im);
    negate_if(x.negative != of_v, im);
    product(y_limbs, u, columns, other);
    negate_if(y.negative != of_u, other);
    add(im, other);
    x_limbs.copy_from_slice(re);
    y_limbs.copy_from_slice(im);
    x.settle(n);
    y.settle(n);
}

/// A bound on the error of the next z in units of the last place, 2^unit, for a z of this modulus, known to within so many, and an error of c.
pub(super) fn error_after(formula: Formula, modulus: Bound, error: Bound, unit: i32, of_c: Bound) -> Bound {
    let power = formula.power();
    let absolute = error.times(Bound::new(1.0, unit));
    let growth = of_bound(modulus.plus(absolute), power - 1).by(f64::from(power));
    let base = if modulus.below(Bound::ONE) { Bound::ONE } else { modulus.plus(absolute) };
    let rounding = of_bound(base, power - 1).by(8.0 * f64::from(power - 1));
    growth.times(error).plus(rounding).plus(of_c).by(1.0 + 1e-13)
}

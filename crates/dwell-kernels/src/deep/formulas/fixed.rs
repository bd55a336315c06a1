//! Steps of every formula in fixed point.
//!
//! A fold changes signs alone. w^N is found by the binary digits of N. Squares and products of complex numbers are off by less than 8 units of the last place each ([`Stepper::step`]; four products of magnitudes below the
//! exact ones by less than 2 units). With G = max(1, |w|), w^j is off by less than 8 (j - 1) G^(j-1) units: a squaring gives 2 G^j (8 (j - 1) G^(j-1)) + 8 <= 8 (2 j - 1) G^(2j-1), and a product with w
//! 8 (j - 1) G^j + 8 <= 8 j G^j. (The square of the error is less than a unit by far.) So a step from a z that is off by E is off by N (|z| + E)^(N-1) E + 8 (N - 1) G^(N-1) units, for N = 2 with 8 units, and by the error of c.

use crate::deep::extended::Bound;
use crate::deep::formulas::power::of_bound;
use crate::deep::limbs::{Fixed, Stepper, add, negate_if, product, square, subtract};
use crate::formula::{Fold, Formula};

/// Steps of a formula for one c.
#[derive(Debug)]
pub(super) struct PowerStepper {
    formula: Formula,
    c: [Fixed; 2],
    squares: Option<Stepper>,
    scratch: Vec<u64>,
}

impl PowerStepper {
    /// For numbers of as many limbs as the parts of c.
    pub(super) fn new(formula: Formula, c: [&Fixed; 2]) -> Self {
        let limbs = c[0].limbs.len();
        let squares = (formula.power() == 2).then(|| Stepper::new(c));
        Self { formula, c: c.map(Fixed::clone), squares, scratch: vec![0; 5 * limbs] }
    }

    /// The greatest modulus whose power fits in front of the point.
    pub(super) fn greatest(formula: Formula) -> f64 {
        // With room for intermediate results, which are below twice the square of the last but one.
        let bits = 58 / formula.power();
        (1_u64 << bits.min(30)) as f64
    }

    /// Replaces z by the next z.
    pub(super) fn step(&mut self, z: &mut [Fixed; 2]) {
        match self.formula.fold() {
            Fold::None => {}
            Fold::Absolute => z.iter_mut().for_each(|part| part.negative = false),
            Fold::Conjugate => z[1].negative ^= true,
        }
        if let Some(squares) = &mut self.squares {
            return squares.step(z);
        }
        let power = self.formula.power();
        let w = z.clone();
        for digit in (0..power.ilog2()).rev() {
            self.square(z);
            if power >> digit & 1 == 1 {
                self.multiply(z, &w);
            }
        }
        for (part, c) in z.iter_mut().zip(&self.c) {
            part.add(c);
        }
    }

    /// x^2 - y^2 and (x + y)^2 - x^2 - y^2.
    fn square(&mut self, [x, y]: &mut [Fixed; 2]) {
        let n = x.limbs.len();
        let (columns, rest) = self.scratch.split_at_mut(2 * n);
        let (xx, rest) = rest.split_at_mut(n);
        let (yy, sum) = rest.split_at_mut(n);
        square(&x.limbs, columns, xx);
        square(&y.limbs, columns, yy);
        sum.copy_from_slice(&y.limbs);
        negate_if(x.negative != y.negative, sum);
        add(sum, &x.limbs);
        negate_if(sum[n - 1] >> 63 != 0, sum);
        square(sum, columns, &mut y.limbs);
        subtract(&mut y.limbs, xx);
        subtract(&mut y.limbs, yy);
        x.limbs.copy_from_slice(xx);
        subtract(&mut x.limbs, yy);
        for part in [x, y] {
            part.negative = part.limbs[n - 1] >> 63 != 0;
            negate_if(part.negative, &mut part.limbs);
        }
    }

    fn multiply(&mut self, [x, y]: &mut [Fixed; 2], [u, v]: &[Fixed; 2]) {
        let n = x.limbs.len();
        let (columns, rest) = self.scratch.split_at_mut(2 * n);
        let (re, rest) = rest.split_at_mut(n);
        let (im, other) = rest.split_at_mut(n);
        let mut sum_of = |out: &mut [u64], [a, b]: [&Fixed; 2], [c, d]: [&Fixed; 2], minus: bool| {
            product(&a.limbs, &b.limbs, columns, out);
            negate_if(a.negative != b.negative, out);
            product(&c.limbs, &d.limbs, columns, other);
            negate_if((c.negative != d.negative) != minus, other);
            add(out, other);
        };
        sum_of(re, [x, u], [y, v], true);
        sum_of(im, [x, v], [y, u], false);
        for (part, limbs) in [(x, re), (y, im)] {
            part.limbs.copy_from_slice(limbs);
            part.negative = part.limbs[n - 1] >> 63 != 0;
            negate_if(part.negative, &mut part.limbs);
        }
    }
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

//! Fixed-point numbers of many limbs, for the reference orbit and for single pixels.
//!
//! A number has one limb of 64 bits before the point and `n - 1` after it, least significant first, and a sign. |z| stays at most 2^30 and c
//! below 2^62, so that steps fit.
//!
//! Sums are computed in two's complement, since the signs of an orbit are those of coins: branches on them took half of the time of a step
//! of 4 limbs. Steps of few limbs are compiled for each number of limbs (`limbs/few.rs`). Both together, before the latter were made of arrays, nanoseconds of a step of `direct.rs` on a Zen 5 core: 50 in place of 117 with 4 limbs,
//! 74 in place of 178 with 7.
//!
//! Tried: two threads beside the one that steps, for two of the three squares of a step, which wait for each other without sleeping, since a square takes microseconds:
//! 4.6 times the time with 419 limbs where other programs use the processors, too.

pub(super) mod few;
mod product;
mod square;

pub(super) use product::product;
pub(super) use square::square;

use crate::formula::Fold;

/// A number.
#[derive(Clone, Debug, PartialEq)]
pub struct Fixed {
    /// Whether it is negative. Zero may be either.
    pub negative: bool,
    /// The limbs of the magnitude.
    pub limbs: Vec<u64>,
}

/// Steps z^2 + c with or without a fold, with the memory that they need.
#[derive(Debug)]
pub(super) struct Stepper {
    fold: Fold,
    /// c in two's complement.
    c: [Vec<u64>; 2],
    scratch: Vec<u64>,
    step: fn(&mut [Fixed; 2], &[Vec<u64>; 2], &mut [u64]),
}

/// Limbs of scratch memory for each limb of a number: columns of a square, two squares and a sum.
pub(super) const SCRATCH: usize = 5;

impl Stepper {
    /// For numbers of as many limbs as the parts of c.
    pub(super) fn new(fold: Fold, c: [&Fixed; 2]) -> Self {
        let limbs = c[0].limbs.len();
        let complement = |part: &Fixed| {
            let mut limbs = part.limbs.clone();
            negate_if(part.negative, &mut limbs);
            limbs
        };
        let step = match limbs {
            3 => of_few::<3>,
            4 => of_few::<4>,
            5 => of_few::<5>,
            6 => of_few::<6>,
            7 => of_few::<7>,
            8 => of_few::<8>,
            9 => of_few::<9>,
            10 => of_few::<10>,
            11 => of_few::<11>,
            12 => of_few::<12>,
            13 => of_few::<13>,
            14 => of_few::<14>,
            15 => of_few::<15>,
            16 => of_few::<16>,
            _ => of_many,
        };
        Self { fold, c: c.map(complement), scratch: vec![0; SCRATCH * limbs], step }
    }

    /// Replaces z by z^2 + c: x^2 - y^2 and (x + y)^2 - x^2 - y^2 from three squares, each below the exact one by less than 2 units of the last place.
    /// So the parts are off by less than 4 and 6 units, and the step by less than 8.
    #[inline(always)]
    pub(super) fn step(&mut self, z: &mut [Fixed; 2]) {
        fold(self.fold, z);
        (self.step)(z, &self.c, &mut self.scratch);
    }
}

/// Folds z: signs alone.
#[inline(always)]
pub(super) fn fold(fold: Fold, [x, y]: &mut [Fixed; 2]) {
    match fold {
        Fold::None => {}
        Fold::Absolute => [x, y].into_iter().for_each(|part| part.negative = false),
        Fold::Conjugate => y.negative ^= true,
    }
}

fn of_few<const N: usize>(z: &mut [Fixed; 2], c: &[Vec<u64>; 2], _: &mut [u64]) {
    let [mut re, mut im] = few::square_of::<N>(&few::magnitudes(z), z[0].negative != z[1].negative);
    add(&mut re, &c[0][..N]);
    add(&mut im, &c[1][..N]);
    few::put([re, im], z);
}

fn of_many(z: &mut [Fixed; 2], c: &[Vec<u64>; 2], scratch: &mut [u64]) {
    square_of(z, scratch);
    for (part, c) in z.iter_mut().zip(c) {
        add(&mut part.limbs, c);
        part.settle(c.len());
    }
}

/// Replaces z by z^2 in two's complement, with [`SCRATCH`] times as many limbs of memory.
pub(super) fn square_of([x, y]: &mut [Fixed; 2], scratch: &mut [u64]) {
    let n = x.limbs.len();
    let (columns, rest) = scratch[..SCRATCH * n].split_at_mut(2 * n);
    let (xx, rest) = rest.split_at_mut(n);
    let (yy, sum) = rest.split_at_mut(n);
    let (x_limbs, y_limbs) = (&mut x.limbs, &mut y.limbs);
    square(x_limbs, columns, xx);
    square(y_limbs, columns, yy);
    // |x + y|
    sum.copy_from_slice(y_limbs);
    negate_if(x.negative != y.negative, sum);
    add(sum, x_limbs);
    negate_if(sum[n - 1] >> 63 != 0, sum);
    square(sum, columns, y_limbs);
    subtract(y_limbs, xx);
    subtract(y_limbs, yy);
    x_limbs.copy_from_slice(xx);
    subtract(x_limbs, yy);
}

/// The negative of a number in two's complement, or the number, without a branch.
#[inline(always)]
pub(super) fn negate_if(negative: bool, limbs: &mut [u64]) {
    let mask = 0_u64.wrapping_sub(u64::from(negative));
    let mut carry = negative;
    for limb in limbs {
        (*limb, carry) = (*limb ^ mask).carrying_add(0, carry);
    }
}

#[inline(always)]
pub(super) fn add(a: &mut [u64], b: &[u64]) {
    let mut carry = false;
    for (a, b) in a.iter_mut().zip(b) {
        (*a, carry) = a.carrying_add(*b, carry);
    }
}

#[inline(always)]
pub(super) fn subtract(a: &mut [u64], b: &[u64]) {
    let mut borrow = false;
    for (a, b) in a.iter_mut().zip(b) {
        (*a, borrow) = a.borrowing_sub(*b, borrow);
    }
}

impl Fixed {
    /// Zero with so many limbs.
    #[must_use]
    pub fn zero(limbs: usize) -> Self {
        Self { negative: false, limbs: vec![0; limbs] }
    }

    /// Takes the limbs, of which there are so many, as a number in two's complement.
    #[inline(always)]
    pub(super) fn settle(&mut self, count: usize) {
        let limbs = &mut self.limbs[..count];
        self.negative = limbs[count - 1] >> 63 != 0;
        negate_if(self.negative, limbs);
    }

    /// The exponent of a unit of the last place.
    pub(super) fn unit(&self) -> i32 {
        -64 * i32::try_from(self.limbs.len() - 1).unwrap_or(i32::MAX / 128)
    }

    /// The value in f64, off by less than 2^-64 and a rounding.
    #[inline(always)]
    pub(super) fn at_point(&self) -> f64 {
        let [.., fraction, whole] = self.limbs.as_slice() else { return 0.0 };
        let value = *whole as f64 + *fraction as f64 * (1.0 / 18_446_744_073_709_551_616.0);
        if self.negative { -value } else { value }
    }
    /// Adds another number of as many limbs.
    pub fn add(&mut self, other: &Self) {
        let mut sum = other.limbs.clone();
        negate_if(self.negative != other.negative, &mut sum);
        add(&mut self.limbs, &sum);
        let is_negative = self.limbs.last().is_some_and(|limb| limb >> 63 != 0);
        negate_if(is_negative, &mut self.limbs);
        self.negative ^= is_negative;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_random::Random;

    fn random(random: &mut Random, limbs: usize) -> Fixed {
        let mut fixed = Fixed::zero(limbs);
        fixed.limbs.iter_mut().for_each(|limb| {
            // Limbs of ones and of zeros make carries.
            *limb = match random.next() % 4 {
                0 => 0,
                1 => u64::MAX,
                _ => random.next(),
            };
        });
        *fixed.limbs.last_mut().unwrap() %= 1 << 30;
        fixed.negative = random.next().is_multiple_of(2);
        fixed
    }

    /// All columns of a product.
    fn full(a: &[u64], b: &[u64]) -> Vec<u64> {
        let mut out = vec![0; a.len() + b.len()];
        for (i, a) in a.iter().enumerate() {
            let mut carry = 0;
            for (j, b) in b.iter().enumerate() {
                let sum = u128::from(*a) * u128::from(*b) + u128::from(out[i + j]) + carry;
                out[i + j] = sum as u64;
                carry = sum >> 64;
            }
            out[i + b.len()] = carry as u64;
        }
        out
    }

    #[test]
    fn squares_are_below_the_exact_ones_by_less_than_two_units() {
        let mut state = Random(7);
        for limbs in (3..16).chain([70, square::OWN, square::OWN + 1, square::OWN + 77]) {
            for _ in 0..if limbs < 16 { 500 } else { 20 } {
                let a = random(&mut state, limbs).limbs;
                let (mut columns, mut found) = (vec![0; 2 * limbs], vec![0; limbs]);
                square(&a, &mut columns, &mut found);
                // The exact square, cut off, less the computed one.
                let mut difference = full(&a, &a)[limbs - 1..2 * limbs - 1].to_vec();
                subtract(&mut difference, &found);
                assert!(difference[0] <= 1 && difference[1..].iter().all(|limb| *limb == 0), "{limbs} {a:?}");
            }
        }
    }

    #[test]
    fn products_are_below_the_exact_ones_by_less_than_two_units() {
        let mut state = Random(9);
        for limbs in (3..16).chain([70, square::OWN, square::OWN + 1]) {
            for _ in 0..if limbs < 16 { 500 } else { 20 } {
                let [a, b] = [(); 2].map(|()| random(&mut state, limbs).limbs);
                let (mut columns, mut found) = (vec![0; 2 * limbs], vec![0; limbs]);
                product(&a, &b, &mut columns, &mut found);
                let mut difference = full(&a, &b)[limbs - 1..2 * limbs - 1].to_vec();
                subtract(&mut difference, &found);
                assert!(difference[0] <= 1 && difference[1..].iter().all(|limb| *limb == 0), "{limbs} {a:?} {b:?}");
            }
        }
    }

    /// A number in two's complement of so many limbs, the lowest first.
    fn complement(negative: bool, limbs: &[u64], count: usize) -> Vec<u64> {
        let mut out = limbs.to_vec();
        out.resize(count, 0);
        negate_if(negative, &mut out);
        out
    }

    #[test]
    fn steps_are_off_by_less_than_eight_units() {
        let mut state = Random(8);
        for limbs in 3..16 {
            for _ in 0..300 {
                let [x, y, of_x, of_y] = [(); 4].map(|()| random(&mut state, limbs));
                let mut found = [x.clone(), y.clone()];
                Stepper::new(Fold::None, [&of_x, &of_y]).step(&mut found);
                // Exactly, in units of the place after all limbs of a product.
                let count = 2 * limbs;
                let product =
                    |a: &Fixed, b: &Fixed| complement(a.negative != b.negative, &full(&a.limbs, &b.limbs), count);
                let (mut re, minus) = (product(&x, &x), product(&y, &y));
                subtract(&mut re, &minus);
                let mut im = product(&x, &y);
                let half = im.clone();
                add(&mut im, &half);
                for ((mut exact, c), found) in [re, im].into_iter().zip([&of_x, &of_y]).zip(&found) {
                    let shifted = |limbs: &[u64]| [&vec![0; count - 1 - limbs.len()], limbs, &[0]].concat();
                    let units = |v: &Fixed| complement(v.negative, &shifted(&v.limbs), count);
                    add(&mut exact, &units(c));
                    subtract(&mut exact, &units(found));
                    let is_negative = exact[count - 1] >> 63 != 0;
                    negate_if(is_negative, &mut exact);
                    assert!(
                        exact[limbs - 1] < 6 && exact[limbs..].iter().all(|limb| *limb == 0),
                        "{limbs}: {exact:x?}"
                    );
                }
            }
        }
    }

    #[test]
    fn sums_and_differences_are_inverse() {
        let mut state = Random(8);
        for _ in 0..2000 {
            let (a, mut b) = (random(&mut state, 5), random(&mut state, 5));
            let mut c = a.clone();
            c.add(&b);
            b.negative = !b.negative;
            c.add(&b);
            let is_zero = c.limbs.iter().all(|limb| *limb == 0);
            assert!(c == a || is_zero && a.limbs == c.limbs, "{a:?} {b:?} {c:?}");
        }
    }
}

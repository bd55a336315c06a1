//! Fixed-point numbers of many limbs, for the reference orbit.
//!
//! A number has one limb of 64 bits before the point and `n - 1` after it, least significant first, and a sign. Sizes stay below 2^32, so
//! that squares fit. Products are cut off: of a product of n by n limbs, columns below the last two that matter are not computed.
//! With f = n - 1 limbs after the point, products a_i b_j with i + j < f - 2 are left out, which are less than n 2^-64 units of the last
//! place together, and the result is cut off to that place: the error of a square is below 2 units.

/// A number.
#[derive(Clone, Debug, PartialEq)]
pub struct Fixed {
    /// Whether it is negative. Zero may be either.
    pub negative: bool,
    /// The limbs of the magnitude.
    pub limbs: Vec<u64>,
}

/// Steps z^2 + c, with the memory that they need.
#[derive(Debug)]
pub(super) struct Stepper {
    xx: Fixed,
    yy: Fixed,
    sum: Fixed,
    columns: Vec<u64>,
}

impl Stepper {
    /// For numbers of so many limbs.
    pub(super) fn new(limbs: usize) -> Self {
        Self { xx: Fixed::zero(limbs), yy: Fixed::zero(limbs), sum: Fixed::zero(limbs), columns: Vec::new() }
    }

    /// Replaces z by z^2 + c: x^2 - y^2 and (x + y)^2 - x^2 - y^2 from three squares, each below the exact one by less than 2 units of the last place.
    /// So the parts are off by less than 4 and 6 units, and the step by less than 8.
    pub(super) fn step(&mut self, [x, y]: &mut [Fixed; 2], [of_x, of_y]: [&Fixed; 2]) {
        let Self { xx, yy, sum, columns } = self;
        xx.set_square(x, columns);
        yy.set_square(y, columns);
        x.add(y);
        sum.set_square(x, columns);
        sum.subtract(xx);
        sum.subtract(yy);
        sum.add(of_y);
        xx.subtract(yy);
        xx.add(of_x);
        std::mem::swap(x, xx);
        std::mem::swap(y, sum);
    }
}

impl Fixed {
    /// Zero with so many limbs.
    #[must_use]
    pub fn zero(limbs: usize) -> Self {
        Self { negative: false, limbs: vec![0; limbs] }
    }

    /// Adds another number of as many limbs.
    pub fn add(&mut self, other: &Self) {
        self.add_signed(other, other.negative);
    }
    /// Subtracts another number of as many limbs.
    pub fn subtract(&mut self, other: &Self) {
        self.add_signed(other, !other.negative);
    }

    fn add_signed(&mut self, other: &Self, negative: bool) {
        if self.negative == negative {
            let mut carry = false;
            for (a, b) in self.limbs.iter_mut().zip(&other.limbs) {
                let (sum, first) = a.overflowing_add(*b);
                let (sum, second) = sum.overflowing_add(u64::from(carry));
                (*a, carry) = (sum, first | second);
            }
            return;
        }
        let mut borrow = false;
        for (a, b) in self.limbs.iter_mut().zip(&other.limbs) {
            let (difference, first) = a.overflowing_sub(*b);
            let (difference, second) = difference.overflowing_sub(u64::from(borrow));
            (*a, borrow) = (difference, first | second);
        }
        if borrow {
            // The magnitude of the other was larger: the result is the complement.
            self.negative = !self.negative;
            let mut carry = true;
            for a in &mut self.limbs {
                let (complement, over) = (!*a).overflowing_add(u64::from(carry));
                (*a, carry) = (complement, over);
            }
        }
    }

    /// Sets this number to the square of another of as many limbs. `columns` is scratch memory.
    pub fn set_square(&mut self, of: &Self, columns: &mut Vec<u64>) {
        let a = &of.limbs;
        let n = a.len();
        let first = (n - 1).saturating_sub(2);
        columns.clear();
        columns.resize(2 * n, 0);
        // Products of different limbs, once.
        for i in 0..n {
            let from = (i + 1).max(first.saturating_sub(i));
            if from >= n || a[i] == 0 {
                continue;
            }
            let factor = u128::from(a[i]);
            let mut carry = 0_u64;
            for (b, column) in a[from..].iter().zip(&mut columns[i + from..]) {
                let sum = factor * u128::from(*b) + u128::from(*column) + u128::from(carry);
                *column = sum as u64;
                carry = (sum >> 64) as u64;
            }
            columns[i + n] = carry;
        }
        // Twice those, and the squares of the limbs.
        let mut top = 0;
        for column in &mut columns[first..] {
            let doubled = *column << 1 | top;
            top = *column >> 63;
            *column = doubled;
        }
        let mut carry = false;
        for i in first.div_ceil(2)..n {
            let square = u128::from(a[i]) * u128::from(a[i]);
            let (low, one) = columns[2 * i].overflowing_add(square as u64);
            let (low, two) = low.overflowing_add(u64::from(carry));
            let (high, three) = columns[2 * i + 1].overflowing_add((square >> 64) as u64);
            // Of the two carries out of the lower half at most one is set: a sum that wrapped around is below 2^64 - 1.
            let (high, four) = high.overflowing_add(u64::from(one | two));
            columns[2 * i] = low;
            columns[2 * i + 1] = high;
            carry = three | four;
        }
        self.negative = false;
        self.limbs.copy_from_slice(&columns[n - 1..2 * n - 1]);
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
        *fixed.limbs.last_mut().unwrap() %= 1 << 31;
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
        let (mut state, mut columns) = (Random(7), Vec::new());
        for limbs in 1..12 {
            for _ in 0..500 {
                let a = random(&mut state, limbs);
                let mut square = Fixed::zero(limbs);
                square.set_square(&a, &mut columns);
                let exact = full(&a.limbs, &a.limbs);
                // The exact square, cut off, less the computed one.
                let mut difference = Fixed { negative: false, limbs: exact[limbs - 1..2 * limbs - 1].to_vec() };
                difference.subtract(&square);
                let above_one = difference.limbs[1..].iter().any(|limb| *limb != 0);
                assert!(!above_one && difference.limbs[0] <= 1, "{limbs} {a:?}");
                assert!(!difference.negative || difference.limbs[0] == 0);
            }
        }
    }

    #[test]
    fn sums_and_differences_are_inverse() {
        let mut state = Random(8);
        for _ in 0..2000 {
            let (a, b) = (random(&mut state, 5), random(&mut state, 5));
            let mut c = a.clone();
            c.add(&b);
            c.subtract(&b);
            let is_zero = c.limbs.iter().all(|limb| *limb == 0);
            assert!(c == a || is_zero && a.limbs == c.limbs, "{a:?} {b:?} {c:?}");
            let mut same = a.clone();
            same.subtract(&a);
            assert!(same.limbs.iter().all(|limb| *limb == 0));
        }
    }
}

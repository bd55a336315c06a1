//! On which side of the circle |z| = R a point in fixed point is, where f64 does not tell: as orbits near the tip of the antenna, c = -2, which stay near the circle for as many steps as the zoom has
//! factors of four.

use super::running_error::UP;
use crate::deep::extended::{Bound, Extended};
use crate::deep::leading::{of_limbs, pair};
use crate::deep::limbs::{Fixed, add, negate_if, square, subtract};
use std::cmp::Ordering;

/// The roundings of |z|^2 - R^2 in units of the last place: two squares, each below the exact one by less than 2, and R^2, cut off by less than 2.
const OF_EXCESS: f64 = 4.0;
/// What a point may be off by cutting it off to its limbs, less than a unit for each part.
const OF_CUT: f64 = 2.0;

/// Compares |z| with R, where z, cut off to its limbs, is off by at most `error` before that, and R^2 has as many limbs or more, rounded down. `None` where neither is certain.
#[cold]
pub(in crate::deep) fn compared_with_radius(z: &[Fixed; 2], escape: &Fixed, error: Bound) -> Option<Ordering> {
    let count = z[0].limbs.len();
    let (mut columns, mut excess, mut of_y) = (vec![0; 2 * count], vec![0; count], vec![0; count]);
    square(&z[0].limbs, &mut columns, &mut excess);
    square(&z[1].limbs, &mut columns, &mut of_y);
    add(&mut excess, &of_y);
    subtract(&mut excess, escape.limbs.get(escape.limbs.len().checked_sub(count)?..)?);
    let is_within = excess[count - 1] >> 63 != 0;
    negate_if(is_within, &mut excess);
    let (size, exponent) = of_limbs(&excess);
    let unit = |of: f64| Bound::new(of, z[0].unit());
    let off = error.plus(unit(OF_CUT));
    let modulus = Bound::modulus(Extended::<f64>::of(pair(&z[0], &z[1])));
    let doubt = modulus.by(2.0).plus(off).times(off).plus(unit(OF_EXCESS)).by(UP * UP);
    let is_certain = doubt.below(Bound::new(size.hi, exponent));
    is_certain.then_some(if is_within { Ordering::Less } else { Ordering::Greater })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_random::Random;

    /// A whole number and so many units of the last place, of four limbs.
    fn number(whole: u64, units: i64) -> Fixed {
        let mut number = Fixed { negative: false, limbs: vec![0, 0, 0, whole] };
        let mut more = Fixed::zero(4);
        (more.negative, more.limbs[0]) = (units < 0, units.unsigned_abs());
        number.add(&more);
        number
    }

    #[test]
    fn what_is_certain_is_so_to_a_few_units() {
        let (four, none) = (number(4, 0), Bound::ZERO);
        let compared = |re: Fixed, error| compared_with_radius(&[re, Fixed::zero(4)], &four, error);
        // |z|^2 - 4 is four times as much as |z| - 2: with 2 units of cutting off it is certain from 4 units on.
        for units in [4, 5, 9, 1 << 40] {
            assert_eq!(compared(number(2, units), none), Some(Ordering::Greater), "{units}");
            assert_eq!(compared(number(2, -units), none), Some(Ordering::Less), "{units}");
        }
        for units in -2..=2 {
            assert_eq!(compared(number(2, units), none), None, "{units}");
        }
        let error = Bound::new(100.0, four.unit());
        assert_eq!(compared(number(2, 100), error), None);
        assert_eq!(compared(number(2, 104), error), Some(Ordering::Greater));
    }

    #[test]
    fn points_beside_the_circle_are_on_the_side_that_exact_squares_tell() {
        use dashu_int::UBig;
        let mut random = Random(81);
        let whole =
            |limbs: &[u64]| UBig::from_le_bytes(&limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect::<Vec<u8>>());
        let mut certain = 0;
        for _ in 0..500 {
            let mut z = [Fixed::zero(4), Fixed::zero(4)];
            for part in &mut z {
                part.limbs.iter_mut().for_each(|limb| *limb = random.next());
                part.limbs[3] %= 3;
                part.negative = random.next().is_multiple_of(2);
            }
            // R^2 is |z|^2 rounded down, with some more or fewer units, and with another limb, which is cut off.
            let square_of = |part: &Fixed| whole(&part.limbs) * whole(&part.limbs);
            let exact: UBig = square_of(&z[0]) + square_of(&z[1]);
            let units = (random.next() % 40).cast_signed() - 20;
            let mut escape = Fixed::zero(5);
            let bytes = (exact.clone() >> 128).to_le_bytes();
            for (limb, bytes) in escape.limbs.iter_mut().zip(bytes.chunks(8)) {
                let mut word = [0; 8];
                word[..bytes.len()].copy_from_slice(bytes);
                *limb = u64::from_le_bytes(word);
            }
            escape.limbs[0] = random.next();
            escape.add(&{
                let mut more = Fixed::zero(5);
                (more.negative, more.limbs[1]) = (units < 0, units.unsigned_abs());
                more
            });
            let is_beyond = exact > whole(&escape.limbs) << 128;
            if let Some(found) = compared_with_radius(&z, &escape, Bound::ZERO) {
                assert_eq!(found, if is_beyond { Ordering::Greater } else { Ordering::Less }, "{units}");
                certain += 1;
            }
        }
        assert!(certain > 50, "{certain}");
    }
}

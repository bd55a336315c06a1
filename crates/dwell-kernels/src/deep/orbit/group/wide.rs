//! Groups with deltas below the range of f64, in a unit of their own: a block is the same polynomial in any unit.

use super::super::wide::{NEAR_ZERO, TOO_MUCH, power};
use super::super::{Counts, Orbit, SMALL, Setting};
use super::{Group, MOST_REBASES, greatest, least, splat};
use crate::deep::blocks::WideEntry;
use crate::deep::derivative::{UNDERFLOW, UP};
use crate::deep::extended::{Bound, exponent};
use crate::deep::lanes::{ComplexInLanes, Lanes, Reals, broadcast};
use crate::deep::mantissa::{Complex, Mantissa};
use crate::vector::bits;
use fearless_simd::Simd;

/// The greatest ratio of the squares of two deltas of a group: the products of a block stay far within the range of f64.
const MOST_RATIO: f64 = 1e60;
/// Deltas are kept between 2^-20 and 2^20 units: what is below the range of f64 in the unit of a result is then less than
/// `UNDERFLOW` of `blocks.rs`.
const MOST_EXPONENT: i32 = 20;
/// Above 2^-300, Z + z is no longer Z, and orbits with smaller deltas in the same group are left to themselves.
const MOST_SIZE: i32 = -300;

impl<T: Mantissa, S: Simd> Group<T, S> {
    /// Deltas and bounds in units of 2^unit.
    #[inline(always)]
    fn in_unit(&mut self, simd: S, unit: i32) {
        let factor = Reals::splat(simd, power(self.unit - unit));
        let z = self.orbits.z;
        self.orbits.z = Complex { re: z.re.scaled(factor), im: z.im.scaled(factor) };
        self.orbits.e = self.orbits.e * factor;
        self.unit = unit;
    }
}

impl<T: Mantissa, const DERIVED: bool> Orbit<'_, T, DERIVED> {
    /// One rebase, step or block of all orbits of a group, or the return to the range of f64. Whether all go on; if not, nothing is done.
    pub(super) fn advance_wide<S: Simd>(&self, simd: S, group: &mut Group<T, S>, counts: &mut Counts) -> bool {
        simd.vectorize(
            #[inline(always)]
            || self.advanced_wide(simd, group, counts),
        )
    }

    #[inline(always)]
    fn advanced_wide<S: Simd>(&self, simd: S, group: &mut Group<T, S>, counts: &mut Counts) -> bool {
        let active = bits::<S, _>(group.active);
        let square = group.orbits.z.square_of();
        let (least, most) = (least(simd, square, group.active), greatest(simd, square, group.active));
        let is_finite = bits::<S, _>(square.at_most(Reals::splat(simd, f64::MAX))) & active == active;
        if !is_finite || least == 0.0 || least * MOST_RATIO < most {
            return false;
        }
        let [of_least, of_most] = [least, most].map(|square| exponent(square) >> 1);
        if group.unit + of_least > exponent(SMALL) {
            group.in_unit(simd, 0);
            return true;
        }
        if group.unit + of_most >= MOST_SIZE || group.n == self.setting.limit {
            return false;
        }
        if of_most.abs() > MOST_EXPONENT {
            group.in_unit(simd, group.unit + of_most);
        }
        let reference = self.setting.reference;
        let at_end = group.m == reference.last();
        let z = reference.at::<T>(group.m);
        let e = greatest(simd, group.orbits.e, group.active);
        let end_error = if at_end { reference.end_error.to_f64() } else { 0.0 };
        let off = Bound::new(e, group.unit).to_f64() + self.of_modulus + end_error;
        if !self.is_within(z.square(), off + UNDERFLOW) {
            return false;
        }
        let lanes = u64::from(active.count_ones());
        if at_end || group.m != 0 && z.size() < NEAR_ZERO {
            match self.rebase_wide_group(simd, group, at_end) {
                Some(true) => {
                    counts.rebases += lanes;
                    return true;
                }
                Some(false) => {}
                None => return false,
            }
        }
        counts.wide += lanes;
        self.operate_wide(simd, group)
    }

    /// Rebases all orbits where each is smaller than its delta, or the reference ends: whether it did. `None` where they part.
    #[inline(always)]
    fn rebase_wide_group<S: Simd>(&self, simd: S, group: &mut Group<T, S>, at_end: bool) -> Option<bool> {
        let reference = self.setting.reference;
        let exact = reference.extended::<T>(group.m);
        let unit = if exact.m.size() == 0.0 { group.unit } else { exact.e.max(group.unit) };
        let factor = Reals::splat(simd, power(group.unit - unit));
        let delta = group.orbits.z;
        let delta = Complex { re: delta.re.scaled(factor), im: delta.im.scaled(factor) };
        let at = splat(simd, exact.m.scaled(power(exact.e - unit)));
        let w = at + delta;
        let active = bits::<S, _>(group.active);
        let smaller = bits::<S, _>(w.square_of().less(delta.square_of())) & active;
        if !at_end && smaller == 0 {
            return Some(false);
        }
        if !at_end && smaller != active || group.rebases == MOST_REBASES {
            return None;
        }
        let end_error = if at_end { reference.end_error.in_unit(unit) } else { 0.0 };
        let off = Reals::splat(simd, end_error + UNDERFLOW)
            + Reals::splat(simd, 2.0 * T::UNIT) * (at.taxicab_of() + w.taxicab_of());
        group.orbits.e = (group.orbits.e * factor + off) * Reals::splat(simd, UP);
        group.orbits.z = w;
        group.unit = unit;
        group.m = 0;
        group.rebases += 1;
        Some(true)
    }

    /// The longest block that is valid for all, or a step.
    #[inline(always)]
    fn operate_wide<S: Simd>(&self, simd: S, group: &mut Group<T, S>) -> bool {
        let Group { m, n, unit, .. } = *group;
        let active = bits::<S, _>(group.active);
        let reach = (group.orbits.z.square_of().sqrt() + group.orbits.e) * Reals::splat(simd, UP);
        let most = greatest(simd, reach, group.active);
        let room = usize::try_from(self.setting.limit - n).unwrap_or(usize::MAX);
        let step;
        let (entry, steps) = match self.table.longest_wide(m, room, Bound::new(most, unit)) {
            Some(found) => found,
            None => {
                let Setting { reference, scale, escape_radius, .. } = *self.setting;
                let Some(found) = WideEntry::step(reference.extended(m), scale, escape_radius) else { return false };
                step = found;
                (&step, 1)
            }
        };
        let of_result = entry.unit_of_result(unit);
        let mut lines = T::NO_LINES;
        entry.in_units(unit, of_result).write(&mut lines);
        let before = (group.orbits.z, group.orbits.e);
        self.apply(simd, &mut group.orbits, reach, &broadcast(simd, &lines), None);
        let of_use = group.orbits.e.at_most(Reals::splat(simd, TOO_MUCH));
        if bits::<S, _>(of_use) & active != active {
            (group.orbits.z, group.orbits.e) = before;
            return false;
        }
        group.unit = of_result;
        group.m += steps;
        group.n += steps as u64;
        true
    }
}

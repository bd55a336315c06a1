//! Groups with deltas in the range of f64.

use super::super::by_cells::values;
use super::super::operations::{Deltas, Value, count_of};
use super::super::{Counts, Orbit, SMALL};
use super::{Group, MOST_REBASES, greatest, splat};
use crate::deep::derivative::{UNDERFLOW, UP};
use crate::deep::lanes::{ComplexInLanes, Lanes, Reals, broadcast};
use crate::deep::mantissa::{Complex, Mantissa};
use crate::vector::bits;
use fearless_simd::Simd;

/// All orbits are rebased where one has to be, if |w|^2 is at most so many times |z|^2 for the others: their deltas grow by no more.
const MOST_GROWTH: f64 = 64.0;

impl<T: Mantissa, const DERIVED: bool> Orbit<'_, T, DERIVED> {
    /// One step or block of all orbits of a group, with the rebase before it. Whether all go on; if not, nothing but a rebase is done.
    #[inline(always)]
    pub(super) fn advance<S: Simd>(&self, simd: S, group: &mut Group<T, S>, counts: &mut Counts) -> bool {
        let real = |x: f64| Reals::splat(simd, x);
        let all = bits::<S, _>(group.active);
        let are_all = |marks| bits::<S, _>(marks) & all == all;
        let reference = self.setting.reference;
        let last = reference.last();
        let at_end = group.m == last;
        let here = splat(simd, reference.at::<T>(group.m));
        let mut value = self.value_of(simd, group.orbits.z, group.orbits.e, here);
        let room = self.setting.limit - group.n;
        let lanes = count_of::<S>(group.active) as u64;
        let end_error = if at_end { reference.end_error.to_f64() } else { 0.0 };
        if !are_all(value.is_within) || room == 0 {
            return false;
        }
        if at_end || bits::<S, _>(value.is_smaller) & all != 0 {
            let is_for_all = at_end || are_all(value.w_square.at_most(real(MOST_GROWTH) * value.z_square));
            if !is_for_all || group.rebases == MOST_REBASES || !self.rebase(simd, group, &value, end_error) {
                return false;
            }
            counts.rebases += lanes;
            value = self.value_of(simd, group.orbits.z, group.orbits.e, splat::<T, S>(simd, Complex::ZERO));
        }
        if !are_all(real(SMALL * SMALL).at_most(value.z_square)) || !are_all(value.is_within) {
            return false;
        }
        if self.block_of_all(simd, group, &value, room) {
            counts.blocks += lanes;
            return true;
        }
        if self.parts(simd, group, (value.w_square, value.z_square)) {
            group.parted = Some(values(simd, &group.orbits, value.w, value.reference));
            return false;
        }
        let unit = real(self.unit);
        let orbits = &mut group.orbits;
        let plain = Complex { re: orbits.c.re.scaled(unit), im: orbits.c.im.scaled(unit) };
        let before = Deltas { z: orbits.z, e: orbits.e, derivative: orbits.derivative };
        Deltas { z: orbits.z, e: orbits.e, derivative: orbits.derivative } = self.stepped(simd, before, plain, &value);
        group.m += 1;
        group.n += 1;
        counts.steps += lanes;
        true
    }

    /// Rebases all orbits of a group, if that leaves all in the range of f64.
    #[inline(always)]
    fn rebase<S: Simd>(&self, simd: S, group: &mut Group<T, S>, value: &Value<T, S>, end_error: f64) -> bool {
        let real = |x: f64| Reals::splat(simd, x);
        let in_range = real(SMALL * SMALL).at_most(value.w_square) & group.active;
        if bits::<S, _>(in_range) != bits::<S, _>(group.active) {
            return false;
        }
        let moduli = value.reference.taxicab_of() + value.w.taxicab_of();
        let off = real(end_error + UNDERFLOW) + real(2.0 * T::UNIT) * moduli;
        group.orbits.e = (group.orbits.e + off) * real(UP);
        group.orbits.z = value.w;
        group.m = 0;
        group.rebases += 1;
        true
    }

    /// Applies the longest block that is valid for all, if one may begin here.
    #[inline(always)]
    fn block_of_all<S: Simd>(&self, simd: S, group: &mut Group<T, S>, value: &Value<T, S>, room: u64) -> bool {
        let (m, last) = (group.m, self.setting.reference.last());
        let shortest = self.table.shortest();
        // The shortest block is that from m = 0, with one step more than those from elsewhere.
        if !group.is_at_place(shortest) || last - m <= shortest || room <= shortest as u64 {
            return false;
        }
        let reach = (value.z_square.sqrt() + group.orbits.e) * Reals::splat(simd, UP);
        let most = greatest(simd, reach, group.active) * Self::REACHES;
        if most > self.table.shortest_radius(m) {
            return false;
        }
        let room = usize::try_from(room).ok().filter(|room| *room < last);
        let (place, steps) = self.table.longest(simd, m, room, most);
        let higher = self.has_higher().then(
            #[inline(always)]
            || broadcast(simd, self.table.higher(place)),
        );
        self.apply(simd, &mut group.orbits, reach, &broadcast(simd, self.table.block(place)), higher.as_ref());
        group.m += steps;
        group.n += steps as u64;
        true
    }
}

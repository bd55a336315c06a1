//! The operations on orbits in lanes: the test of a value, steps, and blocks.

use super::escape::ROUNDING;
use super::group;
use super::pile::Orbits;
use super::{Orbit, SMALL, UP};
use crate::deep::PROVED;
use crate::deep::blocks::{FIRST, SHARE};
use crate::deep::derivative::{U, UNDERFLOW};
use crate::deep::lanes::{
    ABOVE, Columns, ComplexInLanes, ComplexLanes, Indices, LANES, Lanes, Marks, Reals, indices, of_parts, pairs,
    transposed,
};
use crate::deep::mantissa::{Complex, Mantissa};
use crate::deep::reference::{self, WINDOW, Window};
use crate::vector::bits;
use fearless_simd::Simd;

/// The steps between two places, a power of two, and 1 / steps: a division for each vector of orbits would take as long as a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spacing {
    steps: f64,
    inverse: f64,
}

impl Spacing {
    #[inline(always)]
    pub(super) const fn of(steps: usize) -> Self {
        Self { steps: steps as f64, inverse: 1.0 / steps as f64 }
    }
}

/// (m - 1) modulo the steps between two places, which is the greatest for m = 0.
#[inline(always)]
fn after_place<S: Simd>(simd: S, m: Reals<S>, spacing: Spacing) -> Reals<S> {
    let splat = |x: f64| Reals::splat(simd, x);
    let before = m - splat(1.0);
    before - (before * splat(spacing.inverse)).floor() * splat(spacing.steps)
}

/// Values of the reference, in order, of each part and lane.
type Windows<'a> = [[&'a Window; LANES]; 2];

/// The value of an orbit, and what may follow.
pub(super) struct Value<T: Mantissa, S: Simd> {
    pub(super) reference: ComplexLanes<T, S>,
    pub(super) w: ComplexLanes<T, S>,
    pub(super) w_square: Reals<S>,
    pub(super) z_square: Reals<S>,
    /// Within R for certain.
    pub(super) is_within: Marks<S>,
    /// The orbit is smaller than its delta.
    pub(super) is_smaller: Marks<S>,
    /// Within R, not smaller, and in the range of f64.
    pub(super) goes_on: Marks<S>,
}

/// Derivatives in lanes, with the operations of [`crate::deep::derivative`].
#[derive(Clone, Copy)]
pub(super) struct DerivativeLanes<S: Simd> {
    pub(super) d: Complex<Reals<S>>,
    pub(super) off: Reals<S>,
}

impl<S: Simd> DerivativeLanes<S> {
    #[inline(always)]
    pub(super) fn none(simd: S) -> Self {
        let zero = Reals::splat(simd, 0.0);
        Self { d: Complex { re: zero, im: zero }, off: zero }
    }

    /// After a step from w, which is known to within `off_w` and 6 u |w|.
    #[inline(always)]
    fn stepped(self, simd: S, w: Complex<Reals<S>>, modulus: Reals<S>, off_w: Reals<S>, unit: Reals<S>) -> Self {
        let splat = |x: f64| Reals::splat(simd, x);
        let Self { d, off } = self;
        let product = w * d;
        let by_w = splat(2.0) * off_w + splat(24.0 * U) * modulus;
        let of_derivative = splat(2.0) * (modulus + off_w) * off + by_w * d.taxicab_of();
        Self {
            d: Complex { re: product.re + product.re + unit, im: product.im + product.im },
            off: (of_derivative + splat(2.0 * U) * unit + splat(UNDERFLOW)) * splat(UP),
        }
    }

    #[inline(always)]
    fn where_else(self, marks: Marks<S>, other: Self) -> Self {
        Self { d: self.d.where_else(marks, other.d), off: self.off.where_else(marks, other.off) }
    }
}

/// How many lanes are marked.
#[inline(always)]
pub(super) fn count_of<S: Simd>(marks: Marks<S>) -> usize {
    bits::<S, _>(marks).count_ones() as usize
}

/// Which block each lane takes.
#[derive(Clone, Copy)]
pub(super) struct Chosen {
    places: Indices,
    steps: Indices,
}

impl Chosen {
    /// None, at the place of any.
    pub(super) const NONE: Self = Self { places: [0; LANES], steps: [0; LANES] };
}

/// Deltas in lanes.
pub(super) struct Deltas<T: Mantissa, S: Simd> {
    pub(super) z: ComplexLanes<T, S>,
    pub(super) e: Reals<S>,
    pub(super) derivative: DerivativeLanes<S>,
}

impl<T: Mantissa, S: Simd> Deltas<T, S> {
    /// Makes these the deltas of the orbits that are marked.
    #[inline(always)]
    fn store<const DERIVED: bool>(&self, marks: Marks<S>, orbits: &mut Orbits<T, S>) {
        orbits.z = self.z.where_else(marks, orbits.z);
        orbits.e = self.e.where_else(marks, orbits.e);
        if DERIVED {
            orbits.derivative = self.derivative.where_else(marks, orbits.derivative);
        }
    }
}

/// Where orbits are.
pub(super) struct Here<'a, T: Mantissa, S: Simd> {
    at: Indices,
    windows: Windows<'a>,
    pub(super) value: Value<T, S>,
    /// (m - 1) modulo the steps of the shortest block, which is 0 where a block may begin, and the greatest for m = 0.
    pub(super) after_origin: Reals<S>,
    /// Steps up to the limit and the end of the reference.
    pub(super) most: Reals<S>,
}

impl<'a, T: Mantissa, const DERIVED: bool> Orbit<'a, T, DERIVED> {
    /// What blocks must reach for each |z| + e: twice as far where their derivatives are wanted.
    pub(super) const REACHES: f64 = if DERIVED { 2.0 } else { 1.0 };
    /// Whether blocks may have terms above the second degree: those of pairs of f64, without derivatives.
    const MAY_HAVE_HIGHER: bool = T::PARTS == 2 && !DERIVED;

    /// Where orbits are.
    #[inline(always)]
    pub(super) fn here<S: Simd>(&self, simd: S, orbits: &Orbits<T, S>) -> Here<'a, T, S> {
        let splat = |x: f64| Reals::splat(simd, x);
        let at = indices(simd, orbits.m);
        let windows = self.windows(&at);
        let reference = self.setting.reference;
        let here = if reference.is_compressed() {
            // Lanes that are not in use may have any m.
            group::lanes(
                simd,
                #[inline(always)]
                |lane| reference.at::<T>(at[lane].min(reference.last())),
            )
        } else {
            Self::reference_at(simd, &windows, 0)
        };
        let value = self.value_of(simd, orbits.z, orbits.e, here);
        let after_origin = after_place(simd, orbits.m, self.spacing);
        let last = reference.last() as f64;
        Here { at, windows, value, after_origin, most: orbits.room.min(splat(last) - orbits.m) }
    }

    /// The values of the reference from m on.
    #[inline(always)]
    fn windows(&self, at: &Indices) -> Windows<'a> {
        let reference = self.setting.reference;
        let mut windows = [[reference.window(0, 0); LANES]; 2];
        for lane in 0..LANES {
            windows[0][lane] = reference.window(0, at[lane]);
            if T::PARTS == 2 {
                windows[1][lane] = reference.window(1, at[lane]);
            }
        }
        windows
    }

    /// The values of the reference, `step` after the first.
    #[inline(always)]
    fn reference_at<S: Simd>(simd: S, windows: &Windows<'_>, step: usize) -> ComplexLanes<T, S> {
        let [re, im] = pairs(
            simd,
            #[inline(always)]
            |lane| &windows[0][lane][step],
        );
        let [re_low, im_low] = if T::PARTS == 1 {
            [re, im]
        } else {
            pairs(
                simd,
                #[inline(always)]
                |lane| &windows[1][lane][step],
            )
        };
        Complex { re: of_parts::<T, S>(re, re_low), im: of_parts::<T, S>(im, im_low) }
    }

    #[inline(always)]
    fn value<S: Simd>(
        &self,
        simd: S,
        z: ComplexLanes<T, S>,
        e: Reals<S>,
        windows: &Windows<'_>,
        step: usize,
    ) -> Value<T, S> {
        self.value_of(simd, z, e, Self::reference_at(simd, windows, step))
    }

    /// The value of deltas from these values of the reference.
    #[inline(always)]
    pub(super) fn value_of<S: Simd>(
        &self,
        simd: S,
        z: ComplexLanes<T, S>,
        e: Reals<S>,
        reference: ComplexLanes<T, S>,
    ) -> Value<T, S> {
        let splat = |x: f64| Reals::splat(simd, x);
        let w = reference.added(z);
        let (w_square, z_square) = (w.square_of(), z.square_of());
        let escape = self.setting.escape;
        let is_within = if PROVED {
            let off = e + splat(self.of_modulus);
            let doubt = (splat(2.0 * self.setting.escape_radius) + off) * off + splat(escape * ROUNDING);
            w_square.at_most(splat(escape) - doubt * splat(UP))
        } else {
            w_square.at_most(splat(escape))
        };
        let is_smaller = w_square.less(z_square);
        let in_range = splat(SMALL * SMALL).at_most(z_square);
        let goes_on = is_within & !is_smaller & in_range;
        Value { reference, w, w_square, z_square, is_within, is_smaller, goes_on }
    }

    /// The lanes at which the shortest block is valid, if one may begin there.
    #[inline(always)]
    pub(super) fn with_block<S: Simd>(&self, simd: S, e: Reals<S>, here: &Here<'_, T, S>) -> Marks<S> {
        let reach = (here.value.z_square.sqrt() + e) * Reals::splat(simd, UP * Self::REACHES);
        let radii = Reals::from_fn(
            simd,
            #[inline(always)]
            |lane| self.table.shortest_radius(here.at[lane]),
        );
        reach.at_most(radii)
    }

    /// One step of every lane.
    #[inline(always)]
    pub(super) fn stepped<S: Simd>(
        &self,
        simd: S,
        before: Deltas<T, S>,
        plain: ComplexLanes<T, S>,
        value: &Value<T, S>,
    ) -> Deltas<T, S> {
        let splat = |x: f64| Reals::splat(simd, x);
        let Deltas { z, e, derivative } = before;
        let t = value.reference.added(value.w);
        if !PROVED && !DERIVED {
            return Deltas { z: z.multiplied(t).added(plain), e, derivative };
        }
        let modulus = value.w_square.sqrt();
        let growth = splat(2.0) * modulus + e;
        let roundings = splat(9.0 * T::UNIT) * z.taxicab_of() * t.taxicab_of();
        Deltas {
            z: z.multiplied(t).added(plain),
            e: (growth * e + roundings + splat(self.of_c)) * splat(UP),
            derivative: if DERIVED {
                derivative.stepped(simd, value.w.in_f64(), modulus, e, splat(self.unit))
            } else {
                derivative
            },
        }
    }

    /// Steps from here to the next place of a block, or where blocks are far to the next fourth one; the first is certain, and a lane in which an orbit does not go on stays
    /// there. Windows of a reference that is kept as waypoints are computed in `computed`. The number of steps.
    #[inline(always)]
    pub(super) fn steps<'b, S: Simd>(
        &self,
        simd: S,
        orbits: &mut Orbits<T, S>,
        mut here: Here<'b, T, S>,
        active: Marks<S>,
        far: bool,
        computed: Option<&'b mut reference::Windows>,
    ) -> usize {
        if let Some(computed) = computed {
            self.setting.reference.fill(&here.at, computed);
            for (windows, computed) in here.windows.iter_mut().zip(&*computed) {
                for (window, computed) in windows.iter_mut().zip(computed) {
                    *window = computed;
                }
            }
        }
        if far {
            self.steps_to::<S, WINDOW>(simd, orbits, here, active)
        } else {
            self.steps_to::<S, { 1 << FIRST }>(simd, orbits, here, active)
        }
    }

    /// Steps from here to the next m = 1 + `PERIOD` k.
    ///
    /// All lanes are stepped, and each takes the last of its valid states in the end: so the deltas do not wait for the bounds.
    #[inline(always)]
    fn steps_to<S: Simd, const PERIOD: usize>(
        &self,
        simd: S,
        orbits: &mut Orbits<T, S>,
        here: Here<'_, T, S>,
        active: Marks<S>,
    ) -> usize {
        let splat = |x: f64| Reals::splat(simd, x);
        let unit = splat(self.unit);
        let plain = Complex { re: orbits.c.re.scaled(unit), im: orbits.c.im.scaled(unit) };
        let Here { windows, mut value, most, .. } = here;
        let count = (splat(PERIOD as f64) - after_place(simd, orbits.m, Spacing::of(PERIOD))).min(most);
        let before = Deltas { z: orbits.z, e: orbits.e, derivative: orbits.derivative };
        let mut deltas = self.stepped(simd, before, plain, &value);
        let mut mask = active;
        deltas.store::<DERIVED>(mask, orbits);
        // Steps are counted in vectors: conversions and counts of marks are done by the same two ports as the arithmetic.
        let one = splat(1.0);
        let (mut made, mut taken) = (one, one.where_else(mask, splat(0.0)));
        for step in 1..PERIOD {
            value = self.value(simd, deltas.z, deltas.e, &windows, step);
            mask = mask & value.goes_on & made.less(count);
            deltas = self.stepped(simd, deltas, plain, &value);
            deltas.store::<DERIVED>(mask, orbits);
            made = made + one;
            taken = made.where_else(mask, taken);
        }
        orbits.m = orbits.m + taken;
        orbits.room = orbits.room - taken;
        indices(simd, taken).into_iter().sum()
    }

    /// |z| + e.
    #[inline(always)]
    fn reach<S: Simd>(simd: S, orbits: &Orbits<T, S>) -> Reals<S> {
        (orbits.z.square_of().sqrt() + orbits.e) * Reals::splat(simd, UP)
    }

    /// The longest block of each lane of a mask, all of which have one.
    #[inline(always)]
    pub(super) fn longest<S: Simd>(&self, simd: S, orbits: &Orbits<T, S>, active: Marks<S>) -> Chosen {
        let splat = |x: f64| Reals::splat(simd, x);
        let m = indices(simd, orbits.m);
        // Only near the limit is a block too long for it.
        let last = splat(self.setting.reference.last() as f64);
        let room = (bits::<S, _>(orbits.room.less(last) & active) != 0).then(|| indices(simd, orbits.room));
        let mut reaches = [0.0; LANES];
        (Self::reach(simd, orbits) * splat(Self::REACHES)).store(&mut reaches);
        let mut chosen = Chosen::NONE;
        for lane in 0..Reals::<S>::LEN {
            let (place, of_block) = self.table.longest(simd, m[lane], room.map(|room| room[lane]), reaches[lane]);
            chosen.places[lane] = place;
            chosen.steps[lane] = of_block;
        }
        chosen
    }

    /// Begins to load blocks, and what is read of the table and of the reference where they end.
    #[inline(always)]
    pub(super) fn prefetch<S: Simd>(&self, simd: S, orbits: &Orbits<T, S>, chosen: &Chosen) {
        let m = indices(simd, orbits.m);
        let blocks = chosen.places.iter().zip(&chosen.steps);
        for (m, (place, steps)) in m.iter().zip(blocks).take(Reals::<S>::LEN) {
            let after = m + steps;
            self.table.prefetch_block(*place);
            self.table.prefetch_origin(after);
            self.setting.reference.prefetch(after, T::PARTS);
        }
    }

    /// Applies these blocks in the lanes of a mask. The deltas of the others are lost.
    #[inline(always)]
    pub(super) fn block<S: Simd>(&self, simd: S, orbits: &mut Orbits<T, S>, active: Marks<S>, chosen: &Chosen) {
        let splat = |x: f64| Reals::splat(simd, x);
        let Chosen { places, steps } = chosen;
        let mut blocks = [self.table.block(0); LANES];
        for lane in 0..Reals::<S>::LEN {
            blocks[lane] = self.table.block(places[lane]);
        }
        let higher = self.has_higher().then(
            #[inline(always)]
            || {
                let mut higher = [self.table.higher(0); LANES];
                for lane in 0..Reals::<S>::LEN {
                    higher[lane] = self.table.higher(places[lane]);
                }
                transposed(simd, &higher)
            },
        );
        let reach = Self::reach(simd, orbits);
        self.apply(simd, orbits, reach, &transposed(simd, &blocks), higher.as_ref());
        let steps = Reals::from_fn(
            simd,
            #[inline(always)]
            |lane| f64::from_bits(ABOVE.to_bits() | steps[lane] as u64),
        );
        let steps = (steps - splat(ABOVE)).where_else(active, splat(0.0));
        orbits.m = orbits.m + steps;
        orbits.room = orbits.room - steps;
    }

    /// Whether the blocks of the table have terms above the second degree.
    #[inline(always)]
    pub(super) fn has_higher(&self) -> bool {
        Self::MAY_HAVE_HIGHER && self.table.is_quartic()
    }

    /// Applies the block of each lane to the delta and its bounds; `reach` is |z| + e, and `higher` has the terms above the second degree, if there are any.
    #[inline(always)]
    pub(super) fn apply<S: Simd>(
        &self,
        simd: S,
        orbits: &mut Orbits<T, S>,
        reach: Reals<S>,
        columns: &Columns<S>,
        higher: Option<&Columns<S>>,
    ) {
        let splat = |x: f64| Reals::splat(simd, x);
        let Orbits { z, c, e, .. } = *orbits;
        let number = |index: usize| <T::Lanes<S>>::from_parts(|part| columns[index * T::PARTS + part]);
        let complex = |index: usize| Complex { re: number(2 * index), im: number(2 * index + 1) };
        let [of_a, of_b, of_q, of_s, of_t] = [complex(0), complex(1), complex(2), complex(3), complex(4)];
        let bound = |index: usize| columns[10 * T::PARTS + index];
        let [k0, k1, k2, k3, slack, q_modulus] = [bound(0), bound(1), bound(2), bound(3), bound(4), bound(5)];
        let q = of_q.multiplied(z);
        let linear = of_a.added(of_s.multiplied(c)).added(q);
        let of_c = of_b.added(of_t.multiplied(c));
        let mut next = linear.multiplied(z).added(of_c.multiplied(c));
        if Self::MAY_HAVE_HIGHER
            && let Some(columns) = higher
        {
            next = next.added(Self::above_the_second_degree(simd, z.in_f64(), c.in_f64(), columns));
        }
        if !PROVED && !DERIVED {
            orbits.z = next;
            return;
        }
        // In f64, whose roundings for deltas in f64 `slack` has.
        let by_z = linear.in_f64() + q.in_f64();
        let of_f64 = if T::PARTS == 1 { splat(0.0) } else { splat(4.0 * U) * (linear.taxicab_of() + q.taxicab_of()) };
        let modulus = by_z.square_of().sqrt() + of_f64;
        let growth = modulus + slack + q_modulus * (e + reach * splat(SHARE));
        let k = |reach: Reals<S>| ((k3 * reach + k2) * reach + k1) * reach + k0;
        let k_here = k(reach);
        if DERIVED {
            let (by_z, [b, s, t], z, c) =
                (by_z, [of_b, of_s, of_t].map(ComplexInLanes::in_f64), z.in_f64(), c.in_f64());
            let DerivativeLanes { d, off } = orbits.derivative;
            let by_c = b + s * z + (t + t) * c;
            let doubt = splat(2.0) * q_modulus * e + k(reach + reach).div(reach) + splat(8.0 * U) * modulus + of_f64;
            let moduli = b.taxicab_of() + s.taxicab_of() * reach + splat(2.0) * t.taxicab_of();
            let of_c = s.taxicab_of() * e + k_here * splat(self.over_margin) + splat(16.0 * U) * moduli;
            orbits.derivative = DerivativeLanes {
                d: by_z * d + by_c,
                off: ((modulus + doubt) * off + doubt * d.taxicab_of() + of_c + splat(UNDERFLOW)) * splat(UP),
            };
        }
        orbits.e = (growth * e + k_here) * splat(UP);
        orbits.z = next;
    }

    /// The terms of the third and the fourth degree, in f64: they are small beside A z, so that the second f64 of a pair is 0.
    #[inline(always)]
    fn above_the_second_degree<S: Simd>(
        simd: S,
        z: Complex<Reals<S>>,
        c: Complex<Reals<S>>,
        columns: &Columns<S>,
    ) -> ComplexLanes<T, S> {
        let term = |index: usize| Complex { re: columns[2 * index], im: columns[2 * index + 1] };
        let of_z = term(0) + term(4) * z + term(5) * c;
        let by_square = of_z * z + (term(1) + term(6) * c) * c;
        let by_c = (term(2) + term(7) * c) * z + (term(3) + term(8) * c) * c;
        let sum = by_square * (z * z) + by_c * (c * c);
        let zero = Reals::splat(simd, 0.0);
        let number = |first: Reals<S>| <T::Lanes<S>>::from_parts(|part| if part == 0 { first } else { zero });
        Complex { re: number(sum.re), im: number(sum.im) }
    }
}

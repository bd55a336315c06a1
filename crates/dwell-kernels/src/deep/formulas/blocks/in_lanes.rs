//! Blocks in vectors: each lane has a delta and a block of its own.

use super::REACH;
use super::entry::NUMBERS;
use crate::deep::blocks::SHARE;
use crate::deep::derivative::{U, UNDERFLOW, UP};
use crate::deep::lanes::{Columns, ComplexInLanes, ComplexLanes, Lanes, Reals};
use crate::deep::mantissa::{Complex, Mantissa};
use fearless_simd::Simd;

/// The blocks of lanes.
pub(in crate::deep::formulas) struct BlockInLanes<T: Mantissa, S: Simd> {
    a: ComplexLanes<T, S>,
    q: ComplexLanes<T, S>,
    b: [ComplexLanes<T, S>; 2],
    /// S and T, where they are kept.
    of_c: Option<[ComplexLanes<T, S>; 5]>,
    k: [Reals<S>; 4],
    slack: Reals<S>,
    of_q: Reals<S>,
    sign: Reals<S>,
}

/// A delta in lanes, and its derivative by the pixel.
pub(in crate::deep::formulas) struct DeltaInLanes<T: Mantissa, S: Simd> {
    pub(in crate::deep::formulas) z: ComplexLanes<T, S>,
    pub(in crate::deep::formulas) e: Reals<S>,
    pub(in crate::deep::formulas) d: [Complex<Reals<S>>; 2],
    pub(in crate::deep::formulas) off: Reals<S>,
}

impl<T: Mantissa, S: Simd> Clone for DeltaInLanes<T, S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: Mantissa, S: Simd> Copy for DeltaInLanes<T, S> {}

/// An upper bound on the modulus, but for its roundings, of numbers whose square may be outside of the range of f64. Up to 2^-430 it is |re| + |im|.
#[inline(always)]
pub(in crate::deep::formulas) fn modulus_of<T: Mantissa, S: Simd>(simd: S, z: ComplexLanes<T, S>) -> Reals<S> {
    let taxicab = z.taxicab_of();
    z.square_of().sqrt().max(taxicab.min(Reals::splat(simd, 3.6e-130))).min(taxicab)
}

impl<T: Mantissa, S: Simd> BlockInLanes<T, S> {
    /// What [`super::entry::Entry::write`] wrote for each lane, with S and T where they are kept.
    #[inline(always)]
    pub(in crate::deep::formulas) fn read(numbers: &Columns<S>, of_c: Option<&Columns<S>>) -> Self {
        let bound = |index: usize| numbers[NUMBERS * T::PARTS + index];
        Self {
            a: Self::complex(numbers, 0),
            q: Self::complex(numbers, 1),
            b: [Self::complex(numbers, 2), Self::complex(numbers, 3)],
            of_c: match of_c {
                None => None,
                Some(of_c) => Some([
                    Self::complex(of_c, 0),
                    Self::complex(of_c, 1),
                    Self::complex(of_c, 2),
                    Self::complex(of_c, 3),
                    Self::complex(of_c, 4),
                ]),
            },
            k: [bound(0), bound(1), bound(2), bound(3)],
            slack: bound(4),
            of_q: bound(5),
            sign: bound(6),
        }
    }

    /// Whether zeta is the conjugate of z, in the first lane.
    #[cfg(test)]
    pub(in crate::deep::formulas) fn conjugates(&self) -> bool {
        let mut signs = [0.0; crate::deep::lanes::LANES];
        self.sign.store(&mut signs);
        signs[0] < 0.0
    }

    #[inline(always)]
    fn complex(numbers: &Columns<S>, index: usize) -> ComplexLanes<T, S> {
        let at = 2 * index * T::PARTS;
        let re = <T::Lanes<S>>::from_parts(
            #[inline(always)]
            |part| numbers[at + part],
        );
        let im = <T::Lanes<S>>::from_parts(
            #[inline(always)]
            |part| numbers[at + T::PARTS + part],
        );
        Complex { re, im }
    }

    /// As [`super::WideEntry::apply`], with so many columns of derivatives.
    #[inline(always)]
    pub(in crate::deep::formulas) fn apply<const COLUMNS: usize>(
        &self,
        simd: S,
        c: ComplexLanes<T, S>,
        before: &DeltaInLanes<T, S>,
        over_margin: f64,
    ) -> DeltaInLanes<T, S> {
        let splat = |x: f64| Reals::splat(simd, x);
        let DeltaInLanes { z, e, d, off } = *before;
        let zeta = Complex { re: z.re, im: z.im.scaled(self.sign) };
        let conjugate = Complex { re: c.re, im: -c.im };
        let of_z = self.q * zeta;
        let mut linear = self.a + of_z;
        let mut of_c = self.b[0] * c + self.b[1] * conjugate;
        if let Some([s0, s1, t0, t1, t2]) = self.of_c {
            linear = linear + (s0 * c + s1 * conjugate);
            of_c = of_c + ((t0 * c + t1 * conjugate) * c + t2 * conjugate * conjugate);
        }
        let reach = (modulus_of::<T, S>(simd, z) + e) * splat(UP);
        let by_z = linear + of_z;
        let modulus = modulus_of::<T, S>(simd, by_z);
        let growth = modulus + self.slack + self.of_q * (e + reach * splat(SHARE));
        let [k0, k1, k2, k3] = self.k;
        let k = |reach: Reals<S>| ((k3 * reach + k2) * reach + k1) * reach + k0;
        let k_here = k(reach);
        let mut after = DeltaInLanes { z: linear * zeta + of_c, e: (growth * e + k_here) * splat(UP), d, off };
        if COLUMNS > 0 {
            let by_z = by_z.in_f64();
            let (mut by_c, mut by_conjugate) = (self.b[0].in_f64(), self.b[1].in_f64());
            let mut of_a = self.a.taxicab_of() + splat(2.0) * self.of_q * reach;
            let mut of_b = by_c.taxicab_of() + by_conjugate.taxicab_of();
            let mut of_s = splat(0.0);
            if let Some([s0, s1, t0, t1, t2]) = self.of_c {
                let (s0, s1, t0, t1, t2) = (s0.in_f64(), s1.in_f64(), t0.in_f64(), t1.in_f64(), t2.in_f64());
                let (c, conjugate, zeta) = (c.in_f64(), conjugate.in_f64(), zeta.in_f64());
                by_c = by_c + s0 * zeta + (t0 + t0) * c + t1 * conjugate;
                by_conjugate = by_conjugate + s1 * zeta + t1 * c + (t2 + t2) * conjugate;
                of_s = s0.taxicab_of() + s1.taxicab_of();
                of_a = of_a + of_s * splat(REACH);
                let of_t = t0.taxicab_of() + t1.taxicab_of() + t2.taxicab_of();
                of_b = of_b + of_s * reach + splat(2.0 * REACH) * of_t;
            }
            let doubt = splat(2.0) * self.of_q * e + k(reach + reach).div(reach) + splat(24.0 * U) * of_a;
            let of_c = of_s * e + k_here * splat(2.0 * over_margin) + splat(24.0 * U) * of_b;
            let mut most = splat(0.0);
            for (column, d) in d.iter().enumerate().take(COLUMNS) {
                let own = Complex { re: d.re, im: d.im * self.sign };
                most = most.max((modulus + doubt) * off + doubt * own.taxicab_of() + of_c);
                // Along 1 the sum of both, along i the difference times i.
                let by_pixel = if column == 0 {
                    by_c + by_conjugate
                } else {
                    Complex { re: by_conjugate.im - by_c.im, im: by_c.re - by_conjugate.re }
                };
                after.d[column] = by_z * own + by_pixel;
            }
            after.off = (most + splat(UNDERFLOW)) * splat(UP);
        }
        after
    }
}

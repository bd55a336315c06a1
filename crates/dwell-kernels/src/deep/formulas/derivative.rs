//! Derivatives of the orbits of a formula by the pixel, with bounds on their errors.
//!
//! With a fold D is a real 2x2 matrix of two columns, otherwise a complex number, which is its first column. A step multiplies a column, of which the parts have the signs of the fold, by
//! m = N w^(N-1) for the folded w, and adds 1 or i in units of 2^scale in the parameter plane. With h a bound on the error of w, roundings of Z and w included, and f that of each column:
//!
//! ```text
//! f' = N (|w| + h)^(N-1) f + (N (N - 1) (|w| + h)^(N-2) h + 3 N u N |w|^(N-1)) |d| + 2 u 2^scale
//! ```
//!
//! by the mean value theorem for w^(N-1), with 2.24 (N - 1) + 1 roundings of the power and its product with N and 2.24 of the last product below 3 N (N >= 2), and 2 |part| added to f before where the sign of a part
//! of w is not certain.

use super::power::{of_bound, raised};
use crate::deep::derivative::{U, UP};
use crate::deep::extended::{Bound, Extended};
use crate::deep::mantissa::Complex;
use crate::formula::{Fold, Formula};

/// A derivative of any magnitude: its columns, and the bound on the error of each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    pub(super) d: [Extended<f64>; 2],
    pub(super) off: Bound,
}

impl Columns {
    /// In the place of one that is not wanted.
    pub(super) const NONE: Self = Self { d: [Extended::ZERO; 2], off: Bound::ZERO };

    /// That of the first delta, the pixel itself.
    pub(super) fn first(scale: i32) -> Self {
        let of = |re: f64, im: f64| Extended::new(Complex { re, im }, scale);
        Self { d: [of(1.0, 0.0), of(0.0, 1.0)], off: Bound::ZERO }
    }

    /// After a step from w, which is known to within h. In the parameter plane `added` is the scale.
    pub(super) fn stepped(
        self,
        formula: Formula,
        (w, h): (Extended<f64>, Bound),
        signs: Signs,
        added: Option<i32>,
    ) -> Self {
        let (power, fold) = (formula.power(), formula.fold());
        let n = f64::from(power);
        let modulus = Bound::modulus(w);
        let beyond = modulus.plus(h);
        let first = added.map(Self::first);
        let columns = if fold == Fold::None { 1 } else { 2 };
        let by = raised(signs.folded(fold, w).0, power - 1).times(Extended::new(Complex { re: n, im: 0.0 }, 0));
        let growth = of_bound(beyond, power - 1).by(n);
        let of_w = of_bound(beyond, power - 2).by(n * (n - 1.0)).times(h);
        let rounding = of_bound(modulus, power - 1).by(3.0 * n * U * n);
        let (mut d, mut off) = (self.d, Bound::ZERO);
        for (column, value) in d.iter_mut().enumerate().take(columns) {
            let (folded, unsure) = signs.folded(fold, *value);
            let of_column = growth.times(self.off.plus(unsure)).plus(of_w.plus(rounding).times(Bound::modulus(*value)));
            if off.below(of_column) {
                off = of_column;
            }
            *value = by.times(folded);
            if let Some(first) = first {
                *value = value.plus(first.d[column]);
            }
        }
        if let Some(scale) = added {
            off = off.plus(Bound::new(2.0 * U, scale));
        }
        Self { d, off: off.by(UP) }
    }
}

/// The signs of the parts of w, which folds give to derivatives, and which of them are certain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signs {
    is_negative: [bool; 2],
    is_certain: [bool; 2],
}

impl Signs {
    /// Of a value whose parts are known to within these.
    pub(super) fn of(w: Extended<f64>, off: [Bound; 2]) -> Self {
        Self::of_parts([w.m.re, w.m.im].map(|part| (part < 0.0, Bound::new(part.abs(), w.e))), off)
    }

    /// Of parts given by signs and magnitudes.
    pub(super) fn of_parts(parts: [(bool, Bound); 2], off: [Bound; 2]) -> Self {
        Self {
            is_negative: parts.map(|(is_negative, _)| is_negative),
            is_certain: std::array::from_fn(|part| off[part].below(parts[part].1)),
        }
    }

    /// A number with the signs of a fold, and what it is off by where they are not certain.
    fn folded(self, fold: Fold, v: Extended<f64>) -> (Extended<f64>, Bound) {
        let with = |re: f64, im: f64| Extended { m: Complex { re: v.m.re * re, im: v.m.im * im }, e: v.e };
        match fold {
            Fold::None => (v, Bound::ZERO),
            Fold::Conjugate => (with(1.0, -1.0), Bound::ZERO),
            Fold::Absolute => {
                let [re, im] = self.is_negative.map(|is_negative| if is_negative { -1.0 } else { 1.0 });
                let of_part = |part: usize, of_v: f64| {
                    if self.is_certain[part] { Bound::ZERO } else { Bound::new(2.0 * of_v.abs(), v.e) }
                };
                (with(re, im), of_part(0, v.m.re).plus(of_part(1, v.m.im)))
            }
        }
    }
}

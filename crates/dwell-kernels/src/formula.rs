//! Formulas: the iterated maps z -> w^N + c, where w is z, folded or not.
//!
//! | name | w | N | set |
//! |---|---|---|---|
//! | `mandelbrot` | z | 2 | the Mandelbrot set |
//! | `multibrot` | z | 2 to 16 | its relatives of higher degree |
//! | `burning-ship` | \|x\| + i\|y\| | 2 to 16 | the Burning Ship (Michelitsch and Rössler, 1992) |
//! | `tricorn` | x - iy | 2 to 16 | the Tricorn, or Mandelbar (Crowe and others, 1989), and the Multicorns |
//!
//! In the parameter plane z_1 = c is the pixel. For the Julia set of a formula z_1 is the pixel and c is constant. A
//! [`crate::map::Map`] holds everything except the pixel that an orbit depends on.

use crate::named::UnknownName;
use crate::number::Number;
use std::fmt;
use std::str::FromStr;

/// The operation applied to z before it is raised to a power. Every fold is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Fold {
    /// w = z.
    #[default]
    None,
    /// w = |x| + i|y|.
    Absolute,
    /// w = x - iy.
    Conjugate,
}

/// A formula: a fold and a power.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Formula {
    fold: Fold,
    power: u32,
}

impl Default for Formula {
    fn default() -> Self {
        Self::MANDELBROT
    }
}

impl Formula {
    /// z^2 + c.
    pub const MANDELBROT: Self = Self { fold: Fold::None, power: 2 };
    /// The greatest power that is supported.
    pub const MAX_POWER: u32 = 16;
    /// One formula of each name, with the usual power of that name: 3 for `multibrot`, 2 for the others.
    pub const ALL: [Self; 4] = [
        Self::MANDELBROT,
        Self { fold: Fold::None, power: 3 },
        Self { fold: Fold::Absolute, power: 2 },
        Self { fold: Fold::Conjugate, power: 2 },
    ];

    /// The formula of this fold and power, or `None` if the power is not in 2..=16.
    #[must_use]
    pub fn new(fold: Fold, power: u32) -> Option<Self> {
        (2..=Self::MAX_POWER).contains(&power).then_some(Self { fold, power })
    }

    /// The name of the formula. A Multibrot of power 2 is named `mandelbrot`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match (self.fold, self.power) {
            (Fold::None, 2) => "mandelbrot",
            (Fold::None, _) => "multibrot",
            (Fold::Absolute, _) => "burning-ship",
            (Fold::Conjugate, _) => "tricorn",
        }
    }

    /// The fold.
    #[must_use]
    pub fn fold(self) -> Fold {
        self.fold
    }

    /// The power N, 2 to 16.
    #[must_use]
    pub fn power(self) -> u32 {
        self.power
    }

    /// Whether the conjugate pixel has the same dwell, because its orbit is the conjugate orbit or has the same moduli.
    /// Then the mirror image of a view in the real axis has the same dwells. Negating y negates the imaginary part of
    /// every product and sum, to the bit, if c is negated with it. So this holds in the parameter plane for formulas
    /// without the fold of the Burning Ship, and for their Julia sets with real c. The fold of the Burning Ship drops
    /// the sign of y at the first step, so its Julia sets are symmetric for every c, and its parameter plane is not.
    #[must_use]
    pub fn mirrors<N: Number>(self, julia: Option<[N; 2]>) -> bool {
        match (self.fold, julia) {
            (Fold::Absolute, julia) => julia.is_some(),
            (_, None) => true,
            (_, Some([_, im])) => im == N::default(),
        }
    }

    /// The number of arithmetic operations of one step in the recipe `fused`, without the test: four for each squaring
    /// and each product. Folds change only sign bits and are not counted.
    #[must_use]
    pub fn operations(self) -> u32 {
        let squarings = self.power.ilog2();
        let products = self.power.count_ones() - 1;
        4 * (squarings + products)
    }
}

impl fmt::Display for Formula {
    /// Writes the name, without the power.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Formula {
    type Err = UnknownName;

    /// Reads a name; the formula has the usual power of that name, as in [`Self::ALL`].
    fn from_str(text: &str) -> Result<Self, UnknownName> {
        UnknownName::find(text, "formula", &Self::ALL, Self::name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_accepted_powers() {
        assert_eq!(Formula::default().name(), "mandelbrot");
        assert_eq!(Formula::new(Fold::None, 3).map(Formula::name), Some("multibrot"));
        assert_eq!(Formula::new(Fold::Absolute, 2).map(Formula::name), Some("burning-ship"));
        assert_eq!(Formula::new(Fold::Conjugate, 16).map(Formula::name), Some("tricorn"));
        assert!([0, 1, 17, u32::MAX].into_iter().all(|power| Formula::new(Fold::None, power).is_none()));
    }

    #[test]
    fn operations_count_squarings_and_products() {
        let of = |power| Formula::new(Fold::None, power).map(Formula::operations);
        // z^2; z^2 z; (z^2)^2; ((z^2) z)^2 z; (((z^2)^2)^2)^2.
        assert_eq!([2, 3, 4, 7, 16].map(of), [4, 8, 8, 16, 16].map(Some));
    }
}

//! Formulas: what is iterated, z -> w^N + c, where w is z, folded or not.
//!
//! | name | w | N | set |
//! |---|---|---|---|
//! | `mandelbrot` | z | 2 | the Mandelbrot set |
//! | `multibrot` | z | 2 to 16 | its relatives of higher degree |
//! | `burning-ship` | \|x\| + i\|y\| | 2 to 16 | the Burning Ship (Michelitsch and Rössler, 1992) |
//! | `tricorn` | x - iy | 2 to 16 | the Tricorn, or Mandelbar (Crowe and others, 1989), and the Multicorns |
//!
//! In the parameter plane z_1 = c is the pixel. For the Julia set of a formula z_1 is the pixel and c is constant. What
//! stands in [`Map`] is all that an orbit depends on beside its pixel; the order of roundings is in [`crate::recipe`].

use crate::number::Number;
use crate::recipe::Recipe;

/// What is done to z before it is raised to a power. Every fold is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Fold {
    /// Nothing.
    #[default]
    None,
    /// Both parts become their absolute values.
    Absolute,
    /// The imaginary part is negated.
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
    /// The greatest power.
    pub const MOST_POWER: u32 = 16;
    /// The names of all formulas.
    pub const NAMES: [&'static str; 4] = ["mandelbrot", "multibrot", "burning-ship", "tricorn"];

    /// The formula of this fold and power, if the power is in 2..=16.
    #[must_use]
    pub fn new(fold: Fold, power: u32) -> Option<Self> {
        (2..=Self::MOST_POWER).contains(&power).then_some(Self { fold, power })
    }

    /// The formula of that name (see [`Self::NAMES`]) with the power that it usually has: 3 for a Multibrot, 2 otherwise.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let (fold, power) = match name {
            "mandelbrot" => (Fold::None, 2),
            "multibrot" => (Fold::None, 3),
            "burning-ship" => (Fold::Absolute, 2),
            "tricorn" => (Fold::Conjugate, 2),
            _ => return None,
        };
        Some(Self { fold, power })
    }

    /// Its name: a Multibrot of power 2 is the Mandelbrot set.
    #[must_use]
    pub fn name(self) -> &'static str {
        match (self.fold, self.power) {
            (Fold::None, 2) => "mandelbrot",
            (Fold::None, _) => "multibrot",
            (Fold::Absolute, _) => "burning-ship",
            (Fold::Conjugate, _) => "tricorn",
        }
    }

    /// What is done to z first.
    #[must_use]
    pub fn fold(self) -> Fold {
        self.fold
    }

    /// N.
    #[must_use]
    pub fn power(self) -> u32 {
        self.power
    }

    /// Whether the orbit of the conjugate pixel is the conjugate orbit, or has at least the same moduli: then a view's
    /// mirror image in the real axis has the same dwells. Negating y negates the imaginary part of every product and
    /// sum, to the bit, as long as c is negated with it: so it holds in the parameter plane without the Burning Ship's
    /// fold, and for Julia sets whose c is real. The Burning Ship's fold forgets the sign of y at the first step, so
    /// its Julia sets are symmetric whatever c is, and its parameter plane is not.
    #[must_use]
    pub fn mirrors<N: Number>(self, julia: Option<[N; 2]>) -> bool {
        match (self.fold, julia) {
            (Fold::Absolute, julia) => julia.is_some(),
            (_, None) => true,
            (_, Some([_, im])) => im == N::default(),
        }
    }

    /// Arithmetic operations of a step in the recipe `fused`, without the test: each squaring and each product takes
    /// four. Folds, which are changes of bits, are not counted.
    #[must_use]
    pub fn operations(self) -> u32 {
        let squarings = self.power.ilog2();
        let products = self.power.count_ones() - 1;
        4 * (squarings + products)
    }
}

/// All that an orbit depends on, beside the pixel that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Map<N> {
    /// What is iterated.
    pub formula: Formula,
    /// In which order of roundings.
    pub recipe: Recipe,
    /// c, for a Julia set; in the parameter plane c is the pixel.
    pub julia: Option<[N; 2]>,
}

impl<N: Number> Map<N> {
    /// z -> z^2 + c in the parameter plane.
    #[must_use]
    pub fn mandelbrot(recipe: Recipe) -> Self {
        Self { formula: Formula::MANDELBROT, recipe, julia: None }
    }

    /// c at a pixel.
    #[must_use]
    #[inline(always)]
    pub fn c(&self, pixel: [N; 2]) -> [N; 2] {
        self.julia.unwrap_or(pixel)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Maps of every kind, in both numbers.
    pub(crate) fn some_maps() -> Vec<(Map<f64>, Map<f32>)> {
        let julia = [-0.390_625, 0.585_937_5];
        let kinds = [
            (Fold::None, 2, None),
            (Fold::None, 2, Some(julia)),
            (Fold::None, 3, None),
            (Fold::None, 7, None),
            (Fold::None, 16, None),
            (Fold::None, 5, Some(julia)),
            (Fold::Absolute, 2, None),
            (Fold::Absolute, 2, Some(julia)),
            (Fold::Absolute, 4, None),
            (Fold::Conjugate, 2, None),
            (Fold::Conjugate, 2, Some(julia)),
            (Fold::Conjugate, 3, None),
            (Fold::Conjugate, 6, Some(julia)),
        ];
        let mut maps = Vec::new();
        for (fold, power, julia) in kinds {
            for recipe in Recipe::ALL {
                let formula = Formula::new(fold, power).unwrap();
                let wide = Map { formula, recipe, julia };
                maps.push((wide, Map { formula, recipe, julia: julia.map(|c| c.map(|v: f64| v as f32)) }));
            }
        }
        maps
    }

    #[test]
    fn names_and_ranges() {
        assert_eq!(Formula::default().name(), "mandelbrot");
        assert!(Formula::NAMES.into_iter().all(|name| Formula::named(name).map(Formula::name) == Some(name)));
        assert_eq!(Formula::new(Fold::None, 3).map(Formula::name), Some("multibrot"));
        assert_eq!(Formula::new(Fold::Absolute, 2).map(Formula::name), Some("burning-ship"));
        assert_eq!(Formula::new(Fold::Conjugate, 16).map(Formula::name), Some("tricorn"));
        assert!([0, 1, 17, u32::MAX].into_iter().all(|power| Formula::new(Fold::None, power).is_none()));
    }

    #[test]
    fn operations_are_those_of_the_chain() {
        let of = |power| Formula::new(Fold::None, power).map(Formula::operations);
        // z^2; z^2 z; (z^2)^2; ((z^2) z)^2 z; (((z^2)^2)^2)^2.
        assert_eq!([2, 3, 4, 7, 16].map(of), [4, 8, 8, 16, 16].map(Some));
    }
}

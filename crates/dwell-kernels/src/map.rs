//! Maps: a formula with its order of roundings and its constant.

use crate::formula::Formula;
use crate::number::Number;
use crate::recipe::Recipe;

/// Everything that an orbit depends on except its pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Map<N> {
    /// The formula.
    pub formula: Formula,
    /// The order of roundings.
    pub recipe: Recipe,
    /// The constant c of a Julia set. `None` in the parameter plane, where c is the pixel.
    pub julia: Option<[N; 2]>,
}

impl<N: Number> Map<N> {
    /// z -> z^2 + c in the parameter plane.
    #[must_use]
    pub fn mandelbrot(recipe: Recipe) -> Self {
        Self { formula: Formula::MANDELBROT, recipe, julia: None }
    }

    /// The constant c of the orbit of a pixel.
    #[must_use]
    #[inline(always)]
    pub fn c(&self, pixel: [N; 2]) -> [N; 2] {
        self.julia.unwrap_or(pixel)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::formula::Fold;

    /// One map of every kind, in both number types.
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
}

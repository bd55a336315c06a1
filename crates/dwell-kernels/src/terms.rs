//! What the proofs of the exact shortcuts come down to for a map, as plain numbers: for engines that run elsewhere than on
//! this machine's processors and take the same shortcuts.

use crate::escape::Bounds;
use crate::escape::late::{self, Delicate};
use crate::formula::Formula;
use crate::interior::Interior;
use crate::number::Number;

/// The terms of a map's shortcuts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms<N> {
    /// Where the shortcut `interior` is asked for and holds: with p^2 = |c - 1/4|^2, a point is inside when m^2 <= p^2 for m
    /// = t0 p^2 + (t1 (a - 1/4) + t2), or when |c + 1|^2 <= t3. See [`crate::interior`].
    pub interior: Option<[N; 4]>,
    /// Which points are to be tested at every step; for all others a late test misses no escape.
    pub each_step: EachStep<N>,
}

/// Points that are to be tested at every step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EachStep<N> {
    /// None.
    Nobody,
    /// All of them.
    Everybody,
    /// Those whose real part is in a range, upper end excluded.
    RealPartIn([N; 2]),
    /// Those whose |c|^2, computed in the recipe, is in a range, upper end excluded.
    NormIn([N; 2]),
}

impl<N: Number> Terms<N> {
    /// Of a map within these bounds.
    #[must_use]
    pub fn of(bounds: &Bounds<N>) -> Self {
        let of_the_set = bounds.map.formula == Formula::MANDELBROT && bounds.map.julia.is_none();
        let each_step = match Delicate::of(bounds) {
            _ if !late::is_exact(bounds) => EachStep::Everybody,
            None => EachStep::Nobody,
            Some(Delicate::Tip(range)) => EachStep::RealPartIn(range),
            Some(Delicate::Ring(range)) => EachStep::NormIn(range),
        };
        let interior = (bounds.shortcuts.interior && of_the_set).then(|| Interior::<N>::new(bounds.map.recipe).terms());
        Self { interior, each_step }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::escape::Shortcuts;
    use crate::formula::{Fold, Map};
    use crate::recipe::Recipe;

    fn of(formula: Formula, julia: Option<[f64; 2]>, shortcuts: Shortcuts) -> Terms<f64> {
        let map = Map { formula, recipe: Recipe::Fused, julia };
        Terms::of(&Bounds { map, limit: 100, radius_squared: 4.0, shortcuts })
    }

    #[test]
    fn each_kind_of_map_has_its_own() {
        let set = of(Formula::MANDELBROT, None, Shortcuts::ALL);
        assert!(matches!(set.each_step, EachStep::RealPartIn([a, b]) if a < -2.0 && b > -2.0));
        let [square, real, constant, disc] = set.interior.unwrap();
        // c = 0 is inside, c = 1/4 + 0.01 is not, -1 is by the disc.
        let inside = |a: f64| {
            let p = (a - 0.25) * (a - 0.25);
            let m = square * p + (real * (a - 0.25) + constant);
            m * m <= p || (a + 1.0) * (a + 1.0) <= disc
        };
        assert!(inside(0.0) && inside(-1.0) && !inside(0.26) && !inside(-1.3));
        assert_eq!(of(Formula::MANDELBROT, None, Shortcuts::NONE).interior, None);
        let ship = of(Formula::new(Fold::Absolute, 2).unwrap(), None, Shortcuts::ALL);
        assert!(matches!(ship.each_step, EachStep::NormIn([a, b]) if a < 4.0 && b > 4.0));
        assert_eq!(ship.interior, None);
        let cubic = of(Formula::new(Fold::None, 3).unwrap(), None, Shortcuts::ALL);
        assert_eq!((cubic.each_step, cubic.interior), (EachStep::Nobody, None));
        let near = of(Formula::MANDELBROT, Some([0.1, 0.2]), Shortcuts::ALL);
        assert_eq!((near.each_step, near.interior), (EachStep::Nobody, None));
        assert_eq!(of(Formula::MANDELBROT, Some([2.5, 0.0]), Shortcuts::ALL).each_step, EachStep::Everybody);
    }
}

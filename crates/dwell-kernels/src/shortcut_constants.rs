//! The constants of the exact shortcuts of a map, as plain numbers: for engines that do not run on the CPU and take the
//! same shortcuts.

use crate::enclosure::{roundings_of_a_step, smallest, sure_radii, unit};
use crate::escape::KernelSettings;
use crate::escape::late::{self, ExceptionalPoints};
use crate::formula::Formula;
use crate::interior::{Interior, margins};
use crate::number::Number;

/// The constants of the exact shortcuts of a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShortcutConstants<N> {
    /// The constants t0 to t3 of the test for interior points, if the shortcut `interior` is enabled and holds for the
    /// map. With p^2 = |c - 1/4|^2, a point c = a + ib is interior if m^2 <= p^2 for m = t0 p^2 + (t1 (a - 1/4) + t2),
    /// or if |c + 1|^2 <= t3. See [`crate::interior`].
    pub interior: Option<[N; 4]>,
    /// The points that must be tested after every step. For all others a late test misses no escape.
    pub each_step: EachStep<N>,
}

/// The points that must be tested for escape after every step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EachStep<N> {
    /// No point.
    Never,
    /// Every point.
    Always,
    /// Points c whose real part is in a range, upper end excluded.
    RealPartIn([N; 2]),
    /// Points whose |c|^2, computed in the recipe of the map, is in a range, upper end excluded.
    NormIn([N; 2]),
}

impl<N: Number> ShortcutConstants<N> {
    /// The constants for the map, the escape radius and the shortcuts of `settings`.
    #[must_use]
    pub fn of(settings: &KernelSettings<N>) -> Self {
        let is_mandelbrot = settings.map.formula == Formula::MANDELBROT && settings.map.julia.is_none();
        let each_step = match ExceptionalPoints::of(settings) {
            _ if !late::is_exact(settings) => EachStep::Always,
            None => EachStep::Never,
            Some(ExceptionalPoints::Tip(range)) => EachStep::RealPartIn(range),
            Some(ExceptionalPoints::Ring(range)) => EachStep::NormIn(range),
        };
        let interior =
            (settings.shortcuts.interior && is_mandelbrot).then(|| Interior::<N>::new(settings.map.recipe).constants());
        Self { interior, each_step }
    }
}

/// The constants of proofs for blocks of points ([`crate::blocks`]), for engines that make them with operations of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProofConstants {
    /// k: a computed step of the map differs from the exact one by at most k u (|z|^N + |c|), in both recipes, but for `smallest`.
    pub roundings_of_a_step: f64,
    /// u, the unit roundoff of the number of the orbits.
    pub unit: f64,
    /// What results below the smallest normal numbers can lose in the operations of a step.
    pub smallest: f64,
    /// A computed test finds that a point has not escaped where |z| is at most the first, and that it has where |z| is greater
    /// than the second.
    pub sure_radii: [f64; 2],
    /// The margins delta of the cardioid and of the disc of period 2, if the map has them and the shortcut `interior` is
    /// enabled: no computed orbit of a point with |lambda| <= 1 - delta escapes. See [`crate::interior`].
    pub interior_margins: Option<[f64; 2]>,
}

impl ProofConstants {
    /// The constants for the map, the escape radius and the shortcuts of `settings`.
    #[must_use]
    pub fn of<N: Number>(settings: &KernelSettings<N>) -> Self {
        let map = &settings.map;
        let has_interior = settings.shortcuts.interior && map.formula == Formula::MANDELBROT && map.julia.is_none();
        Self {
            roundings_of_a_step: roundings_of_a_step(map.formula.power()),
            unit: unit::<N>(),
            smallest: smallest::<N>(),
            sure_radii: sure_radii(settings.radius_squared),
            interior_margins: has_interior.then(|| margins::<N>(map.recipe)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::escape::KernelShortcuts;
    use crate::formula::Fold;
    use crate::map::Map;
    use crate::recipe::Recipe;

    fn constants_of(formula: Formula, julia: Option<[f64; 2]>, shortcuts: KernelShortcuts) -> ShortcutConstants<f64> {
        let map = Map { formula, recipe: Recipe::Fused, julia };
        ShortcutConstants::of(&KernelSettings { map, limit: 100, radius_squared: 4.0, shortcuts, proved: 0 })
    }

    #[test]
    fn constants_of_each_kind_of_map() {
        let set = constants_of(Formula::MANDELBROT, None, KernelShortcuts::ALL);
        assert!(matches!(set.each_step, EachStep::RealPartIn([a, b]) if a < -2.0 && b > -2.0));
        let [square, real, constant, disc] = set.interior.unwrap();
        // c = 0 is interior, c = 1/4 + 0.01 is not, and -1 is interior by the test for the disc.
        let inside = |a: f64| {
            let p = (a - 0.25) * (a - 0.25);
            let m = square * p + (real * (a - 0.25) + constant);
            m * m <= p || (a + 1.0) * (a + 1.0) <= disc
        };
        assert!(inside(0.0) && inside(-1.0) && !inside(0.26) && !inside(-1.3));
        assert_eq!(constants_of(Formula::MANDELBROT, None, KernelShortcuts::NONE).interior, None);
        let ship = constants_of(Formula::new(Fold::Absolute, 2).unwrap(), None, KernelShortcuts::ALL);
        assert!(matches!(ship.each_step, EachStep::NormIn([a, b]) if a < 4.0 && b > 4.0));
        assert_eq!(ship.interior, None);
        let cubic = constants_of(Formula::new(Fold::None, 3).unwrap(), None, KernelShortcuts::ALL);
        assert_eq!((cubic.each_step, cubic.interior), (EachStep::Never, None));
        let near = constants_of(Formula::MANDELBROT, Some([0.1, 0.2]), KernelShortcuts::ALL);
        assert_eq!((near.each_step, near.interior), (EachStep::Never, None));
        assert_eq!(
            constants_of(Formula::MANDELBROT, Some([2.5, 0.0]), KernelShortcuts::ALL).each_step,
            EachStep::Always
        );
    }
}

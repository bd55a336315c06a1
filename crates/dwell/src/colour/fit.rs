//! The scale that fits a view: density and offset from the distribution of the coloured quantity.

use super::colouring::Colouring;
use super::elementary::log2;
use super::mapping::{By, Scale};
use crate::base::error::InputError;
use crate::base::limits::collected;

/// The shares of the escaped points below the least and the greatest value that count: the few points beyond them may have
/// any value.
const LOW: f64 = 0.05;
const HIGH: f64 = 0.95;
/// Turns of the palette from the least to the greatest value, where the scale itself makes one turn.
const TURNS: f64 = 1.25;
/// The share of pairs of neighbouring pixels whose difference is bounded.
const CALM: f64 = 0.7;
/// The bound: the greatest difference, in turns, of that share of pairs.
const MOST_DIFFERENCE: f64 = 0.05;
/// The least number of turns: a view of a smooth gradient shows one.
const LEAST_TURNS: f64 = 0.5;
/// The least number of turns to which the bound on differences reduces them. In views where it does, most neighbouring pixels
/// have unrelated dwells. With half a turn they are from nearly black to white there, and hide the large structure. With less
/// than a quarter, the picture has one colour.
const LEAST_CALM_TURNS: f64 = 0.3;
/// The fewest values that a scale is fitted to.
const FEWEST: usize = 16;
/// The least distance between the least and the greatest value that a scale is fitted to, in units of the scale.
const LEAST_SPAN: f64 = 1e-6;

/// The turns of a value at density 1 on the quantity's usual scale.
fn turns_of(by: By, v: f64) -> f64 {
    match by.usual_scale() {
        Scale::Log => log2(v) * Scale::PER_LOG2,
        _ => (v.sqrt() - 1.0) * Scale::PER_ROOT,
    }
}

/// A scale with the density and the offset that fit a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fit {
    scale: Scale,
    density: f64,
    /// The turns, at density 1, of the value that gets the palette's first colour.
    first: f64,
}

impl Fit {
    /// The fit to the values of some points of a view, and to pairs of values at neighbouring pixels of a picture with about
    /// two million pixels. Values that are not finite are left out.
    ///
    /// The scale is the quantity's usual one: `root` for dwells, `log` for distances. Let s be its turns at density 1, and S
    /// the difference of s between the values below which 95 % and 5 % of the points lie. The visible values then span
    ///
    /// ```text
    /// 1.25 sqrt(S) turns, and at least half a turn:
    /// ```
    ///
    /// a view of many dwells shows more turns than one of few, but the range of turns is that of the square root. The
    /// palette's first colour is that of the lower of the two values; for distances, that of distance 0. Where more than 30 %
    /// of neighbouring pixels differ by more than 1/20 turn, the density is reduced until they do not, but not below 0.3 turns
    /// in all.
    ///
    /// Each of these is a continuous function of the distribution, whose shares are interpolated between values, so that
    /// they change little from one frame of a zoom to the next.
    ///
    /// # Errors
    /// When the system has not enough memory.
    pub(crate) fn new(by: By, values: Vec<f64>, neighbours: &[[f64; 2]]) -> Result<Self, InputError> {
        let scale = by.usual_scale();
        let mut turns = values;
        turns.iter_mut().for_each(|v| *v = turns_of(by, *v));
        turns.retain(|turns| turns.is_finite());
        if turns.len() < FEWEST {
            return Ok(Self { scale, density: 1.0, first: 0.0 });
        }
        let [low, high] = [LOW, HIGH].map(|share| quantile(&mut turns, share));
        let span = (high - low).max(LEAST_SPAN);
        let mut density = (TURNS * span.sqrt()).max(LEAST_TURNS) / span;
        let differences = neighbours.iter().map(|[a, b]| (turns_of(by, *a) - turns_of(by, *b)).abs());
        let differences = differences.filter(|difference| difference.is_finite());
        let mut differences = collected(differences, "the values of neighbouring pixels")?;
        if differences.len() >= FEWEST {
            let calm = MOST_DIFFERENCE / quantile(&mut differences, CALM).max(f64::MIN_POSITIVE);
            density = density.min(calm).max(LEAST_CALM_TURNS / span);
        }
        // A distance of 0 is at the set itself, in every view.
        let first = if by == By::Distance { 0.0 } else { low };
        Ok(Self { scale, density, first })
    }

    /// The fit for a sequence of views, of which each has its own, from the largest view to the smallest: the median density, so that as many
    /// views would have more turns as fewer, and the first colour of the largest view. The fits have one scale. `None` for no view.
    #[cfg(all(feature = "png", feature = "toml"))]
    pub(crate) fn common(fits: &[Self]) -> Option<Self> {
        let first = fits.first()?;
        let mut densities: Vec<f64> = fits.iter().map(|fit| fit.density).collect();
        Some(Self { density: quantile(&mut densities, 0.5), ..*first })
    }

    /// A colouring with the scale in place of its own. Its density multiplies that of the fit, and its offset is added.
    pub(crate) fn applied_to(self, colouring: Colouring) -> Colouring {
        let density = (self.density * colouring.density).clamp(f64::MIN_POSITIVE, Colouring::MOST);
        // Whole turns forwards and back change no colour of any palette.
        let first = (density * self.first) % 2.0;
        let offset = (colouring.offset - first).clamp(-Colouring::MOST, Colouring::MOST);
        Colouring { scale: self.scale, density, offset, ..colouring }
    }
}

/// The value below which a share of some values lies, interpolated between two of them. There is at least one, and all are
/// finite. Changes their order.
fn quantile(values: &mut [f64], share: f64) -> f64 {
    let last = values.len() - 1;
    let at = share * last as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to the last index")]
    let below = (at.floor() as usize).min(last);
    let (_, value, above) = values.select_nth_unstable_by(below, f64::total_cmp);
    let next = above.iter().copied().min_by(f64::total_cmp).unwrap_or(*value);
    *value + (next - *value) * (at - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(by: By, values: Vec<f64>, neighbours: &[[f64; 2]]) -> Fit {
        Fit::new(by, values, neighbours).unwrap()
    }

    fn evenly(from: f64, to: f64) -> Vec<f64> {
        (0..1000).map(|i| from + (to - from) * f64::from(i) / 999.0).collect()
    }

    /// The positions of two values in a default colouring.
    fn positions(fit: Fit, v: [f64; 2]) -> [f64; 2] {
        let colouring = fit.applied_to(Colouring::default());
        assert!(colouring.check().is_ok());
        v.map(|v| colouring.offset + colouring.density * Scale::PER_ROOT * (v.sqrt() - 1.0))
    }

    #[test]
    fn high_dwells_in_a_narrow_range_use_the_palette() {
        for (from, to) in [(9_700.0, 10_300.0), (1e6, 1.001e6), (32.0, 32.01), (3.0, 60.0), (2.0, 1e5)] {
            let fit = fit(By::Smooth, evenly(from, to), &[]);
            let [first, last] = positions(fit, [LOW, HIGH].map(|share| from + share * (to - from)));
            let turns = last - first;
            assert!(turns > 0.499 && turns < 8.0, "{from} to {to}: {turns}");
            let nearest = first - 2.0 * (first / 2.0).round();
            // Shares are interpolated between turns, not values.
            assert!(nearest.abs() < 1e-4, "{from} to {to}: {first}");
        }
    }

    #[test]
    fn noise_lowers_the_density_down_to_a_bound() {
        let values = evenly(100.0, 10_000.0);
        let density = |step: f64| fit(By::Banded, values.clone(), &[[2500.0, 2500.0 + step]; 100]).density;
        let calm = fit(By::Banded, values.clone(), &[]).density;
        assert_eq!(density(1.0), calm);
        assert!(density(200.0) < calm && density(400.0) < density(200.0));
        assert_eq!(density(3000.0), density(7000.0));
    }

    #[test]
    fn distances_begin_at_the_set() {
        let fit = fit(By::Distance, evenly(1.0, 300.0), &[]);
        assert_eq!((fit.scale, fit.first), (Scale::Log, 0.0));
        let colouring = Colouring { density: 2.0, offset: 0.25, ..Colouring::default() };
        let fitted = fit.applied_to(colouring);
        assert_eq!((fitted.density, fitted.offset), (2.0 * fit.density, 0.25));
    }

    #[test]
    fn few_or_equal_or_infinite_values_have_a_colouring() {
        for values in
            [vec![], vec![5.0; 3], vec![5.0; 100], vec![f64::INFINITY; 100], vec![f64::NAN; 100], vec![1e300; 50]]
        {
            let fit = fit(By::Smooth, values.clone(), &[[5.0, f64::NAN]; 50]);
            let wide = Colouring { density: 1e6, offset: -1e6, ..Colouring::default() };
            assert!(fit.applied_to(wide).check().is_ok(), "{values:?}");
            assert!(fit.applied_to(Colouring::default()).check().is_ok(), "{values:?}");
        }
    }

    #[test]
    #[cfg(all(feature = "png", feature = "toml"))]
    fn views_have_a_common_fit() {
        let fits = [0.5, 8.0, 2.0].map(|density| Fit { scale: Scale::Root, density, first: density });
        assert_eq!(Fit::common(&fits), Some(Fit { scale: Scale::Root, density: 2.0, first: 0.5 }));
        assert_eq!(Fit::common(&[]), None);
    }

    #[test]
    fn quantiles_are_interpolated() {
        assert_eq!(quantile(&mut [4.0, 1.0, 2.0], 0.75), 3.0);
        assert_eq!((quantile(&mut [7.0], 0.95), quantile(&mut [2.0, 1.0], 1.0)), (7.0, 2.0));
    }
}

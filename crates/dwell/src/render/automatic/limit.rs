//! The rule for the automatic limit, from the escapes of a probe.

use super::bound::Bound;
use super::list::Point;
use super::ranking::{Escape, Ranking};
use crate::base::error::InputError;

/// The least limit that is chosen. Few points of any view need more time up to it than rounding coordinates takes.
const LEAST: u64 = 1000;
/// The greatest limit that is chosen.
const MOST: u64 = 500_000_000;
/// The share of the view that may escape beyond the limit, by the extrapolation. It is half of one pixel in 100,000, since
/// the tail of some views is heavier than what their latest escapes in a probe show.
const TARGET: f64 = 5e-6;
/// The latest escapes that are extrapolated, as a share of the view: 1 in 10,000, which are 8 points in cells with nine.
const TAIL: f64 = 1e-4;

/// The escapes of a probe: dwells with weights, the parts of the view that the points stand for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Escapes<'a> {
    /// The points, escaped or not.
    points: &'a [Point],
    /// The number of escapes.
    count: u64,
    /// The greatest dwell; 0 without escapes.
    latest: u64,
    /// The weight of all points, escaped or not.
    total: u64,
    /// The limit beyond which a share of [`TARGET`] still escapes.
    extrapolated: f64,
}

impl<'a> Escapes<'a> {
    /// The escapes among these points. `total` is the weight of the view, at least 1.
    ///
    /// # Errors
    /// When the system has not enough memory.
    pub(super) fn new(points: &'a [Point], total: u64) -> Result<Self, InputError> {
        let total = total.max(1);
        let ranking = Ranking::of(points)?;
        // Weights are at least 1, so the tail has no more escapes than this.
        let tail = ranking.latest((TAIL * total as f64) as usize + 2)?;
        let extrapolated = extrapolated(&tail, ranking.median()?, total);
        let latest = tail.first().map_or(0, |escape| escape.dwell());
        Ok(Self { points, count: ranking.count(), latest, total, extrapolated })
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The greatest dwell; 0 without escapes.
    pub(super) fn latest(&self) -> u64 {
        self.latest
    }

    /// The share of the view with a dwell above `from`, up to `to`.
    pub(super) fn share_between(&self, from: u64, to: u64) -> f64 {
        let between = self.points.iter().filter(|point| (from + 1..=to).contains(&point.dwell()));
        between.map(|point| u64::from(point.weight)).sum::<u64>() as f64 / self.total as f64
    }

    /// The limit beyond which about one pixel in 200,000 still escapes, or the one of the same grid that is nearest to the
    /// affordable one ([`Self::affordable`]), if that is less.
    ///
    /// The points of a view of the Mandelbrot set that have not escaped after n iterations, without those that never do,
    /// have an area that falls like 1 / n: near a cusp or a root of a component, the time to pass between the remnants of
    /// two fixed points is pi over the square root of the distance, and the width of the region at that distance grows with
    /// the square root too; near a small copy of the set, the same holds with n in units of its period. Let m be the
    /// median dwell, below which the bulk of the view escapes. If the share P of the view has dwells above n, then the
    /// share T has dwells above m + (n - m) P / T. This is computed from each of the latest escapes (up to a share of
    /// 1/10,000), with T = 5 * 10^-6, and the greatest result is taken, so that a tail is not missed which only a few points
    /// show. The tails of most Julia sets fall exponentially, so the limit is higher than they need; it costs nothing, since
    /// no point reaches it except those that never escape, which the shortcuts find.
    ///
    /// The result is rounded up to 1, 2 or 5 times a power of ten, so that it is the same for most neighbouring frames of
    /// a zoom.
    pub(super) fn limit(&self, bound: &Bound) -> u64 {
        rounded_up(self.extrapolated).min(nearest(self.affordable(bound)))
    }

    /// Whether [`Self::limit`] is the same for any bound that allows at least this limit.
    pub(super) fn are_within(&self, least: f64) -> bool {
        rounded_up(self.extrapolated) <= nearest(least)
    }

    /// Whether [`Self::limit`] is the greatest that the bound allows, which later escapes would not change.
    pub(super) fn reach_most(&self, bound: &Bound) -> bool {
        self.affordable(bound) >= bound.most && rounded_up(self.extrapolated) >= nearest(bound.most)
    }

    /// The greatest limit that is affordable: the greatest at which a pixel that is spared costs no more than its price.
    pub(super) fn affordable(&self, bound: &Bound) -> f64 {
        // The limit at which the cost of a pixel is its price, if the share beyond it is as extrapolated.
        let by_tail = (4.0 * bound.price * self.extrapolated * TARGET / bound.open).sqrt();
        let by_escapes = grid().rev().find(|limit| self.cost(*limit, bound.open) <= bound.price).unwrap_or(LEAST);
        by_tail.max(by_escapes as f64).max(bound.allowed).min(bound.most)
    }

    /// The iterations that a limit takes for each pixel that it spares from being falsely black, compared with a quarter of the limit, where
    /// a share `open` of the view is iterated up to the limit.
    ///
    /// The pixels spared are those that escape between the two. Where the points of the probe are too few to show them, they
    /// are 3 K / n for the limit n, if the share that escapes beyond it is K / n.
    pub(super) fn cost(&self, limit: u64, open: f64) -> f64 {
        let (n, quarter) = (limit as f64, limit / 4);
        let by_tail = 3.0 * self.extrapolated * TARGET / n;
        0.75 * n * open / self.share_between(quarter, limit).max(by_tail)
    }
}

/// The limit by the rule of [`Escapes::limit`], before it is rounded, from the latest escapes, latest first, and the median dwell.
fn extrapolated(latest: &[Escape], median: u64, total: u64) -> f64 {
    let median = median as f64;
    let (mut above, mut limit) = (0, LEAST as f64);
    for escape in latest {
        above += escape.weight();
        let share = above as f64 / total as f64;
        if share > TAIL && above > escape.weight() {
            break;
        }
        limit = limit.max(median + (escape.dwell() as f64 - median) * (share / TARGET));
    }
    limit
}

/// The limits that may be chosen: 1, 2 and 5 times the powers of ten from 1000 to 5 * 10^8.
fn grid() -> impl DoubleEndedIterator<Item = u64> {
    (3..9).flat_map(|power| [1, 2, 5].map(|factor| factor * 10_u64.pow(power)))
}

/// The least limit of the grid that is not below `limit`, or the greatest of all.
fn rounded_up(limit: f64) -> u64 {
    grid().find(|grid| *grid as f64 >= limit).unwrap_or(MOST)
}

/// The limit of the grid whose ratio to `limit` is nearest to 1.
fn nearest(limit: f64) -> u64 {
    let below = grid().take_while(|grid| *grid as f64 <= limit).last().unwrap_or(LEAST);
    let above = rounded_up(limit);
    if below as f64 * above as f64 >= limit * limit { below } else { above }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(of: impl IntoIterator<Item = (u64, u32)>) -> Vec<Point> {
        of.into_iter().map(Point::with).collect()
    }

    /// 80,000 points, of which a share of about `scale` / n has dwells above n.
    fn tail(scale: f64) -> Vec<Point> {
        let dwell = |i: u32| (80_000.0 * scale / (f64::from(i) + 0.5)).max(1.0) as u64;
        points((0..80_000).map(|i| (dwell(i), 1)))
    }

    fn escapes(points: &[Point]) -> Escapes<'_> {
        Escapes::new(points, points.iter().map(|point| u64::from(point.weight)).sum()).unwrap()
    }

    #[test]
    fn limits_are_rounded_up_to_the_grid() {
        for (limit, rounded) in
            [(0.0, 1000), (1000.0, 1000), (1000.5, 2000), (2000.1, 5000), (30_000.0, 50_000), (1e12, 500_000_000)]
        {
            assert_eq!(rounded_up(limit), rounded, "{limit}");
        }
        for (limit, rounded) in [
            (3.0, 1000),
            (1000.0, 1000),
            (1414.0, 1000),
            (1415.0, 2000),
            (3162.0, 2000),
            (3163.0, 5000),
            (10_000.0, 10_000),
            (f64::INFINITY, 500_000_000),
        ] {
            assert_eq!(nearest(limit), rounded, "{limit}");
        }
    }

    #[test]
    fn the_tail_is_extrapolated() {
        // A share 0.2 / n escapes after n: one in 200,000 after 40,000, and the latest of 80,000 points after 32,000.
        let [light, heavy] = [tail(0.2), tail(20.0)];
        let [light, heavy] = [escapes(&light), escapes(&heavy)];
        let limit = light.limit(&Bound::NONE);
        assert!((40_000..=200_000).contains(&limit), "{limit}");
        assert!(heavy.limit(&Bound::NONE) >= 4_000_000);
        let most = |most| Bound { most, ..Bound::NONE };
        assert_eq!(heavy.limit(&most(70_000.0)), 50_000);
        assert!(heavy.reach_most(&most(70_000.0)) && !light.reach_most(&most(1e8)));
        assert!(!heavy.are_within(70_000.0) && light.are_within(200_000.0));
    }

    #[test]
    fn pixels_that_are_spared_cost_no_more_than_their_price() {
        // A share of about 20 / n escapes after n, of which the points show what escapes before 10^6: the cost is open n^2 / 80.
        let tail = tail(20.0);
        let tail = escapes(&tail);
        let bound = Bound { open: 0.01, price: 1e8, ..Bound::NONE };
        for limit in [10_000, 100_000, 10_000_000] {
            let expected = 0.01 * (limit as f64).powi(2) / 80.0;
            // The latest escape stands for twice its share.
            assert!((0.4..1.2).contains(&(tail.cost(limit, 0.01) / expected)), "{limit}");
        }
        let n = tail.affordable(&bound);
        assert!((0.8e6..1.5e6).contains(&n), "{n}");
        assert_eq!(tail.limit(&bound), 1_000_000);
        assert_eq!(tail.limit(&bound.allowing(2e6)), 2_000_000);
        assert_eq!(tail.limit(&Bound { most: 1e5, ..bound }), 100_000);
        assert_eq!(tail.limit(&Bound { open: 0.0, ..bound }), tail.limit(&Bound::NONE));
        // Where points escape at one rate, few escape early: those that escape later are not what the early ones let expect.
        let dwell = |i: u32| {
            #[expect(clippy::disallowed_methods, reason = "no value is compared with one of another machine")]
            let rest = (f64::from(i) / 80_000.0).ln();
            (-5e6 * rest) as u64 + 1
        };
        let steady = points((1..80_000).map(|i| (dwell(i), 1)));
        let steady = escapes(&steady);
        assert!(steady.cost(100_000, 1.0) < 1e7 && steady.cost(100_000_000, 1.0) > 1e9);
        assert!(steady.limit(&Bound { open: 1.0, ..bound }) >= 20_000_000);
    }

    #[test]
    fn a_few_late_points_raise_the_limit() {
        let mut points = points(std::iter::repeat_n((20, 1), 80_000));
        assert_eq!(escapes(&points).limit(&Bound::NONE), 1000);
        points.push(Point::with((30_000, 1)));
        assert_eq!(escapes(&points).limit(&Bound::NONE), 100_000);
    }

    #[test]
    fn without_escapes_the_limit_is_the_least() {
        let none = points([(0, 9); 20]);
        let none = escapes(&none);
        assert_eq!((none.limit(&Bound::NONE), none.latest(), none.count()), (1000, 0, 0));
    }

    #[test]
    fn shares_are_by_weight() {
        let some = points([(100, 9), (2000, 1), (5000, 1), (0, 9)]);
        let some = escapes(&some);
        assert_eq!(some.share_between(1000, 4000), 0.05);
        assert_eq!(some.share_between(0, u64::MAX), 0.55);
    }
}

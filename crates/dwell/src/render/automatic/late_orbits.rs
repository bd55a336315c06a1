//! What bounds the limit of a deep view: orbits that escape much later than others, or never, without a proof, take far longer for each step.

use super::bound::escapes;
use super::list::Point;
use super::points::WHAT;
use crate::base::error::InputError;
use crate::base::limits::collected;

/// The greatest limit relative to the median dwell. Beside a small copy of the set, whose views have a median dwell of some of its periods, chaotic orbits lose a bit in each
/// period: those of more than some 300 periods leave pairs of f64 with blocks undecided, and take every single step in fixed point, 10^4 to 10^5 times as long for each
/// period. Of 9,216 pixels of the copy of period 86,614 in kf-1e50, two such orbits took 4.5 of 4.7 s.
const MOST_OF_MEDIAN: f64 = 32.0;

/// Bits for each of which a step in fixed point takes so much longer as a step with hardly any bits takes: with all attempts 0.13 us, and 0.3 to 0.5 with 1,000 bits (Zen 3).
const BITS_OF_A_STEP: f64 = 300.0;
/// The steps with hardly any bits that chaotic orbits may take, as a mean over all pixels of the view: 0.13 ms.
const MOST_CHAOTIC: f64 = 1000.0;
/// The limit that chaotic orbits are allowed whatever they take, relative to the early dwell, and how much of it is near enough.
const LEAST_OF_EARLY: f64 = 2.0;
const NEAR: f64 = 0.75;

/// The dwell that one in so many points with an escape does not exceed; 0 without any.
fn dwell_of_rank(list: &[Point], one_in: usize) -> Result<u64, InputError> {
    let mut dwells = collected(list.iter().map(Point::dwell).filter(|dwell| *dwell > 0), WHAT)?;
    let rank = dwells.len() / one_in;
    Ok(if dwells.is_empty() { 0 } else { *dwells.select_nth_unstable(rank).1 })
}

/// The greatest limit that the median dwell allows, once fewer than one in a hundred points escapes in a stage: before, the median is that of a part of the view.
pub(super) fn most_by_median(list: &[Point], limit: u64) -> Result<f64, InputError> {
    let (escaped, late) = escapes(list, limit);
    if escaped == 0 || late * 100 > list.len() {
        return Ok(f64::INFINITY);
    }
    Ok(MOST_OF_MEDIAN * dwell_of_rank(list, 2)? as f64)
}

/// Orbits of a map with a fold that do not escape up to a limit and are not attracted to anything. Most of them escape some time in some views, and never in others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chaotic {
    /// Their share of the view.
    share: f64,
    /// The limit.
    limit: f64,
    /// The part of them that escapes in a step, as in the last quarter of the limit.
    rate: f64,
    /// The dwell by which differences between pixels have become as large as the set: a tenth of the points that escape do so by then.
    early: f64,
    /// The bits that are lost in a step after that.
    bits_lost: f64,
}

impl Chaotic {
    /// If all points of a list that do not escape are chaotic, in a view with so many bits of zoom. Nothing is known of them before some have escaped.
    pub(super) fn of(list: &[Point], limit: u64, bits: f64) -> Result<Option<Self>, InputError> {
        let count = |is_of: &dyn Fn(u64) -> bool| list.iter().filter(|point| is_of(point.dwell())).count() as f64;
        let (stay, quarter) = (count(&|dwell| dwell == 0), limit / 4);
        let late = count(&|dwell| (limit - quarter + 1..=limit).contains(&dwell));
        let rate = late / ((stay + 0.5 * late).max(1.0) * quarter.max(1) as f64);
        let early = dwell_of_rank(list, 10)? as f64;
        let share = stay / list.len().max(1) as f64;
        Ok((early > 0.0).then_some(Self { share, limit: limit as f64, rate, early, bits_lost: bits / early }))
    }

    /// With only a part of these orbits.
    pub(super) fn part(self, part: f64) -> Self {
        Self { share: part * self.share, ..self }
    }

    /// Steps after which an orbit that loses bits half as fast has lost so many more than those of the zoom.
    pub(super) fn until_lost(&self, more: f64) -> u64 {
        4096 + (2.0 * (self.early + more / self.bits_lost)) as u64
    }

    /// How much longer a step takes for each step more.
    fn growth(&self) -> f64 {
        self.bits_lost / BITS_OF_A_STEP
    }

    /// What an orbit takes, as a mean, until it escapes. Up to L it takes L (1 + growth (L - early)) steps with hardly any bits: this is the integral of the derivative of that times the
    /// part that has not escaped.
    fn until_escape(&self) -> f64 {
        let growth = self.growth();
        (1.0 + growth * (2.0 * self.limit - self.early)) / self.rate + 2.0 * growth / (self.rate * self.rate)
    }

    /// The greatest limit: none, if orbits take no more than [`MOST_CHAOTIC`] for each pixel of the view until all have escaped, and otherwise the one up to which they take that.
    /// A stage for less than twice as many iterations is not worth its time.
    pub(super) fn most(&self) -> f64 {
        let steps = MOST_CHAOTIC / self.share;
        if self.until_escape() <= steps {
            return f64::INFINITY;
        }
        let linear = 1.0 - self.growth() * self.early;
        let most = (linear.mul_add(linear, 4.0 * self.growth() * steps).sqrt() - linear) / (2.0 * self.growth());
        let least = LEAST_OF_EARLY * self.early;
        let most = most.max(least);
        if most < 2.0 * self.limit && self.limit >= NEAR * least { most.min(self.limit) } else { most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an orbit takes up to a limit, in steps with hardly any bits.
    fn steps(of: &Chaotic, limit: f64) -> f64 {
        limit * (1.0 + of.growth() * (limit - of.early))
    }

    #[test]
    fn chaotic_orbits_take_what_they_are_allowed() {
        let bounded = Chaotic { share: 0.5, limit: 1.0, rate: 0.0, early: 100.0, bits_lost: 1.0 };
        for (share, early, bits_lost) in
            [(0.5, 100.0, 1.0), (0.015, 10.0, 0.6), (1e-3, 2000.0, 0.25), (1e-6, 100.0, 0.5)]
        {
            let of = Chaotic { share, early, bits_lost, ..bounded };
            let taken = share * steps(&of, of.most());
            assert!((taken / MOST_CHAOTIC - 1.0).abs() < 1e-6, "{of:?}: {taken}");
        }
        // Where the early dwell alone takes more, twice as much is allowed.
        let late = Chaotic { share: 0.1, early: 100_000.0, bits_lost: 1e-3, ..bounded };
        assert!((late.most() - 200_000.0).abs() < 1e-6, "{}", late.most());
        // A stage of fewer than twice as many iterations is not begun.
        let near = Chaotic { limit: 150_000.0, ..late };
        assert!((near.most() - 150_000.0).abs() < 1e-6, "{}", near.most());
        // But where hardly any point has escaped.
        let first = Chaotic { limit: 102_400.0, ..late };
        assert!((first.most() - 200_000.0).abs() < 1e-6, "{}", first.most());
    }

    #[test]
    fn orbits_that_soon_escape_have_no_limit() {
        let leaving = Chaotic { share: 0.1, limit: 1024.0, rate: 1.0 / 600.0, early: 150.0, bits_lost: 0.65 };
        assert!(leaving.most().is_infinite());
        assert!(Chaotic { rate: 1.0 / 2000.0, ..leaving }.most() < 2000.0);
        // The mean of an exponential distribution by sums of steps.
        let (mut mean, mut left) = (0.0, 1.0);
        for step in 0..60_000 {
            let (now, next) = (leaving.limit + f64::from(step), leaving.limit + f64::from(step + 1));
            mean += (steps(&leaving, next) - steps(&leaving, now)) * left;
            left *= 1.0 - leaving.rate;
        }
        assert!((leaving.until_escape() / mean - 1.0).abs() < 0.01, "{mean} {}", leaving.until_escape());
    }

    #[test]
    fn ranks_and_rates_are_those_of_escapes() {
        let list: Vec<_> = [0, 7, 0, 5, 9, 0].map(|dwell| Point::with((dwell, 1))).into();
        assert_eq!([2, 10].map(|one_in| dwell_of_rank(&list, one_in).unwrap()), [7, 5]);
        assert_eq!(dwell_of_rank(&list[..1], 2).unwrap(), 0);
        // No more than one in a hundred in the last stage.
        assert!(most_by_median(&list, 16).unwrap().is_infinite());
        assert!((most_by_median(&list, 64).unwrap() - 7.0 * MOST_OF_MEDIAN).abs() < 1e-9);
        assert!(Chaotic::of(&list[..1], 10, 20.0).unwrap().is_none());
        let of = Chaotic::of(&list, 10, 20.0).unwrap().unwrap();
        assert!((of.share - 0.5).abs() < 1e-9 && (of.bits_lost - 4.0).abs() < 1e-9, "{of:?}");
        // Of 3.5 in the mean one escapes in the last two steps.
        assert!((of.rate - 1.0 / 7.0).abs() < 1e-9, "{of:?}");
    }
}

//! The colours of a deep view whose orbits are long: by a sample of the points.
//!
//! At fs-view25, with a mean dwell of 3.6 million, a point takes 5 ms, so that all 11,520 points for the colours took longer than a picture of 96x54. Quantiles of the dwells, of which the
//! colours are made, are known by some hundred points to a twentieth. Whether so few are taken depends on dwells alone, which are the same on every machine.

use super::list::{List, Outcome, Point};
use super::points::Computer;
use crate::base::error::Error;

/// Of so many points one is in the sample.
const SAMPLED: usize = 16;
/// The mean dwell of those that escape from which on the sample is enough.
const LONG: f64 = (1 << 21) as f64;

/// Iterates the sample of a list whose points are to be iterated up to a limit. Where orbits are long, the other points are skipped; otherwise they are left to be iterated.
pub(super) fn iterate(computer: &impl Computer, list: &mut List, limit: u64) -> Result<(), Error> {
    let mut sample = List::new(list.iter().step_by(SAMPLED).copied())?;
    computer.run(&mut sample, limit)?;
    list.iter_mut().step_by(SAMPLED).zip(sample.iter()).for_each(|(point, sampled)| *point = *sampled);
    if is_long(&sample) {
        list.iter_mut().enumerate().filter(|(number, _)| number % SAMPLED != 0).for_each(|(_, point)| {
            point.set(Outcome::Skipped);
        });
    }
    Ok(())
}

/// Whether the points that escape do so late, in the mean.
fn is_long(sample: &[Point]) -> bool {
    let escaped = || sample.iter().map(Point::dwell).filter(|dwell| *dwell > 0);
    let sum: f64 = escaped().map(|dwell| dwell as f64).sum();
    sum > LONG * escaped().count() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orbits_are_long_by_the_mean_of_those_that_escape() {
        let of = |dwells: &[u64]| is_long(&dwells.iter().map(|dwell| Point::with((*dwell, 1))).collect::<Vec<_>>());
        assert!(of(&[(1 << 21) + 1, 0, 0, 0]) && of(&[1 << 23, 1]));
        assert!(!of(&[]) && !of(&[0]) && !of(&[1 << 21, 1 << 21]) && !of(&[(1 << 22) - 1, 1]));
    }
}

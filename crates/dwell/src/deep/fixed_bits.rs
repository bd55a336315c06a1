//! The numbers of bits with which pixels are tried in fixed point, and which of them pay.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bits of the attempts beyond those of the view, of z^2 + c: an error of one unit may grow so much more than the size of a pixel's delta. Pixels come here from pairs, which have 106, and
/// each attempt iterates anew: at fs-view25 132 bits decide five of six pixels, which have two thirds of all steps, and 196 decide all in steps that take 1.2 times as long.
pub(super) const OF_SQUARES: &[i64] = &[134, 260, 400, 1200, 3000, 7000];
/// Of other formulas. Chaotic orbits of maps with a fold lose up to a bit in each step, and nearly as many of them need more bits than an attempt has as need fewer; with limbs cut off on the way, or eight orbits at a time, an attempt takes up to twice the time of the one before. Up to the last
/// of these, a step takes a tenth of the time of arbitrary precision and less.
pub(super) const OF_FORMULAS: &[i64] = &[130, 180, 250, 350, 500, 700, 1000, 1400, 2000, 2800, 4000, 5600, 8000];
/// The least of all.
pub(crate) const FEWEST: i64 = OF_FORMULAS[0];
const MOST_ATTEMPTS: usize = if OF_FORMULAS.len() > OF_SQUARES.len() { OF_FORMULAS.len() } else { OF_SQUARES.len() };

/// The pixels after which it is known how many an attempt decides, and the share of them with which it pays: those that it leaves took its time for nothing, some half of
/// what the next attempt takes.
const KNOWN: u64 = 256;
const LEAST_DECIDED: f64 = 0.4;

/// At how many pixels of a view each attempt was made, and how many it decided, by its number.
#[derive(Debug, Default)]
pub(super) struct FixedAttempts([[AtomicU64; 2]; MOST_ATTEMPTS]);

impl FixedAttempts {
    pub(super) fn add(&self, attempt: usize, pixels: u64, decided: u64) {
        let [of_pixels, of_decided] = &self.0[attempt];
        of_pixels.fetch_add(pixels, Ordering::Relaxed);
        of_decided.fetch_add(decided, Ordering::Relaxed);
    }

    /// Whether an attempt decides enough, as far as it is known.
    pub(super) fn pays(&self, attempt: usize) -> bool {
        let [pixels, decided] = self.0[attempt].each_ref().map(|count| count.load(Ordering::Relaxed));
        pixels < KNOWN || decided as f64 >= LEAST_DECIDED * pixels as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_that_decide_little_are_left_out() {
        let attempts = FixedAttempts::default();
        attempts.add(0, 200, 0);
        assert!(attempts.pays(0), "too few");
        attempts.add(0, 100, 50);
        attempts.add(1, 300, 150);
        assert_eq!([0, 1, 2, 12].map(|attempt| attempts.pays(attempt)), [false, true, true, true]);
    }
}

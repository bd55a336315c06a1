//! Chooses for each tile the faster of two ways that give the same dwells: every pixel, or proofs for blocks first.
//!
//! Which one is faster depends on the tile: proofs are worth their time where large parts of it have one dwell that takes long to
//! compute, and are lost where its pixels differ. Tiles that follow each other in a thread are alike, so one tile in
//! [`TRIAL`] is divided, each half is computed in one of the ways, and the sums of their times choose the way of the tiles up
//! to the next trial. Times of different tiles are never compared: a tile beside the boundary takes a hundred times as long as
//! one far away. No dwell depends on the choice.

use std::time::Duration;

/// One tile in so many is divided. With a way that takes twice as long in half of the pixels of a trial, that costs a
/// twentieth part of a trial's distance: 2 % here.
const TRIAL: u32 = 24;
/// The share of the sums that is kept at each trial. With 0.7 a thread went back and forth between the ways: the whole set at
/// 16384 x 16384 took 1.15 times as long as by proofs alone.
const KEPT: f64 = 0.9;
/// Proofs have to be faster by this factor: the times of halves vary by as much.
const MARGIN: f64 = 0.97;

/// A way to compute the dwells of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    EveryPixel,
    Proven,
}

impl Way {
    pub(super) fn other(self) -> Self {
        match self {
            Self::EveryPixel => Self::Proven,
            Self::Proven => Self::EveryPixel,
        }
    }
}

/// What the two ways have taken lately in a thread.
#[derive(Debug, Default)]
pub(super) struct Faster {
    /// Seconds for each pixel, summed over the trials: of every pixel, and of proofs.
    seconds: [f64; 2],
    /// Tiles since the last trial; a trial is due at 0.
    tiles: u32,
    /// Whether the first half of the next trial is computed by proofs: in turns, since the second half may be nearer to the
    /// boundary.
    proofs_first: bool,
}

impl Faster {
    /// The way of the next tile; and whether it is a trial, of whose halves the first is computed in that way and the second in
    /// the other.
    pub(super) fn next(&mut self) -> (Way, bool) {
        let is_trial = self.tiles == 0;
        self.tiles = (self.tiles + 1) % TRIAL;
        let by_proofs = if is_trial {
            self.seconds = self.seconds.map(|seconds| KEPT * seconds);
            self.proofs_first = !self.proofs_first;
            self.proofs_first
        } else {
            let [every, proven] = self.seconds;
            proven < MARGIN * every
        };
        (if by_proofs { Way::Proven } else { Way::EveryPixel }, is_trial)
    }

    /// Records a half of a trial.
    pub(super) fn record(&mut self, way: Way, time: Duration, pixels: usize) {
        self.seconds[usize::from(way == Way::Proven)] += time.as_secs_f64() / pixels as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of tiles that are computed by proofs, and of trials, of which a half is.
    fn proven(faster: &mut Faster, tiles: u32, seconds: [f64; 2]) -> (u32, u32) {
        let (mut whole, mut trials) = (0, 0);
        for _ in 0..tiles {
            let (way, is_trial) = faster.next();
            if is_trial {
                trials += 1;
                for way in [way, way.other()] {
                    let time = Duration::from_secs_f64(seconds[usize::from(way == Way::Proven)]);
                    faster.record(way, time, 1000);
                }
            } else {
                whole += u32::from(way == Way::Proven);
            }
        }
        (whole, trials)
    }

    #[test]
    fn the_faster_way_is_taken_and_the_other_is_tried_now_and_then() {
        let mut faster = Faster::default();
        assert_eq!(proven(&mut faster, 10 * TRIAL, [1.0, 0.5]), (10 * (TRIAL - 1), 10));
        // A few trials tell that it has changed, even where all takes much less time.
        let (late, _) = proven(&mut faster, 30 * TRIAL, [0.1, 0.3]);
        assert!(late <= 12 * TRIAL, "{late}");
        assert_eq!(proven(&mut faster, 10 * TRIAL, [0.1, 0.3]), (0, 10));
    }
}

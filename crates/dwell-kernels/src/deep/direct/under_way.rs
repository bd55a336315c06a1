//! An orbit that is left to another thread, or to a later queue.

use super::Goal;
use super::follower::Follower;
use super::running_error::RunningError;
use crate::deep::limbs::Fixed;

/// The error of cutting off what is below the limbs, less than a unit for each part, in units of the last limb.
const OF_CUT: f64 = 2.0;

/// An orbit under way: z in limbs, and what is known of it, with its error in their units.
#[derive(Clone, Debug)]
pub struct UnderWay {
    pub(super) z: [Fixed; 2],
    pub(super) follower: Follower,
}

impl UnderWay {
    /// At a point z_1.
    pub(super) fn new(goal: &Goal<'_>, point: [&Fixed; 2]) -> Self {
        Self { z: point.map(Fixed::clone), follower: Follower::new(goal, point[0].unit(), 1.0) }
    }

    /// Of z cut off to limbs, with a follower whose errors are in units of 2^unit, at most that of the limbs.
    pub(super) fn cut(goal: &Goal<'_>, z: [Fixed; 2], mut follower: Follower, unit: i32) -> Self {
        follower.cut(z[0].unit() - unit, OF_CUT, RunningError::of_step(goal.of_c()));
        Self { z, follower }
    }

    /// The follower with its errors in units of 2^unit, of which that of the limbs is so many.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only digits go further than limbs"))]
    pub(super) fn follower_in(&self, goal: &Goal<'_>, unit: i32, of_limbs: f64) -> Follower {
        let mut follower = self.follower;
        follower.cut(unit - self.z[0].unit(), 0.0, RunningError::of_step(goal.of_c() * of_limbs));
        follower
    }
}

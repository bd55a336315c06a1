//! Points whose orbits several threads follow, each taking the next one when it is free. Orbits differ in length by a factor of a hundred, so that the last ones decide when all are done: a
//! thread that follows several at once leaves some to those that have none.

use super::follower::Follower;
use crate::deep::limbs::Fixed;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The points of a list, by their places, for so many threads.
#[derive(Debug)]
pub struct Queue {
    count: usize,
    threads: usize,
    next: AtomicUsize,
    left: Mutex<Left>,
    has_changed: Condvar,
    /// Threads that wait for an orbit.
    waiting: AtomicUsize,
}

/// What threads that follow several orbits at once leave to others.
#[derive(Debug, Default)]
struct Left {
    orbits: Vec<LeftOrbit>,
    /// How many such threads there are.
    together: usize,
}

/// An orbit under way.
#[derive(Debug)]
pub(super) struct LeftOrbit {
    /// The place of its point.
    pub(super) place: usize,
    pub(super) z: [Fixed; 2],
    pub(super) follower: Follower,
}

/// A thread that follows several orbits at once, as others see it.
pub(super) struct Together<'a>(&'a Queue);

impl Queue {
    /// So many points for so many threads.
    #[must_use]
    pub fn new(points: usize, threads: usize) -> Self {
        Self {
            count: points,
            threads: threads.max(1),
            next: AtomicUsize::new(0),
            left: Mutex::default(),
            has_changed: Condvar::new(),
            waiting: AtomicUsize::new(0),
        }
    }

    /// The place of a point that no thread has taken.
    pub fn take(&self) -> Option<usize> {
        if self.next.load(Ordering::Relaxed) >= self.count {
            return None;
        }
        Some(self.next.fetch_add(1, Ordering::Relaxed)).filter(|place| *place < self.count)
    }

    /// For each thread, the points that no thread has taken, rounded up.
    pub(super) fn share(&self) -> usize {
        self.count.saturating_sub(self.next.load(Ordering::Relaxed)).div_ceil(self.threads)
    }

    /// An orbit that is left, or `None` when there will be none.
    pub(super) fn wait(&self) -> Option<LeftOrbit> {
        let mut left = self.left();
        while left.orbits.is_empty() && left.together > 0 {
            self.waiting.fetch_add(1, Ordering::Relaxed);
            left = self.has_changed.wait(left).unwrap_or_else(PoisonError::into_inner);
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
        left.orbits.pop()
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> Together<'a> {
    /// Notes that the thread may leave orbits, before it takes any point, and until this is dropped.
    pub(super) fn begin(queue: &'a Queue) -> Self {
        queue.left().together += 1;
        Self(queue)
    }

    /// The place of a point that no thread has taken.
    pub(super) fn take(&self) -> Option<usize> {
        self.0.take()
    }

    /// How many threads wait for an orbit of this one.
    #[inline(always)]
    pub(super) fn wanted(&self) -> usize {
        self.0.waiting.load(Ordering::Relaxed)
    }

    /// Whether all points are taken.
    pub(super) fn is_empty(&self) -> bool {
        self.0.share() == 0
    }

    /// Leaves an orbit to the others.
    pub(super) fn leave(&self, orbit: LeftOrbit) {
        self.0.left().orbits.push(orbit);
        self.0.has_changed.notify_one();
    }
}

impl Drop for Together<'_> {
    fn drop(&mut self) {
        self.0.left().together -= 1;
        self.0.has_changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::super::Goal;
    use super::*;
    use std::sync::atomic::AtomicBool;

    fn orbit(place: usize) -> LeftOrbit {
        let (stop, escape) = (AtomicBool::new(false), Fixed::zero(3));
        let goal = Goal {
            limbs: 3,
            error: 0.0,
            escape: 4.0,
            exact_escape: &escape,
            limit: 10,
            smooth: false,
            units: None,
            stop: &stop,
        };
        LeftOrbit { place, z: [Fixed::zero(3), Fixed::zero(3)], follower: Follower::new(&goal, -128, 0.0) }
    }

    #[test]
    fn points_are_taken_once_and_shares_are_of_those_that_are_left() {
        let queue = Queue::new(5, 2);
        assert_eq!(queue.share(), 3);
        assert_eq!([(); 3].map(|()| queue.take()), [Some(0), Some(1), Some(2)]);
        assert_eq!(queue.share(), 1);
        assert_eq!([(); 4].map(|()| queue.take()), [Some(3), Some(4), None, None]);
        assert_eq!(queue.share(), 0);
        assert!(queue.wait().is_none(), "no thread can leave one");
    }

    #[test]
    fn threads_wait_for_orbits_that_others_leave() {
        let queue = Queue::new(0, 3);
        let together = Together::begin(&queue);
        let taken = std::thread::scope(|scope| {
            let waiting: Vec<_> = (0..2).map(|_| scope.spawn(|| std::iter::from_fn(|| queue.wait()).count())).collect();
            while together.wanted() < 2 {
                std::thread::yield_now();
            }
            (0..5).for_each(|place| together.leave(orbit(place)));
            drop(together);
            waiting.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
        });
        assert_eq!(taken, 5);
        assert_eq!(queue.waiting.load(Ordering::Relaxed), 0);
    }
}

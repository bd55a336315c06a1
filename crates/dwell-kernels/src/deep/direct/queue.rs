//! Points whose orbits several threads follow, each taking the next one when it is free. Orbits differ in length by a factor of a hundred, so that the last ones decide when all are done: a
//! thread that follows several at once leaves some to those that have none. Or all stop where the first thread or lane is without an orbit, and a later queue goes on with the orbits under way.

use super::under_way::UnderWay;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The points of a list, by their places, for so many threads.
#[derive(Debug)]
pub struct Queue {
    count: usize,
    threads: usize,
    next: AtomicUsize,
    /// Orbits to go on with, by the places of their points.
    under_way: Mutex<HashMap<usize, UnderWay>>,
    left: Mutex<Left>,
    has_changed: Condvar,
    /// Threads that wait for an orbit.
    waiting: AtomicUsize,
    stopping: Stopping,
}

/// When the threads of a queue stop, and leave the orbits under way to a later queue.
#[derive(Debug)]
struct Stopping {
    /// The points at the beginning of the list that are decided before that, and how many of them are not.
    required: usize,
    required_open: AtomicUsize,
    /// Whether a point was wanted when there were no more.
    is_short: AtomicBool,
    is_due: AtomicBool,
}

/// What threads that follow several orbits at once leave to others.
#[derive(Debug, Default)]
struct Left {
    orbits: Vec<LeftOrbit>,
    /// How many threads there are that may leave some.
    together: usize,
}

/// An orbit under way.
#[derive(Debug)]
pub(super) struct LeftOrbit {
    /// The place of its point.
    pub(super) place: usize,
    pub(super) orbit: UnderWay,
}

/// A thread that follows several orbits at once, as others see it.
pub(super) struct Together<'a>(&'a Queue);

impl Queue {
    /// So many points for so many threads, which decide all of them.
    #[must_use]
    pub fn new(points: usize, threads: usize) -> Self {
        Self::that_stops((points, HashMap::new()), threads, points)
    }

    /// So many points for so many threads, and the orbits to go on with, by the places of their points: those that a queue for the same [`Goal`](super::Goal) left. The threads decide the first points, as many as
    /// required, and stop after that once there are fewer orbits than they could follow.
    #[must_use]
    pub fn that_stops((points, under_way): (usize, HashMap<usize, UnderWay>), threads: usize, required: usize) -> Self {
        Self {
            count: points,
            threads: threads.max(1),
            next: AtomicUsize::new(0),
            under_way: Mutex::new(under_way),
            left: Mutex::default(),
            has_changed: Condvar::new(),
            waiting: AtomicUsize::new(0),
            stopping: Stopping {
                required,
                required_open: AtomicUsize::new(required),
                is_short: AtomicBool::new(false),
                is_due: AtomicBool::new(false),
            },
        }
    }

    /// The orbits under way, by the places of their points, after the threads have stopped.
    #[must_use]
    pub fn into_under_way(self) -> HashMap<usize, UnderWay> {
        let mut under_way = self.under_way.into_inner().unwrap_or_else(PoisonError::into_inner);
        let left = self.left.into_inner().unwrap_or_else(PoisonError::into_inner);
        under_way.extend(left.orbits.into_iter().map(|LeftOrbit { place, orbit }| (place, orbit)));
        under_way
    }

    /// The place of a point that no thread has taken.
    pub fn take(&self) -> Option<usize> {
        let place = (self.next.load(Ordering::Relaxed) < self.count)
            .then(|| self.next.fetch_add(1, Ordering::Relaxed))
            .filter(|place| *place < self.count);
        if place.is_none() {
            self.stopping.is_short.store(true, Ordering::SeqCst);
            self.stopping.note();
        }
        place
    }

    /// The orbit to go on with of a point that was taken, if there is one.
    pub(super) fn take_under_way(&self, place: usize) -> Option<UnderWay> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner).remove(&place)
    }

    /// Notes that a point is decided.
    pub(super) fn note_decided(&self, place: usize) {
        if place < self.stopping.required {
            self.stopping.required_open.fetch_sub(1, Ordering::SeqCst);
            self.stopping.note();
        }
    }

    /// Whether the threads stop, and keep the orbits under way.
    #[inline(always)]
    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.is_due.load(Ordering::Relaxed)
    }

    /// The flag of [`Self::is_stopping`].
    pub(super) fn stopping(&self) -> &AtomicBool {
        &self.stopping.is_due
    }

    /// Keeps an orbit under way for a later queue.
    pub(super) fn keep(&self, place: usize, orbit: UnderWay) {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner).insert(place, orbit);
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
        if self.is_stopping() { None } else { left.orbits.pop() }
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stopping {
    /// Stops where that is due. With all points required that is when there is nothing to stop.
    fn note(&self) {
        if self.is_short.load(Ordering::SeqCst) && self.required_open.load(Ordering::SeqCst) == 0 {
            self.is_due.store(true, Ordering::Relaxed);
        }
    }
}

impl<'a> Together<'a> {
    /// A thread that follows several orbits, before it takes any point. Until this is dropped, others wait.
    pub(super) fn begin(queue: &'a Queue) -> Self {
        queue.left().together += 1;
        Self(queue)
    }

    pub(super) fn queue(&self) -> &'a Queue {
        self.0
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
    use super::super::follower::Follower;
    use super::super::{Goal, Iterated};
    use super::*;
    use crate::deep::limbs::Fixed;

    fn orbit() -> UnderWay {
        let (stop, escape) = (AtomicBool::new(false), Fixed::zero(3));
        let goal = Goal {
            iterated: Iterated::default(),
            limbs: 3,
            error: 0.0,
            escape: 4.0,
            exact_escape: &escape,
            limit: 10,
            smooth: false,
            units: None,
            stop: &stop,
        };
        UnderWay { z: [Fixed::zero(3), Fixed::zero(3)], follower: Follower::new(&goal, -128, 1.0) }
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
            (0..5).for_each(|place| together.leave(LeftOrbit { place, orbit: orbit() }));
            drop(together);
            waiting.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
        });
        assert_eq!(taken, 5);
        assert_eq!(queue.waiting.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn threads_stop_when_what_is_required_is_decided_and_there_are_no_more_points() {
        let queue = Queue::that_stops((4, HashMap::from([(1, orbit())])), 1, 2);
        assert_eq!([queue.take(), queue.take()], [Some(0), Some(1)]);
        assert!(queue.take_under_way(0).is_none());
        queue.keep(1, queue.take_under_way(1).unwrap());
        queue.note_decided(0);
        assert_eq!([(); 3].map(|()| queue.take()), [Some(2), Some(3), None]);
        assert!(!queue.is_stopping(), "one that is required is open");
        queue.note_decided(3);
        assert!(!queue.is_stopping(), "another one is decided");
        queue.note_decided(1);
        assert!(queue.is_stopping());
        Together::begin(&queue).leave(LeftOrbit { place: 2, orbit: orbit() });
        assert!(queue.wait().is_none(), "it is kept");
        let mut kept: Vec<_> = queue.into_under_way().into_keys().collect();
        kept.sort_unstable();
        assert_eq!(kept, [1, 2]);
        let queue = Queue::that_stops((1, HashMap::new()), 1, 0);
        assert_eq!([queue.take(), queue.take()], [Some(0), None]);
        assert!(queue.is_stopping(), "none is required");
    }
}

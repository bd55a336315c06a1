//! How much is computed at once. Work waits for its turn in the order in which it came, so that no page starves another; what nobody waits
//! for any more ends within a few milliseconds; what takes too long is ended.

use crate::failure::Failure;
use axum::http::StatusCode;
use dwell::Cancel;
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What a page waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The first pixels of a view: short, and before everything else.
    Coarse,
    /// All pixels of a view.
    View,
    /// What is known of a point.
    Point,
    /// Thumbnails and pictures: a single one at a time, when no view is computed or after some time.
    Aside,
}

/// Requests that wait at the same time; more are told to come again.
const MOST_WAITING: usize = 64;
/// Work of each kind that is done at the same time. The threads of the engine share the processors.
const AT_ONCE: [(Turn, usize); 4] = [(Turn::Coarse, 2), (Turn::View, 2), (Turn::Point, 1), (Turn::Aside, 1)];
/// How long thumbnails and pictures wait for views to end, and the time between two looks.
const MOST_PATIENCE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(25);
/// The parts of the memory that work may take, of which each gets one: as many as are done at once, a poster, and the references that are kept.
pub(crate) const SHARES: u64 = 8;

/// Admits work.
#[derive(Clone)]
pub(crate) struct Admission {
    turns: [Arc<Semaphore>; 4],
    waiting: Arc<AtomicUsize>,
}

impl Default for Admission {
    fn default() -> Self {
        Self { turns: AT_ONCE.map(|(_, count)| Arc::new(Semaphore::new(count))), waiting: Arc::default() }
    }
}

/// Cancels work when nobody waits for it any more.
pub(crate) struct CancelOnDrop(Option<Cancel>);

impl CancelOnDrop {
    pub(crate) fn new(cancel: Cancel) -> Self {
        Self(Some(cancel))
    }

    /// The work has ended by itself: what else has the same [`Cancel`] goes on.
    fn ended(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(cancel) = &self.0 {
            cancel.cancel();
        }
    }
}

/// Counts a request that waits, as long as it does.
struct Waiting(Arc<AtomicUsize>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What is done, and what waits.
#[derive(Debug, Serialize)]
pub(crate) struct Load {
    /// Turns that are taken: until the work has ended, also where nobody waits for it any more.
    computing: usize,
    /// Requests that wait for one.
    waiting: usize,
}

impl Admission {
    pub(crate) fn load(&self) -> Load {
        let taken = |(turn, count): (Turn, usize)| count - self.turns[turn as usize].available_permits();
        Load { computing: AT_ONCE.into_iter().map(taken).sum(), waiting: self.waiting.load(Ordering::Relaxed) }
    }

    /// Waits for a turn.
    ///
    /// # Errors
    /// When too many wait.
    async fn turn(&self, turn: Turn) -> Result<OwnedSemaphorePermit, Failure> {
        let waiting = Waiting(self.waiting.clone());
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= MOST_WAITING {
            return Err(Failure::busy());
        }
        let permit = self.turns[turn as usize].clone().acquire_owned().await;
        if turn == Turn::Aside {
            // They share the processors with the views, for which somebody looks at the screen.
            let _ = tokio::time::timeout(MOST_PATIENCE, self.no_views()).await;
        }
        drop(waiting);
        permit.map_err(|_| Failure::busy())
    }

    /// Waits until no view is computed.
    async fn no_views(&self) {
        let is_idle = |(turn, count): (Turn, usize)| self.turns[turn as usize].available_permits() == count;
        while !AT_ONCE.into_iter().take(2).all(is_idle) {
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Does work on a thread of its own when its turn has come. Where the future is dropped, the work is cancelled; the turn ends when the work
    /// has ended.
    ///
    /// # Errors
    /// Those of the work; when too many wait; when it takes longer than `longest`.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        turn: Turn,
        longest: Duration,
        cancel: Cancel,
        work: impl FnOnce(&Cancel) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let guard = CancelOnDrop::new(cancel.clone());
        let permit = self.turn(turn).await?;
        let task = tokio::task::spawn_blocking(move || {
            let done = work(&cancel);
            drop(permit);
            done
        });
        let done = tokio::time::timeout(longest, task).await;
        match done {
            Ok(Ok(done)) => {
                guard.ended();
                done
            }
            Ok(Err(_)) => Err(Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "internal error: a thread panicked")),
            Err(_) => {
                let seconds = longest.as_secs();
                let error = format!("this takes longer than the {seconds} seconds that a request may take");
                Err(Failure::new(StatusCode::SERVICE_UNAVAILABLE, error)
                    .hint("a lower limit or a smaller size takes less; a poster may take as long as it needs"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::time::Instant;

    fn on_runtime(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap().block_on(test);
    }

    /// Works until it is cancelled.
    fn endless(cancel: &Cancel) -> Result<(), Failure> {
        while !cancel.is_cancelled() {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    #[test]
    fn work_that_nobody_waits_for_ends_and_frees_its_turn() {
        on_runtime(async {
            let admission = Admission::default();
            let longest = Duration::from_secs(60);
            for _ in 0..5 {
                let work = admission.run(Turn::Aside, longest, Cancel::default(), endless);
                assert!(tokio::time::timeout(Duration::from_millis(20), work).await.is_err());
            }
            let begun = Instant::now();
            admission.run(Turn::Aside, longest, Cancel::default(), |_| Ok(())).await.unwrap();
            assert!(begun.elapsed() < Duration::from_secs(5));
        });
    }

    #[test]
    fn what_takes_too_long_is_ended() {
        on_runtime(async {
            let ended = Cancel::default();
            let done = Admission::default().run(Turn::View, Duration::from_millis(10), ended.clone(), endless).await;
            assert_eq!(done.unwrap_err().status, StatusCode::SERVICE_UNAVAILABLE);
            assert!(ended.is_cancelled());
        });
    }

    #[test]
    fn turns_come_in_order_and_too_many_are_refused() {
        // On one thread, so that a request is in the queue when it is counted, however busy the machine is.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let admission = Admission::default();
            let (order, first) = (Arc::new(Mutex::new(Vec::new())), Cancel::default());
            let longest = Duration::from_secs(60);
            let mut works = Vec::new();
            let spawn = |number: usize, cancel: Cancel| {
                let (admission, order) = (admission.clone(), order.clone());
                tokio::spawn(async move {
                    let work = move |cancel: &Cancel| {
                        if number == 0 {
                            endless(cancel)?
                        };
                        order.lock().unwrap().push(number);
                        Ok(())
                    };
                    admission.run(Turn::Aside, longest, cancel, work).await
                })
            };
            let has_waiting = async |count: usize| {
                while admission.load().computing == 0 || admission.load().waiting < count {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            };
            works.push(spawn(0, first.clone()));
            has_waiting(0).await;
            for number in 1..=MOST_WAITING {
                works.push(spawn(number, Cancel::default()));
                has_waiting(number).await;
            }
            let refused = spawn(99, Cancel::default()).await.unwrap();
            assert_eq!(refused.unwrap_err().status, StatusCode::SERVICE_UNAVAILABLE);
            first.cancel();
            for work in works {
                work.await.unwrap().unwrap();
            }
            assert!(order.lock().unwrap().is_sorted(), "{order:?}");
        });
    }
}

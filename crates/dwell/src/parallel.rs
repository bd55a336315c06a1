//! Running pieces of work on threads, first come first served. No thread outlives a call.

use std::sync::{Mutex, PoisonError};

/// Calls `work(state, piece)` for every piece, on `threads` threads, each with a `state` of its own from `start`.
/// Returns the final states, fewer than `threads` where the system refuses some. Pieces are handed out in order; a
/// piece is taken by whichever thread is free.
pub(crate) fn for_each<P: Send, S: Send>(
    threads: usize,
    pieces: impl Iterator<Item = P> + Send,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, P) + Sync,
) -> Vec<S> {
    let most = pieces.size_hint().1;
    let queue = Mutex::new(pieces);
    let run = || {
        let mut state = start();
        loop {
            // The guard is dropped before the work.
            let piece = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(piece) = piece else { return state };
            work(&mut state, piece);
        }
    };
    // No more threads than pieces.
    let threads = most.map_or(threads, |most| threads.min(most));
    if threads <= 1 {
        return vec![run()];
    }
    std::thread::scope(|scope| {
        // A thread that the system refuses is done without: the others take its pieces.
        let others: Vec<_> =
            (1..threads).map_while(|_| std::thread::Builder::new().spawn_scoped(scope, run).ok()).collect();
        let mut states = vec![run()];
        for other in others {
            match other.join() {
                Ok(state) => states.push(state),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        states
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_done_once() {
        for threads in [1, 2, 3, 8] {
            let states = for_each(threads, 0..1000_u64, Vec::new, |seen, piece| seen.push(piece));
            assert!(states.len() == threads.max(1));
            let mut all: Vec<u64> = states.into_iter().flatten().collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..1000));
        }
    }
}

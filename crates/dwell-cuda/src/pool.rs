//! Sessions that are kept open from call to call.
//!
//! A call takes a session out of the pool and returns it when it is done, so that no lock is held while it works and any
//! number of calls work at once. Any free session of the same shape serves a call that it is large enough for: many small
//! images in a row allocate nothing after the first. Freeing device memory waits for all work on the device, so sessions
//! are closed only when there are more than threads use, or when memory is full.

use crate::driver::Fault;
use crate::needs::{Capacity, Needs, Shape};
use crate::session::{Budget, DeviceSession, Loss, OpenSession, SessionSpec};
use dwell::DeviceReport;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A free session serves a request whose own session would take at least one part in so many of its memory, so that
/// tiles do not take the session of a large image between two of its bands.
const OVERSIZE: u64 = 4;
/// Sessions of fewer bytes serve any smaller request.
const SMALL: u64 = 16 << 20;

/// The sessions of a device.
pub(crate) struct SessionPool {
    /// The most sessions that are kept free.
    most: usize,
    /// Bytes of device memory that all sessions may have.
    memory: u64,
    /// Those that all sessions have.
    taken: Arc<AtomicU64>,
    /// Sessions that no call is using, the one used last at the end.
    free: Mutex<Vec<OpenedSession>>,
    /// Held while a session is opened.
    opening: Mutex<()>,
}

/// An open session.
pub(crate) struct OpenedSession {
    // Closed before its memory counts as free.
    session: Box<dyn DeviceSession>,
    shape: Shape,
    room: Capacity,
    reservation: Reservation,
}

/// Bytes of device memory that count as taken.
pub(crate) struct Reservation {
    bytes: u64,
    taken: Arc<AtomicU64>,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl OpenedSession {
    /// The session.
    pub(crate) fn session(&mut self) -> &mut dyn DeviceSession {
        self.session.as_mut()
    }

    /// Whether it can serve a request.
    fn serves(&self, needs: &Needs) -> bool {
        let bytes = needs.capacity.rounded().device_bytes(&needs.shape);
        self.shape == needs.shape
            && self.room.suffices(&needs.capacity)
            && self.reservation.bytes <= bytes.saturating_mul(OVERSIZE).max(SMALL)
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SessionPool {
    /// Keeps at most `most` sessions free; all sessions together have at most `memory` bytes.
    pub(crate) fn new(most: usize, memory: u64) -> Self {
        Self { most, memory, taken: Arc::default(), free: Mutex::default(), opening: Mutex::default() }
    }

    /// What a request needs within a budget; [`Fault::Memory`] when that is more than there may be.
    pub(crate) fn needs(&self, spec: &SessionSpec<'_>, budget: Budget) -> Result<Needs, Fault> {
        Needs::of(spec, budget, self.memory)
    }

    /// A session with the plan of a request loaded: a free one or a new one.
    pub(crate) fn take(
        &self,
        spec: &SessionSpec<'_>,
        needs: &Needs,
        device: &dyn OpenSession,
        report: &mut DeviceReport,
    ) -> Result<OpenedSession, Fault> {
        let mut opened = match self.take_free(spec, needs, false) {
            Some(opened) => opened,
            None => self.open(spec, needs, device, report)?,
        };
        opened.session.load(spec, needs)?;
        Ok(opened)
    }

    /// The free session that fits a request best: one with the plan, otherwise one with the colours, otherwise the
    /// smallest. One that has rows for another plan's next band is taken only with `any`.
    fn take_free(&self, spec: &SessionSpec<'_>, needs: &Needs, any: bool) -> Option<OpenedSession> {
        let mut free = lock(&self.free);
        let mut best: Option<(u64, usize)> = None;
        let mut same_colours = None;
        for (place, opened) in free.iter().enumerate().rev().filter(|(_, opened)| opened.serves(needs)) {
            let loss = opened.session.loss(spec.plan);
            if loss == Loss::SamePlan {
                return Some(free.remove(place));
            }
            if loss == Loss::Rows && !any {
                continue;
            }
            // Comparing colours takes microseconds: they are compared up to the first that are equal.
            if same_colours.is_none() && opened.session.has_colours(spec) {
                same_colours = Some(place);
            }
            let bytes = opened.reservation.bytes;
            if best.is_none_or(|(least, _)| bytes < least) {
                best = Some((bytes, place));
            }
        }
        same_colours.or(best.map(|(_, place)| place)).map(|place| free.remove(place))
    }

    fn open(
        &self,
        spec: &SessionSpec<'_>,
        needs: &Needs,
        device: &dyn OpenSession,
        report: &mut DeviceReport,
    ) -> Result<OpenedSession, Fault> {
        let _one_at_a_time = lock(&self.opening);
        // Another call may have returned a session meanwhile. A render that is between two bands loses the rows that its
        // next band mirrors only when there are too many sessions.
        let is_full = lock(&self.free).len() >= self.most;
        if let Some(opened) = self.take_free(spec, needs, is_full) {
            return Ok(opened);
        }
        let shape = needs.shape;
        let rounded = needs.capacity.rounded();
        let room = if needs.is_frugal || rounded.device_bytes(&shape) > self.memory { needs.capacity } else { rounded };
        let reservation = self.reserve(room.device_bytes(&shape))?;
        loop {
            match device.open(spec, needs, &room, report) {
                Ok(session) => return Ok(OpenedSession { session, shape, room, reservation }),
                Err(Fault::Memory) if self.close_oldest() => {}
                Err(fault) => return Err(fault),
            }
        }
    }

    /// Counts bytes as taken; closes free sessions until there are so many.
    pub(crate) fn reserve(&self, bytes: u64) -> Result<Reservation, Fault> {
        loop {
            let fits = |taken: u64| taken.checked_add(bytes).filter(|sum| *sum <= self.memory);
            if self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok() {
                return Ok(Reservation { bytes, taken: Arc::clone(&self.taken) });
            }
            if !self.close_oldest() {
                return Err(Fault::Memory);
            }
        }
    }

    /// Closes the free session that was used longest ago. False when there is none.
    fn close_oldest(&self) -> bool {
        let mut free = lock(&self.free);
        let oldest = if free.is_empty() { None } else { Some(free.remove(0)) };
        drop(free);
        oldest.is_some()
    }

    /// Keeps a session for later calls.
    pub(crate) fn give_back(&self, opened: OpenedSession) {
        let mut free = lock(&self.free);
        free.push(opened);
        let bytes = |free: &[OpenedSession]| free.iter().map(|opened| opened.reservation.bytes).sum::<u64>();
        let mut surplus = 0;
        // The session used last stays in any case: it may have rows that the next band mirrors.
        while free.len() - surplus > self.most.max(1)
            || (free.len() - surplus > 1 && bytes(&free[surplus..]) > self.memory / 2)
        {
            surplus += 1;
        }
        let surplus: Vec<_> = free.drain(..surplus).collect();
        // Sessions are closed without the lock, since closing waits for the device.
        drop(free);
        drop(surplus);
    }

    /// Closes all sessions that no call is using. False when there are none.
    pub(crate) fn clear(&self) -> bool {
        let free = std::mem::take(&mut *lock(&self.free));
        !free.is_empty()
    }
}

//! Deep sessions that are kept from call to call, and one that is opened ahead.
//!
//! Creating a context takes 0.1 to 0.15 s and the first allocations 0.03 (H200). A reference and its blocks take as long and more, and are computed by the processors: so a session is opened
//! meanwhile.

use super::session::{DeepSession, MOST_PIXELS};
use crate::driver::Fault;
use crate::pool::{SessionPool, lock};
use crate::session::OpenSession;
use dwell::DeviceReport;
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

/// Sessions that are kept for later calls, at most: each has memory for the pixels under way, and the blocks of the views it has seen last.
const MOST_KEPT: usize = 2;

/// A session that a thread opens, and what that took.
type Opening = JoinHandle<(Result<Box<dyn DeepSession>, Fault>, DeviceReport)>;

/// Sessions that no call is using.
#[derive(Default)]
pub(crate) struct DeepSessions {
    kept: Mutex<Vec<Box<dyn DeepSession>>>,
    opening: Mutex<Option<Opening>>,
}

impl DeepSessions {
    /// Closes all. False when there are none.
    pub(crate) fn clear(&self) -> bool {
        let ahead = self.opened(&mut DeviceReport::default());
        let kept = std::mem::take(&mut *lock(&self.kept));
        matches!(ahead, Ok(Some(_))) || !kept.is_empty()
    }

    /// One of them, if there is one. It waits for the one that is opened ahead if there is no other. A fault of that is returned, but for a lack of memory: the caller may open a smaller one.
    pub(super) fn take(&self, report: &mut DeviceReport) -> Result<Option<Box<dyn DeepSession>>, Fault> {
        let kept = lock(&self.kept).pop();
        if kept.is_some() { Ok(kept) } else { self.opened(report) }
    }

    pub(super) fn give_back(&self, session: Box<dyn DeepSession>) {
        let mut kept = lock(&self.kept);
        let surplus = if kept.len() < MOST_KEPT { None } else { Some(kept.remove(0)) };
        kept.push(session);
        // Closing waits for the device.
        drop(kept);
        drop(surplus);
    }

    /// Whether there is none yet, but one is being opened.
    pub(super) fn is_getting_ready(&self) -> bool {
        let is_opening = lock(&self.opening).as_ref().is_some_and(|opening| !opening.is_finished());
        is_opening && lock(&self.kept).is_empty()
    }

    /// Starts a thread that opens a session, unless there is one.
    pub(crate) fn open_ahead(&self, device: &Arc<dyn OpenSession>, memory: &Arc<SessionPool>) {
        let mut opening = lock(&self.opening);
        if opening.is_some() || !lock(&self.kept).is_empty() {
            return;
        }
        let (device, memory) = (Arc::clone(device), Arc::clone(memory));
        let open = move || {
            let mut report = DeviceReport::default();
            (device.open_deep(MOST_PIXELS, &memory, &mut report), report)
        };
        // Without a thread it is opened when it is needed.
        *opening = Builder::new().name("device".to_owned()).spawn(open).ok();
    }

    /// The session that a thread opens, if there is one and there was memory for it.
    fn opened(&self, report: &mut DeviceReport) -> Result<Option<Box<dyn DeepSession>>, Fault> {
        let opening = lock(&self.opening).take();
        let Some((session, of_opening)) = opening.and_then(|opening| opening.join().ok()) else { return Ok(None) };
        report.context_seconds += of_opening.context_seconds;
        report.load_seconds += of_opening.load_seconds;
        report.allocate_seconds += of_opening.allocate_seconds;
        match session {
            Ok(session) => Ok(Some(session)),
            Err(Fault::Memory) => Ok(None),
            Err(fault) => Err(fault),
        }
    }
}

impl Drop for DeepSessions {
    /// A process that ends while a thread creates a context can fail in the driver.
    fn drop(&mut self) {
        let _ = self.opened(&mut DeviceReport::default());
    }
}

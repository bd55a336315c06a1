//! A device session as the engine sees it: memory and kernels on a device, into which one plan after another is loaded,
//! and rows of the plan, started and finished in turns. Behind it is a CUDA device or, in tests, one that fails on request.

use crate::deep::session::DeepSession;
use crate::driver::Fault;
use crate::needs::{Capacity, Needs};
use crate::options::Options;
use crate::pool::SessionPool;
use dwell::{Cancel, DeviceReport, Painter, Plan, Points, PointsVisitor, Shortcuts};
use std::ops::Range;
use std::sync::{Arc, Weak};

/// Slots of a session: pieces of rows that can be in progress at once.
pub(crate) const SLOTS: usize = 2;

/// What a session delivers for its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Dwells.
    Dwells,
    /// Dwells and smooth values.
    SmoothValues,
    /// The picture's bytes.
    Picture,
}

/// What a session is to compute.
#[derive(Clone, Copy)]
pub(crate) struct SessionSpec<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) shortcuts: Shortcuts,
    pub(crate) options: Options,
    pub(crate) content: Content,
    /// The painter of [`Content::Picture`].
    pub(crate) painter: Option<&'a Painter>,
}

impl SessionSpec<'_> {
    /// Calls `visitor` for the points of the plan. The engine has refused points that are not given by coordinates.
    pub(crate) fn visit_points<T, V: PointsVisitor<Output = Result<T, Fault>>>(&self, visitor: V) -> Result<T, Fault> {
        let points = self.plan.points();
        points.visit(visitor).unwrap_or_else(|| Err(Fault::Lost(points.unsupported_by("cuda").to_string())))
    }
}

/// How much a session may deliver at once, and keep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Pixels delivered at once, about.
    pub(crate) pixels: u64,
    /// Whether memory is kept for these pixels only, never for the whole image.
    pub(crate) frugal: bool,
}

/// Rows that a session has finished.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DeliveredRows<'a> {
    /// Dwells, or the picture.
    pub(crate) bytes: &'a [u8],
    /// Smooth values.
    pub(crate) smooth: &'a [u8],
    /// For a picture: iterations that the plain loop needs, and number of samples that did not escape.
    pub(crate) totals: (u64, u64),
}

/// The identity of a plan: equal for clones of one plan, which share their points. It does not keep the points alive.
#[derive(Clone, Debug)]
pub(crate) struct PlanId {
    points: Weak<Points>,
    limit: u32,
}

impl PlanId {
    pub(crate) fn of(plan: &Plan) -> Self {
        Self { points: Arc::downgrade(plan.shared_points()), limit: plan.direct_limit() }
    }

    /// Whether this is the identity of a plan. The weak reference keeps the address from being used again.
    pub(crate) fn is_of(&self, plan: &Plan) -> bool {
        std::ptr::eq(self.points.as_ptr(), Arc::as_ptr(plan.shared_points())) && self.limit == plan.direct_limit()
    }

    /// Whether there are no plans of this identity any more.
    pub(crate) fn is_dropped(&self) -> bool {
        self.points.strong_count() == 0
    }
}

/// What would be lost if a session loaded a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// Nothing: it has loaded the same plan, and perhaps computed rows of it.
    SamePlan,
    /// Coordinates of a plan that no call continues with: it is dropped, or all its rows are done, or none are kept.
    Nothing,
    /// Rows of another plan, of which the plan's next rows may be mirror images.
    Rows,
}

/// State opened on a device for plans of one [`Shape`](crate::needs::Shape).
pub(crate) trait DeviceSession: Send {
    /// What would be lost if a plan were loaded.
    fn loss(&self, plan: &Plan) -> Loss;
    /// Whether the colours of a request are loaded, if it has any.
    fn has_colours(&self, spec: &SessionSpec<'_>) -> bool;
    /// Loads a plan, for which the session was opened large enough, unless it is loaded. No rows are in progress.
    fn load(&mut self, spec: &SessionSpec<'_>, needs: &Needs) -> Result<(), Fault>;
    /// Starts rows of the loaded plan in a free slot, at most [`Needs::rows`]. In most cases it returns before they are
    /// done.
    fn start(&mut self, slot: usize, rows: Range<u32>, cancel: &Cancel) -> Result<(), Fault>;
    /// Waits for the rows in a slot. The slot is free again once the borrow of the result ends.
    fn finish(&mut self, slot: usize) -> Result<DeliveredRows<'_>, Fault>;
    /// Adds the work since the last call to a report.
    fn report(&mut self, report: &mut DeviceReport);
}

/// A device on which sessions can be opened.
pub(crate) trait OpenSession: Send + Sync {
    /// Opens a session with room for so much, for plans of the same shape as a request. Calls are made one at a time.
    fn open(
        &self,
        spec: &SessionSpec<'_>,
        needs: &Needs,
        room: &Capacity,
        report: &mut DeviceReport,
    ) -> Result<Box<dyn DeviceSession>, Fault>;

    /// Opens a session with room for so many pixels of deep views, with memory out of `memory`.
    fn open_deep(
        &self,
        pixels: usize,
        memory: &SessionPool,
        report: &mut DeviceReport,
    ) -> Result<Box<dyn DeepSession>, Fault>;
}

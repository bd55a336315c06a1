//! The plan that a session has loaded: its task, and which of its rows are computed.

use crate::needs::Needs;
use crate::proof::BlockProof;
use crate::session::{Loss, PlanId, SessionSpec};
use crate::task::Task;
use dwell::{DirectPoints, Plan};
use dwell_kernels::Kernels;
use dwell_kernels::smooth::per_log2_power;
use std::ops::Range;

/// A plan in a session's memory.
pub(crate) struct LoadedPlan<N> {
    pub(crate) id: PlanId,
    pub(crate) needs: Needs,
    /// The plan's task, without memory and rows.
    pub(crate) task: Task<'static, N>,
    /// What blocks of its pixels are proved by.
    pub(crate) proof: BlockProof,
    pub(crate) per_log2_power: f64,
    /// Where the whole image is kept: its rows.
    pub(crate) whole: Option<WholeImage>,
    /// The end of the rows started last.
    next: u32,
}

/// The rows of an image that is kept whole.
pub(crate) struct WholeImage {
    /// Which rows are computed.
    computed: Vec<bool>,
    /// Rows that are mirror images of others, and the sum of the numbers of a row and its image.
    pub(crate) mirrored: (Range<u32>, u32),
}

impl<N: Kernels> LoadedPlan<N> {
    pub(crate) fn new(spec: &SessionSpec<'_>, points: &DirectPoints<N>, needs: &Needs) -> Self {
        let plan = spec.plan;
        let whole = needs.is_whole.then(|| WholeImage {
            computed: vec![false; plan.size().height as usize],
            mirrored: if spec.shortcuts.symmetry { plan.mirrored_rows() } else { (0..0, 0) },
        });
        Self {
            id: PlanId::of(plan),
            needs: *needs,
            task: Task::new(plan, points, spec.shortcuts),
            proof: BlockProof::new(plan, points, spec.shortcuts),
            per_log2_power: per_log2_power(points.map.formula.power()),
            whole,
            next: 0,
        }
    }

    /// The ranges of rows to compute so that these rows are known.
    pub(crate) fn claim(&mut self, rows: Range<u32>, infers: bool) -> Vec<Range<u32>> {
        // Rows requested a second time are recomputed.
        if rows.start < self.next {
            self.forget();
        }
        self.next = rows.end;
        match &mut self.whole {
            Some(whole) => whole.claim(rows, self.needs.list_rows, infers),
            None => vec![rows],
        }
    }

    /// What would be lost if another plan were loaded.
    pub(crate) fn loss(&self, plan: &Plan) -> Loss {
        let is_done = || self.whole.as_ref().is_none_or(|whole| self.next >= whole.height());
        if self.id.is_of(plan) {
            Loss::SamePlan
        } else if self.id.is_dropped() || is_done() {
            Loss::Nothing
        } else {
            Loss::Rows
        }
    }

    /// Forgets which rows are computed.
    pub(crate) fn forget(&mut self) {
        if let Some(whole) = &mut self.whole {
            whole.computed.fill(false);
        }
    }
}

impl WholeImage {
    /// Rows of the image.
    pub(crate) fn height(&self) -> u32 {
        u32::try_from(self.computed.len()).unwrap_or(u32::MAX)
    }

    /// The ranges of rows to compute so that these rows are known, with as many rows at once as `most`; marks them and
    /// their mirror images as computed.
    fn claim(&mut self, rows: Range<u32>, most: u32, infers: bool) -> Vec<Range<u32>> {
        // What is inferred depends on where rectangles begin: the whole image at once, whichever rows are requested.
        let rows = match infers && !rows.clone().all(|row| self.computed[row as usize]) {
            true => 0..self.height(),
            false => rows,
        };
        let mut claimed = Vec::new();
        let mut row = rows.start;
        while row < rows.end {
            if self.computed[row as usize] {
                row += 1;
                continue;
            }
            let most = most.max(rows.end - row) as usize;
            let unknown = self.computed[row as usize..].iter().take(most).take_while(|known| !**known).count();
            // The mirror image of a row in the same piece is computed with the row: the piece ends before it.
            let mut end = row + u32::try_from(unknown).unwrap_or(u32::MAX);
            let (mirrored, sum) = &self.mirrored;
            if row < mirrored.start && mirrored.start < end {
                end = mirrored.start;
            }
            for row in row..end {
                self.computed[row as usize] = true;
                let image = sum.wrapping_sub(row);
                if mirrored.contains(&image) {
                    self.computed[image as usize] = true;
                }
            }
            claimed.push(row..end);
            row = end;
        }
        claimed
    }
}

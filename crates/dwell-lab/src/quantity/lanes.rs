//! Vectors that go on after every lane has escaped: genova's loop ends when all lanes are beyond 4 at the same step, and a lane
//! that has become NaN is never beyond 4 again.

use super::bands::Workload;
use crate::convention::Escape;
use dwell::{Cancel, DirectPoints, Kernels, Map, PointsVisitor, Recipe};
use std::ops::Range;

/// The iterations of all vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Waste {
    /// Vectors that go on after every lane has escaped.
    pub(super) vectors: u64,
    /// Iterations up to the step at which every lane has escaped, or to the limit.
    needed: u64,
    /// Iterations beyond.
    wasted: u64,
}

impl Waste {
    /// Iterations beyond, in percent of the needed ones.
    pub(super) fn percent(&self) -> f64 {
        100.0 * self.wasted as f64 / self.needed as f64
    }
}

/// The waste in vectors of `lanes` pixels that follow each other in the published order, across the ends of rows. The last
/// vector may have fewer.
pub(super) fn waste(workload: &Workload, lanes: u32, cancel: &Cancel) -> Result<Waste, String> {
    let upward = workload.convention.upward;
    let bands: Box<dyn Iterator<Item = Range<u32>>> =
        if upward { Box::new(workload.bands().rev()) } else { Box::new(workload.bands()) };
    let (mut waste, mut pending, mut dwells) = (Waste::default(), Pending::default(), Vec::new());
    for rows in bands {
        workload.dwells_of(&workload.plan, rows.clone(), &mut dwells, cancel)?;
        let band = Band { workload, lanes: lanes as usize, rows, dwells: &dwells, pending, waste: &mut waste };
        pending = workload.plan.points().visit(band).ok_or("these points have no coordinates")?;
        if cancel.is_cancelled() {
            return Err(dwell::Error::Interrupted.to_string());
        }
    }
    workload.plan.points().visit(LastVector { workload, pending, waste: &mut waste });
    Ok(waste)
}

/// The pixels of a vector that is not complete yet: coordinates, which f64 holds exactly, and dwells.
#[derive(Default)]
struct Pending(Vec<([f64; 2], u32)>);

/// Rows of the field whose vectors are examined.
struct Band<'a> {
    workload: &'a Workload,
    lanes: usize,
    rows: Range<u32>,
    dwells: &'a [u32],
    pending: Pending,
    waste: &'a mut Waste,
}

impl PointsVisitor for Band<'_> {
    type Output = Pending;

    fn direct<N: Kernels>(mut self, points: &DirectPoints<N>) -> Pending {
        let width = self.workload.size().width as usize;
        let grid = points.axes.grid(0..width as u32, self.rows.clone());
        let count = self.rows.len();
        for i in 0..count {
            let row = if self.workload.convention.upward { count - 1 - i } else { i };
            for column in 0..width {
                self.pending.0.push((grid.point(column, row).map(N::to_f64), self.dwells[row * width + column]));
                if self.pending.0.len() == self.lanes {
                    self.waste.add(vector_iterations::<N>(&self.pending.0, &points.map, self.workload));
                    self.pending.0.clear();
                }
            }
        }
        self.pending
    }
}

/// The vector at the end of the image, if it is not complete.
struct LastVector<'a> {
    workload: &'a Workload,
    pending: Pending,
    waste: &'a mut Waste,
}

impl PointsVisitor for LastVector<'_> {
    type Output = ();

    fn direct<N: Kernels>(self, points: &DirectPoints<N>) {
        if !self.pending.0.is_empty() {
            self.waste.add(vector_iterations::<N>(&self.pending.0, &points.map, self.workload));
        }
    }
}

impl Waste {
    fn add(&mut self, [needed, done]: [u32; 2]) {
        self.needed += u64::from(needed);
        self.wasted += u64::from(done - needed);
        self.vectors += u64::from(done > needed);
    }
}

/// The iterations of a vector that are needed and those that are done.
fn vector_iterations<N: Kernels>(lanes: &[([f64; 2], u32)], map: &Map<N>, workload: &Workload) -> [u32; 2] {
    let limit = workload.plan.direct_limit();
    if lanes.iter().any(|(_, dwell)| *dwell == 0) {
        return [limit, limit];
    }
    let needed = lanes.iter().map(|(_, dwell)| *dwell).max().unwrap_or(limit);
    let four = N::nearest(4.0);
    let is_beyond = |norm: N| if workload.convention.escape == Escape::AtLeast { norm >= four } else { norm > four };
    let c = |of: &([f64; 2], u32)| of.0.map(N::nearest);
    let mut orbits: Vec<[N; 2]> = lanes.iter().map(c).collect();
    for n in 1..=limit {
        let norms = || orbits.iter().map(|z| norm(*z, map.recipe));
        if n >= needed && norms().all(is_beyond) {
            return [needed, n];
        }
        // NaN stays NaN, so the vector goes on to the limit.
        if norms().any(|norm| norm.to_f64().is_nan()) {
            return [needed, limit];
        }
        for (z, of) in orbits.iter_mut().zip(lanes) {
            *z = step(*z, c(of), map.recipe);
        }
    }
    [needed, limit]
}

/// A step of a recipe.
fn step<N: Kernels>([x, y]: [N; 2], [a, b]: [N; 2], recipe: Recipe) -> [N; 2] {
    let twice = x + x;
    match recipe {
        Recipe::Fused => [x.fma(x, (-y).fma(y, a)), twice.fma(y, b)],
        Recipe::Separate => [x * x + (a - y * y), twice * y + b],
    }
}

/// |z|^2 in a recipe.
fn norm<N: Kernels>([x, y]: [N; 2], recipe: Recipe) -> N {
    match recipe {
        Recipe::Fused => x.fma(x, y * y),
        Recipe::Separate => x * x + y * y,
    }
}

//! Proofs for blocks of points: that all points of a block have one dwell, or which dwell each has, from one orbit for the
//! block. What is proved is a statement about the *computed* orbits, every rounding included, so that the dwells are those of
//! [`crate::naive`]. docs/proven.md has the theorem, its proof and measured shares.
//!
//! # The model
//!
//! The points c of a block are within r of its centre c_0; d = c - c_0. For each n, the computed z_n of every point is
//!
//! ```text
//! z_n(c) = Z + D d + Q d^2 + e,   |e| <= E.
//! ```
//!
//! At n = 1, Z = c_0, D = 1, Q = 0 and E = 0, exactly. With f(z) = z^N and w = D d + Q d^2 + e, Taylor's formula for
//! f(Z + w) gives the model at n + 1:
//!
//! ```text
//! Z' = f(Z) + c_0       D' = f'(Z) D + 1       Q' = f'(Z) Q + f''(Z)/2 D^2
//! E' = |f'(Z)| E  +  |f''(Z)|/2 (q + E) (2g + q + E)  +  B(N, 3) M^(N-3) (g + q + E)^3  +  roundings
//! ```
//!
//! where g >= |D| r, q >= |Q| r^2, M = |Z| + g + q + E, and B are binomial coefficients. The second term is what w^2 has
//! beyond (D d)^2: |w - D d| |w + D d|. In the plane of a Julia set, D' = f'(Z) D, and c is exact.
//!
//! *Folds.* For the Burning Ship and the Tricorn, D is a real 2x2 matrix, Q is left out, and the second term is
//! B(N, 2) M^(N-2) (g + E)^2. |x| + i|y| is linear on a disc that meets no axis. Where the disc meets one, the model goes on
//! with D = 0 and E = g + E: a fold moves two points no farther apart.
//!
//! # Roundings
//!
//! u is the unit roundoff of the number. A computed step gives f(z) + c but for at most k u (|z|^N + |c|), for every formula
//! and both recipes, with k = 3N + 4: a complex product is computed to within sqrt(5) u of its modulus in the recipe
//! `separate` and 2 u in `fused` (Brent, Percival and Zimmermann 2007; Jeannerod, Kornerup, Louvet and Muller 2017), hence
//! w^j, by squarings and products, to within 3 (j - 1) u; and the last operation adds c with at most 3.9 u |w^N| + 2 u |c|.
//! 0.1 N u is more than the terms in u^2. z_n and Z are computed in this way, and |z_n| and |Z| are at most M: together 2 k u
//! (M^N + |c|). D' and Q' are computed to within k u of the sum of the moduli of their terms, times r and r^2. Folds are
//! exact. Results below the smallest normal number lose at most its spacing, which a constant covers.
//!
//! E itself is a sum of products of positive numbers and is multiplied by 1 + (8N + 72) u in each step, which is more than its
//! own roundings.
//!
//! # What follows
//!
//! With R' = R (1 - 40 u) and R'' = R (1 + 40 u), which is more than the roundings of a test in either recipe:
//!
//! - M <= R' for every k < n and |Z| - (g + q + E) > R'' at n: every point has dwell n (`pass.rs`);
//! - M <= R' for every k up to the limit: every point has dwell 0;
//! - the disc meets R: the points are decided one by one, from Z + D d + Q d^2 and E, as long as E is small (`resolve.rs`);
//! - a *trap*: from any n on, with E enlarged to s, p steps within R' give |Z_{n+p} - Z_n| + |D_{n+p} - D_n| r +
//!   |Q_{n+p} - Q_n| r^2 + E_{n+p} <= s. Then for each c the disc of radius s around Z_n + D_n d + Q_n d^2 is mapped into
//!   itself by p computed steps, so no orbit leaves it: dwell 0 at every limit (`trap.rs`);
//! - the block is inside the main cardioid or the period-2 disc ([`crate::interior`]).
//!
//! Otherwise the block is divided into four, down to 8 x 8 points. The points that remain are listed, and computed as usual.
//!
//! # How
//!
//! Each lane of a vector is a block. The waiting blocks are on a stack, so that few are kept and the ones at hand are close
//! together. Parts of blocks of 16 x 16 go on from the model of the whole, at the last n where E was small: Z' = Z + D d + Q d^2
//! and D' = D + 2 Q d at the centre of the part. The others start again, since E would be that of the larger block.
//!
//! # What was tried
//!
//! [-1.5,0.5]x[-1,1], 4096^2, limit 512, f64, one thread of an Intel Xeon, avx512. Proved: the share of all pixels; cost:
//! nanoseconds a pixel of the image. Every pixel with all shortcuts costs 5.5.
//!
//! | | proved | cost |
//! |---|---|---|
//! | D and E, parts go on from a block once E > g / 8 | 74 % | 1.9 |
//! | D, Q and E | 76 % | 1.6 |
//! | D, Q and E, parts start again from n = 1 | 80 % | 1.6 |
//! | parts of 16 x 16 go on from the last model with E < g / 50 | 79 % | 1.4 |
//! | traps wait until the orbit has converged, instead of dividing the block at once | 80 % | 1.2 |
//! | blocks of 4 x 4, too | 82 % | 3.0 |
//! | points of blocks that meet R decided by the model | 88 % | 2.3 |
//! | one function with the instructions of the level, not one for each call | 88 % | 1.2 |
mod geometry;
mod group;
mod model;
mod pass;
mod resolve;
mod trap;

use crate::enclosure::unit;
use crate::escape::{KernelSettings, MAX_SIDE};
use crate::formula::{Fold, Formula};
use crate::grid::Grid;
use crate::interior::Interior;
use crate::level::{Kernel, Level, separately};
use crate::number::Number;
use crate::recipe::{Fused, Powers, Quadratic, Rule, Unfolded};
use crate::vector::{MAX_LANES, Vector};
use fearless_simd::Simd;
use geometry::{Layer, rectangle};
use group::Group;
use model::{Bounds, Model, Parts, product_plus};
use pass::{Ends, Orders, follow};
use resolve::{NOT_ESCAPED, Points, UNDECIDED, resolve};
use std::collections::TryReserveError;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use trap::{Trapped, trap};

/// The side of the largest blocks, a power of two.
const LARGEST: usize = 64;
/// The side of the smallest blocks.
const SMALLEST: usize = 8;
/// The number of sizes of blocks.
const LAYERS: usize = (LARGEST / SMALLEST).ilog2() as usize + 1;
/// The side of blocks whose parts go on from their model. Parts of larger blocks start again, with models of their own, which
/// are sharper: there are few of them.
const INHERITING: usize = 16;
/// How large E may be, relative to |D| r, in a model that is handed on.
const TOLERANCE: f64 = 0.02;
/// Blocks for which the queues have space: a group of parts of each size and the largest blocks of the largest grid.
const QUEUE: usize = 1024;
/// The vectors of a group.
const VECTORS: usize = 2;
/// The number of steps after which a block is examined for a trap for the first time; then whenever n has doubled.
const FIRST_TRAP: u32 = 48;
/// The n from which on a block in which no trap is found is divided, since its parts may be attracted sooner.
const LAST_TRAP: u32 = 384;

/// A block with its model at one n.
#[derive(Clone, Copy, Debug)]
struct Block<N> {
    model: Model<N>,
    n: u32,
    column: u16,
    row: u16,
    layer: u8,
}

/// Buffers for [`crate::Kernels::prove_blocks`].
#[derive(Debug)]
pub struct BlockWorkspace<N> {
    layers: [Layer<N>; LAYERS],
    /// Blocks to be iterated, last in first out.
    waiting: Vec<Block<N>>,
    /// Blocks to be examined for a trap.
    bounded: Vec<Block<N>>,
    /// The points of which nothing was proved, as columns and rows.
    unproved: Vec<(u32, u32)>,
    /// Blocks that meet the escape radius, to be resolved.
    straddling: Vec<Block<N>>,
    counts: BlockCounts,
}

/// Points by what was proved of them, of all grids so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlockCounts {
    /// Points of blocks of which all escape with one dwell, by the side of the block: 64, 32, 16, 8.
    pub escaped: [u64; LAYERS],
    /// Points of blocks that do not escape, by the side of the block.
    pub inside: [u64; LAYERS],
    /// Points decided one by one by the model of their block.
    pub resolved: u64,
    /// Points of which nothing was proved.
    pub unproved: u64,
}

impl<N: Number> Default for BlockWorkspace<N> {
    fn default() -> Self {
        Self {
            layers: std::array::from_fn(|_| Layer::new()),
            waiting: Vec::new(),
            bounded: Vec::new(),
            unproved: Vec::new(),
            straddling: Vec::new(),
            counts: BlockCounts::default(),
        }
    }
}

impl<N: Number> BlockWorkspace<N> {
    /// The bytes that a workspace takes after grids of up to `width` columns and `height` rows.
    #[must_use]
    pub fn bytes(width: usize, height: usize) -> usize {
        let layers: usize = (0..LAYERS).map(|i| Layer::<N>::bytes(width, height, LARGEST >> i)).sum();
        layers + 2 * QUEUE * size_of::<Block<N>>() + width * height * size_of::<(u32, u32)>()
    }

    /// What was proved so far.
    #[must_use]
    pub fn counts(&self) -> BlockCounts {
        self.counts
    }

    /// The points of the last grid of which nothing was proved, as columns and rows.
    #[must_use]
    pub fn unproved(&self) -> &[(u32, u32)] {
        &self.unproved
    }
}

/// Implements [`crate::Kernels::prove_blocks`].
pub(crate) fn prove<N: Number>(
    level: Level,
    settings: KernelSettings<N>,
    workspace: &mut BlockWorkspace<N>,
    grid: Grid<'_, N>,
    out: &mut [&mut [u32]],
    stop: &AtomicBool,
) -> Result<bool, TryReserveError> {
    let (width, height) = (grid.width(), grid.height());
    assert!(width <= MAX_SIDE && height <= MAX_SIDE, "a grid of {width} x {height} points is too large");
    assert!(grid.monotonic, "the points of a block are bounded by its ends");
    assert!(
        out.len() == height && out.iter().all(|row| row.len() == width),
        "the shape of `out` differs from that of the grid"
    );
    workspace.unproved.clear();
    if width == 0 || height == 0 {
        return Ok(true);
    }
    let greatest_c = greatest_modulus(&grid);
    for (i, layer) in workspace.layers.iter_mut().enumerate() {
        layer.fill(&grid, LARGEST >> i, greatest_c)?;
    }
    workspace.unproved.try_reserve(width * height)?;
    for queue in [&mut workspace.waiting, &mut workspace.bounded] {
        queue.clear();
        queue.try_reserve(QUEUE)?;
    }
    let radius = workspace.layers[0].radius.to_f64();
    let of_constant = settings.map.julia.map_or(greatest_c, |[re, im]| re.to_f64().hypot(im.to_f64()));
    let bounds = Bounds::new(&settings, of_constant, radius, Parts::All);
    let formula = settings.map.formula;
    let prover = Prover { settings, bounds, workspace, grid, out, stop };
    Ok(if (formula.fold(), formula.power()) == (Fold::None, 2) {
        level.run(WithRule { rule: Quadratic::<Unfolded, Fused>::RULE, prover })
    } else {
        level.run(WithRule { rule: Powers::<Fused>::of(formula), prover })
    })
}

/// A bound on |c| over a grid.
fn greatest_modulus<N: Number>(grid: &Grid<'_, N>) -> f64 {
    let [re, im] = grid.extent().map(|[least, most]| least.abs().max(most.abs()));
    re.hypot(im) * (1.0 + 1e-12)
}

struct Prover<'a, 'b, N> {
    settings: KernelSettings<N>,
    bounds: Bounds<N>,
    workspace: &'a mut BlockWorkspace<N>,
    grid: Grid<'a, N>,
    out: &'a mut [&'b mut [u32]],
    stop: &'a AtomicBool,
}

struct WithRule<'a, 'b, N, R> {
    rule: R,
    prover: Prover<'a, 'b, N>,
}

impl<N: Number, R: Rule> Kernel for WithRule<'_, '_, N, R> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(self, simd: S) -> bool {
        let Self { rule, mut prover } = self;
        // One function with the instructions of the level: what is done block by block is as much work as the vectors.
        separately(
            simd,
            #[inline(always)]
            || prover.prove(simd, rule),
        )
    }
}

/// The blocks of a group, in the order of its lanes.
struct Taken<N> {
    blocks: [Option<Block<N>>; VECTORS * MAX_LANES],
}

impl<N: Number> Prover<'_, '_, N> {
    /// Proves blocks until none is left. Returns false if `stop` was set.
    #[inline(always)]
    fn prove<S: Simd, R: Rule>(&mut self, simd: S, rule: R) -> bool {
        let at_once = VECTORS * Vector::<S, N>::LEN;
        let mut points = Points::new();
        self.start();
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return false;
            }
            let [waiting, bounded] = [self.workspace.waiting.len(), self.workspace.bounded.len()];
            let mut group = Group::<N, VECTORS>::new();
            if bounded >= at_once || waiting == 0 {
                if bounded == 0 {
                    return true;
                }
                let blocks = self.take::<S>(&mut group, true);
                let trapped = trap(simd, rule, &self.bounds, &group);
                self.finish_traps::<S>(&blocks, &trapped);
            } else {
                let blocks = self.take::<S>(&mut group, false);
                let orders = self.orders::<S>(&blocks);
                let ends = follow(simd, rule, &self.bounds, &mut group, &orders);
                self.finish_pass::<S>(&blocks, &group, &ends);
                while let Some(block) = self.workspace.straddling.pop() {
                    self.resolve_block(simd, rule, &block, &mut points);
                }
            }
        }
    }

    /// Puts the largest blocks of the grid into the queue.
    #[inline(always)]
    fn start(&mut self) {
        let BlockWorkspace { layers, waiting, .. } = &mut *self.workspace;
        let [columns, rows] = layers[0].size();
        for row in 0..rows {
            for column in 0..columns {
                let model = Model::first(layers[0].centre(column, row), self.settings.map.formula);
                waiting.push(Block { model, n: 1, column: column as u16, row: row as u16, layer: 0 });
            }
        }
    }

    /// Takes blocks out of a queue into a group.
    #[inline(always)]
    fn take<S: Simd>(&mut self, group: &mut Group<N, VECTORS>, bounded: bool) -> Taken<N> {
        let BlockWorkspace { layers, waiting, bounded: with_bound, .. } = &mut *self.workspace;
        let queue = if bounded { with_bound } else { waiting };
        let lanes = Vector::<S, N>::LEN;
        let mut taken = Taken { blocks: [None; VECTORS * MAX_LANES] };
        for (i, place) in taken.blocks[..VECTORS * lanes].iter_mut().enumerate() {
            let Some(block) = queue.pop() else { break };
            let layer = &layers[usize::from(block.layer)];
            let centre = layer.centre(block.column.into(), block.row.into());
            group.set([i / lanes, i % lanes], &block.model, self.settings.map.c(centre), layer.radius);
            *place = Some(block);
        }
        taken
    }

    /// The next n at which a block that has not escaped is examined.
    #[inline(always)]
    fn next_stop(&self, n: u32) -> u32 {
        let mut stop = FIRST_TRAP;
        while stop <= n {
            stop = stop.saturating_mul(2);
        }
        stop.min(self.settings.limit).min(n.saturating_add(1 << 14))
    }

    #[inline(always)]
    fn orders<S: Simd>(&self, taken: &Taken<N>) -> Orders<N, VECTORS> {
        let lanes = Vector::<S, N>::LEN;
        let none = [[N::default(); MAX_LANES]; VECTORS];
        let mut orders = Orders { steps: none, tolerance: none };
        for (i, block) in taken.blocks.iter().enumerate() {
            let Some(block) = block else { break };
            let [vector, lane] = [i / lanes, i % lanes];
            orders.steps[vector][lane] = N::nearest(f64::from(self.next_stop(block.n) - block.n));
            orders.tolerance[vector][lane] = N::nearest(TOLERANCE);
        }
        orders
    }

    #[inline(always)]
    fn side(&self, block: &Block<N>) -> usize {
        LARGEST >> block.layer
    }

    #[inline(always)]
    fn finish_pass<S: Simd>(&mut self, taken: &Taken<N>, group: &Group<N, VECTORS>, ends: &Ends<N, VECTORS>) {
        let lanes = Vector::<S, N>::LEN;
        for (i, block) in taken.blocks.iter().enumerate() {
            let Some(block) = block else { break };
            let [vector, lane] = [i / lanes, i % lanes];
            let steps = ends.steps[vector][lane].to_f64() as u32;
            let start = *block;
            let block = Block { model: group.get([vector, lane]), n: block.n + steps, ..start };
            if ends.remaining[vector] >> lane & 1 == 1 {
                if block.n == self.settings.limit || self.is_interior(&block) {
                    self.fill(&block, 0);
                } else {
                    self.workspace.bounded.push(block);
                }
            } else if ends.escaped[vector] >> lane & 1 == 1 {
                self.fill(&block, block.n);
            } else {
                if self.side(&block) == SMALLEST {
                    self.workspace.straddling.push(block);
                    continue;
                }
                let n = start.n + ends.sharp_steps[vector][lane].to_f64() as u32;
                let sharp = Block { model: ends.sharp.get([vector, lane]), n, ..start };
                self.divide(&sharp, false);
            }
        }
    }

    #[inline(always)]
    fn finish_traps<S: Simd>(&mut self, taken: &Taken<N>, trapped: &Trapped<VECTORS>) {
        let lanes = Vector::<S, N>::LEN;
        for (i, block) in taken.blocks.iter().enumerate() {
            let Some(block) = block else { break };
            let [vector, lane] = [i / lanes, i % lanes];
            if trapped.proved[vector] >> lane & 1 == 1 {
                self.fill(block, 0);
            } else if trapped.too_large[vector] >> lane & 1 == 1 || block.n >= LAST_TRAP {
                self.divide(block, true);
            } else {
                self.workspace.waiting.push(*block);
            }
        }
    }

    /// Writes the dwells of the points that the model of a block decides, and lists the others.
    #[inline(always)]
    fn resolve_block<S: Simd, R: Rule>(&mut self, simd: S, rule: R, block: &Block<N>, points: &mut Points<N>) {
        let layer = &self.workspace.layers[usize::from(block.layer)];
        let (centre, radius) = (layer.centre(block.column.into(), block.row.into()), layer.radius);
        let [columns, rows] = rectangle(&self.grid, self.side(block), block.column.into(), block.row.into());
        if block.model.e > self.bounds.greatest_error {
            self.leave([columns, rows]);
            return;
        }
        points.count = columns.len() * rows.len();
        let width = columns.len();
        for (i, row) in rows.clone().enumerate() {
            let [a, b] = [self.grid.re_of_row[row], self.grid.im_of_row[row]];
            let [re, im] = &mut points.differences;
            let [of_re, of_im] = [self.grid.re_of_column, self.grid.im_of_column].map(|of| &of[columns.clone()]);
            for (d, v) in re[i * width..].iter_mut().zip(of_re) {
                *d = *v + a - centre[0];
            }
            for (d, v) in im[i * width..].iter_mut().zip(of_im) {
                *d = *v + b - centre[1];
            }
        }
        points.c = self.settings.map.c(centre);
        points.radius = radius;
        points.left = self.settings.limit - block.n;
        resolve(simd, rule, &self.bounds, &block.model, points);
        let mut undecided = 0;
        for (i, row) in rows.enumerate() {
            let steps = &points.steps[i * width..(i + 1) * width];
            let mut any = 0;
            for (out, steps) in self.out[row][columns.clone()].iter_mut().zip(steps) {
                *out = if *steps == NOT_ESCAPED { 0 } else { block.n + *steps };
                any |= u32::from(*steps == UNDECIDED);
            }
            if any != 0 {
                for (column, steps) in columns.clone().zip(steps) {
                    if *steps == UNDECIDED {
                        undecided += 1;
                        self.workspace.unproved.push((column as u32, row as u32));
                    }
                }
            }
        }
        self.workspace.counts.unproved += undecided;
        self.workspace.counts.resolved += points.count as u64 - undecided;
    }

    /// Lists points of which nothing is proved.
    #[inline(always)]
    fn leave(&mut self, [columns, rows]: [Range<usize>; 2]) {
        self.workspace.counts.unproved += (columns.len() * rows.len()) as u64;
        for row in rows {
            self.workspace.unproved.extend(columns.clone().map(|column| (column as u32, row as u32)));
        }
    }

    /// Whether all points of a block are proved to be interior.
    fn is_interior(&self, block: &Block<N>) -> bool {
        let map = &self.settings.map;
        if map.formula != Formula::MANDELBROT || map.julia.is_some() {
            return false;
        }
        let layer = &self.workspace.layers[usize::from(block.layer)];
        let centre = layer.centre(block.column.into(), block.row.into());
        Interior::contains_disc(centre, layer.radius, map.recipe)
    }

    /// Writes a dwell for all points of a block.
    #[inline(always)]
    fn fill(&mut self, block: &Block<N>, dwell: u32) {
        let [columns, rows] = rectangle(&self.grid, self.side(block), block.column.into(), block.row.into());
        let of = if dwell == 0 { &mut self.workspace.counts.inside } else { &mut self.workspace.counts.escaped };
        of[usize::from(block.layer)] += (columns.len() * rows.len()) as u64;
        for row in &mut self.out[rows] {
            row[columns.clone()].fill(dwell);
        }
    }

    /// Divides a block into four, whose models follow from its model. A block of the smallest size is left unproved.
    #[inline(always)]
    fn divide(&mut self, block: &Block<N>, bounded: bool) {
        let side = self.side(block);
        if side <= SMALLEST {
            let [columns, rows] = rectangle(&self.grid, side, block.column.into(), block.row.into());
            self.leave([columns, rows]);
            return;
        }
        let BlockWorkspace { layers, waiting: queue, .. } = &mut *self.workspace;
        let layer = &layers[usize::from(block.layer)];
        let parts = &layers[usize::from(block.layer) + 1];
        let [a, b] = layer.centre(block.column.into(), block.row.into());
        let restart = bounded || side > INHERITING;
        let [columns, rows] = parts.size();
        let Model { z: [x, y], slope: [p, q], second: [s, t], e } = block.model;
        let holomorphic = self.settings.map.formula.fold() == Fold::None;
        for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let (row, column) = (2 * usize::from(block.row) + row, 2 * usize::from(block.column) + column);
            if row >= rows || column >= columns {
                continue;
            }
            let [c, d] = parts.centre(column, row);
            if restart {
                let model = Model::first([c, d], self.settings.map.formula);
                queue.push(Block { model, n: 1, column: column as u16, row: row as u16, layer: block.layer + 1 });
                continue;
            }
            let d = [c - a, d - b];
            let (z, slope) = if holomorphic {
                let half = product_plus([s, t], d, [p, q]);
                (product_plus(half, d, [x, y]), product_plus([s, t], d, half))
            } else {
                let [u, v] = d;
                ([u.fma(p, v.fma(s, x)), u.fma(q, v.fma(t, y))], [p, q])
            };
            // The roundings of Z, of D and of d.
            let r = layer.radius;
            let size = x.abs() + y.abs() + r * (p.abs() + q.abs() + s.abs() + t.abs()) + r * r * (s.abs() + t.abs());
            let units = |count: f64| N::nearest(count * unit::<N>());
            let e = e.fma(N::from(1_u8) + units(64.0), units(32.0) * size);
            let model = Model { z, slope, e, ..block.model };
            queue.push(Block { model, n: block.n, column: column as u16, row: row as u16, layer: block.layer + 1 });
        }
    }
}

#[cfg(test)]
mod tests;

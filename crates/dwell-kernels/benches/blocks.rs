//! Shares of the points that proofs for blocks decide, and the time of the proofs and of the points that are left, against the
//! kernel that computes every point with all shortcuts. `cargo bench -p dwell-kernels --bench blocks` runs all views.
//! Without `--bench`, as `cargo test` calls it, it runs small ones and only checks them. Every dwell is compared with that of the other kernel.

#![expect(clippy::print_stdout, reason = "a program for developers that reports on the terminal")]

use dwell_kernels::blocks::{BlockCounts, BlockWorkspace};
use dwell_kernels::escape::{KernelSettings, KernelShortcuts, Workspace};
use dwell_kernels::{Grid, Kernels, Level, Map, Recipe};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// xmin, xmax, ymin, ymax; the side in points; the limit.
type View = ([f64; 4], usize, u32);

const SET: [f64; 4] = [-1.5, 0.5, -1.0, 1.0];
const VIEWS: [View; 6] = [
    (SET, 1024, 256),
    (SET, 4096, 512),
    (SET, 8192, 4096),
    (SET, 16384, 512),
    ([-2.0, 2.0, -2.0, 2.0], 2048, 256),
    ([-0.7483, -0.7443, 0.1082, 0.1122], 2048, 1000),
];
/// The side of a tile.
const TILE: usize = 256;
/// Points of a list that are computed at once.
const LIST: usize = 4096;

fn main() {
    let check = std::env::args().all(|word| word != "--bench");
    println!(
        "| view | number | escaped 64 32 16 8 | resolved | inside 64 32 16 8 | computed | proofs | left | every | ratio |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (bounds, side, limit) in VIEWS {
        let side = if check { side.min(256) } else { side };
        run::<f64>((bounds, side, limit));
        run::<f32>((bounds, side, limit));
    }
}

/// The coordinates of a view.
fn axis<N: Kernels>(from: f64, to: f64, side: usize) -> Vec<N> {
    (0..side).map(|i| N::nearest(from + (to - from) * (i as f64 + 0.5) / side as f64)).collect()
}

fn run<N: Kernels>((bounds, side, limit): View) {
    let [xmin, xmax, ymin, ymax] = bounds;
    let (columns, rows) = (axis::<N>(xmin, xmax, side), axis::<N>(ymin, ymax, side));
    let none = vec![Grid::<N>::negative_zero(); side];
    let settings = |traps| KernelSettings {
        map: Map::<N>::mandelbrot(Recipe::Fused),
        limit,
        radius_squared: N::nearest(4.0),
        shortcuts: KernelShortcuts { traps, ..KernelShortcuts::ALL },
        proved: 0,
    };
    let (level, stop) = (Level::best(), AtomicBool::new(false));
    let Ok(mut workspace) = Workspace::<N>::new() else { return };
    let mut blocks = BlockWorkspace::<N>::default();
    let [mut proofs, mut left, mut every] = [Duration::ZERO; 3];
    let (mut dwells, mut expected) = (vec![0; TILE * TILE], vec![0; TILE * TILE]);
    let mut list = vec![0; LIST];
    for (row, column) in (0..side).step_by(TILE).flat_map(|row| (0..side).step_by(TILE).map(move |c| (row, c))) {
        let (across, down) = (column..(column + TILE).min(side), row..(row + TILE).min(side));
        let grid = Grid {
            re_of_column: &columns[across.clone()],
            im_of_column: &none[across.clone()],
            re_of_row: &none[down.clone()],
            im_of_row: &rows[down.clone()],
            monotonic: true,
        };
        let width = across.len();
        let mut out: Vec<_> = dwells[..width * down.len()].chunks_mut(width).collect();
        let begun = Instant::now();
        let proved = N::prove_blocks(level, settings(true), &mut blocks, grid, &mut out, &stop);
        proofs += begun.elapsed();
        assert!(matches!(proved, Ok(true)), "the proofs end");
        let begun = Instant::now();
        for points in blocks.unproved().chunks(LIST) {
            let (re, im): (Vec<N>, Vec<N>) =
                points.iter().map(|(column, row)| grid.point(*column as usize, *row as usize).into()).unzip();
            let zero = [Grid::<N>::negative_zero()];
            let listed = &mut list[..points.len()];
            let grid = Grid::list(&re, &im, &zero);
            assert!(N::dwells(level, settings(true), &mut workspace, grid, &mut [&mut *listed], false, &stop));
            for ((column, row), dwell) in points.iter().zip(listed) {
                out[*row as usize][*column as usize] = *dwell;
            }
        }
        left += begun.elapsed();
        let mut out: Vec<_> = expected[..width * down.len()].chunks_mut(width).collect();
        let begun = Instant::now();
        assert!(N::dwells(level, settings(false), &mut workspace, grid, &mut out, false, &stop));
        every += begun.elapsed();
        assert_eq!(dwells[..width * down.len()], expected[..width * down.len()], "dwells differ");
    }
    report::<N>((bounds, side, limit), &blocks.counts(), [proofs, left, every]);
}

fn report<N: Kernels>((bounds, side, limit): View, counts: &BlockCounts, times: [Duration; 3]) {
    let points = (side * side) as f64;
    let share = |count: u64| 100.0 * count as f64 / points;
    let shares =
        |counts: &[u64]| counts.iter().map(|count| format!("{:.1}", share(*count))).collect::<Vec<_>>().join(" ");
    let [proofs, left, every] = times.map(|time| time.as_secs_f64() * 1e9 / points);
    println!(
        "| {bounds:?} {side}^2, {limit} | {} | {} | {:.1} | {} | {:.1} | {proofs:.2} | {left:.2} | {every:.2} | {:.2} |",
        N::NAME,
        shares(&counts.escaped),
        share(counts.resolved),
        shares(&counts.inside),
        share(counts.unproved),
        every / (proofs + left)
    );
}

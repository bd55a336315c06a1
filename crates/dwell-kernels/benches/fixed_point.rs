//! Times of a step in fixed point, by the number of bits: of a reference orbit, of one orbit that is followed alone, and of eight that are followed together.
//! `cargo bench -p dwell-kernels --bench fixed_point -- LIMBS...` measures numbers of so many limbs, of those of the table, or of all of these; without `--bench`, as `cargo test` calls it, it only checks.
//! All of them stay, which is checked.

#![expect(clippy::print_stdout, reason = "a program for developers that reports on the terminal")]

use dwell_kernels::Level;
use dwell_kernels::deep::Watch;
use dwell_kernels::deep::direct::{Goal, Iterated, Queue, follow};
use dwell_kernels::deep::extended::Bound;
use dwell_kernels::deep::limbs::Fixed;
use dwell_kernels::deep::orbit::Found;
use dwell_kernels::deep::reference::{End, Reference, Room};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Limbs of the parts of the points, one of them before the point.
const LIMBS: [usize; 14] = [4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 30, 60, 140, 290];
/// The work of a measurement: an orbit makes this by 100 + limbs^2 steps.
const WORK: f64 = 4e7;
/// Measurements, of which the least is printed.
const REPEATED: usize = 5;
/// Orbits that are followed together.
const TOGETHER: usize = 8;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let check = words.iter().all(|word| word != "--bench");
    let wanted: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
    println!("nanoseconds of a step, {}", Level::best().name());
    println!("| bits | reference | one orbit | eight orbits |");
    println!("|---|---|---|---|");
    for limbs in LIMBS.into_iter().filter(|limbs| wanted.is_empty() || wanted.contains(limbs)) {
        let most = if check { 200 } else { (WORK / (100.0 + (limbs * limbs) as f64)) as u64 };
        measure(limbs, most, if check { 1 } else { REPEATED });
    }
}

/// 1/4 less a small number for each but the first: orbits come nearer to a fixed point near 1/2, and stay.
fn point(limbs: usize, number: usize) -> [Fixed; 2] {
    let (mut x, y) = (Fixed::zero(limbs), Fixed::zero(limbs));
    x.limbs[limbs - 2] = (1 << 62) - ((number as u64) << 40);
    [x, y]
}

fn measure(limbs: usize, most: u64, repeated: usize) {
    let (level, stop) = (Level::best(), AtomicBool::new(false));
    let of_reference = of_reference(limbs, most, repeated, &stop);
    let mut escape = Fixed::zero(limbs);
    escape.limbs[limbs - 1] = 4;
    let goal = Goal {
        iterated: Iterated::default(),
        limbs,
        error: 0.0,
        escape: 4.0,
        exact_escape: &escape,
        limit: most,
        smooth: false,
        units: None,
        stop: &stop,
    };
    let of_many = |count: usize| {
        let mut best = f64::MAX;
        for _ in 0..repeated {
            let began = Instant::now();
            let mut decided = 0;
            let mut point = |number: usize| point(limbs, number);
            follow(level, &goal, &Queue::new(count, 1), &mut point, &mut |_, found| {
                assert_eq!(found, Found::Stays);
                decided += 1;
            });
            assert_eq!(decided, count);
            best = best.min(began.elapsed().as_secs_f64() * 1e9);
        }
        best / most as f64
    };
    println!("| {} | {of_reference:.0} | {:.0} | {:.0} |", 64 * (limbs - 1), of_many(1), of_many(TOGETHER));
}

fn of_reference(limbs: usize, most: u64, repeated: usize, stop: &AtomicBool) -> f64 {
    let [x, y] = point(limbs, 0);
    let mut best = f64::MAX;
    for _ in 0..repeated {
        let began = Instant::now();
        let radius = Bound::new(1.0, -1_000_000);
        let room = Room::of_pairs(most as usize + 100);
        let found = Reference::new(Level::best(), [&x, &y], radius, 4.0, most, room, Watch::unseen(stop));
        assert_eq!(found.map(|reference| reference.end), Ok(End::Limit));
        best = best.min(began.elapsed().as_secs_f64() * 1e9);
    }
    best / most as f64
}

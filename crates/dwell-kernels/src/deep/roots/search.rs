//! The equation of least period with a root in a region, beside the reference orbit of the centre of a disc that holds the region.
//!
//! **Nuclei.** For c in the disc |c - C| <= r, z_n(c) = Z_n + D_n (c - C) + tau with |tau| <= T_n. From z_(n+1) = z_n^2 + c follows, with |z_n(c) - Z_n| <= |D_n| r + T_n,
//!
//! ```text
//! T_1 = 0,   T_(n+1) = 2 |Z_n| T_n + (|D_n| r + T_n)^2
//! ```
//!
//! so that no c of the disc has z_n(c) = 0 where |Z_n| > |D_n| r + T_n: that is proved, roundings included. Every other n is a candidate, and Newton's method decides whether it has a root in the region. The
//! first that has one is taken.
//!
//! **Misiurewicz points.** The pairs of z_n + z_j with j < n in the order of n are those in the order of preperiod plus period. Candidates are those with |Z_n + Z_j| < 2 r |D_n + D_j|. Pairs near one
//! another are found by a grid.

use super::Equation;
use super::newton::{self, Root};
use crate::deep::Watch;
use crate::deep::derivative::WideDerivative;
use crate::deep::extended::{Bound, Extended};
use crate::deep::limbs::Fixed;
use crate::deep::mantissa::Dd;
use crate::deep::reference::{End, NoReference, Reference, Room, Step};
use crate::deep::view_trap::ViewTrap;
use crate::level::Level;
use std::collections::HashMap;

/// The most candidates without a root in the region, before a search is given up.
const MOST_CANDIDATES: usize = 64;
/// T beyond which the linear part alone selects candidates, and by which factor.
const MOST_REMAINDER: i32 = 4;
const LINEAR: f64 = 4.0;
/// The derivative is taken to be bounded where it has not doubled in so many times the steps before, and these.
const BOUNDED: u32 = 32;
const LEAST_STEPS: u32 = 10_000;
/// For the roundings of a step of a bound.
const UP: f64 = 1.0 + 1e-13;
/// A bound on the error of Z, relative to it.
const OF_Z: i32 = -100;
/// Cells of the grid on a side of the unit, and the greatest |part| that is in it.
const CELLS: f64 = 4096.0;
const WIDEST: f64 = 8.0;

/// Where to look.
#[derive(Clone, Copy, Debug)]
pub struct Region<'a> {
    /// The level of the processor.
    pub level: Level,
    /// The centre C of a disc.
    pub centre: [&'a Fixed; 2],
    /// The radius r of the disc.
    pub radius: Bound,
    /// The greatest index of a z in an equation.
    pub limit: u64,
    /// The most entries of the orbit.
    pub most: usize,
    /// Looked at meanwhile.
    pub watch: Watch<'a>,
}

/// A root that was found.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// Its equation.
    pub equation: Equation,
    /// c - C.
    pub delta: Extended<Dd>,
    /// The derivative of the equation by c there.
    pub derivative: Extended<Dd>,
    /// About log2 of 1 / size for a nucleus: see `shape.rs`.
    pub size_bits: i64,
    /// Whether it is proved that no c of the disc solves an equation before this one: for nuclei, that none has a smaller period.
    pub is_least: bool,
}

/// Why a search found nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotFound {
    /// There is no orbit.
    NoOrbit(NoReference),
    /// All points of the disc are proved to stay bounded, which leaves no component's boundary in it, and no centre is in it.
    Inside,
    /// The orbit of the centre has escaped before an equation had a root in the region.
    Escapes,
    /// No period up to the limit has a root in the region.
    Limit,
    /// Too many equations seemed to have a root, and had none in the region.
    Undecided,
}

/// The nucleus of least period of which `contains` is true of c - C, and the orbit up to that period.
///
/// # Errors
/// Why there is none.
pub fn nucleus(region: &Region<'_>, contains: impl Fn(Extended<Dd>) -> bool) -> Result<(Found, Reference), NotFound> {
    let radius = region.radius;
    let mut derivative = WideDerivative::first(0);
    let (mut remainder, mut is_least) = (Bound::ZERO, true);
    search(region, contains, |step, candidates| {
        let Step { m, z, .. } = step;
        let (modulus, error) = (step.modulus(), step.error());
        let of_z = error.plus(modulus.times(Bound::new(1.0, OF_Z)));
        let of_derivative = Bound::modulus(derivative.d).plus(derivative.off);
        let linear = of_derivative.times(radius);
        let reach = linear.plus(remainder).plus(of_z).by(UP);
        let is_excluded = reach.below(modulus.by(2.0 - UP));
        let bends = remainder.exponent() > MOST_REMAINDER;
        let is_candidate = if bends { modulus.below(linear.by(LINEAR)) } else { !is_excluded };
        let all_before_are_excluded = is_least && !bends;
        is_least = all_before_are_excluded && !is_candidate;
        if is_candidate {
            candidates.push(Equation::Nucleus { period: m.into() });
        }
        if !bends {
            let square = linear.plus(remainder);
            let size = modulus.plus(of_z).by(2.0);
            remainder = size.times(remainder).plus(square.times(square)).by(UP);
        }
        derivative = derivative.stepped(Extended::<f64>::of(z), of_z, 0);
        all_before_are_excluded
    })
}

/// The Misiurewicz point of least preperiod plus period of which `contains` is true of c - C, and the orbit up to it.
///
/// # Errors
/// Why there is none.
pub fn misiurewicz(
    region: &Region<'_>,
    contains: impl Fn(Extended<Dd>) -> bool,
) -> Result<(Found, Reference), NotFound> {
    let radius = region.radius;
    let mut derivative = Extended::<f64>::one();
    let mut orbit: Vec<(Extended<f64>, Extended<f64>)> = Vec::new();
    let mut grid: HashMap<[i32; 2], Vec<u32>> = HashMap::new();
    search(region, contains, |step, candidates| {
        let z = Extended::<f64>::of(step.z);
        let cell = z.in_range().filter(|z| z.size() < WIDEST).map(|z| [z.re, z.im].map(|x| (x * CELLS).floor() as i32));
        let reach = Bound::modulus(derivative).times(radius).by(2.0 * LINEAR);
        let is_near = |earlier: u32| {
            let (z_j, d_j) = orbit[earlier as usize - 1];
            let linear = Bound::modulus(derivative.plus(d_j)).times(radius);
            Bound::modulus(z.plus(z_j)).below(linear.by(2.0))
        };
        let first = candidates.len();
        // Where the disc is mapped to more than a cell, all pairs are compared.
        if reach.below(Bound::of(1.0 / CELLS))
            && let Some([x, y]) = cell
        {
            // -z_j is in the cell opposite to that of z_j, or beside it.
            for cell in (-2..=1).flat_map(|i| (-2..=1).map(move |j| [-x + i, -y + j])) {
                candidates
                    .extend(grid.get(&cell).into_iter().flatten().filter(|j| is_near(**j)).map(|j| pair(step.m, *j)));
            }
        } else {
            candidates.extend((1..step.m).filter(|j| is_near(*j)).map(|j| pair(step.m, j)));
        }
        candidates[first..].sort_unstable_by_key(|equation| equation.period());
        if let Some(cell) = cell {
            grid.entry(cell).or_default().push(step.m);
        }
        orbit.push((z, derivative));
        derivative = z.times(derivative).doubled().plus(Extended::one());
        false
    })
}

/// Notes when the derivative by c has last doubled. That of a centre in a component is bounded, and then no further equation has a root near it.
struct Growth {
    derivative: Extended<f64>,
    greatest: Bound,
    doubled: u32,
}

impl Default for Growth {
    fn default() -> Self {
        Self { derivative: Extended::one(), greatest: Bound::ONE, doubled: 1 }
    }
}

impl Growth {
    /// Whether the derivative has not doubled for long. It doubles with n even near a parabolic point, where it grows least, as a power of n.
    fn ends(&mut self, step: Step) -> bool {
        let size = Bound::modulus(self.derivative);
        if self.greatest.by(2.0).below(size) {
            (self.greatest, self.doubled) = (size, step.m);
        }
        self.derivative = Extended::<f64>::of(step.z).times(self.derivative).doubled().plus(Extended::one());
        step.m > self.doubled.saturating_mul(BOUNDED).saturating_add(LEAST_STEPS)
    }
}

/// The equation z_n + z_j = 0.
fn pair(n: u32, j: u32) -> Equation {
    Equation::Misiurewicz { preperiod: u64::from(j) + 1, period: u64::from(n - j) }
}

/// Walks along the orbit. `candidates` appends the equations that may have a root in the disc, and returns whether all others before are proved to have none.
fn search(
    region: &Region<'_>,
    contains: impl Fn(Extended<Dd>) -> bool,
    mut candidates: impl FnMut(Step, &mut Vec<Equation>) -> bool,
) -> Result<(Found, Reference), NotFound> {
    let &Region { level, centre, radius, limit, most, watch } = region;
    let mut trap = ViewTrap::new(radius, super::ESCAPE);
    let (mut found, mut failed) = (None, 0);
    let mut list = Vec::new();
    let mut is_undecided = false;
    let mut growth = Growth::default();
    let room = Room::of_pairs(most);
    let orbit = Reference::until(level, centre, super::ESCAPE, limit, room, watch, |orbit, step| {
        list.clear();
        let is_least = candidates(step, &mut list);
        for equation in list.drain(..) {
            match newton::root(orbit, equation, radius, watch) {
                Some(Root { delta, derivative, product }) if contains(delta) => {
                    let size_bits = i64::from(derivative.e) + i64::from(product.e);
                    found = Some(Found { equation, delta, derivative, size_bits, is_least });
                    return Ok(Some(End::Period));
                }
                _ => failed += 1,
            }
        }
        if watch.is_stopped() {
            return Err(NoReference::Stopped);
        }
        is_undecided = failed >= MOST_CANDIDATES || growth.ends(step);
        if trap.step(step.z, step.size, step.error_in_f64(), step.m) {
            return Ok(Some(End::Trap));
        }
        let is_last = u64::from(step.m) >= limit || is_undecided;
        Ok(if step.square > super::ESCAPE { Some(End::Escape) } else { is_last.then_some(End::Limit) })
    })
    .map_err(NotFound::NoOrbit)?;
    match (found, orbit.end) {
        (Some(found), _) => Ok((found, orbit)),
        (None, End::Trap) => Err(NotFound::Inside),
        (None, End::Escape) => Err(NotFound::Escapes),
        (None, _) if is_undecided => Err(NotFound::Undecided),
        (None, _) => Err(NotFound::Limit),
    }
}

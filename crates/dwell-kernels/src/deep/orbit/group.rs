//! Orbits of neighbouring pixels in one vector, as long as they do the same.
//!
//! Neighbours differ by little until they are near their escape. A group is a vector of orbits at the same m and n, so that one block is looked up for all of
//! them, its coefficients are broadcast, and nothing is gathered or sorted. A block that is valid for the largest |z| + e is valid for all. A rebase
//! is valid wherever it is made, so that all are rebased where one has to be, unless another would lose by it. Where orbits part, a group is
//! dissolved into the lists of the pool.
//!
//! Of the operations of a pixel 65 to 98 % are done so (960x540; at fs-view05 half of them), each at a fifth to a sixth of what it costs in the lists. Whole pictures take 0.5 of the
//! time at kf-1e14, kf-1e50, rf-flake and shallow-seahorse-1e13 (one core, Zen 5), with groups below the range of f64 0.4 at rf-e1000 and 0.6 at fs-view11.
//! What was tried:
//!
//! - one group at a time: 1.15 times the time of three; two and four as three, eight 1.04;
//! - orbits that part leave the group alone, and the others go on while two, three or four of eight are left: 1.00 to 1.08 times the time;
//! - rebases for up to |w| = 4, 8, 32 or 300 |z| of another: equal within 3 %;
//! - blocks of 2x4 pixels instead of 4x2: equal;
//! - one polynomial of c for each tile of pixels, as all pixels of a view have (`blocks/start.rs`), instead of an orbit for each: no gain. A tile that is a 600th of the
//!   view wide leaves the second degree at a relative error of 2^-26 after one or two blocks beyond those of the whole view.

mod narrow;
#[cfg(test)]
mod tests;
mod wide;

use super::operations::DerivativeLanes;
use super::pile::{self, Orbits};
use super::pool::{MOST_ROOM, Pool};
use super::{Found, Phase, STOP_MASK, WideDerivative};
use crate::deep::PROVED;
use crate::deep::extended::{Bound, Extended};
use crate::deep::lanes::{ComplexLanes, LANES, Lanes, Marks, Reals};
use crate::deep::mantissa::{Complex, Mantissa};
use crate::vector::bits;
use fearless_simd::Simd;
use std::sync::atomic::Ordering;

/// Groups under way at once, so that the operations of one need not wait for those of another.
const MOST: usize = 3;
/// Rebases of a group before it is dissolved: what follows is left to proofs that an orbit stays, which are those of one orbit.
const MOST_REBASES: u64 = super::trap::FIRST - 1;
/// Bytes of the groups under way, at most.
pub(super) const BYTES: usize = MOST * 48 * size_of::<[f64; LANES]>();

/// Orbits of neighbours.
pub(super) struct Group<T: Mantissa, S: Simd> {
    /// Without m and the room, which all have in common.
    pub(super) orbits: Orbits<T, S>,
    pub(super) active: Marks<S>,
    /// Deltas and their bounds are in units of 2^unit: 0 in the range of f64, and far below 0 for smaller ones.
    unit: i32,
    pub(super) m: usize,
    n: u64,
    rebases: u64,
    /// Its orbits where they go by cells.
    parted: Option<Orbits<T, S>>,
}

impl<T: Mantissa, S: Simd> Group<T, S> {
    /// Whether a block might begin here, where the shortest has so many steps.
    #[inline(always)]
    pub(super) fn is_at_place(&self, shortest: usize) -> bool {
        self.m == 0 || (self.m - 1) & (shortest - 1) == 0
    }
}

/// The groups of a list of pixels.
pub(super) struct Groups<T: Mantissa, S: Simd> {
    under_way: Vec<Group<T, S>>,
    /// The pixels that were begun.
    begun: usize,
    rounds: u64,
}

impl<T: Mantissa, S: Simd> Groups<T, S> {
    pub(super) fn new() -> Self {
        Self { under_way: Vec::with_capacity(MOST), begun: 0, rounds: 0 }
    }
}

/// A number in all lanes.
#[inline(always)]
fn splat<T: Mantissa, S: Simd>(simd: S, z: Complex<T>) -> ComplexLanes<T, S> {
    let number = |x: T| <T::Lanes<S>>::from_parts(|part| Reals::splat(simd, x.part(part)));
    Complex { re: number(z.re), im: number(z.im) }
}

/// A number of each lane.
#[inline(always)]
pub(super) fn lanes<T: Mantissa, S: Simd>(simd: S, of_lane: impl Fn(usize) -> Complex<T>) -> ComplexLanes<T, S> {
    let number = |of_lane: &dyn Fn(usize) -> T| {
        <T::Lanes<S>>::from_parts(|part| Reals::from_fn(simd, |lane| of_lane(lane).part(part)))
    };
    Complex { re: number(&|lane| of_lane(lane).re), im: number(&|lane| of_lane(lane).im) }
}

/// The greatest of the lanes of a mask, or 0.
#[inline(always)]
fn greatest<S: Simd>(simd: S, values: Reals<S>, active: Marks<S>) -> f64 {
    folded(
        values.where_else(active, Reals::splat(simd, 0.0)),
        #[inline(always)]
        |a, b| if a > b { a } else { b },
    )
}

/// The least of the lanes of a mask.
#[inline(always)]
fn least<S: Simd>(simd: S, values: Reals<S>, active: Marks<S>) -> f64 {
    folded(
        values.where_else(active, Reals::splat(simd, f64::INFINITY)),
        #[inline(always)]
        |a, b| if a < b { a } else { b },
    )
}

/// Folds the lanes in pairs, so that the results wait for few others.
#[inline(always)]
fn folded<S: Simd>(values: Reals<S>, fold: impl Fn(f64, f64) -> f64) -> f64 {
    let mut list = [0.0; LANES];
    values.store(&mut list);
    let mut count = Reals::<S>::LEN;
    while count > 1 {
        count /= 2;
        for lane in 0..count {
            list[lane] = fold(list[lane], list[lane + count]);
        }
    }
    list[0]
}

impl<T: Mantissa, const DERIVED: bool> Pool<'_, T, DERIVED> {
    /// Advances groups, and begins others, until no pixel is left, or the lists of this round have no room for what groups are dissolved into.
    #[inline(always)]
    pub(super) fn advance_groups<S: Simd>(
        &mut self,
        simd: S,
        groups: &mut Groups<T, S>,
        pixels: &[Complex<T>],
        found: &mut [Found],
    ) {
        loop {
            while groups.under_way.len() < MOST && groups.begun < pixels.len() {
                if self.now.len() + LANES * (groups.under_way.len() + 1) > pile::MOST {
                    return;
                }
                self.begin(simd, groups, pixels, found);
            }
            groups.rounds += 1;
            let stops = groups.rounds & STOP_MASK == 0 && self.orbit.setting.stop.load(Ordering::Relaxed);
            if groups.under_way.is_empty() || stops {
                return;
            }
            let mut number = 0;
            while let Some(group) = groups.under_way.get_mut(number) {
                let goes_on = if group.unit == 0 {
                    self.orbit.advance(simd, group, &mut self.counts)
                } else {
                    self.orbit.advance_wide(simd, group, &mut self.counts)
                };
                if goes_on {
                    number += 1;
                } else {
                    let group = groups.under_way.swap_remove(number);
                    self.dissolve(simd, group, found);
                }
            }
        }
    }

    /// Begins as many pixels as a vector has lanes.
    #[inline(always)]
    fn begin<S: Simd>(&mut self, simd: S, groups: &mut Groups<T, S>, pixels: &[Complex<T>], found: &mut [Found]) {
        let begun = groups.begun;
        let count = Reals::<S>::LEN.min(pixels.len() - begun);
        groups.begun += count;
        let pixels = &pixels[begun..groups.begun];
        let mut slots = [0.0; LANES];
        for (number, (slot, c)) in slots.iter_mut().zip(pixels).enumerate() {
            *slot = self.slot(begun + number, *c) as f64;
        }
        let start = &self.start;
        let c = lanes::<T, S>(
            simd,
            #[inline(always)]
            |lane| pixels[lane.min(count - 1)],
        );
        let ([p, b, t], unit) = start.coefficients();
        let derivative = if DERIVED && unit == 0 {
            let of_pixels: [_; LANES] = std::array::from_fn(|lane| {
                start.derivative(pixels[lane.min(count - 1)], self.orbit.over_margin).narrow()
            });
            let real = |part: &dyn Fn(usize) -> f64| Reals::from_fn(simd, part);
            let d = Complex { re: real(&|lane| of_pixels[lane].d.re), im: real(&|lane| of_pixels[lane].d.im) };
            DerivativeLanes { d, off: real(&|lane| of_pixels[lane].off) }
        } else {
            DerivativeLanes::none(simd)
        };
        let none = Reals::splat(simd, 0.0);
        let group = Group {
            orbits: Orbits {
                z: splat(simd, p) + (splat(simd, b) + splat(simd, t) * c) * c,
                c,
                e: Reals::splat(simd, if PROVED { start.e.in_unit(unit) + super::UNDERFLOW } else { 0.0 }),
                derivative,
                m: none,
                room: none,
                slot: Reals::load(simd, &slots),
            },
            active: Reals::<S>::first_lanes(simd, count),
            unit,
            m: start.m(),
            n: start.n(),
            rebases: 0,
            parted: None,
        };
        if DERIVED && unit != 0 {
            // Derivatives below the range of f64 are those of one orbit.
            self.dissolve(simd, group, found);
        } else {
            groups.under_way.push(group);
        }
    }

    /// Hands the orbits of a group to the lists.
    #[inline(always)]
    fn dissolve<S: Simd>(&mut self, simd: S, group: Group<T, S>, found: &mut [Found]) {
        let Group { mut orbits, active, unit, m, n, rebases, parted } = group;
        let marked = bits::<S, _>(active);
        let mut slots = [0.0; LANES];
        orbits.slot.store(&mut slots);
        let in_group = (0..Reals::<S>::LEN).filter(|lane| marked >> lane & 1 != 0);
        for lane in in_group.clone() {
            let slot = &mut self.slots[slots[lane] as usize];
            slot.pixel.trap.rebases = rebases;
            slot.ahead = n.wrapping_sub(m as u64);
        }
        if unit == 0 {
            let room = usize::try_from((self.orbit.setting.limit - n).min(MOST_ROOM)).unwrap_or(usize::MAX);
            let (m, room) = (Reals::splat(simd, m as f64), Reals::splat(simd, room as f64));
            if let Some(parted) = parted {
                self.now.cells.append_with(&Orbits { m, room, ..parted }, Reals::splat(simd, 0.0), active);
            } else {
                orbits.m = m;
                orbits.room = room;
                self.now.fresh.append(&orbits, active);
            }
            return;
        }
        let mut e = [0.0; LANES];
        orbits.e.store(&mut e);
        let mut parts = [[0.0; LANES]; 4];
        for part in 0..T::PARTS {
            orbits.z.re.part(part).store(&mut parts[part]);
            orbits.z.im.part(part).store(&mut parts[2 + part]);
        }
        for lane in in_group {
            let place = slots[lane] as usize;
            let z = Complex {
                re: T::from_parts(|part| parts[part][lane]),
                im: T::from_parts(|part| parts[2 + part][lane]),
            };
            // Only groups at their beginning have some.
            let derivative = if DERIVED {
                self.start.derivative(self.slots[place].pixel.c, self.orbit.over_margin)
            } else {
                WideDerivative::NONE
            };
            let phase = Phase::Wide { z: Extended::new(z, unit), e: Bound::new(e[lane], unit), derivative, m, n };
            if let Some(row) = self.resolved(simd, place, phase, found) {
                self.now.fresh.push(row);
            }
        }
    }
}

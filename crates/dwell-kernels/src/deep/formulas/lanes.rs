//! Deltas of a formula in vectors: each lane has a pixel, and the next one when that is decided.
//!
//! What is ordinary, a block or a step with or without a rebase before it, is done for all lanes at once by marks. A lane in which anything else is next (the end of an orbit, the limit, a proof, a delta or a value that is too small) is
//! taken out; [`super::pixel`] iterates its orbit on, and then the lane is filled again.

use super::blocks::{BlockInLanes, Blocks, DeltaInLanes, modulus_of};
use super::pixel::{Pixel, ROUNDING, STRETCH, Shared, State};
use super::power::{difference, of_lanes, raised};
use super::{NARROW, Setting, folds};
use crate::arithmetic::Arithmetic;
use crate::deep::derivative::{U, UNDERFLOW, UP};
use crate::deep::extended::{Bound, Extended};
use crate::deep::lanes::{ComplexInLanes, ComplexLanes, LANES, Lanes as _, Marks, Reals, transposed};
use crate::deep::mantissa::{Complex, Mantissa};
use crate::deep::orbit::trap::Trap;
use crate::deep::orbit::{Counts, Found};
use crate::formula::Fold;
use crate::vector::bits;
use fearless_simd::Simd;
use std::sync::atomic::Ordering;

/// The most steps of a lane before it is looked at: a whole number of f64.
const MOST_ROOM: u64 = if cfg!(test) { 1 << 9 } else { 1 << 52 };
/// An exponent beyond any that matters.
const USELESS: i32 = 1 << 24;
/// Steps between two looks at the flag to stop, less one.
const STOP_MASK: u64 = 0xfff;

/// The pixel of a lane.
struct Slot<T> {
    pixel: Pixel<T>,
    number: usize,
    /// n when the lane was filled, and its room then and its passing rebases.
    n: u64,
    room: u64,
    passing: u64,
}

/// The states of all lanes. `COLUMNS` is the number of columns of derivatives that are iterated, 0 to 2.
pub(super) struct Lanes<'a, T: Mantissa, S: Simd, const COLUMNS: usize> {
    shared: Shared<'a, T>,
    slots: [Option<Slot<T>>; LANES],
    /// The lanes with a pixel, as bits.
    used: u64,
    z: ComplexLanes<T, S>,
    e: Reals<S>,
    at: Reals<S>,
    /// Offsets in units of 2^scale, by which blocks are multiplied.
    offset: ComplexLanes<T, S>,
    /// What a step adds now and after a rebase, with bounds on their errors.
    added: ComplexLanes<T, S>,
    of_added: Reals<S>,
    added_after: ComplexLanes<T, S>,
    of_added_after: Reals<S>,
    /// Steps, and rebases, until the lane is looked at.
    room: Reals<S>,
    passing: Reals<S>,
    d: [Complex<Reals<S>>; 2],
    off: Reals<S>,
    counts: Counts,
}

/// Lanes as arrays.
struct Arrays<T> {
    z: [Complex<T>; LANES],
    offset: [Complex<T>; LANES],
    added: [[Complex<T>; LANES]; 2],
    reals: [[f64; LANES]; 6],
    d: [[Complex<f64>; LANES]; 2],
    off: [f64; LANES],
}

#[inline(always)]
fn numbers<T: Mantissa, S: Simd>(simd: S, of: &[Complex<T>; LANES]) -> ComplexLanes<T, S> {
    let part = |get: fn(&Complex<T>) -> T| {
        <T::Lanes<S> as crate::deep::lanes::Lanes<S>>::from_parts(|index| {
            Reals::from_fn(simd, |lane| get(&of[lane]).part(index))
        })
    };
    Complex { re: part(|z| z.re), im: part(|z| z.im) }
}

#[inline(always)]
fn stored<T: Mantissa, S: Simd>(lanes: ComplexLanes<T, S>) -> [Complex<T>; LANES] {
    let part = |lanes: T::Lanes<S>| {
        let mut parts = [[0.0; LANES]; 2];
        for (index, part) in parts.iter_mut().enumerate().take(T::PARTS) {
            lanes.part(index).store(part);
        }
        parts
    };
    let (re, im) = (part(lanes.re), part(lanes.im));
    std::array::from_fn(|lane| Complex {
        re: T::from_parts(|index| re[index][lane]),
        im: T::from_parts(|index| im[index][lane]),
    })
}

#[inline(always)]
fn reals<S: Simd>(simd: S, of: &[f64; LANES]) -> Reals<S> {
    Reals::load(simd, of)
}

/// Numbers with these parts, of which f64 has the first.
#[inline(always)]
fn joined<T: Mantissa, S: Simd>(high: Reals<S>, low: Reals<S>) -> T::Lanes<S> {
    <T::Lanes<S> as crate::deep::lanes::Lanes<S>>::from_parts(
        #[inline(always)]
        |index| if index == 0 { high } else { low },
    )
}

/// A bound, of which one that is not finite decides nothing, whatever it is multiplied by.
fn finite(bound: f64) -> Bound {
    if bound.is_finite() { Bound::of(bound) } else { Bound::new(1.0, USELESS) }
}

/// What a step of all lanes needs.
struct Here<T: Mantissa, S: Simd> {
    index: [usize; LANES],
    reference: ComplexLanes<T, S>,
    w: ComplexLanes<T, S>,
    modulus: Reals<S>,
    of_reference: Reals<S>,
    of_entry: Reals<S>,
    rebases: Marks<S>,
    ordinary: Marks<S>,
}

impl<'a, T: Mantissa, S: Simd, const COLUMNS: usize> Lanes<'a, T, S, COLUMNS> {
    #[inline(always)]
    pub(super) fn new(simd: S, setting: &'a Setting<'a>, blocks: Option<&'a Blocks<T>>) -> Self {
        let zero = Reals::splat(simd, 0.0);
        let none = numbers::<T, S>(simd, &[Complex::ZERO; LANES]);
        Self {
            shared: Shared::new(setting, blocks),
            slots: std::array::from_fn(|_| None),
            used: 0,
            z: none,
            e: zero,
            at: zero,
            offset: none,
            added: none,
            of_added: zero,
            added_after: none,
            of_added_after: zero,
            room: zero,
            passing: zero,
            d: [Complex { re: zero, im: zero }; 2],
            off: zero,
            counts: Counts::default(),
        }
    }

    /// Decides pixels, until the flag to stop is set.
    #[inline(always)]
    pub(super) fn run(mut self, simd: S, pixels: &[Complex<T>], found: &mut [Found]) -> Counts {
        found.fill(Found::Undecided);
        let mut next = 0;
        let mut rounds = 0_u64;
        let every = (1_u64 << Reals::<S>::LEN) - 1;
        self.look(simd, every, (pixels, &mut next), found);
        loop {
            rounds += 1;
            let active = Reals::<S>::mask(simd, self.used);
            if self.used == 0 || rounds & STOP_MASK == 0 && self.shared.setting.stop.load(Ordering::Relaxed) {
                return self.counts;
            }
            let mut here = self.here(simd, active);
            let ordinary = bits::<S, _>(here.ordinary);
            let rare = self.used & !ordinary;
            self.counts.rebases += u64::from(bits::<S, _>(here.rebases).count_ones());
            let in_blocks = self.take_blocks(simd, &here, ordinary);
            let in_steps = ordinary & !in_blocks;
            if in_steps != 0 {
                here.ordinary = Reals::<S>::mask(simd, in_steps);
                here.rebases &= here.ordinary;
                self.counts.steps += u64::from(in_steps.count_ones());
                self.step(simd, &here);
            }
            if rare != 0 {
                self.look(simd, rare, (pixels, &mut next), found);
            }
        }
    }

    /// Where lanes are, and which of them an ordinary step is next for.
    #[inline(always)]
    fn here(&self, simd: S, active: Marks<S>) -> Here<T, S> {
        let splat = |x: f64| Reals::splat(simd, x);
        let Shared { setting, orbits, .. } = &self.shared;
        let mut index = [0_usize; LANES];
        let mut at = [0.0; LANES];
        self.at.store(&mut at);
        for lane in 0..Reals::<S>::LEN {
            index[lane] = at[lane] as usize;
        }
        let entry = |lane: usize| &orbits.entries[index[lane]];
        let [re, im] = [
            Reals::from_fn(
                simd,
                #[inline(always)]
                |lane| entry(lane).re,
            ),
            Reals::from_fn(
                simd,
                #[inline(always)]
                |lane| entry(lane).im,
            ),
        ];
        let of_entry = Reals::from_fn(
            simd,
            #[inline(always)]
            |lane| entry(lane).modulus,
        );
        let error = Reals::from_fn(
            simd,
            #[inline(always)]
            |lane| entry(lane).error,
        );
        let reference = if T::PARTS == 2 {
            let lows = [
                Reals::from_fn(
                    simd,
                    #[inline(always)]
                    |lane| orbits.low[index[lane]][0],
                ),
                Reals::from_fn(
                    simd,
                    #[inline(always)]
                    |lane| orbits.low[index[lane]][1],
                ),
            ];
            Complex { re: joined::<T, S>(re, lows[0]), im: joined::<T, S>(im, lows[1]) }
        } else {
            Complex { re: joined::<T, S>(re, re), im: joined::<T, S>(im, im) }
        };
        let w = reference + self.z;
        let (w_square, z_square) = (w.square_of(), self.z.square_of());
        let off = self.e + splat(self.shared.of_modulus);
        let escape = setting.escape;
        let doubt = (splat(2.0 * setting.escape_radius) + off) * off + splat(escape * ROUNDING);
        let is_within = w_square.at_most(splat(escape) - doubt * splat(UP));
        let last = splat(if self.shared.direct { -1.0 } else { orbits.last as f64 });
        let ends = self.at.equals(last);
        let of_centre = orbits.of_centre.map_or(-1.0, |(_, last)| last as f64);
        let at_end = ends | self.at.equals(splat(of_centre));
        let must_look = if orbits.stays.is_some() { ends } else { ends & !ends };
        let smaller = w_square.less(z_square) | at_end;
        let may_rebase = splat(0.0).less(self.passing);
        let goes = active & is_within & splat(0.0).less(self.room) & !must_look & (!smaller | may_rebase);
        let modulus = w_square.sqrt();
        // What is stepped: the delta, or the value after a rebase.
        let size = |v: ComplexLanes<T, S>| v.re.part(0).abs().max(v.im.part(0).abs());
        let stepped = size(w).where_else(smaller, size(self.z));
        let most = modulus.max(of_entry);
        let in_range =
            splat(NARROW).at_most(stepped) & splat(self.shared.near).at_most(modulus.where_else(smaller, most));
        let ordinary = goes & in_range;
        let rebases = smaller & ordinary;
        Here { index, reference, w, modulus, of_reference: of_entry, of_entry: error, rebases, ordinary }
    }

    /// Takes a block in each of the ordinary lanes, given as bits, for which there is one and no rebase comes before it: those lanes.
    #[inline(always)]
    fn take_blocks(&mut self, simd: S, here: &Here<T, S>, ordinary: u64) -> u64 {
        let Shared { blocks: Some(blocks), reaches, over_margin, .. } = self.shared else { return 0 };
        let candidates = ordinary & !bits::<S, _>(here.rebases);
        let splat = |x: f64| Reals::splat(simd, x);
        let (mut reach, mut room) = ([0.0; LANES], [0.0; LANES]);
        ((modulus_of::<T, S>(simd, self.z) + self.e) * splat(UP * reaches)).store(&mut reach);
        self.room.store(&mut room);
        let (mut lines, mut of_c) = ([blocks.none(); LANES], [blocks.none(); LANES]);
        let (mut steps, mut taken) = ([0.0; LANES], 0_u64);
        for lane in 0..Reals::<S>::LEN {
            if candidates >> lane & 1 == 1
                && let Some(found) = blocks.longest(here.index[lane], room[lane], reach[lane])
            {
                (lines[lane], of_c[lane], steps[lane]) = (found.lines, found.of_c, found.steps as f64);
                taken |= 1 << lane;
            }
        }
        if taken == 0 {
            return 0;
        }
        self.counts.blocks += u64::from(taken.count_ones());
        let before = DeltaInLanes { z: self.z, e: self.e, d: self.d, off: self.off };
        let numbers = transposed(simd, &lines);
        let of_c = blocks.has_terms_of_c().then(|| transposed(simd, &of_c));
        let block = BlockInLanes::<T, S>::read(&numbers, of_c.as_ref());
        let after = block.apply::<COLUMNS>(simd, self.offset, &before, over_margin);
        let marks = Reals::<S>::mask(simd, taken);
        self.z = after.z.where_else(marks, self.z);
        self.e = after.e.where_else(marks, self.e);
        if COLUMNS > 0 {
            for (d, after) in self.d.iter_mut().zip(after.d) {
                *d = after.where_else(marks, *d);
            }
            self.off = after.off.where_else(marks, self.off);
        }
        let steps = reals(simd, &steps);
        self.at = self.at + steps;
        self.room = self.room - steps;
        taken
    }

    /// Steps the ordinary lanes.
    #[inline(always)]
    fn step(&mut self, simd: S, here: &Here<T, S>) {
        let splat = |x: f64| Reals::splat(simd, x);
        let Shared { setting, power, .. } = self.shared;
        let fold = setting.formula.fold();
        let n = f64::from(power);
        let zero = splat(0.0);
        let none = numbers::<T, S>(simd, &[Complex::ZERO; LANES]);
        let Here { reference, w, modulus, of_reference, of_entry, rebases, ordinary, .. } = *here;
        let of_rebase = splat(2.0 * T::UNIT) * (reference.taxicab_of() + w.taxicab_of()) + of_entry + splat(UNDERFLOW);
        let z = w.where_else(rebases, self.z);
        let e = ((self.e + of_rebase) * splat(UP)).where_else(rebases, self.e);
        let at = zero.where_else(rebases, self.at);
        let reference = none.where_else(rebases, reference);
        let of_reference = zero.where_else(rebases, of_reference);
        let of_entry = zero.where_else(rebases, of_entry);
        let added = self.added_after.where_else(rebases, self.added);
        let of_added = self.of_added_after.where_else(rebases, self.of_added);
        let most = modulus.max(of_reference);
        if COLUMNS > 0 {
            let h = e + splat(4.0 * U) * (modulus + of_reference);
            self.step_derivative(simd, (w.in_f64(), reference.in_f64(), e + of_entry), (modulus, h), ordinary);
        }
        let [folded, of_w, of_z] = folds::of_lanes::<T, S>(simd, fold, [z, w, reference]);
        let after = difference(folded, of_w, of_z, power) + added;
        let growth = splat(n) * of_lanes(modulus + e, power - 1);
        let of_most = of_lanes(most, power - 1);
        let mut by_most = splat(self.shared.of_power) * z.taxicab_of();
        if fold == Fold::Absolute {
            by_most = by_most + splat(4.0 * n) * of_entry;
        }
        let e_after = (growth * e + by_most * of_most + of_added) * splat(UP);
        let mut at_after = at + splat(1.0);
        if self.shared.direct {
            at_after = zero.where_else(at.equals(zero), at_after);
        }
        self.z = after.where_else(ordinary, self.z);
        self.e = e_after.where_else(ordinary, self.e);
        self.at = at_after.where_else(ordinary, self.at);
        self.added = added.where_else(ordinary, self.added);
        self.of_added = of_added.where_else(ordinary, self.of_added);
        self.room = (self.room - splat(1.0)).where_else(ordinary, self.room);
        self.passing = (self.passing - splat(1.0)).where_else(rebases & ordinary, self.passing);
    }

    /// As [`super::derivative`].
    #[inline(always)]
    fn step_derivative(
        &mut self,
        simd: S,
        (w, reference, e): (Complex<Reals<S>>, Complex<Reals<S>>, Reals<S>),
        (modulus, h): (Reals<S>, Reals<S>),
        ordinary: Marks<S>,
    ) {
        let splat = |x: f64| Reals::splat(simd, x);
        let Shared { setting, power, unit, .. } = self.shared;
        let n = f64::from(power);
        let zero = splat(0.0);
        let unit = if setting.is_julia { 0.0 } else { unit };
        let signed = |v: Complex<Reals<S>>| match setting.formula.fold() {
            Fold::None => v,
            Fold::Conjugate => Complex { re: v.re, im: -v.im },
            Fold::Absolute => {
                Complex { re: (-v.re).where_else(w.re.less(zero), v.re), im: (-v.im).where_else(w.im.less(zero), v.im) }
            }
        };
        let by = raised(signed(w), power - 1);
        let by = Complex { re: by.re * splat(n), im: by.im * splat(n) };
        let beyond = modulus + h;
        let growth = splat(n) * of_lanes(beyond, power - 1);
        let of_w = if power == 2 { splat(2.0) * h } else { splat(n * (n - 1.0)) * of_lanes(beyond, power - 2) * h };
        let of_column = of_w + splat(3.0 * n * n * U) * of_lanes(modulus, power - 1);
        let mut off = zero;
        for column in 0..COLUMNS {
            let d = self.d[column];
            let mut before = self.off;
            if setting.formula.fold() == Fold::Absolute {
                let unsure = |w: Reals<S>, reference: Reals<S>, d: Reals<S>| {
                    let of_part = e + splat(4.0 * U) * (w.abs() + reference.abs());
                    (d.abs() + d.abs()).where_else(w.abs().at_most(of_part), zero)
                };
                before = before + unsure(w.re, reference.re, d.re) + unsure(w.im, reference.im, d.im);
            }
            off = off.max(growth * before + of_column * d.taxicab_of());
            let product = by * signed(d);
            let [re, im] = if column == 0 { [unit, 0.0] } else { [0.0, unit] };
            let after = Complex { re: product.re + splat(re), im: product.im + splat(im) };
            self.d[column] = after.where_else(ordinary, d);
        }
        let off = (off + splat(2.0 * U * unit + UNDERFLOW)) * splat(UP);
        self.off = off.where_else(ordinary, self.off);
    }

    /// Goes on with lanes in which something else than a step is next, and gives those that are decided the next pixels.
    #[inline(never)]
    fn look(&mut self, simd: S, lanes: u64, list: (&[Complex<T>], &mut usize), found: &mut [Found]) {
        simd.vectorize(
            #[inline(always)]
            || self.look_at(simd, lanes, list, found),
        );
    }

    #[inline(always)]
    fn look_at(&mut self, simd: S, lanes: u64, (pixels, next): (&[Complex<T>], &mut usize), found: &mut [Found]) {
        let mut arrays = self.arrays();
        for lane in (0..Reals::<S>::LEN).filter(|lane| lanes >> lane & 1 == 1) {
            let mut start = match &mut self.slots[lane] {
                Some(slot) => {
                    let [e, at, _, _, room, passing] = arrays.reals.map(|of| of[lane]);
                    let n = slot.n + (slot.room - room as u64);
                    slot.pixel.trap.rebases += slot.passing - passing as u64;
                    let wide = |d: Complex<f64>| Extended::new(d, 0);
                    let mut derivative = super::derivative::Columns::NONE;
                    if COLUMNS > 0 {
                        derivative = super::derivative::Columns {
                            d: [wide(arrays.d[0][lane]), wide(arrays.d[1][lane])],
                            off: finite(arrays.off[lane]),
                        };
                    }
                    let z = Extended::new(arrays.z[lane], 0);
                    Some(super::pixel::Wide { z, e: Bound::of(e), derivative, at: at as usize, n })
                }
                None => None,
            };
            loop {
                let Some(now) = start.take() else {
                    let Some(offset) = pixels.get(*next) else { break };
                    let pixel = Pixel { offset: *offset, trap: Trap::new() };
                    start = Some(self.shared.begin(*offset));
                    self.slots[lane] = Some(Slot { pixel, number: *next, n: 0, room: 0, passing: 0 });
                    *next += 1;
                    continue;
                };
                let Some(slot) = &mut self.slots[lane] else { break };
                match self.shared.resolve(&mut slot.pixel, now, &mut self.counts) {
                    Ok(state) => {
                        self.fill(lane, &state, &mut arrays);
                        break;
                    }
                    Err(end) => {
                        found[slot.number] = end;
                        self.slots[lane] = None;
                    }
                }
            }
        }
        self.used =
            (0..Reals::<S>::LEN).filter(|lane| self.slots[*lane].is_some()).fold(0, |used, lane| used | 1 << lane);
        self.load(simd, &arrays);
    }

    /// Puts an orbit into a lane.
    fn fill(&mut self, lane: usize, state: &State<T>, arrays: &mut Arrays<T>) {
        let Some(slot) = &mut self.slots[lane] else { return };
        let State { z, e, derivative, at, n } = *state;
        let mut room = (self.shared.setting.limit - n).min(MOST_ROOM);
        if self.shared.direct && at == 0 {
            room = room.min(STRETCH - n % STRETCH);
        }
        (slot.n, slot.room, slot.passing) = (n, room, slot.pixel.trap.passing().min(MOST_ROOM));
        (arrays.z[lane], arrays.offset[lane]) = (z, slot.pixel.offset);
        let ((added, of_added), (after, of_after)) =
            (self.shared.added(slot.pixel.offset, at), self.shared.added(slot.pixel.offset, 0));
        (arrays.added[0][lane], arrays.added[1][lane]) = (added, after);
        let reals = [e, at as f64, of_added, of_after, room as f64, slot.passing as f64];
        for (array, value) in arrays.reals.iter_mut().zip(reals) {
            array[lane] = value;
        }
        for (array, column) in arrays.d.iter_mut().zip(derivative.d) {
            array[lane] = column.in_range().unwrap_or(Complex::ZERO);
        }
        let is_in_range = derivative.d.iter().all(|column| column.in_range().is_some());
        arrays.off[lane] = if is_in_range { derivative.off.to_f64() + UNDERFLOW } else { f64::MAX };
    }

    fn arrays(&self) -> Arrays<T> {
        let mut of = [[0.0; LANES]; 6];
        let lanes = [self.e, self.at, self.of_added, self.of_added_after, self.room, self.passing];
        for (array, lanes) in of.iter_mut().zip(lanes) {
            lanes.store(array);
        }
        let mut off = [0.0; LANES];
        self.off.store(&mut off);
        let d = self.d.map(|column| stored::<f64, S>(column));
        Arrays {
            z: stored::<T, S>(self.z),
            offset: stored::<T, S>(self.offset),
            added: [self.added, self.added_after].map(stored::<T, S>),
            reals: of,
            d,
            off,
        }
    }

    fn load(&mut self, simd: S, arrays: &Arrays<T>) {
        self.z = numbers(simd, &arrays.z);
        self.offset = numbers(simd, &arrays.offset);
        [self.added, self.added_after] = arrays.added.each_ref().map(|of| numbers::<T, S>(simd, of));
        [self.e, self.at, self.of_added, self.of_added_after, self.room, self.passing] =
            arrays.reals.each_ref().map(|of| reals(simd, of));
        self.d = arrays.d.each_ref().map(|of| numbers::<f64, S>(simd, of));
        self.off = reals(simd, &arrays.off);
    }
}

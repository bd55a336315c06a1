//! A long reference orbit in little memory: every sixteenth Z_m in fixed point, from which those that follow it are computed again.
//!
//! Z_m at m = 1 + 16 k, where blocks may begin, is kept with 192 bits after the point: a waypoint. 64 bytes for 16 steps are an eighth of what pairs of f64 take. Steps are those of `limbs.rs`, off
//! by less than 8 units u = 2^-192 of the last place. With C and the waypoint cut off to these bits, which are off by less than 2 u, the error of what is computed again is at most
//!
//! ```text
//! e = 2 u at a waypoint,    e' = (2 |Z| + e) e + 10 u
//! ```
//!
//! against the orbit that waypoints are taken from. Its own roundings do not count: with more limbs than these they are below 2^-60 u, and with as many its steps are the same, or, in digits of 52 bits, below 2^-14 u, where C is not cut off, so that the 2 u for that cover them. Its distance from the exact orbit is a bound
//! of its own (`reference.rs`), to which e is added. So after 15 steps e is below 4^16 · 14 u < 2^-156 for |Z| <= 2. A Z_m that is not known to 2^-112 |Z_m| in this way, one that is near 0 or whose orbit before it was far out, is kept itself, and takes the place of
//! what is computed. So every Z_m is as precise as in pairs of f64, on every machine, since whole numbers have no roundings of their own.
//!
//! A step takes some 30 ns. Of the runs of 16 steps that a thread has computed last it keeps some ([`Recent`]): neighbouring pixels go along the same steps.

use super::{RELATIVE_ERROR, WINDOW, Window};
use crate::deep::extended::{Extended, power_of_two};
use crate::deep::fixed_orbit::FixedOrbit;
use crate::deep::leading;
use crate::deep::limbs::few::{self, Parts};
use crate::deep::limbs::{Fixed, add, negate_if};
use crate::deep::mantissa::{Complex, Dd};
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Steps from a waypoint to the next.
const SPACING: usize = WINDOW;
/// Limbs of a part: one before the point, and three after it.
const LIMBS: usize = 4;
/// 2^-192.
const UNIT: f64 = f64::from_bits((1023 - 192) << 52);
/// The error of a waypoint, and what each step adds.
const OF_WAYPOINT: f64 = 2.0 * UNIT;
const OF_STEP: f64 = 10.0 * UNIT;
/// For the roundings of a bound.
const UP: f64 = 1.0 + 1e-12;

/// The two parts of Z_m as high and low f64: re, im, re low, im low.
type Whole = [f64; 4];
/// The runs that a thread keeps.
const RECENT: usize = 256;
/// Bytes of them.
pub(super) const BYTES_OF_THREAD: usize = RECENT * (size_of::<[Whole; SPACING]>() + size_of::<(u64, u64)>());

/// An orbit from Z_0 = 0 on.
#[derive(Clone, Debug)]
pub(super) struct Waypoints {
    /// Tells it from others.
    id: u64,
    c: Parts<LIMBS>,
    /// Z_m at m = 1 + 16 k, in two's complement.
    kept: Vec<Parts<LIMBS>>,
    /// Those that are kept themselves, in the order of m.
    exact: Vec<(u32, Whole)>,
    /// No such Z_m, as it is computed again, is larger in both parts.
    largest_exact: f64,
    last: usize,
    /// A bound on the error of Z_m as it is computed again, for the last m.
    error: f64,
}

/// Z_m while an orbit is computed.
pub(super) struct Value<'a> {
    pub(super) m: u32,
    pub(super) orbit: &'a FixedOrbit,
    /// Rounded to pairs of f64.
    pub(super) kept: Complex<Dd>,
    /// |Z_m|, and a bound on the error of the orbit, in f64: 0 below its range.
    pub(super) size: f64,
    pub(super) error: f64,
}

/// There is no memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoMemory;

impl Waypoints {
    /// Of the orbit of C.
    pub(super) fn new(c: [&Fixed; 2]) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            c: c.map(cut_off),
            kept: Vec::new(),
            exact: Vec::new(),
            largest_exact: 0.0,
            last: 0,
            error: 0.0,
        }
    }

    /// Bytes of an orbit of so many entries, of which few are kept themselves.
    pub(super) fn bytes(entries: u64) -> u64 {
        (entries.div_ceil(SPACING as u64)).saturating_mul(size_of::<Parts<LIMBS>>() as u64)
    }

    /// Bytes that are allocated.
    pub(super) fn allocated(&self) -> u64 {
        (self.kept.capacity() * size_of::<Parts<LIMBS>>() + self.exact.capacity() * size_of::<(u32, Whole)>()) as u64
    }

    /// Adds Z_m, the next one, as long as no more than `most` bytes are taken.
    pub(super) fn add(&mut self, value: &Value<'_>, most: u64) -> Result<(), NoMemory> {
        let &Value { m, orbit, kept, size, error } = value;
        self.last = m as usize;
        if (self.last - 1).is_multiple_of(SPACING) {
            self.reserve(most)?;
            self.kept.push(orbit.parts().each_ref().map(cut_off));
            self.error = OF_WAYPOINT;
        }
        let tolerated = size * power_of_two(RELATIVE_ERROR);
        if error + self.error >= tolerated * (2.0 - UP) {
            self.reserve(most)?;
            self.exact.push((m, whole(kept)));
            self.largest_exact = self.largest_exact.max((size + self.error) * UP);
        }
        self.error = ((2.0 * size + self.error) * self.error + OF_STEP) * UP;
        Ok(())
    }

    /// Makes room for one of each kind. The lists grow by a quarter, so that little of the memory is not in use.
    fn reserve(&mut self, most: u64) -> Result<(), NoMemory> {
        fn grow<V>(list: &mut Vec<V>) -> Result<(), NoMemory> {
            if list.len() == list.capacity() {
                list.try_reserve_exact((list.len() / 4).max(256)).map_err(|_| NoMemory)?;
            }
            Ok(())
        }
        grow(&mut self.kept)?;
        grow(&mut self.exact)?;
        if self.allocated() > most { Err(NoMemory) } else { Ok(()) }
    }

    /// Z_m, for an m of the orbit.
    #[inline(never)]
    pub(super) fn at(&self, m: usize) -> Complex<Dd> {
        assert!(m <= self.last, "Z_{m} of an orbit up to {}", self.last);
        if m == 0 {
            return Complex::ZERO;
        }
        if (m - 1).is_multiple_of(SPACING) {
            return complex(self.exactly(m, value_of(&self.kept[(m - 1) / SPACING])));
        }
        self.with_run((m - 1) / SPACING, |run| complex(run[(m - 1) % SPACING]))
    }

    /// Puts Z_m, and what follows it up to the next waypoint, into windows of each part.
    #[inline(never)]
    pub(super) fn fill(&self, m: usize, windows: [&mut Window; 2]) {
        let [high, low] = windows;
        if m == 0 || m > self.last {
            (high[0], low[0]) = ([0.0; 2], [0.0; 2]);
            return;
        }
        let begin = (m - 1) % SPACING;
        self.with_run((m - 1) / SPACING, |run| {
            for ((high, low), [re, im, re_low, im_low]) in high.iter_mut().zip(low).zip(&run[begin..]) {
                (*high, *low) = ([*re, *im], [*re_low, *im_low]);
            }
        });
    }

    /// The run of 16 steps from a waypoint on.
    fn with_run<R>(&self, number: usize, of: impl FnOnce(&[Whole; SPACING]) -> R) -> R {
        Recent::with(|recent| of(recent.run((self.id, number as u64), || self.run(number))))
    }

    /// Computes Z at a waypoint and at the steps up to the next one, with zeros beyond the last.
    fn run(&self, number: usize) -> [Whole; SPACING] {
        let mut run = [[0.0; 4]; SPACING];
        let first = 1 + number * SPACING;
        let mut z = self.kept[number];
        for (m, of_m) in (first..=self.last).zip(&mut run) {
            *of_m = self.exactly(m, value_of(&z));
            z = stepped(&z, &self.c);
        }
        run
    }

    /// Z_m, which is computed again or kept itself.
    fn exactly(&self, m: usize, computed: Whole) -> Whole {
        let [re, im, ..] = computed;
        if re.abs().max(im.abs()) > self.largest_exact {
            return computed;
        }
        match self.exact.binary_search_by_key(&(m as u32), |(m, _)| *m) {
            Ok(place) => self.exact[place].1,
            Err(_) => computed,
        }
    }
}

/// The limbs of a number that waypoints keep, in two's complement.
fn cut_off(part: &Fixed) -> [u64; LIMBS] {
    let mut limbs = [0; LIMBS];
    for (kept, limb) in limbs.iter_mut().rev().zip(part.limbs.iter().rev()) {
        *kept = *limb;
    }
    negate_if(part.negative, &mut limbs);
    limbs
}

/// The magnitudes of the parts of a number, and whether they are negative.
#[inline(always)]
fn magnitudes(z: &Parts<LIMBS>) -> (Parts<LIMBS>, [bool; 2]) {
    let negative = z.map(|part| part[LIMBS - 1] >> 63 != 0);
    let mut parts = *z;
    for (part, negative) in parts.iter_mut().zip(negative) {
        negate_if(negative, part);
    }
    (parts, negative)
}

/// z^2 + c.
fn stepped(z: &Parts<LIMBS>, c: &Parts<LIMBS>) -> Parts<LIMBS> {
    let (parts, [of_re, of_im]) = magnitudes(z);
    let [mut re, mut im] = few::square_of(&parts, of_re != of_im);
    add(&mut re, &c[0]);
    add(&mut im, &c[1]);
    [re, im]
}

/// A number, rounded to pairs of f64.
fn value_of(z: &Parts<LIMBS>) -> Whole {
    let (parts, negative) = magnitudes(z);
    let value = leading::joined(parts.each_ref().map(|part| leading::of_limbs(part)), negative);
    whole(Extended::in_range(value).unwrap_or(Complex::ZERO))
}

fn whole(z: Complex<Dd>) -> Whole {
    [z.re.hi, z.im.hi, z.re.lo, z.im.lo]
}

fn complex([re, im, re_low, im_low]: Whole) -> Complex<Dd> {
    Complex { re: Dd { hi: re, lo: re_low }, im: Dd { hi: im, lo: im_low } }
}

/// The runs that a thread has computed last, each at a place that its number tells.
struct Recent {
    /// Which orbit and run it is; none has the number 0.
    keys: Vec<(u64, u64)>,
    runs: Vec<[Whole; SPACING]>,
}

thread_local! {
    static OF_THREAD: RefCell<Recent> = const { RefCell::new(Recent { keys: Vec::new(), runs: Vec::new() }) };
}

impl Recent {
    fn with<R>(of: impl FnOnce(&mut Self) -> R) -> R {
        OF_THREAD.with_borrow_mut(of)
    }

    /// A run, which is computed if it is not kept.
    fn run(&mut self, key: (u64, u64), compute: impl FnOnce() -> [Whole; SPACING]) -> &[Whole; SPACING] {
        if self.keys.is_empty() {
            self.keys.resize(RECENT, (0, 0));
            self.runs.resize(RECENT, [[0.0; 4]; SPACING]);
        }
        // Runs at equal distances, as lanes have them, would have the same place by their low bits alone.
        let mixed = (key.0 ^ key.1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = (mixed >> 32) as usize % RECENT;
        if self.keys[place] != key {
            self.runs[place] = compute();
            self.keys[place] = key;
        }
        &self.runs[place]
    }
}

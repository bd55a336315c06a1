//! Vectors of the numbers of a tier.

use super::mantissa::{Complex, Mantissa, Pair, Real};
use crate::arithmetic::Arithmetic;
use crate::vector::{Mask, Vector, bits};
use fearless_simd::{Simd, SimdBase};
use std::ops::{Add, BitAnd, Mul, Neg, Not, Sub};

/// The most lanes of a level.
pub(super) const LANES: usize = 8;

/// Eight f64: a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Line(pub(super) [f64; 8]);

impl Line {
    /// Zeros.
    pub(super) const ZERO: Self = Self([0.0; 8]);
}

/// f64 in lanes.
pub struct Reals<S: Simd>(Vector<S, f64>);

impl<S: Simd> Clone for Reals<S> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: Simd> Copy for Reals<S> {}

/// A mark for each lane.
pub struct Marks<S: Simd>(Mask<S, f64>);

impl<S: Simd> Clone for Marks<S> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: Simd> Copy for Marks<S> {}

impl<S: Simd> Reals<S> {
    /// The number of lanes.
    pub(super) const LEN: usize = Vector::<S, f64>::LEN;

    /// A number in every lane.
    #[inline(always)]
    pub(super) fn splat(simd: S, v: f64) -> Self {
        Self(Vector::splat(simd, v))
    }
    /// A number for each lane.
    #[inline(always)]
    pub(super) fn from_fn(simd: S, of: impl Fn(usize) -> f64) -> Self {
        Self(Vector(SimdBase::from_fn(simd, of)))
    }
    /// The first numbers of a slice.
    #[inline(always)]
    pub(super) fn load(simd: S, slice: &[f64]) -> Self {
        Self(Vector::load(simd, slice))
    }
    /// Stores the lanes to the start of a slice.
    #[inline(always)]
    pub(super) fn store(self, slice: &mut [f64]) {
        self.0.store(slice);
    }
    /// Stores the lanes that are marked, in order, to the start of a slice; what follows them, up to as many as there are lanes, is overwritten.
    #[inline(always)]
    pub(super) fn store_marked(self, marks: Marks<S>, slice: &mut [f64]) {
        self.0.compress(marks.0).store(slice);
    }
    /// The lanes where this is at most another.
    #[inline(always)]
    pub(super) fn at_most(self, other: Self) -> Marks<S> {
        Marks(self.0.at_most(other.0))
    }
    /// The lanes where this is less than another.
    #[inline(always)]
    pub(super) fn less(self, other: Self) -> Marks<S> {
        Marks(self.0.less(other.0))
    }
    /// The lanes of this that are marked, and those of another elsewhere.
    #[inline(always)]
    pub(super) fn where_else(self, marks: Marks<S>, other: Self) -> Self {
        Self(self.0.where_else(marks.0, other.0))
    }
    /// The lesser of two numbers.
    #[inline(always)]
    pub(super) fn min(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }
    /// The square root.
    #[inline(always)]
    pub(super) fn sqrt(self) -> Self {
        Self(self.0.sqrt())
    }
    /// The greatest whole number that is at most this.
    #[inline(always)]
    pub(super) fn floor(self) -> Self {
        Self(self.0.floor())
    }
}

impl<S: Simd> Add for Reals<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(Arithmetic::add(self.0, other.0))
    }
}

impl<S: Simd> Sub for Reals<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(Arithmetic::sub(self.0, other.0))
    }
}

impl<S: Simd> Mul for Reals<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(Arithmetic::mul(self.0, other.0))
    }
}

impl<S: Simd> Neg for Reals<S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(Arithmetic::neg(self.0))
    }
}

impl<S: Simd> Arithmetic for Reals<S> {
    #[inline(always)]
    fn fma(self, m: Self, a: Self) -> Self {
        Self(self.0.fma(m.0, a.0))
    }
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        self + o
    }
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        self - o
    }
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        self * o
    }
    #[inline(always)]
    fn neg(self) -> Self {
        -self
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0.abs())
    }
    #[inline(always)]
    fn negated_where_negative(self, s: Self) -> Self {
        Self(self.0.negated_where_negative(s.0))
    }
}

impl<S: Simd> Marks<S> {
    /// The first `count` lanes.
    #[inline(always)]
    pub(super) fn first(simd: S, count: usize) -> Self {
        Self(Vector::<S, f64>::first_lanes(simd, count))
    }
    /// A bit for each lane, the lowest for lane 0.
    #[inline(always)]
    pub(super) fn bits(self) -> u64 {
        bits::<S, _>(self.0)
    }
    /// How many lanes are marked.
    #[inline(always)]
    pub(super) fn count(self) -> usize {
        self.bits().count_ones() as usize
    }
}

impl<S: Simd> BitAnd for Marks<S> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl<S: Simd> Not for Marks<S> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0)
    }
}

/// Numbers of a tier in lanes, with the operations of [`Real`].
pub trait Lanes<S: Simd>: Real {
    /// The numbers made of these.
    fn from_parts(part: impl FnMut(usize) -> Reals<S>) -> Self;
    /// One of the f64 that they are made of, the largest first.
    fn part(self, index: usize) -> Reals<S>;
    /// The product with a power of two.
    #[must_use]
    fn scaled(self, power_of_two: Reals<S>) -> Self;
    /// The lanes of this that are marked, and those of another elsewhere.
    #[must_use]
    fn where_else(self, marks: Marks<S>, other: Self) -> Self;
}

impl<S: Simd> Lanes<S> for Reals<S> {
    #[inline(always)]
    fn from_parts(mut part: impl FnMut(usize) -> Self) -> Self {
        part(0)
    }
    #[inline(always)]
    fn part(self, _: usize) -> Self {
        self
    }
    #[inline(always)]
    fn scaled(self, power_of_two: Self) -> Self {
        self * power_of_two
    }
    #[inline(always)]
    fn where_else(self, marks: Marks<S>, other: Self) -> Self {
        Self::where_else(self, marks, other)
    }
}

impl<S: Simd> Lanes<S> for Pair<Reals<S>> {
    #[inline(always)]
    fn from_parts(mut part: impl FnMut(usize) -> Reals<S>) -> Self {
        Self { hi: part(0), lo: part(1) }
    }
    #[inline(always)]
    fn part(self, index: usize) -> Reals<S> {
        if index == 0 { self.hi } else { self.lo }
    }
    #[inline(always)]
    fn scaled(self, power_of_two: Reals<S>) -> Self {
        Self { hi: self.hi * power_of_two, lo: self.lo * power_of_two }
    }
    #[inline(always)]
    fn where_else(self, marks: Marks<S>, other: Self) -> Self {
        Self { hi: self.hi.where_else(marks, other.hi), lo: self.lo.where_else(marks, other.lo) }
    }
}

/// Complex numbers of a tier in lanes.
pub(super) type ComplexLanes<T, S> = Complex<<T as Mantissa>::Lanes<S>>;

/// Complex numbers in lanes.
pub(super) trait ComplexInLanes<S: Simd> {
    /// The square of the modulus, in f64.
    fn square_of(self) -> Reals<S>;
    /// |re| + |im|, in f64.
    fn taxicab_of(self) -> Reals<S>;
    /// The lanes of this that are marked, and those of another elsewhere.
    fn where_else(self, marks: Marks<S>, other: Self) -> Self;
}

impl<S: Simd, L: Lanes<S>> ComplexInLanes<S> for Complex<L> {
    #[inline(always)]
    fn square_of(self) -> Reals<S> {
        let (re, im) = (self.re.part(0), self.im.part(0));
        re * re + im * im
    }
    #[inline(always)]
    fn taxicab_of(self) -> Reals<S> {
        self.re.part(0).abs() + self.im.part(0).abs()
    }
    #[inline(always)]
    fn where_else(self, marks: Marks<S>, other: Self) -> Self {
        Self { re: self.re.where_else(marks, other.re), im: self.im.where_else(marks, other.im) }
    }
}

/// The first and the second parts of a pair for each lane.
#[inline(always)]
pub(super) fn pairs<'a, S: Simd>(simd: S, pair: impl Fn(usize) -> &'a [f64; 2]) -> [Reals<S>; 2] {
    // Two vectors of whole pairs, each of which is loaded at once.
    let half = Reals::<S>::LEN / 2;
    let low = Reals::from_fn(
        simd,
        #[inline(always)]
        |i| pair(i / 2)[i % 2],
    );
    let high = Reals::from_fn(
        simd,
        #[inline(always)]
        |i| pair(half + i / 2)[i % 2],
    );
    [Reals(low.0.unzip_low(high.0)), Reals(low.0.unzip_high(high.0))]
}

/// The most f64 of a block.
const MOST: usize = 32;

/// The f64 of blocks, one for each lane: number i of all of them in vector i.
#[inline(always)]
pub(super) fn transposed<T: Mantissa, S: Simd>(simd: S, blocks: &[&T::Lines; LANES]) -> [Reals<S>; MOST] {
    let len = Reals::<S>::LEN;
    let mut columns = [Reals::splat(simd, 0.0); MOST];
    for line in 0..T::NO_LINES.as_ref().len() {
        for part in 0..LANES / len {
            let mut rows = [Reals::splat(simd, 0.0); LANES];
            for lane in 0..len {
                rows[lane] = Reals::load(simd, &blocks[lane].as_ref()[line].0[part * len..]);
            }
            // Each round of zips rotates the bits of (row, lane) by one: after log2 of the lanes, rows and lanes are exchanged.
            let mut round = len;
            while round > 1 {
                let of_before = rows;
                for row in 0..len / 2 {
                    let (a, b) = (of_before[row].0, of_before[row + len / 2].0);
                    rows[2 * row] = Reals(a.zip_low(b));
                    rows[2 * row + 1] = Reals(a.zip_high(b));
                }
                round /= 2;
            }
            columns[line * LANES + part * len..][..len].copy_from_slice(&rows[..len]);
        }
    }
    columns
}

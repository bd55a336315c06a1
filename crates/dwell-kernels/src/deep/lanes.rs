//! Vectors of the numbers of a tier.

use super::mantissa::{Complex, Mantissa, Pair, Real};
use crate::arithmetic::Arithmetic;
use crate::vector::{Mask, Vector};
use fearless_simd::Simd;

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
pub(super) type Reals<S> = Vector<S, f64>;

/// A mark for each lane.
pub(super) type Marks<S> = Mask<S, f64>;

/// Whole numbers of lanes.
pub(super) type Indices = [usize; LANES];

/// 2^52: in the sum of it and a smaller whole number the low bits are those of the number.
pub(super) const ABOVE: f64 = 4_503_599_627_370_496.0;

/// The whole numbers of lanes.
#[inline(always)]
pub(super) fn indices<S: Simd>(simd: S, numbers: Reals<S>) -> Indices {
    let mut sums = [0.0; LANES];
    (numbers + Reals::splat(simd, ABOVE)).store(&mut sums);
    let mut indices = [0; LANES];
    for lane in 0..Reals::<S>::LEN {
        indices[lane] = (sums[lane].to_bits() & ((1 << 52) - 1)) as usize;
    }
    indices
}

/// Numbers of a tier in lanes, with the operations of [`Real`].
pub trait Lanes<S: Simd>: Real {
    /// The numbers made of these.
    fn from_parts(part: impl FnMut(usize) -> Vector<S, f64>) -> Self;
    /// One of the f64 that they are made of, the largest first.
    fn part(self, index: usize) -> Vector<S, f64>;
    /// The difference from an f64, off by at most [`Mantissa::UNIT`] times the sum of the moduli.
    #[must_use]
    fn minus(self, other: Vector<S, f64>) -> Self;
    /// The product with a power of two.
    #[must_use]
    fn scaled(self, power_of_two: Vector<S, f64>) -> Self;
    /// The sum, off by at most [`Mantissa::UNIT`] times the sum of the moduli, of pairs 3/8 of that.
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// The product, off by at most sqrt 5 [`Mantissa::UNIT`] times that of the moduli.
    #[must_use]
    fn product(a: Complex<Self>, b: Complex<Self>) -> Complex<Self>;
    /// The lanes of this that are marked, and those of another elsewhere.
    #[must_use]
    fn where_else(self, marks: Mask<S, f64>, other: Self) -> Self;
}

impl<S: Simd> Lanes<S> for Vector<S, f64> {
    #[inline(always)]
    fn from_parts(mut part: impl FnMut(usize) -> Self) -> Self {
        part(0)
    }
    #[inline(always)]
    fn part(self, _: usize) -> Self {
        self
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self - other
    }
    #[inline(always)]
    fn scaled(self, power_of_two: Self) -> Self {
        self * power_of_two
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    #[inline(always)]
    fn product(a: Complex<Self>, b: Complex<Self>) -> Complex<Self> {
        a * b
    }
    #[inline(always)]
    fn where_else(self, marks: Mask<S, f64>, other: Self) -> Self {
        Self::where_else(self, marks, other)
    }
}

impl<S: Simd> Lanes<S> for Pair<Vector<S, f64>> {
    #[inline(always)]
    fn from_parts(mut part: impl FnMut(usize) -> Vector<S, f64>) -> Self {
        Self { hi: part(0), lo: part(1) }
    }
    #[inline(always)]
    fn part(self, index: usize) -> Vector<S, f64> {
        if index == 0 { self.hi } else { self.lo }
    }
    #[inline(always)]
    fn minus(self, other: Vector<S, f64>) -> Self {
        Self::minus(self, other)
    }
    #[inline(always)]
    fn scaled(self, power_of_two: Vector<S, f64>) -> Self {
        Self { hi: self.hi * power_of_two, lo: self.lo * power_of_two }
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self::plus(self, other)
    }
    #[inline(always)]
    fn product(a: Complex<Self>, b: Complex<Self>) -> Complex<Self> {
        a.times(b)
    }
    #[inline(always)]
    fn where_else(self, marks: Mask<S, f64>, other: Self) -> Self {
        Self { hi: self.hi.where_else(marks, other.hi), lo: self.lo.where_else(marks, other.lo) }
    }
}

/// The numbers of a tier of which these are the parts; f64 have the first alone.
#[inline(always)]
pub(super) fn of_parts<T: Mantissa, S: Simd>(hi: Reals<S>, lo: Reals<S>) -> T::Lanes<S> {
    <T::Lanes<S>>::from_parts(
        #[inline(always)]
        |part| if part == 0 { hi } else { lo },
    )
}

/// Complex numbers of a tier in lanes.
pub(super) type ComplexLanes<T, S> = Complex<<T as Mantissa>::Lanes<S>>;

/// Complex numbers in lanes.
pub(super) trait ComplexInLanes<S: Simd> {
    /// The sum, as [`Lanes::plus`].
    fn added(self, other: Self) -> Self;
    /// The product, as [`Lanes::product`].
    fn multiplied(self, other: Self) -> Self;
    /// The square of the modulus, in f64.
    fn square_of(self) -> Reals<S>;
    /// |re| + |im|, in f64.
    fn taxicab_of(self) -> Reals<S>;
    /// The first f64 of each part.
    fn in_f64(self) -> Complex<Reals<S>>;
    /// The lanes of this that are marked, and those of another elsewhere.
    fn where_else(self, marks: Marks<S>, other: Self) -> Self;
}

impl<S: Simd, L: Lanes<S>> ComplexInLanes<S> for Complex<L> {
    #[inline(always)]
    fn added(self, other: Self) -> Self {
        Self { re: self.re.plus(other.re), im: self.im.plus(other.im) }
    }
    #[inline(always)]
    fn multiplied(self, other: Self) -> Self {
        L::product(self, other)
    }
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
    fn in_f64(self) -> Complex<Reals<S>> {
        Complex { re: self.re.part(0), im: self.im.part(0) }
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
    [low.unzip_low(high), low.unzip_high(high)]
}

/// The most f64 of a block.
const MOST: usize = 32;

/// The f64 of blocks: number i of the block of each lane in vector i.
pub(super) type Columns<S> = [Reals<S>; MOST];

/// The f64 of one block for all lanes.
#[inline(always)]
pub(super) fn broadcast<S: Simd>(simd: S, block: &impl AsRef<[Line]>) -> Columns<S> {
    let mut columns = [Reals::splat(simd, 0.0); MOST];
    for (line, columns) in block.as_ref().iter().zip(columns.chunks_mut(LANES)) {
        for (number, column) in line.0.iter().zip(columns) {
            *column = Reals::splat(simd, *number);
        }
    }
    columns
}

/// The f64 of blocks, one for each lane.
#[inline(always)]
pub(super) fn transposed<S: Simd>(simd: S, blocks: &[&impl AsRef<[Line]>; LANES]) -> Columns<S> {
    let len = Reals::<S>::LEN;
    let mut columns = [Reals::splat(simd, 0.0); MOST];
    for line in 0..blocks[0].as_ref().len() {
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
                    let (a, b) = (of_before[row], of_before[row + len / 2]);
                    rows[2 * row] = a.zip_low(b);
                    rows[2 * row + 1] = a.zip_high(b);
                }
                round /= 2;
            }
            columns[line * LANES + part * len..][..len].copy_from_slice(&rows[..len]);
        }
    }
    columns
}

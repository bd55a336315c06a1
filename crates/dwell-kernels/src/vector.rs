//! Vectors of numbers: the abstraction over `fearless_simd` that every kernel is written with.

use crate::arithmetic::Arithmetic;
use crate::number::Number;
use fearless_simd::{ExtractToken, Select, Simd, SimdBase, SimdFloat, SimdMask};

/// The lanes of the widest vector: 16 f32 in 512 bits.
pub(crate) const MAX_LANES: usize = 16;

/// A vector of numbers of the native width of the level `S`.
pub struct Vector<S: Simd, N: Number>(pub(crate) N::Native<S>);

/// A mask over the lanes of a [`Vector`].
pub(crate) type Mask<S, N> = <<N as fearless_simd::SimdFloatElement>::Native<S> as SimdBase<S>>::Mask;

impl<S: Simd, N: Number> Clone for Vector<S, N> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: Simd, N: Number> Copy for Vector<S, N> {}

impl<S: Simd, N: Number> Vector<S, N> {
    /// The number of lanes.
    pub(crate) const LEN: usize = <N::Native<S> as SimdBase<S>>::LEN;

    /// A vector with `v` in every lane.
    #[inline(always)]
    pub(crate) fn splat(simd: S, v: N) -> Self {
        Self(N::Native::<S>::splat(simd, v))
    }
    /// A vector with a number for each lane.
    #[inline(always)]
    pub(crate) fn from_fn(simd: S, of: impl FnMut(usize) -> N) -> Self {
        Self(N::Native::<S>::from_fn(simd, of))
    }
    /// Loads the first [`Self::LEN`] numbers of `slice`.
    #[inline(always)]
    pub(crate) fn load(simd: S, slice: &[N]) -> Self {
        Self(N::Native::<S>::from_slice(simd, &slice[..Self::LEN]))
    }
    /// Stores the lanes to the start of `slice`.
    #[inline(always)]
    pub(crate) fn store(self, slice: &mut [N]) {
        self.0.store_slice(&mut slice[..Self::LEN]);
    }
    /// The lanes where `self > o` or either is NaN.
    #[inline(always)]
    pub(crate) fn not_at_most(self, o: Self) -> Mask<S, N> {
        !self.0.simd_le(o.0)
    }
    /// The lanes where `self == o`. NaN equals nothing; zeros are equal whatever their signs.
    #[inline(always)]
    pub(crate) fn equals(self, o: Self) -> Mask<S, N> {
        self.0.simd_eq(o.0)
    }
    /// The lanes where `self <= o`.
    #[inline(always)]
    pub(crate) fn at_most(self, o: Self) -> Mask<S, N> {
        self.0.simd_le(o.0)
    }
    /// The lanes where `self < o`.
    #[inline(always)]
    pub(crate) fn less(self, o: Self) -> Mask<S, N> {
        self.0.simd_lt(o.0)
    }
    /// The lanes of `self` where the mask is set and those of `o` elsewhere.
    #[inline(always)]
    pub(crate) fn where_else(self, mask: Mask<S, N>, o: Self) -> Self {
        Self(mask.select(self.0, o.0))
    }
    /// A mask of the first `count` lanes.
    #[inline(always)]
    pub(crate) fn first_lanes(simd: S, count: usize) -> Mask<S, N> {
        let bits = if count >= Self::LEN { u64::MAX } else { (1 << count) - 1 };
        Mask::<S, N>::from_bitmask(simd, bits & (u64::MAX >> (64 - Self::LEN)))
    }
    /// The mask with these bits, lane 0 in the lowest.
    #[inline(always)]
    pub(crate) fn mask(simd: S, bits: u64) -> Mask<S, N> {
        Mask::<S, N>::from_bitmask(simd, bits)
    }
    /// The square root, rounded once.
    #[inline(always)]
    pub(crate) fn sqrt(self) -> Self {
        Self(self.0.sqrt())
    }
    /// The greater of two numbers; one of them is NaN: either.
    #[inline(always)]
    pub(crate) fn max(self, o: Self) -> Self {
        Self(self.0.max(o.0))
    }
    /// `self / o`, rounded once.
    #[inline(always)]
    pub(crate) fn div(self, o: Self) -> Self {
        Self(self.0 / o.0)
    }
    /// The lesser of two numbers; one of them is NaN: either.
    #[inline(always)]
    pub(crate) fn min(self, o: Self) -> Self {
        Self(self.0.min(o.0))
    }
    /// The greatest whole number that is at most this.
    #[inline(always)]
    pub(crate) fn floor(self) -> Self {
        Self(self.0.floor())
    }
    /// The lanes of the lower halves of this and another in turn: a_0, b_0, a_1, b_1, ...
    #[inline(always)]
    pub(crate) fn zip_low(self, o: Self) -> Self {
        Self(self.0.zip_low(o.0))
    }
    /// The lanes of the upper halves of this and another in turn.
    #[inline(always)]
    pub(crate) fn zip_high(self, o: Self) -> Self {
        Self(self.0.zip_high(o.0))
    }
    /// The even lanes of this and then of another.
    #[inline(always)]
    pub(crate) fn unzip_low(self, o: Self) -> Self {
        Self(self.0.unzip_low(o.0))
    }
    /// The odd lanes of this and then of another.
    #[inline(always)]
    pub(crate) fn unzip_high(self, o: Self) -> Self {
        Self(self.0.unzip_high(o.0))
    }
    /// Moves the lanes where the mask is set to the front, in order. The other lanes of the result are unspecified.
    #[inline(always)]
    pub(crate) fn compress(self, mask: Mask<S, N>) -> Self {
        Self(self.0.compress(mask))
    }
}

/// The mask as an integer, with lane 0 in the lowest bit.
#[inline(always)]
pub(crate) fn bits<S: Simd, M: SimdMask<S>>(mask: M) -> u64 {
    mask.to_bitmask()
}

impl<S: Simd, N: Number> Arithmetic for Vector<S, N> {
    // `mul_add_precise` is the fused instruction where the level has one (avx2, avx512, neon); `mul_add` would round
    // twice on other levels. The scalar level uses the scalar instruction or the fma of the C library (see `level`):
    // both are correctly rounded and faster than the emulation of the vector library.
    #[inline(always)]
    fn fma(self, m: Self, a: Self) -> Self {
        let simd = self.0.token();
        if simd.level().is_fallback() {
            return Self(N::Native::<S>::from_fn(simd, |i| self.0[i].fma(m.0[i], a.0[i])));
        }
        Self(self.0.mul_add_precise(m.0, a.0))
    }
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self(self.0 + o.0)
    }
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self(self.0 - o.0)
    }
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        Self(self.0 * o.0)
    }
    #[inline(always)]
    fn neg(self) -> Self {
        Self(-self.0)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0.abs())
    }
    #[inline(always)]
    fn negated_where_negative(self, s: Self) -> Self {
        let zero = Self::splat(self.0.token(), N::default());
        self.neg().where_else(s.less(zero), self)
    }
}

macro_rules! operator {
    ($name:ident, $method:ident) => {
        impl<S: Simd, N: Number> std::ops::$name for Vector<S, N> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                Arithmetic::$method(self, o)
            }
        }
    };
}
operator!(Add, add);
operator!(Sub, sub);
operator!(Mul, mul);

impl<S: Simd, N: Number> std::ops::Neg for Vector<S, N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Arithmetic::neg(self)
    }
}

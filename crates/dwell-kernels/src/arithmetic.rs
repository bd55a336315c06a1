//! The operations that a step of the iteration is made of, on one number or on a vector of numbers.
//!
//! [`crate::recipe`] fixes which of these operations compute a step, and in which order. Each method is one correctly
//! rounded IEEE 754 operation on every lane, or is exact. So a point has the same dwell, bit for bit, on one number and
//! in every width of vector. An implementation must not contract a product and a sum into a fused multiply-add, reorder
//! operations or approximate a result.

/// A real number, or a vector of real numbers to which each operation is applied lane by lane.
pub trait Arithmetic: Copy {
    /// `self * m + a`, rounded once: a fused multiply-add.
    #[must_use]
    fn fma(self, m: Self, a: Self) -> Self;
    /// `self + o`, rounded once.
    #[must_use]
    fn add(self, o: Self) -> Self;
    /// `self - o`, rounded once.
    #[must_use]
    fn sub(self, o: Self) -> Self;
    /// `self * o`, rounded once.
    #[must_use]
    fn mul(self, o: Self) -> Self;
    /// `-self`, exact.
    #[must_use]
    fn neg(self) -> Self;
    /// The absolute value, exact.
    #[must_use]
    fn abs(self) -> Self;
    /// `-self` where `s < 0` and `self` elsewhere, also where `s` is -0.0 or NaN; exact.
    #[must_use]
    fn negated_where_negative(self, s: Self) -> Self;
}

macro_rules! scalar_arithmetic {
    ($t:ty) => {
        impl Arithmetic for $t {
            #[inline(always)]
            fn fma(self, m: Self, a: Self) -> Self {
                self.mul_add(m, a)
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
                <$t>::abs(self)
            }
            #[inline(always)]
            fn negated_where_negative(self, s: Self) -> Self {
                if s < 0.0 { -self } else { self }
            }
        }
    };
}
scalar_arithmetic!(f32);
scalar_arithmetic!(f64);

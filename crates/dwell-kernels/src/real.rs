//! The few operations a recipe is made of, over one number or a vector of them.
//!
//! Each method is one correctly rounded IEEE 754 operation on every lane, or exact. Nothing here may be contracted,
//! reassociated or approximated: the exactness of the whole engine rests on this page and on [`crate::recipe`].

/// A real number, or a vector of them that are treated alike.
pub trait Real: Copy {
    /// `self * m + a`, rounded once.
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
    /// `-self` where `s < 0`, `self` elsewhere, exact.
    #[must_use]
    fn negated_where_negative(self, s: Self) -> Self;
}

macro_rules! scalar_real {
    ($t:ty) => {
        impl Real for $t {
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
scalar_real!(f32);
scalar_real!(f64);

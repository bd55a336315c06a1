// Numbers of any magnitude, operation by operation those of extended.rs of the CPU kernels: bounds m 2^e and complex numbers m 2^e, of which the (larger part of) m is in [1, 2), or 0.
#pragma once
#include "deep_view.cuh"

// The exponent of 0, and the gap from which on the smaller one of two summands is left out: below 2^-200 of the sum, which the factor for the roundings of a bound covers.
#define DEEP_OF_ZERO (-(1 << 29))
#define DEEP_APART 200

__device__ __forceinline__ Bound bound(double m, int e) {
    if (m == 0) return {0.0, DEEP_OF_ZERO};
    const int of_m = exponent(m);
    return {m * power(-of_m), e + of_m};
}
__device__ __forceinline__ Bound bound(double m) { return bound(m, 0); }
__device__ __forceinline__ Bound operator*(Bound a, Bound b) { return bound(a.m * b.m, max(a.e, DEEP_OF_ZERO / 2) + max(b.e, DEEP_OF_ZERO / 2)); }
__device__ __forceinline__ Bound operator*(Bound a, double by) { return bound(a.m * by, a.e); }
__device__ __forceinline__ Bound operator+(Bound a, Bound b) {
    const Bound big = a.e >= b.e ? a : b, small = a.e >= b.e ? b : a;
    const int gap = big.e - small.e;
    return gap > DEEP_APART ? big : bound(big.m + small.m * power(-gap), big.e);
}
__device__ __forceinline__ bool operator<(Bound a, Bound b) { return a.e < b.e || (a.e == b.e && a.m < b.m); }
// 0 below the range of double, and infinity above it.
__device__ __forceinline__ double in_double(Bound a) { return a.e < -1000 ? 0.0 : a.e > 1000 ? INFINITY : a.m * power(a.e); }
// x^power.
__device__ __forceinline__ Bound raised(Bound x, unsigned power) {
    Bound product = {1.0, 0};
    for (unsigned factor = 0; factor < power; factor++) product = product * x;
    return product;
}

template <class T> __device__ __forceinline__ Extended<T> extended(Complex<T> m, int e) {
    if (!(size_of(m) > 0)) return {Complex<T>{}, DEEP_OF_ZERO};
    return normalised(m, e);
}
template <class T> __device__ __forceinline__ Extended<T> operator*(Extended<T> a, Extended<T> b) {
    return extended(a.m * b.m, max(a.e, DEEP_OF_ZERO / 2) + max(b.e, DEEP_OF_ZERO / 2));
}
template <class T> __device__ __forceinline__ Extended<T> operator+(Extended<T> a, Extended<T> b) {
    const Extended<T> big = a.e >= b.e ? a : b, small = a.e >= b.e ? b : a;
    const int gap = big.e - small.e;
    return gap > DEEP_APART ? big : extended(big.m + scaled(small.m, power(-gap)), big.e);
}
template <class T> __device__ __forceinline__ Bound modulus_of(Extended<T> z) { return bound(above_sqrt(square(z.m)), z.e); }
template <class T> __device__ __forceinline__ Bound taxicab_of(Extended<T> z) { return bound(taxicab(z.m), z.e); }

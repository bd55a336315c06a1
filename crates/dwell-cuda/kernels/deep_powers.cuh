// Powers, their differences, and folds: power.rs and folds.rs of the CPU kernels, whose derivation holds here, where products are off by less.
#pragma once
#include "deep_extended.cuh"

// w^power, for a power of at least 1, by its binary digits.
template <class Z> __device__ __forceinline__ Z raised(Z w, unsigned power) {
    Z result = w;
    for (int digit = 30 - __clz((int)power); digit >= 0; digit--) {
        result = result * result;
        if (power >> digit & 1) result = result * w;
    }
    return result;
}
// x^power of a number of at least 0, for a power of at least 0.
__device__ __forceinline__ double of_real(double x, unsigned power) { return power == 0 ? 1.0 : raised(x, power); }

// (Z + z)^N - Z^N for w = Z + z, without cancellation.
template <class Z> __device__ __forceinline__ Z difference(Z z, Z w, Z reference, unsigned power) {
    Z d = z, of_w = w, of_z = reference;
    for (int digit = 30 - __clz((int)power); digit >= 0; digit--) {
        d = d * (of_w + of_z);
        const bool has_one = power >> digit & 1;
        if (digit > 0) of_w = of_w * of_w;
        if (digit > 0 || has_one) of_z = of_z * of_z;
        if (has_one) {
            d = d * w + of_z * z;
            if (digit > 0) {
                of_w = of_w * w;
                of_z = of_z * reference;
            }
        }
    }
    return d;
}

__device__ __forceinline__ bool is_negative(double x) { return x < 0; }
__device__ __forceinline__ bool is_negative(Pair x) { return x.hi < 0; }

// A value under the fold.
template <class T> __device__ __forceinline__ Complex<T> folded(unsigned fold, Complex<T> w) {
    if (fold == FOLD_CONJUGATE) return {w.re, -w.im};
    if (fold == FOLD_ABSOLUTE) return {is_negative(w.re) ? -w.re : w.re, is_negative(w.im) ? -w.im : w.im};
    return w;
}
template <class T> __device__ __forceinline__ Extended<T> folded(unsigned fold, Extended<T> w) { return {folded(fold, w.m), w.e}; }

// A part of |Z + x| - |Z| for w = Z + x.
template <class T> __device__ __forceinline__ T folded_part(T x, T w, T reference) {
    const bool below = is_negative(w);
    const T inner = below == is_negative(reference) ? x : reference + w;
    return below ? -inner : inner;
}
// F(Z + z) - F(Z).
template <class T> __device__ __forceinline__ Complex<T> folded_delta(unsigned fold, Complex<T> z, Complex<T> w, Complex<T> reference) {
    if (fold == FOLD_ABSOLUTE) return {folded_part(z.re, w.re, reference.re), folded_part(z.im, w.im, reference.im)};
    return folded(fold, z);
}

// A part of a reference value of any magnitude: m 2^e.
template <class T> struct Part {
    T m;
    int e;
};
// As above, of a delta in units of 2^e.
template <class T> __device__ __forceinline__ T folded_part(T x, int e, Part<T> reference) {
    const int shift = reference.e - e;
    if (high(reference.m) == 0 || shift < -1000) return is_negative(x) ? -x : x;
    // Beyond 2^64, Z is larger than any x below 2, and is not added.
    if (shift > 64) return is_negative(reference.m) ? -x : x;
    const T of_reference = scaled(reference.m, power(shift));
    return folded_part(x, of_reference + x, of_reference);
}
template <class T> __device__ __forceinline__ Extended<T> folded_delta(unsigned fold, Extended<T> z, const Part<T> (&reference)[2]) {
    if (fold != FOLD_ABSOLUTE) return folded(fold, z);
    return extended(Complex<T>{folded_part(z.m.re, z.e, reference[0]), folded_part(z.m.im, z.e, reference[1])}, z.e);
}

// The base-2 logarithm that reaches pixels: log2.rs of the CPU kernels, operation by operation.
#pragma once
#include "number.cuh"

// For positive normal numbers only.
__device__ __forceinline__ double dwell_log2(double x) {
    const unsigned long long SQRT_HALF = 0x3fe6a09e667f3bcdull, SIGNIFICAND = (1ull << 52) - 1;
    const double TWO_TO_52 = 4503599627370496.0;
    const unsigned long long shifted = (unsigned long long)__double_as_longlong(x) - SQRT_HALF;
    const unsigned long long biased = (shifted + (1024ull << 52)) >> 52;
    const double e = Op<double>::sub(
        __longlong_as_double((long long)(biased + (unsigned long long)__double_as_longlong(TWO_TO_52))), TWO_TO_52 + 1024.0);
    const double m = __longlong_as_double((long long)((shifted & SIGNIFICAND) + SQRT_HALF));
    const double s = __ddiv_rn(Op<double>::sub(m, 1.0), Op<double>::add(m, 1.0));
    const double q = Op<double>::mul(s, s);
    // 2 / (ln 2 (2k + 1)), and what rounding the first of them lost.
    const double c = 2.8853900817779268, first_low = 4.0710547481862066e-17;
    double p = c / 21;
#pragma unroll
    for (int k = 9; k >= 1; k--) p = Op<double>::fma(p, q, c / (2 * k + 1));
    p = Op<double>::fma(p, q, first_low);
    const double tail = Op<double>::mul(p, s);
    return Op<double>::add(e, Op<double>::fma(s, c, tail));
}

// The base-2 logarithm on the way to pixels: log2.rs of the CPU kernels, operation by operation.
#pragma once
#include "generated.cuh"
#include "number.cuh"

// For positive normal numbers only.
__device__ __forceinline__ double dwell_log2(double x) {
    const unsigned long long SIGNIFICAND = (1ull << 52) - 1;
    const double TWO_TO_52 = 4503599627370496.0;
    const unsigned long long shifted = (unsigned long long)__double_as_longlong(x) - LOG2_SQRT_HALF_BITS;
    const unsigned long long biased = (shifted + (1024ull << 52)) >> 52;
    const double e = Op<double>::sub(
        __longlong_as_double((long long)(biased + (unsigned long long)__double_as_longlong(TWO_TO_52))), TWO_TO_52 + 1024.0);
    const double m = __longlong_as_double((long long)((shifted & SIGNIFICAND) + LOG2_SQRT_HALF_BITS));
    const double s = __ddiv_rn(Op<double>::sub(m, 1.0), Op<double>::add(m, 1.0));
    const double q = Op<double>::mul(s, s);
    // Coefficients are 2 / (ln 2 (2k + 1)); the first is added last, with its rounding error.
    const double c = LOG2_TWO_OVER_LN_2;
    double p = c / (2 * (LOG2_TERMS - 1) + 1);
#pragma unroll
    for (int k = LOG2_TERMS - 2; k >= 1; k--) p = Op<double>::fma(p, q, c / (2 * k + 1));
    p = Op<double>::fma(p, q, LOG2_FIRST_LOW);
    const double tail = Op<double>::mul(p, s);
    return Op<double>::add(e, Op<double>::fma(s, c, tail));
}

// The operations of the device by those of C++, so that tests run the code of kernels on the host.
#pragma once
#include <cmath>
#include <algorithm>
#include <cstring>
using std::fabs;
using std::fmax;
using std::max;
using std::min;
using std::min;
using std::round;
using std::sqrt;
#define __device__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))

struct double2 {
    double x, y;
};

inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __dsqrt_rn(double x) { return std::sqrt(x); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fsqrt_rn(float x) { return std::sqrt(x); }

// The least float that is not below a sum of two doubles, each of which it may be the error of the other's rounding.
inline float rounded_up(double sum, double error) {
    const float nearest = (float)sum;
    const bool is_below = (double)nearest < sum || ((double)nearest == sum && error > 0);
    return is_below ? std::nextafter(nearest, INFINITY) : nearest;
}
// A sum of doubles and what it is rounded by (Knuth).
inline float sum_up(double a, double b) {
    const double sum = a + b, part = sum - a;
    return rounded_up(sum, (a - (sum - part)) + (b - part));
}
// Products of floats are exact in double.
inline float __fmul_ru(float a, float b) { return rounded_up((double)a * b, 0); }
inline float __fadd_ru(float a, float b) { return sum_up(a, b); }
inline float __fmaf_ru(float a, float b, float c) { return sum_up((double)a * b, c); }
inline float __fmul_rd(float a, float b) { return -__fmul_ru(-a, b); }
inline float __fsub_rd(float a, float b) { return -__fadd_ru(-a, b); }
inline float __double2float_ru(double a) { return rounded_up(a, 0); }
inline float __double2float_rd(double a) { return -rounded_up(-a, 0); }
inline int __clz(unsigned bits) { return bits ? __builtin_clz(bits) : 32; }
inline long long __double_as_longlong(double x) {
    long long bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}
inline double __longlong_as_double(long long bits) {
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

// The numbers that deltas of deep views are iterated in: double, and pairs of double with twice the bits (mantissa.rs of the CPU
// kernels, operation by operation), complex numbers of them, and powers of two.
//
// Operators round each operation to nearest on its own, since kernels are compiled without contraction; fused operations are named.
#pragma once
#include "generated.cuh"
#include "number.cuh"

// A pair of double, of which the value is the sum.
struct Pair {
    double hi, lo;
};

__device__ __forceinline__ Pair two_sum(double a, double b) {
    const double hi = a + b, of_b = hi - a, of_a = hi - of_b;
    return {hi, (a - of_a) + (b - of_b)};
}

__device__ __forceinline__ Pair fast_two_sum(double a, double b) {
    const double hi = a + b;
    return {hi, b - (hi - a)};
}

__device__ __forceinline__ Pair operator+(Pair a, Pair b) {
    const Pair s = two_sum(a.hi, b.hi), t = two_sum(a.lo, b.lo);
    const Pair v = fast_two_sum(s.hi, s.lo + t.hi);
    return fast_two_sum(v.hi, v.lo + t.lo);
}

__device__ __forceinline__ Pair operator-(Pair a) { return {-a.hi, -a.lo}; }
__device__ __forceinline__ Pair operator-(Pair a, Pair b) { return a + -b; }

__device__ __forceinline__ Pair operator*(Pair a, Pair b) {
    const double p = a.hi * b.hi, e = Op<double>::fma(a.hi, b.hi, -p);
    return fast_two_sum(p, e + Op<double>::fma(a.hi, b.lo, a.lo * b.hi));
}

// What the numbers have in common. UNIT bounds the relative error of an operation and of the rounding of a value to the number.
template <class T> struct Mantissa;

template <> struct Mantissa<double> {
    static constexpr int PARTS = 1;
    static constexpr double UNIT = DEEP_UNIT_OF_DOUBLE;
    static __device__ __forceinline__ double of(Pair pair) { return pair.hi; }
    static __device__ __forceinline__ double read(const double* parts, unsigned long long) { return parts[0]; }
    static __device__ __forceinline__ void write(double* parts, unsigned long long, double x) { parts[0] = x; }
};

template <> struct Mantissa<Pair> {
    static constexpr int PARTS = 2;
    static constexpr double UNIT = DEEP_UNIT_OF_PAIR;
    static __device__ __forceinline__ Pair of(Pair pair) { return pair; }
    static __device__ __forceinline__ Pair read(const double* parts, unsigned long long apart) { return {parts[0], parts[apart]}; }
    static __device__ __forceinline__ void write(double* parts, unsigned long long apart, Pair x) {
        parts[0] = x.hi;
        parts[apart] = x.lo;
    }
};

__device__ __forceinline__ double high(double x) { return x; }
__device__ __forceinline__ double high(Pair x) { return x.hi; }
__device__ __forceinline__ double scaled(double x, double power) { return x * power; }
__device__ __forceinline__ Pair scaled(Pair x, double power) { return {x.hi * power, x.lo * power}; }

template <class T> struct Complex {
    T re, im;
};

template <class T> __device__ __forceinline__ Complex<T> operator+(Complex<T> a, Complex<T> b) {
    return {a.re + b.re, a.im + b.im};
}
template <class T> __device__ __forceinline__ Complex<T> operator-(Complex<T> a, Complex<T> b) {
    return {a.re - b.re, a.im - b.im};
}

// a b + c, off by at most 2 u (|a b| + |c|) in double: two fused operations for each part, the inner of which is off by u (|a.im b| + |c|) in
// both parts together, and the outer by u |a b + c|. In pairs a product, off by sqrt 5 u |a b|, and a sum, off by u |a b + c|.
__device__ __forceinline__ Complex<double> multiply_add(Complex<double> a, Complex<double> b, Complex<double> c) {
    return {Op<double>::fma(a.re, b.re, Op<double>::fma(-a.im, b.im, c.re)),
            Op<double>::fma(a.re, b.im, Op<double>::fma(a.im, b.re, c.im))};
}
__device__ __forceinline__ Complex<Pair> multiply_add(Complex<Pair> a, Complex<Pair> b, Complex<Pair> c) {
    return {a.re * b.re - a.im * b.im + c.re, a.re * b.im + a.im * b.re + c.im};
}
// a b, off by at most sqrt 5 u |a b|, and by 2 u |a b| in double.
__device__ __forceinline__ Complex<double> operator*(Complex<double> a, Complex<double> b) {
    return {Op<double>::fma(a.re, b.re, -(a.im * b.im)), Op<double>::fma(a.re, b.im, a.im * b.re)};
}
__device__ __forceinline__ Complex<Pair> operator*(Complex<Pair> a, Complex<Pair> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

template <class T> __device__ __forceinline__ Complex<T> scaled(Complex<T> z, double power) {
    return {scaled(z.re, power), scaled(z.im, power)};
}
// |re| + |im|, at least the modulus, up to a relative error of 2^-51.
template <class T> __device__ __forceinline__ double taxicab(Complex<T> z) { return fabs(high(z.re)) + fabs(high(z.im)); }
// The square of the modulus.
template <class T> __device__ __forceinline__ double square(Complex<T> z) {
    const double re = high(z.re), im = high(z.im);
    return Op<double>::fma(re, re, im * im);
}
// In double.
__device__ __forceinline__ Complex<double> rounded(Complex<double> z) { return z; }
__device__ __forceinline__ Complex<double> rounded(Complex<Pair> z) { return {z.re.hi, z.im.hi}; }
// The greater of |re| and |im|.
template <class T> __device__ __forceinline__ double size_of(Complex<T> z) { return fmax(fabs(high(z.re)), fabs(high(z.im))); }

// 2^power, for powers from -1022 to 1023.
__device__ __forceinline__ double power_of_two(int power) {
    return __longlong_as_double((long long)(1023 + power) << 52);
}
// 2^power; 0 below the range of double, and 2^1000 from there on, for bounds that are then too large to decide anything.
__device__ __forceinline__ double power(int power) { return power < -1000 ? 0.0 : power_of_two(power < 1000 ? power : 1000); }
// floor(log2 x) of a positive normal number.
__device__ __forceinline__ int exponent(double x) {
    return (int)((unsigned long long)__double_as_longlong(x) >> 52 & 0x7ff) - 1023;
}

// At least sqrt(x), for x >= 0, and at most 2^-17 above it.
__device__ __forceinline__ double above_sqrt(double x) {
#ifdef __CUDA_ARCH__
    double root;
    // Some 20 bits. Whatever it gives, the root is taken only where its square is proved to be at least x.
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(root) : "d"(x));
    root *= x * (1.0 + 1.0 / 262144);
    // The residue has one rounding, which keeps its sign.
    if (Op<double>::fma(root, root, -x) >= 0 && root < 1e150) return root;
    return __dsqrt_rn(x) * DEEP_UP;
#else
    return sqrt(x) * DEEP_UP;
#endif
}

// The derivative of an orbit by c, with a bound on its error: derivative.rs of the CPU kernels, whose derivation holds here with these roundings.
//
// Step: 2 w D by `operator*` is off by 2 u |w D| for each half of it, and the sum by u: with w, which is off by 6 u |w|, less than 24 u |w| |D|.
// Block: A + S c + 2 Q z is rounded to double, with which it is off by u of its modulus; in double its own roundings, 6 u of each term, are within k(2 r) / r,
// of which k has 9 u. The product with D and the sum have 3 u, so that 8 u |P_z| |D| is enough.
#pragma once
#include "deep_view.cuh"
#include "logarithm.cuh"

// D and the bound on its error, in units of 2^unit. In the range of double the unit is 0; otherwise the larger part of D is in [1, 2).
struct Derivative {
    Complex<double> d;
    double off;
    int unit;
};

// Where none is iterated.
struct NoDerivative {};

// What an orbit has of it. `IS` says whether there is one.
template <class D> struct WithDerivative {
    static constexpr bool IS = true;
    D derivative;
};
template <> struct WithDerivative<NoDerivative> {
    static constexpr bool IS = false;
};

// A relative error from which on a derivative is of no use. What is left out of a sum of terms of which one is below 2^-1000 of another is then below DEEP_UNDERFLOW.
#define DEEP_USELESS 1e9

__device__ __forceinline__ double size_of(const Derivative& of) { return size_of(of.d); }
__device__ __forceinline__ void multiply(Derivative& of, double power) { of.d = scaled(of.d, power); }

// With the largest part of a derivative in [1, 2), unless it is 0. Parts outside of 2^-900 to 2^900 are of no use.
template <class D> __device__ __forceinline__ void normalise(D& of) {
    const double size = size_of(of);
    if (size == 0 && of.off < DEEP_USELESS) return;
    const int e = exponent(size);
    if (!(of.off < DEEP_USELESS * size) || e < -900 || e > 900) {
        of.off = INFINITY;
        return;
    }
    multiply(of, power(-e));
    of.off = of.off * power(-e) * DEEP_UP + DEEP_UNDERFLOW;
    of.unit += e;
}

// In the range of double, as far as it is.
template <class D> __device__ __forceinline__ void bring_into_range(D& of) {
    if (of.unit < -900 || of.unit > 900) of.off = INFINITY;
    const double by = power(of.unit);
    multiply(of, by);
    of.off = of.off * by + DEEP_UNDERFLOW;
    of.unit = 0;
}

// After a step in the range of double from w, of at most this modulus, which is off by `off_w` and by 6 u |w|.
__device__ __forceinline__ void step_derivative(const DeepView& v, Complex<double> w, double modulus, double off_w, Derivative& of) {
    const Complex<double> product = w * of.d;
    const double by_w = Op<double>::fma(24 * DEEP_UNIT_OF_DOUBLE, modulus, 2 * off_w);
    const double rest = Op<double>::fma(by_w, taxicab(of.d), Op<double>::fma(2 * DEEP_UNIT_OF_DOUBLE, v.unit, DEEP_UNDERFLOW));
    of.off = Op<double>::fma(2 * (modulus + off_w), of.off, rest) * DEEP_UP;
    of.d = {product.re + product.re + v.unit, product.im + product.im};
}

// After a step of any magnitude; `off_w` is in the unit of w.
__device__ __forceinline__ void step_derivative_wide(const DeepView& v, Extended<double> w, double off_w, Derivative& of) {
    const int of_product = w.e + 1 + of.unit, unit = max(of_product, v.scale);
    const double by = power(of_product - unit), one = power(v.scale - unit);
    const double modulus = above_sqrt(square(w.m));
    const double by_w = off_w + 12 * DEEP_UNIT_OF_DOUBLE * modulus;
    of.off = (((modulus + off_w) * of.off + by_w * taxicab(of.d)) * by + 2 * DEEP_UNIT_OF_DOUBLE * one + DEEP_UNDERFLOW) * DEEP_UP;
    of.d = scaled(w.m * of.d, by);
    of.d.re += one;
    of.unit = unit;
    normalise(of);
}

// That of the beginning: of P + (B + T c) c, with B and T in units of 2^start_unit.
__device__ __forceinline__ Derivative first_derivative(const DeepView& v, Complex<double> c) {
    const auto part = [&](unsigned number) -> Complex<double> { return {v.start[4 * number], v.start[4 * number + 2]}; };
    const Complex<double> b = part(1), t = part(2);
    Derivative of;
    of.d = multiply_add(t + t, c, b);
    const double roundings = 16 * DEEP_UNIT_OF_DOUBLE * (taxicab(b) + 2 * taxicab(t));
    // The bound on z includes the error of c, and so is above that on what is left of the polynomial.
    const double rest = Bound{v.start_error, v.start_error_exponent}.in_unit(v.start_unit);
    of.off = (rest * v.over_margin + roundings) * DEEP_UP + DEEP_UNDERFLOW;
    of.unit = v.start_unit;
    if (of.unit != 0) normalise(of);
    return of;
}

// What is kept of the derivative of a pixel: of its orbit (0), and of the orbit before an attempt to prove that it stays (1).
#define DEEP_OF_DERIVATIVE 5
__device__ __forceinline__ void load_derivative(const DeepPixels& p, unsigned pixel, unsigned number, Derivative& of) {
    const unsigned long long apart = p.capacity;
    const double* from = p.derivatives + DEEP_OF_DERIVATIVE * number * apart + pixel;
    of = {{from[0], from[apart]}, from[2 * apart], p.derivative_units[number * apart + pixel]};
}
__device__ __forceinline__ void store_derivative(const DeepPixels& p, unsigned pixel, unsigned number, const Derivative& of) {
    const unsigned long long apart = p.capacity;
    double* to = p.derivatives + DEEP_OF_DERIVATIVE * number * apart + pixel;
    to[0] = of.d.re;
    to[apart] = of.d.im;
    to[2 * apart] = of.off;
    p.derivative_units[number * apart + pixel] = of.unit;
}

// What is read off a point that escapes, each value where it is wanted.
struct Values {
    double smooth, distance, slope[2];
};

// The multiple of 2^-bits nearest to a number that is known to within `doubt`, in that unit: whether it is certain.
__device__ __forceinline__ bool nearest(double value, double doubt, unsigned bits, double& rounded) {
    const double unit = 1 << bits;
    const double low = round((value - doubt) * unit), high = round((value + doubt) * unit);
    rounded = low;
    return low == high;
}

// 2^(units 2^-DEEP_DISTANCE_BITS): products of square roots, the bits of `power_of_two` of the library.
__device__ __forceinline__ double power_of_units(long long units) {
    const long long whole = units >> DEEP_DISTANCE_BITS;
    double root = 2, value = 1;
    for (int bit = DEEP_DISTANCE_BITS - 1; bit >= 0; bit--) {
        root = __dsqrt_rn(root);
        if (units >> bit & 1) value = value * root;
    }
    return value * power((int)whole);
}

// An orbit beyond 256 with its derivative: the product of the gradient of |w| with |w|, what its terms amount to without cancellation, and relative errors.
struct Far {
    Complex<double> w;
    double g, h, all, off_w, off_d;
    // The base-2 logarithm of the derivative of |w| in units of 2^unit, and what that is off by.
    double of_d, doubt_of_d;
    int unit;
};

// The distance and the slope: values.rs of the CPU kernels. Whether they are certain.
template <class View> __device__ __forceinline__ bool distance_and_slope(const View& v, const Far& far, Values& values) {
    if (!(far.off_w < DEEP_FAR_TOO_MUCH && far.off_d < DEEP_FAR_TOO_MUCH)) return false;
    const double LN_2 = 0.693147180559945309417232121458;
    const double half = dwell_log2(square(far.w)) * 0.5;
    const double value = half + dwell_log2(half * LN_2) - far.of_d - dwell_log2(v.height);
    double distance;
    if (!nearest(value, 2 * far.off_w + 2 * far.doubt_of_d + 1e-12, DEEP_DISTANCE_BITS, distance)) return false;
    const long long units = (long long)distance - ((long long)far.unit << DEEP_DISTANCE_BITS);
    if (units >> DEEP_DISTANCE_BITS < -1000 || units >> DEEP_DISTANCE_BITS > 900) return false;
    values.distance = power_of_units(units);
    const double right = far.g * v.pixel[0] + far.h * v.pixel[1], up = far.g * v.pixel[2] + far.h * v.pixel[3];
    const double length = sqrt(right * right + up * up);
    const double most = far.all * (fabs(v.pixel[0]) + fabs(v.pixel[1]) + fabs(v.pixel[2]) + fabs(v.pixel[3]));
    const double doubt = 3 * (far.off_w + far.off_d + 1e-15) * most / length;
    double parts[2];
    if (!nearest(right / length, doubt, DEEP_SLOPE_BITS, parts[0]) || !nearest(up / length, doubt, DEEP_SLOPE_BITS, parts[1])) return false;
    // Without the sign of 0.
    for (unsigned part = 0; part < 2; part++) values.slope[part] = (parts[part] + 0.0) / (1 << DEEP_SLOPE_BITS);
    return true;
}

// Of a complex derivative the gradient of |w| is along w / D.
__device__ __forceinline__ Far far_of(Complex<double> w, double off, Derivative of) {
    normalise(of);
    const Complex<double> d = of.d;
    Far far;
    far.w = w;
    far.off_w = off / sqrt(square(w)) * DEEP_UP;
    far.off_d = of.off / sqrt(square(d)) * DEEP_UP;
    far.g = w.re * d.re + w.im * d.im;
    far.h = w.im * d.re - w.re * d.im;
    far.all = sqrt(far.g * far.g + far.h * far.h);
    far.of_d = dwell_log2(square(d)) * 0.5;
    far.doubt_of_d = far.off_d;
    far.unit = of.unit;
    return far;
}

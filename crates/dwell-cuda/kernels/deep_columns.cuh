// The derivative of an orbit of a formula by the pixel, with a bound on its error: formulas/derivative.rs of the CPU kernels, whose derivation holds here, where products are off by less.
#pragma once
#include "deep_derivative.cuh"
#include "deep_powers.cuh"

// The columns of the derivative, of which a formula without a fold has the first, and the bound on the error of each, in units of 2^unit. In the range of double the unit is 0; otherwise the
// largest part is in [1, 2).
struct Columns {
    Complex<double> d[2];
    double off;
    int unit;
};

// The signs of the parts of w, which a fold gives to derivatives, and which of them are certain.
struct Signs {
    bool negative[2], certain[2];
};

__device__ __forceinline__ unsigned columns_of(const DeepFormula& v) { return v.fold == FOLD_NONE ? 1 : 2; }

__device__ __forceinline__ double size_of(const Columns& of) { return fmax(size_of(of.d[0]), size_of(of.d[1])); }
__device__ __forceinline__ void multiply(Columns& of, double power) {
    for (unsigned column = 0; column < 2; column++) of.d[column] = scaled(of.d[column], power);
}

// That of the first delta, the pixel itself.
__device__ __forceinline__ Columns first_columns(const DeepFormula& v) {
    const bool has_second = columns_of(v) == 2;
    return {{{1.0, 0.0}, {0.0, has_second ? 1.0 : 0.0}}, 0.0, v.scale};
}

__device__ __forceinline__ void load_derivative(const DeepPixels& p, unsigned pixel, unsigned number, Columns& of) {
    const unsigned long long apart = p.capacity;
    const double* from = p.derivatives + DEEP_OF_DERIVATIVE * number * apart + pixel;
    of = {{{from[0], from[apart]}, {from[2 * apart], from[3 * apart]}}, from[4 * apart], p.derivative_units[number * apart + pixel]};
}
__device__ __forceinline__ void store_derivative(const DeepPixels& p, unsigned pixel, unsigned number, const Columns& of) {
    const unsigned long long apart = p.capacity;
    double* to = p.derivatives + DEEP_OF_DERIVATIVE * number * apart + pixel;
    for (unsigned column = 0; column < 2; column++) {
        to[2 * column * apart] = of.d[column].re;
        to[(2 * column + 1) * apart] = of.d[column].im;
    }
    to[4 * apart] = of.off;
    p.derivative_units[number * apart + pixel] = of.unit;
}

// The signs of a value whose parts are known to within these.
__device__ __forceinline__ Signs signs_of(Complex<double> w, double off_re, double off_im) {
    return {{w.re < 0, w.im < 0}, {off_re < fabs(w.re), off_im < fabs(w.im)}};
}
// A column with the signs of the fold, and what it is off by where they are not certain.
__device__ __forceinline__ Complex<double> with_signs(unsigned fold, const Signs& signs, Complex<double> d, double& unsure) {
    unsure = 0;
    if (fold == FOLD_CONJUGATE) return {d.re, -d.im};
    if (fold != FOLD_ABSOLUTE) return d;
    unsure = (signs.certain[0] ? 0.0 : 2 * fabs(d.re)) + (signs.certain[1] ? 0.0 : 2 * fabs(d.im));
    return {signs.negative[0] ? -d.re : d.re, signs.negative[1] ? -d.im : d.im};
}

// After a step from w = m 2^e, of at most `modulus` and known to within h, both in units of 2^e; where it is in the range of double, so is the derivative.
__device__ __forceinline__ void step_derivative(const DeepFormula& v, Extended<double> w, double modulus, double h, const Signs& signs, Columns& of) {
    const double n = v.power, u = DEEP_UNIT_OF_DOUBLE;
    double none;
    Complex<double> by = raised(with_signs(v.fold, signs, w.m, none), v.power - 1);
    by = {n * by.re, n * by.im};
    const double beyond = modulus + h;
    const double growth = n * of_real(beyond, v.power - 1);
    const double of_w = n * (n - 1) * of_real(beyond, v.power - 2) * h;
    const double of_column = of_w + 3 * n * n * u * of_real(modulus, v.power - 1);
    // What is added is 1 or i in units of 2^scale, nothing in a Julia set.
    const int of_product = w.e * (int)(v.power - 1) + of.unit;
    const bool is_wide = w.e != 0 || of.unit != 0;
    const int unit = is_wide && !v.is_julia ? max(of_product, v.scale) : of_product;
    const double first = is_wide ? power(of_product - unit) : 1.0;
    const double one = v.is_julia ? 0.0 : is_wide ? power(v.scale - unit) : v.unit;
    double off = 0;
    for (unsigned column = 0; column < 2; column++) {
        if (column == columns_of(v)) break;
        double unsure;
        const Complex<double> d = with_signs(v.fold, signs, of.d[column], unsure);
        const double of_this = (growth * (of.off + unsure) + of_column * taxicab(of.d[column])) * first;
        // A bound that is no number stays one, and decides nothing.
        if (of_this > off || of_this != of_this) off = of_this;
        of.d[column] = scaled(by * d, first);
        if (column == 0) {
            of.d[column].re += one;
        } else {
            of.d[column].im += one;
        }
    }
    of.off = (off + 2 * u * one + DEEP_UNDERFLOW) * DEEP_UP;
    of.unit = is_wide ? unit : 0;
    if (is_wide) normalise(of);
}

// Of a formula with a fold, the derivative is a real matrix, and the gradient of |w| is D^T w / |w|.
__device__ __forceinline__ Far far_of(const DeepFormula& v, Complex<double> w, double off, Columns of) {
    if (v.fold == FOLD_NONE) return far_of(w, off, Derivative{of.d[0], of.off, of.unit});
    normalise(of);
    const Complex<double> d = of.d[0], second = of.d[1];
    Far far;
    far.w = w;
    far.off_w = off / sqrt(square(w)) * DEEP_UP;
    // Relative to the larger column, of which a part is 1 or more.
    far.off_d = of.off * DEEP_UP;
    far.g = w.re * d.re + w.im * d.im;
    far.h = w.re * second.re + w.im * second.im;
    far.all = sqrt(square(w) * (square(d) + square(second)));
    const double gradient = sqrt(far.g * far.g + far.h * far.h);
    far.of_d = dwell_log2(gradient * gradient / square(w)) * 0.5;
    far.doubt_of_d = 2 * (far.off_d + far.off_w + 1e-15) * far.all / gradient;
    far.unit = of.unit;
    return far;
}

// The model of the orbits of a block of pixels, and the bounds that prove a dwell for all of them: blocks.rs of the CPU kernels
// has the theorem and its constants. Here Z is in the number of the orbits, computed by its recipe, and D, Q and E are in single
// precision:
//
//     z_n(c) = Z + D d + Q d^2 + e,   |e| <= E,
//
// where D and Q are the numbers that are stored. Three things differ from the proof there.
//
// - Z is rounded to single precision before it is multiplied by D and Q: N - 1 factors, so (N - 1) u more, with u of single
//   precision. D' and Q' are computed to within 3N + 1 u of the sum of the moduli of their terms: (N - 1) u for Z, 2 u for each
//   of N - 2 products and of the one with D or Q, u for the factor N, and 2 u for sums. `slope_noise` has 3N + 4.
// - E and all bounds are rounded up in each operation, so they need no factor for their own roundings.
// - |Z| is a root within 2^-20 of its value.
//
// A comparison with NaN proves nothing: each is written so that it is false then.
#pragma once
#include "task.cuh"
#include "bounds.cuh"

template <class N> struct Model {
    N x, y;
    // D, or the first column of the matrix D of a formula with a fold.
    float p, q;
    // Q, or its second column.
    float s, t;
    float e;
};

// Bounds that follow from a model and the radius of its block.
struct Measure {
    // At least |Z|, and at most |Z|.
    float modulus, least;
    // |D| r and |Q| r^2.
    float linear, quadratic;
    // |D| r + |Q| r^2 + E, and |Z| + that.
    float spread, reach;
};

// Whether D and Q are complex numbers. Known when the kernel is compiled but for `Powers`.
template <unsigned FOLD, class R> __device__ __forceinline__ bool is_holomorphic(const Quadratic<FOLD, R>&) {
    return FOLD == FOLD_NONE;
}
template <class R> __device__ __forceinline__ bool is_holomorphic(const Powers<R>& rule) { return rule.how == FOLD_NONE; }
template <unsigned FOLD, class R> __device__ __forceinline__ unsigned fold_of(const Quadratic<FOLD, R>&) { return FOLD; }
template <class R> __device__ __forceinline__ unsigned fold_of(const Powers<R>& rule) { return rule.how; }
template <unsigned FOLD, class R> __device__ __forceinline__ unsigned power_of(const Quadratic<FOLD, R>&) { return 2; }
template <class R> __device__ __forceinline__ unsigned power_of(const Powers<R>& rule) { return rule.power; }

// v^k, rounded up; 1 for k = 0.
__device__ __forceinline__ float power_up(float v, unsigned k) {
    if (k == 0) return 1;
    float result = v;
    for (unsigned i = 1; i < k; i++) result = up::mul(result, v);
    return result;
}

// (p + iq)(u + iv) + a + ib.
__device__ __forceinline__ void product_plus(float p, float q, float u, float v, float a, float b, float& re, float& im) {
    const float x = __fmaf_rn(p, u, __fmaf_rn(-q, v, a));
    im = __fmaf_rn(p, v, __fmaf_rn(q, u, b));
    re = x;
}

// f'(Z) = N w^(N - 1) of the folded w.
template <class Rule> __device__ __forceinline__ void derivative(const Rule& rule, float x, float y, float& u, float& v) {
    fold(fold_of(rule), x, y);
    if (power_of(rule) == 2) {
        u = x + x;
        v = y + y;
        return;
    }
    u = x;
    v = y;
    for (unsigned k = 2; k < power_of(rule); k++) product_plus(u, v, x, y, 0.0f, 0.0f, u, v);
    u = __fmul_rn(u, (float)power_of(rule));
    v = __fmul_rn(v, (float)power_of(rule));
}

template <class N, class Rule>
__device__ __forceinline__ Model<N> first_model(const Rule& rule, N x, N y) {
    return {x, y, 1.0f, 0.0f, 0.0f, is_holomorphic(rule) ? 0.0f : 1.0f, 0.0f};
}

// |D| r and |Q| r^2, of these D and Q.
template <class Rule>
__device__ __forceinline__ void terms(const Rule& rule, float p, float q, float s, float t, float radius, float& linear,
                                      float& quadratic) {
    if (is_holomorphic(rule)) {
        linear = up::mul(modulus_bound(p, q), radius);
        quadratic = up::mul(up::add(fabsf(s), fabsf(t)), up::mul(radius, radius));
    } else {
        // The norm of a matrix is at most the root of the sum of its squares.
        const float squares = up::fma(p, p, up::fma(q, q, up::fma(s, s, up::mul(t, t))));
        linear = up::mul(root_up(squares), radius);
        quadratic = 0;
    }
}

template <class N, class Rule>
__device__ __forceinline__ Measure measure(const Rule& rule, const Model<N>& m, float radius) {
    Measure found;
    const float squared = up::of(Op<N>::fma(m.x, m.x, Op<N>::mul(m.y, m.y)));
    found.modulus = root_up(squared);
    found.least = root_down(squared);
    terms(rule, m.p, m.q, m.s, m.t, radius, found.linear, found.quadratic);
    found.spread = up::add(up::add(found.linear, found.quadratic), m.e);
    found.reach = up::add(found.modulus, found.spread);
    return found;
}

// The model at n + 1. `b` has the bounds of this model.
template <class N, class Rule>
__device__ __forceinline__ Model<N> step(const Rule& rule, const BlockProof& f, const Model<N>& m, const Measure& b, N re, N im) {
    Model<N> next = m;
    rule.step(next.x, next.y, re, im);
    const unsigned n = power_of(rule);
    const float steepness = n == 2 ? up::add(b.modulus, b.modulus) : up::mul(f.power, power_up(b.modulus, n - 1));
    float u, v, rest;
    if (is_holomorphic(rule)) {
        derivative(rule, (float)m.x, (float)m.y, u, v);
        // f'' / 2 D^2.
        float bend_re, bend_im;
        product_plus(m.p, m.q, m.p, m.q, 0.0f, 0.0f, bend_re, bend_im);
        // (w^2 - (D d)^2) f'' / 2, where w is the distance from Z, and the roundings of the terms of Q'.
        const float crossed = up::mul(up::add(b.quadratic, m.e), up::add(b.linear, b.spread));
        rest = up::fma(up::mul(b.linear, b.linear), f.slope_noise, crossed);
        if (n > 2) {
            float re_power = (float)m.x, im_power = (float)m.y;
            for (unsigned k = 3; k < n; k++) {
                product_plus(re_power, im_power, (float)m.x, (float)m.y, 0.0f, 0.0f, re_power, im_power);
            }
            product_plus(__fmul_rn(re_power, f.curvature), __fmul_rn(im_power, f.curvature), bend_re, bend_im, 0.0f, 0.0f,
                         bend_re, bend_im);
            rest = up::mul(up::mul(rest, f.curvature), power_up(b.modulus, n - 2));
            const float cubic = up::mul(up::mul(up::mul(b.spread, b.spread), b.spread), f.third);
            rest = up::fma(cubic, power_up(b.reach, n - 3), rest);
        } else {
            rest = up::mul(rest, f.curvature);
        }
        product_plus(u, v, m.p, m.q, f.slope_of_c, 0.0f, next.p, next.q);
        product_plus(u, v, m.s, m.t, bend_re, bend_im, next.s, next.t);
        next.e = up::fma(steepness, up::fma(f.slope_noise, up::add(b.linear, b.quadratic), m.e), rest);
    } else {
        float p = m.p, q = m.q, s = m.s, t = m.t, e = m.e, linear = b.linear;
        if (fold_of(rule) == FOLD_ABSOLUTE) {
            // Where the disc meets an axis of the fold, D = 0 and all of it is in E: a fold moves two points no farther apart.
            const bool off = down::of(Op<N>::abs(m.x)) > b.spread && down::of(Op<N>::abs(m.y)) > b.spread;
            if (!off) {
                p = q = s = t = 0;
                e = b.spread;
                linear = 0;
            } else {
                // The derivative of the fold: the signs of x and y.
                if (m.x < N(0)) { p = -p; s = -s; }
                if (m.y < N(0)) { q = -q; t = -t; }
            }
        } else {
            q = -q;
            t = -t;
        }
        derivative(rule, (float)m.x, (float)m.y, u, v);
        product_plus(u, v, p, q, f.slope_of_c, 0.0f, next.p, next.q);
        product_plus(u, v, s, t, 0.0f, f.slope_of_c, next.s, next.t);
        rest = up::mul(up::mul(b.spread, b.spread), f.curvature);
        if (n > 2) rest = up::mul(rest, power_up(b.reach, n - 2));
        next.e = up::fma(steepness, up::fma(f.slope_noise, linear, e), rest);
    }
    // The roundings of z' and Z', and of the terms of D' that c has.
    const float reach = n == 2 ? up::mul(b.reach, b.reach) : power_up(b.reach, n);
    next.e = up::add(next.e, up::fma(f.noise, reach, f.constant_noise));
    return next;
}

// What is known of a block.
enum Verdict : unsigned {
    // All of its pixels have one dwell.
    PROVED,
    // No pixel has escaped after the steps that were allowed.
    STAYS_SO_FAR,
    // Some may have escaped, and others not.
    DIVIDED,
};

// Whether all pixels have escaped. Where |Z|^2 overflows single precision nothing is proved.
__device__ __forceinline__ bool has_escaped(const BlockProof& f, const Measure& b) {
    return __fsub_rd(b.least, b.spread) > f.far_radius && b.reach < INFINITY;
}

// Follows a model from n on, up to `last` or the limit. `n` is the dwell where it is proved.
template <class N, class Rule>
__device__ __forceinline__ Verdict follow(const Rule& rule, const BlockProof& f, Model<N>& m, float radius, N re, N im,
                                          unsigned& n, unsigned last, unsigned limit) {
    while (true) {
        const Measure b = measure(rule, m, radius);
        if (!(b.reach <= f.near_radius)) return has_escaped(f, b) ? PROVED : DIVIDED;
        if (n >= limit) {
            n = 0;
            return PROVED;
        }
        if (n >= last) return STAYS_SO_FAR;
        m = step(rule, f, m, b, re, im);
        n++;
    }
}

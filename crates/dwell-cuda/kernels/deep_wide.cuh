// Orbits with deltas below the range of double: wide.rs of the CPU kernels. z and e are in units of 2^unit, with the larger part of z in [1, 2).
#pragma once
#include "deep_orbit.cuh"

// A delta z 2^k, off by at most e 2^k, of any size other than 0: with the larger part of z in [1, 2). False where z is 0.
template <class T, class D> __device__ __forceinline__ bool set_delta(Orbit<T, D>& o, Complex<T> z, double e, int k) {
    const double size = size_of(z);
    if (!(size > 0)) return false;
    const int of_z = exponent(size);
    o.z = scaled(z, power(-of_z));
    o.e = e * power(-of_z) * DEEP_UP + DEEP_UNDERFLOW;
    o.unit = k + of_z;
    return true;
}

// Rebases where the orbit is smaller than its delta, or the reference ends: whether it did. `ending` says whether the orbit goes on.
template <class T, class D>
__device__ __forceinline__ bool rebase_wide(const DeepView& v, const DeepPixels& p, unsigned pixel, Orbit<T, D>& o, bool at_end, Ending& ending) {
    Extended<T> exact;
    const bool has_value = reference_extended(v, o.m, exact);
    const int unit = has_value && exact.e > o.unit ? exact.e : o.unit;
    const Complex<T> delta = scaled(o.z, power(o.unit - unit));
    const Complex<T> at = has_value ? scaled(exact.m, power(exact.e - unit)) : Complex<T>{};
    const Complex<T> w = at + delta;
    if (!at_end && !(square(w) < square(delta))) return false;
    const double end_error = at_end ? Bound{v.end_error, v.end_error_exponent}.in_unit(unit) : 0.0;
    const double off = end_error + DEEP_UNDERFLOW + 2 * Mantissa<T>::UNIT * (taxicab(at) + taxicab(w));
    // A delta of 0 is left to the processors.
    ending = set_delta(o, w, (o.e * power(o.unit - unit) + off) * DEEP_UP, unit) ? GOES_ON : UNDECIDED;
    o.m = 0;
    o.rebases++;
    if (ending == GOES_ON && o.rebases >= DEEP_FIRST_ATTEMPT) ending = after_rebase(p, pixel, o);
    return true;
}

// A bound of a block.
__device__ __forceinline__ Bound bound_of(const WideBlock& block, unsigned number) {
    return {block.bounds[number], block.exponents[5 + number]};
}
template <class T> __device__ __forceinline__ Extended<T> coefficient_of(const WideBlock& block, unsigned number) {
    const double* parts = block.parts + 4 * number;
    return {{Mantissa<T>::of({parts[0], parts[1]}), Mantissa<T>::of({parts[2], parts[3]})}, block.exponents[number]};
}

// The longest block at m for deltas up to `reach` units; null where there is none.
template <class T, class D>
__device__ __forceinline__ const WideBlock* longest_wide(const DeepView& v, const Orbit<T, D>& o, double reach, unsigned& steps) {
    if (!v.wide_numbers || !may_begin_block(o.m)) return nullptr;
    const unsigned origin = origin_of(o.m);
    if (origin >= v.origin_count) return nullptr;
    const DeepOrigin of = v.origins[origin];
    const unsigned long long room = v.limit - o.n;
    for (unsigned length = of.count; length-- > 0;) {
        steps = steps_of(v, origin, length);
        const unsigned number = v.wide_numbers[of.first + length];
        if (steps > room || number == 0) continue;
        const WideBlock* block = v.wide + (number - 1);
        // The radius in units of the delta, rounded to 0 where it is far smaller.
        if (bound_of(*block, DEEP_BOUND_RADIUS).in_unit(o.unit) >= reach) return block;
    }
    return nullptr;
}

// The derivative after a block: by z in units of its own, c, and a delta off by e in its unit. As in `apply`, with roundings for coefficients of any number.
__device__ __forceinline__ void block_derivative(const DeepView& v, const WideBlock& block, Extended<double> by_z, Complex<double> c, Extended<double> z,
                                                 double e, Derivative& of) {
    const Extended<double> a = coefficient_of<double>(block, 0), b = coefficient_of<double>(block, 1), s = coefficient_of<double>(block, 3),
                           t = coefficient_of<double>(block, 4);
    const int k = z.e, l = by_z.e, f = max(max(b.e, s.e + k), t.e + 1);
    const Complex<double> by_c =
        scaled(b.m, power(b.e - f)) + scaled(s.m * z.m, power(s.e + k - f)) + scaled(t.m * c, power(t.e + 1 - f));
    const double reach = (above_sqrt(square(z.m)) + e) * DEEP_UP, modulus = above_sqrt(square(by_z.m));
    const auto bound = [&](unsigned number, int unit) { return bound_of(block, number).in_unit(unit); };
    // The rest at twice the reach over the reach, and at the reach.
    const double by_reach = bound(0, l + k) / reach + 2 * bound(1, l) + (4 * bound(2, l - k) + 8 * bound(3, l - 2 * k) * reach) * reach;
    const double rest = bound(0, f) + (bound(1, f - k) + (bound(2, f - 2 * k) + bound(3, f - 3 * k) * reach) * reach) * reach;
    const double of_a = taxicab(a.m) * power(a.e - l) + bound(DEEP_BOUND_S, l) * DEEP_REACH + 2 * bound(DEEP_BOUND_Q, l - k) * reach;
    const double doubt = 2 * bound(DEEP_BOUND_Q, l - k) * e + by_reach + 24 * DEEP_UNIT_OF_DOUBLE * of_a + bound(DEEP_BOUND_S, l) * v.relative;
    const double of_b = taxicab(b.m) * power(b.e - f) + bound(DEEP_BOUND_S, f - k) * reach + 2 * taxicab(t.m) * power(t.e - f);
    const double of_c = bound(DEEP_BOUND_S, f - k) * e + rest * v.over_margin + 16 * DEEP_UNIT_OF_DOUBLE * of_b;
    const int of_product = l + of.unit, unit = max(of_product, f);
    const double first = power(of_product - unit), second = power(f - unit);
    of.off = (((modulus + doubt) * of.off + doubt * taxicab(of.d)) * first + of_c * second) * DEEP_UP + DEEP_UNDERFLOW;
    of.d = scaled(by_z.m * of.d, first) + scaled(by_c, second);
    of.unit = unit;
    normalise(of);
}

template <class T, class D>
__device__ __forceinline__ bool apply_wide(const DeepView& v, const WideBlock& block, Complex<T> c, Orbit<T, D>& o) {
    const int k = o.unit;
    const Complex<T> z = o.z;
    const double e = o.e;
    const Extended<T> a = coefficient_of<T>(block, 0), b = coefficient_of<T>(block, 1), q = coefficient_of<T>(block, 2),
                      s = coefficient_of<T>(block, 3), t = coefficient_of<T>(block, 4);
    // A + S c + Q z in units of 2^l, B + T c in units of 2^f, the result in units of 2^g.
    const int l = max(max(a.e, s.e), q.e + k);
    const Complex<T> q_z = scaled(q.m * z, power(q.e + k - l));
    const Complex<T> linear = scaled(a.m, power(a.e - l)) + scaled(s.m * c, power(s.e - l)) + q_z;
    const int f = max(b.e, t.e);
    const Complex<T> free = (scaled(b.m, power(b.e - f)) + scaled(t.m * c, power(t.e - f))) * c;
    const int g = max(l + k, f);
    const double of_linear = power(l + k - g), of_free = power(f - g);
    const Complex<T> result = scaled(linear * z, of_linear) + scaled(free, of_free);
    const double reach = (above_sqrt(square(z)) + e) * DEEP_UP;
    const double derivative = above_sqrt(square(linear + q_z)) + bound_of(block, DEEP_BOUND_SLACK).in_unit(l) +
                              bound_of(block, DEEP_BOUND_Q).in_unit(l - k) * (e + reach * DEEP_SHARE);
    const double truncation =
        ((bound_of(block, 3).in_unit(g - 3 * k) * reach + bound_of(block, 2).in_unit(g - 2 * k)) * reach + bound_of(block, 1).in_unit(g - k)) *
            reach +
        bound_of(block, 0).in_unit(g);
    const double by_c = (bound_of(block, DEEP_BOUND_BY_C).in_unit(g) + bound_of(block, DEEP_BOUND_S).in_unit(g - k) * reach) * v.relative;
    if constexpr (WithDerivative<D>::IS) block_derivative(v, block, {rounded(linear + q_z), l}, rounded(c), {rounded(z), k}, e, o.derivative);
    return set_delta(o, result, (derivative * e * of_linear + truncation + by_c) * DEEP_UP, g);
}

// Operations of an orbit below the range of double, as many as `budget`: until it is within the range, or ends.
template <class T, class D>
__device__ __noinline__ Ending wide(const DeepView& v, const DeepPixels& p, unsigned pixel, Complex<T> c, Orbit<T, D>& o, unsigned& budget,
                                    Counts& counts, Values& values) {
    const double u = Mantissa<T>::UNIT, needed = WithDerivative<D>::IS ? 2 : 1;
    for (; budget > 0; budget--) {
        if (o.unit > DEEP_SMALL_EXPONENT) {
            // All parts and bounds that matter are within the range.
            o.z = scaled(o.z, power(o.unit));
            o.e = o.e * power(o.unit) + DEEP_UNDERFLOW;
            o.unit = 0;
            if constexpr (WithDerivative<D>::IS) bring_into_range(o.derivative);
            return GOES_ON;
        }
        const Complex<T> z_m = reference_at<T>(v, o.m);
        const bool at_end = o.m == v.last;
        const double off = o.e * power(o.unit) + v.of_modulus + (at_end ? v.end_error_in_double : 0.0);
        const bool is_useless = !(o.e <= DEEP_TOO_MUCH);
        if (is_useless || !is_within(v, square(z_m), off + DEEP_UNDERFLOW)) {
            const Ending ending = ends(v, p, pixel, o, c, z_m, is_useless ? INFINITY : off + DEEP_UNDERFLOW, values);
            if (ending != GOES_ON || o.unit == 0) return ending;
            continue;
        }
        if (o.n == v.limit) return STAYS;
        const bool is_near_zero = at_end || size_of(z_m) < DEEP_NEAR_ZERO;
        Ending ending = GOES_ON;
        if (is_near_zero && o.m != 0 && rebase_wide(v, p, pixel, o, at_end, ending)) {
            if (ending != GOES_ON) return ending;
            continue;
        }
        const double reach = (above_sqrt(square(o.z)) + o.e) * DEEP_UP;
        unsigned steps;
        if (const WideBlock* block = longest_wide(v, o, needed * reach, steps)) {
            if (!apply_wide(v, *block, c, o)) return UNDECIDED;
            o.m += steps;
            o.n += steps;
            counts.blocks++;
            continue;
        }
        // Away from 0, Z + z is Z, and 2 Z + z is 2 Z, to far below a rounding.
        Extended<T> sum = {o.z, o.unit}, t = sum;
        if (o.m != 0) {
            const bool has_value = reference_extended(v, o.m, sum);
            if (!has_value) {
                sum = {o.z, o.unit};
                t = sum;
            } else if (is_near_zero) {
                const int unit = max(sum.e, o.unit);
                const Complex<T> at = scaled(sum.m, power(sum.e - unit));
                const Complex<T> w = at + scaled(o.z, power(o.unit - unit));
                sum = {w, unit};
                t = {at + w, unit};
            } else {
                t = {sum.m, sum.e + 1};
            }
        }
        if constexpr (WithDerivative<D>::IS) step_derivative_wide(v, {rounded(sum.m), sum.e}, o.e * power(o.unit - sum.e), o.derivative);
        // z t in units of 2^k, c in units of 2^scale, the sum in the larger.
        const int k = o.unit + t.e, unit = max(k, v.scale);
        const double of_product = power(k - unit), of_c = power(v.scale - unit);
        const double growth = 2 * above_sqrt(square(sum.m)) * power(sum.e - t.e) + o.e * power(o.unit - t.e);
        const double error = (growth * o.e + 9 * u * taxicab(o.z) * taxicab(t.m)) * of_product + 4 * u * DEEP_REACH * of_c;
        if (!set_delta(o, scaled(o.z * t.m, of_product) + scaled(c, of_c), error * DEEP_UP, unit)) return UNDECIDED;
        o.m++;
        o.n++;
        counts.steps++;
    }
    return GOES_ON;
}

// Orbits with deltas in the range of double.
#pragma once
#include "deep_orbit.cuh"

// The longest block at m, with these blocks, for deltas up to `reach`, and its steps; its number, or none.
__device__ __forceinline__ unsigned longest(const DeepView& v, unsigned m, const DeepOrigin& of, unsigned long long room, double reach,
                                            unsigned& steps) {
    const unsigned origin = origin_of(m);
    if (!(reach <= of.shortest)) return NO_BLOCK;
    // Radii fall with the length: steps of 1, 2, 4... up to one that is too long, and bisection. Each is a load that waits for the one before, and at 0 there are up to 64 lengths.
    const double* radii = v.radii + of.first;
    unsigned length = 1, beyond = 2;
    while (beyond <= of.count && reach <= radii[beyond - 1]) {
        length = beyond;
        beyond = 2 * length;
    }
    beyond = min(beyond, of.count + 1);
    while (beyond - length > 1) {
        const unsigned middle = (length + beyond) / 2;
        if (reach <= radii[middle - 1]) {
            length = middle;
        } else {
            beyond = middle;
        }
    }
    while (length > 0 && (steps = steps_of(v, origin, length - 1)) > room) length--;
    return length > 0 ? of.first + length - 1 : NO_BLOCK;
}

// The terms of the third and the fourth degree of a block, in double: they are small beside A z (`operations.rs` of the CPU kernels).
__device__ __forceinline__ Complex<Pair> above_the_second_degree(const double* terms, Complex<double> z, Complex<double> c) {
    const auto term = [&](unsigned number) { return coefficient<double>(terms, number); };
    const Complex<double> of_z = multiply_add(term(4), z, multiply_add(term(5), c, term(0)));
    const Complex<double> by_square = multiply_add(of_z, z, multiply_add(term(6), c, term(1)) * c);
    const Complex<double> by_c = multiply_add(multiply_add(term(7), c, term(2)), z, multiply_add(term(8), c, term(3)) * c);
    const Complex<double> sum = by_square * (z * z) + by_c * (c * c);
    return {{sum.re, 0.0}, {sum.im, 0.0}};
}

// Applies a block; `reach` is |z| + e.
template <class T, class D>
__device__ __forceinline__ void apply(const DeepView& v, unsigned number, Complex<T> c, double reach, Orbit<T, D>& o) {
    const double* block = v.blocks + (unsigned long long)number * Block<T>::DOUBLES;
    const Complex<T> a = coefficient<T>(block, 0), b = coefficient<T>(block, 1), q = coefficient<T>(block, 2), s = coefficient<T>(block, 3),
                     t = coefficient<T>(block, 4);
    const double2* bounds = reinterpret_cast<const double2*>(block + Block<T>::BOUNDS);
    const double2 k01 = bounds[0], k23 = bounds[1], slack_q = bounds[2];
    const Complex<T> linear = multiply_add(q, o.z, multiply_add(s, c, a));
    const Complex<T> by_z = multiply_add(q, o.z, linear);
    const double modulus = above_sqrt(square(by_z));
    const double growth = modulus + slack_q.x + slack_q.y * Op<double>::fma(reach, DEEP_SHARE, o.e);
    const auto rest = [&](double reach) { return Op<double>::fma(Op<double>::fma(Op<double>::fma(k23.y, reach, k23.x), reach, k01.y), reach, k01.x); };
    const double k = rest(reach);
    if constexpr (WithDerivative<D>::IS) {
        Derivative& of = o.derivative;
        const Complex<double> of_b = rounded(b), of_s = rounded(s), of_t = rounded(t);
        const Complex<double> by_c = multiply_add(of_s, rounded(o.z), multiply_add(of_t + of_t, rounded(c), of_b));
        const double doubt = 2 * slack_q.y * o.e + rest(2 * reach) / reach + 8 * DEEP_UNIT_OF_DOUBLE * modulus;
        const double moduli = taxicab(of_b) + taxicab(of_s) * reach + 2 * taxicab(of_t);
        const double of_c = taxicab(of_s) * o.e + k * v.over_margin + 16 * DEEP_UNIT_OF_DOUBLE * moduli;
        of.off = ((modulus + doubt) * of.off + doubt * taxicab(of.d) + of_c + DEEP_UNDERFLOW) * DEEP_UP;
        of.d = rounded(by_z) * of.d + by_c;
    }
    o.e = Op<double>::fma(growth, o.e, k) * DEEP_UP;
    const Complex<T> z = multiply_add(linear, o.z, multiply_add(t, c, b) * c);
    // No table of double has terms above the second degree.
    if constexpr (Mantissa<T>::PARTS == 2 && !WithDerivative<D>::IS) {
        o.z = v.higher ? z + above_the_second_degree(v.higher + (unsigned long long)number * DEEP_OF_HIGHER, rounded(o.z), rounded(c)) : z;
    } else {
        o.z = z;
    }
}

// Operations of an orbit in the range of double, as many as `budget`: until it is below the range, or ends.
template <class T, class D>
__device__ __forceinline__ Ending narrow(const DeepView& v, const DeepPixels& p, unsigned pixel, Complex<T> c, Orbit<T, D>& o, unsigned& budget,
                                         Counts& counts, Values& values) {
    // The derivatives of blocks need twice as much within their radius.
    const double needed = WithDerivative<D>::IS ? 2 : 1;
    const Complex<T> of_c = plain(v, c);
    while (budget > 0) {
        budget--;
        Complex<T> z_m = reference_at<T>(v, o.m);
        // Both loads at once: each takes as long as some steps. Between origins this is not used.
        DeepOrigin of = v.origins[min(origin_of(o.m), v.origin_count - 1)];
        Complex<T> w = z_m + o.z;
        double w_square = square(w), z_square = square(o.z);
        const bool at_end = o.m == v.last;
        if (at_end) o.e += v.end_error_in_double + DEEP_UNDERFLOW;
        if (!is_within(v, w_square, o.e + v.of_modulus)) {
            const Ending ending = ends(v, p, pixel, o, c, w, o.e + v.of_modulus, values);
            if (ending != GOES_ON || o.unit != 0) return ending;
            continue;
        }
        if (o.n == v.limit) return STAYS;
        if (at_end || w_square < z_square) {
            o.e = (o.e + 2 * Mantissa<T>::UNIT * (taxicab(z_m) + taxicab(w)) + DEEP_UNDERFLOW) * DEEP_UP;
            o.z = w;
            o.m = 0;
            of = v.origins[0];
            z_m = {};
            z_square = w_square;
            o.rebases++;
            if (o.rebases >= DEEP_FIRST_ATTEMPT) {
                const Ending ending = after_rebase(p, pixel, o);
                if (ending != GOES_ON) return ending;
                // A bound that was raised is tested like any other.
                if (!is_within(v, w_square, o.e + v.of_modulus)) continue;
            }
        }
        if (!(z_square >= DEEP_SMALL * DEEP_SMALL)) return leave_range(o) ? GOES_ON : UNDECIDED;
        const unsigned long long room = v.limit - o.n;
        if (may_begin_block(o.m) && v.last - o.m > (1u << DEEP_FIRST_LEVEL) && room > (1u << DEEP_FIRST_LEVEL)) {
            const double reach = (above_sqrt(z_square) + o.e) * DEEP_UP;
            unsigned steps;
            const unsigned block = longest(v, o.m, of, room, needed * reach, steps);
            if (block != NO_BLOCK) {
                apply(v, block, c, reach, o);
                o.m += steps;
                o.n += steps;
                counts.blocks++;
                continue;
            }
        }
        // Steps up to the next origin of blocks, as long as none of the tests above would end or change the orbit: a warp of which some lanes take a block makes four steps
        // of the others meanwhile, not one.
        for (;;) {
            const Complex<T> t = z_m + w;
            z_m = reference_at<T>(v, o.m + 1);
            const double modulus = above_sqrt(w_square), growth = Op<double>::fma(2.0, modulus, o.e);
            const double roundings = Op<double>::fma(9 * Mantissa<T>::UNIT * taxicab(o.z), taxicab(t), v.of_c);
            if constexpr (WithDerivative<D>::IS) step_derivative(v, rounded(w), modulus, o.e, o.derivative);
            o.e = Op<double>::fma(growth, o.e, roundings) * DEEP_UP;
            o.z = multiply_add(o.z, t, of_c);
            o.m++;
            o.n++;
            counts.steps++;
            if (budget == 0 || may_begin_block(o.m) || o.m == v.last || o.n == v.limit) break;
            w = z_m + o.z;
            w_square = square(w);
            z_square = square(o.z);
            if (w_square < z_square || !(z_square >= DEEP_SMALL * DEEP_SMALL) || !is_within(v, w_square, o.e + v.of_modulus)) break;
            budget--;
        }
    }
    return GOES_ON;
}

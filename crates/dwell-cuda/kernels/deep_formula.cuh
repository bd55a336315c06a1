// The orbit of one pixel of a deep view of another formula than z^2 + c or of a Julia set, as a delta from the reference, with a running bound on its error: formulas.rs
// and its folder of the CPU kernels, whose derivation holds here, where products are off by less. The index of the reference is m.
#pragma once
#include "deep_columns.cuh"
#include "deep_orbit.cuh"

// What a value of the reference is known with, in the range of double.
struct FormulaEntry {
    double re, im, modulus, error;
};

__device__ __forceinline__ FormulaEntry entry_at(const DeepFormula& v, unsigned m) {
    const double2* entry = reinterpret_cast<const double2*>(v.entries) + 2ull * m;
    const double2 value = entry[0], bounds = entry[1];
    return {value.x, value.y, bounds.x, bounds.y};
}
template <class T> __device__ __forceinline__ Complex<T> value_of(const DeepFormula& v, unsigned m, const FormulaEntry& entry);
template <> __device__ __forceinline__ Complex<double> value_of<double>(const DeepFormula&, unsigned, const FormulaEntry& entry) {
    return {entry.re, entry.im};
}
template <> __device__ __forceinline__ Complex<Pair> value_of<Pair>(const DeepFormula& v, unsigned m, const FormulaEntry& entry) {
    return {{entry.re, v.low[2ull * m]}, {entry.im, v.low[2ull * m + 1]}};
}

// The parts of Z of any magnitude, each with its larger digit in [1, 2), or 0.
template <class T> __device__ __forceinline__ void parts_at(const DeepFormula& v, unsigned m, Part<T> (&parts)[2]) {
    Pair of[2];
    int exponents[2] = {0, 0};
    if (const DeepTinyParts* tiny = tiny_at(v.tiny, v.tiny_count, m)) {
        for (unsigned part = 0; part < 2; part++) {
            of[part] = {tiny->parts[2 * part], tiny->parts[2 * part + 1]};
            exponents[part] = tiny->exponents[part];
        }
    } else {
        const FormulaEntry entry = entry_at(v, m);
        const bool has_low = Mantissa<T>::PARTS == 2;
        of[0] = {entry.re, has_low ? v.low[2ull * m] : 0.0};
        of[1] = {entry.im, has_low ? v.low[2ull * m + 1] : 0.0};
    }
    for (unsigned part = 0; part < 2; part++) {
        const double size = fabs(of[part].hi);
        const int e = size > 0 ? exponent(size) : 0;
        parts[part] = {Mantissa<T>::of(scaled(of[part], power(-e))), size > 0 ? exponents[part] + e : 0};
    }
}
template <class T> __device__ __forceinline__ Extended<T> joined(const Part<T> (&parts)[2]) {
    return extended(Complex<T>{parts[0].m, T{}}, parts[0].e) + extended(Complex<T>{T{}, parts[1].m}, parts[1].e);
}

// |z|, at least; of numbers whose square may be below the range of double |re| + |im|.
template <class T> __device__ __forceinline__ double modulus_of(Complex<T> z) {
    const double norm = square(z), sum = taxicab(z);
    return norm < 1e-259 ? sum : fmin(above_sqrt(norm), sum * DEEP_UP);
}

__device__ __forceinline__ bool is_at_end(const DeepFormula& v, unsigned m) { return m == v.last || m == v.centre_last; }
// Whether an orbit in the range of double goes on there: neither its delta nor what it is a factor of is too small.
__device__ __forceinline__ bool is_narrow(const DeepFormula& v, double size, double most) { return size >= DEEP_FORMULA_NARROW && most >= v.near; }
// Whether a delta of at most this modulus is in the disc about the end of the critical orbit that stays.
__device__ __forceinline__ bool stays(const DeepFormula& v, unsigned m, Bound reach) { return m == v.last && v.stays > 0 && reach < bound(v.stays); }

// The longest block at m for deltas up to `reach`, and its steps; its place among all blocks, or none.
__device__ __forceinline__ unsigned longest(const DeepFormula& v, unsigned m, unsigned long long room, double reach, unsigned& steps) {
    const unsigned orbit = m >= v.centre_first ? 1 : 0;
    const unsigned after = m - (orbit ? v.centre_first : 1);
    unsigned found = NO_BLOCK;
    if (m == 0) return found;
    // Radii fall with the length.
    for (unsigned shift = DEEP_FORMULA_FIRST_LEVEL; shift < 32; shift++) {
        const unsigned place = after >> shift;
        if (place << shift != after || 1ull << shift > room || place >= v.counts[32 * orbit + shift]) break;
        const unsigned block = v.firsts[32 * orbit + shift] + place;
        if (!(reach <= v.radii[block])) break;
        found = block;
        steps = 1u << shift;
    }
    return found;
}

// What a block gives for a derivative: |by z|, what that is in doubt by but for the roundings of coefficients, |Q|, the rest, and the sign of the imaginary part of zeta.
struct OfBlock {
    double modulus, doubt, of_q, rest, sign;
};
// A delta's |z| + e, and e.
struct Reach {
    double reach, e;
};

// The derivative after a block: formulas/blocks/in_lanes.rs of the CPU kernels.
template <class T>
__device__ __forceinline__ void block_derivative(const DeepFormula& v, unsigned number, OfBlock block, Complex<double> by_z, Complex<double> c,
                                                 Complex<double> zeta, Reach delta, Columns& of) {
    constexpr unsigned DOUBLES = 16 * Mantissa<T>::PARTS;
    const auto term = [&](const double* from, unsigned place) {
        return rounded(coefficient<T>(from + (unsigned long long)number * DOUBLES, place));
    };
    const Complex<double> conjugate = {c.re, -c.im};
    const double u = DEEP_UNIT_OF_DOUBLE;
    Complex<double> by_c = term(v.blocks, 2), by_conjugate = term(v.blocks, 3);
    double of_a = taxicab(term(v.blocks, 0)) + 2 * block.of_q * delta.reach, of_b = taxicab(by_c) + taxicab(by_conjugate), of_s = 0;
    if (v.of_c) {
        const Complex<double> s0 = term(v.of_c, 0), s1 = term(v.of_c, 1), t0 = term(v.of_c, 2), t1 = term(v.of_c, 3), t2 = term(v.of_c, 4);
        by_c = by_c + s0 * zeta + (t0 + t0) * c + t1 * conjugate;
        by_conjugate = by_conjugate + s1 * zeta + t1 * c + (t2 + t2) * conjugate;
        of_s = taxicab(s0) + taxicab(s1);
        of_a += of_s * DEEP_REACH;
        of_b += of_s * delta.reach + 2 * DEEP_REACH * (taxicab(t0) + taxicab(t1) + taxicab(t2));
    }
    const double doubt = block.doubt + 24 * u * of_a;
    const double of_c = of_s * delta.e + 2 * v.over_margin * block.rest + 24 * u * of_b;
    double most = 0;
    for (unsigned column = 0; column < 2; column++) {
        if (column == columns_of(v)) break;
        const Complex<double> own = {of.d[column].re, block.sign * of.d[column].im};
        const double of_this = (block.modulus + doubt) * of.off + doubt * taxicab(own) + of_c;
        // A bound that is no number stays one, and decides nothing.
        if (of_this > most || of_this != of_this) most = of_this;
        // Along 1 the sum of both, along i the difference times i; nothing in a Julia set, where both are 0.
        const Complex<double> by_pixel =
            column == 0 ? by_c + by_conjugate : Complex<double>{by_conjugate.im - by_c.im, by_c.re - by_conjugate.re};
        of.d[column] = by_z * own + by_pixel;
    }
    of.off = (most + DEEP_UNDERFLOW) * DEEP_UP;
}

// Applies a block; `reach` is |z| + e.
template <class T, class D>
__device__ __forceinline__ void apply(const DeepFormula& v, unsigned number, Complex<T> c, double reach, Orbit<T, D>& o) {
    constexpr unsigned DOUBLES = 16 * Mantissa<T>::PARTS, BOUNDS = DEEP_FORMULA_NUMBERS * Mantissa<T>::PARTS;
    const double* block = v.blocks + (unsigned long long)number * DOUBLES;
    const double* bounds = block + BOUNDS;
    const double slack = bounds[4], of_q = bounds[5], sign = bounds[6];
    const Complex<T> zeta = {o.z.re, scaled(o.z.im, sign)}, conjugate = {c.re, -c.im};
    const Complex<T> of_z = coefficient<T>(block, 1) * zeta;
    Complex<T> linear = coefficient<T>(block, 0) + of_z;
    Complex<T> of_c = coefficient<T>(block, 2) * c + coefficient<T>(block, 3) * conjugate;
    if (v.of_c) {
        const double* terms = v.of_c + (unsigned long long)number * DOUBLES;
        linear = linear + (coefficient<T>(terms, 0) * c + coefficient<T>(terms, 1) * conjugate);
        of_c = of_c + ((coefficient<T>(terms, 2) * c + coefficient<T>(terms, 3) * conjugate) * c + coefficient<T>(terms, 4) * conjugate * conjugate);
    }
    const Complex<T> by_z = linear + of_z;
    const double modulus = modulus_of(by_z), growth = modulus + slack + of_q * (o.e + reach * DEEP_SHARE);
    const auto rest = [&](double reach) { return ((bounds[3] * reach + bounds[2]) * reach + bounds[1]) * reach + bounds[0]; };
    if constexpr (WithDerivative<D>::IS) {
        const double doubt = 2 * of_q * o.e + rest(2 * reach) / reach;
        block_derivative<T>(v, number, {modulus, doubt, of_q, rest(reach), sign}, rounded(by_z), rounded(c), rounded(zeta), {reach, o.e}, o.derivative);
    }
    o.e = (growth * o.e + rest(reach)) * DEEP_UP;
    o.z = linear * zeta + of_c;
}

// C, or the constant of a Julia set.
template <class T> __device__ __forceinline__ Complex<T> constant(const DeepFormula& v) {
    return {Mantissa<T>::of({v.c[0], v.c[1]}), Mantissa<T>::of({v.c[2], v.c[3]})};
}

// An orbit that is not within R for certain at n: the end of the attempt under way, or its own, with the smooth value where that is wanted.
template <class T, class D>
__device__ __noinline__ Ending ends(const DeepFormula& v, const DeepPixels& p, unsigned pixel, Orbit<T, D>& o, Complex<T> offset, Complex<T> w,
                                    double off, Values& values) {
    if (goes_back(p, pixel, o)) return GOES_ON;
    if (!is_outside(w, off, v.escape)) return UNDECIDED;
    if (!v.smooth && !WithDerivative<D>::IS) return ESCAPES;
    const double u = Mantissa<T>::UNIT;
    Complex<T> c = constant<T>(v);
    double of_c = 4 * u * taxicab(c);
    if (!v.is_julia) {
        c = c + scaled(offset, v.unit);
        of_c += 4 * u * (v.unit + taxicab(c));
    }
    for (unsigned more = 0; more < DEEP_MOST_STEPS; more++) {
        if (is_outside(w, off, DEEP_FAR_SQUARED)) {
            if (v.smooth && !smooth_value(w, off, o.n + more, v.per_log2_power, values)) return UNDECIDED;
            if constexpr (WithDerivative<D>::IS) {
                if (!distance_and_slope(v, far_of(v, rounded(w), off, o.derivative), values)) return UNDECIDED;
            }
            return ESCAPES;
        }
        if (!is_inside(w, off, DEEP_FAR_SQUARED, DEEP_FAR)) return UNDECIDED;
        const double modulus = above_sqrt(square(w)), n = v.power;
        if constexpr (WithDerivative<D>::IS) {
            const Complex<double> of_w = rounded(w);
            const double of_parts = 4 * DEEP_UNIT_OF_DOUBLE;
            const Signs signs = signs_of(of_w, off + of_parts * fabs(of_w.re), off + of_parts * fabs(of_w.im));
            step_derivative(v, {of_w, 0}, modulus, off + of_parts * modulus, signs, o.derivative);
        }
        const double of_step = (5 * n + 2) * u * of_real(modulus, v.power);
        off = (n * of_real(modulus + off, v.power - 1) * off + of_step + 2 * of_c + DEEP_UNDERFLOW) * DEEP_UP;
        w = raised(folded(v.fold, w), v.power) + c;
    }
    return UNDECIDED;
}

// Operations of an orbit in the range of double, as many as `budget`: until it is not, or ends.
template <class T, class D>
__device__ __forceinline__ Ending narrow(const DeepFormula& v, const DeepPixels& p, unsigned pixel, Complex<T> c, Orbit<T, D>& o, unsigned& budget,
                                         Counts& counts, Values& values) {
    const double u = Mantissa<T>::UNIT, n = v.power;
    const Complex<T> added = v.is_julia ? Complex<T>{} : scaled(c, v.unit);
    const double of_added = v.is_julia ? DEEP_UNDERFLOW : 4 * u * v.unit + DEEP_UNDERFLOW;
    for (; budget > 0; budget--) {
        FormulaEntry entry = entry_at(v, o.m);
        Complex<T> reference = value_of<T>(v, o.m, entry);
        const Complex<T> w = reference + o.z;
        const double w_square = square(w), z_square = square(o.z);
        if (!is_within(v, w_square, o.e + v.of_modulus)) {
            const Ending ending = ends(v, p, pixel, o, c, w, o.e + v.of_modulus, values);
            if (ending != GOES_ON || o.unit != 0) return ending;
            continue;
        }
        if (o.n == v.limit) return STAYS;
        if (stays(v, o.m, bound((modulus_of(o.z) + o.e) * DEEP_UP))) return STAYS;
        const double modulus = modulus_of(w);
        // At 0 the orbit is its delta.
        if (o.m > 0 && (is_at_end(v, o.m) || w_square < z_square)) {
            o.e = (o.e + 2 * u * (taxicab(reference) + taxicab(w)) + entry.error + DEEP_UNDERFLOW) * DEEP_UP;
            o.z = w;
            o.m = 0;
            reference = {};
            entry = {};
            o.rebases++;
            if (o.rebases >= DEEP_FIRST_ATTEMPT) {
                const Ending ending = after_rebase(p, pixel, o);
                if (ending != GOES_ON) return ending;
                // A bound that was raised is tested like any other.
                if (!is_within(v, w_square, o.e + v.of_modulus)) continue;
            }
        }
        const double most = fmax(modulus, entry.modulus);
        if (!is_narrow(v, size_of(o.z), most)) return leave_range(o) ? GOES_ON : UNDECIDED;
        const double reach = (modulus_of(o.z) + o.e) * DEEP_UP;
        unsigned steps;
        // The derivatives of blocks need twice as much within their radius.
        const unsigned block = longest(v, o.m, v.limit - o.n, WithDerivative<D>::IS ? 2 * reach : reach, steps);
        if (block != NO_BLOCK) {
            apply(v, block, c, reach, o);
            o.m += steps;
            o.n += steps;
            counts.blocks++;
            continue;
        }
        if constexpr (WithDerivative<D>::IS) {
            const Complex<double> of_w = rounded(w), of_z = rounded(reference);
            const double of_parts = 4 * DEEP_UNIT_OF_DOUBLE, of_both = o.e + entry.error;
            const Signs signs =
                signs_of(of_w, of_both + of_parts * (fabs(of_w.re) + fabs(of_z.re)), of_both + of_parts * (fabs(of_w.im) + fabs(of_z.im)));
            step_derivative(v, {of_w, 0}, modulus, o.e + of_parts * (modulus + entry.modulus), signs, o.derivative);
        }
        const Complex<T> of_delta = folded_delta(v.fold, o.z, w, reference);
        const double growth = n * of_real(modulus + o.e, v.power - 1);
        double by_most = v.of_power * taxicab(o.z);
        if (v.fold == FOLD_ABSOLUTE) by_most += 4 * n * entry.error;
        o.e = (growth * o.e + by_most * of_real(most, v.power - 1) + of_added) * DEEP_UP;
        o.z = difference(of_delta, folded(v.fold, w), folded(v.fold, reference), v.power) + added;
        o.m++;
        o.n++;
        counts.steps++;
    }
    return GOES_ON;
}

// The signs of w by parts, which may differ by more than any number has bits.
template <class T> __device__ __forceinline__ Signs signs_of(Extended<T> z, Bound e, const Part<T> (&reference)[2], Bound error) {
    Signs signs;
    const T parts[2] = {z.m.re, z.m.im};
    for (unsigned part = 0; part < 2; part++) {
        const Extended<T> of_z = extended(Complex<T>{parts[part], T{}}, z.e), of_reference = extended(Complex<T>{reference[part].m, T{}}, reference[part].e);
        const Extended<T> sum = of_reference + of_z;
        const Bound off = e + (taxicab_of(of_reference) + taxicab_of(of_z)) * (4 * DEEP_UNIT_OF_DOUBLE) + error;
        signs.negative[part] = is_negative(sum.m.re);
        signs.certain[part] = off < modulus_of(sum);
    }
    return signs;
}

// Operations of an orbit of any magnitude, as many as `budget`, at least one: until it is in the range of double, or ends.
template <class T, class D>
__device__ __noinline__ Ending wide(const DeepFormula& v, const DeepPixels& p, unsigned pixel, Complex<T> c, Orbit<T, D>& o, unsigned& budget,
                                    Counts& counts, Values& values) {
    const double u = Mantissa<T>::UNIT, n = v.power;
    for (bool is_first = true; budget > 0; budget--, is_first = false) {
        const Extended<T> z = {o.z, o.unit};
        const Bound e = bound(o.e, o.unit);
        const FormulaEntry entry = entry_at(v, o.m);
        // Above the range of double nothing is decided.
        const Complex<T> in_range = o.unit > 1000 ? Complex<T>{} : scaled(o.z, power(o.unit));
        const Complex<T> near = value_of<T>(v, o.m, entry) + in_range;
        const double off = (o.unit > 1000 ? INFINITY : in_double(e)) + v.of_modulus + DEEP_UNDERFLOW, w_square = square(near);
        if (!is_within(v, w_square, off)) {
            const Ending ending = ends(v, p, pixel, o, c, near, off, values);
            if (ending != GOES_ON || o.unit == 0) return ending;
            continue;
        }
        if (o.n == v.limit) return STAYS;
        if (stays(v, o.m, (modulus_of(z) + e) * DEEP_UP)) return STAYS;
        if (!is_first && is_narrow(v, size_of(in_range), fmax(above_sqrt(w_square), entry.modulus))) {
            o.z = in_range;
            o.e = in_double(e) + DEEP_UNDERFLOW;
            o.unit = 0;
            if constexpr (WithDerivative<D>::IS) bring_into_range(o.derivative);
            return GOES_ON;
        }
        Part<T> parts[2] = {};
        if (o.m > 0) parts_at(v, o.m, parts);
        const Extended<T> reference = joined(parts), w = reference + z;
        const Bound error = {1.0, v.errors[o.m]};
        if (o.m > 0 && (is_at_end(v, o.m) || modulus_of(w) < modulus_of(z))) {
            // A delta of 0 is left to the processors.
            if (!(size_of(w.m) > 0)) return UNDECIDED;
            const Bound after = (e + (taxicab_of(reference) + taxicab_of(w)) * (2 * u) + error) * DEEP_UP;
            o.z = w.m;
            o.unit = w.e;
            o.e = after.in_unit(w.e) + DEEP_UNDERFLOW;
            o.m = 0;
            o.rebases++;
            if (o.rebases >= DEEP_FIRST_ATTEMPT) {
                const Ending ending = after_rebase(p, pixel, o);
                if (ending != GOES_ON) return ending;
            }
            if (o.unit == 0) {
                if constexpr (WithDerivative<D>::IS) bring_into_range(o.derivative);
                return GOES_ON;
            }
            continue;
        }
        if constexpr (WithDerivative<D>::IS) {
            const Bound h = e + (modulus_of(w) + modulus_of(reference)) * (4 * DEEP_UNIT_OF_DOUBLE);
            step_derivative(v, {rounded(w.m), w.e}, above_sqrt(square(w.m)), h.in_unit(w.e), signs_of(z, e, parts, error), o.derivative);
        }
        const Extended<T> of_delta = o.m == 0 ? folded(v.fold, z) : folded_delta(v.fold, z, parts);
        const Extended<T> product = difference(of_delta, folded(v.fold, w), folded(v.fold, reference), v.power);
        const Bound modulus = modulus_of(w), of_reference = modulus_of(reference), most = modulus < of_reference ? of_reference : modulus;
        Bound after = raised(modulus + e, v.power - 1) * n * e + taxicab_of(z) * raised(most, v.power - 1) * v.of_power;
        if (v.fold == FOLD_ABSOLUTE && o.m > 0) after = after + error * (4 * n) * raised(most + e, v.power - 1);
        const Extended<T> added = v.is_julia ? extended(Complex<T>{}, 0) : extended(c, v.scale);
        const Extended<T> next = product + added;
        if (!v.is_julia) after = after + bound(4 * u, v.scale);
        after = (after + taxicab_of(next) * u) * DEEP_UP;
        if (!(size_of(next.m) > 0)) return UNDECIDED;
        o.z = next.m;
        o.unit = next.e;
        o.e = after.in_unit(next.e) + DEEP_UNDERFLOW;
        o.m++;
        o.n++;
        counts.steps++;
        if (o.unit == 0) {
            if constexpr (WithDerivative<D>::IS) bring_into_range(o.derivative);
            return GOES_ON;
        }
    }
    return GOES_ON;
}

// Begins an orbit: false where its delta is 0, which is left to the processors.
template <class T, class D> __device__ __forceinline__ Ending begin(const DeepFormula& v, Complex<T> c, Orbit<T, D>& o) {
    const Extended<T> z = extended(c, v.scale);
    o.z = z.m;
    o.unit = z.e;
    o.e = bound(4 * Mantissa<T>::UNIT, v.scale).in_unit(z.e) + DEEP_UNDERFLOW;
    o.n = 1;
    o.m = v.is_julia ? v.centre_first : 1;
    o.rebases = 0;
    if constexpr (WithDerivative<D>::IS) {
        o.derivative = first_columns(v);
        if (o.unit == 0) bring_into_range(o.derivative);
    }
    return size_of(z.m) > 0 ? GOES_ON : UNDECIDED;
}

// The orbit of one pixel of a deep view as a delta from the reference, with a running bound on its error: orbit.rs and its folder of the
// CPU kernels, whose derivation holds here with these roundings.
//
// Step: z' = z t + c by `multiply_add` is off by 2 u |z t| + 2 u |c|. With the roundings of Z (twice), w and t that is
// (1.42 + 1 + 1 + 2) u |z| |t| + 2 u |c|, within 9 u |z| |t| and, with the rounding of c to this number (1 u), 4 u |c|.
// Block: A + S c + Q z takes two `multiply_add`, the product with z and the sum with (B + T c) c a third, (B + T c) c one and a product: each term
// is in at most three of them, 6 u, within the 9 u that are in the bounds k of a block. By z, A + S c + 2 Q z has 6 u, of which a block's slack
// allows 2^-46.
// |w|^2 by one product and one fused operation is off by 2 u, of which the test of escape allows 4 u.
#pragma once
#include "deep_derivative.cuh"

// An orbit. In the range of double `unit` is 0; below it z and e are in units of 2^unit.
template <class T, class D> struct Orbit : WithDerivative<D> {
    Complex<T> z;
    double e;
    unsigned long long n;
    unsigned m, rebases;
    int unit;
};

// What is known of an orbit.
enum Ending { GOES_ON, ESCAPES, STAYS, UNDECIDED };

// What orbits did.
struct Counts {
    unsigned steps, blocks;
};

// Leaves the range of double. False where the delta is 0 or far below it, which is left to the processors.
template <class T, class D> __device__ __forceinline__ bool leave_range(Orbit<T, D>& o) {
    const double size = size_of(o.z);
    if (!(size > 0) || exponent(size) < -1000) return false;
    const int unit = exponent(size);
    o.z = scaled(o.z, power(-unit));
    o.e = o.e * power(-unit) * DEEP_UP + DEEP_UNDERFLOW;
    o.unit = unit;
    if constexpr (WithDerivative<D>::IS) normalise(o.derivative);
    return true;
}

// Whether w is within R for certain, by |w|^2 and the bound on the error of w.
template <class View> __device__ __forceinline__ bool is_within(const View& v, double square, double off) {
    const double doubt = Op<double>::fma(v.twice_radius + off, off, v.escape * (4 * DEEP_UNIT_OF_DOUBLE));
    return square <= Op<double>::fma(-DEEP_UP, doubt, v.escape);
}

// |w|^2 - of in the number of the tier.
__device__ __forceinline__ double excess(Complex<double> w, double of) { return square(w) - of; }
__device__ __forceinline__ double excess(Complex<Pair> w, double of) {
    return (w.re * w.re + w.im * w.im - Pair{of, 0.0}).hi;
}

template <class T> __device__ __forceinline__ double rounding_of_excess(Complex<T> w, double of) {
    return 8 * Mantissa<T>::UNIT * (square(w) + of) + of * DEEP_UNIT_OF_DOUBLE;
}
// Whether |w|^2 > of for certain, where w is off by at most `off`.
template <class T> __device__ __forceinline__ bool is_outside(Complex<T> w, double off, double of) {
    return excess(w, of) > (2 * above_sqrt(square(w)) * off + rounding_of_excess(w, of)) * DEEP_UP;
}
// Whether |w|^2 < of for certain.
template <class T> __device__ __forceinline__ bool is_inside(Complex<T> w, double off, double of, double root_of) {
    return -excess(w, of) > ((2 * root_of + off) * off + rounding_of_excess(w, of)) * DEEP_UP;
}

// c in the plane.
template <class T> __device__ __forceinline__ Complex<T> plain(const DeepView& v, Complex<T> c) { return scaled(c, v.unit); }

// The smooth value of an orbit at w, which is beyond 256, after so many steps: whether it is certain.
template <class T>
__device__ __forceinline__ bool smooth_value(Complex<T> w, double off, unsigned long long n, double per_log2_power, Values& values) {
    const double norm = square(w);
    const double relative = 2 * off / sqrt(norm) + off * off / norm + 1e-15;
    const double fraction = dwell_log2(dwell_log2(norm) / 16.0) * per_log2_power;
    const double doubt = 0.14 * relative + 2e-14;
    double low;
    if (!nearest(fraction, doubt, DEEP_SMOOTH_BITS, low)) return false;
    // The number of steps is exact, so that the difference is rounded once: its multiple of the unit has at most 46 bits up to 2^32 steps.
    values.smooth = (double)(n + 1) - low / (1 << DEEP_SMOOTH_BITS);
    return n < 1ull << 52;
}

// An orbit that is not within R for certain at n, with w off by at most `off`: its values where they are wanted (escape.rs and values.rs of the
// CPU kernels).
template <class T, class D>
__device__ __noinline__ Ending at_escape(const DeepView& v, Complex<T> c, Complex<T> w, double off, WithDerivative<D> of, unsigned long long n,
                                         Values& values) {
    if (!is_outside(w, off, v.escape)) return UNDECIDED;
    if (!v.smooth && !WithDerivative<D>::IS) return ESCAPES;
    c = reference_at<T>(v, 1) + plain(v, c);
    for (unsigned more = 0; more < DEEP_MOST_STEPS; more++) {
        if (is_outside(w, off, DEEP_FAR_SQUARED)) {
            if (v.smooth && !smooth_value(w, off, n + more, 1, values)) return UNDECIDED;
            if constexpr (WithDerivative<D>::IS) {
                if (!distance_and_slope(v, far_of(rounded(w), off, of.derivative), values)) return UNDECIDED;
            }
            return ESCAPES;
        }
        if (!is_inside(w, off, DEEP_FAR_SQUARED, DEEP_FAR)) return UNDECIDED;
        if constexpr (WithDerivative<D>::IS) step_derivative_wide(v, {rounded(w), 0}, off, of.derivative);
        const double modulus = above_sqrt(square(w));
        off = ((2 * modulus + off) * off + 9 * Mantissa<T>::UNIT * taxicab(w) * taxicab(w) + 8 * Mantissa<T>::UNIT * taxicab(c) + v.of_c) *
              DEEP_UP;
        w = multiply_add(w, w, c);
    }
    return UNDECIDED;
}

// Where what is kept of a pixel for proofs that it stays is stored: trap.rs of the CPU kernels, with radii in the unit of z.
template <class T> struct Trap {
    double* numbers;
    unsigned long long* before_n;
    unsigned* words;
    unsigned long long apart;

    __device__ __forceinline__ Trap(const DeepPixels& p, unsigned pixel)
        : numbers(p.traps + pixel), before_n(p.trap_n + pixel), words(p.trap_words + pixel), apart(p.capacity) {}

    __device__ __forceinline__ Complex<T> complex(unsigned at) const {
        return {Mantissa<T>::read(numbers + at * apart, apart), Mantissa<T>::read(numbers + (at + 2) * apart, apart)};
    }
    __device__ __forceinline__ void store(unsigned at, Complex<T> z) const {
        Mantissa<T>::write(numbers + at * apart, apart, z.re);
        Mantissa<T>::write(numbers + (at + 2) * apart, apart, z.im);
    }
    // Words: whether an attempt is under way, the rebase of the next, their number, the units of the disc and of the orbit before.
    __device__ __forceinline__ unsigned& word(unsigned at) const { return words[at * apart]; }
};

// After a rebase that may end or begin an attempt.
template <class T, class D> __device__ __noinline__ Ending after_rebase(const DeepPixels& p, unsigned pixel, Orbit<T, D>& o) {
    const Trap<T> trap(p, pixel);
    // All are 0 at first.
    unsigned next = trap.word(1), number = trap.word(2);
    if (next == 0) next = DEEP_FIRST_ATTEMPT;
    const bool active = trap.word(0) != 0;
    if (active) {
        const int of_disc = (int)trap.word(3), unit = o.unit > of_disc ? o.unit : of_disc;
        const Complex<T> centre = scaled(trap.complex(0), power(of_disc - unit)), z = scaled(o.z, power(o.unit - unit));
        const double off = above_sqrt(square(z - centre)), e = o.e * power(o.unit - unit);
        const double rounding = 2 * Mantissa<T>::UNIT * (taxicab(z) + taxicab(centre)) + DEEP_UNDERFLOW;
        if (trap.numbers[4 * trap.apart] * power(of_disc - unit) >= (off + e + rounding) * DEEP_UP) return STAYS;
    }
    if (o.rebases < next) return GOES_ON;
    const int radii[4] = {-4, -8, -14, -22};
    const double radius = above_sqrt(square(o.z)) * power_of_two(radii[number & 3]);
    trap.word(1) = next * 2;
    trap.word(2) = number + 1;
    if (!(o.e < radius)) return GOES_ON;
    // While another attempt lasts, the bound is that of its disc already.
    if (!active) {
        trap.store(5, o.z);
        trap.numbers[9 * trap.apart] = o.e;
        *trap.before_n = o.n;
        trap.word(4) = (unsigned)o.unit;
        if constexpr (WithDerivative<D>::IS) store_derivative(p, pixel, 1, o.derivative);
    }
    trap.word(0) = 1;
    trap.word(3) = (unsigned)o.unit;
    trap.store(0, o.z);
    trap.numbers[4 * trap.apart] = radius;
    o.e = radius * DEEP_UP;
    return GOES_ON;
}

// Takes an orbit back to where the attempt under way began, if there is one: whether it did.
template <class T, class D> __device__ __forceinline__ bool goes_back(const DeepPixels& p, unsigned pixel, Orbit<T, D>& o) {
    const Trap<T> trap(p, pixel);
    if (o.rebases < DEEP_FIRST_ATTEMPT || trap.word(0) == 0) return false;
    trap.word(0) = 0;
    o.z = trap.complex(5);
    o.e = trap.numbers[9 * trap.apart];
    o.n = *trap.before_n;
    o.unit = (int)trap.word(4);
    if constexpr (WithDerivative<D>::IS) load_derivative(p, pixel, 1, o.derivative);
    o.m = 0;
    return true;
}

// An orbit that is not within R for certain: the end of the attempt under way, or its own.
template <class T, class D>
__device__ __forceinline__ Ending ends(const DeepView& v, const DeepPixels& p, unsigned pixel, Orbit<T, D>& o, Complex<T> c, Complex<T> w,
                                       double off, Values& values) {
    if (goes_back(p, pixel, o)) return GOES_ON;
    return at_escape<T, D>(v, c, w, off, o, o.n, values);
}

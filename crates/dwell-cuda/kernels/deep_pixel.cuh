// A pixel of a deep view: where it begins, and some operations of its orbit.
#pragma once
#include "deep_narrow.cuh"
#include "deep_wide.cuh"

// The first delta that all pixels have as one polynomial P + (B + T c) c (blocks/start.rs of the CPU kernels).
template <class T, class D> __device__ __forceinline__ Orbit<T, D> beginning(const DeepView& v, Complex<T> c) {
    const auto part = [&](unsigned number) -> Complex<T> {
        const double* parts = v.start + 4 * number;
        return {Mantissa<T>::of({parts[0], parts[1]}), Mantissa<T>::of({parts[2], parts[3]})};
    };
    Orbit<T, D> o;
    o.z = part(0) + (part(1) + part(2) * c) * c;
    o.e = Bound{v.start_error, v.start_error_exponent}.in_unit(v.start_unit) + DEEP_UNDERFLOW;
    o.n = v.start_n;
    o.m = v.start_m;
    o.rebases = 0;
    o.unit = v.start_unit;
    if constexpr (WithDerivative<D>::IS) o.derivative = first_derivative(v, rounded(c));
    return o;
}

// Begins an orbit below the range of double with the larger part of z in [1, 2).
template <class T, class D> __device__ __forceinline__ Ending begin(const DeepView& v, Complex<T> c, Orbit<T, D>& o) {
    o = beginning<T, D>(v, c);
    if (o.unit == 0) return GOES_ON;
    return set_delta(o, o.z, o.e, o.unit) ? GOES_ON : UNDECIDED;
}

template <class T, class D> __device__ __forceinline__ Orbit<T, D> load(const DeepPixels& p, unsigned pixel) {
    const unsigned long long apart = p.capacity;
    const double* z = p.orbits + pixel;
    Orbit<T, D> o;
    o.z = {Mantissa<T>::read(z, apart), Mantissa<T>::read(z + 2 * apart, apart)};
    o.e = z[4 * apart];
    o.n = p.n[pixel];
    o.m = p.words[pixel];
    o.rebases = p.words[apart + pixel];
    o.unit = (int)p.words[2 * apart + pixel];
    if constexpr (WithDerivative<D>::IS) load_derivative(p, pixel, 0, o.derivative);
    return o;
}

template <class T, class D> __device__ __forceinline__ void store(const DeepPixels& p, unsigned pixel, const Orbit<T, D>& o) {
    const unsigned long long apart = p.capacity;
    double* z = p.orbits + pixel;
    Mantissa<T>::write(z, apart, o.z.re);
    Mantissa<T>::write(z + 2 * apart, apart, o.z.im);
    z[4 * apart] = o.e;
    p.n[pixel] = o.n;
    p.words[pixel] = o.m;
    p.words[apart + pixel] = o.rebases;
    p.words[2 * apart + pixel] = (unsigned)o.unit;
    if constexpr (WithDerivative<D>::IS) store_derivative(p, pixel, 0, o.derivative);
}

// A dwell as it is stored, a count and how many times 2^32 - 1 more: `stored` of the library.
template <class View>
__device__ __forceinline__ void store_dwell(const View& v, const DeepPixels& p, unsigned pixel, unsigned long long dwell) {
    p.dwell[pixel] = dwell == 0 ? 0 : (unsigned)((dwell - 1) % DEEP_MOST_COUNT + 1);
    if (v.limit > DEEP_MOST_COUNT) p.overflow[pixel] = dwell == 0 ? 0.0 : (double)((dwell - 1) / DEEP_MOST_COUNT);
}

// Stores what is known of a pixel whose orbit has ended.
template <class D, class View>
__device__ __forceinline__ void store_values(const View& v, const DeepPixels& p, unsigned pixel, unsigned long long dwell, const Values& values) {
    store_dwell(v, p, pixel, dwell);
    if (v.smooth) p.smooth[pixel] = values.smooth;
    if constexpr (WithDerivative<D>::IS) {
        p.distance[pixel] = values.distance;
        p.slope_right[pixel] = values.slope[0];
        p.slope_up[pixel] = values.slope[1];
    }
}

// At most `budget` operations of an orbit.
template <class T, class D, class View>
__device__ __forceinline__ Ending iterate(const View& v, const DeepPixels& p, unsigned pixel, Complex<T> c, Orbit<T, D>& o, unsigned budget,
                                          Counts& counts, Values& values) {
    Ending ending = GOES_ON;
    while (ending == GOES_ON && budget > 0) {
        if (o.unit == 0) {
            ending = narrow(v, p, pixel, c, o, budget, counts, values);
        } else {
            // In memory only where it is needed.
            Orbit<T, D> apart = o;
            ending = wide(v, p, pixel, c, apart, budget, counts, values);
            o = apart;
        }
    }
    return ending;
}

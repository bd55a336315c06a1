// What of a view and of a pixel the orbits of deep views read: values of the reference, blocks, and the pixel's c.
#pragma once
#include "deep_number.cuh"

// A bound m 2^e, as Bound of the CPU kernels.
struct Bound {
    double m;
    int e;

    // The value in units of 2^unit; 0 below 2^-1000, and 2^1000 or more from there on.
    __device__ __forceinline__ double in_unit(int unit) const { return m == 0 ? 0.0 : m * power(e - unit); }
};

// m 2^e, of which the larger part of m is in [1, 2).
template <class T> struct Extended {
    Complex<T> m;
    int e;
};

template <class T> __device__ __forceinline__ Extended<T> normalised(Complex<T> z, int e) {
    const int of_z = exponent(size_of(z));
    return {scaled(z, power(-of_z)), e + of_z};
}

// Z_m. Below 2^-300 it is 0 or has few bits: see `reference_extended`.
template <class T> __device__ __forceinline__ Complex<T> reference_at(const DeepView& v, unsigned m);
template <> __device__ __forceinline__ Complex<double> reference_at<double>(const DeepView& v, unsigned m) {
    const double2 z = reinterpret_cast<const double2*>(v.high)[m];
    return {z.x, z.y};
}
template <> __device__ __forceinline__ Complex<Pair> reference_at<Pair>(const DeepView& v, unsigned m) {
    const double2 z = reinterpret_cast<const double2*>(v.high)[m], y = reinterpret_cast<const double2*>(v.low)[m];
    return {{z.x, y.x}, {z.y, y.y}};
}

// The entry of m in a list of values with exponents of their own, in the order of m; null where there is none.
template <class Tiny> __device__ __forceinline__ const Tiny* tiny_at(const Tiny* list, unsigned count, unsigned m) {
    unsigned from = 0, to = count;
    while (from < to) {
        const unsigned middle = (from + to) / 2;
        if (list[middle].m < m) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from < count && list[from].m == m ? list + from : nullptr;
}

// Z_m of any magnitude, where it is not 0; whether it is not.
template <class T> __device__ __forceinline__ bool reference_extended(const DeepView& v, unsigned m, Extended<T>& z) {
    const Complex<T> at = reference_at<T>(v, m);
    if (size_of(at) < DEEP_TINY) {
        if (const DeepTiny* tiny = tiny_at(v.tiny, v.tiny_count, m)) {
            z.m = {Mantissa<T>::of({tiny->parts[0], tiny->parts[1]}), Mantissa<T>::of({tiny->parts[2], tiny->parts[3]})};
            z.e = tiny->exponent;
            return true;
        }
    }
    if (size_of(at) == 0) return false;
    z = normalised(at, 0);
    return true;
}

// A coefficient of a block: the parts of a complex number one after the other.
template <class T> __device__ __forceinline__ Complex<T> coefficient(const double* block, unsigned number);
template <> __device__ __forceinline__ Complex<double> coefficient<double>(const double* block, unsigned number) {
    const double2 parts = reinterpret_cast<const double2*>(block)[number];
    return {parts.x, parts.y};
}
template <> __device__ __forceinline__ Complex<Pair> coefficient<Pair>(const double* block, unsigned number) {
    const double2 re = reinterpret_cast<const double2*>(block)[2 * number];
    const double2 im = reinterpret_cast<const double2*>(block)[2 * number + 1];
    return {{re.x, re.y}, {im.x, im.y}};
}

// Stands for the number of a block that there is not, and doubles of the terms above the second degree.
#define NO_BLOCK 0xffffffffu
#define DEEP_OF_HIGHER 24

// Doubles of a block.
template <class T> struct Block {
    static constexpr unsigned DOUBLES = 16 * Mantissa<T>::PARTS;
    static constexpr unsigned BOUNDS = 10 * Mantissa<T>::PARTS;
};

// The origin of m, at which blocks may begin: places.rs of the CPU kernels.
__device__ __forceinline__ bool may_begin_block(unsigned m) {
    return m == 0 || ((m - 1) & ((1u << DEEP_FIRST_LEVEL) - 1)) == 0;
}
__device__ __forceinline__ unsigned origin_of(unsigned m) { return (m + (1u << DEEP_FIRST_LEVEL) - 1) >> DEEP_FIRST_LEVEL; }

// The steps of the block of number `length` of an origin.
__device__ __forceinline__ unsigned steps_of(const DeepView& v, unsigned origin, unsigned length) {
    return origin == 0 ? v.from_zero[length] : 1u << (DEEP_FIRST_LEVEL + length);
}

// c of a pixel in units of 2^scale: the operations of DeepPoints::offset of the library.
template <class T> __device__ __forceinline__ Complex<T> offset_of(const DeepPixels& p, unsigned pixel) {
    const unsigned column = p.is_list ? pixel : pixel % p.width, row = p.is_list ? pixel : pixel / p.width;
    const Pair k = {(double)p.columns[column], 0.0}, l = {(double)p.rows[row], 0.0};
    const auto part = [&](unsigned number) -> Pair { return {p.frame[2 * number], p.frame[2 * number + 1]}; };
    const Pair re = part(0) + (part(2) * k + part(4) * l);
    const Pair im = part(1) + (part(3) * k + part(5) * l);
    return {Mantissa<T>::of(re), Mantissa<T>::of(im)};
}

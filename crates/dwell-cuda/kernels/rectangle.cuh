// Rectangles of pixels for Mariani-Silver: a rectangle whose border has one dwell is filled with it, which on a grid of
// pixels is a heuristic.
#pragma once
#include "orbit.cuh"

// The fields of `Corners`, with methods. (Derived from it, the struct is copied in another order, with other machine code.)
struct Rectangle {
    unsigned left, top, right, bottom;

    __device__ __forceinline__ unsigned width() const { return right - left; }
    __device__ __forceinline__ unsigned height() const { return bottom - top; }
    __device__ __forceinline__ unsigned shorter() const { return min(width(), height()); }

    __device__ __forceinline__ unsigned border() const {
        unsigned w = width(), h = height();
        return w == 1 || h == 1 ? w * h : 2 * (w + h) - 4;
    }

    // The k-th pixel of the border: first the top row, then the bottom row, then the columns between them.
    __device__ __forceinline__ void border_pixel(unsigned k, unsigned& column, unsigned& row) const {
        unsigned w = width(), h = height();
        if (k < w) {
            column = left + k;
            row = top;
        } else if (k < 2 * w && h > 1) {
            column = left + k - w;
            row = bottom - 1;
        } else {
            k -= 2 * w;
            // A rectangle one pixel wide has one such column, any other has two.
            row = top + 1 + (w == 1 ? k : k / 2);
            column = w == 1 || k % 2 == 0 ? left : right - 1;
        }
    }

    // The i-th of parts x parts children: the split is exact, so that they cover a rectangle of any size.
    __device__ __forceinline__ Rectangle child(unsigned i, unsigned parts) const {
        unsigned across = i % parts, down = i / parts;
        return {left + (unsigned)((unsigned long long)width() * across / parts),
                top + (unsigned)((unsigned long long)height() * down / parts),
                left + (unsigned)((unsigned long long)width() * (across + 1) / parts),
                top + (unsigned)((unsigned long long)height() * (down + 1) / parts)};
    }

    __device__ __forceinline__ bool is_empty() const { return left >= right || top >= bottom; }
};
static_assert(sizeof(Rectangle) == sizeof(Corners) && alignof(Rectangle) == alignof(Corners), "Rectangle");
static_assert(offsetof(Rectangle, left) == offsetof(Corners, left), "Rectangle::left");
static_assert(offsetof(Rectangle, top) == offsetof(Corners, top), "Rectangle::top");
static_assert(offsetof(Rectangle, right) == offsetof(Corners, right), "Rectangle::right");
static_assert(offsetof(Rectangle, bottom) == offsetof(Corners, bottom), "Rectangle::bottom");

// Whether a rectangle may be filled with a dwell other than 0. It may not when it may contain c = 0 and with it the whole
// Mandelbrot set, and never for sets that are not known to be connected: strategy.rs of the library has the argument. Nor
// where z_n of each escaped point is stored, which cannot be inferred.
template <class N> __device__ __forceinline__ bool may_infer_escape(const Task<N>& t, const Rectangle& r) {
    if (t.is_julia || t.fold != FOLD_NONE || t.end_x) return false;
    N least_re = 0, most_re = 0, least_im = 0, most_im = 0;
    for (int corner = 0; corner < 4; corner++) {
        const Point<N> p(t, corner & 1 ? r.right - 1 : r.left, corner & 2 ? r.bottom - 1 : r.top);
        if (corner == 0) {
            least_re = most_re = p.re;
            least_im = most_im = p.im;
        }
        least_re = fmin(least_re, p.re);
        most_re = fmax(most_re, p.re);
        least_im = fmin(least_im, p.im);
        most_im = fmax(most_im, p.im);
    }
    return !(least_re <= N(0) && most_re >= N(0) && least_im <= N(0) && most_im >= N(0));
}

// Writes the dwell of a computed point, and z_n where it is stored: by iterating to it once more, which costs nothing where
// it is not stored.
template <class N, class Rule>
__device__ __forceinline__ void write_computed(const Rule& rule, const Task<N>& t, unsigned column, unsigned row, unsigned n) {
    write(t, column, row, n);
    if (t.end_x && n) {
        const Point<N> p(t, column, row);
        N x = p.re, y = p.im;
        plain_dwell(rule, x, y, p.a, p.b, t.limit, t.radius_squared);
        write_end(t, column, row, x, y);
    }
}

// Gives all threads of a block the least and the greatest of their values. Any number of threads.
__device__ __forceinline__ void block_range(unsigned& least, unsigned& most) {
    __shared__ unsigned both[2];
    const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
    if (thread == 0) {
        both[0] = 0xffffffffu;
        both[1] = 0;
    }
    __syncthreads();
    // The lanes of a warp with equal values, which most have, take one atomic operation.
    atomicMin(&both[0], least);
    atomicMax(&both[1], most);
    __syncthreads();
    least = both[0];
    most = both[1];
    // Before a thread begins the next range.
    __syncthreads();
}

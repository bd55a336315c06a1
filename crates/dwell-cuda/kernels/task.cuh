// What a launch is about: which points, what is iterated, and where dwells go. Its twin is src/task.rs: same fields, same
// order.
#pragma once
#include "recipe.cuh"

// Points that are tested at every step (see escape/late.rs of the CPU kernels: elsewhere a late test misses nothing).
enum { EACH_STEP_NOBODY = 0, EACH_STEP_EVERYBODY = 1, EACH_STEP_REAL_PART_IN = 2, EACH_STEP_NORM_IN = 3 };

template <class N> struct Task {
    // Coordinates of every column and row of the image: c is the sum of what both contribute.
    const N *re_of_column, *im_of_column, *re_of_row, *im_of_row;
    // Dwells, row by row from `first_row` on.
    unsigned* dwell;
    // z_n of each escaped point, in the same places; null where nobody wants them.
    N *end_x, *end_y;
    // Where the pixels that were written are counted; null where nobody wants to know.
    unsigned long long* written;
    N julia_re, julia_im;
    N radius_squared;
    // 2 / (1 - kappa), 1 / (1 - kappa), kappa^2 / 8 / (1 - kappa), ((1 - delta) / 4)^2 of interior.rs.
    N interior_terms[4];
    N each_step_from, each_step_to;
    unsigned width, first_row;
    // Rows to compute.
    unsigned begin, end;
    // The image of a row is mirror_sum - row, where that is in mirror_begin..mirror_end.
    unsigned mirror_sum, mirror_begin, mirror_end;
    unsigned limit;
    unsigned fold, power;
    unsigned is_julia, is_rotated;
    unsigned interior, cycles, each_step;
};

template <class N> struct Point {
    // The pixel, and c.
    N re, im, a, b;

    __device__ __forceinline__ Point(const Task<N>& t, unsigned column, unsigned row)
        : Point(t, t.re_of_column[column], column, row) {}

    // With what the column contributes to the real part, which does for all rows.
    __device__ __forceinline__ Point(const Task<N>& t, N re_of_column, unsigned column, unsigned row) {
        re = re_of_column;
        im = t.im_of_row[row];
        if (t.is_rotated) {
            re = Op<N>::add(re, t.re_of_row[row]);
            im = Op<N>::add(t.im_of_column[column], im);
        }
        a = t.is_julia ? t.julia_re : re;
        b = t.is_julia ? t.julia_im : im;
    }
};

// Inside the main cardioid or the period-2 disc for certain: interior.rs has the proof and the terms.
template <class N> __device__ __forceinline__ bool is_inside(const Task<N>& t, N a, N b) {
    N b_squared = Op<N>::mul(b, b);
    N from_cusp = Op<N>::sub(a, N(0.25));
    N p_squared = Op<N>::fma(from_cusp, from_cusp, b_squared);
    N m = Op<N>::fma(p_squared, t.interior_terms[0],
                     Op<N>::fma(from_cusp, t.interior_terms[1], t.interior_terms[2]));
    N from_centre = Op<N>::add(a, N(1));
    N disc = Op<N>::fma(from_centre, from_centre, b_squared);
    return Op<N>::mul(m, m) <= p_squared || disc <= t.interior_terms[3];
}

// Whether a point is tested at every step.
template <class N, class R> __device__ __forceinline__ bool needs_each_step(const Task<N>& t, N re, N im) {
    if (t.each_step == EACH_STEP_NOBODY) return false;
    if (t.each_step == EACH_STEP_EVERYBODY) return true;
    N value = t.each_step == EACH_STEP_REAL_PART_IN ? re : R::norm(re, im);
    return value >= t.each_step_from && value < t.each_step_to;
}

// Has every lane of a warp write its pixel, and the pixel's image. Places are counted in 64 bits.
template <class N>
__device__ __forceinline__ void write(const Task<N>& t, unsigned column, unsigned row, unsigned dwell) {
    t.dwell[(unsigned long long)(row - t.first_row) * t.width + column] = dwell;
    unsigned image = t.mirror_sum - row;
    if (image >= t.mirror_begin && image < t.mirror_end) {
        t.dwell[(unsigned long long)(image - t.first_row) * t.width + column] = dwell;
    }
}

// z_n likewise: the image's is the conjugate (its sign is that of nothing that smooth values look at).
template <class N>
__device__ __forceinline__ void write_end(const Task<N>& t, unsigned column, unsigned row, N x, N y) {
    unsigned long long place = (unsigned long long)(row - t.first_row) * t.width + column;
    t.end_x[place] = x;
    t.end_y[place] = y;
    unsigned image = t.mirror_sum - row;
    if (image >= t.mirror_begin && image < t.mirror_end) {
        place = (unsigned long long)(image - t.first_row) * t.width + column;
        t.end_x[place] = x;
        t.end_y[place] = -y;
    }
}

// Counts pixels written; by one thread for many.
template <class N> __device__ __forceinline__ void count_written(const Task<N>& t, unsigned long long pixels) {
    if (t.written && pixels) atomicAdd(t.written, pixels);
}

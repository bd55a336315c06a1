// Points of a task, the tests that the task's terms decide, and where results are written. The task itself is defined in
// src/task.rs.
#pragma once
#include "recipe.cuh"

// A pixel's point.
template <class N> struct Point {
    // The pixel's coordinates, and c = a + bi.
    N re, im, a, b;

    __device__ __forceinline__ Point(const Task<N>& t, unsigned column, unsigned row)
        : Point(t, t.re_of_column[column], column, row) {}

    // With the column's contribution to the real part, which is the same for all rows.
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

// Whether a point is certainly inside the main cardioid or the period-2 disc: interior.rs has the proof and the terms.
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

// Whether a point is tested at every step. For all others a late test misses no escape: see escape/late.rs of the CPU
// kernels.
template <class N, class R> __device__ __forceinline__ bool needs_each_step(const Task<N>& t, N re, N im) {
    if (t.each_step == EACH_STEP_NONE) return false;
    if (t.each_step == EACH_STEP_ALL) return true;
    N value = t.each_step == EACH_STEP_REAL_PART_IN ? re : R::norm(re, im);
    return value >= t.each_step_from && value < t.each_step_to;
}

// Writes the dwell of a pixel and of its mirror image. Places are counted in 64 bits.
template <class N>
__device__ __forceinline__ void write(const Task<N>& t, unsigned column, unsigned row, unsigned dwell) {
    t.dwell[(unsigned long long)(row - t.first_row) * t.width + column] = dwell;
    unsigned image = t.mirror_sum - row;
    if (image >= t.mirror_begin && image < t.mirror_end) {
        t.dwell[(unsigned long long)(image - t.first_row) * t.width + column] = dwell;
    }
}

// Writes z_n likewise: the mirror image's is the conjugate (smooth values do not depend on its sign).
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

// Adds to the number of pixels written. One thread does so for many pixels.
template <class N> __device__ __forceinline__ void count_written(const Task<N>& t, unsigned long long pixels) {
    if (t.written && pixels) atomicAdd(t.written, pixels);
}

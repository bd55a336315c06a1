// The plain loop, one thread for each pixel and one test for each step, in the three launches of the published programs. No
// shortcut is taken. Any block and grid will do: threads stride to the pixels that a launch does not cover.
#include "orbit.cuh"

template <class N, class Rule> __device__ __forceinline__ void one_pixel(const Task<N>& t, unsigned column, unsigned row) {
    const Rule rule(t);
    const Point<N> p(t, column, row);
    N x = p.re, y = p.im;
    write(t, column, row, plain_dwell(rule, x, y, p.a, p.b, t.limit, t.radius_squared));
    if (t.end_x) write_end(t, column, row, x, y);
}

// One thread for each pixel: the grid covers the image.
template <class N, class Rule> __device__ __forceinline__ void per_pixel(const Task<N>& t) {
    const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    // A grid has at most 65,535 rows of blocks; an image may have more.
    for (unsigned row = t.begin + blockIdx.y * blockDim.y + threadIdx.y; row < t.end; row += gridDim.y * blockDim.y) {
        if (column < t.width) one_pixel<N, Rule>(t, column, row);
    }
}

// One block for each row, its threads side by side.
template <class N, class Rule> __device__ __forceinline__ void row_per_block(const Task<N>& t) {
    for (unsigned row = t.begin + blockIdx.x; row < t.end; row += gridDim.x) {
        for (unsigned column = threadIdx.x; column < t.width; column += blockDim.x) one_pixel<N, Rule>(t, column, row);
    }
}

// A grid of fixed size strides over the image in both directions.
template <class N, class Rule> __device__ __forceinline__ void grid_stride(const Task<N>& t) {
    for (unsigned row = t.begin + blockIdx.y * blockDim.y + threadIdx.y; row < t.end; row += gridDim.y * blockDim.y) {
        for (unsigned column = blockIdx.x * blockDim.x + threadIdx.x; column < t.width; column += gridDim.x * blockDim.x) {
            one_pixel<N, Rule>(t, column, row);
        }
    }
}

#define KERNEL(kind, rule, number, suffix)                                                                   \
    extern "C" __global__ void __launch_bounds__(MOST_BLOCK_THREADS) kind##_##rule##suffix(Task<number> t) { \
        kind<number, rule>(t);                                                                               \
    }
#define OF_RULE(rule)                          \
    KERNEL(per_pixel, rule, float, _f32)       \
    KERNEL(per_pixel, rule, double, _f64)      \
    KERNEL(row_per_block, rule, float, _f32)   \
    KERNEL(row_per_block, rule, double, _f64)  \
    KERNEL(grid_stride, rule, float, _f32)     \
    KERNEL(grid_stride, rule, double, _f64)
EACH_RULE(OF_RULE)

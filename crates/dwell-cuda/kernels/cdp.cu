// Mariani-Silver by device-side launches, as in the published programs: a block for each rectangle tests its border; one
// thread then launches the fill, the children or the pixels. Unlike in those programs, rectangles split exactly at every
// size, each launch is checked, and the pixels written are counted.
//
// Since compute capability 9.0 a parent cannot wait for its children: they are launched by "fire and forget", no kernel needs
// to wait, and the host's event occurs after the whole tree.
#include "rectangle.cuh"

__device__ __forceinline__ void check_launch(const LaunchDivision& d) {
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        atomicAdd(d.failed, 1);
        *d.error = error;
    }
}

template <class N> __device__ __forceinline__ void fill(const Task<N>& t, const Rectangle& r, unsigned n) {
    const unsigned column = r.left + blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = r.top + blockIdx.y * blockDim.y + threadIdx.y;
    if (column < r.right && row < r.bottom) write(t, column, row, n);
    if (blockIdx.x + blockIdx.y + threadIdx.x + threadIdx.y == 0) {
        count_written(t, (unsigned long long)r.width() * r.height());
    }
}

template <class N, class Rule> __device__ __forceinline__ void pixels(const Task<N>& t, const Rectangle& r) {
    const Rule rule(t);
    const unsigned column = r.left + blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = r.top + blockIdx.y * blockDim.y + threadIdx.y;
    if (column < r.right && row < r.bottom) {
        const Point<N> p(t, column, row);
        N x = p.re, y = p.im;
        write(t, column, row, plain_dwell(rule, x, y, p.a, p.b, t.limit, t.radius_squared));
        if (t.end_x) write_end(t, column, row, x, y);
    }
    if (blockIdx.x + blockIdx.y + threadIdx.x + threadIdx.y == 0) {
        count_written(t, (unsigned long long)r.width() * r.height());
    }
}

#define KERNELS(rule, number, suffix)                                                                                  \
    extern "C" __global__ void cdp_fill_##rule##suffix(Task<number> t, Rectangle r, unsigned n) { fill(t, r, n); }     \
    extern "C" __global__ void cdp_pixels_##rule##suffix(Task<number> t, Rectangle r) { pixels<number, rule>(t, r); }  \
    extern "C" __global__ void cdp_divide_##rule##suffix(Task<number> t, LaunchDivision d, Rectangle all,              \
                                                         unsigned parts, unsigned depth) {                             \
        const Rectangle r = all.child(blockIdx.y * parts + blockIdx.x, parts);                                         \
        if (r.is_empty()) return;                                                                                      \
        const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;             \
        const unsigned count = r.border();                                                                             \
        const rule step(t);                                                                                            \
        unsigned least = 0xffffffffu, most = 0;                                                                        \
        for (unsigned k = thread; k < count; k += threads) {                                                           \
            unsigned column, row;                                                                                      \
            r.border_pixel(k, column, row);                                                                            \
            const Point<number> p(t, column, row);                                                                     \
            number x = p.re, y = p.im;                                                                                 \
            unsigned n = plain_dwell(step, x, y, p.a, p.b, t.limit, t.radius_squared);                                 \
            least = min(least, n);                                                                                     \
            most = max(most, n);                                                                                       \
        }                                                                                                              \
        block_range(least, most);                                                                                      \
        if (thread != 0) return;                                                                                       \
        const dim3 shape(blockDim.x, blockDim.y);                                                                      \
        const dim3 cover((r.width() + shape.x - 1) / shape.x, (r.height() + shape.y - 1) / shape.y);                   \
        if (least == most && (least == 0 || may_infer_escape(t, r))) {                                                 \
            cdp_fill_##rule##suffix<<<cover, shape, 0, cudaStreamFireAndForget>>>(t, r, least);                        \
        } else if (depth + 1 < d.max_depth && r.shorter() / d.parts > d.min_size) {                                    \
            cdp_divide_##rule##suffix<<<dim3(d.parts, d.parts), shape, 0, cudaStreamFireAndForget>>>(t, d, r, d.parts, \
                                                                                                     depth + 1);       \
        } else {                                                                                                       \
            cdp_pixels_##rule##suffix<<<cover, shape, 0, cudaStreamFireAndForget>>>(t, r);                             \
        }                                                                                                              \
        check_launch(d);                                                                                               \
    }
KERNELS(square_fused, float, _f32)
KERNELS(square_fused, double, _f64)
KERNELS(square_separate, float, _f32)
KERNELS(square_separate, double, _f64)

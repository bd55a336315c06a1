// Mariani-Silver level by level: ordinary launches with lists of rectangles, no device-side launch (the "adaptive serial
// kernels" of the follow-up literature to the published recursive program). One block for each rectangle.
//
// `levels_grid` lists the rectangles of the first level. `levels_border` computes borders, then fills a rectangle, lists its
// children or makes it a leaf. `levels_leaf` computes the pixels within leaves. Borders are written at once and never
// computed again.
//
// `block_fill` subdivides a tile in shared memory within one block of threads.
#include "rectangle.cuh"

static_assert(MOST_PARTS * MOST_PARTS <= BLOCK_THREADS, "levels_border makes each child in a thread of its own");

__device__ __forceinline__ void push(const RectangleList& list, const Rectangle& r) {
    unsigned slot = atomicAdd(list.count, 1);
    // Capacities are planned. If one were exceeded, pixels would be missing in the number written, which the host checks.
    if (slot < list.capacity) list.rectangles[slot] = r;
}

extern "C" __global__ void levels_grid(RectangleList list, unsigned width, unsigned begin, unsigned end, unsigned parts) {
    const Rectangle all = {0, begin, width, end};
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < parts * parts; i += gridDim.x * blockDim.x) {
        Rectangle r = all.child(i, parts);
        if (!r.is_empty()) push(list, r);
    }
}

// Called, not inlined: it is long, and used in four places.
template <class N, class Rule>
__device__ __noinline__ unsigned dwell_at(const Rule& rule, const Task<N>& t, unsigned column, unsigned row) {
    const Point<N> p(t, column, row);
    return quick_dwell(rule, t, p);
}

template <class N, class Rule>
__device__ __forceinline__ void border(const Task<N>& t, const RectangleList& list, const RectangleList& children,
                                       const RectangleList& leaves, unsigned parts, unsigned min_size,
                                       unsigned divides) {
    const Rule rule(t);
    const unsigned thread = threadIdx.x, count = min(*list.count, list.capacity);
    for (unsigned i = blockIdx.x; i < count; i += gridDim.x) {
        const Rectangle r = list.rectangles[i];
        const unsigned pixels = r.border();
        unsigned least = 0xffffffffu, most = 0;
        for (unsigned k = thread; k < pixels; k += blockDim.x) {
            unsigned column, row;
            r.border_pixel(k, column, row);
            unsigned n = dwell_at(rule, t, column, row);
            write_computed(rule, t, column, row, n);
            least = min(least, n);
            most = max(most, n);
        }
        block_range(least, most);
        unsigned long long written = pixels;
        if (r.width() > 2 && r.height() > 2) {
            if (least == most && (least == 0 || may_infer_escape(t, r))) {
                const unsigned inner = r.width() - 2;
                for (unsigned row = r.top + 1; row < r.bottom - 1; row++) {
                    for (unsigned k = thread; k < inner; k += blockDim.x) write(t, r.left + 1 + k, row, least);
                }
                written += (unsigned long long)inner * (r.height() - 2);
            } else if (divides && r.shorter() > min_size) {
                if (thread < parts * parts) {
                    // Without the border, which is computed.
                    const Rectangle within = {r.left + 1, r.top + 1, r.right - 1, r.bottom - 1};
                    Rectangle child = within.child(thread, parts);
                    if (!child.is_empty()) push(children, child);
                }
            } else if (thread == 0) {
                push(leaves, r);
            }
        }
        if (thread == 0) count_written(t, written);
    }
}

template <class N, class Rule> __device__ __forceinline__ void leaf(const Task<N>& t, const RectangleList& leaves) {
    const Rule rule(t);
    const unsigned count = min(*leaves.count, leaves.capacity);
    for (unsigned i = blockIdx.x; i < count; i += gridDim.x) {
        const Rectangle r = leaves.rectangles[i];
        const unsigned width = r.width() - 2;
        const unsigned long long pixels = (unsigned long long)width * (r.height() - 2);
        for (unsigned long long k = threadIdx.x; k < pixels; k += blockDim.x) {
            unsigned column = r.left + 1 + (unsigned)(k % width), row = r.top + 1 + (unsigned)(k / width);
            write_computed(rule, t, column, row, dwell_at(rule, t, column, row));
        }
        if (threadIdx.x == 0) count_written(t, pixels);
    }
}

// Pixels on a side of the smallest rectangle, which is not divided.
#define LEAST 8
#define UNKNOWN 0xffffffffu

template <class N, class Rule> __device__ __forceinline__ void block(const Task<N>& t) {
    const Rule rule(t);
    __shared__ unsigned dwell[TILE_SIDE * TILE_SIDE];
    // For each rectangle of a level: whether all of its border has the dwell of its first pixel.
    __shared__ unsigned char alike[(TILE_SIDE / LEAST) * (TILE_SIDE / LEAST)];
    const unsigned left = blockIdx.x * TILE_SIDE, top = t.begin + blockIdx.y * TILE_SIDE;
    const unsigned right = min(left + TILE_SIDE, t.width), bottom = min(top + TILE_SIDE, t.end);
    for (unsigned k = threadIdx.x; k < TILE_SIDE * TILE_SIDE; k += blockDim.x) dwell[k] = UNKNOWN;
    for (unsigned side = TILE_SIDE; side >= LEAST; side /= 2) {
        const unsigned across = TILE_SIDE / side;
        for (unsigned k = threadIdx.x; k < across * across; k += blockDim.x) alike[k] = 1;
        __syncthreads();
        for (unsigned k = threadIdx.x; k < TILE_SIDE * TILE_SIDE; k += blockDim.x) {
            const unsigned column = left + k % TILE_SIDE, row = top + k / TILE_SIDE;
            if (column >= right || row >= bottom || dwell[k] != UNKNOWN) continue;
            const unsigned x = k % TILE_SIDE % side, y = k / TILE_SIDE % side;
            const bool edge = x == 0 || y == 0 || x == side - 1 || y == side - 1 || column == right - 1 || row == bottom - 1;
            if (edge) dwell[k] = dwell_at(rule, t, column, row);
        }
        __syncthreads();
        // Compare each pixel of a border with the rectangle's first pixel.
        for (unsigned k = threadIdx.x; k < TILE_SIDE * TILE_SIDE; k += blockDim.x) {
            const unsigned column = left + k % TILE_SIDE, row = top + k / TILE_SIDE;
            if (column >= right || row >= bottom) continue;
            const unsigned x = k % TILE_SIDE % side, y = k / TILE_SIDE % side;
            const bool edge = x == 0 || y == 0 || x == side - 1 || y == side - 1 || column == right - 1 || row == bottom - 1;
            const unsigned corner = k - x - y * TILE_SIDE;
            if (edge && dwell[k] != dwell[corner]) alike[k / TILE_SIDE / side * across + k % TILE_SIDE / side] = 0;
        }
        __syncthreads();
        for (unsigned k = threadIdx.x; k < across * across; k += blockDim.x) {
            const Rectangle r = {left + k % across * side, top + k / across * side,
                                 min(left + (k % across + 1) * side, right), min(top + (k / across + 1) * side, bottom)};
            const bool there = r.left < right && r.top < bottom;
            if (alike[k] && there && dwell[(r.top - top) * TILE_SIDE + r.left - left] != 0 && !may_infer_escape(t, r)) alike[k] = 0;
        }
        __syncthreads();
        for (unsigned k = threadIdx.x; k < TILE_SIDE * TILE_SIDE; k += blockDim.x) {
            if (left + k % TILE_SIDE >= right || top + k / TILE_SIDE >= bottom) continue;
            const unsigned x = k % TILE_SIDE % side, y = k / TILE_SIDE % side;
            if (alike[k / TILE_SIDE / side * across + k % TILE_SIDE / side] && dwell[k] == UNKNOWN) {
                dwell[k] = dwell[k - x - y * TILE_SIDE];
            }
        }
        __syncthreads();
    }
    for (unsigned k = threadIdx.x; k < TILE_SIDE * TILE_SIDE; k += blockDim.x) {
        const unsigned column = left + k % TILE_SIDE, row = top + k / TILE_SIDE;
        if (column >= right || row >= bottom) continue;
        write_computed(rule, t, column, row, dwell[k] != UNKNOWN ? dwell[k] : dwell_at(rule, t, column, row));
    }
    if (threadIdx.x == 0 && left < right && top < bottom) {
        count_written(t, (unsigned long long)(right - left) * (bottom - top));
    }
}

#define KERNELS(rule, number, suffix)                                                                                  \
    extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)                                                        \
        levels_border_##rule##suffix(Task<number> t, RectangleList list, RectangleList children, RectangleList leaves, \
                                     unsigned parts, unsigned min_size, unsigned divides) {                            \
        border<number, rule>(t, list, children, leaves, parts, min_size, divides);                                     \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)                                                        \
        levels_leaf_##rule##suffix(Task<number> t, RectangleList leaves) {                                             \
        leaf<number, rule>(t, leaves);                                                                                 \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) block_fill_##rule##suffix(Task<number> t) {            \
        block<number, rule>(t);                                                                                        \
    }
#define OF_RULE(rule) KERNELS(rule, float, _f32) KERNELS(rule, double, _f64)
EACH_RULE(OF_RULE)

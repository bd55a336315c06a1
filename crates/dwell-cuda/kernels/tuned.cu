// The default: exact, and the fastest there is.
//
// `tuned_first`: a thread a pixel, warps of 8 x 4 pixels. Points inside the cardioid or the disc are done at once; the
// head's steps are counted one by one, as most points end there; the rest fly in batches. Who still flies after some
// steps goes on a list, so that a few long orbits do not hold whole warps. `tuned_stage`: those of a list, 32 to a warp,
// for some more steps each; who still flies goes on the next list.
#include "orbit.cuh"

// Points that fly on: z and the place of each, as rows of the task's width from its `begin` on.
template <class N> struct Survivors {
    N *x, *y;
    unsigned* place;
    unsigned* count;
};

// Has each lane that wants to put its point on a list do so: one atomic addition a warp.
template <class N>
__device__ __forceinline__ void survive(const Survivors<N>& list, bool wants, N x, N y, unsigned place) {
    unsigned mask = __ballot_sync(~0u, wants);
    if (!mask) return;
    unsigned lane = threadIdx.x & 31, first = 0;
    if (lane == 0) first = atomicAdd(list.count, __popc(mask));
    first = __shfl_sync(~0u, first, 0);
    if (wants) {
        unsigned slot = first + __popc(mask & ((1u << lane) - 1));
        list.x[slot] = x;
        list.y[slot] = y;
        list.place[slot] = place;
    }
}

#define THREADS 256
// Rows of 8 x 4 pixels that a warp does one after the other, so that what belongs to its columns is done once.
#define TILES 2

// Whether a point still flies after some steps; if it has escaped, `n` is when, and with KEEP `f` where.
template <int BATCH, bool KEEP, class N, class Rule>
__device__ __forceinline__ bool flies_on(const Rule& rule, const Task<N>& t, const Point<N>& p, Flight<N>& f,
                                         unsigned steps, unsigned& n) {
    Outcome outcome = fly<BATCH, false>(rule, f, p.a, p.b, t.radius_squared, steps);
    if (outcome == ESCAPED) n = replay<BATCH, KEEP>(rule, f, p.a, p.b, t.radius_squared, t.limit);
    return outcome == STILL_FLYING;
}

template <class N, class Rule, bool KEEP>
__device__ __forceinline__ void first(const Task<N>& t, const Survivors<N>& list, unsigned steps) {
    const Rule rule(t);
    const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const unsigned column = blockIdx.x * 32 + (warp & 3) * 8 + (lane & 7);
    const N re_of_column = t.re_of_column[min(column, t.width - 1)];
    unsigned row = t.begin + blockIdx.y * (8 * TILES) + (warp >> 2) * 4 + (lane >> 3);
    for (int tile = 0; tile < TILES; tile++, row += 8) {
        bool survives = false;
        Flight<N> f = {N(0), N(0), 0};
        if (column < t.width && row < t.end) {
            const Point<N> p(t, re_of_column, column, row);
            N x = p.re, y = p.im;
            unsigned n = 1;
            if (t.interior && is_inside(t, p.re, p.im)) {
                n = 0;
            } else if (needs_each_step<N, typename Rule::Recipe>(t, p.re, p.im)) {
                n = plain_dwell(rule, x, y, p.a, p.b, t.limit, t.radius_squared);
            } else if (Rule::Recipe::norm(x, y) <= t.radius_squared) {
                bool in = true;
                for (int i = 0; in && i < HEAD; i += 4) {
                    in = counted_steps<4, KEEP>(rule, x, y, p.a, p.b, t.radius_squared, n);
                }
                if (in ? n >= t.limit : n > t.limit) {
                    n = 0;
                } else if (in) {
                    f = {x, y, t.limit - n};
                    // So few steps that cycles are not looked for.
                    n = 0;
                    survives = t.cycles ? flies_on<SHORT_BATCH, KEEP>(rule, t, p, f, steps, n)
                                        : flies_on<LONG_BATCH, KEEP>(rule, t, p, f, steps, n);
                    x = f.x;
                    y = f.y;
                }
            }
            if (!survives) {
                write(t, column, row, n);
                if (KEEP) write_end(t, column, row, x, y);
            }
        }
        survive(list, survives, f.x, f.y, (row - t.begin) * t.width + column);
    }
}

// All points of `list` have `left` steps to the limit, and fly `steps` of them.
template <int BATCH, bool CYCLES, class N, class Rule, bool KEEP>
__device__ __forceinline__ void stage(const Task<N>& t, const Survivors<N>& list, const Survivors<N>& next, unsigned left,
                                      unsigned steps) {
    const Rule rule(t);
    const unsigned count = *list.count;
    const unsigned lane = threadIdx.x & 31;
    // Whole warps: all lanes of one take part in what it asks its lanes.
    for (unsigned long long from = (unsigned long long)blockIdx.x * THREADS + (threadIdx.x & ~31u); from < count;
         from += (unsigned long long)gridDim.x * THREADS) {
        bool survives = false;
        Flight<N> f = {N(0), N(0), left};
        unsigned place = 0;
        if (from + lane < count) {
            place = list.place[from + lane];
            const unsigned row = t.begin + place / t.width, column = place % t.width;
            const Point<N> p(t, column, row);
            f.x = list.x[from + lane];
            f.y = list.y[from + lane];
            Outcome outcome = fly<BATCH, CYCLES>(rule, f, p.a, p.b, t.radius_squared, steps);
            survives = outcome == STILL_FLYING;
            unsigned n = 0;
            if (outcome == ESCAPED) n = replay<BATCH, KEEP>(rule, f, p.a, p.b, t.radius_squared, t.limit);
            if (!survives) {
                write(t, column, row, n);
                if (KEEP) write_end(t, column, row, f.x, f.y);
            }
        }
        survive(next, survives, f.x, f.y, place);
    }
}

#define KERNELS(rule, number, suffix, keep)                                                                     \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                       \
        tuned_first_##rule##suffix(Task<number> t, Survivors<number> list, unsigned steps) {                    \
        first<number, rule, keep>(t, list, steps);                                                              \
    }                                                                                                           \
    extern "C" __global__ void __launch_bounds__(THREADS) tuned_stage_##rule##suffix(                           \
        Task<number> t, Survivors<number> list, Survivors<number> next, unsigned left, unsigned steps) {        \
        if (t.cycles) {                                                                                         \
            stage<SHORT_BATCH, true, number, rule, keep>(t, list, next, left, steps);                           \
        } else {                                                                                                \
            stage<LONG_BATCH, false, number, rule, keep>(t, list, next, left, steps);                           \
        }                                                                                                       \
    }
#define OF_RULE(rule)                         \
    KERNELS(rule, float, _f32, false)         \
    KERNELS(rule, double, _f64, false)        \
    KERNELS(rule, float, _f32_ends, true)     \
    KERNELS(rule, double, _f64_ends, true)
EACH_RULE(OF_RULE)

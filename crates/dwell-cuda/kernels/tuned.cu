// The default kernel: exact, and the fastest.
//
// `tuned_first`: one thread for each pixel, warps of 8 x 4 pixels. Points inside the cardioid or the disc are done at once;
// the steps of the prologue are counted one by one, since most points escape there; the rest are iterated in batches. Points
// that survive some steps go on a list, so that a few long orbits do not hold up whole warps. `tuned_stage` iterates the
// points of a list, 32 to a warp, for some more steps each; the survivors go on the next list.
#include "first.cuh"

template <class N, class Rule, bool KEEP>
__device__ __forceinline__ void first(const Task<N>& t, const Survivors<N>& list, unsigned steps) {
    const Rule rule(t);
    const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    // Shifts as written: with divisions by the constants the compiler assigns other registers, mostly fewer but not always.
    static_assert(WARPS_ACROSS == 1 << 2 && WARP_COLUMNS == 1 << 3, "the shifts and masks divide by these");
    const unsigned column = blockIdx.x * BLOCK_COLUMNS + (warp & 3) * WARP_COLUMNS + (lane & 7);
    const N re_of_column = t.re_of_column[min(column, t.width - 1)];
    unsigned row = t.begin + blockIdx.y * BLOCK_ROWS + (warp >> 2) * WARP_ROWS + (lane >> 3);
    for (int tile = 0; tile < TILES_OF_WARP; tile++, row += TILE_ROWS) {
        first_of_pixel<N, Rule, KEEP>(rule, t, list, re_of_column, column, row, steps);
    }
}

// Iterates the points of `list`, which have `left` steps to the limit, for `steps` steps.
template <int BATCH, bool CYCLES, class N, class Rule, bool KEEP>
__device__ __forceinline__ void stage(const Task<N>& t, const Survivors<N>& list, const Survivors<N>& next, unsigned left,
                                      unsigned steps) {
    const Rule rule(t);
    const unsigned count = *list.count;
    const unsigned lane = threadIdx.x & 31;
    // Whole warps: all lanes of a warp take part in its ballots.
    for (unsigned long long from = (unsigned long long)blockIdx.x * BLOCK_THREADS + (threadIdx.x & ~31u); from < count;
         from += (unsigned long long)gridDim.x * BLOCK_THREADS) {
        bool survives = false;
        Orbit<N> orbit = {N(0), N(0), left};
        unsigned place = 0;
        if (from + lane < count) {
            place = list.place[from + lane];
            const unsigned row = t.begin + place / t.width, column = place % t.width;
            const Point<N> p(t, column, row);
            orbit.x = list.x[from + lane];
            orbit.y = list.y[from + lane];
            Outcome outcome = iterate<BATCH, CYCLES>(rule, orbit, p.a, p.b, t.radius_squared, steps);
            survives = outcome == UNDECIDED;
            unsigned n = 0;
            if (outcome == ESCAPED) n = replay<BATCH, KEEP>(rule, orbit, p.a, p.b, t.radius_squared, t.limit);
            if (!survives) {
                write(t, column, row, n);
                if (KEEP) write_end(t, column, row, orbit.x, orbit.y);
            }
        }
        append(next, survives, orbit.x, orbit.y, place);
    }
}

#define KERNELS(rule, number, suffix, keep)                                                                     \
    extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)                                                 \
        tuned_first_##rule##suffix(Task<number> t, Survivors<number> list, unsigned steps) {                    \
        first<number, rule, keep>(t, list, steps);                                                              \
    }                                                                                                           \
    extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) tuned_stage_##rule##suffix(                     \
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

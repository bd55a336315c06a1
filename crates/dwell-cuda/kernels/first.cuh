// The first steps of pixels, and the list of those that survive them: for tuned.cu and proven.cu.
#pragma once
#include "orbit.cuh"

// Appends the points of the lanes that survive to a list, with one atomic addition for the warp.
template <class N>
__device__ __forceinline__ void append(const Survivors<N>& list, bool survives, N x, N y, unsigned place) {
    unsigned mask = __ballot_sync(~0u, survives);
    if (!mask) return;
    unsigned lane = threadIdx.x & 31, first = 0;
    if (lane == 0) first = atomicAdd(list.count, __popc(mask));
    first = __shfl_sync(~0u, first, 0);
    if (survives) {
        unsigned slot = first + __popc(mask & ((1u << lane) - 1));
        list.x[slot] = x;
        list.y[slot] = y;
        list.place[slot] = place;
    }
}

// Whether a point survives some steps. If it has escaped, `n` is its dwell, and with KEEP `orbit` has its z_n.
template <int BATCH, bool KEEP, class N, class Rule>
__device__ __forceinline__ bool survives_steps(const Rule& rule, const Task<N>& t, const Point<N>& p,
                                               Orbit<N>& orbit, unsigned steps, unsigned& n) {
    Outcome outcome = iterate<BATCH, false>(rule, orbit, p.a, p.b, t.radius_squared, steps);
    if (outcome == ESCAPED) n = replay<BATCH, KEEP>(rule, orbit, p.a, p.b, t.radius_squared, t.limit);
    return outcome == UNDECIDED;
}

// The first steps of a pixel: it is written, or it survives and goes on the list. All lanes of a warp take part; those outside of
// the task's columns and rows do nothing.
template <class N, class Rule, bool KEEP>
__device__ __forceinline__ void first_of_pixel(const Rule& rule, const Task<N>& t, const Survivors<N>& list, N re_of_column,
                                               unsigned column, unsigned row, unsigned steps) {
    bool survives = false;
    Orbit<N> orbit = {N(0), N(0), 0};
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
            for (int i = 0; in && i < PROLOGUE_STEPS; i += PROLOGUE_BATCH) {
                in = counted_steps<PROLOGUE_BATCH, KEEP>(rule, x, y, p.a, p.b, t.radius_squared, n);
            }
            if (in ? n >= t.limit : n > t.limit) {
                n = 0;
            } else if (in) {
                orbit = {x, y, t.limit - n};
                // There are so few steps that cycles are not looked for.
                n = 0;
                survives = t.cycles ? survives_steps<SHORT_BATCH, KEEP>(rule, t, p, orbit, steps, n)
                                    : survives_steps<LONG_BATCH, KEEP>(rule, t, p, orbit, steps, n);
                x = orbit.x;
                y = orbit.y;
            }
        }
        if (!survives) {
            write(t, column, row, n);
            if (KEEP) write_end(t, column, row, x, y);
        }
    }
    append(list, survives, orbit.x, orbit.y, (row - t.begin) * t.width + column);
}

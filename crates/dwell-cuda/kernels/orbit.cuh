// Dwells of single points: the plain loop, and the quick one, which gives the same dwells.
#pragma once
#include "task.cuh"

// The plain loop of naive.rs: tests at every step. Leaves z_n in x, y.
template <class N, class Rule>
__device__ __forceinline__ unsigned plain_dwell(const Rule& rule, N& x, N& y, N a, N b, unsigned limit, N radius_squared) {
    unsigned n = 1;
    while (Rule::Recipe::norm(x, y) <= radius_squared) {
        if (n >= limit) return 0;
        rule.step(x, y, a, b);
        n++;
    }
    return n;
}

// `STEPS` steps from a z_n that had not escaped, counting the tests passed: the number of steps up to the first escape, since
// an escaped orbit stays outside (escape/late.rs). There are no branches, so lanes stay together. With `KEEP`, x, y stay at
// the first escaped value.
template <int STEPS, bool KEEP, class N, class Rule>
__device__ __forceinline__ bool counted_steps(const Rule& rule, N& x, N& y, N a, N b, N radius_squared, unsigned& n) {
    bool in = true;
#pragma unroll(Rule::UNROLL_COUNTED)
    for (int i = 0; i < STEPS; i++) {
        n += in;
        if (KEEP) {
            N next_x = x, next_y = y;
            rule.step(next_x, next_y, a, b);
            x = in ? next_x : x;
            y = in ? next_y : y;
        } else {
            rule.step(x, y, a, b);
        }
        in = Rule::Recipe::norm(x, y) <= radius_squared;
    }
    return in;
}

// An orbit in progress: z_n has not escaped, n < limit.
template <class N> struct Orbit {
    N x, y;
    // limit - n.
    unsigned left;
};

enum Outcome { STAYS, ESCAPED, UNDECIDED };

// Iterates for `steps` steps, a multiple of BATCH, or to the limit, with a test every BATCH steps. When the orbit has escaped,
// x, y and `left` are those before the batch of its escape, so that all lanes of a warp can replay their batches together
// afterwards.
//
// With `CYCLES`: an orbit that returns to an earlier value, bit for bit (up to the sign of zeros), never escapes. z is
// compared after each batch with the value kept at a power of two of batches (Brent).
template <int BATCH, bool CYCLES, class N, class Rule>
__device__ __forceinline__ Outcome iterate(const Rule& rule, Orbit<N>& orbit, N a, N b, N radius_squared, unsigned steps) {
    const unsigned to_limit = orbit.left / BATCH + (orbit.left % BATCH != 0), to_end = steps / BATCH;
    const unsigned batches = min(to_limit, to_end);
    N kept_x = orbit.x, kept_y = orbit.y;
    for (unsigned k = 1; k <= batches; k++) {
        N x = orbit.x, y = orbit.y;
#pragma unroll(Rule::UNROLL)
        for (int i = 0; i < BATCH; i++) rule.step(x, y, a, b);
        if (!(Rule::Recipe::norm(x, y) <= radius_squared)) {
            orbit.left -= (k - 1) * BATCH;
            return ESCAPED;
        }
        orbit.x = x;
        orbit.y = y;
        if (CYCLES) {
            if (x == kept_x && y == kept_y) return STAYS;
            if ((k & (k - 1)) == 0) {
                kept_x = x;
                kept_y = y;
            }
        }
    }
    return to_limit <= to_end ? STAYS : UNDECIDED;
}

// Replays the batch in which a point escaped. Returns its dwell, 0 where that is beyond the limit.
template <int BATCH, bool KEEP, class N, class Rule>
__device__ __forceinline__ unsigned replay(const Rule& rule, Orbit<N>& orbit, N a, N b, N radius_squared, unsigned limit) {
    unsigned n = 0;
    counted_steps<BATCH, KEEP>(rule, orbit.x, orbit.y, a, b, radius_squared, n);
    return n > orbit.left ? 0 : limit - orbit.left + n;
}

// The dwell of a point by every shortcut that the task allows: equal to plain_dwell's.
template <class N, class Rule>
__device__ __forceinline__ unsigned quick_dwell(const Rule& rule, const Task<N>& t, const Point<N>& p) {
    if (t.interior && is_inside(t, p.re, p.im)) return 0;
    N x = p.re, y = p.im;
    if (needs_each_step<N, typename Rule::Recipe>(t, p.re, p.im)) {
        return plain_dwell(rule, x, y, p.a, p.b, t.limit, t.radius_squared);
    }
    if (!(Rule::Recipe::norm(x, y) <= t.radius_squared)) return 1;
    unsigned n = 1;
    for (int i = 0; i < PROLOGUE_STEPS; i += PROLOGUE_BATCH) {
        if (!counted_steps<PROLOGUE_BATCH, false>(rule, x, y, p.a, p.b, t.radius_squared, n)) return n > t.limit ? 0 : n;
    }
    if (n >= t.limit) return 0;
    Orbit<N> orbit = {x, y, t.limit - n};
    const Outcome outcome = t.cycles
                                ? iterate<SHORT_BATCH, true>(rule, orbit, p.a, p.b, t.radius_squared, ~0u)
                                : iterate<SHORT_BATCH, false>(rule, orbit, p.a, p.b, t.radius_squared, ~0u);
    if (outcome != ESCAPED) return 0;
    return replay<SHORT_BATCH, false>(rule, orbit, p.a, p.b, t.radius_squared, t.limit);
}

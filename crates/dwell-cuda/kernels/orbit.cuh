// Dwells of single points: the plain loop, and the quick one, which gives the same.
#pragma once
#include "task.cuh"

// The plain loop, as naive.rs: tested at every step. Leaves z_n in x, y.
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

// `STEPS` steps from a z_n that had not escaped, counting the tests survived: the number of steps up to the first escape,
// as what has escaped stays so (escape/late.rs). No branches, so lanes stay together. With `KEEP`, x, y stay where they
// escaped.
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

// A point in flight: z_n has not escaped, n < limit.
template <class N> struct Flight {
    N x, y;
    // limit - n.
    unsigned left;
};

enum Outcome { STAYS, ESCAPED, STILL_FLYING };

// Flies on for `steps` steps, a multiple of BATCH, or to the end, tested every BATCH steps. When it has escaped, x, y and
// `left` are those before the batch it escaped in, so that all lanes of a warp can go over theirs together afterwards.
//
// With `CYCLES`: z that comes back to a value that it had, bit for bit (up to the sign of zeros), never escapes. It is
// compared after each batch with one kept at a power of two of batches (Brent).
template <int BATCH, bool CYCLES, class N, class Rule>
__device__ __forceinline__ Outcome fly(const Rule& rule, Flight<N>& f, N a, N b, N radius_squared, unsigned steps) {
    const unsigned to_limit = f.left / BATCH + (f.left % BATCH != 0), to_end = steps / BATCH;
    const unsigned batches = min(to_limit, to_end);
    N kept_x = f.x, kept_y = f.y;
    for (unsigned k = 1; k <= batches; k++) {
        N x = f.x, y = f.y;
#pragma unroll(Rule::UNROLL)
        for (int i = 0; i < BATCH; i++) rule.step(x, y, a, b);
        if (!(Rule::Recipe::norm(x, y) <= radius_squared)) {
            f.left -= (k - 1) * BATCH;
            return ESCAPED;
        }
        f.x = x;
        f.y = y;
        if (CYCLES) {
            if (x == kept_x && y == kept_y) return STAYS;
            if ((k & (k - 1)) == 0) {
                kept_x = x;
                kept_y = y;
            }
        }
    }
    return to_limit <= to_end ? STAYS : STILL_FLYING;
}

// Goes over the batch in which a point escaped. Its dwell, 0 where that is beyond the limit.
template <int BATCH, bool KEEP, class N, class Rule>
__device__ __forceinline__ unsigned replay(const Rule& rule, Flight<N>& f, N a, N b, N radius_squared, unsigned limit) {
    unsigned n = 0;
    counted_steps<BATCH, KEEP>(rule, f.x, f.y, a, b, radius_squared, n);
    return n > f.left ? 0 : limit - f.left + n;
}

// Steps between two tests where orbits end, and where they seldom do: with cycles looked for they are compared as often.
#define SHORT_BATCH 16
#define LONG_BATCH 64
// Steps that are counted one by one before batches begin: most points of most views escape within them.
#define HEAD 16

// The dwell of a point by every shortcut that the task allows: the same as plain_dwell's.
template <class N, class Rule>
__device__ __forceinline__ unsigned quick_dwell(const Rule& rule, const Task<N>& t, const Point<N>& p) {
    if (t.interior && is_inside(t, p.re, p.im)) return 0;
    N x = p.re, y = p.im;
    if (needs_each_step<N, typename Rule::Recipe>(t, p.re, p.im)) {
        return plain_dwell(rule, x, y, p.a, p.b, t.limit, t.radius_squared);
    }
    if (!(Rule::Recipe::norm(x, y) <= t.radius_squared)) return 1;
    unsigned n = 1;
    for (int i = 0; i < HEAD; i += 4) {
        if (!counted_steps<4, false>(rule, x, y, p.a, p.b, t.radius_squared, n)) return n > t.limit ? 0 : n;
    }
    if (n >= t.limit) return 0;
    Flight<N> f = {x, y, t.limit - n};
    const Outcome outcome = t.cycles
                                ? fly<SHORT_BATCH, true>(rule, f, p.a, p.b, t.radius_squared, ~0u)
                                : fly<SHORT_BATCH, false>(rule, f, p.a, p.b, t.radius_squared, ~0u);
    if (outcome != ESCAPED) return 0;
    return replay<SHORT_BATCH, false>(rule, f, p.a, p.b, t.radius_squared, t.limit);
}

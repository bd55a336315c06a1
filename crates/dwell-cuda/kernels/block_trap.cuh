// Proofs that no pixel of a block escapes: blocks/trap.rs of the CPU kernels and its interior.rs have the arguments.
#pragma once
#include "block_model.cuh"

// Whether a disc of points c is inside the main cardioid or the period-2 disc: `contains_disc` of interior.rs, in the number of
// the orbits. `f.roundings` is left for the roundings of this test.
template <class N>
__device__ __forceinline__ bool contains_disc(const BlockProof& f, N a, N b, N radius) {
    using O = Op<N>;
    if (!f.has_interior) return false;
    const N from_centre = O::add(a, N(1));
    if (O::add(O::root(O::fma(from_centre, from_centre, O::mul(b, b))), radius) <= N(f.inside_disc)) return true;
    const N v = O::fma(a, N(-4), N(1)), w = O::mul(b, N(-4));
    const N modulus = O::root(O::fma(v, v, O::mul(w, w)));
    if (!(modulus > O::fma(radius, N(4), N(f.roundings)) && modulus <= N(16))) return false;
    // The part without cancellation first.
    const N larger = O::root(O::mul(O::add(modulus, O::abs(v)), N(0.5)));
    const N smaller = O::mul(O::abs(w), N(0.5)) / larger;
    const N re = O::sub(N(1), v >= N(0) ? larger : smaller), im = v >= N(0) ? smaller : larger;
    const N lambda = O::root(O::fma(re, re, O::mul(im, im)));
    return O::add(lambda, O::mul(radius, N(4)) / O::root(modulus)) <= N(f.inside_cardioid);
}

// The number of steps after which an orbit returns closest to where it is; 0 if it does not come close.
template <class N, class Rule> __device__ __forceinline__ unsigned closest_return(const Rule& rule, N x, N y, N re, N im) {
    const N start_x = x, start_y = y;
    float nearest = RETURN_CLOSE;
    unsigned period = 0;
    for (unsigned k = 1; k <= LONGEST_RETURN; k++) {
        rule.step(x, y, re, im);
        const float dx = (float)Op<N>::sub(x, start_x), dy = (float)Op<N>::sub(y, start_y);
        const float squared = __fmaf_rn(dx, dx, __fmul_rn(dy, dy));
        if (squared < nearest) {
            nearest = squared;
            period = k;
        }
    }
    return period;
}

// Whether the discs of a model, with E enlarged, are mapped into themselves by some steps. `too_large`: they grew although they
// were large enough for all displacements that are to come, so that nothing is gained by waiting.
template <class N, class Rule>
__device__ __forceinline__ bool is_trapped(const Rule& rule, const BlockProof& f, Model<N> m, float radius, N re, N im,
                                           bool& too_large) {
    too_large = false;
    const unsigned period = closest_return(rule, m.x, m.y, re, im);
    float last = INFINITY;
    bool has_converged = false, is_proved = false;
    m.e = up::mul(m.e, TRAP_ENLARGEMENT);
    for (unsigned attempt = 1; attempt <= TRAP_ATTEMPTS && period > 0; attempt++) {
        const Model<N> start = m;
        bool is_inside = true;
        for (unsigned k = 0; k < period; k++) {
            const Measure b = measure(rule, m, radius);
            is_inside = b.reach <= f.near_radius;
            if (!is_inside) break;
            m = step(rule, f, m, b, re, im);
        }
        if (!is_inside) {
            too_large = has_converged;
            break;
        }
        const float dx = up::of(Op<N>::abs(Op<N>::sub(m.x, start.x))), dy = up::of(Op<N>::abs(Op<N>::sub(m.y, start.y)));
        float linear, quadratic;
        terms(rule, __fsub_rn(m.p, start.p), __fsub_rn(m.q, start.q), __fsub_rn(m.s, start.s), __fsub_rn(m.t, start.t), radius,
              linear, quadratic);
        // 2^-20 is more than the roundings of the differences.
        const float distance = root_up(up::fma(dx, dx, up::mul(dy, dy)));
        const float displacement = up::mul(up::add(distance, up::add(linear, quadratic)), 1.0f + 0x1p-20f);
        is_proved = up::add(displacement, m.e) <= start.e;
        if (is_proved) break;
        // The first disc need not be large enough.
        if (attempt > 1 && start.e < m.e) {
            too_large = has_converged;
            break;
        }
        // The displacements of later periods add up to the last one times 1 / (1 - their ratio).
        const float added = displacement * 2.0f / (1.0f - fminf(displacement / last, 0.98f));
        last = displacement;
        has_converged = added < m.e;
        m.e = up::add(added, up::mul(m.e, TRAP_ENLARGEMENT));
    }
    return is_proved;
}

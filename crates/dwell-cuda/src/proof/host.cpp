// The proofs of proven.cu on the host, from the same headers. For tests without a device.
#include "host/operations.hpp"

#include "block.cuh"

// The models of the block that is the whole task for n = 1, 2, ... as long as no pixel can have escaped, at most so many. Each has 7
// numbers: Z, D, Q and E. Its centre is that of n = 1. Then the z_n of each pixel.
template <class N, class Rule>
static unsigned models(const Task<N>& t, const BlockProof& f, unsigned most, double* out, double* orbits) {
    const Rule rule(t);
    const Block<N> block(t, 0, 0, BLOCK_SIDE);
    Model<N> model = first_model<N>(rule, block.re, block.im);
    unsigned count = 0;
    while (count < most) {
        const double numbers[7] = {model.x, model.y, model.p, model.q, model.s, model.t, model.e};
        std::memcpy(out + 7 * count++, numbers, sizeof numbers);
        const Measure b = measure(rule, model, f.block_radius);
        if (!(b.reach <= f.near_radius)) break;
        model = step(rule, f, model, b, block.a, block.b);
    }
    for (unsigned row = 0; row < t.end; row++) {
        for (unsigned column = 0; column < t.width; column++) {
            const Point<N> p(t, column, row);
            N x = p.re, y = p.im;
            for (unsigned n = 0; n < count; n++) {
                *orbits++ = x;
                *orbits++ = y;
                rule.step(x, y, p.a, p.b);
            }
        }
    }
    return count;
}

// The proved dwell of each block of a side, or ~0.
template <class N, class Rule> static void prove_all(const Task<N>& t, const BlockProof& f, unsigned side, unsigned* dwells) {
    const Rule rule(t);
    const float radius = side == BLOCK_SIDE ? f.block_radius : f.cell_radius;
    for (unsigned row = 0; row * side < t.end; row++) {
        for (unsigned column = 0; column < across(t, side); column++) {
            const Block<N> block(t, column, row, side);
            unsigned n = 0;
            Verdict verdict = prove(rule, t, f, block, radius, n);
            if (verdict == STAYS_SO_FAR) verdict = prove_trapped(rule, t, f, block, radius, n);
            *dwells++ = verdict == PROVED ? n : ~0u;
        }
    }
}

// `rule`: its number in EACH_RULE.
#define FUNCTIONS(number, suffix)                                                                                          \
    extern "C" unsigned dwell_models_##suffix(int rule, const Task<number>* t, const BlockProof* f, unsigned most,         \
                                              double* out, double* orbits) {                                              \
        EACH_RULE(OF_MODELS_##suffix)                                                                                      \
        return 0;                                                                                                          \
    }                                                                                                                      \
    extern "C" void dwell_prove_##suffix(int rule, const Task<number>* t, const BlockProof* f, unsigned side,              \
                                         unsigned* dwells) {                                                               \
        EACH_RULE(OF_PROOFS_##suffix)                                                                                      \
    }
#define OF_MODELS_f32(name) \
    if (rule-- == 0) return models<float, name>(*t, *f, most, out, orbits);
#define OF_MODELS_f64(name) \
    if (rule-- == 0) return models<double, name>(*t, *f, most, out, orbits);
#define OF_PROOFS_f32(name) \
    if (rule-- == 0) return prove_all<float, name>(*t, *f, side, dwells);
#define OF_PROOFS_f64(name) \
    if (rule-- == 0) return prove_all<double, name>(*t, *f, side, dwells);
FUNCTIONS(float, f32)
FUNCTIONS(double, f64)

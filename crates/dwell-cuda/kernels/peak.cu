// The limit of a rule on a device: its operations and nothing else, a few orbits in flight in each thread.
#include "recipe.cuh"

struct Choice {
    unsigned fold, power;
};

// c = -0.5 + 0.25i less a little for each thread: in the set, so that numbers stay numbers. `sums` keeps the compiler from
// leaving anything out, `cycles` tells the clock that it ran at.
template <class N, class Rule, int IN_FLIGHT>
__device__ __forceinline__ void peak(Choice choice, unsigned steps, N* sums, unsigned long long* cycles) {
    const Rule rule(choice);
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    N x[IN_FLIGHT], y[IN_FLIGHT], a[IN_FLIGHT], b[IN_FLIGHT];
#pragma unroll
    for (int j = 0; j < IN_FLIGHT; j++) {
        a[j] = N(-0.25) - N(thread % 1024) * N(0.0001);
        b[j] = N(0.125) - N(j) * N(0.001);
        x[j] = a[j];
        y[j] = b[j];
    }
    const long long began = clock64();
    for (unsigned i = 0; i < steps; i += 16) {
#pragma unroll(Rule::UNROLL)
        for (int k = 0; k < 16; k++) {
#pragma unroll
            for (int j = 0; j < IN_FLIGHT; j++) rule.step(x[j], y[j], a[j], b[j]);
        }
    }
    const long long spent = clock64() - began;
    N sum = 0;
#pragma unroll
    for (int j = 0; j < IN_FLIGHT; j++) sum += x[j] + y[j];
    sums[thread] = sum;
    if (threadIdx.x == 0) cycles[blockIdx.x] = spent;
}

#define KERNEL(rule, number, suffix, flight)                                                           \
    extern "C" __global__ void __launch_bounds__(256)                                                  \
        peak_##rule##suffix##_##flight(Choice choice, unsigned steps, number* sums, unsigned long long* cycles) { \
        peak<number, rule, flight>(choice, steps, sums, cycles);                                       \
    }
#define OF_RULE(rule)               \
    KERNEL(rule, float, _f32, 1)    \
    KERNEL(rule, float, _f32, 2)    \
    KERNEL(rule, double, _f64, 1)   \
    KERNEL(rule, double, _f64, 2)
EACH_RULE(OF_RULE)

// The limit of a rule on a device: its operations and nothing else, on a few orbits at once in each thread.
#include "recipe.cuh"

// c is -0.25 + 0.125i less a small amount for each thread and orbit: in the set, so that z stays finite. Storing `sums` keeps
// the compiler from removing the loop; `cycles` gives the clock at which it ran.
template <class N, class Rule, int ORBITS>
__device__ __forceinline__ void peak(PeakRule choice, unsigned steps, N* sums, unsigned long long* cycles) {
    const Rule rule(choice);
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    N x[ORBITS], y[ORBITS], a[ORBITS], b[ORBITS];
#pragma unroll
    for (int j = 0; j < ORBITS; j++) {
        a[j] = N(-0.25) - N(thread % 1024) * N(0.0001);
        b[j] = N(0.125) - N(j) * N(0.001);
        x[j] = a[j];
        y[j] = b[j];
    }
    const long long began = clock64();
    for (unsigned i = 0; i < steps; i += PEAK_BATCH) {
#pragma unroll(Rule::UNROLL)
        for (int k = 0; k < PEAK_BATCH; k++) {
#pragma unroll
            for (int j = 0; j < ORBITS; j++) rule.step(x[j], y[j], a[j], b[j]);
        }
    }
    const long long spent = clock64() - began;
    N sum = 0;
#pragma unroll
    for (int j = 0; j < ORBITS; j++) sum += x[j] + y[j];
    sums[thread] = sum;
    if (threadIdx.x == 0) cycles[blockIdx.x] = spent;
}

#define KERNEL(rule, number, suffix, orbits)                                                                        \
    extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)                                                     \
        peak_##rule##suffix##_##orbits(PeakRule choice, unsigned steps, number* sums, unsigned long long* cycles) { \
        peak<number, rule, orbits>(choice, steps, sums, cycles);                                                    \
    }
#define OF_RULE(rule)               \
    KERNEL(rule, float, _f32, 1)    \
    KERNEL(rule, float, _f32, 2)    \
    KERNEL(rule, double, _f64, 1)   \
    KERNEL(rule, double, _f64, 2)
EACH_RULE(OF_RULE)

// Upper bounds in single precision, whatever the number of the orbits: every operation is rounded up (or down, where it says
// so), so that a sum of products of bounds is a bound, without a factor for its own roundings.
#pragma once

namespace up {
__device__ __forceinline__ float mul(float a, float b) { return __fmul_ru(a, b); }
__device__ __forceinline__ float add(float a, float b) { return __fadd_ru(a, b); }
__device__ __forceinline__ float fma(float a, float b, float c) { return __fmaf_ru(a, b, c); }
__device__ __forceinline__ float of(float v) { return v; }
__device__ __forceinline__ float of(double v) { return __double2float_ru(v); }
}  // namespace up

namespace down {
__device__ __forceinline__ float of(float v) { return v; }
__device__ __forceinline__ float of(double v) { return __double2float_rd(v); }
}  // namespace down

// A root within 2^-23 of its value (PTX ISA, sqrt.approx), which takes a quarter of the time of a rounded one.
__device__ __forceinline__ float approximate_root(float v) {
#ifdef __CUDA_ARCH__
    float root;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(v));
    return root;
#else
    return std::sqrt(v);
#endif
}

// Bounds on the root of a sum of squares that was rounded to nearest. 2^-20 is more than the roundings of the sum and of the
// root, and 2^-62 is more than the root of what is lost below the smallest normal number.
__device__ __forceinline__ float root_up(float v) { return up::fma(approximate_root(v), 1.0f + 0x1p-20f, 0x1p-62f); }
__device__ __forceinline__ float root_down(float v) { return __fmul_rd(approximate_root(v), 1.0f - 0x1p-20f); }

// At least |p + iq|, and at most 8.3 % above it: max + (sqrt 2 - 1) min. Both constants are rounded up.
__device__ __forceinline__ float modulus_bound(float p, float q) {
    const float a = fabsf(p), b = fabsf(q);
    return up::fma(fmaxf(a, b), 0.5857865f, up::mul(up::add(a, b), 0.41421360f));
}

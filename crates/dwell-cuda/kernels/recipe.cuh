// One iteration z -> w^N + c: the operations of crates/dwell-kernels/src/recipe.rs, in the same order. That file is the
// definition; every rounding here equals the one there.
#pragma once
#include "generated.cuh"
#include "number.cuh"

// A complex number is a pair of variables, real and imaginary part.
struct Fused {
    template <class N> static __device__ __forceinline__ void square(N& p, N& q) {
        N t = Op<N>::mul(q, q);
        N r = Op<N>::fma(p, p, -t);
        q = Op<N>::mul(Op<N>::add(p, p), q);
        p = r;
    }
    template <class N> static __device__ __forceinline__ void product(N& p, N& q, N u, N v) {
        N t = Op<N>::mul(q, v);
        N r = Op<N>::fma(p, u, -t);
        q = Op<N>::fma(p, v, Op<N>::mul(q, u));
        p = r;
    }
    template <class N> static __device__ __forceinline__ void last_square(N& p, N& q, N a, N b) {
        N t = Op<N>::fma(-q, q, a);
        q = Op<N>::fma(Op<N>::add(p, p), q, b);
        p = Op<N>::fma(p, p, t);
    }
    template <class N> static __device__ __forceinline__ void last_product(N& p, N& q, N u, N v, N a, N b) {
        N t = Op<N>::fma(-q, v, a);
        q = Op<N>::fma(p, v, Op<N>::fma(q, u, b));
        p = Op<N>::fma(p, u, t);
    }
    template <class N> static __device__ __forceinline__ N norm(N x, N y) {
        return Op<N>::fma(x, x, Op<N>::mul(y, y));
    }
};

struct Separate {
    template <class N> static __device__ __forceinline__ void square(N& p, N& q) {
        N r = Op<N>::sub(Op<N>::mul(p, p), Op<N>::mul(q, q));
        q = Op<N>::mul(Op<N>::add(p, p), q);
        p = r;
    }
    template <class N> static __device__ __forceinline__ void product(N& p, N& q, N u, N v) {
        N r = Op<N>::sub(Op<N>::mul(p, u), Op<N>::mul(q, v));
        q = Op<N>::add(Op<N>::mul(p, v), Op<N>::mul(q, u));
        p = r;
    }
    template <class N> static __device__ __forceinline__ void last_square(N& p, N& q, N a, N b) {
        N t = Op<N>::sub(a, Op<N>::mul(q, q));
        q = Op<N>::add(Op<N>::mul(Op<N>::add(p, p), q), b);
        p = Op<N>::add(Op<N>::mul(p, p), t);
    }
    template <class N> static __device__ __forceinline__ void last_product(N& p, N& q, N u, N v, N a, N b) {
        N t = Op<N>::sub(a, Op<N>::mul(q, v));
        q = Op<N>::add(Op<N>::mul(p, v), Op<N>::add(Op<N>::mul(q, u), b));
        p = Op<N>::add(Op<N>::mul(p, u), t);
    }
    template <class N> static __device__ __forceinline__ N norm(N x, N y) {
        return Op<N>::add(Op<N>::mul(x, x), Op<N>::mul(y, y));
    }
};

// The fold: what is done to z before the power. `how` is a code FOLD_*.
template <class N> __device__ __forceinline__ void fold(unsigned how, N& x, N& y) {
    if (how == FOLD_ABSOLUTE) {
        x = Op<N>::abs(x);
        y = Op<N>::abs(y);
    } else if (how == FOLD_CONJUGATE) {
        y = -y;
    }
}

// A rule: a step of a formula in a recipe. The rules of power 2 are types of their own; all others read fold and power from
// the task, where they are the same for all threads.
//
// `UNROLL`, `UNROLL_COUNTED`: how many steps are unrolled, bare and counted: as many as the nearest instruction cache holds.
template <unsigned FOLD, class R> struct Quadratic {
    using Recipe = R;
    static constexpr int UNROLL = 32, UNROLL_COUNTED = 16;
    template <class T> __device__ __forceinline__ explicit Quadratic(const T&) {}
    template <class N> __device__ __forceinline__ void step(N& x, N& y, N a, N b) const {
        fold(FOLD, x, y);
        R::last_square(x, y, a, b);
    }
};

template <class R> struct Powers {
    using Recipe = R;
    static constexpr int UNROLL = 1, UNROLL_COUNTED = 1;
    unsigned how, power;
    template <class T> __device__ __forceinline__ explicit Powers(const T& task) : how(task.fold), power(task.power) {}
    template <class N> __device__ __forceinline__ void step(N& x, N& y, N a, N b) const {
        fold(how, x, y);
        N p = x, q = y;
        // The binary digits of the power after the first and before the last.
        for (int digit = 30 - __clz(power); digit >= 1; digit--) {
            R::square(p, q);
            if (power >> digit & 1) R::product(p, q, x, y);
        }
        if (power & 1) {
            R::square(p, q);
            R::last_product(p, q, x, y, a, b);
        } else {
            R::last_square(p, q, a, b);
        }
        x = p;
        y = q;
    }
};

// The rules by name, and a macro that instantiates a kernel for each.
using square_fused = Quadratic<FOLD_NONE, Fused>;
using ship_fused = Quadratic<FOLD_ABSOLUTE, Fused>;
using tricorn_fused = Quadratic<FOLD_CONJUGATE, Fused>;
using power_fused = Powers<Fused>;
using square_separate = Quadratic<FOLD_NONE, Separate>;
using power_separate = Powers<Separate>;
#define EACH_RULE(WHAT)                                                    \
    WHAT(square_fused) WHAT(ship_fused) WHAT(tricorn_fused)                \
    WHAT(power_fused) WHAT(square_separate) WHAT(power_separate)

// The blocks of a task, and what is proved of one of them.
#pragma once
#include "block_trap.cuh"

// The columns and rows of a block of the task, upper ends excluded, its centre, and c.
template <class N> struct Block {
    unsigned left, top, right, bottom;
    N re, im, a, b;

    // `column` and `row` are its number across and down, in blocks of this side.
    __device__ __forceinline__ Block(const Task<N>& t, unsigned column, unsigned row, unsigned side) {
        left = column * side;
        top = t.begin + row * side;
        right = min(left + side, t.width);
        bottom = min(top + side, t.end);
        if (is_empty()) return;
        re = middle(t.re_of_column[left], t.re_of_column[right - 1]);
        im = middle(t.im_of_row[top], t.im_of_row[bottom - 1]);
        if (t.is_rotated) {
            re = Op<N>::add(re, middle(t.re_of_row[top], t.re_of_row[bottom - 1]));
            im = Op<N>::add(middle(t.im_of_column[left], t.im_of_column[right - 1]), im);
        }
        a = t.is_julia ? t.julia_re : re;
        b = t.is_julia ? t.julia_im : im;
    }

    __device__ __forceinline__ bool is_empty() const { return left >= right || top >= bottom; }

    // Half the sum, to within u of the greater of the two.
    static __device__ __forceinline__ N middle(N a, N b) { return Op<N>::fma(a, N(0.5), Op<N>::mul(b, N(0.5))); }
};

// The number of blocks or cells of a side across the image.
template <class N> __device__ __forceinline__ unsigned across(const Task<N>& t, unsigned side) { return (t.width + side - 1) / side; }

// Follows the model of a block from the beginning.
template <class N, class Rule>
__device__ __forceinline__ Verdict prove(const Rule& rule, const Task<N>& t, const BlockProof& f, const Block<N>& block, float radius,
                                         unsigned& n) {
    n = 0;
    if (contains_disc(f, block.re, block.im, N(radius))) return PROVED;
    n = 1;
    Model<N> model = first_model<N>(rule, block.re, block.im);
    return follow(rule, f, model, radius, block.a, block.b, n, FIRST_TRAP, t.limit);
}

// Follows the model of a block from the beginning, until a trap is found, all pixels have escaped, or nothing is proved.
template <class N, class Rule>
__device__ __forceinline__ Verdict prove_trapped(const Rule& rule, const Task<N>& t, const BlockProof& f, const Block<N>& block,
                                                 float radius, unsigned& n) {
    Model<N> model = first_model<N>(rule, block.re, block.im);
    n = 1;
    // One end of the loop: with others the lanes of a warp do not come together again, which takes half as long again.
    Verdict verdict = STAYS_SO_FAR;
    for (unsigned last = FIRST_TRAP; verdict == STAYS_SO_FAR; last *= 2) {
        verdict = follow(rule, f, model, radius, block.a, block.b, n, last, t.limit);
        if (verdict != STAYS_SO_FAR) break;
        bool too_large;
        if (is_trapped(rule, f, model, radius, block.a, block.b, too_large)) {
            verdict = PROVED;
            n = 0;
        } else if (too_large || last >= LAST_TRAP) {
            verdict = DIVIDED;
        }
    }
    return verdict;
}

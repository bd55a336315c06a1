// Dwells of deep views, proved: some operations of the orbit of each pixel of a list, 32 to a warp. Orbits that go on are kept by pixel, and
// their pixels put on a list for the next launch, so that launches are short whatever the limit; those that are not decided are put on another, for
// a tier that is more precise.
#include "deep_formula.cuh"
#include "deep_pixel.cuh"

// Appends the pixels of the lanes that are marked to a list, with one atomic addition for the warp.
__device__ __forceinline__ void append(unsigned* list, unsigned* count, bool marked, unsigned pixel) {
    const unsigned mask = __ballot_sync(~0u, marked);
    if (!mask) return;
    const unsigned lane = threadIdx.x & 31;
    unsigned first = 0;
    if (lane == 0) first = atomicAdd(count, __popc(mask));
    first = __shfl_sync(~0u, first, 0);
    if (marked) list[first + __popc(mask & ((1u << lane) - 1))] = pixel;
}

__device__ __forceinline__ void add_up(unsigned long long* total, unsigned value) {
    unsigned long long sum = value;
#pragma unroll
    for (int far = 16; far > 0; far /= 2) sum += __shfl_down_sync(~0u, sum, far);
    if ((threadIdx.x & 31) == 0 && sum) atomicAdd(total, sum);
}

// The pixel at a place of the order in which whole rows are worked off: tiles of 8 x 4 pixels, from left to right; or a place without a pixel. Those of a list, of which neighbours
// follow one another, are worked off as they are.
__device__ __forceinline__ bool pixel_at(const DeepPixels& p, unsigned place, unsigned& pixel) {
    if (p.is_list) {
        pixel = place;
        return place < p.width * p.height;
    }
    const unsigned tiles = (p.width + WARP_COLUMNS - 1) / WARP_COLUMNS, tile = place / 32, lane = place % 32;
    const unsigned column = tile % tiles * WARP_COLUMNS + lane % WARP_COLUMNS, row = tile / tiles * WARP_ROWS + lane / WARP_COLUMNS;
    pixel = row * p.width + column;
    return column < p.width && row < p.height;
}

template <class T, class D, class View> __device__ __forceinline__ void decide(const View& v, const DeepPixels& p, const DeepLists& l) {
    Counts counts = {0, 0};
    // Whole warps: all lanes of a warp take part in its ballots.
    for (unsigned long long from = (unsigned long long)blockIdx.x * BLOCK_THREADS + (threadIdx.x & ~31u); from < l.count;
         from += (unsigned long long)gridDim.x * BLOCK_THREADS) {
        const unsigned place = (unsigned)from + (threadIdx.x & 31);
        unsigned pixel = 0;
        const bool has_pixel = l.list ? place < l.count : pixel_at(p, place, pixel);
        bool goes_on = false, is_open = false;
        if (has_pixel) {
            if (l.list) pixel = l.list[place];
            const Complex<T> c = offset_of<T>(p, pixel);
            Orbit<T, D> o;
            Ending ending = GOES_ON;
            Values values = {};
            if (l.begins) {
                ending = begin(v, c, o);
                p.trap_words[pixel] = 0;
                p.trap_words[p.capacity + pixel] = 0;
                p.trap_words[2ull * p.capacity + pixel] = 0;
            } else {
                o = load<T, D>(p, pixel);
            }
            if (ending == GOES_ON) ending = iterate(v, p, pixel, c, o, l.operations, counts, values);
            goes_on = ending == GOES_ON;
            is_open = ending == UNDECIDED;
            if (goes_on) {
                store(p, pixel, o);
            } else if (!is_open) {
                store_values<D>(v, p, pixel, ending == ESCAPES ? o.n : 0, ending == ESCAPES ? values : Values{});
            }
        }
        append(l.next, l.counts + 0, goes_on, pixel);
        append(l.open, l.counts + 1, is_open, pixel);
    }
    add_up(l.totals + 0, counts.steps);
    add_up(l.totals + 1, counts.blocks);
}

// The structs stay in constant memory, whose address is taken where functions are not inlined. More blocks of threads at a time, with fewer registers for each, hide more of the loads: for z^2 + c as many as
// take the least time (docs/cuda.md); for other formulas that is not measured.
#define KERNEL(name, View, number, Of, bounds)                                                                            \
    extern "C" __global__ void __launch_bounds__ bounds                                                                   \
        name(const __grid_constant__ View v, const __grid_constant__ DeepPixels p, const __grid_constant__ DeepLists l) { \
        decide<number, Of>(v, p, l);                                                                                      \
    }
KERNEL(deep_f64, DeepView, double, NoDerivative, (BLOCK_THREADS, 4))
KERNEL(deep_pairs, DeepView, Pair, NoDerivative, (BLOCK_THREADS, 2))
KERNEL(deep_f64_derived, DeepView, double, Derivative, (BLOCK_THREADS, 3))
KERNEL(deep_pairs_derived, DeepView, Pair, Derivative, (BLOCK_THREADS, 2))
KERNEL(deep_formula_f64, DeepFormula, double, NoDerivative, (BLOCK_THREADS))
KERNEL(deep_formula_pairs, DeepFormula, Pair, NoDerivative, (BLOCK_THREADS))
KERNEL(deep_formula_f64_derived, DeepFormula, double, Columns, (BLOCK_THREADS))
KERNEL(deep_formula_pairs_derived, DeepFormula, Pair, Columns, (BLOCK_THREADS))

// Proven blocks: the dwells of most pixels by one orbit for a block of them, as blocks.rs of the CPU kernels has it, and the rest
// pixel by pixel.
//
// `proven_blocks`: one thread for each block of 16 x 16 pixels. `proven_parts`: one thread for each cell of 8 x 8 pixels of the
// blocks of which nothing is proved. Dwells that are proved are kept by cell. `proven_rest` does three things at once: it writes
// them, follows the cells whose pixels stay on until they are trapped, and is the first kernel of tuned.cu over the cells of which
// nothing is proved. `proven_late` is the same for cells in which no trap was found. The stages of tuned.cu follow.
#include "block.cuh"
#include "first.cuh"

// Appends the values of some lanes to a list, with one atomic addition for the warp.
__device__ __forceinline__ void append(const CellList& list, bool is_listed, unsigned value) {
    const unsigned mask = __ballot_sync(~0u, is_listed);
    if (!mask) return;
    const unsigned lane = threadIdx.x & 31;
    unsigned first = 0;
    if (lane == 0) first = atomicAdd(list.count, __popc(mask));
    first = __shfl_sync(~0u, first, 0);
    if (is_listed) list.cells[first + __popc(mask & ((1u << lane) - 1))] = value;
}

template <class N, class Rule>
__device__ __forceinline__ void blocks(const Task<N>& t, const BlockProof& f, const ProofLists& lists) {
    const Rule rule(t);
    const unsigned lane = threadIdx.x & 31, regions_across = across(t, REGION_COLUMNS);
    const unsigned number = blockIdx.x * (PROVEN_THREADS / 32) + (threadIdx.x >> 5);
    const unsigned column = number % regions_across * REGION_BLOCKS + lane % REGION_BLOCKS;
    const unsigned row = number / regions_across * (REGION_ROWS / BLOCK_SIDE) + lane / REGION_BLOCKS;
    const Block<N> block(t, column, row, BLOCK_SIDE);
    const bool exists = !block.is_empty();
    Verdict verdict = PROVED;
    unsigned n = 0;
    if (exists) verdict = prove(rule, t, f, block, f.block_radius, n);
    append(lists.divided, exists && verdict == DIVIDED, row * across(t, BLOCK_SIDE) + column);
    for (unsigned part = 0; part < 4; part++) {
        const unsigned cell_column = 2 * column + (part & 1), cell_row = 2 * row + (part >> 1);
        const unsigned cell = cell_row * across(t, CELL_SIDE) + cell_column;
        const bool has_cell = exists && cell_column * CELL_SIDE < t.width && t.begin + cell_row * CELL_SIDE < t.end;
        if (has_cell) lists.dwells[cell] = verdict == PROVED ? n : NOTHING_PROVED;
        append(lists.bounded, has_cell && verdict == STAYS_SO_FAR, cell);
    }
}

// The cells of blocks that are divided, one for each thread.
template <class N, class Rule>
__device__ __forceinline__ void parts(const Task<N>& t, const BlockProof& f, const ProofLists& lists) {
    const Rule rule(t);
    const unsigned count = 4 * *lists.divided.count, lane = threadIdx.x & 31;
    // Whole warps: all lanes take part in ballots.
    for (unsigned long long from = (unsigned long long)blockIdx.x * PROVEN_THREADS + (threadIdx.x & ~31u); from < count;
         from += (unsigned long long)gridDim.x * PROVEN_THREADS) {
        const unsigned at = from + lane, of = lists.divided.cells[min(at, count - 1) / 4];
        const unsigned column = of % across(t, BLOCK_SIDE) * 2 + (at & 1), row = of / across(t, BLOCK_SIDE) * 2 + (at >> 1 & 1);
        const Block<N> block(t, column, row, CELL_SIDE);
        const bool exists = at < count && !block.is_empty();
        const unsigned cell = row * across(t, CELL_SIDE) + column;
        Verdict verdict = PROVED;
        unsigned n = 0;
        if (exists) verdict = prove(rule, t, f, block, f.cell_radius, n);
        if (exists && verdict == PROVED) lists.dwells[cell] = n;
        append(lists.bounded, exists && verdict == STAYS_SO_FAR, cell);
        append(lists.left, exists && verdict == DIVIDED, cell);
    }
}

// The warp writes the cells of lanes that have proved them, one after the other.
template <class N>
__device__ __forceinline__ void write_cells(const Task<N>& t, bool is_proved, unsigned cell, unsigned dwell) {
    const unsigned lane = threadIdx.x & 31, cells_across = across(t, CELL_SIDE);
    unsigned proved = __ballot_sync(~0u, is_proved);
    while (proved) {
        const unsigned of = __ffs(proved) - 1;
        proved &= proved - 1;
        const unsigned its_cell = __shfl_sync(~0u, cell, of), its_dwell = __shfl_sync(~0u, dwell, of);
        const unsigned column = its_cell % cells_across * CELL_SIDE + (lane & 7);
        unsigned row = t.begin + its_cell / cells_across * CELL_SIDE + (lane >> 3);
        for (unsigned half = 0; half < CELL_SIDE; half += 4, row += 4) {
            if (column < t.width && row < t.end) write(t, column, row, its_dwell);
        }
    }
}

// Cells whose pixels stay, one for each thread, for one of so many warps.
template <class N, class Rule>
__device__ __forceinline__ void traps(const Rule& rule, const Task<N>& t, const BlockProof& f, const ProofLists& lists, unsigned warp,
                                      unsigned warps) {
    const unsigned count = *lists.bounded.count, lane = threadIdx.x & 31;
    for (unsigned long long from = 32ull * warp; from < count; from += 32ull * warps) {
        const bool is_used = from + lane < count;
        const unsigned cell = lists.bounded.cells[is_used ? from + lane : from];
        const Block<N> block(t, cell % across(t, CELL_SIDE), cell / across(t, CELL_SIDE), CELL_SIDE);
        unsigned n;
        const Verdict verdict = prove_trapped(rule, t, f, block, f.cell_radius, n);
        append(lists.late, is_used && verdict == DIVIDED, cell);
        write_cells(t, is_used && verdict == PROVED, cell, n);
    }
}

// Writes the pixels of proved cells in a row of the image that begins at `to`, from `first` on less what aligns it: a warp writes
// lines of 128 bytes. `dwells` of each lane is that of the cell `lane` cells after the one at 32 pixels before `first`.
__device__ __forceinline__ void fill_row(unsigned dwells, unsigned width, unsigned* to, unsigned first) {
    // Of four pixels: the column within the cells of the warp.
    const unsigned within = 32 + 4 * (threadIdx.x & 31) - ((unsigned long long)to >> 2 & 31);
    const unsigned of = __shfl_sync(~0u, dwells, within / CELL_SIDE), other = __shfl_sync(~0u, dwells, (within + 3) / CELL_SIDE);
    const int column = (int)(first + within) - 32;
    const unsigned here = within % CELL_SIDE;
    if (of != NOTHING_PROVED && other != NOTHING_PROVED && column + 3 < (int)width) {
        *(uint4*)(to + column) = {of, here + 1 < CELL_SIDE ? of : other, here + 2 < CELL_SIDE ? of : other, other};
    } else if (of != NOTHING_PROVED || other != NOTHING_PROVED) {
        for (int i = 0; i < 4; i++) {
            const unsigned its = here + i < CELL_SIDE ? of : other;
            if (its != NOTHING_PROVED && column + i >= 0 && column + i < (int)width) to[column + i] = its;
        }
    }
}

// The pixels of proved cells: a warp writes 128 pixels of a row of cells.
template <class N> __device__ __forceinline__ void fill(const Task<N>& t, const ProofLists& lists, unsigned first, unsigned cell_row) {
    const unsigned cells_across = across(t, CELL_SIDE), cell = first / CELL_SIDE + (threadIdx.x & 31) - 32 / CELL_SIDE;
    unsigned dwells = NOTHING_PROVED;
    if (cell < cells_across) dwells = lists.dwells[(unsigned long long)cell_row * cells_across + cell];
    if (!__any_sync(~0u, dwells != NOTHING_PROVED)) return;
    const unsigned top = t.begin + cell_row * CELL_SIDE, bottom = min(top + CELL_SIDE, t.end);
    for (unsigned row = top; row < bottom; row++) {
        fill_row(dwells, t.width, t.dwell + (unsigned long long)(row - t.first_row) * t.width, first);
        const unsigned image = t.mirror_sum - row;
        if (image < t.mirror_begin || image >= t.mirror_end) continue;
        fill_row(dwells, t.width, t.dwell + (unsigned long long)(image - t.first_row) * t.width, first);
    }
}

// The pixels of a cell of which nothing is proved. Returns how many there are.
template <class N, class Rule>
__device__ __forceinline__ unsigned iterate_cell(const Rule& rule, const Task<N>& t, const Survivors<N>& list, unsigned cell, unsigned steps) {
    const unsigned lane = threadIdx.x & 31, cells_across = across(t, CELL_SIDE);
    const unsigned column = cell % cells_across * CELL_SIDE + (lane & 7);
    const N re_of_column = t.re_of_column[min(column, t.width - 1)];
    const unsigned left = cell % cells_across * CELL_SIDE, top = t.begin + cell / cells_across * CELL_SIDE;
    unsigned row = top + (lane >> 3);
    for (unsigned tile = 0; tile < CELL_SIDE / WARP_ROWS; tile++, row += WARP_ROWS) {
        first_of_pixel<N, Rule, false>(rule, t, list, re_of_column, column, row, steps);
    }
    return min(CELL_SIDE, t.width - left) * min(CELL_SIDE, t.end - top);
}

// All that is left, at once: the cells whose pixels stay take few warps a long time, those of which nothing is proved take the
// arithmetic units, and writing what is proved takes the memory.
template <class N, class Rule>
__device__ __forceinline__ void rest(const Task<N>& t, const BlockProof& f, const ProofLists& lists, const Survivors<N>& list,
                                     unsigned steps) {
    const Rule rule(t);
    const unsigned lane = threadIdx.x & 31, warps = gridDim.x * (PROVEN_THREADS / 32);
    // Warps that follow each other are on different multiprocessors.
    const unsigned warp = (threadIdx.x >> 5) * gridDim.x + blockIdx.x;
    traps(rule, t, f, lists, warp, warps);
    // More for the pixels before the first line of a row.
    const unsigned segments = (t.width + 31 + REGION_COLUMNS - 1) / REGION_COLUMNS;
    const unsigned to_fill = segments * ((t.end - t.begin + CELL_SIDE - 1) / CELL_SIDE), cells = *lists.left.count;
    // A share of the segments after some cells, since a store waits for those before it.
    const unsigned share = (to_fill + cells / CELLS_AT_ONCE) / (cells / CELLS_AT_ONCE + 1);
    unsigned segment = warp, not_proved = 0;
    while (true) {
        unsigned next = 0;
        if (lane == 0) next = atomicAdd(lists.next, CELLS_AT_ONCE);
        next = __shfl_sync(~0u, next, 0);
        if (next >= cells) break;
        for (unsigned i = next; i < min(next + CELLS_AT_ONCE, cells); i++) {
            not_proved += iterate_cell(rule, t, list, lists.left.cells[i], steps);
        }
        for (unsigned k = 0; k < share && segment < to_fill; k++, segment += warps) {
            fill(t, lists, segment % segments * REGION_COLUMNS, segment / segments);
        }
    }
    if (lane == 0) count_written(t, not_proved);
    for (; segment < to_fill; segment += warps) fill(t, lists, segment % segments * REGION_COLUMNS, segment / segments);
}

// The cells in which no trap was found.
template <class N, class Rule>
__device__ __forceinline__ void late(const Task<N>& t, const ProofLists& lists, const Survivors<N>& list, unsigned steps) {
    const Rule rule(t);
    const unsigned count = *lists.late.count, warps = gridDim.x * (BLOCK_THREADS / 32);
    unsigned not_proved = 0;
    for (unsigned i = blockIdx.x * (BLOCK_THREADS / 32) + (threadIdx.x >> 5); i < count; i += warps) {
        not_proved += iterate_cell(rule, t, list, lists.late.cells[i], steps);
    }
    if ((threadIdx.x & 31) == 0) count_written(t, not_proved);
}

#define KERNELS(rule, number, suffix)                                                                                  \
    extern "C" __global__ void __launch_bounds__(PROVEN_THREADS)                                                       \
        proven_blocks_##rule##suffix(Task<number> t, BlockProof f, ProofLists lists) {                                 \
        blocks<number, rule>(t, f, lists);                                                                             \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(PROVEN_THREADS)                                                       \
        proven_parts_##rule##suffix(Task<number> t, BlockProof f, ProofLists lists) {                                  \
        parts<number, rule>(t, f, lists);                                                                              \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(PROVEN_THREADS) proven_rest_##rule##suffix(                           \
        Task<number> t, BlockProof f, ProofLists lists, Survivors<number> list, unsigned steps) {                      \
        rest<number, rule>(t, f, lists, list, steps);                                                                  \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) proven_late_##rule##suffix(                            \
        Task<number> t, ProofLists lists, Survivors<number> list, unsigned steps) {                                    \
        late<number, rule>(t, lists, list, steps);                                                                     \
    }
#define OF_RULE(rule)           \
    KERNELS(rule, float, _f32)  \
    KERNELS(rule, double, _f64)
EACH_RULE(OF_RULE)

// From dwells to the bytes of a picture, so that the picture and not the dwells is copied over the bus: smooth values
// (smooth.rs of the CPU kernels), positions in the palette, colours, averages in linear light (painter.rs and light.rs of the
// library), the same operations in the same order.
#include "task.cuh"
#include "logarithm.cuh"

// Smooth values of all points of rows `t.begin` to `t.end`, from z_n and c, in double for both numbers.
template <class N, class Rule>
__device__ __forceinline__ void smooth(const Task<N>& t, double* values, double per_log2_power) {
    const Rule rule(t);
    const unsigned long long first = (unsigned long long)(t.begin - t.first_row) * t.width;
    const unsigned long long count = (unsigned long long)(t.end - t.begin) * t.width;
    for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < count;
         i += (unsigned long long)gridDim.x * blockDim.x) {
        const unsigned n = t.dwell[first + i];
        double value = 0;
        if (n != 0) {
            const Point<N> p(t, (unsigned)(i % t.width), t.begin + (unsigned)(i / t.width));
            double x = t.end_x[first + i], y = t.end_y[first + i];
            const double a = p.a, b = p.b;
            unsigned extra = 0;
            while (extra < SMOOTH_MOST_STEPS && Rule::Recipe::norm(x, y) <= SMOOTH_FAR_SQUARED) {
                rule.step(x, y, a, b);
                extra++;
            }
            double norm = Rule::Recipe::norm(x, y);
            norm = norm <= GREATEST_DOUBLE ? (norm > SMOOTH_FAR_SQUARED ? norm : SMOOTH_FAR_SQUARED) : GREATEST_DOUBLE;
            const double from_far = Op<double>::mul(dwell_log2(norm), SMOOTH_PER_LOG2_FAR_SQUARED);
            const double log = Op<double>::mul(dwell_log2(from_far), per_log2_power);
            value = Op<double>::sub(Op<double>::add(Op<double>::add((double)n, (double)extra), 1.0), log);
        }
        values[first + i] = value;
    }
}

#define SMOOTH(rule)                                                                                                     \
    extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)                                                          \
        smooth_##rule##_f32(Task<float> t, double* values, double per) {                                                 \
        smooth<float, rule>(t, values, per);                                                                             \
    }                                                                                                                    \
    extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)                                                          \
        smooth_##rule##_f64(Task<double> t, double* values, double per) {                                                \
        smooth<double, rule>(t, values, per);                                                                            \
    }
EACH_RULE(SMOOTH)

// The palette entry of a sample.
__device__ __forceinline__ unsigned entry(const PaintTask& p, unsigned long long at, unsigned n) {
    if (n == 0) return p.entries;
    // A value beyond the limit is no dwell: a kernel left the pixel out, which the engine detects by the number written.
    if (p.bands) return n <= p.limit ? p.bands[n] : p.entries;
    double v = p.smooth ? p.smooth[at] : (double)n;
    if (!(v > 1.0)) v = 1.0;
    switch (p.scale) {
        case SCALE_ROOT: v = Op<double>::mul(TURNS_PER_ROOT, Op<double>::sub(__dsqrt_rn(v), 1.0)); break;
        case SCALE_LINEAR: v = Op<double>::mul(v, TURNS_PER_UNIT); break;
        case SCALE_LOG: v = Op<double>::mul(dwell_log2(v), TURNS_PER_LOG2); break;
        default: v = __ddiv_rn(v, p.limit_value); break;
    }
    const double position = Op<double>::add(Op<double>::mul(p.slope, v), p.start_position);
    return (unsigned)__double2ll_rd(position) & (p.entries - 1);
}

// The 8-bit value of a 16-bit one at a column and a row of the picture (dither.rs of the library).
__device__ __forceinline__ unsigned dithered(unsigned value, unsigned column, unsigned row) {
    const unsigned rank = __brev(row + (__brev(column / 16) >> 29)) >> 29;
    return (value + (257 * rank + 128) / 8) / 257;
}

// Adds the sums over a warp to the two totals.
__device__ __forceinline__ void add_up(const PaintTask& p, unsigned long long iterations, unsigned long long inside) {
#pragma unroll
    for (int far = 16; far > 0; far /= 2) {
        iterations += __shfl_down_sync(~0u, iterations, far);
        inside += __shfl_down_sync(~0u, inside, far);
    }
    if ((threadIdx.x & 31) == 0) {
        atomicAdd(&p.totals[0], iterations);
        atomicAdd(&p.totals[1], inside);
    }
}

__device__ __forceinline__ void tally(const PaintTask& p, unsigned n, unsigned long long& iterations, unsigned long long& inside) {
    iterations += n ? n : p.limit;
    inside += n == 0;
}

// One sample for each pixel, one byte for each channel: four pixels are three words.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) paint_bytes(PaintTask p) {
    const unsigned long long count = (unsigned long long)p.width * p.rows, stride = (unsigned long long)gridDim.x * blockDim.x;
    unsigned long long iterations = 0, inside = 0;
    for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i * 4 < count; i += stride) {
        unsigned colour[4] = {0, 0, 0, 0};
        const unsigned long long from = i * 4;
        const bool whole = from + 4 <= count;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            if (from + k < count) {
                const unsigned n = p.dwell[from + k];
                tally(p, n, iterations, inside);
                const unsigned long long code = p.palette[entry(p, from + k, n)];
                unsigned red = code & 0xffff, green = code >> 16 & 0xffff, blue = code >> 32 & 0xffff;
                if (p.dither) {
                    const unsigned column = (from + k) % p.width, row = p.first_row + (unsigned)((from + k) / p.width);
                    red = dithered(red, column, row);
                    green = dithered(green, column, row);
                    blue = dithered(blue, column, row);
                }
                colour[k] = red | green << 8 | blue << 16;
            }
        }
        if (whole) {
            unsigned* out = (unsigned*)(p.picture + i * (4 * PIXEL_BYTES_8));
            out[0] = colour[0] | colour[1] << 24;
            out[1] = colour[1] >> 8 | colour[2] << 16;
            out[2] = colour[2] >> 16 | colour[3] << 8;
        } else {
            for (int k = 0; from + k < count; k++) {
                for (int c = 0; c < 3; c++) p.picture[(from + k) * PIXEL_BYTES_8 + c] = (unsigned char)(colour[k] >> 8 * c);
            }
        }
    }
    add_up(p, iterations, inside);
}

// One sample for each pixel, two bytes for each channel, the high one first.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) paint_words(PaintTask p) {
    const unsigned long long count = (unsigned long long)p.width * p.rows, stride = (unsigned long long)gridDim.x * blockDim.x;
    unsigned long long iterations = 0, inside = 0;
    for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < count; i += stride) {
        const unsigned n = p.dwell[i];
        tally(p, n, iterations, inside);
        const unsigned long long code = p.palette[entry(p, i, n)];
        unsigned short* out = (unsigned short*)(p.picture + i * PIXEL_BYTES_16);
#pragma unroll
        for (int c = 0; c < 3; c++) {
            const unsigned value = code >> 16 * c & 0xffff;
            out[c] = (unsigned short)(value >> 8 | value << 8);
        }
    }
    add_up(p, iterations, inside);
}

// Several samples for each pixel, averaged in linear light: sums are integers, so that their order makes no difference.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS) paint_averages(PaintTask p) {
    const unsigned across = p.width / p.samples, down = p.rows / p.samples, samples = p.samples * p.samples;
    const unsigned long long count = (unsigned long long)across * down, stride = (unsigned long long)gridDim.x * blockDim.x;
    unsigned long long iterations = 0, inside = 0;
    for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < count; i += stride) {
        const unsigned long long left = i % across * p.samples, top = i / across * p.samples;
        unsigned sum[3] = {0, 0, 0};
        for (unsigned row = 0; row < p.samples; row++) {
            for (unsigned column = 0; column < p.samples; column++) {
                const unsigned long long at = (top + row) * p.width + left + column;
                const unsigned n = p.dwell[at];
                tally(p, n, iterations, inside);
                const unsigned* light = p.light + 3ull * entry(p, at, n);
#pragma unroll
                for (int c = 0; c < 3; c++) sum[c] += light[c];
            }
        }
#pragma unroll
        for (int c = 0; c < 3; c++) {
            const unsigned light = (sum[c] + samples / 2) / samples;
            unsigned value = p.start[light >> p.shift];
            while (value < p.values && p.midpoints[value] <= light) value++;
            if (p.dither) value = dithered(value, (unsigned)(i % across), p.first_row + (unsigned)(i / across));
            if (p.bytes == PIXEL_BYTES_8) {
                p.picture[i * PIXEL_BYTES_8 + c] = (unsigned char)value;
            } else {
                p.picture[i * PIXEL_BYTES_16 + 2 * c] = (unsigned char)(value >> 8);
                p.picture[i * PIXEL_BYTES_16 + 2 * c + 1] = (unsigned char)value;
            }
        }
    }
    add_up(p, iterations, inside);
}

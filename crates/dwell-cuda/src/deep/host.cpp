// The orbits of deep.cu on the host: the same headers, with the operations of the device by those of C++. For tests without a device.
#include <cmath>
#include <cstring>
using std::fabs;
using std::fmax;
using std::max;
using std::round;
using std::sqrt;
#define __device__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))

struct double2 {
    double x, y;
};

inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __dsqrt_rn(double x) { return std::sqrt(x); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline long long __double_as_longlong(double x) {
    long long bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}
inline double __longlong_as_double(long long bits) {
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

#include "deep_pixel.cuh"

// Decides pixels one after the other, in launches of so many operations: for each its ending, as in deep_orbit.cuh, and its dwell and smooth value.
template <class T> static void decide(const DeepView& v, const DeepPixels& p, unsigned operations, int* endings) {
    for (unsigned pixel = 0; pixel < p.width * p.height; pixel++) {
        const Complex<T> c = offset_of<T>(p, pixel % p.width, pixel / p.width);
        Orbit<T> o;
        Counts counts = {0, 0};
        double smooth = 0;
        Ending ending = begin(v, c, o);
        for (unsigned word = 0; word < 3; word++) p.trap_words[word * p.capacity + pixel] = 0;
        while (ending == GOES_ON) {
            ending = iterate(v, p, pixel, c, o, operations, counts, smooth);
            if (ending == GOES_ON) {
                store(p, pixel, o);
                o = load<T>(p, pixel);
            }
        }
        endings[pixel] = ending;
        p.dwell[pixel] = ending == ESCAPES ? (unsigned)o.n : 0;
        p.smooth[pixel] = ending == ESCAPES ? smooth : 0.0;
    }
}

extern "C" void dwell_deep_on_host(const DeepView* v, const DeepPixels* p, unsigned in_pairs, unsigned operations, int* endings) {
    if (in_pairs) {
        decide<Pair>(*v, *p, operations, endings);
    } else {
        decide<double>(*v, *p, operations, endings);
    }
}

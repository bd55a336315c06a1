// The orbits of deep.cu on the host, from the same headers. For tests without a device.
#include "host/operations.hpp"

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

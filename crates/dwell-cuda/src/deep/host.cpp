// The orbits of deep.cu on the host, from the same headers. For tests without a device.
#include "host/operations.hpp"

#include "deep_formula.cuh"
#include "deep_pixel.cuh"

// Decides pixels one after the other, in launches of so many operations: for each its ending, as in deep_orbit.cuh, and its dwell and other values.
template <class T, class D, class View> static void decide(const View& v, const DeepPixels& p, unsigned operations, int* endings) {
    for (unsigned pixel = 0; pixel < p.width * p.height; pixel++) {
        const Complex<T> c = offset_of<T>(p, pixel);
        Orbit<T, D> o;
        Counts counts = {0, 0};
        Values values = {};
        Ending ending = begin(v, c, o);
        for (unsigned word = 0; word < 3; word++) p.trap_words[word * p.capacity + pixel] = 0;
        while (ending == GOES_ON) {
            ending = iterate(v, p, pixel, c, o, operations, counts, values);
            if (ending == GOES_ON) {
                store(p, pixel, o);
                o = load<T, D>(p, pixel);
            }
        }
        endings[pixel] = ending;
        store_values<D>(v, p, pixel, ending == ESCAPES ? o.n : 0, ending == ESCAPES ? values : Values{});
    }
}

extern "C" void dwell_deep_on_host(const DeepView* v, const DeepPixels* p, unsigned in_pairs, unsigned derived, unsigned operations, int* endings) {
    using Decide = void (*)(const DeepView&, const DeepPixels&, unsigned, int*);
    const Decide in_number[2][2] = {{decide<double, NoDerivative>, decide<double, Derivative>}, {decide<Pair, NoDerivative>, decide<Pair, Derivative>}};
    in_number[in_pairs][derived](*v, *p, operations, endings);
}

extern "C" void dwell_deep_formula_on_host(const DeepFormula* v, const DeepPixels* p, unsigned in_pairs, unsigned derived, unsigned operations, int* endings) {
    using Decide = void (*)(const DeepFormula&, const DeepPixels&, unsigned, int*);
    const Decide in_number[2][2] = {{decide<double, NoDerivative>, decide<double, Columns>}, {decide<Pair, NoDerivative>, decide<Pair, Columns>}};
    in_number[in_pairs][derived](*v, *p, operations, endings);
}

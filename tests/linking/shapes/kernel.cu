#include "shape.h"

typedef float (*Operation)(float);
extern __device__ Operation operations[2];

extern "C" __global__ void areas(float *out, int *corners, float *sum, unsigned *count) {
    unsigned i = threadIdx.x;
    Square square(i);
    Disc disc(i);
    const Shape *shape = i % 3 == 0 ? static_cast<const Shape *>(&disc) : &square;
    float area = shape->area() * scale[i % 4];
    out[i] = operations[i % 2](area);
    corners[i] = shape->corners();
    float total = reduce(area);
    if (i == 0) {
        *sum = total;
        *count = calls;
    }
}

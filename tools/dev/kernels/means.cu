// The arithmetic-geometric mean of pairs: a chain of square roots, in f32 and f64.
#include "library.h"

template <typename T>
static __device__ void means(const T* __restrict left, const T* __restrict right, T* __restrict out, T (*root)(T)) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    T a = left[i], b = right[i];
#pragma unroll
    for (u32 step = 0; step < 5; step++) {
        T mean = (T)0.5 * (a + b);
        b = root(a * b);
        a = mean;
    }
    out[i] = a;
}

extern "C" __global__ void means_f32(const float* __restrict left, const float* __restrict right, float* __restrict out) {
    means<float>(left, right, out, [](float x) { return sqrtf(x); });
}

extern "C" __global__ void means_f64(const double* __restrict left, const double* __restrict right, double* __restrict out) {
    means<double>(left, right, out, [](double x) { return sqrt(x); });
}

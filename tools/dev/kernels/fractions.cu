// The tangent by its continued fraction, x / (1 - x^2 / (3 - x^2 / (5 - ...))): a chain of divisions, in f32 and f64.
#include "library.h"

template <typename T>
static __device__ void tangents(const T* __restrict in, T* __restrict out) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    T x = in[i], square = x * x, below = 15;
#pragma unroll
    for (i32 odd = 13; odd > 0; odd -= 2) below = (T)odd - square / below;
    out[i] = x / below;
}

extern "C" __global__ void tangents_f32(const float* __restrict in, float* __restrict out) { tangents<float>(in, out); }
extern "C" __global__ void tangents_f64(const double* __restrict in, double* __restrict out) { tangents<double>(in, out); }

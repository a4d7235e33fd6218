// Element-wise sum of two vectors, one element per thread.
#include "cuda_min.h"

extern "C" __global__ void vector_add(const float* a, const float* b, float* out, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

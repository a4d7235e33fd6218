// y = a * x + y with one rounding, in a grid-stride loop: any grid covers any n.
#include "cuda_min.h"

extern "C" __global__ void saxpy(float a, const float* x, float* y, u32 n) {
    u32 stride = blockDim.x * gridDim.x;
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) y[i] = fmaf(a, x[i], y[i]);
}

// The same with the product rounded first: mul and add must not be fused.
extern "C" __global__ void saxpy_unfused(float a, const float* x, float* y, u32 n) {
    u32 stride = blockDim.x * gridDim.x;
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) y[i] = a * x[i] + y[i];
}

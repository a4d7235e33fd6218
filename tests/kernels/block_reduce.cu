// Sum and maximum of each block's slice, by a tree in dynamic shared memory; blocks are powers of two.
#include "cuda_min.h"

DYNAMIC_SHARED(float, scratch);

// Launch with blockDim.x * 4 bytes of dynamic shared memory.
extern "C" __global__ void block_reduce(const float* in, float* sums, u32 n) {
    u32 t = threadIdx.x;
    u32 i = blockIdx.x * blockDim.x + t;
    scratch[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (u32 half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) scratch[t] += scratch[t + half];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = scratch[0];
}

// The largest element of each block's slice; NaNs lose against numbers.
extern "C" __global__ void block_max(const float* in, float* maxima, u32 n) {
    u32 t = threadIdx.x;
    u32 i = blockIdx.x * blockDim.x + t;
    scratch[t] = i < n ? in[i] : -__builtin_inff();
    __syncthreads();
    for (u32 half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) scratch[t] = fmaxf(scratch[t], scratch[t + half]);
        __syncthreads();
    }
    if (t == 0) maxima[blockIdx.x] = scratch[0];
}

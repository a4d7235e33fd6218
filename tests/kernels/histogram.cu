// Histogram of bytes: 256 bins in shared memory per block, merged into global memory by atomics.
#include "cuda_min.h"

extern "C" __global__ void histogram(const u8* in, u32* bins, u32 n) {
    __shared__ u32 local_bins[256];
    for (u32 b = threadIdx.x; b < 256; b += blockDim.x) local_bins[b] = 0;
    __syncthreads();
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&local_bins[in[i]], 1u);
    __syncthreads();
    for (u32 b = threadIdx.x; b < 256; b += blockDim.x) {
        if (local_bins[b] != 0) atomicAdd(&bins[b], local_bins[b]);
    }
}

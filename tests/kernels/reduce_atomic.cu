// Sums over many blocks: a tree in shared memory per block, then one atomic per block on global memory.
#include "cuda_min.h"

constexpr u32 BLOCK = 64;

// Launch with blocks of 64. Integer sums are exact in any order.
extern "C" __global__ void reduce_atomic(const i32* in, i32* total, u32 n) {
    __shared__ i32 partial[BLOCK];
    i32 sum = 0;
    for (u32 i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += BLOCK * gridDim.x) sum += in[i];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (u32 half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(total, partial[0]);
}

// Float atomics; exact in any order as long as all partial sums are multiples of 1/16 below 2^20.
extern "C" __global__ void reduce_atomic_float(const float* in, float* total, double* wide_total, u32 n) {
    __shared__ float block_sum;
    if (threadIdx.x == 0) block_sum = 0.0f;
    __syncthreads();
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&block_sum, in[i]);
        atomicAdd(wide_total, (double)in[i]);
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, block_sum);
}

// The last block to finish, found by a counter, scales the sums of all blocks.
extern "C" __global__ void reduce_last_block(const u32* in, u32* partial, u32* counter, u32* result, u32 n) {
    __shared__ u32 sum;
    __shared__ bool last;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&sum, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) {
        ((volatile u32*)partial)[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        u32 total = 0;
        for (u32 b = 0; b < gridDim.x; b++) total += ((volatile u32*)partial)[b];
        *result = total * 3 + 1;
    }
}

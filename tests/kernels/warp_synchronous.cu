// build: -O2 --no-cuda-gpu-arch=sm_70 --cuda-gpu-arch=sm_52
// As CUDA programs were written before Volta: threads of a warp run in step, so that words in volatile shared memory go
// from lane to lane without any barrier.
#include "cuda_min.h"

// Sums of blocks of 64 to 256 threads: a tree with barriers, whose last levels one warp does alone.
extern "C" __global__ void old_sum(const u32* in, u32* sums) {
    extern __shared__ u32 words[];
    u32 t = threadIdx.x;
    words[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (u32 half = blockDim.x / 2; half > 32; half /= 2) {
        if (t < half) words[t] += words[t + half];
        __syncthreads();
    }
    if (t < 32) {
        volatile u32* w = words;
        w[t] += w[t + 32];
        w[t] += w[t + 16];
        w[t] += w[t + 8];
        w[t] += w[t + 4];
        w[t] += w[t + 2];
        w[t] += w[t + 1];
    }
    if (t == 0) sums[blockIdx.x] = words[0];
}

// Sums of all elements up to each, warp by warp, behind 16 zeros for those without a neighbour so far below.
extern "C" __global__ void old_scan(const u32* in, u32* out) {
    __shared__ volatile u32 words[8 * 48];
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    u32 at = threadIdx.x / 32 * 48 + threadIdx.x % 32;
    words[at] = 0;
    at += 16;
    u32 v = in[i];
    words[at] = v;
    words[at] = v = v + words[at - 1];
    words[at] = v = v + words[at - 2];
    words[at] = v = v + words[at - 4];
    words[at] = v = v + words[at - 8];
    words[at] = v = v + words[at - 16];
    out[i] = v;
}

// Each lane takes a turn in a loop to hand its word to the next, and lanes leave the loop at different times.
extern "C" __global__ void old_ring(const u32* in, const u32* rounds, u32* out) {
    __shared__ volatile u32 words[256];
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    u32 t = threadIdx.x, next = (t & ~31u) + (t + 1) % 32;
    words[t] = in[i];
    u32 n = rounds[i], v = 0;
#pragma unroll 1
    for (u32 k = 0; k < n; k++) {
        v = words[next];
        words[t] = v + k;
    }
    out[i] = words[t] + v;
}

// Neighbours change places where both want to.
extern "C" __global__ void old_sort(u32* data) {
    __shared__ volatile u32 words[256];
    u32 t = threadIdx.x, lane = t % 32;
    words[t] = data[blockIdx.x * blockDim.x + t];
    for (u32 turn = 0; turn < 32; turn++) {
        if (lane % 2 == turn % 2 && lane < 31) {
            u32 a = words[t], b = words[t + 1];
            if (b < a) {
                words[t] = b;
                words[t + 1] = a;
            }
        }
    }
    data[blockIdx.x * blockDim.x + t] = words[t];
}

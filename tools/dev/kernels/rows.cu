// build: -O2 -Xclang -target-feature -Xclang +ptx63
// Softmax and normalisation of rows of 4096, a block of 256 threads for each row.
#include "library.h"

constexpr u32 BLOCK = 256, WARPS = BLOCK / 32, PARTS = 4, COLUMNS = BLOCK * PARTS * 4;

static __device__ float block_max(float value, float* shared) {
    value = warp_max(value);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
    __syncthreads();
    value = warp_max(shared[threadIdx.x % WARPS]);
    __syncthreads();
    return value;
}

static __device__ float block_sum(float value, float* shared) {
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
    __syncthreads();
    value = warp_sum(threadIdx.x % 32 < WARPS ? shared[threadIdx.x % 32] : 0.0f);
    __syncthreads();
    return value;
}

extern "C" __global__ void __launch_bounds__(BLOCK) softmax(const float4* __restrict in, float4* __restrict out) {
    __shared__ float shared[WARPS];
    u32 first = blockIdx.x * (COLUMNS / 4) + threadIdx.x;
    float4 x[PARTS];
    float largest = -1e30f;
#pragma unroll
    for (u32 i = 0; i < PARTS; i++) {
        x[i] = in[first + i * BLOCK];
        largest = fmaxf(largest, fmaxf(fmaxf(x[i].x, x[i].y), fmaxf(x[i].z, x[i].w)));
    }
    largest = block_max(largest, shared);
    float sum = 0.0f;
#pragma unroll
    for (u32 i = 0; i < PARTS; i++) {
        x[i] = {exp_by_steps(x[i].x - largest), exp_by_steps(x[i].y - largest), exp_by_steps(x[i].z - largest),
                exp_by_steps(x[i].w - largest)};
        sum += x[i].x + x[i].y + x[i].z + x[i].w;
    }
    float scale = 1.0f / block_sum(sum, shared);
#pragma unroll
    for (u32 i = 0; i < PARTS; i++) {
        out[first + i * BLOCK] = {x[i].x * scale, x[i].y * scale, x[i].z * scale, x[i].w * scale};
    }
}

// (x - mean) / deviation * gain + bias
extern "C" __global__ void __launch_bounds__(BLOCK)
layer_norm(const float4* __restrict in, const float4* __restrict gain, const float4* __restrict bias, float4* __restrict out) {
    __shared__ float shared[WARPS];
    u32 first = blockIdx.x * (COLUMNS / 4) + threadIdx.x;
    float4 x[PARTS];
    float sum = 0.0f, squares = 0.0f;
#pragma unroll
    for (u32 i = 0; i < PARTS; i++) {
        x[i] = in[first + i * BLOCK];
        sum += x[i].x + x[i].y + x[i].z + x[i].w;
    }
    float mean = block_sum(sum, shared) * (1.0f / COLUMNS);
#pragma unroll
    for (u32 i = 0; i < PARTS; i++) {
        x[i] = {x[i].x - mean, x[i].y - mean, x[i].z - mean, x[i].w - mean};
        squares = fmaf(x[i].x, x[i].x, fmaf(x[i].y, x[i].y, fmaf(x[i].z, x[i].z, fmaf(x[i].w, x[i].w, squares))));
    }
    float scale = rsqrt_approx(fmaf(block_sum(squares, shared), 1.0f / COLUMNS, 1e-5f));
#pragma unroll
    for (u32 i = 0; i < PARTS; i++) {
        float4 g = gain[threadIdx.x + i * BLOCK], b = bias[threadIdx.x + i * BLOCK];
        out[first + i * BLOCK] = {fmaf(x[i].x * scale, g.x, b.x), fmaf(x[i].y * scale, g.y, b.y),
                                  fmaf(x[i].z * scale, g.z, b.z), fmaf(x[i].w * scale, g.w, b.w)};
    }
}

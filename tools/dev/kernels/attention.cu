// softmax(Q K^T / 8) V of heads with n rows of 64, without the matrix of scores: a thread has one row of Q and of the
// result in registers, blocks of 128 go through tiles of K and V. n is a multiple of 128.
#include "library.h"

constexpr u32 PARTS = 16, TILE = 32, BLOCK = 128, GROUP = 8;

extern "C" __global__ void __launch_bounds__(BLOCK)
attention(const float4* __restrict q, const float4* __restrict k, const float4* __restrict v, float4* __restrict result, u32 n) {
    __shared__ float4 keys[TILE][PARTS], values[TILE][PARTS];
    u32 head = blockIdx.y * n * PARTS;
    u32 row = head + (blockIdx.x * BLOCK + threadIdx.x) * PARTS;
    float4 query[PARTS], sums[PARTS] = {};
#pragma unroll
    for (u32 i = 0; i < PARTS; i++) query[i] = q[row + i];
    float largest = -1e30f, total = 0.0f;
    for (u32 start = 0; start < n; start += TILE) {
        for (u32 i = threadIdx.x; i < TILE * PARTS; i += BLOCK) {
            keys[i / PARTS][i % PARTS] = k[head + start * PARTS + i];
            values[i / PARTS][i % PARTS] = v[head + start * PARTS + i];
        }
        __syncthreads();
#pragma unroll 1
        for (u32 first = 0; first < TILE; first += GROUP) {
            float scores[GROUP], before = largest;
#pragma unroll
            for (u32 j = 0; j < GROUP; j++) {
                float score = 0.0f;
#pragma unroll
                for (u32 i = 0; i < PARTS; i++) {
                    float4 key = keys[first + j][i];
                    score = fmaf(query[i].x, key.x, score);
                    score = fmaf(query[i].y, key.y, score);
                    score = fmaf(query[i].z, key.z, score);
                    score = fmaf(query[i].w, key.w, score);
                }
                scores[j] = score * 0.125f;
                largest = fmaxf(largest, scores[j]);
            }
            float scale = exp_by_steps(before - largest);
            total *= scale;
#pragma unroll
            for (u32 i = 0; i < PARTS; i++) {
                sums[i] = {sums[i].x * scale, sums[i].y * scale, sums[i].z * scale, sums[i].w * scale};
            }
#pragma unroll
            for (u32 j = 0; j < GROUP; j++) {
                float weight = exp_by_steps(scores[j] - largest);
                total += weight;
#pragma unroll
                for (u32 i = 0; i < PARTS; i++) {
                    float4 value = values[first + j][i];
                    sums[i] = {fmaf(weight, value.x, sums[i].x), fmaf(weight, value.y, sums[i].y),
                               fmaf(weight, value.z, sums[i].z), fmaf(weight, value.w, sums[i].w)};
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (u32 i = 0; i < PARTS; i++) {
        result[row + i] = {sums[i].x / total, sums[i].y / total, sums[i].z / total, sums[i].w / total};
    }
}

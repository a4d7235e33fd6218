// The eight nearest of some points for each query, by insertion into a sorted list in registers.
#include "library.h"

constexpr u32 NEAREST = 8;

extern "C" __global__ void nearest(const float4* __restrict queries, const float4* __restrict points, float* __restrict distances,
                                   u32* __restrict numbers, u32 count) {
    u32 thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    float4 own = queries[thread];
    float best[NEAREST];
    u32 number[NEAREST];
#pragma unroll
    for (u32 i = 0; i < NEAREST; i++) best[i] = 1e30f, number[i] = 0;
    for (u32 j = 0; j < count; j++) {
        float4 point = points[j];
        float x = own.x - point.x, y = own.y - point.y, z = own.z - point.z;
        float square = fmaf(x, x, fmaf(y, y, z * z));
        if (square < best[NEAREST - 1]) {
            u32 moving = j;
#pragma unroll
            for (u32 i = 0; i < NEAREST; i++) {
                bool before = square < best[i];
                float farther = before ? best[i] : square;
                u32 later = before ? number[i] : moving;
                best[i] = before ? square : best[i];
                number[i] = before ? moving : number[i];
                square = farther;
                moving = later;
            }
        }
    }
#pragma unroll
    for (u32 i = 0; i < NEAREST; i++) {
        distances[i * threads + thread] = best[i];
        numbers[i * threads + thread] = number[i];
    }
}

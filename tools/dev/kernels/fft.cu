// Fourier transforms of 1024 complex numbers each, in place, by blocks of 256 in five steps of radix 4 (Stockham).
#include "library.h"

constexpr u32 BLOCK = 256, COUNT = 1024;

static __device__ float2 operator+(float2 a, float2 b) { return {a.x + b.x, a.y + b.y}; }
static __device__ float2 operator-(float2 a, float2 b) { return {a.x - b.x, a.y - b.y}; }
static __device__ float2 operator*(float2 a, float2 b) { return {fmaf(a.x, b.x, -(a.y * b.y)), fmaf(a.x, b.y, a.y * b.x)}; }

extern "C" __global__ void __launch_bounds__(BLOCK) fft(float2* data) {
    __shared__ float2 shared[COUNT];
    float2* own = data + blockIdx.x * COUNT;
    u32 thread = threadIdx.x;
    float2 x[4];
#pragma unroll
    for (u32 i = 0; i < 4; i++) x[i] = own[thread + i * BLOCK];
#pragma unroll
    for (u32 done = 1; done < COUNT; done *= 4) {
        u32 within = thread % done;
        float angle = -6.2831853f / (4 * done) * (float)within;
        float2 one = {cos_approx(angle), sin_approx(angle)};
        float2 two = one * one;
        x[1] = x[1] * one;
        x[2] = x[2] * two;
        x[3] = x[3] * (two * one);
        float2 a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = x[1] - x[3];
        float2 turned = {d.y, -d.x};
        x[0] = a + c;
        x[1] = b + turned;
        x[2] = a - c;
        x[3] = b - turned;
        u32 to = thread / done * 4 * done + within;
        __syncthreads();
#pragma unroll
        for (u32 i = 0; i < 4; i++) shared[to + i * done] = x[i];
        __syncthreads();
#pragma unroll
        for (u32 i = 0; i < 4; i++) x[i] = shared[thread + i * BLOCK];
    }
#pragma unroll
    for (u32 i = 0; i < 4; i++) own[thread + i * BLOCK] = x[i];
}

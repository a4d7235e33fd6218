// Peak rates of a chip: a copy of memory, and independent chains of one operation each.
#include "library.h"

constexpr u32 CHAINS = 8, STEPS = 16;

extern "C" __global__ void copy(const uint4* __restrict in, uint4* __restrict out) {
    u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    out[at] = in[at];
}

// Every thread computes CHAINS numbers. Their sum is the result, so the compiler can't remove any.
template <typename T, typename Step>
static __device__ T chains(T first, T more, u32 rounds, Step step) {
    T numbers[CHAINS];
    numbers[0] = first;
#pragma unroll
    for (u32 i = 1; i < CHAINS; i++) numbers[i] = numbers[i - 1] + more;
#pragma unroll 1
    for (u32 round = 0; round < rounds; round++) {
#pragma unroll
        for (u32 i = 0; i < STEPS; i++) {
#pragma unroll
            for (u32 chain = 0; chain < CHAINS; chain++) numbers[chain] = step(numbers[chain]);
        }
    }
#pragma unroll
    for (u32 i = 1; i < CHAINS; i++) numbers[0] = numbers[0] + numbers[i];
    return numbers[0];
}

extern "C" __global__ void fma_f32(float* out, float factor, u32 rounds) {
    u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    out[at] = chains((float)at, factor, rounds, [=](float x) { return fmaf(x, factor, factor); });
}

extern "C" __global__ void fma_f64(double* out, double factor, u32 rounds) {
    u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    out[at] = chains((double)at, factor, rounds, [=](double x) { return fma(x, factor, factor); });
}

extern "C" __global__ void fma_f16(half2* out, float factor, u32 rounds) {
    u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    half2 factors = {(half)factor, (half)factor};
    half2 first = {(half)(float)(at & 1023), (half)factor};
    out[at] = chains(first, factors, rounds, [=](half2 x) { return fma2(x, factors, factors); });
}

extern "C" __global__ void dot_s8(i32* out, u32 factor, u32 rounds) {
    u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    out[at] = chains((i32)at, (i32)factor, rounds, [=](i32 x) { return dp4a((u32)x, factor, x); });
}

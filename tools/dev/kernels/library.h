// Functions that the kernels need beyond cuda_min.h.
#pragma once
#include "cuda_min.h"

#define __restrict __restrict__

#ifdef __NVCC__
#include "library_nvcc.h"
#else

typedef _Float16 half;
typedef half half2 __attribute__((ext_vector_type(2)));

struct alignas(16) uint4 { u32 x, y, z, w; };

static __device__ float fma_down(float a, float b, float c) { return __nvvm_fma_rm_f(a, b, c); }
static __device__ float saturate(float a) { return __nvvm_saturate_f(a); }
static __device__ float exp2_approx_ftz(float a) { return __nvvm_ex2_approx_ftz_f(a); }
static __device__ float sin_approx(float a) { return __nvvm_sin_approx_f(a); }
static __device__ float cos_approx(float a) { return __nvvm_cos_approx_f(a); }
static __device__ float floorf(float a) { return __builtin_floorf(a); }

#endif

constexpr u32 ALL = 0xffffffff;

static __device__ float bits_float(u32 bits) { return __builtin_bit_cast(float, bits); }
static __device__ u32 float_bits(float value) { return __builtin_bit_cast(u32, value); }

// e^x by the same steps as CUDA's library: the magic addend leaves the whole part of x / ln 2 in the lowest bits.
static __device__ float exp_by_steps(float x) {
    float whole = fma_down(saturate(fmaf(x, 0.00572498f, 0.5f)), 252.0f, 12582913.0f);
    float shifted = whole - 12583039.0f;
    float rest = fmaf(x, 1.925963e-8f, fmaf(x, 1.442695f, -shifted));
    return exp2_approx_ftz(rest) * bits_float(float_bits(whole) << 23);
}

// The sum of c and the four products of signed bytes.
static __device__ i32 dp4a(u32 a, u32 b, i32 c) {
    i32 sum;
    asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
    return sum;
}

static __device__ half2 fma2(half2 a, half2 b, half2 c) {
    u32 sum;
    asm("fma.rn.f16x2 %0, %1, %2, %3;"
        : "=r"(sum)
        : "r"(__builtin_bit_cast(u32, a)), "r"(__builtin_bit_cast(u32, b)), "r"(__builtin_bit_cast(u32, c)));
    return __builtin_bit_cast(half2, sum);
}

// Over the 32 lanes of a warp; all of them get the result.
static __device__ float shfl_xor(float value, u32 distance) {
    return bits_float(shfl_xor(ALL, float_bits(value), distance));
}
static __device__ float warp_sum(float value) {
    for (u32 distance = 16; distance > 0; distance /= 2) value += shfl_xor(value, distance);
    return value;
}
static __device__ float warp_max(float value) {
    for (u32 distance = 16; distance > 0; distance /= 2) value = fmaxf(value, shfl_xor(value, distance));
    return value;
}

// The functions that library.h takes from clang, for NVIDIA's compiler.
#pragma once

// Two f16. Products and sums are rounded separately.
struct half {
    u16 bits;
    half() = default;
    explicit __device__ half(float value) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value)); }
};
struct alignas(4) half2 {
    half x, y;
};
#define HALVES(operation, instruction)                                                                   \
    static __device__ half2 operation(half2 a, half2 b) {                                                \
        u32 result;                                                                                      \
        asm(instruction ".f16x2 %0, %1, %2;"                                                             \
            : "=r"(result)                                                                               \
            : "r"(__builtin_bit_cast(u32, a)), "r"(__builtin_bit_cast(u32, b)));                         \
        return __builtin_bit_cast(half2, result);                                                        \
    }
HALVES(operator*, "mul.rn")
HALVES(operator+, "add.rn")

static __device__ float fma_down(float a, float b, float c) { return __fmaf_rd(a, b, c); }
static __device__ float saturate(float a) { return __saturatef(a); }
APPROXIMATION(exp2_approx_ftz, "ex2.approx.ftz")
APPROXIMATION(sin_approx, "sin.approx")
APPROXIMATION(cos_approx, "cos.approx")

// Powers of 256-bit numbers modulo the prime of the curve secp256k1, as signatures need them: products of Montgomery in chains of
// `mad` with carries.
#include "library.h"

constexpr u32 WORDS = 8;

// The prime's negative inverse modulo 2^32, and its words.
constexpr u32 INVERSE = 0xd2253531;
static __device__ u32 prime(u32 i) { return i == 0 ? 0xfffffc2f : i == 1 ? 0xfffffffe : 0xffffffff; }

// sum += a * b for b of one word: nine words and a tenth for the carry.
static __device__ void add_product(u32 (&sum)[WORDS + 2], const u32 (&a)[WORDS], u32 b) {
    asm("mad.lo.cc.u32 %0, %9, %17, %0;\n\tmadc.lo.cc.u32 %1, %10, %17, %1;\n\tmadc.lo.cc.u32 %2, %11, %17, %2;\n\t"
        "madc.lo.cc.u32 %3, %12, %17, %3;\n\tmadc.lo.cc.u32 %4, %13, %17, %4;\n\tmadc.lo.cc.u32 %5, %14, %17, %5;\n\t"
        "madc.lo.cc.u32 %6, %15, %17, %6;\n\tmadc.lo.cc.u32 %7, %16, %17, %7;\n\taddc.u32 %8, %8, 0;"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3]), "+r"(sum[4]), "+r"(sum[5]), "+r"(sum[6]), "+r"(sum[7]), "+r"(sum[8])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b));
    asm("mad.hi.cc.u32 %0, %9, %17, %0;\n\tmadc.hi.cc.u32 %1, %10, %17, %1;\n\tmadc.hi.cc.u32 %2, %11, %17, %2;\n\t"
        "madc.hi.cc.u32 %3, %12, %17, %3;\n\tmadc.hi.cc.u32 %4, %13, %17, %4;\n\tmadc.hi.cc.u32 %5, %14, %17, %5;\n\t"
        "madc.hi.cc.u32 %6, %15, %17, %6;\n\tmadc.hi.cc.u32 %7, %16, %17, %7;\n\taddc.u32 %8, %8, 0;"
        : "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3]), "+r"(sum[4]), "+r"(sum[5]), "+r"(sum[6]), "+r"(sum[7]), "+r"(sum[8]), "+r"(sum[9])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b));
}

// a * b / 2^256 modulo the prime, below 2^256.
static __device__ void multiply(u32 (&a)[WORDS], const u32 (&b)[WORDS]) {
    u32 sum[WORDS + 2] = {}, modulus[WORDS];
#pragma unroll
    for (u32 i = 0; i < WORDS; i++) modulus[i] = prime(i);
#pragma unroll
    for (u32 i = 0; i < WORDS; i++) {
        add_product(sum, a, b[i]);
        add_product(sum, modulus, sum[0] * INVERSE);
#pragma unroll
        for (u32 j = 0; j <= WORDS; j++) sum[j] = sum[j + 1];
        sum[WORDS + 1] = 0;
    }
    // What is beyond 2^256 is once the prime; 2^256 minus the prime is 2^32 + 977.
    u64 carry = sum[WORDS] ? 977 : 0, upper = sum[WORDS] ? 1 : 0;
#pragma unroll
    for (u32 i = 0; i < WORDS; i++) {
        carry += (u64)sum[i] + (i == 1 ? upper : 0);
        a[i] = (u32)carry;
        carry >>= 32;
    }
}

extern "C" __global__ void montgomery(const u32* __restrict in, u32* __restrict out, u32 numbers, u32 squarings) {
    u32 number = blockIdx.x * blockDim.x + threadIdx.x;
    if (number >= numbers) return;
    u32 base[WORDS], power[WORDS];
#pragma unroll
    for (u32 i = 0; i < WORDS; i++) power[i] = base[i] = in[i * numbers + number];
#pragma unroll 1
    for (u32 i = 0; i < squarings; i++) {
        multiply(power, power);
        multiply(power, base);
    }
#pragma unroll
    for (u32 i = 0; i < WORDS; i++) out[i * numbers + number] = power[i];
}

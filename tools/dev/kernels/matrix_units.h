// Products of matrices by the instructions of a warp (sm_80).
#pragma once
#include "cuda_min.h"

static __device__ void load4(unsigned (&d)[4], unsigned from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(from) : "memory");
}

// Products of 16 by 8 elements, 32 bytes deep. Each has the type of its sums.
#define PRODUCT(NAME, SUM, SHAPE, TYPES, HELD) \
    struct NAME { \
        typedef SUM Sum; \
        static __device__ void add(Sum (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) { \
            asm volatile("mma.sync.aligned." SHAPE ".row.col." TYPES " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
                         : HELD(d[0]), HELD(d[1]), HELD(d[2]), HELD(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1)); \
        } \
    }
PRODUCT(F16, float, "m16n8k16", "f32.f16.f16.f32", "+f");
PRODUCT(Bf16, float, "m16n8k16", "f32.bf16.bf16.f32", "+f");
PRODUCT(Tf32, float, "m16n8k8", "f32.tf32.tf32.f32", "+f");
PRODUCT(S8, int, "m16n8k32", "s32.s8.s8.s32", "+r");
#undef PRODUCT

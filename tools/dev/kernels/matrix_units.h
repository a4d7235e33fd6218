// Products of matrices by the instructions of a warp (sm_80).
#pragma once
#include "async_copies.h"
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

// Stores the sums that a lane has of its warp's 64 by 32 elements, which begin at row `y` and column `x` of the block's.
template <class Sum>
static __device__ void store(Sum *c, unsigned n, unsigned x, unsigned y, unsigned lane, const Sum (&sums)[4][4][4]) {
    c += (u64)(blockIdx.y * 128 + y + lane / 4) * n + blockIdx.x * 128 + x + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                c[(u64)(i * 16 + e / 2 * 8) * n + j * 8 + e % 2] = sums[i][j][e];
}

// C = A B, A by rows and B by columns: tiles of 128 by 128, rows of 64 bytes in shared memory whose 16-byte pieces are swizzled, three stages. Eight
// warps, each with 64 by 32.
template <class Product>
static __device__ void tiles(typename Product::Sum *c, const char *a, const char *b, unsigned n, unsigned bytes) {
    typedef typename Product::Sum Sum;
    constexpr int STAGES = 3;
    alignas(128) __shared__ char shared[STAGES][2][128 * 64];
    unsigned t = threadIdx.x, warp = t / 32, lane = t % 32;
    a += (u64)blockIdx.y * 128 * bytes;
    b += (u64)blockIdx.x * 128 * bytes;
    unsigned steps = bytes / 64;
    auto load = [&](unsigned step) {
        if (step < steps)
#pragma unroll
            for (unsigned part = 0; part < 2; part++) {
                unsigned i = t + part * 256;
                unsigned row = i / 4, piece = i % 4, to = row * 64 + (piece ^ (row / 2 % 4)) * 16;
                copy16(place(shared[step % STAGES][0]) + to, a + (u64)row * bytes + step * 64 + piece * 16);
                copy16(place(shared[step % STAGES][1]) + to, b + (u64)row * bytes + step * 64 + piece * 16);
            }
        commit();
    };
    Sum sums[4][4][4] = {};
    load(0);
    load(1);
    unsigned y = warp / 4 * 64, x = warp % 4 * 32;
    for (unsigned step = 0; step < steps; step++) {
        wait_group<1>();
        __syncthreads();
        load(step + 2);
        unsigned from_a = place(shared[step % STAGES][0]), from_b = place(shared[step % STAGES][1]);
#pragma unroll
        for (int half = 0; half < 2; half++) {
            unsigned fa[4][4], fb[2][4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                unsigned row = y + i * 16 + lane % 16, piece = half * 2 + lane / 16;
                load4(fa[i], from_a + row * 64 + (piece ^ (row / 2 % 4)) * 16);
            }
#pragma unroll
            for (int j = 0; j < 2; j++) {
                unsigned row = x + j * 16 + lane / 16 * 8 + lane % 8, piece = half * 2 + lane / 8 % 2;
                load4(fb[j], from_b + row * 64 + (piece ^ (row / 2 % 4)) * 16);
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    Product::add(sums[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
        }
    }
    store(c, n, x, y, lane, sums);
}

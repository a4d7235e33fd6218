// build: -O3 --no-cuda-gpu-arch=sm_70 --cuda-gpu-arch=sm_80 -Xclang -target-feature -Xclang +ptx71
// Products of matrices of which one has half of its elements, by matrix units.
#include "matrix_units.h"

// C = A B for f16, where A has two of each four elements of a row, by rows, and B lies by columns. `kept` says which two: for 16 rows and 64 places in
// the direction of the sum a word for each lane, as mma.sp takes them. Any words serve: one element of the first two, one of the others. Tiles as above,
// rows of B are twice as long and there are two stages.
extern "C" __global__ void __launch_bounds__(256)
hgemm_sparse(float *c, const unsigned *kept, const char *a, const char *b, unsigned n, unsigned k) {
    constexpr unsigned A_BYTES = 64, B_BYTES = 128, STAGES = 2;
    alignas(128) __shared__ char rows[STAGES][128 * A_BYTES];
    alignas(128) __shared__ char columns[STAGES][128 * B_BYTES];
    unsigned t = threadIdx.x, warp = t / 32, lane = t % 32;
    unsigned steps = k / 64;
    a += (u64)blockIdx.y * 128 * k;
    b += (u64)blockIdx.x * 128 * 2 * k;
    auto load = [&](unsigned step) {
        if (step < steps) {
#pragma unroll
            for (unsigned i = t; i < 128 * A_BYTES / 16; i += 256)
                copy16(place(rows[step % STAGES]) + i / 4 * A_BYTES + (i % 4 ^ i / 8 % 4) * 16, a + (u64)(i / 4) * k + step * A_BYTES + i % 4 * 16);
#pragma unroll
            for (unsigned i = t; i < 128 * B_BYTES / 16; i += 256)
                copy16(place(columns[step % STAGES]) + i / 8 * B_BYTES + (i % 8 ^ i / 8 % 8) * 16, b + (u64)(i / 8) * 2 * k + step * B_BYTES + i % 8 * 16);
        }
        commit();
    };
    float sums[4][4][4] = {};
    load(0);
    unsigned y = warp / 4 * 64, x = warp % 4 * 32;
    kept += (u64)(blockIdx.y * 8 + y / 16) * steps * 32 + lane;
    for (unsigned step = 0; step < steps; step++) {
        unsigned places[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            places[i] = (kept[(u64)(i * steps + step) * 32] & 0x55555555) | 0x88888888;
        wait_group<0>();
        __syncthreads();
        load(step + 1);
        unsigned from_a = place(rows[step % STAGES]), from_b = place(columns[step % STAGES]);
#pragma unroll
        for (int half = 0; half < 2; half++) {
            unsigned fa[4][4], fb[4][4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                unsigned row = y + i * 16 + lane % 16, piece = half * 2 + lane / 16;
                load4(fa[i], from_a + row * A_BYTES + (piece ^ (row / 2 % 4)) * 16);
            }
#pragma unroll
            for (int j = 0; j < 4; j++) {
                unsigned row = x + j * 8 + lane % 8, piece = half * 4 + lane / 8;
                load4(fb[j], from_b + row * B_BYTES + (piece ^ row % 8) * 16);
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    float(&d)[4] = sums[i][j];
                    asm volatile("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, %13;"
                                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                                 : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j][0]), "r"(fb[j][1]), "r"(fb[j][2]), "r"(fb[j][3]),
                                   "r"(places[i]), "n"(half));
                }
        }
    }
    store(c, n, x, y, lane, sums);
}

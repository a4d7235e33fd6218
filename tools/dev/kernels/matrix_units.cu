// build: -O3 --no-cuda-gpu-arch=sm_70 --cuda-gpu-arch=sm_80 -Xclang -target-feature -Xclang +ptx71
// Products of matrices by matrix units, as CUTLASS and mma.h use them.
#include "matrix_units.h"

extern "C" __global__ void __launch_bounds__(256) hgemm_mma(float *c, const char *a, const char *b, unsigned n, unsigned k) { tiles<F16>(c, a, b, n, 2 * k); }
extern "C" __global__ void __launch_bounds__(256) int8_mma(int *c, const char *a, const char *b, unsigned n, unsigned k) { tiles<S8>(c, a, b, n, k); }

// C = A B, both by rows, by fragments that no code looks into: tiles of 128 by 128 of eight warps, 32 deep in shared memory.
extern "C" __global__ void __launch_bounds__(256) hgemm_wmma(float *c, const _Float16 *a, const _Float16 *b, unsigned n, unsigned k) {
    constexpr int A_PITCH = 40, B_PITCH = 136;
    alignas(128) __shared__ _Float16 rows[128 * A_PITCH];
    alignas(128) __shared__ _Float16 columns[32 * B_PITCH];
    unsigned t = threadIdx.x, warp = t / 32;
    a += (u64)blockIdx.y * 128 * k;
    b += blockIdx.x * 128;
    unsigned y = warp / 4 * 64, x = warp % 4 * 32;
    float sums[4][2][8] = {};
    for (unsigned start = 0; start < k; start += 32) {
        __syncthreads();
        for (unsigned i = t; i < 512; i += 256) {
            *(ulonglong2 *)(rows + i / 4 * A_PITCH + i % 4 * 8) = *(const ulonglong2 *)(a + (u64)(i / 4) * k + start + i % 4 * 8);
            *(ulonglong2 *)(columns + i / 16 * B_PITCH + i % 16 * 8) = *(const ulonglong2 *)(b + (u64)(start + i / 16) * n + i % 16 * 8);
        }
        __syncthreads();
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int fa[4][8], fb[2][8];
#pragma unroll
            for (int i = 0; i < 4; i++)
                __hmma_m16n16k16_ld_a(fa[i], (const int *)(rows + (y + i * 16) * A_PITCH + half * 16), A_PITCH, 0);
#pragma unroll
            for (int j = 0; j < 2; j++)
                __hmma_m16n16k16_ld_b(fb[j], (const int *)(columns + half * 16 * B_PITCH + x + j * 16), B_PITCH, 0);
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 2; j++)
                    __hmma_m16n16k16_mma_f32f32(sums[i][j], fa[i], fb[j], sums[i][j], 0, 0);
        }
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 2; j++)
            __hmma_m16n16k16_st_c_f32(c + (u64)(blockIdx.y * 128 + y + i * 16) * n + blockIdx.x * 128 + x + j * 16, sums[i][j], n, 0);
}

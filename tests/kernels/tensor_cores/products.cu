// Matrix products by the instructions of tensor cores, as CUTLASS and mma.h use them: tiles in shared memory, ldmatrix, mma.sync and wmma.
//
//   clang-19 -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -Xclang -target-feature -Xclang +ptx71 -nocudainc -nocudalib -std=c++17 -S -O2
//       -ffp-contract=off -Wno-unknown-cuda-version -I../include products.cu -o products.ptx
#include "cuda_min.h"

// C = A B with A of m rows, B of n columns (by columns in memory) and k bytes in each: a warp computes 16 rows and 8 columns.
extern "C" __global__ void bytes(int *c, const signed char *a, const signed char *b, int n, int k) {
    __shared__ __attribute__((aligned(16))) signed char rows[16 * 32];
    __shared__ __attribute__((aligned(16))) signed char columns[8 * 32];
    unsigned lane = threadIdx.x;
    a += blockIdx.y * 16 * k;
    b += blockIdx.x * 8 * k;
    int sum[4] = {0, 0, 0, 0};
    for (int start = 0; start < k; start += 32) {
        __syncthreads();
        for (unsigned i = lane; i < 16 * 8; i += 32)
            ((int *)rows)[i] = *(const int *)(a + i / 8 * k + start + i % 8 * 4);
        for (unsigned i = lane; i < 8 * 8; i += 32)
            ((int *)columns)[i] = *(const int *)(b + i / 8 * k + start + i % 8 * 4);
        __syncthreads();
        unsigned x[4], y[2];
        unsigned from = (unsigned)(unsigned long long)(__attribute__((address_space(3))) void *)rows + lane % 16 * 32 + lane / 16 * 16;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(from) : "memory");
        from = (unsigned)(unsigned long long)(__attribute__((address_space(3))) void *)columns + lane % 8 * 32 + lane / 8 % 2 * 16;
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(y[0]), "=r"(y[1]) : "r"(from) : "memory");
        asm volatile("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    }
    c += (blockIdx.y * 16 + lane / 4) * n + blockIdx.x * 8 + lane % 4 * 2;
    c[0] = sum[0];
    c[1] = sum[1];
    c[8 * n] = sum[2];
    c[8 * n + 1] = sum[3];
}

// The same for f16 by rows, with fragments of wmma that no code looks into, and a scale for all elements. A warp computes 16 rows and columns.
extern "C" __global__ void halves(float *c, const _Float16 *a, const _Float16 *b, float scale, int n, int k) {
    float sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int start = 0; start < k; start += 16) {
        int x[8], y[8];
        __hmma_m16n16k16_ld_a(x, (const int *)(a + blockIdx.y * 16 * k + start), k, 0);
        __hmma_m16n16k16_ld_b(y, (const int *)(b + start * n + blockIdx.x * 16), n, 0);
        __hmma_m16n16k16_mma_f32f32(sum, x, y, sum, 0, 0);
    }
    for (int i = 0; i < 8; i++)
        sum[i] *= scale;
    __hmma_m16n16k16_st_c_f32(c + blockIdx.y * 16 * n + blockIdx.x * 16, sum, n, 0);
}

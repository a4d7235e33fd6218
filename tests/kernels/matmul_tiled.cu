// C (m x n) = A (m x k) * B (k x n), row-major, with 8 x 8 tiles in shared memory; sizes need not be multiples of 8.
// Launch with blocks of 8 x 8; one thread computes one element, by fma in the order of k.
#include "cuda_min.h"

constexpr u32 TILE = 8;

extern "C" __global__ void matmul_tiled(const float* a, const float* b, float* c, u32 m, u32 n, u32 k) {
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    u32 column = blockIdx.x * TILE + threadIdx.x;
    u32 row = blockIdx.y * TILE + threadIdx.y;
    float sum = 0.0f;
    for (u32 start = 0; start < k; start += TILE) {
        u32 a_column = start + threadIdx.x;
        u32 b_row = start + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] = row < m && a_column < k ? a[row * k + a_column] : 0.0f;
        tile_b[threadIdx.y][threadIdx.x] = b_row < k && column < n ? b[b_row * n + column] : 0.0f;
        __syncthreads();
        for (u32 i = 0; i < TILE; i++) sum = fmaf(tile_a[threadIdx.y][i], tile_b[i][threadIdx.x], sum);
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

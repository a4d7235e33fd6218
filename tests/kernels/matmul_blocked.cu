// C (m x n) = A (m x k) * B (k x n), row-major, by blocks of 128 x 128 results in 256 threads, each with 8 x 8 of them in
// registers. m and n are multiples of 128, k of 8. By fma in the order of k.
#include "cuda_min.h"

constexpr u32 TILE = 128, DEPTH = 8, PART = 8;

extern "C" __global__ void __launch_bounds__(256)
matmul_blocked(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, u32 n, u32 k) {
    // A's columns lie side by side, so that a thread's part of one is two vectors.
    __shared__ float4 columns[DEPTH][TILE / 4];
    __shared__ float4 rows[DEPTH][TILE / 4];
    u32 thread = threadIdx.x;
    u32 first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    // What the thread copies: four elements of each matrix.
    u32 a_row = thread / 2, a_column = thread % 2 * 4;
    u32 b_row = thread / 32, b_column = thread % 32 * 4;
    // What it computes.
    u32 row = thread / 16 * PART, column = thread % 16 * PART;
    float sums[PART][PART] = {};
    for (u32 start = 0; start < k; start += DEPTH) {
        float4 of_a = *(const float4*)&a[(first_row + a_row) * k + start + a_column];
        float4 of_b = *(const float4*)&b[(start + b_row) * n + first_column + b_column];
        ((float*)columns[a_column])[a_row] = of_a.x;
        ((float*)columns[a_column + 1])[a_row] = of_a.y;
        ((float*)columns[a_column + 2])[a_row] = of_a.z;
        ((float*)columns[a_column + 3])[a_row] = of_a.w;
        rows[b_row][b_column / 4] = of_b;
        __syncthreads();
#pragma unroll
        for (u32 i = 0; i < DEPTH; i++) {
            float4 left[2] = {columns[i][row / 4], columns[i][row / 4 + 1]};
            float4 right[2] = {rows[i][column / 4], rows[i][column / 4 + 1]};
            float of_rows[PART] = {left[0].x, left[0].y, left[0].z, left[0].w, left[1].x, left[1].y, left[1].z, left[1].w};
            float of_columns[PART] = {right[0].x, right[0].y, right[0].z, right[0].w,
                                      right[1].x, right[1].y, right[1].z, right[1].w};
#pragma unroll
            for (u32 y = 0; y < PART; y++) {
#pragma unroll
                for (u32 x = 0; x < PART; x++) sums[y][x] = fmaf(of_rows[y], of_columns[x], sums[y][x]);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (u32 y = 0; y < PART; y++) {
        float4* to = (float4*)&c[(first_row + row + y) * n + first_column + column];
        to[0] = {sums[y][0], sums[y][1], sums[y][2], sums[y][3]};
        to[1] = {sums[y][4], sums[y][5], sums[y][6], sums[y][7]};
    }
}

// C = A B in f64, square matrices, tiles of 64 x 64 by 256 threads with 4 x 4 results each. The side is a multiple of 64.
#include "library.h"

constexpr u32 TILE = 64, DEPTH = 16, PART = 4;

extern "C" __global__ void __launch_bounds__(256)
dgemm(const double* __restrict a, const double* __restrict b, double* __restrict c, u32 side) {
    __shared__ double columns[DEPTH][TILE + 1], rows[DEPTH][TILE];
    u32 thread = threadIdx.x;
    u32 first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    u32 row = thread / 16, column = thread % 16;
    double sums[PART][PART] = {};
    for (u32 start = 0; start < side; start += DEPTH) {
#pragma unroll
        for (u32 i = 0; i < 4; i++) {
            columns[column][row + 16 * i] = a[(first_row + row + 16 * i) * side + start + column];
            rows[thread / 64 + 4 * i][thread % 64] = b[(start + thread / 64 + 4 * i) * side + first_column + thread % 64];
        }
        __syncthreads();
#pragma unroll
        for (u32 k = 0; k < DEPTH; k++) {
            double left[PART], right[PART];
#pragma unroll
            for (u32 i = 0; i < PART; i++) {
                left[i] = columns[k][row + 16 * i];
                right[i] = rows[k][column + 16 * i];
            }
#pragma unroll
            for (u32 y = 0; y < PART; y++) {
#pragma unroll
                for (u32 x = 0; x < PART; x++) sums[y][x] = fma(left[y], right[x], sums[y][x]);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (u32 y = 0; y < PART; y++) {
#pragma unroll
        for (u32 x = 0; x < PART; x++) c[(first_row + row + 16 * y) * side + first_column + column + 16 * x] = sums[y][x];
    }
}

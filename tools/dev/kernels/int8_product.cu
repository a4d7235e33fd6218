// C = A B^T of signed bytes with 32-bit sums, square matrices with four bytes to the word: tiles of 64 x 64 by 256 threads with
// 4 x 4 results each. The side is a multiple of 64.
#include "library.h"

constexpr u32 TILE = 64, DEPTH = 16, PART = 4;

extern "C" __global__ void __launch_bounds__(256)
int8_product(const u32* __restrict a, const u32* __restrict b, i32* __restrict c, u32 side) {
    __shared__ u32 left[DEPTH][TILE + 1], right[DEPTH][TILE + 1];
    u32 row = threadIdx.x / 16, column = threadIdx.x % 16, words = side / 4;
    u32 first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    i32 sums[PART][PART] = {};
    for (u32 start = 0; start < words; start += DEPTH) {
#pragma unroll
        for (u32 i = 0; i < 4; i++) {
            left[column][row + 16 * i] = a[(first_row + row + 16 * i) * words + start + column];
            right[column][row + 16 * i] = b[(first_column + row + 16 * i) * words + start + column];
        }
        __syncthreads();
#pragma unroll
        for (u32 k = 0; k < DEPTH; k++) {
            u32 x[PART], y[PART];
#pragma unroll
            for (u32 i = 0; i < PART; i++) {
                y[i] = left[k][row + 16 * i];
                x[i] = right[k][column + 16 * i];
            }
#pragma unroll
            for (u32 i = 0; i < PART; i++) {
#pragma unroll
                for (u32 j = 0; j < PART; j++) sums[i][j] = dp4a(y[i], x[j], sums[i][j]);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (u32 i = 0; i < PART; i++) {
#pragma unroll
        for (u32 j = 0; j < PART; j++) c[(first_row + row + 16 * i) * side + first_column + column + 16 * j] = sums[i][j];
    }
}

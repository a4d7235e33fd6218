// Transposes a matrix of u32 through a shared tile whose rows are padded by one word against bank conflicts.
// Launch with blocks of 16 x 4: each thread moves four elements of a 16 x 16 tile.
#include "cuda_min.h"

constexpr u32 TILE = 16;
constexpr u32 ROWS = 4;

extern "C" __global__ void transpose(const u32* in, u32* out, u32 width, u32 height) {
    __shared__ u32 tile[TILE][TILE + 1];
    u32 x = blockIdx.x * TILE + threadIdx.x;
    for (u32 j = threadIdx.y; j < TILE; j += ROWS) {
        u32 y = blockIdx.y * TILE + j;
        if (x < width && y < height) tile[j][threadIdx.x] = in[y * width + x];
    }
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    for (u32 j = threadIdx.y; j < TILE; j += ROWS) {
        u32 y = blockIdx.x * TILE + j;
        if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][j];
    }
}

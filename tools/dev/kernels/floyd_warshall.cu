// Shortest paths between all nodes, the last phase of a step of the blocked algorithm of Floyd and Warshall: tiles of 32 x 32 distances
// get what the step's 32 nodes shorten. A thread has four of them.
#include "library.h"

constexpr u32 TILE = 32;

extern "C" __global__ void floyd_warshall(const i32* __restrict in, i32* __restrict out, u32 nodes, u32 step) {
    __shared__ i32 rows[TILE][TILE], columns[TILE][TILE];
    u32 x = blockIdx.x * TILE + threadIdx.x;
    i32 best[4];
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
        u32 row = threadIdx.y + i * 8, y = blockIdx.y * TILE + row;
        rows[row][threadIdx.x] = in[(step * TILE + row) * nodes + x];
        columns[row][threadIdx.x] = in[y * nodes + step * TILE + threadIdx.x];
        best[i] = in[y * nodes + x];
    }
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < TILE; k++) {
#pragma unroll
        for (u32 i = 0; i < 4; i++) {
            i32 through = columns[threadIdx.y + i * 8][k] + rows[k][threadIdx.x];
            best[i] = through < best[i] ? through : best[i];
        }
    }
#pragma unroll
    for (u32 i = 0; i < 4; i++) out[(blockIdx.y * TILE + threadIdx.y + i * 8) * nodes + x] = best[i];
}

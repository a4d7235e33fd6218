// Splits matrices of 16 x 16 into triangular ones, without pivots, a block for each matrix and a thread for each element.
#include "library.h"

constexpr u32 SIDE = 16;

extern "C" __global__ void lu(const float* __restrict in, float* __restrict out) {
    __shared__ float m[SIDE][SIDE + 1];
    u32 column = threadIdx.x, row = threadIdx.y, at = blockIdx.x * SIDE * SIDE + row * SIDE + column;
    // A large diagonal keeps the pivots away from zero.
    m[row][column] = in[at] + (row == column ? (float)SIDE : 0.0f);
#pragma unroll 1
    for (u32 k = 0; k + 1 < SIDE; k++) {
        __syncthreads();
        float factor = m[row][k] / m[k][k];
        float own = m[row][column], above = m[k][column];
        __syncthreads();
        if (row > k && column >= k) m[row][column] = column == k ? factor : fmaf(-factor, above, own);
    }
    __syncthreads();
    out[at] = m[row][column];
}

// Products of many pairs of 16 x 16 matrices, a block of 16 x 16 threads for each.
#include "library.h"

constexpr u32 SIDE = 16;

extern "C" __global__ void __launch_bounds__(SIDE * SIDE)
small_products(const float* __restrict a, const float* __restrict b, float* __restrict c) {
    __shared__ float left[SIDE][SIDE], right[SIDE][SIDE];
    u32 x = threadIdx.x, y = threadIdx.y;
    u32 at = (blockIdx.x * SIDE + y) * SIDE + x;
    left[y][x] = a[at];
    right[y][x] = b[at];
    __syncthreads();
    float sum = 0.0f;
#pragma unroll
    for (u32 k = 0; k < SIDE; k++) sum = fmaf(left[y][k], right[k][x], sum);
    c[at] = sum;
}

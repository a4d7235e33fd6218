// C = A * B for square matrices, row-major: each thread makes one element from a row and a column in device memory.
#include "library.h"

extern "C" __global__ void naive_product(const float* __restrict a, const float* __restrict b, float* __restrict c, u32 side) {
    u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= side || y >= side) return;
    float sum = 0.0f;
    for (u32 k = 0; k < side; k++) sum = fmaf(a[y * side + k], b[k * side + x], sum);
    c[y * side + x] = sum;
}

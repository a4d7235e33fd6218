// Convolution of an image with 7 x 7 weights, zeros outside of the image, blocks of 16 x 16.
#include "library.h"

constexpr i32 BLOCK = 16, RADIUS = 3, SIDE = BLOCK + 2 * RADIUS, WIDTH = 2 * RADIUS + 1;

extern "C" __global__ void __launch_bounds__(BLOCK * BLOCK)
convolution(const float* __restrict in, const float* __restrict weights, float* __restrict out, i32 side) {
    __shared__ float tile[SIDE][SIDE];
    __shared__ float factors[WIDTH * WIDTH];
    i32 x0 = (i32)blockIdx.x * BLOCK, y0 = (i32)blockIdx.y * BLOCK;
    i32 thread = (i32)(threadIdx.y * BLOCK + threadIdx.x);
    if (thread < WIDTH * WIDTH) factors[thread] = weights[thread];
    for (i32 i = thread; i < SIDE * SIDE; i += BLOCK * BLOCK) {
        i32 x = x0 + i % SIDE - RADIUS, y = y0 + i / SIDE - RADIUS;
        bool inside = x >= 0 && y >= 0 && x < side && y < side;
        tile[i / SIDE][i % SIDE] = inside ? in[y * side + x] : 0.0f;
    }
    __syncthreads();
    float sum = 0.0f;
#pragma unroll
    for (i32 dy = 0; dy < WIDTH; dy++) {
#pragma unroll
        for (i32 dx = 0; dx < WIDTH; dx++) {
            sum = fmaf(tile[(i32)threadIdx.y + dy][(i32)threadIdx.x + dx], factors[dy * WIDTH + dx], sum);
        }
    }
    out[(y0 + (i32)threadIdx.y) * side + x0 + (i32)threadIdx.x] = sum;
}

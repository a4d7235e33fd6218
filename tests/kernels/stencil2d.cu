// One Jacobi step of a five-point stencil with fixed borders, with a halo in shared memory. Launch with 16 x 8 blocks.
#include "cuda_min.h"

constexpr i32 WIDTH = 16;
constexpr i32 HEIGHT = 8;

extern "C" __global__ void stencil2d(const float* in, float* out, i32 width, i32 height, float alpha) {
    __shared__ float tile[HEIGHT + 2][WIDTH + 2];
    i32 x0 = (i32)blockIdx.x * WIDTH - 1;
    i32 y0 = (i32)blockIdx.y * HEIGHT - 1;
    // All threads together load the tile with its halo; what lies outside repeats the edge.
    for (i32 j = (i32)(threadIdx.y * WIDTH + threadIdx.x); j < (WIDTH + 2) * (HEIGHT + 2); j += WIDTH * HEIGHT) {
        i32 tx = j % (WIDTH + 2);
        i32 ty = j / (WIDTH + 2);
        i32 x = x0 + tx < 0 ? 0 : x0 + tx >= width ? width - 1 : x0 + tx;
        i32 y = y0 + ty < 0 ? 0 : y0 + ty >= height ? height - 1 : y0 + ty;
        tile[ty][tx] = in[y * width + x];
    }
    __syncthreads();
    i32 tx = (i32)threadIdx.x + 1;
    i32 ty = (i32)threadIdx.y + 1;
    i32 x = x0 + tx;
    i32 y = y0 + ty;
    if (x >= width || y >= height) return;
    float centre = tile[ty][tx];
    float result = centre;
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
        float around = (tile[ty - 1][tx] + tile[ty + 1][tx]) + (tile[ty][tx - 1] + tile[ty][tx + 1]);
        result = fmaf(alpha, fmaf(-4.0f, centre, around), centre);
    }
    out[y * width + x] = result;
}

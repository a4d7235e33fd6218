// Escape times of the Mandelbrot set as integers. Every f32 operation is rounded on its own, so the counts are exact.
#include "cuda_min.h"

extern "C" __global__ void mandelbrot(u32* out, u32 width, u32 height, float left, float top, float step, u32 limit) {
    u32 px = blockIdx.x * blockDim.x + threadIdx.x;
    u32 py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    float cx = left + (float)px * step;
    float cy = top - (float)py * step;
    float x = 0.0f, y = 0.0f;
    u32 count = 0;
    while (count < limit) {
        float xx = x * x, yy = y * y;
        if (xx + yy > 4.0f) break;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        count++;
    }
    out[py * width + px] = count;
}

// Marches along rays by the distance to the nearest surface of a lattice of tori and spheres, and shades by the number of steps.
#include "library.h"

static __device__ float length(float x, float y, float z) { return sqrtf(fmaf(x, x, fmaf(y, y, z * z))); }

// The place in its cell of the lattice, around 0.
static __device__ float folded(float x) { return fmaf(-4.0f, floorf(fmaf(x, 0.25f, 0.5f)), x); }

static __device__ float distance(float x, float y, float z) {
    x = folded(x);
    y = folded(y);
    z = folded(z);
    float torus = length(length(x, 0.0f, z) - 1.0f, y, 0.0f) - 0.25f, sphere = length(x, y, z) - 0.5f;
    return fminf(torus, sphere);
}

extern "C" __global__ void ray_marching(float* __restrict image, u32 side, u32 steps) {
    u32 column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= side || row >= side) return;
    float scale = 2.0f / (float)side, x = fmaf((float)column, scale, -1.0f), y = fmaf((float)row, scale, -1.0f);
    float inverse = 1.0f / length(x, y, 1.0f), along = 0.0f;
    u32 step = 0;
    for (; step < steps; step++) {
        float t = along * inverse, left = distance(fmaf(t, x, 0.5f), fmaf(t, y, 1.5f), t);
        if (left < 0.001f || along > 100.0f) break;
        along += left;
    }
    image[row * side + column] = along * (1.0f - (float)step / (float)steps);
}

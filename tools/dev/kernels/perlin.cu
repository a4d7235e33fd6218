// Perlin noise in three dimensions, four octaves, with hashed corners.
#include "library.h"

static __device__ u32 hash(u32 x, u32 y, u32 z) {
    u32 h = x * 0x8da6b343u ^ y * 0xd8163841u ^ z * 0xcb1ab31fu;
    h = (h ^ h >> 13) * 0x9e3779b1u;
    return h ^ h >> 16;
}

static __device__ float gradient(u32 hash, float x, float y, float z) {
    u32 h = hash & 15;
    float u = h < 8 ? x : y;
    float v = h < 4 ? y : h == 12 || h == 14 ? x : z;
    return (h & 1 ? -u : u) + (h & 2 ? -v : v);
}

static __device__ float fade(float t) { return t * t * t * fmaf(t, fmaf(t, 6.0f, -15.0f), 10.0f); }
static __device__ float mix(float a, float b, float t) { return fmaf(t, b - a, a); }

static __device__ float noise(float x, float y, float z) {
    float fx = floorf(x), fy = floorf(y), fz = floorf(z);
    u32 ix = (u32)(i32)fx, iy = (u32)(i32)fy, iz = (u32)(i32)fz;
    x -= fx;
    y -= fy;
    z -= fz;
    float corners[8];
#pragma unroll
    for (u32 i = 0; i < 8; i++) {
        u32 dx = i & 1, dy = i >> 1 & 1, dz = i >> 2;
        corners[i] = gradient(hash(ix + dx, iy + dy, iz + dz), x - (float)dx, y - (float)dy, z - (float)dz);
    }
    float u = fade(x), v = fade(y), w = fade(z);
    return mix(mix(mix(corners[0], corners[1], u), mix(corners[2], corners[3], u), v),
               mix(mix(corners[4], corners[5], u), mix(corners[6], corners[7], u), v), w);
}

extern "C" __global__ void perlin(float* __restrict out, u32 side, float step, float depth) {
    u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f, weight = 1.0f, scale = step;
    for (u32 octave = 0; octave < 4; octave++) {
        sum = fmaf(weight, noise((float)x * scale, (float)y * scale, depth), sum);
        weight *= 0.5f;
        scale *= 2.0f;
    }
    out[y * side + x] = sum;
}

// Ray tracing of spheres with two reflections and a light, a ray for each pixel.
#include "library.h"

constexpr u32 SPHERES = 64;

static __device__ float dot(float ax, float ay, float az, float bx, float by, float bz) {
    return fmaf(ax, bx, fmaf(ay, by, az * bz));
}

extern "C" __global__ void spheres(const float4* __restrict scene, float* __restrict out, u32 side) {
    __shared__ float4 shared[SPHERES];
    u32 thread = threadIdx.y * blockDim.x + threadIdx.x;
    if (thread < SPHERES) shared[thread] = scene[thread];
    __syncthreads();
    u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float ox = 0.0f, oy = 0.0f, oz = -4.0f;
    float dx = (float)x / (float)side - 0.5f, dy = (float)y / (float)side - 0.5f, dz = 1.0f;
    float length = sqrtf(dot(dx, dy, dz, dx, dy, dz));
    dx /= length;
    dy /= length;
    dz /= length;
    float light = 0.0f, strength = 1.0f;
    for (u32 bounce = 0; bounce < 3; bounce++) {
        float nearest = 1e30f;
        u32 hit = SPHERES;
        for (u32 i = 0; i < SPHERES; i++) {
            float4 sphere = shared[i];
            float cx = sphere.x - ox, cy = sphere.y - oy, cz = sphere.z - oz, radius = 0.1f * fabsf(sphere.w);
            float along = dot(cx, cy, cz, dx, dy, dz);
            float inside = fmaf(radius, radius, fmaf(along, along, -dot(cx, cy, cz, cx, cy, cz)));
            if (inside <= 0.0f) continue;
            float distance = along - sqrtf(inside);
            if (distance > 1e-3f && distance < nearest) {
                nearest = distance;
                hit = i;
            }
        }
        if (hit == SPHERES) {
            light = fmaf(strength, 0.5f + 0.5f * dy, light);
            break;
        }
        float4 sphere = shared[hit];
        ox = fmaf(nearest, dx, ox);
        oy = fmaf(nearest, dy, oy);
        oz = fmaf(nearest, dz, oz);
        float nx = ox - sphere.x, ny = oy - sphere.y, nz = oz - sphere.z;
        float scale = rsqrt_approx(dot(nx, ny, nz, nx, ny, nz));
        nx *= scale;
        ny *= scale;
        nz *= scale;
        light = fmaf(strength, fmaxf(dot(nx, ny, nz, 0.48f, -0.6f, -0.64f), 0.05f), light);
        strength *= 0.5f;
        float turn = -2.0f * dot(nx, ny, nz, dx, dy, dz);
        dx = fmaf(turn, nx, dx);
        dy = fmaf(turn, ny, dy);
        dz = fmaf(turn, nz, dz);
    }
    out[y * side + x] = light;
}

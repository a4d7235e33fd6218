// Gravitational accelerations of n bodies (x, y, z, mass), all pairs, tile by tile through shared memory. Blocks of 32.
#include "cuda_min.h"

constexpr u32 BLOCK = 32;

extern "C" __global__ void nbody(const float4* bodies, float4* accelerations, u32 n, float softening) {
    __shared__ float4 tile[BLOCK];
    u32 i = blockIdx.x * BLOCK + threadIdx.x;
    float4 self = i < n ? bodies[i] : float4{0.0f, 0.0f, 0.0f, 0.0f};
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (u32 start = 0; start < n; start += BLOCK) {
        u32 j = start + threadIdx.x;
        tile[threadIdx.x] = j < n ? bodies[j] : float4{0.0f, 0.0f, 0.0f, 0.0f};
        __syncthreads();
#pragma unroll 4
        for (u32 k = 0; k < BLOCK; k++) {
            float4 other = tile[k];
            float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
            float distance2 = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, softening)));
            float inverse = rsqrt_approx(distance2);
            float weight = other.w * inverse * inverse * inverse;
            ax = fmaf(dx, weight, ax);
            ay = fmaf(dy, weight, ay);
            az = fmaf(dz, weight, az);
        }
        __syncthreads();
    }
    if (i < n) accelerations[i] = float4{ax, ay, az, 0.0f};
}

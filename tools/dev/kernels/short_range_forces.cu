// Forces of Lennard-Jones between particles and those of their lists of neighbours that are nearer than a cutoff.
#include "library.h"

extern "C" __global__ void short_range_forces(const float4* __restrict places, const u32* __restrict neighbours, float4* __restrict forces,
                                              u32 particles, u32 each, float cutoff) {
    u32 particle = blockIdx.x * blockDim.x + threadIdx.x;
    if (particle >= particles) return;
    float4 own = places[particle];
    float4 sum = {0, 0, 0, 0};
    for (u32 i = 0; i < each; i++) {
        float4 other = places[neighbours[i * particles + particle]];
        float x = own.x - other.x, y = own.y - other.y, z = own.z - other.z;
        float square = fmaf(x, x, fmaf(y, y, z * z));
        if (square < cutoff && square > 0.0f) {
            float inverse = 1.0f / square, sixth = inverse * inverse * inverse;
            float force = inverse * sixth * fmaf(48.0f, sixth, -24.0f);
            sum.x = fmaf(force, x, sum.x);
            sum.y = fmaf(force, y, sum.y);
            sum.z = fmaf(force, z, sum.z);
            sum.w = fmaf(4.0f * sixth, sixth - 1.0f, sum.w);
        }
    }
    forces[particle] = sum;
}

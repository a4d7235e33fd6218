// Rays through a volume of bytes, from front to back, with linear filtering; colour and opacity come from a table.
#include "textures.h"

extern "C" __global__ void texture_volume(Texture density, Texture transfer, float4* out, u32 side, u32 steps, float slant) {
    u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float u = ((float)x + 0.5f) / (float)side, v = ((float)y + 0.5f) / (float)side, step = 1.0f / (float)steps;
    float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
    for (u32 i = 0; i < steps && sum.w < 0.95f; i++) {
        float t = ((float)i + 0.5f) * step;
        float4 c = tex1D_float4(transfer, tex3D(density, fmaf(t, slant, u), v, t));
        float weight = (1.0f - sum.w) * c.w;
        sum.x = fmaf(weight, c.x, sum.x);
        sum.y = fmaf(weight, c.y, sum.y);
        sum.z = fmaf(weight, c.z, sum.z);
        sum.w += weight;
    }
    out[y * side + x] = sum;
}

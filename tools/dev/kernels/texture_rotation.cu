// Turns a picture of bytes about its middle, with linear filtering; the picture repeats.
#include "textures.h"

static __device__ u32 byte(float value) { return (u32)fmaf(value, 255.0f, 0.5f); }

extern "C" __global__ void texture_rotation(Texture picture, u32* out, u32 side, float cosine, float sine) {
    u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float scale = 1.0f / (float)side;
    float u = fmaf((float)x, scale, -0.5f), v = fmaf((float)y, scale, -0.5f);
    float4 c = tex2D_float4(picture, fmaf(u, cosine, -v * sine) + 0.5f, fmaf(v, cosine, u * sine) + 0.5f);
    out[y * side + x] = byte(c.x) | byte(c.y) << 8 | byte(c.z) << 16 | byte(c.w) << 24;
}

// Sharpens a picture: from each pixel the mean of its neighbours is taken away, and the rest made stronger.
// `sharpen.ptx` is made of this by `tests/kernels/build.sh ../../examples/filter/sharpen.cu`.
#include "textures.h"

static __device__ u32 level(float value) { return (u32)(fminf(fmaxf(value, 0.0f), 1.0f) * 255.0f + 0.5f); }

extern "C" __global__ void sharpen(Texture picture, Surface out, u32 width, u32 height, float amount) {
    u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float u = (float)x + 0.5f, v = (float)y + 0.5f;
    // Bytes come as floats from 0 to 1, and what is beyond the picture's edges is what is at them.
    float4 c = tex2D_float4(picture, u, v);
    float4 l = tex2D_float4(picture, u - 1, v), r = tex2D_float4(picture, u + 1, v);
    float4 a = tex2D_float4(picture, u, v - 1), b = tex2D_float4(picture, u, v + 1);
    float red = c.x + amount * (c.x - 0.25f * (l.x + r.x + a.x + b.x));
    float green = c.y + amount * (c.y - 0.25f * (l.y + r.y + a.y + b.y));
    float blue = c.z + amount * (c.z - 0.25f * (l.z + r.z + a.z + b.z));
    surf2Dwrite_uchar4(out, level(red), level(green), level(blue), level(c.w), (i32)x, (i32)y);
}

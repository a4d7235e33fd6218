// One pass of a separable blur, 17 texels in a row or a column, each read from a texture.
#include "textures.h"

extern "C" __global__ void texture_blur(Texture image, float* out, const float* weights, u32 side, u32 down) {
    u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float u = (float)x + 0.5f, v = (float)y + 0.5f, sum = 0.0f;
    float right = down ? 0.0f : 1.0f, below = 1.0f - right;
#pragma unroll
    for (i32 i = 0; i < 17; i++) {
        float distance = (float)(i - 8);
        sum = fmaf(weights[i], tex2D(image, fmaf(distance, right, u), fmaf(distance, below, v)), sum);
    }
    out[y * side + x] = sum;
}

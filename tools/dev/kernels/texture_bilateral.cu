// Bilateral filter of a grey image in a texture, 5 x 5, by the distances in place and value.
#include "library.h"
#include "textures.h"

extern "C" __global__ void texture_bilateral(Texture image, float* out, u32 side, float of_place, float of_value) {
    u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float u = (float)x + 0.5f, v = (float)y + 0.5f;
    float centre = tex2D(image, u, v), sum = 0.0f, weights = 0.0f;
#pragma unroll
    for (i32 dy = -2; dy <= 2; dy++) {
#pragma unroll
        for (i32 dx = -2; dx <= 2; dx++) {
            float value = tex2D(image, u + (float)dx, v + (float)dy), difference = value - centre;
            float weight = exp_by_steps(fmaf(difference * difference, of_value, (float)(dx * dx + dy * dy) * of_place));
            sum = fmaf(weight, value, sum);
            weights += weight;
        }
    }
    out[y * side + x] = sum / weights;
}

// Bilateral filter of a grey image, 5 x 5, by the distances in place and value.
#include "library.h"

extern "C" __global__ void bilateral(const float* __restrict in, float* __restrict out, i32 side, float of_place, float of_value) {
    i32 x = (i32)(blockIdx.x * blockDim.x + threadIdx.x), y = (i32)(blockIdx.y * blockDim.y + threadIdx.y);
    float centre = in[y * side + x], sum = 0.0f, weights = 0.0f;
#pragma unroll
    for (i32 dy = -2; dy <= 2; dy++) {
#pragma unroll
        for (i32 dx = -2; dx <= 2; dx++) {
            i32 at_x = x + dx < 0 ? 0 : x + dx >= side ? side - 1 : x + dx;
            i32 at_y = y + dy < 0 ? 0 : y + dy >= side ? side - 1 : y + dy;
            float value = in[at_y * side + at_x], difference = value - centre;
            float weight = exp_by_steps(fmaf(difference * difference, of_value, (float)(dx * dx + dy * dy) * of_place));
            sum = fmaf(weight, value, sum);
            weights += weight;
        }
    }
    out[y * side + x] = sum / weights;
}

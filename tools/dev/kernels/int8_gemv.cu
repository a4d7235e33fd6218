// build: -O2 -Xclang -target-feature -Xclang +ptx63
// A matrix of signed bytes by a vector, a warp for each row; each row has its own scale.
#include "library.h"

extern "C" __global__ void int8_gemv(const uint4* __restrict matrix, const uint4* __restrict x, const float* __restrict scales,
                                     float* __restrict y, u32 vectors, float x_scale) {
    u32 row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    i32 sum = 0;
    for (u32 i = lane; i < vectors; i += 32) {
        uint4 m = matrix[row * vectors + i], v = x[i];
        sum = dp4a(m.w, v.w, dp4a(m.z, v.z, dp4a(m.y, v.y, dp4a(m.x, v.x, sum))));
    }
    for (u32 distance = 16; distance > 0; distance /= 2) sum += (i32)shfl_xor(ALL, (u32)sum, distance);
    if (lane == 0) y[row] = (float)sum * scales[row] * x_scale;
}

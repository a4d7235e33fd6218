// build: -O2 -Xclang -target-feature -Xclang +ptx63
// Decodes floats of 8 bits (4 of them exponent) through a table that a warp holds in its registers: a magnitude's upper five bits choose
// the lane. Each thread goes through the words at its distance, so that the compiler can't know that all have as many.
#include "library.h"

extern "C" __global__ void small_floats(const u32* __restrict words, float4* __restrict out, u32 count, float scale) {
    u32 lane = threadIdx.x % 32;
    // Lanes 0 and 1 have the subnormal numbers.
    float power = bits_float((120 + (lane < 2 ? 1 : lane / 2)) << 23) * scale;
    float entry = power * (lane < 2 ? 0.5f * (float)lane : 1.0f + 0.5f * (float)(lane % 2)), step = power * 0.125f;
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        u32 word = words[i];
        float values[4];
#pragma unroll
        for (u32 byte = 0; byte < 4; byte++) {
            u32 code = word >> byte * 8 & 255, from = code >> 2 & 31;
            float low = bits_float(shfl(ALL, float_bits(entry), from)), high = bits_float(shfl(ALL, float_bits(step), from));
            float value = fmaf((float)(code & 3), high, low);
            values[byte] = code & 128 ? -value : value;
        }
        out[i] = {values[0], values[1], values[2], values[3]};
    }
}

// Sums of a table's entries at pseudo-random places; the table is a texture on linear memory.
#include "textures.h"

extern "C" __global__ void texture_lookup(Texture table, float* out, u32 mask, u32 count) {
    u32 thread = blockIdx.x * blockDim.x + threadIdx.x, state = thread * 747796405u + 2891336453u;
    float sum = 0.0f;
    for (u32 i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        sum += tex1Dfetch(table, (i32)(state >> 8 & mask));
    }
    out[thread] = sum;
}

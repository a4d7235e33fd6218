// Copies pixels from memory to a surface, with red and blue exchanged.
#include "textures.h"

extern "C" __global__ void surface_write(const u32* in, Surface out, u32 side) {
    u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    u32 pixel = in[y * side + x];
    surf2Dwrite_uchar4(out, pixel >> 16 & 255, pixel >> 8 & 255, pixel & 255, pixel >> 24, (i32)x, (i32)y);
}

#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 16, local_size_y = 16) in;
BUFFER(Words, uint, 4)
PARAMETERS { layout(offset = 40) Words result; uint width; uint height; float left; float top; float step; uint limit; };

void main() {
    uvec2 pixel = gl_GlobalInvocationID.xy;
    if (pixel.x >= width || pixel.y >= height) return;
    // As in the CUDA kernel, each operation is rounded; otherwise the counts differ.
    precise float cx = left + float(pixel.x) * step, cy = top - float(pixel.y) * step;
    precise float x = 0, y = 0;
    uint count = 0;
    while (count < limit) {
        precise float xx = x * x, yy = y * y;
        precise float square = xx + yy;
        if (square > 4) break;
        y = 2 * x * y + cy;
        x = xx - yy + cx;
        count++;
    }
    result.at[pixel.y * width + pixel.x] = count;
}

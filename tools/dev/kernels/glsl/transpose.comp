#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 16, local_size_y = 4) in;
BUFFER(Words, uint, 4)
PARAMETERS { layout(offset = 40) ConstWords source; Words result; uint width; uint height; };

shared uint tile[16][17];

void main() {
    uvec2 first = gl_WorkGroupID.xy * 16, id = gl_LocalInvocationID.xy;
    uint x = first.x + id.x;
    for (uint j = id.y; j < 16; j += 4) {
        uint y = first.y + j;
        if (x < width && y < height) tile[j][id.x] = source.at[y * width + x];
    }
    barrier();
    x = first.y + id.x;
    for (uint j = id.y; j < 16; j += 4) {
        uint y = first.x + j;
        if (x < height && y < width) result.at[y * height + x] = tile[id.x][j];
    }
}

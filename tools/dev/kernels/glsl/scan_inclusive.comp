#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Words, uint, 4)
PARAMETERS { layout(offset = 40) ConstWords source; Words result; uint n; };

shared uint sums[2][256];

void main() {
    uint t = gl_LocalInvocationID.x, i = gl_GlobalInvocationID.x, current = 0;
    sums[0][t] = i < n ? source.at[i] : 0;
    barrier();
    for (uint distance = 1; distance < gl_WorkGroupSize.x; distance *= 2) {
        uint value = sums[current][t];
        if (t >= distance) value += sums[current][t - distance];
        sums[1 - current][t] = value;
        current = 1 - current;
        barrier();
    }
    if (i < n) result.at[i] = sums[current][t];
}

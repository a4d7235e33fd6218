#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 16, local_size_y = 16) in;
BUFFER(Floats, float, 4)
PARAMETERS { layout(offset = 40) ConstFloats a; ConstFloats b; Floats c; };

const uint SIDE = 16;

shared float left[SIDE][SIDE], right[SIDE][SIDE];

void main() {
    uint x = gl_LocalInvocationID.x, y = gl_LocalInvocationID.y;
    uint at = (gl_WorkGroupID.x * SIDE + y) * SIDE + x;
    left[y][x] = a.at[at];
    right[y][x] = b.at[at];
    barrier();
    float sum = 0;
    [[unroll]] for (uint k = 0; k < SIDE; k++) sum = fma(left[y][k], right[k][x], sum);
    c.at[at] = sum;
}

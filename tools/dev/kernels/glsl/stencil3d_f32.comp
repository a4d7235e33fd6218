#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 32, local_size_y = 8) in;
BUFFER(Floats, float, 4)
PARAMETERS { layout(offset = 40) ConstFloats source; Floats result; int side; };

void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    if (x < 1 || y < 1 || x >= side - 1 || y >= side - 1) return;
    int plane = side * side, at = y * side + x;
    float below = source.at[at], here = source.at[at + plane];
    for (int z = 1; z < side - 1; z++) {
        at += plane;
        float above = source.at[at + plane];
        float sum = below + above + source.at[at - 1] + source.at[at + 1] + source.at[at - side] + source.at[at + side];
        result.at[at] = 0.4 * here + 0.1 * sum;
        below = here;
        here = above;
    }
}

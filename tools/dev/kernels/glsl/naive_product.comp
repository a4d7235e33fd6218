#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 32, local_size_y = 8) in;
BUFFER(Floats, float, 4)
PARAMETERS { layout(offset = 40) ConstFloats a; ConstFloats b; Floats c; uint side; };

void main() {
    uint x = gl_GlobalInvocationID.x, y = gl_GlobalInvocationID.y;
    if (x >= side || y >= side) return;
    float sum = 0;
    for (uint k = 0; k < side; k++) sum = fma(a.at[y * side + k], b.at[k * side + x], sum);
    c.at[y * side + x] = sum;
}

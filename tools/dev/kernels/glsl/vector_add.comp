#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Floats, float, 4)
PARAMETERS { layout(offset = 40) ConstFloats a; ConstFloats b; Floats result; uint n; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) result.at[i] = a.at[i] + b.at[i];
}

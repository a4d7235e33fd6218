#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Floats, float, 4)
PARAMETERS { layout(offset = 40) float a; ConstFloats x; Floats y; uint n; };

void main() {
    uint stride = gl_WorkGroupSize.x * gl_NumWorkGroups.x;
    for (uint i = gl_GlobalInvocationID.x; i < n; i += stride) y.at[i] = fma(a, x.at[i], y.at[i]);
}

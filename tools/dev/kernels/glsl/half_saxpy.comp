#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Halves, f16vec2, 4)
PARAMETERS { layout(offset = 40) ConstHalves x; Halves y; float factor; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    precise f16vec2 sum = float16_t(factor) * x.at[i] + y.at[i];
    y.at[i] = sum;
}

#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Floats, float, 4)
PARAMETERS { layout(offset = 40) ConstFloats source; Floats result; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = source.at[i], square = x * x, below = 15;
    [[unroll]] for (int odd = 13; odd > 0; odd -= 2) below = float(odd) - square / below;
    result.at[i] = x / below;
}

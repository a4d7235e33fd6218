#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Doubles, double, 8)
PARAMETERS { layout(offset = 40) ConstDoubles source; Doubles result; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    double x = source.at[i], square = x * x, below = 15;
    [[unroll]] for (int odd = 13; odd > 0; odd -= 2) below = double(odd) - square / below;
    result.at[i] = x / below;
}

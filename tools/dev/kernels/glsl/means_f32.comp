#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Floats, float, 4)
PARAMETERS { layout(offset = 40) ConstFloats left; ConstFloats right; Floats result; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    float a = left.at[i], b = right.at[i];
    [[unroll]] for (uint n = 0; n < 5; n++) {
        float mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    result.at[i] = a;
}

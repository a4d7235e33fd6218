#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Doubles, double, 8)
PARAMETERS { layout(offset = 40) ConstDoubles left; ConstDoubles right; Doubles result; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    double a = left.at[i], b = right.at[i];
    [[unroll]] for (uint n = 0; n < 5; n++) {
        double mean = 0.5lf * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    result.at[i] = a;
}

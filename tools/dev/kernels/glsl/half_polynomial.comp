#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Halves, f16vec2, 4)
PARAMETERS { layout(offset = 40) ConstHalves source; ConstHalves coefficients; Halves result; };

shared f16vec2 factors[64];

void main() {
    uint t = gl_LocalInvocationID.x, i = gl_GlobalInvocationID.x;
    if (t < 64) factors[t] = coefficients.at[t];
    barrier();
    f16vec2 x = source.at[i], sum = factors[0];
    [[unroll]] for (uint k = 1; k < 64; k++) sum = fma(sum, x, factors[k]);
    result.at[i] = sum;
}

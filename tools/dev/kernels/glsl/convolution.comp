#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 16, local_size_y = 16) in;
BUFFER(Floats, float, 4)
PARAMETERS { layout(offset = 40) ConstFloats source; ConstFloats weights; Floats result; int side; };

shared float tile[22][22], factors[49];

void main() {
    ivec2 first = ivec2(gl_WorkGroupID.xy) * 16, id = ivec2(gl_LocalInvocationID.xy);
    int thread = id.y * 16 + id.x;
    if (thread < 49) factors[thread] = weights.at[thread];
    for (int i = thread; i < 22 * 22; i += 256) {
        int x = first.x + i % 22 - 3, y = first.y + i / 22 - 3;
        bool inside = x >= 0 && y >= 0 && x < side && y < side;
        tile[i / 22][i % 22] = inside ? source.at[y * side + x] : 0;
    }
    barrier();
    float sum = 0;
    [[unroll]] for (int dy = 0; dy < 7; dy++) {
        [[unroll]] for (int dx = 0; dx < 7; dx++) sum = fma(tile[id.y + dy][id.x + dx], factors[dy * 7 + dx], sum);
    }
    result.at[(first.y + id.y) * side + first.x + id.x] = sum;
}

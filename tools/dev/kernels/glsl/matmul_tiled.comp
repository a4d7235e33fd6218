#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 8, local_size_y = 8) in;
BUFFER(Floats, float, 4)
PARAMETERS { layout(offset = 40) ConstFloats a; ConstFloats b; Floats c; uint m; uint n; uint k; };

shared float left[8][8], right[8][8];

void main() {
    uvec2 id = gl_LocalInvocationID.xy;
    uint column = gl_GlobalInvocationID.x, row = gl_GlobalInvocationID.y;
    float sum = 0;
    for (uint start = 0; start < k; start += 8) {
        left[id.y][id.x] = row < m && start + id.x < k ? a.at[row * k + start + id.x] : 0;
        right[id.y][id.x] = start + id.y < k && column < n ? b.at[(start + id.y) * n + column] : 0;
        barrier();
        [[unroll]] for (uint i = 0; i < 8; i++) sum = fma(left[id.y][i], right[i][id.x], sum);
        barrier();
    }
    if (row < m && column < n) c.at[row * n + column] = sum;
}

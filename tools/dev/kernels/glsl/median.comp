#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 32, local_size_y = 8) in;
BUFFER(Bytes, uint8_t, 1)
BUFFER(Pixels, u8vec4, 4)
PARAMETERS { layout(offset = 40) ConstBytes source; Pixels result; int side; };

uint middle(uint a, uint b, uint c) { return max(min(a, b), min(max(a, b), c)); }

void main() {
    int x = int(gl_GlobalInvocationID.x) * 4, y = int(gl_GlobalInvocationID.y);
    uint low[6], mid[6], high[6];
    [[unroll]] for (int i = 0; i < 6; i++) {
        int column = clamp(x + i - 1, 0, side - 1);
        uint a = source.at[max(y - 1, 0) * side + column];
        uint b = source.at[y * side + column];
        uint c = source.at[min(y + 1, side - 1) * side + column];
        low[i] = min(min(a, b), c);
        mid[i] = middle(a, b, c);
        high[i] = max(max(a, b), c);
    }
    uvec4 pixels;
    [[unroll]] for (int i = 0; i < 4; i++) {
        pixels[i] = middle(max(max(low[i], low[i + 1]), low[i + 2]), middle(mid[i], mid[i + 1], mid[i + 2]),
                           min(min(high[i], high[i + 1]), high[i + 2]));
    }
    result.at[(y * side + x) / 4] = u8vec4(pixels);
}

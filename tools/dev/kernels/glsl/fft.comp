#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Numbers, vec2, 8)
PARAMETERS { layout(offset = 40) Numbers numbers; };

const uint BLOCK = 256, COUNT = 1024;

shared vec2 exchanged[COUNT];

vec2 times(vec2 a, vec2 b) { return vec2(fma(a.x, b.x, -(a.y * b.y)), fma(a.x, b.y, a.y * b.x)); }

void main() {
    uint t = gl_LocalInvocationID.x, first = gl_WorkGroupID.x * COUNT;
    vec2 x[4];
    [[unroll]] for (uint i = 0; i < 4; i++) x[i] = numbers.at[first + t + i * BLOCK];
    [[unroll]] for (uint radix = 0; radix < 5; radix++) {
        uint done = 1 << 2 * radix, within = t % done;
        float angle = -6.2831853 / float(4 * done) * float(within);
        vec2 one = vec2(cos(angle), sin(angle)), two = times(one, one);
        x[1] = times(x[1], one);
        x[2] = times(x[2], two);
        x[3] = times(x[3], times(two, one));
        vec2 a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = x[1] - x[3];
        vec2 turned = vec2(d.y, -d.x);
        x[0] = a + c;
        x[1] = b + turned;
        x[2] = a - c;
        x[3] = b - turned;
        uint to = t / done * 4 * done + within;
        barrier();
        [[unroll]] for (uint i = 0; i < 4; i++) exchanged[to + i * done] = x[i];
        barrier();
        [[unroll]] for (uint i = 0; i < 4; i++) x[i] = exchanged[t + i * BLOCK];
    }
    [[unroll]] for (uint i = 0; i < 4; i++) numbers.at[first + t + i * BLOCK] = x[i];
}

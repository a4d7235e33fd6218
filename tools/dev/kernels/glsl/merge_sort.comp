#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Words, uint, 4)
PARAMETERS { layout(offset = 40) ConstWords source; Words result; };

const uint BLOCK = 256, KEYS = 4, COUNT = BLOCK * KEYS;

shared uint keys[COUNT];

void order(inout uint a, inout uint b) {
    uint low = min(a, b);
    b = max(a, b);
    a = low;
}

void main() {
    uint t = gl_LocalInvocationID.x, first = gl_WorkGroupID.x * COUNT;
    [[unroll]] for (uint i = 0; i < KEYS; i++) keys[i * BLOCK + t] = source.at[first + i * BLOCK + t];
    barrier();
    uint own[KEYS];
    [[unroll]] for (uint i = 0; i < KEYS; i++) own[i] = keys[t * KEYS + i];
    order(own[0], own[1]);
    order(own[2], own[3]);
    order(own[0], own[2]);
    order(own[1], own[3]);
    order(own[1], own[2]);
    for (uint run = KEYS; run < COUNT; run *= 2) {
        barrier();
        [[unroll]] for (uint i = 0; i < KEYS; i++) keys[t * KEYS + i] = own[i];
        barrier();
        uint start = t * KEYS & ~(2 * run - 1), offset = t * KEYS - start;
        uint a = start, b = start + run;
        uint low = offset > run ? offset - run : 0, high = min(offset, run);
        while (low < high) {
            uint middle = (low + high) / 2;
            if (keys[a + middle] <= keys[b + offset - 1 - middle]) low = middle + 1;
            else high = middle;
        }
        uint i = low, j = offset - low;
        [[unroll]] for (uint k = 0; k < KEYS; k++) {
            bool from_a = j >= run || (i < run && keys[a + i] <= keys[b + j]);
            own[k] = from_a ? keys[a + i++] : keys[b + j++];
        }
    }
    barrier();
    [[unroll]] for (uint i = 0; i < KEYS; i++) keys[t * KEYS + i] = own[i];
    barrier();
    [[unroll]] for (uint i = 0; i < KEYS; i++) result.at[first + i * BLOCK + t] = keys[i * BLOCK + t];
}

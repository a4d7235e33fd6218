#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 64) in;
BUFFER(Ints, int, 4)
PARAMETERS { layout(offset = 40) ConstInts source; Ints total; uint n; };

shared int partial[64];

void main() {
    uint id = gl_LocalInvocationID.x;
    int sum = 0;
    for (uint i = gl_GlobalInvocationID.x; i < n; i += 64 * gl_NumWorkGroups.x) sum += source.at[i];
    partial[id] = sum;
    barrier();
    for (uint distance = 32; distance > 0; distance /= 2) {
        if (id < distance) partial[id] += partial[id + distance];
        barrier();
    }
    if (id == 0) atomicAdd(total.at[0], partial[0]);
}

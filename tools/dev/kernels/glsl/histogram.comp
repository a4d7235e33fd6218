#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Bytes, uint8_t, 1)
BUFFER(Words, uint, 4)
PARAMETERS { layout(offset = 40) ConstBytes source; Words bins; uint n; };

shared uint local_bins[256];

void main() {
    uint t = gl_LocalInvocationID.x;
    for (uint b = t; b < 256; b += gl_WorkGroupSize.x) local_bins[b] = 0;
    barrier();
    uint stride = gl_WorkGroupSize.x * gl_NumWorkGroups.x;
    for (uint i = gl_GlobalInvocationID.x; i < n; i += stride) atomicAdd(local_bins[uint(source.at[i])], 1);
    barrier();
    for (uint b = t; b < 256; b += gl_WorkGroupSize.x) {
        uint count = local_bins[b];
        if (count != 0) atomicAdd(bins.at[b], count);
    }
}

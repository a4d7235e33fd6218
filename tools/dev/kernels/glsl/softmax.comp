#version 460
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Vectors, vec4, 16)
PARAMETERS { layout(offset = 40) ConstVectors source; Vectors result; };

shared float of_warps[8];

void main() {
    uint t = gl_LocalInvocationID.x, first = gl_WorkGroupID.x * 1024 + t;
    vec4 x[4];
    float largest = -1e30;
    [[unroll]] for (uint i = 0; i < 4; i++) {
        x[i] = source.at[first + i * 256];
        largest = max(largest, max(max(x[i].x, x[i].y), max(x[i].z, x[i].w)));
    }
    largest = subgroupMax(largest);
    if (gl_SubgroupInvocationID == 0) of_warps[gl_SubgroupID] = largest;
    barrier();
    largest = subgroupMax(of_warps[t % 8]);
    barrier();
    float sum = 0;
    [[unroll]] for (uint i = 0; i < 4; i++) {
        x[i] = exp(x[i] - largest);
        sum += x[i].x + x[i].y + x[i].z + x[i].w;
    }
    sum = subgroupAdd(sum);
    if (gl_SubgroupInvocationID == 0) of_warps[gl_SubgroupID] = sum;
    barrier();
    float scale = 1 / subgroupAdd(gl_SubgroupInvocationID < 8 ? of_warps[gl_SubgroupInvocationID] : 0);
    [[unroll]] for (uint i = 0; i < 4; i++) result.at[first + i * 256] = x[i] * scale;
}

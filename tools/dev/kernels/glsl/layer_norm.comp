#version 460
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Vectors, vec4, 16)
PARAMETERS { layout(offset = 40) ConstVectors source; ConstVectors gain; ConstVectors bias; Vectors result; };

const uint PARTS = 4;

shared float of_warps[8];

float block_sum(float value) {
    value = subgroupAdd(value);
    if (gl_SubgroupInvocationID == 0) of_warps[gl_SubgroupID] = value;
    barrier();
    value = subgroupAdd(gl_SubgroupInvocationID < 8 ? of_warps[gl_SubgroupInvocationID] : 0);
    barrier();
    return value;
}

void main() {
    uint t = gl_LocalInvocationID.x, first = gl_WorkGroupID.x * 1024 + t;
    vec4 x[PARTS];
    float sum = 0, squares = 0;
    [[unroll]] for (uint i = 0; i < PARTS; i++) {
        x[i] = source.at[first + i * 256];
        sum += x[i].x + x[i].y + x[i].z + x[i].w;
    }
    float mean = block_sum(sum) * (1.0 / 4096);
    [[unroll]] for (uint i = 0; i < PARTS; i++) {
        x[i] -= mean;
        squares = fma(x[i].x, x[i].x, fma(x[i].y, x[i].y, fma(x[i].z, x[i].z, fma(x[i].w, x[i].w, squares))));
    }
    float scale = inversesqrt(fma(block_sum(squares), 1.0 / 4096, 1e-5));
    [[unroll]] for (uint i = 0; i < PARTS; i++) {
        result.at[first + i * 256] = fma(x[i] * scale, gain.at[t + i * 256], bias.at[t + i * 256]);
    }
}

#version 460
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Words, uint, 4)
BUFFER(Facts, uvec4, 16)
PARAMETERS { layout(offset = 40) ConstWords source; Words result; Facts facts; };

void main() {
    uint thread = gl_GlobalInvocationID.x, lane = gl_SubgroupInvocationID;
    uint key = source.at[thread], sum = subgroupAdd(key), least = subgroupMin(key);
    uint even = subgroupBallot(key % 2 == 0).x, count = bitCount(even);
    if (key % 2 == 0) result.at[thread - lane + bitCount(even & gl_SubgroupLtMask.x)] = key;
    if (lane >= count) result.at[thread] = least;
    uint last = subgroupShuffle(key, even != 0 ? findMSB(even) : 0);
    if (lane == 0) facts.at[thread / 32] = uvec4(sum, count, uint(even == ~0), last);
}

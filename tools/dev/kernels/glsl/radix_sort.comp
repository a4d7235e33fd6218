#version 460
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Words, uint, 4)
PARAMETERS { layout(offset = 40) ConstWords source; Words result; Words counts; uint shift; };

const uint BLOCK = 256, WARPS = BLOCK / 32, KEYS = 4, DIGITS = 16, ROWS = WARPS * KEYS;

shared uint groups[DIGITS * ROWS], sorted[BLOCK * KEYS], warp_totals[WARPS];

void main() {
    uint t = gl_LocalInvocationID.x, lane = gl_SubgroupInvocationID, warp = gl_SubgroupID;
    uint first = gl_WorkGroupID.x * BLOCK * KEYS;
    uint keys[KEYS], ranks[KEYS];
    groups[t] = 0;
    groups[t + BLOCK] = 0;
    barrier();
    [[unroll]] for (uint i = 0; i < KEYS; i++) {
        uint group = warp * KEYS + i;
        keys[i] = source.at[first + group * 32 + lane];
        uint digit = keys[i] >> shift & (DIGITS - 1), same = ~0;
        [[unroll]] for (uint bit = 0; bit < 4; bit++) {
            bool one = (digit >> bit & 1) != 0;
            uint votes = subgroupBallot(one).x;
            same &= one ? votes : ~votes;
        }
        ranks[i] = bitCount(same & gl_SubgroupLtMask.x);
        if (ranks[i] == 0) groups[digit * ROWS + group] = bitCount(same);
    }
    barrier();
    uint low = groups[2 * t], high = groups[2 * t + 1];
    uint sum = subgroupInclusiveAdd(low + high);
    if (lane == 31) warp_totals[warp] = sum;
    barrier();
    uint before = sum - low - high;
    for (uint i = 0; i < warp; i++) before += warp_totals[i];
    groups[2 * t] = before;
    groups[2 * t + 1] = before + low;
    barrier();
    [[unroll]] for (uint i = 0; i < KEYS; i++) {
        uint digit = keys[i] >> shift & (DIGITS - 1);
        sorted[groups[digit * ROWS + warp * KEYS + i] + ranks[i]] = keys[i];
    }
    if (t < DIGITS) {
        uint end = t + 1 < DIGITS ? groups[(t + 1) * ROWS] : BLOCK * KEYS;
        counts.at[gl_WorkGroupID.x * DIGITS + t] = end - groups[t * ROWS];
    }
    barrier();
    [[unroll]] for (uint i = 0; i < KEYS; i++) result.at[first + i * BLOCK + t] = sorted[i * BLOCK + t];
}

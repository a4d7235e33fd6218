#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 128) in;
BUFFER(Vectors, vec4, 16)
PARAMETERS { layout(offset = 40) ConstVectors q; ConstVectors k; ConstVectors v; Vectors result; uint n; };

const uint PARTS = 16, TILE = 32, BLOCK = 128, GROUP = 8;

shared vec4 keys[TILE][PARTS], values[TILE][PARTS];

void main() {
    uint head = gl_WorkGroupID.y * n * PARTS;
    uint row = head + gl_GlobalInvocationID.x * PARTS;
    vec4 query[PARTS], sums[PARTS];
    [[unroll]] for (uint i = 0; i < PARTS; i++) {
        query[i] = q.at[row + i];
        sums[i] = vec4(0);
    }
    float largest = -1e30, total = 0;
    for (uint start = 0; start < n; start += TILE) {
        for (uint i = gl_LocalInvocationID.x; i < TILE * PARTS; i += BLOCK) {
            keys[i / PARTS][i % PARTS] = k.at[head + start * PARTS + i];
            values[i / PARTS][i % PARTS] = v.at[head + start * PARTS + i];
        }
        barrier();
        [[dont_unroll]] for (uint first = 0; first < TILE; first += GROUP) {
            float scores[GROUP], before = largest;
            [[unroll]] for (uint j = 0; j < GROUP; j++) {
                float score = 0;
                [[unroll]] for (uint i = 0; i < PARTS; i++) {
                    vec4 key = keys[first + j][i];
                    [[unroll]] for (uint c = 0; c < 4; c++) score = fma(query[i][c], key[c], score);
                }
                scores[j] = score * 0.125;
                largest = max(largest, scores[j]);
            }
            float scale = exp(before - largest);
            total *= scale;
            [[unroll]] for (uint i = 0; i < PARTS; i++) sums[i] *= scale;
            [[unroll]] for (uint j = 0; j < GROUP; j++) {
                float weight = exp(scores[j] - largest);
                total += weight;
                [[unroll]] for (uint i = 0; i < PARTS; i++) sums[i] = fma(vec4(weight), values[first + j][i], sums[i]);
            }
        }
        barrier();
    }
    [[unroll]] for (uint i = 0; i < PARTS; i++) result.at[row + i] = sums[i] / total;
}

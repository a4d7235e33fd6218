#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Vectors, vec4, 16)
PARAMETERS { layout(offset = 40) ConstVectors a; ConstVectors b; Vectors c; uint n; uint k; };

const uint TILE = 128, DEPTH = 8, PART = 8;

shared float columns[DEPTH][TILE];
shared vec4 rows[DEPTH][TILE / 4];

void main() {
    uint thread = gl_LocalInvocationID.x;
    uint first_row = gl_WorkGroupID.y * TILE, first_column = gl_WorkGroupID.x * TILE;
    uint a_row = thread / 2, a_column = thread % 2 * 4, b_row = thread / 32, b_column = thread % 32;
    uint row = thread / 16 * PART, column = thread % 16 * PART;
    float sums[PART][PART];
    [[unroll]] for (uint y = 0; y < PART; y++) {
        [[unroll]] for (uint x = 0; x < PART; x++) sums[y][x] = 0;
    }
    for (uint start = 0; start < k; start += DEPTH) {
        vec4 of_a = a.at[((first_row + a_row) * k + start + a_column) / 4];
        [[unroll]] for (uint i = 0; i < 4; i++) columns[a_column + i][a_row] = of_a[i];
        rows[b_row][b_column] = b.at[((start + b_row) * n + first_column) / 4 + b_column];
        barrier();
        [[unroll]] for (uint i = 0; i < DEPTH; i++) {
            float left[PART], right[PART];
            [[unroll]] for (uint j = 0; j < PART; j++) {
                left[j] = columns[i][row + j];
                right[j] = rows[i][column / 4 + j / 4][j % 4];
            }
            [[unroll]] for (uint y = 0; y < PART; y++) {
                [[unroll]] for (uint x = 0; x < PART; x++) sums[y][x] = fma(left[y], right[x], sums[y][x]);
            }
        }
        barrier();
    }
    [[unroll]] for (uint y = 0; y < PART; y++) {
        uint to = ((first_row + row + y) * n + first_column + column) / 4;
        c.at[to] = vec4(sums[y][0], sums[y][1], sums[y][2], sums[y][3]);
        c.at[to + 1] = vec4(sums[y][4], sums[y][5], sums[y][6], sums[y][7]);
    }
}

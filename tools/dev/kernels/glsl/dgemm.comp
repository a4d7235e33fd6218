#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Doubles, double, 8)
PARAMETERS { layout(offset = 40) ConstDoubles a; ConstDoubles b; Doubles c; uint side; };

const uint TILE = 64, DEPTH = 16, PART = 4;

shared double columns[DEPTH][TILE + 1], rows[DEPTH][TILE];

void main() {
    uint thread = gl_LocalInvocationID.x;
    uint first_row = gl_WorkGroupID.y * TILE, first_column = gl_WorkGroupID.x * TILE;
    uint row = thread / 16, column = thread % 16;
    double sums[PART][PART];
    [[unroll]] for (uint y = 0; y < PART; y++) {
        [[unroll]] for (uint x = 0; x < PART; x++) sums[y][x] = 0;
    }
    for (uint start = 0; start < side; start += DEPTH) {
        [[unroll]] for (uint i = 0; i < 4; i++) {
            columns[column][row + 16 * i] = a.at[(first_row + row + 16 * i) * side + start + column];
            rows[thread / 64 + 4 * i][thread % 64] = b.at[(start + thread / 64 + 4 * i) * side + first_column + thread % 64];
        }
        barrier();
        [[unroll]] for (uint k = 0; k < DEPTH; k++) {
            double left[PART], right[PART];
            [[unroll]] for (uint i = 0; i < PART; i++) {
                left[i] = columns[k][row + 16 * i];
                right[i] = rows[k][column + 16 * i];
            }
            [[unroll]] for (uint y = 0; y < PART; y++) {
                [[unroll]] for (uint x = 0; x < PART; x++) sums[y][x] = fma(left[y], right[x], sums[y][x]);
            }
        }
        barrier();
    }
    [[unroll]] for (uint y = 0; y < PART; y++) {
        [[unroll]] for (uint x = 0; x < PART; x++) c.at[(first_row + row + 16 * y) * side + first_column + column + 16 * x] = sums[y][x];
    }
}

#version 460
#extension GL_EXT_spirv_intrinsics : require
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Words, uint, 4)
BUFFER(Ints, int, 4)
PARAMETERS { layout(offset = 40) ConstWords a; ConstWords b; Ints c; uint side; };

// The sum of the products of four signed bytes: OpSDotKHR of packed vectors.
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019], id = 4450)
int dot4(uint x, uint y, spirv_literal int packed_format);

const uint TILE = 64, DEPTH = 16, PART = 4;

shared uint left[DEPTH][TILE + 1], right[DEPTH][TILE + 1];

void main() {
    uint row = gl_LocalInvocationID.x / 16, column = gl_LocalInvocationID.x % 16, words = side / 4;
    uint first_row = gl_WorkGroupID.y * TILE, first_column = gl_WorkGroupID.x * TILE;
    int sums[PART][PART];
    [[unroll]] for (uint i = 0; i < PART; i++) {
        [[unroll]] for (uint j = 0; j < PART; j++) sums[i][j] = 0;
    }
    for (uint start = 0; start < words; start += DEPTH) {
        [[unroll]] for (uint i = 0; i < 4; i++) {
            left[column][row + 16 * i] = a.at[(first_row + row + 16 * i) * words + start + column];
            right[column][row + 16 * i] = b.at[(first_column + row + 16 * i) * words + start + column];
        }
        barrier();
        [[unroll]] for (uint k = 0; k < DEPTH; k++) {
            uint x[PART], y[PART];
            [[unroll]] for (uint i = 0; i < PART; i++) {
                y[i] = left[k][row + 16 * i];
                x[i] = right[k][column + 16 * i];
            }
            [[unroll]] for (uint i = 0; i < PART; i++) {
                [[unroll]] for (uint j = 0; j < PART; j++) sums[i][j] += dot4(y[i], x[j], 0);
            }
        }
        barrier();
    }
    [[unroll]] for (uint i = 0; i < PART; i++) {
        [[unroll]] for (uint j = 0; j < PART; j++) {
            c.at[(first_row + row + 16 * i) * side + first_column + column + 16 * j] = sums[i][j];
        }
    }
}

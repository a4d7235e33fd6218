#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 128) in;
BUFFER(Bytes, uint8_t, 1)
BUFFER(Ints, int, 4)
PARAMETERS { layout(offset = 40) ConstBytes texts; ConstBytes pattern; Ints scores; uint n; };

const int LENGTH = 32, TEXT = 128, MATCH = 3, MISMATCH = -2, GAP = -4;

void main() {
    uint thread = gl_GlobalInvocationID.x;
    if (thread >= n) return;
    int row[LENGTH], best = 0;
    uint letters[LENGTH];
    [[unroll]] for (int j = 0; j < LENGTH; j++) {
        row[j] = 0;
        letters[j] = uint(pattern.at[j]);
    }
    [[dont_unroll]] for (int i = 0; i < TEXT; i++) {
        uint letter = uint(texts.at[i * n + thread]);
        int diagonal = 0, left = 0;
        [[unroll]] for (int j = 0; j < LENGTH; j++) {
            int score = diagonal + (letters[j] == letter ? MATCH : MISMATCH);
            diagonal = row[j];
            score = max(max(score, 0), max(diagonal, left) + GAP);
            row[j] = left = score;
            best = max(best, score);
        }
    }
    scores.at[thread] = best;
}

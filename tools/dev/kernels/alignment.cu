// Local alignment (Smith and Waterman): each thread scores a text of 128 letters against one pattern of 32, whose row is in
// registers.
#include "library.h"

constexpr i32 LENGTH = 32, TEXT = 128, MATCH = 3, MISMATCH = -2, GAP = -4;

static __device__ i32 larger(i32 a, i32 b) { return a > b ? a : b; }

extern "C" __global__ void alignment(const u8* __restrict texts, const u8* __restrict pattern, i32* __restrict scores, u32 n) {
    u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= n) return;
    i32 row[LENGTH] = {}, best = 0;
    u32 letters[LENGTH];
#pragma unroll
    for (i32 j = 0; j < LENGTH; j++) letters[j] = pattern[j];
#pragma unroll 1
    for (i32 i = 0; i < TEXT; i++) {
        // Texts lie side by side.
        u32 letter = texts[(u32)i * n + thread];
        i32 diagonal = 0, left = 0;
#pragma unroll
        for (i32 j = 0; j < LENGTH; j++) {
            i32 score = diagonal + (letters[j] == letter ? MATCH : MISMATCH);
            diagonal = row[j];
            score = larger(larger(score, 0), larger(diagonal, left) + GAP);
            row[j] = left = score;
            best = larger(best, score);
        }
    }
    scores[thread] = best;
}

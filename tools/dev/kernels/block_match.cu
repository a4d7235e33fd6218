// Motion search as in video codecs: for each block of 8 x 4 bytes of a picture the best of 16 displacements in another one, by the sum of
// absolute differences of four bytes at a time.
#include "library.h"

static __device__ u32 add_differences(u32 a, u32 b, u32 sum) {
    u32 result;
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
    return result;
}

// `width` is in words.
extern "C" __global__ void block_match(const u32* __restrict picture, const u32* __restrict other, u32* __restrict best, u32 width) {
    u32 x = 2 * (blockIdx.x * blockDim.x + threadIdx.x), y = 4 * (blockIdx.y * blockDim.y + threadIdx.y);
    if (x + 6 > width) return;
    u32 sums[16] = {};
#pragma unroll
    for (u32 row = 0; row < 4; row++) {
        const u32* here = picture + (y + row) * width + x;
        const u32* there = other + (y + row) * width + x;
        u32 left = here[0], right = here[1], words[6];
#pragma unroll
        for (u32 i = 0; i < 6; i++) words[i] = there[i];
#pragma unroll
        for (u32 i = 0; i < 16; i++) {
            u32 word = i / 4, shift = i % 4 * 8;
            u32 a = (u32)(((u64)words[word + 1] << 32 | words[word]) >> shift);
            u32 b = (u32)(((u64)words[word + 2] << 32 | words[word + 1]) >> shift);
            sums[i] = add_differences(right, b, add_differences(left, a, sums[i]));
        }
    }
    u32 least = 0xffffffff;
#pragma unroll
    for (u32 i = 0; i < 16; i++) least = (sums[i] << 4 | i) < least ? sums[i] << 4 | i : least;
    best[y / 4 * (width / 2) + x / 2] = least;
}

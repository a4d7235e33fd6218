// build: -O2 -Xclang -target-feature -Xclang +ptx63
// Weights of four bits that stand for the bytes of a table, by a vector of bytes, a warp for each row: `prmt` looks four of them up at once.
#include "library.h"

static __device__ u32 permute(u32 a, u32 b, u32 selector) {
    u32 result;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(selector));
    return result;
}

// The table's bytes at the lower four of some numbers of four bits. A number's highest bit chooses the half of the table; in a selector
// it would repeat a sign.
static __device__ u32 look_up(uint4 table, u32 numbers) {
    u32 low = permute(table.x, table.y, numbers & 0x7777), high = permute(table.z, table.w, numbers & 0x7777);
    return permute(low, high, 0x3210 | (numbers & 0x8888) >> 1);
}

// Eight weights of a word go by two words of `x`.
extern "C" __global__ void nibble_table(const uint4* __restrict weights, const uint4* __restrict x, i32* __restrict y, uint4 table, u32 vectors) {
    u32 row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    i32 sum = 0;
    for (u32 i = lane; i < vectors; i += 32) {
        uint4 packed = weights[row * vectors + i], left = x[2 * i], right = x[2 * i + 1];
        u32 words[4] = {packed.x, packed.y, packed.z, packed.w};
        u32 bytes[8] = {left.x, left.y, left.z, left.w, right.x, right.y, right.z, right.w};
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
            sum = dp4a(look_up(table, words[j]), bytes[2 * j], sum);
            sum = dp4a(look_up(table, words[j] >> 16), bytes[2 * j + 1], sum);
        }
    }
    for (u32 distance = 16; distance > 0; distance /= 2) sum += (i32)shfl_xor(ALL, (u32)sum, distance);
    if (lane == 0) y[row] = sum;
}

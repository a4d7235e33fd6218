// build: -O2 -Xclang -target-feature -Xclang +ptx63
// One pass of a radix sort: each block of 256 orders its 1024 keys by 4 bits, keeping the order of equal digits, and
// counts its digits.
#include "library.h"

constexpr u32 BLOCK = 256, WARPS = BLOCK / 32, KEYS = 4, DIGITS = 16, ROWS = WARPS * KEYS;

extern "C" __global__ void __launch_bounds__(BLOCK)
radix_sort(const u32* __restrict in, u32* __restrict out, u32* __restrict counts, u32 shift) {
    // How many of the digits each group of 32 keys has; groups are in the order of the keys.
    __shared__ u32 groups[DIGITS][ROWS];
    __shared__ u32 sorted[BLOCK * KEYS];
    __shared__ u32 warp_totals[WARPS];
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u32 first = blockIdx.x * BLOCK * KEYS;
    u32 keys[KEYS], ranks[KEYS];
    groups[threadIdx.x / ROWS][threadIdx.x % ROWS] = 0;
    groups[threadIdx.x / ROWS + DIGITS / 2][threadIdx.x % ROWS] = 0;
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i < KEYS; i++) {
        u32 group = warp * KEYS + i;
        keys[i] = in[first + group * 32 + lane];
        u32 digit = keys[i] >> shift & (DIGITS - 1);
        u32 same = ALL;
#pragma unroll
        for (u32 bit = 0; bit < 4; bit++) {
            bool one = digit >> bit & 1;
            u32 votes = ballot(ALL, one);
            same &= one ? votes : ~votes;
        }
        ranks[i] = popcount(same & lanes_below());
        if (ranks[i] == 0) groups[digit][group] = popcount(same);
    }
    __syncthreads();
    // An exclusive scan over all 512 counts, two for each thread.
    u32* flat = &groups[0][0];
    u32 low = flat[2 * threadIdx.x], high = flat[2 * threadIdx.x + 1];
    u32 sum = low + high;
    for (u32 distance = 1; distance < 32; distance *= 2) {
        u32 other = shfl_up(ALL, sum, distance);
        if (lane >= distance) sum += other;
    }
    if (lane == 31) warp_totals[warp] = sum;
    __syncthreads();
    u32 before = sum - low - high;
    for (u32 i = 0; i < warp; i++) before += warp_totals[i];
    flat[2 * threadIdx.x] = before;
    flat[2 * threadIdx.x + 1] = before + low;
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i < KEYS; i++) {
        u32 digit = keys[i] >> shift & (DIGITS - 1);
        sorted[groups[digit][warp * KEYS + i] + ranks[i]] = keys[i];
    }
    if (threadIdx.x < DIGITS) {
        u32 end = threadIdx.x + 1 < DIGITS ? groups[threadIdx.x + 1][0] : BLOCK * KEYS;
        counts[blockIdx.x * DIGITS + threadIdx.x] = end - groups[threadIdx.x][0];
    }
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i < KEYS; i++) out[first + i * BLOCK + threadIdx.x] = sorted[i * BLOCK + threadIdx.x];
}

// build: -O2 -Xclang -target-feature -Xclang +ptx63
// Warp operations: each warp moves the even ones of its 32 keys to the front of its part and fills the rest with the least key,
// and leaves a sum of all keys, whether all are even, and the key of the last lane that has an even one.
#include "library.h"

extern "C" __global__ void compaction(const u32* __restrict in, u32* __restrict out, uint4* __restrict facts) {
    u32 thread = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    u32 key = in[thread], sum = key, least = key;
    for (u32 distance = 16; distance > 0; distance /= 2) {
        u32 other = shfl_xor(ALL, least, distance);
        sum += shfl_xor(ALL, sum, distance);
        least = other < least ? other : least;
    }
    u32 even = ballot(ALL, key % 2 == 0);
    u32 count = popcount(even);
    if (key % 2 == 0) out[thread - lane + popcount(even & lanes_below())] = key;
    if (lane >= count) out[thread] = least;
    u32 last = shfl(ALL, key, even ? 31 - leading_zeros(even) : 0);
    if (lane == 0) facts[thread / 32] = {sum, count, (u32)(even == ALL), last};
}

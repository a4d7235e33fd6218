// Decodes a convolutional code of 64 states (171, 133 octal) by the algorithm of Viterbi: a block of 64 threads for each message keeps
// the states' costs in shared memory and writes which of its two predecessors each state has.
#include "library.h"

constexpr u32 STATES = 64;

extern "C" __global__ void __launch_bounds__(STATES) viterbi(const u8* __restrict symbols, u32* __restrict choices, u32* __restrict costs, u32 length) {
    __shared__ u32 cost[2][STATES];
    u32 state = threadIdx.x, expected = popcount(state * 2 & 0x79) % 2 * 15, second = popcount(state * 2 & 0x5b) % 2 * 15;
    cost[0][state] = state == 0 ? 0 : 1000;
    const u8* own = symbols + blockIdx.x * length;
    u32 bits = 0;
    for (u32 step = 0; step < length; step++) {
        __syncthreads();
        // A symbol has two soft bits of four bits each.
        u32 symbol = own[step], a = symbol & 15, b = symbol >> 4;
        u32 here = (a ^ expected) + (b ^ second), there = 30 - here;
        u32 low = cost[step % 2][state / 2] + here, high = cost[step % 2][state / 2 + STATES / 2] + there;
        cost[(step + 1) % 2][state] = low < high ? low : high;
        bits = bits << 1 | (u32)(high < low);
        if (step % 32 == 31) choices[(blockIdx.x * (length / 32) + step / 32) * STATES + state] = bits;
    }
    __syncthreads();
    costs[blockIdx.x * STATES + state] = cost[length % 2][state];
}

// Random numbers by a Mersenne twister of 19 words for each thread, in an array that is indexed by variables.
#include "library.h"

constexpr u32 WORDS = 19, MIDDLE = 9;

extern "C" __global__ void mersenne_twister(u32* __restrict out, u32 rounds) {
    u32 thread = blockIdx.x * blockDim.x + threadIdx.x, state[WORDS];
    state[0] = thread + 5489;
    for (u32 i = 1; i < WORDS; i++) state[i] = 1812433253u * (state[i - 1] ^ state[i - 1] >> 30) + i;
    u32 sum = 0, place = 0;
#pragma unroll 1
    for (u32 round = 0; round < rounds; round++) {
        u32 next = place + 1 == WORDS ? 0 : place + 1, middle = place + MIDDLE < WORDS ? place + MIDDLE : place + MIDDLE - WORDS;
        u32 mixed = (state[place] & 0x80000000) | (state[next] & 0x7fffffff);
        u32 word = state[middle] ^ mixed >> 1 ^ (mixed & 1 ? 0x9908b0df : 0);
        state[place] = word;
        place = next;
        word ^= word >> 11;
        word ^= word << 7 & 0x9d2c5680;
        word ^= word << 15 & 0xefc60000;
        sum += word ^ word >> 18;
    }
    out[thread] = sum;
}

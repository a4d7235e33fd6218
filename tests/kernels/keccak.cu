// SHAKE128 of one block: Keccak-f[1600], whose 24 rounds are calls of a function with loops over a local array.
#include "cuda_min.h"

constexpr int RATE = 21; // words of a block

static __device__ u64 rotate_left(u64 x, int n) { return n ? x << n | x >> (64 - n) : x; }

static __device__ __noinline__ void round(u64* state, u64 constant) {
    constexpr int ROTATIONS[25] = {0,  1,  62, 28, 27, 36, 44, 6,  55, 20, 3,  10, 43,
                                   25, 39, 41, 45, 15, 21, 8,  18, 2,  61, 56, 14};
    u64 parity[5], moved[25];
#pragma unroll 1
    for (int x = 0; x < 5; x++)
        parity[x] = state[x] ^ state[x + 5] ^ state[x + 10] ^ state[x + 15] ^ state[x + 20];
#pragma unroll 1
    for (int x = 0; x < 5; x++) {
        u64 change = parity[(x + 4) % 5] ^ rotate_left(parity[(x + 1) % 5], 1);
#pragma unroll 1
        for (int y = 0; y < 25; y += 5) state[x + y] ^= change;
    }
#pragma unroll 1
    for (int y = 0; y < 5; y++)
#pragma unroll 1
        for (int x = 0; x < 5; x++)
            moved[y + 5 * ((2 * x + 3 * y) % 5)] = rotate_left(state[x + 5 * y], ROTATIONS[x + 5 * y]);
#pragma unroll 1
    for (int y = 0; y < 25; y += 5)
#pragma unroll 1
        for (int x = 0; x < 5; x++) state[x + y] = moved[x + y] ^ (~moved[(x + 1) % 5 + y] & moved[(x + 2) % 5 + y]);
    state[0] ^= constant;
}

extern "C" __global__ void keccak(const u64* blocks, u64* outputs, u32 count) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    u64 state[25];
    for (int k = 0; k < 25; k++) state[k] = k < RATE ? blocks[RATE * i + k] : 0;
    round(state, 0x0000000000000001), round(state, 0x0000000000008082), round(state, 0x800000000000808a);
    round(state, 0x8000000080008000), round(state, 0x000000000000808b), round(state, 0x0000000080000001);
    round(state, 0x8000000080008081), round(state, 0x8000000000008009), round(state, 0x000000000000008a);
    round(state, 0x0000000000000088), round(state, 0x0000000080008009), round(state, 0x000000008000000a);
    round(state, 0x000000008000808b), round(state, 0x800000000000008b), round(state, 0x8000000000008089);
    round(state, 0x8000000000008003), round(state, 0x8000000000008002), round(state, 0x8000000000000080);
    round(state, 0x000000000000800a), round(state, 0x800000008000000a), round(state, 0x8000000080008081);
    round(state, 0x8000000000008080), round(state, 0x0000000080000001), round(state, 0x8000000080008008);
    for (int k = 0; k < RATE; k++) outputs[RATE * i + k] = state[k];
}

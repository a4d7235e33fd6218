// SHA3-256 of messages of 128 bytes: the permutation Keccak-f[1600] on 25 words of 64 bits.
#include "library.h"

static __device__ u64 rotate(u64 x, u32 by) { return by ? x << by | x >> (64 - by) : x; }

// The constant of a round, by the shift register that the standard defines.
static __device__ u64 constant(u32& bits) {
    u64 result = 0;
#pragma unroll
    for (u32 i = 0; i < 7; i++) {
        result |= (u64)(bits & 1) << ((1u << i) - 1);
        bits = bits << 1 ^ (bits & 128 ? 0x171 : 0);
    }
    return result;
}

static __device__ void keccak_f(u64* a) {
    u32 bits = 1;
#pragma unroll 1
    for (u32 round = 0; round < 24; round++) {
        u64 columns[5], moved[25];
#pragma unroll
        for (u32 x = 0; x < 5; x++) columns[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
#pragma unroll
        for (u32 x = 0; x < 5; x++) {
            u64 change = columns[(x + 4) % 5] ^ rotate(columns[(x + 1) % 5], 1);
#pragma unroll
            for (u32 y = 0; y < 5; y++) a[x + 5 * y] ^= change;
        }
        moved[0] = a[0];
        u32 x = 1, y = 0;
#pragma unroll
        for (u32 t = 0; t < 24; t++) {
            u32 to = (2 * x + 3 * y) % 5;
            moved[y + 5 * to] = rotate(a[x + 5 * y], (t + 1) * (t + 2) / 2 % 64);
            x = y;
            y = to;
        }
#pragma unroll
        for (u32 row = 0; row < 25; row += 5) {
#pragma unroll
            for (u32 x = 0; x < 5; x++) a[row + x] = moved[row + x] ^ (~moved[row + (x + 1) % 5] & moved[row + (x + 2) % 5]);
        }
        a[0] ^= constant(bits);
    }
}

// Word `i` of message `m` lies at `i * messages + m`.
extern "C" __global__ void keccak(const u64* __restrict words, u64* __restrict hashes, u32 messages) {
    u32 message = blockIdx.x * blockDim.x + threadIdx.x;
    if (message >= messages) return;
    u64 state[25] = {};
#pragma unroll
    for (u32 i = 0; i < 16; i++) state[i] = words[i * messages + message];
    state[16] = 6 | 1ull << 63;
    keccak_f(state);
#pragma unroll
    for (u32 i = 0; i < 4; i++) hashes[i * messages + message] = state[i];
}

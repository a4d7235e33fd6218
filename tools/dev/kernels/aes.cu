// AES-128 in counter mode with tables in shared memory; the round keys are given. A block of 16 bytes for each thread.
#include "library.h"

constexpr u32 BLOCK = 256;

struct Tables {
    u32 rounds[256];
    u8 substitution[256];
};

constexpr u8 twice(u8 a) { return (u8)(a << 1 ^ (a & 0x80 ? 0x1b : 0)); }

constexpr Tables make_tables() {
    Tables tables = {};
    // Powers of 3 and of its inverse run through all but zero.
    u8 p = 1, q = 1;
    do {
        p = (u8)(p ^ twice(p));
        q ^= (u8)(q << 1);
        q ^= (u8)(q << 2);
        q ^= (u8)(q << 4);
        if (q & 0x80) q ^= 0x09;
        auto rotated = [q](u32 n) { return (u8)(q << n | q >> (8 - n)); };
        tables.substitution[p] = (u8)(q ^ rotated(1) ^ rotated(2) ^ rotated(3) ^ rotated(4) ^ 0x63);
    } while (p != 1);
    tables.substitution[0] = 0x63;
    for (u32 i = 0; i < 256; i++) {
        u8 s = tables.substitution[i];
        tables.rounds[i] = (u32)twice(s) | (u32)s << 8 | (u32)s << 16 | (u32)(u8)(twice(s) ^ s) << 24;
    }
    return tables;
}

__constant__ constexpr Tables TABLES = make_tables();

static __device__ u32 rotate(u32 a, u32 n) { return a << n | a >> (32 - n); }

extern "C" __global__ void __launch_bounds__(BLOCK)
aes(const uint4* __restrict text, const u32* __restrict keys, uint4* __restrict result, uint4 counter) {
    __shared__ u32 rounds[256], last[256];
    rounds[threadIdx.x] = TABLES.rounds[threadIdx.x];
    last[threadIdx.x] = TABLES.substitution[threadIdx.x];
    __syncthreads();
    u32 at = blockIdx.x * BLOCK + threadIdx.x;
    u32 s[4] = {counter.x ^ keys[0], counter.y ^ keys[1], counter.z ^ keys[2], (counter.w + at) ^ keys[3]};
#pragma unroll
    for (u32 round = 1; round < 10; round++) {
        u32 t[4];
#pragma unroll
        for (u32 i = 0; i < 4; i++) {
            t[i] = rounds[s[i] & 255] ^ rotate(rounds[s[(i + 1) % 4] >> 8 & 255], 8) ^
                   rotate(rounds[s[(i + 2) % 4] >> 16 & 255], 16) ^ rotate(rounds[s[(i + 3) % 4] >> 24], 24) ^ keys[4 * round + i];
        }
#pragma unroll
        for (u32 i = 0; i < 4; i++) s[i] = t[i];
    }
    u32 t[4];
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
        t[i] = (last[s[i] & 255] | last[s[(i + 1) % 4] >> 8 & 255] << 8 | last[s[(i + 2) % 4] >> 16 & 255] << 16 |
                last[s[(i + 3) % 4] >> 24] << 24) ^ keys[40 + i];
    }
    uint4 from = text[at];
    result[at] = {from.x ^ t[0], from.y ^ t[1], from.z ^ t[2], from.w ^ t[3]};
}

// SHA-256 of many messages of any length, one per thread; the message schedule lives in a local array.
#include "cuda_min.h"

__constant__ u32 ROUND_CONSTANTS[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static __device__ u32 rotate_right(u32 x, u32 n) { return (x >> n) | (x << (32 - n)); }

// Byte i of the padded message: the message, 0x80, zeros, and its length in bits in the last eight bytes.
static __device__ u32 padded_byte(const u8* message, u32 length, u32 padded_length, u32 i) {
    if (i < length) return message[i];
    if (i == length) return 0x80;
    if (i < padded_length - 8) return 0;
    u64 bits = (u64)length * 8;
    return (u32)(bits >> (8 * (padded_length - 1 - i))) & 0xff;
}

extern "C" __global__ void sha256(const u8* messages, const u32* starts, u32* digests, u32 count) {
    u32 m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= count) return;
    const u8* message = messages + starts[m];
    u32 length = starts[m + 1] - starts[m];
    u32 padded_length = (length + 9 + 63) / 64 * 64;
    u32 h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (u32 start = 0; start < padded_length; start += 64) {
        u32 w[64];
#pragma unroll 1
        for (u32 i = 0; i < 16; i++) {
            u32 word = 0;
            for (u32 b = 0; b < 4; b++) word = word << 8 | padded_byte(message, length, padded_length, start + i * 4 + b);
            w[i] = word;
        }
#pragma unroll 1
        for (u32 i = 16; i < 64; i++) {
            u32 s0 = rotate_right(w[i - 15], 7) ^ rotate_right(w[i - 15], 18) ^ (w[i - 15] >> 3);
            u32 s1 = rotate_right(w[i - 2], 17) ^ rotate_right(w[i - 2], 19) ^ (w[i - 2] >> 10);
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        u32 s[8];
        for (u32 i = 0; i < 8; i++) s[i] = h[i];
#pragma unroll 1
        for (u32 i = 0; i < 64; i++) {
            u32 sum1 = rotate_right(s[4], 6) ^ rotate_right(s[4], 11) ^ rotate_right(s[4], 25);
            u32 choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
            u32 t1 = s[7] + sum1 + choice + ROUND_CONSTANTS[i] + w[i];
            u32 sum0 = rotate_right(s[0], 2) ^ rotate_right(s[0], 13) ^ rotate_right(s[0], 22);
            u32 majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
            u32 t2 = sum0 + majority;
            for (u32 j = 7; j > 0; j--) s[j] = s[j - 1];
            s[4] += t1;
            s[0] = t1 + t2;
        }
        for (u32 i = 0; i < 8; i++) h[i] += s[i];
    }
    for (u32 i = 0; i < 8; i++) digests[m * 8 + i] = h[i];
}

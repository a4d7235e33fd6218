// MD5 (RFC 1321) of messages of 128 bytes, one per thread, all steps unrolled. Word i of all messages lies together.
#include "library.h"

constexpr u32 WORDS = 32;

__constant__ constexpr u32 SINES[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
__constant__ constexpr u32 TURNS[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

__constant__ constexpr u32 FACTORS[4] = {1, 5, 3, 7}, STARTS[4] = {0, 1, 5, 0};

static __device__ u32 rotate_left(u32 x, u32 n) { return x << n | x >> (32 - n); }

static __device__ u32 mixed(u32 round, u32 b, u32 c, u32 d) {
    if (round == 0) return (b & c) | (~b & d);
    if (round == 1) return (d & b) | (~d & c);
    if (round == 2) return b ^ c ^ d;
    return c ^ (b | ~d);
}

static __device__ void add_block(u32* h, const u32* words) {
    u32 a = h[0], b = h[1], c = h[2], d = h[3];
#pragma unroll
    for (u32 i = 0; i < 64; i++) {
        u32 round = i / 16;
        u32 sum = a + mixed(round, b, c, d) + SINES[i] + words[(FACTORS[round] * i + STARTS[round]) % 16];
        a = d;
        d = c;
        c = b;
        b += rotate_left(sum, TURNS[round][i % 4]);
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
}

extern "C" __global__ void md5(const u32* __restrict messages, uint4* __restrict digests, u32 count) {
    u32 message = blockIdx.x * blockDim.x + threadIdx.x;
    if (message >= count) return;
    u32 h[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    u32 words[16];
#pragma unroll
    for (u32 block = 0; block < WORDS; block += 16) {
#pragma unroll
        for (u32 i = 0; i < 16; i++) words[i] = messages[(block + i) * count + message];
        add_block(h, words);
    }
    // The padding: a one, zeros, and the length in bits.
#pragma unroll
    for (u32 i = 0; i < 16; i++) words[i] = 0;
    words[0] = 0x80;
    words[14] = 32 * WORDS;
    add_block(h, words);
    digests[message] = {h[0], h[1], h[2], h[3]};
}

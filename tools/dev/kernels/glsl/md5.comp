#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Words, uint, 4)
BUFFER(Digests, uvec4, 16)
PARAMETERS { layout(offset = 40) ConstWords messages; Digests digests; uint count; };

const uint WORDS = 32;

const uint SINES[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
const uint TURNS[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

const uint FACTORS[4] = {1, 5, 3, 7}, STARTS[4] = {0, 1, 5, 0};

uint rotate_left(uint x, uint n) { return x << n | x >> (32 - n); }

uint mixed(uint round, uint b, uint c, uint d) {
    if (round == 0) return (b & c) | (~b & d);
    if (round == 1) return (d & b) | (~d & c);
    if (round == 2) return b ^ c ^ d;
    return c ^ (b | ~d);
}

void add_block(inout uvec4 h, uint words[16]) {
    uint a = h.x, b = h.y, c = h.z, d = h.w;
    [[unroll]] for (uint i = 0; i < 64; i++) {
        uint round = i / 16;
        uint sum = a + mixed(round, b, c, d) + SINES[i] + words[(FACTORS[round] * i + STARTS[round]) % 16];
        a = d;
        d = c;
        c = b;
        b += rotate_left(sum, TURNS[round][i % 4]);
    }
    h += uvec4(a, b, c, d);
}

void main() {
    uint message = gl_GlobalInvocationID.x;
    if (message >= count) return;
    uvec4 h = uvec4(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
    uint words[16];
    [[unroll]] for (uint block = 0; block < WORDS; block += 16) {
        [[unroll]] for (uint i = 0; i < 16; i++) words[i] = messages.at[(block + i) * count + message];
        add_block(h, words);
    }
    [[unroll]] for (uint i = 0; i < 16; i++) words[i] = 0;
    words[0] = 0x80;
    words[14] = 32 * WORDS;
    add_block(h, words);
    digests.at[message] = h;
}

// Control flow: nested loops, early returns, calls with results by reference, private arrays.
#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430) readonly buffer In { uint data[]; };
layout(buffer_reference, std430) writeonly buffer Out { uint data[]; };
layout(push_constant) uniform Push { In x; Out o; };

uint calls = 0;

uint collatz(uint n) {
    uint steps = 0;
    while (n != 1u) {
        if (steps == 200u) return 0xffffffffu;
        n = (n & 1u) == 0u ? n >> 1 : 3u * n + 1u;
        ++steps;
    }
    return steps;
}

bool divide(uint n, uint d, out uint quotient, inout uint rest) {
    ++calls;
    quotient = 0;
    if (d == 0u) return false;
    quotient = n / d;
    rest += n - quotient * d;
    return true;
}

uint sieve(uint limit) {
    bool composite[64];
    for (int i = 0; i < 64; ++i) composite[i] = i < 2;
    for (uint i = 2; i * i < limit; ++i) {
        if (composite[i]) continue;
        for (uint j = i * i; j < limit; j += i) composite[j] = true;
    }
    uint count = 0;
    for (uint i = 0; i < limit; ++i) if (!composite[i]) ++count;
    return count;
}

uint search(uint seed) {
    uint found = 0;
    for (uint i = 0; i < 16; ++i) {
        uint k = seed;
        do {
            k = k * 1664525u + 1013904223u;
            if ((k >> 28) == i) { found += i; break; }
            if ((k & 0xffu) == 7u) return found | 0x80000000u;
            for (int j = 0; ; ++j) {
                if (j == int(i)) break;
                if ((k >> j & 7u) == 5u) { ++found; continue; }
                found ^= k & 3u;
            }
        } while (k > 0x10000000u);
        if (found > 5000u) break;
    }
    return found;
}

void main() {
    uint i = gl_GlobalInvocationID.x, v = x.data[i];
    o.data[i * 6] = collatz(i + 1u);
    uint q = 0, r = 3;
    bool fine = divide(v, i % 7u, q, r) && divide(r, 3u, q, r) || !divide(1u, 0u, q, r);
    o.data[i * 6 + 1] = q + r * 16u + calls * 65536u + (fine ? 1u << 31 : 0u);
    o.data[i * 6 + 2] = sieve(v % 65u);
    o.data[i * 6 + 3] = search(v);
    if ((v & 4u) != 0u) return;
    o.data[i * 6 + 4] = 1;
    if (i > 16u) { if ((v & 8u) != 0u) return; else o.data[i * 6 + 5] = 2; }
    o.data[i * 6 + 4] = 3;
}

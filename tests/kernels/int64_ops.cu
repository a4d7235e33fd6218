// 64-bit integers: generators, high products, division and remainder, shifts.
#include "cuda_min.h"

// Marsaglia's xorshift64* and a linear congruential generator, `rounds` times, mixed.
extern "C" __global__ void int64_random(const u64* seeds, u64* out, u32 rounds, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u64 x = seeds[i], lcg = seeds[i];
    for (u32 r = 0; r < rounds; r++) {
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        lcg = lcg * 6364136223846793005ull + 1442695040888963407ull;
    }
    out[i] = (x * 2685821657736338717ull) ^ (lcg >> 7);
}

// out[6i..] = upper halves of a * b unsigned and signed, a / b and a % b unsigned and signed; b must not be 0.
extern "C" __global__ void int64_divide(const u64* a, const u64* b, u64* out, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u64 x = a[i], y = b[i];
    out[6 * i] = umul64hi(x, y);
    out[6 * i + 1] = (u64)mul64hi((i64)x, (i64)y);
    out[6 * i + 2] = x / y;
    out[6 * i + 3] = x % y;
    out[6 * i + 4] = (u64)((i64)x / (i64)y);
    out[6 * i + 5] = (u64)((i64)x % (i64)y);
}

// Shifts by amounts below 64, comparisons, minimum and maximum, widening and narrowing.
extern "C" __global__ void int64_shift(const i64* a, const u32* amount, i64* out, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    i64 x = a[i], other = a[n - 1 - i];
    u32 s = amount[i] & 63;
    out[8 * i] = x << s;
    out[8 * i + 1] = x >> s;
    out[8 * i + 2] = (i64)((u64)x >> s);
    out[8 * i + 3] = (i64)(((u64)x << s) | ((u64)x >> ((64 - s) & 63)));
    out[8 * i + 4] = x < other ? x : other;
    out[8 * i + 5] = (i64)((u64)x > (u64)other ? (u64)x : (u64)other);
    out[8 * i + 6] = (i64)(i32)x * (i64)(i32)other;
    out[8 * i + 7] = (i64)((u64)(u32)x * (u32)other);
}

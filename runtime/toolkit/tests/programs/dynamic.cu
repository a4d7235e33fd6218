// Minima and maxima for dynamic programming, against the same in 64 bits, for all kinds of numbers.
#include "check.h"
#include <algorithm>
#include <cstdint>
#include <vector>

constexpr int functions = 36, threads = 64;

__global__ void run(const unsigned *numbers, unsigned *out)
{
    int i = threadIdx.x, n = 0;
    unsigned a = numbers[i], b = numbers[i + 1], c = numbers[i + 2], *r = out + i * functions;
    bool high, low;
    r[n++] = __viaddmax_s32(a, b, c);
    r[n++] = __viaddmin_s32(a, b, c);
    r[n++] = __vimax3_s32(a, b, c);
    r[n++] = __vimin3_s32(a, b, c);
    r[n++] = __viaddmax_s32_relu(a, b, c);
    r[n++] = __viaddmin_s32_relu(a, b, c);
    r[n++] = __vimax3_s32_relu(a, b, c);
    r[n++] = __vimin3_s32_relu(a, b, c);
    r[n++] = __vimax_s32_relu(a, b);
    r[n++] = __vimin_s32_relu(a, b);
    r[n++] = __viaddmax_u32(a, b, c);
    r[n++] = __viaddmin_u32(a, b, c);
    r[n++] = __vimax3_u32(a, b, c);
    r[n++] = __vimin3_u32(a, b, c);
    r[n++] = __viaddmax_s16x2(a, b, c);
    r[n++] = __viaddmin_s16x2(a, b, c);
    r[n++] = __vimax3_s16x2(a, b, c);
    r[n++] = __vimin3_s16x2(a, b, c);
    r[n++] = __viaddmax_s16x2_relu(a, b, c);
    r[n++] = __viaddmin_s16x2_relu(a, b, c);
    r[n++] = __vimax3_s16x2_relu(a, b, c);
    r[n++] = __vimin3_s16x2_relu(a, b, c);
    r[n++] = __vimax_s16x2_relu(a, b);
    r[n++] = __vimin_s16x2_relu(a, b);
    r[n++] = __viaddmax_u16x2(a, b, c);
    r[n++] = __viaddmin_u16x2(a, b, c);
    r[n++] = __vimax3_u16x2(a, b, c);
    r[n++] = __vimin3_u16x2(a, b, c);
    r[n++] = __vibmax_s32(a, b, &low) ^ (low ? 1u : 0);
    r[n++] = __vibmin_s32(a, b, &low) ^ (low ? 1u : 0);
    r[n++] = __vibmax_u32(a, b, &low) ^ (low ? 1u : 0);
    r[n++] = __vibmin_u32(a, b, &low) ^ (low ? 1u : 0);
    r[n++] = __vibmax_s16x2(a, b, &high, &low) ^ (high ? 0x10000u : 0) ^ (low ? 1u : 0);
    r[n++] = __vibmin_s16x2(a, b, &high, &low) ^ (high ? 0x10000u : 0) ^ (low ? 1u : 0);
    r[n++] = __vibmax_u16x2(a, b, &high, &low) ^ (high ? 0x10000u : 0) ^ (low ? 1u : 0);
    r[n++] = __vibmin_u16x2(a, b, &high, &low) ^ (high ? 0x10000u : 0) ^ (low ? 1u : 0);
}

// The results for one kind of number: sums wrap.
template <class T> static std::vector<long long> expected(T a, T b, T c, bool relu)
{
    long long x = a, y = b, z = c, sum = (T)(x + y);
    std::vector<long long> all = {std::max(sum, z), std::min(sum, z), std::max({x, y, z}), std::min({x, y, z})};
    if (!relu) return all;
    for (int i = 0; i < 4; i++) all.push_back(std::max(all[i], 0ll));
    all.push_back(std::max({x, y, 0ll}));
    all.push_back(std::max(std::min(x, y), 0ll));
    return all;
}
template <class T> static std::vector<long long> chosen(T a, T b)
{
    return {std::max(a, b) ^ (a >= b ? 1 : 0), std::min(a, b) ^ (a <= b ? 1 : 0)};
}
static void add(std::vector<unsigned> &all, const std::vector<long long> &list)
{
    for (long long value : list) all.push_back((unsigned)value);
}
// Two halves of each result.
static void add_pairs(std::vector<unsigned> &all, const std::vector<long long> &high, const std::vector<long long> &low)
{
    for (size_t i = 0; i < high.size(); i++) all.push_back((unsigned)high[i] << 16 | (unsigned short)low[i]);
}

int main()
{
    const unsigned edges[] = {0, 1, 0xffffffff, 0x7fffffff, 0x80000000, 0x7fff8000, 0x80007fff, 0x8000ffff, 0xffff0001, 0x00010000};
    unsigned *numbers, *out, random = 1;
    CHECK(cudaMallocManaged(&numbers, (threads + 2) * sizeof(unsigned)));
    CHECK(cudaMallocManaged(&out, threads * functions * sizeof(unsigned)));
    for (int i = 0; i < threads + 2; i++) {
        random = random * 1664525 + 1013904223;
        numbers[i] = random >> 29 < 5 ? edges[(random >> 8) % 10] : i % 3 && i ? numbers[i - 1] ^ random >> 20 : random;
    }
    run<<<1, threads>>>(numbers, out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < threads; i++) {
        unsigned a = numbers[i], b = numbers[i + 1], c = numbers[i + 2];
        unsigned short ah = a >> 16, bh = b >> 16, ch = c >> 16, al = a, bl = b, cl = c;
        std::vector<unsigned> all;
        add(all, expected<int>(a, b, c, true));
        add(all, expected<unsigned>(a, b, c, false));
        add_pairs(all, expected<short>(ah, bh, ch, true), expected<short>(al, bl, cl, true));
        add_pairs(all, expected<unsigned short>(ah, bh, ch, false), expected<unsigned short>(al, bl, cl, false));
        add(all, chosen<int>(a, b));
        add(all, chosen<unsigned>(a, b));
        add_pairs(all, chosen<short>(ah, bh), chosen<short>(al, bl));
        add_pairs(all, chosen<unsigned short>(ah, bh), chosen<unsigned short>(al, bl));
        EXPECT(all.size() == functions);
        for (int n = 0; n < functions; n++) EXPECT(out[i * functions + n] == all[n]);
    }
    printf("right\n");
}

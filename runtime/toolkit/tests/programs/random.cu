// Random numbers: known answers, jumps, and moments of the distributions.
#include "check.h"
#include <cmath>
#include <curand_kernel.h>
#include <initializer_list>

// Random123's known answers for Philox4x32-10 (kat_vectors).
struct known {
    uint4 counter;
    uint2 key;
    uint4 answer;
};
static const known known_answers[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};
// By the papers' recurrences in exact arithmetic: the first numbers, and those after many steps, by powers of the matrix of a step over bits and
// modulo primes. The first of MRG32k3a is L'Ecuyer's 0.127011122046577.
static const unsigned int xorwow_first[] = {0x0eb70507, 0xdbf10aa0, 0x4b5ff98d, 0xe8dbae01}, xorwow_thousandth = 0x4100a45f;
static const unsigned int xorwow_jump[] = {0xc0cf4307, 0x1daea8aa, 0x40f06738};
static const unsigned int mrg_first[] = {0x2083cced, 0x518b0582, 0x4f26d051, 0xd36ab288, 0x38bcbcca};
static const unsigned int mrg_jump[] = {0x19964977, 0x34b1ce99, 0x17883d7a};

__global__ void raw(uint4 *counters, uint2 *keys, uint4 *philox, unsigned int *out)
{
    int i = threadIdx.x;
    if (i < 3) philox[i] = curand_Philox4x32_10(counters[i], keys[i]);
    if (i != 0) return;
    curandState xorwow;
    curandStateMRG32k3a mrg;
    curandStatePhilox4_32_10_t state, other;
    curand_init(0, 0, 0, &xorwow);
    curand_init(0, 0, 0, &mrg);
    for (int n = 0; n < 4; n++) out[n] = curand(&xorwow);
    for (int n = 0; n < 5; n++) out[5 + n] = curand(&mrg);
    skipahead(995, &xorwow);
    out[4] = curand(&xorwow);
    curand_init(0, 5, (1ull << 40) + 12345, &xorwow);
    for (int n = 0; n < 3; n++) out[10 + n] = curand(&xorwow);
    curand_init(0, 7, 1000003, &mrg);
    for (int n = 0; n < 3; n++) out[13 + n] = curand(&mrg);
    // Philox: the order of numbers, also by fours and after jumps.
    curand_init(0, 0, 0, &state);
    for (int n = 0; n < 4; n++) out[16 + n] = curand(&state);
    curand_init(1234, 9, 0, &state);
    curand_init(1234, 9, 6, &other);
    for (int n = 0; n < 6; n++) curand(&state);
    uint4 four = curand4(&other);
    unsigned int different = four.x != curand(&state) || four.y != curand(&state) || four.z != curand(&state) || four.w != curand(&state);
    skipahead(7, &other);
    for (int n = 0; n < 7; n++) curand(&state);
    out[20] = different || curand(&state) != curand(&other);
}

constexpr int threads = 64, draws = 64, count = threads * draws;

template <class State> __global__ void numbers(float *uniform, float *normal, float *uniform_double)
{
    State state;
    curand_init(42, threadIdx.x, 0, &state);
    for (int i = threadIdx.x; i < count; i += threads) {
        uniform[i] = curand_uniform(&state);
        normal[i] = curand_normal(&state);
        uniform_double[i] = (float)curand_uniform_double(&state);
    }
}
__global__ void poisson(float *out, double mean)
{
    curandStatePhilox4_32_10_t state;
    curand_init(42, threadIdx.x, 0, &state);
    for (int i = threadIdx.x; i < count; i += threads) out[i] = (float)curand_poisson(&state, mean);
}

// Five standard deviations of the mean; that of the variance is about a fortieth.
static void has_moments(const float *values, double mean, double variance)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < count; i++) {
        sum += values[i];
        squares += (values[i] - mean) * (values[i] - mean);
    }
    EXPECT(std::fabs(sum / count - mean) < 5 * std::sqrt(variance / count));
    EXPECT(std::fabs(squares / count / variance - 1) < 0.13);
}

template <class State> void test(float *values)
{
    numbers<State><<<1, threads>>>(values, values + count, values + 2 * count);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < count; i++) EXPECT(values[i] > 0 && values[i] <= 1 && values[2 * count + i] > 0 && values[2 * count + i] <= 1);
    has_moments(values, 0.5, 1 / 12.0);
    has_moments(values + count, 0, 1);
    has_moments(values + 2 * count, 0.5, 1 / 12.0);
}

int main()
{
    uint4 *counters, *philox;
    uint2 *keys;
    unsigned int *out;
    CHECK(cudaMallocManaged(&counters, 3 * sizeof(uint4)));
    CHECK(cudaMallocManaged(&philox, 3 * sizeof(uint4)));
    CHECK(cudaMallocManaged(&keys, 3 * sizeof(uint2)));
    CHECK(cudaMallocManaged(&out, 21 * sizeof(unsigned int)));
    for (int i = 0; i < 3; i++) counters[i] = known_answers[i].counter, keys[i] = known_answers[i].key;
    raw<<<1, 32>>>(counters, keys, philox, out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 3; i++) {
        uint4 a = philox[i], b = known_answers[i].answer;
        EXPECT(a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w);
    }
    for (int i = 0; i < 4; i++) EXPECT(out[i] == xorwow_first[i]);
    EXPECT(out[4] == xorwow_thousandth);
    for (int i = 0; i < 5; i++) EXPECT(out[5 + i] == mrg_first[i]);
    for (int i = 0; i < 3; i++) EXPECT(out[10 + i] == xorwow_jump[i]);
    for (int i = 0; i < 3; i++) EXPECT(out[13 + i] == mrg_jump[i]);
    uint4 first = known_answers[0].answer;
    EXPECT(out[16] == first.x && out[17] == first.y && out[18] == first.z && out[19] == first.w);
    EXPECT(out[20] == 0);
    float *values;
    CHECK(cudaMallocManaged(&values, 3 * count * sizeof(float)));
    test<curandState>(values);
    test<curandStateMRG32k3a_t>(values);
    test<curandStatePhilox4_32_10_t>(values);
    for (double mean : {4.5, 150.0}) {
        poisson<<<1, threads>>>(values, mean);
        CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < count; i++) EXPECT(values[i] >= 0 && values[i] == std::floor(values[i]));
        has_moments(values, mean, mean);
    }
    printf("right\n");
}

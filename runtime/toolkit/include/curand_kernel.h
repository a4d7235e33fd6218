/* Random numbers in kernels: XORWOW, MRG32k3a and Philox4x32-10 by the papers that define them, and distributions. Philox's key is the seed, and
   its counter the subsequence above and a quarter of the offset below. The states of the other two are made of the seed in a way of our own: with
   the seed 0 they begin as in the papers. */
#ifndef PTX2SPV_CURAND_KERNEL_H
#define PTX2SPV_CURAND_KERNEL_H
#include "cuda_runtime.h"

#if defined(__cplusplus) && defined(__CUDA__)
#include "crt/curand_jumps.h"

#define PTX2SPV_RANDOM static __device__ inline
/* What the methods of Box and Muller has made beyond what was asked for. */
struct ptx2spv_random_rest {
    int has_normal, has_normal_double;
    float normal;
    double normal_double;
};
struct curandStateXORWOW : ptx2spv_random_rest {
    unsigned int d, v[5];
};
struct curandStateMRG32k3a : ptx2spv_random_rest {
    unsigned int s[2][3];
};
struct curandStatePhilox4_32_10 : ptx2spv_random_rest {
    uint4 ctr, output;
    uint2 key;
    unsigned int STATE;
};
typedef curandStateXORWOW curandStateXORWOW_t, curandState_t, curandState;
typedef curandStateMRG32k3a curandStateMRG32k3a_t;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

/* Steele, Lea and Flood's SplitMix64, for words that differ in all bits for seeds that differ in one. */
PTX2SPV_RANDOM unsigned long long ptx2spv_mix(unsigned long long *state)
{
    unsigned long long z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/* XORWOW: Marsaglia, "Xorshift RNGs", 2003. */
PTX2SPV_RANDOM void ptx2spv_step(unsigned int *v)
{
    unsigned int t = v[0] ^ (v[0] >> 2);
    for (int i = 0; i < 4; i++) v[i] = v[i + 1];
    v[4] = v[4] ^ (v[4] << 4) ^ t ^ (t << 1);
}
PTX2SPV_RANDOM unsigned int curand(curandStateXORWOW *state)
{
    ptx2spv_step(state->v);
    return state->v[4] + (state->d += 362437);
}
/* `n` times the steps of the first of 64 polynomials. */
PTX2SPV_RANDOM void ptx2spv_jump(unsigned int *v, unsigned long long n, const unsigned int (*polynomials)[5])
{
    for (int bit = 0; n >> bit != 0; bit++) {
        if (!(n >> bit & 1)) continue;
        unsigned int sum[5] = {};
        for (int i = 0; i < 160; i++) {
            unsigned int take = 0u - (polynomials[bit][i / 32] >> i % 32 & 1);
            for (int word = 0; word < 5; word++) sum[word] ^= v[word] & take;
            ptx2spv_step(v);
        }
        for (int word = 0; word < 5; word++) v[word] = sum[word];
    }
}
PTX2SPV_RANDOM void skipahead(unsigned long long n, curandStateXORWOW *state)
{
    ptx2spv_jump(state->v, n, ptx2spv_xorwow_jumps);
    state->d += 362437 * (unsigned int)n;
}
/* By 2^67 numbers each, of which the counter sees nothing. */
PTX2SPV_RANDOM void skipahead_sequence(unsigned long long n, curandStateXORWOW *state)
{
    ptx2spv_jump(state->v, n, ptx2spv_xorwow_jumps + 64);
}
PTX2SPV_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset, curandStateXORWOW *state)
{
    *state = curandStateXORWOW{{}, 6615241, {123456789, 362436069, 521288629, 88675123, 5783321}};
    if (seed != 0) {
        unsigned long long a = ptx2spv_mix(&seed), b = ptx2spv_mix(&seed), c = ptx2spv_mix(&seed);
        state->d += (unsigned int)a;
        /* Not all of these can become zero. */
        state->v[0] ^= (unsigned int)(a >> 32);
        state->v[1] ^= (unsigned int)b;
        state->v[2] ^= (unsigned int)(b >> 32);
        state->v[3] ^= (unsigned int)c;
    }
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
}

/* MRG32k3a: L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number generators", 1999. */
PTX2SPV_RANDOM unsigned int ptx2spv_modulus(int part) { return part == 0 ? 4294967087u : 4294944443u; }
PTX2SPV_RANDOM unsigned int curand(curandStateMRG32k3a *state)
{
    unsigned long long m1 = 4294967087, m2 = 4294944443;
    unsigned int *a = state->s[0], *b = state->s[1];
    unsigned long long first = (1403580ull * a[1] + 810728ull * (m1 - a[0])) % m1, second = (527612ull * b[2] + 1370589ull * (m2 - b[0])) % m2;
    a[0] = a[1], a[1] = a[2], a[2] = (unsigned int)first;
    b[0] = b[1], b[1] = b[2], b[2] = (unsigned int)second;
    return (unsigned int)(first > second ? first - second : first + m1 - second);
}
/* `n` times the steps of these two matrices, which are squared for each bit. */
PTX2SPV_RANDOM void ptx2spv_jump(curandStateMRG32k3a *state, unsigned long long n, const unsigned int (*matrices)[9])
{
    for (int part = 0; part < 2; part++) {
        unsigned long long m = ptx2spv_modulus(part), matrix[9], next[9];
        for (int i = 0; i < 9; i++) matrix[i] = matrices[part][i];
        for (unsigned long long rest = n; rest != 0; rest >>= 1) {
            unsigned int *s = state->s[part];
            if (rest & 1) {
                unsigned int old[3] = {s[0], s[1], s[2]};
                for (int row = 0; row < 3; row++) {
                    unsigned long long sum = 0;
                    for (int i = 0; i < 3; i++) sum = (sum + matrix[row * 3 + i] * old[i] % m) % m;
                    s[row] = (unsigned int)sum;
                }
            }
            for (int i = 0; i < 9; i++) {
                unsigned long long sum = 0;
                for (int k = 0; k < 3; k++) sum += matrix[i / 3 * 3 + k] * matrix[k * 3 + i % 3] % m;
                next[i] = sum % m;
            }
            for (int i = 0; i < 9; i++) matrix[i] = next[i];
        }
    }
}
PTX2SPV_RANDOM void skipahead(unsigned long long n, curandStateMRG32k3a *state) { ptx2spv_jump(state, n, ptx2spv_mrg_jumps[0]); }
PTX2SPV_RANDOM void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a *state) { ptx2spv_jump(state, n, ptx2spv_mrg_jumps[1]); }
PTX2SPV_RANDOM void skipahead_sequence(unsigned long long n, curandStateMRG32k3a *state) { ptx2spv_jump(state, n, ptx2spv_mrg_jumps[2]); }
PTX2SPV_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset, curandStateMRG32k3a *state)
{
    *state = curandStateMRG32k3a{{}, {{12345, 12345, 12345}, {12345, 12345, 12345}}};
    if (seed != 0)
        for (int i = 0; i < 6; i++) state->s[i / 3][i % 3] = (unsigned int)(ptx2spv_mix(&seed) % (ptx2spv_modulus(i / 3) - 1)) + 1;
    skipahead_subsequence(subsequence, state);
    skipahead(offset, state);
}

/* Philox4x32-10: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011. */
PTX2SPV_RANDOM uint4 curand_Philox4x32_10(uint4 c, uint2 k)
{
    for (int round = 0; round < 10; round++) {
        unsigned int high0 = __umulhi(0xd2511f53, c.x), low0 = 0xd2511f53 * c.x, high1 = __umulhi(0xcd9e8d57, c.z), low1 = 0xcd9e8d57 * c.z;
        c = {high1 ^ c.y ^ k.x, low1, high0 ^ c.w ^ k.y, low0};
        k.x += 0x9e3779b9;
        k.y += 0xbb67ae85;
    }
    return c;
}
/* Adds to the lower or the upper half of the counter; carries go up. */
PTX2SPV_RANDOM void ptx2spv_count(uint4 *c, unsigned long long n, bool upper)
{
    unsigned long long low = c->x | (unsigned long long)c->y << 32, high = c->z | (unsigned long long)c->w << 32;
    if (upper) high += n;
    else if ((low += n) < n) high++;
    *c = {(unsigned int)low, (unsigned int)(low >> 32), (unsigned int)high, (unsigned int)(high >> 32)};
}
PTX2SPV_RANDOM void skipahead(unsigned long long n, curandStatePhilox4_32_10 *state)
{
    unsigned int place = state->STATE + (unsigned int)(n & 3);
    ptx2spv_count(&state->ctr, n / 4 + place / 4, false);
    state->STATE = place % 4;
    state->output = curand_Philox4x32_10(state->ctr, state->key);
}
PTX2SPV_RANDOM void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10 *state)
{
    ptx2spv_count(&state->ctr, n, true);
    state->output = curand_Philox4x32_10(state->ctr, state->key);
}
PTX2SPV_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset, curandStatePhilox4_32_10 *state)
{
    *state = curandStatePhilox4_32_10{};
    state->key = {(unsigned int)seed, (unsigned int)(seed >> 32)};
    ptx2spv_count(&state->ctr, subsequence, true);
    skipahead(offset, state);
}
PTX2SPV_RANDOM unsigned int curand(curandStatePhilox4_32_10 *state)
{
    uint4 four = state->output;
    unsigned int result = state->STATE == 0 ? four.x : state->STATE == 1 ? four.y : state->STATE == 2 ? four.z : four.w;
    if (++state->STATE == 4) {
        state->STATE = 0;
        ptx2spv_count(&state->ctr, 1, false);
        state->output = curand_Philox4x32_10(state->ctr, state->key);
    }
    return result;
}
/* The next four. */
PTX2SPV_RANDOM uint4 curand4(curandStatePhilox4_32_10 *state)
{
    uint4 a = state->output;
    ptx2spv_count(&state->ctr, 1, false);
    uint4 b = state->output = curand_Philox4x32_10(state->ctr, state->key);
    switch (state->STATE) {
    case 0: return a;
    case 1: return {a.y, a.z, a.w, b.x};
    case 2: return {a.z, a.w, b.x, b.y};
    default: return {a.w, b.x, b.y, b.z};
    }
}

/* Above 0, up to 1. */
PTX2SPV_RANDOM float ptx2spv_uniform(unsigned int x) { return x * 0x1p-32f + 0x1p-33f; }
PTX2SPV_RANDOM double ptx2spv_uniform(unsigned int x, unsigned int y)
{
    return ((unsigned long long)x ^ (unsigned long long)y << 21) * 0x1p-53 + 0x1p-54;
}
template <class State> PTX2SPV_RANDOM float curand_uniform(State *state) { return ptx2spv_uniform(curand(state)); }
template <class State> PTX2SPV_RANDOM double curand_uniform_double(State *state)
{
    unsigned int x = curand(state), y = curand(state);
    return ptx2spv_uniform(x, y);
}
/* L'Ecuyer's own: both 0 and 1 are left out. */
PTX2SPV_RANDOM double curand_uniform_double(curandStateMRG32k3a *state) { return curand(state) * (1 / 4294967088.0); }
PTX2SPV_RANDOM float4 curand_uniform4(curandStatePhilox4_32_10 *state)
{
    uint4 x = curand4(state);
    return {ptx2spv_uniform(x.x), ptx2spv_uniform(x.y), ptx2spv_uniform(x.z), ptx2spv_uniform(x.w)};
}
PTX2SPV_RANDOM double2 curand_uniform2_double(curandStatePhilox4_32_10 *state)
{
    uint4 x = curand4(state);
    return {ptx2spv_uniform(x.x, x.y), ptx2spv_uniform(x.z, x.w)};
}

/* Box and Muller, "A note on the generation of random normal deviates", 1958. */
PTX2SPV_RANDOM float2 ptx2spv_normal(float u, float v)
{
    float radius = sqrtf(-2 * logf(u)), sine, cosine;
    sincospif(2 * v, &sine, &cosine);
    return {radius * sine, radius * cosine};
}
PTX2SPV_RANDOM double2 ptx2spv_normal(double u, double v)
{
    double radius = sqrt(-2 * log(u)), sine, cosine;
    sincospi(2 * v, &sine, &cosine);
    return {radius * sine, radius * cosine};
}
template <class State> PTX2SPV_RANDOM float2 curand_normal2(State *state)
{
    float u = curand_uniform(state), v = curand_uniform(state);
    return ptx2spv_normal(u, v);
}
template <class State> PTX2SPV_RANDOM double2 curand_normal2_double(State *state)
{
    double u = curand_uniform_double(state), v = curand_uniform_double(state);
    return ptx2spv_normal(u, v);
}
/* The second of two is kept for the next call. */
template <class State> PTX2SPV_RANDOM float curand_normal(State *state)
{
    state->has_normal ^= 1;
    if (!state->has_normal) return state->normal;
    float2 two = curand_normal2(state);
    state->normal = two.y;
    return two.x;
}
template <class State> PTX2SPV_RANDOM double curand_normal_double(State *state)
{
    state->has_normal_double ^= 1;
    if (!state->has_normal_double) return state->normal_double;
    double2 two = curand_normal2_double(state);
    state->normal_double = two.y;
    return two.x;
}
PTX2SPV_RANDOM float4 curand_normal4(curandStatePhilox4_32_10 *state)
{
    float4 u = curand_uniform4(state);
    float2 a = ptx2spv_normal(u.x, u.y), b = ptx2spv_normal(u.z, u.w);
    return {a.x, a.y, b.x, b.y};
}
template <class State> PTX2SPV_RANDOM float curand_log_normal(State *state, float mean, float deviation)
{
    return expf(mean + deviation * curand_normal(state));
}
template <class State> PTX2SPV_RANDOM double curand_log_normal_double(State *state, double mean, double deviation)
{
    return exp(mean + deviation * curand_normal_double(state));
}
template <class State> PTX2SPV_RANDOM float2 curand_log_normal2(State *state, float mean, float deviation)
{
    float2 a = curand_normal2(state);
    return {expf(mean + deviation * a.x), expf(mean + deviation * a.y)};
}
template <class State> PTX2SPV_RANDOM double2 curand_log_normal2_double(State *state, double mean, double deviation)
{
    double2 a = curand_normal2_double(state);
    return {exp(mean + deviation * a.x), exp(mean + deviation * a.y)};
}
PTX2SPV_RANDOM float4 curand_log_normal4(curandStatePhilox4_32_10 *state, float mean, float deviation)
{
    float4 a = curand_normal4(state);
    return {expf(mean + deviation * a.x), expf(mean + deviation * a.y), expf(mean + deviation * a.z), expf(mean + deviation * a.w)};
}

/* Small means by Knuth's products of uniform numbers; large ones by Hörmann's transformed rejection with squeeze ("The transformed rejection
   method for generating Poisson random variables", 1993). */
template <class State> PTX2SPV_RANDOM unsigned int curand_poisson(State *state, double mean)
{
    if (!(mean > 0)) return 0;
    if (mean < 30) {
        double least = exp(-mean), product = curand_uniform_double(state);
        unsigned int count = 0;
        for (; product > least; count++) product *= curand_uniform_double(state);
        return count;
    }
    double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b, limit = 0.9277 - 3.6224 / (b - 2), inverse = 1.1239 + 1.1328 / (b - 3.4);
    for (;;) {
        double u = curand_uniform_double(state) - 0.5, v = curand_uniform_double(state), near = 0.5 - fabs(u);
        if (near <= 0) continue;
        double k = floor((2 * a / near + b) * u + mean + 0.43);
        if (near >= 0.07 && v <= limit) return (unsigned int)k;
        if (k < 0 || (near < 0.013 && v > near)) continue;
        /* The logarithm of the probability of k, by Stirling's series for its factorial. */
        double log_probability = -mean;
        if (k > 0) log_probability += k * log(mean / k) + k - 0.5 * log(6.283185307179586 * k) - (1 - 1 / (30 * k * k)) / (12 * k);
        if (log(v * inverse / (a / (near * near) + b)) <= log_probability) return (unsigned int)k;
    }
}
#undef PTX2SPV_RANDOM
#endif

#endif

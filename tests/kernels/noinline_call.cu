// Calls of functions that are not inlined: several arguments, struct arguments and returns, calls in loops and under
// divergent conditions, calls from calls.
#include "cuda_min.h"

struct Complex {
    float re, im;
};

struct Quotient {
    i64 quotient;
    i32 remainder;
    bool exact;
};

static __device__ __noinline__ Complex multiply_add(Complex a, Complex b, Complex c) {
    return {fmaf(-a.im, b.im, fmaf(a.re, b.re, c.re)), fmaf(a.im, b.re, fmaf(a.re, b.im, c.im))};
}

static __device__ __noinline__ Quotient divide(i64 a, i32 b) {
    Quotient q;
    q.quotient = a / b;
    q.remainder = (i32)(a % b);
    q.exact = q.remainder == 0;
    return q;
}

static __device__ __noinline__ u32 mix(u8 a, i16 b, u32 c, u64 d, float e) {
    return a * 3u + (u32)(i32)b + (c ^ (u32)(d >> 32)) + (u32)d + (u32)(i32)e;
}

static __device__ __noinline__ u32 collatz(u64 n) {
    u32 steps = 0;
    while (n != 1) {
        n = (n & 1) != 0 ? 3 * n + 1 : n / 2;
        steps++;
    }
    return steps;
}

static __device__ __noinline__ u32 longest_of(u64 first, u32 count) {
    u32 best = 0;
    for (u32 i = 0; i < count; i++) {
        u32 steps = collatz(first + i);
        if (steps > best) best = steps;
    }
    return best;
}

// A function without result that writes through its pointers.
static __device__ __noinline__ void store_both(u32* a, u32* b, u32 value) {
    *a = value;
    *b = ~value;
}

// z = z * z + c, `rounds` times
extern "C" __global__ void call_complex(const float2* c, float2* out, u32 rounds, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Complex z = {0.0f, 0.0f};
    Complex constant = {c[i].x, c[i].y};
    for (u32 r = 0; r < rounds; r++) z = multiply_add(z, z, constant);
    out[i] = float2{z.re, z.im};
}

extern "C" __global__ void call_divide(const i64* a, const i32* b, i64* quotients, i32* remainders, u8* exact, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || b[i] == 0) return;
    Quotient q = divide(a[i], b[i]);
    quotients[i] = q.quotient;
    remainders[i] = q.remainder;
    exact[i] = q.exact;
}

extern "C" __global__ void call_mixed(const u64* in, u32* out, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u64 x = in[i];
    u32 result;
    if ((x & 1) != 0) {
        result = mix((u8)x, (i16)(x >> 8), (u32)(x >> 24), x, (float)(i32)(x & 0xffff) - 1000.5f);
    } else {
        result = longest_of((x & 0xff) + 1, 5);
    }
    store_both(&out[2 * i], &out[2 * i + 1], result);
}

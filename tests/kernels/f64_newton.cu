// Double precision: a dot product, Newton's iteration for roots, and the correctly rounded operations.
#include "cuda_min.h"

// Each thread sums its strided share of a dot product by fma; thread 0 then adds the shares in order. One block.
extern "C" __global__ void f64_dot(const double* a, const double* b, double* result, u32 n) {
    __shared__ double shares[64];
    double sum = 0.0;
    for (u32 i = threadIdx.x; i < n; i += blockDim.x) sum = fma(a[i], b[i], sum);
    shares[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (u32 t = 1; t < blockDim.x; t++) sum += shares[t];
    *result = sum;
}

// The real root of x^3 + x = c by Newton's iteration, until it stands still or 60 steps are done.
extern "C" __global__ void f64_newton(const double* c, double* roots, u32* steps, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = c[i];
    u32 step = 0;
    for (; step < 60; step++) {
        double square = x * x;
        double next = x - fma(square, x, x - c[i]) / fma(3.0, square, 1.0);
        if (next == x) break;
        x = next;
    }
    roots[i] = x;
    steps[i] = step;
}

// out[4i..] = a + b, a * b, a / b, sqrt(a)
extern "C" __global__ void f64_basic(const double* a, const double* b, double* out, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[4 * i] = a[i] + b[i];
    out[4 * i + 1] = a[i] * b[i];
    out[4 * i + 2] = a[i] / b[i];
    out[4 * i + 3] = sqrt(a[i]);
}

// Conversions between double and float, and to and from integers (values in range).
extern "C" __global__ void f64_convert(const double* in, float* narrow, double* back, i32* truncated, i64* wide, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    narrow[i] = (float)in[i];
    truncated[i] = (i32)in[i];
    wide[i] = (i64)(in[i] * 1e6);
    back[i] = (double)truncated[i] + (double)narrow[i] + (double)(u64)wide[i];
}

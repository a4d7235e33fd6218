// Single precision: the correctly rounded operations, subnormals included, and conversions.
#include "cuda_min.h"

// out[6i..] = a + b, a - b, a * b, a / b, sqrt(a), fma(a, b, -a)
extern "C" __global__ void f32_basic(const float* a, const float* b, float* out, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i], y = b[i];
    out[6 * i] = x + y;
    out[6 * i + 1] = x - y;
    out[6 * i + 2] = x * y;
    out[6 * i + 3] = x / y;
    out[6 * i + 4] = sqrtf(x);
    out[6 * i + 5] = fmaf(x, y, -x);
}

// Polynomial by Horner's rule with fma, coefficients in constant memory.
__constant__ float COEFFICIENTS[8] = {1.0f, -0.5f, 0.33333334f, -0.25f, 0.2f, -0.16666667f, 0.14285715f, -0.125f};

extern "C" __global__ void f32_horner(const float* in, float* out, u32 terms, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i], sum = 0.0f;
    for (u32 k = terms; k > 0; k--) sum = fmaf(sum, x, COEFFICIENTS[k - 1]);
    out[i] = sum;
}

// Integers to float, float to integers (values in range, rounded towards zero), and floats by their bits.
extern "C" __global__ void f32_convert(const i32* in, const u64* wide, float* out, i32* back, u32* bits, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[3 * i] = (float)in[i];
    out[3 * i + 1] = (float)(u32)in[i];
    out[3 * i + 2] = (float)wide[i];
    back[i] = (i32)((float)(in[i] >> 8) * 0.37f);
    bits[i] = __builtin_bit_cast(u32, (float)in[i]) ^ 0x80000000u;
}

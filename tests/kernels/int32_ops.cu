// 32-bit integers: division and remainder, high products, bit counting and reversal, fields.
#include "cuda_min.h"

// out[6i..] = a / b and a % b unsigned and signed, upper half of a * b unsigned, lower half; b must not be 0.
extern "C" __global__ void int32_divide(const u32* a, const u32* b, u32* out, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u32 x = a[i], y = b[i];
    out[6 * i] = x / y;
    out[6 * i + 1] = x % y;
    out[6 * i + 2] = (u32)((i32)x / (i32)y);
    out[6 * i + 3] = (u32)((i32)x % (i32)y);
    out[6 * i + 4] = umulhi(x, y);
    out[6 * i + 5] = x * y;
}

// Division by constants, which compilers turn into high products and shifts.
extern "C" __global__ void int32_constants(const u32* a, u32* out, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[4 * i] = a[i] / 7;
    out[4 * i + 1] = a[i] % 1000;
    out[4 * i + 2] = (u32)((i32)a[i] / -5);
    out[4 * i + 3] = (u32)((i32)a[i] % 64);
}

// out[5i..] = population count, leading zeros, reversed bits, bits 5..16 signed, bytes swapped
extern "C" __global__ void int32_bits(const u32* a, u32* out, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[5 * i] = popcount(a[i]);
    out[5 * i + 1] = leading_zeros(a[i]);
    out[5 * i + 2] = reverse_bits(a[i]);
    out[5 * i + 3] = (u32)((i32)(a[i] << 15) >> 20);
    out[5 * i + 4] = __builtin_bswap32(a[i]);
}

// A polynomial of degree 64 in f16, two numbers to the word, by Horner's scheme.
#include "library.h"

extern "C" __global__ void half_polynomial(const half2* __restrict in, const half2* __restrict coefficients, half2* __restrict out) {
    __shared__ half2 shared[64];
    if (threadIdx.x < 64) shared[threadIdx.x] = coefficients[threadIdx.x];
    __syncthreads();
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    half2 x = in[i], sum = shared[0];
#pragma unroll
    for (u32 k = 1; k < 64; k++) sum = fma2(sum, x, shared[k]);
    out[i] = sum;
}

// y = a x + y, with separate rounding of the product.
extern "C" __global__ void half_saxpy(const half2* __restrict x, half2* y, float factor) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    half2 a = {(half)factor, (half)factor};
    y[i] = a * x[i] + y[i];
}

// build: -O3 --no-cuda-gpu-arch=sm_70 --cuda-gpu-arch=sm_80 -Xclang -target-feature -Xclang +ptx71
// Chains of products, which tell what the chip's matrix units do at most.
#include "matrix_units.h"

template <class Product> static __device__ void chains(typename Product::Sum *out, unsigned factor, unsigned rounds) {
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a[4] = {factor, factor, factor, factor};
    typename Product::Sum sums[8][4] = {};
#pragma unroll 1
    for (unsigned round = 0; round < rounds; round++)
#pragma unroll
        for (int i = 0; i < 8; i++) Product::add(sums[i], a, factor, factor);
    typename Product::Sum sum = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) sum += sums[i][0] + sums[i][1] + sums[i][2] + sums[i][3];
    out[at] = sum;
}

extern "C" __global__ void chain_f16(float *out, unsigned factor, unsigned rounds) { chains<F16>(out, factor, rounds); }
extern "C" __global__ void chain_tf32(float *out, unsigned factor, unsigned rounds) { chains<Tf32>(out, factor, rounds); }
extern "C" __global__ void chain_s8(int *out, unsigned factor, unsigned rounds) { chains<S8>(out, factor, rounds); }

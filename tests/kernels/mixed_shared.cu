// One block of dynamic shared memory used as several arrays of different types.
#include "cuda_min.h"

DYNAMIC_SHARED(double, memory);

// Layout for blockDim.x = b threads: b doubles, b u32, b u16, b bytes: 15 * b bytes. Launch one block.
extern "C" __global__ void mixed_shared(const double* in, double* means, u32* order, u16* halves, u8* bytes, u32 n) {
    u32 b = blockDim.x;
    u32 t = threadIdx.x;
    double* values = memory;
    u32* ranks = (u32*)(values + b);
    u16* small = (u16*)(ranks + b);
    u8* tiny = (u8*)(small + b);
    values[t] = t < n ? in[t] : 0.0;
    ranks[t] = 0;
    __syncthreads();
    u32 rank = 0;
    for (u32 k = 0; k < n; k++) rank += values[k] < values[t] || (values[k] == values[t] && k < t);
    if (t < n) ranks[rank] = t;
    small[t] = (u16)(rank * 1000);
    tiny[t] = (u8)(t * 7);
    __syncthreads();
    if (t >= n) return;
    order[t] = ranks[t];
    means[t] = (values[t] + values[n - 1 - t]) / 2.0;
    halves[t] = small[n - 1 - t];
    bytes[t] = tiny[n - 1 - t];
}

// The same words written as u32 and read as bytes and halfwords (little-endian), and the other way round.
extern "C" __global__ void aliased_shared(const u32* in, u8* bytes, u16* halves, u32* words) {
    u32 t = threadIdx.x;
    u32 b = blockDim.x;
    u32* as_words = (u32*)memory;
    as_words[t] = in[t];
    __syncthreads();
    const u8* as_bytes = (const u8*)memory;
    const u16* as_halves = (const u16*)memory;
    for (u32 k = 0; k < 4; k++) bytes[k * b + t] = as_bytes[k * b + t];
    for (u32 k = 0; k < 2; k++) halves[k * b + t] = as_halves[k * b + t];
    __syncthreads();
    for (u32 k = 0; k < 4; k++) ((u8*)memory)[4 * t + k] = (u8)(as_words[t] >> (24 - 8 * k));
    __syncthreads();
    words[t] = as_words[t];
}

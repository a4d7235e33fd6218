// Variables at module scope: constants and globals with initialisers, pointers to other variables among them, and
// globals that kernels change.
#include "cuda_min.h"

struct Entry {
    u32 key;
    u16 flags;
    i8 delta;
    double weight;
};

__constant__ Entry ENTRIES[4] = {{10, 1, -1, 0.5}, {20, 2, -2, -1.25}, {30, 0xffff, 3, 1e10}, {40, 4, 4, 0.0}};
__constant__ u8 TEXT[12] = "Hello, PTX!";

extern "C" {
__device__ u32 primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__device__ u32 counter = 1000;
__device__ u32 squares[4] = {1, 4, 9, 16};
__device__ float scale = 1.5f;
__device__ i64 big = -1234567890123456789ll;
__device__ u8 zeros[16];
// Pointers to whole variables and into the middle of them.
__device__ u32* const tables[3] = {primes, squares, primes + 4};
__device__ u32* cursor = &squares[1];
}

// out[i] = tables[which[i]][i % 4] plus constants that depend on i
extern "C" __global__ void module_tables(const u32* which, double* out, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Entry& entry = ENTRIES[i % 4];
    out[i] = (double)tables[which[i]][i % 4] + entry.weight * (double)entry.key + (double)(entry.flags + entry.delta) + (double)TEXT[i % 12];
}

// Counts threads in a global variable, and writes through the pointer variable.
extern "C" __global__ void module_update(u32* tickets_seen, i64* out, float* scaled) {
    u32 ticket = atomicAdd(&counter, 1u);
    atomicAdd(&tickets_seen[ticket - 1000], 1u);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        cursor[0] = 400;
        cursor[1] += 900;
        big = -big;
        out[0] = big;
        *scaled = scale * 3.0f;
        zeros[5] = (u8)(zeros[4] + 7);
    }
}

// Each block of 256 sorts 1024 keys: threads sort 4 each, then merge runs, each of them finding by bisection where its part
// of the merged run begins.
#include "library.h"

constexpr u32 BLOCK = 256, KEYS = 4, COUNT = BLOCK * KEYS;

static __device__ void order(u32& a, u32& b) {
    u32 low = a < b ? a : b, high = a < b ? b : a;
    a = low;
    b = high;
}

extern "C" __global__ void __launch_bounds__(BLOCK) merge_sort(const u32* __restrict in, u32* __restrict out) {
    __shared__ u32 keys[COUNT];
    u32 first = blockIdx.x * COUNT;
#pragma unroll
    for (u32 i = 0; i < KEYS; i++) keys[i * BLOCK + threadIdx.x] = in[first + i * BLOCK + threadIdx.x];
    __syncthreads();
    u32 own[KEYS];
#pragma unroll
    for (u32 i = 0; i < KEYS; i++) own[i] = keys[threadIdx.x * KEYS + i];
    order(own[0], own[1]);
    order(own[2], own[3]);
    order(own[0], own[2]);
    order(own[1], own[3]);
    order(own[1], own[2]);
    for (u32 run = KEYS; run < COUNT; run *= 2) {
        __syncthreads();
#pragma unroll
        for (u32 i = 0; i < KEYS; i++) keys[threadIdx.x * KEYS + i] = own[i];
        __syncthreads();
        u32 start = threadIdx.x * KEYS & ~(2 * run - 1);
        u32 offset = threadIdx.x * KEYS - start;
        const u32 *a = keys + start, *b = a + run;
        // How many of the part's predecessors are of the first run.
        u32 low = offset > run ? offset - run : 0, high = offset < run ? offset : run;
        while (low < high) {
            u32 middle = (low + high) / 2;
            if (a[middle] <= b[offset - 1 - middle]) low = middle + 1;
            else high = middle;
        }
        u32 i = low, j = offset - low;
#pragma unroll
        for (u32 k = 0; k < KEYS; k++) {
            bool from_a = j >= run || (i < run && a[i] <= b[j]);
            own[k] = from_a ? a[i++] : b[j++];
        }
    }
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i < KEYS; i++) keys[threadIdx.x * KEYS + i] = own[i];
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i < KEYS; i++) out[first + i * BLOCK + threadIdx.x] = keys[i * BLOCK + threadIdx.x];
}

// Sorts in one block, ascending, by Batcher's bitonic network in shared memory.
#include "cuda_min.h"

DYNAMIC_SHARED(u32, items);

// Launch one block per array of n <= size keys, with size a power of two and size * 4 bytes of dynamic shared memory.
extern "C" __global__ void bitonic_sort(u32* keys, u32 n, u32 size) {
    u32* array = keys + blockIdx.x * n;
    for (u32 i = threadIdx.x; i < size; i += blockDim.x) items[i] = i < n ? array[i] : 0xffffffffu;
    __syncthreads();
    for (u32 k = 2; k <= size; k *= 2) {
        for (u32 j = k / 2; j > 0; j /= 2) {
            for (u32 i = threadIdx.x; i < size; i += blockDim.x) {
                u32 partner = i ^ j;
                if (partner > i) {
                    u32 a = items[i], b = items[partner];
                    bool ascending = (i & k) == 0;
                    if ((a > b) == ascending) {
                        items[i] = b;
                        items[partner] = a;
                    }
                }
            }
            __syncthreads();
        }
    }
    for (u32 i = threadIdx.x; i < n; i += blockDim.x) array[i] = items[i];
}

// One compare-and-exchange step (k, j) over global memory; n is a power of two.
extern "C" __global__ void bitonic_step(i32* keys, u32 j, u32 k) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    u32 partner = i ^ j;
    if (partner <= i) return;
    i32 a = keys[i], b = keys[partner];
    if ((i & k) == 0 ? a > b : a < b) {
        keys[i] = b;
        keys[partner] = a;
    }
}

// Functions that call themselves: directly, each other, with pointers to local variables of their callers, and deep in
// divergent code.
#include "cuda_min.h"

static __device__ __noinline__ u32 fibonacci(u32 n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

static __device__ __noinline__ u32 ackermann(u32 m, u32 n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

static __device__ __noinline__ void quicksort(i32* keys, i32 low, i32 high) {
    if (low >= high) return;
    i32 pivot = keys[(low + high) / 2];
    i32 i = low, j = high;
    while (i <= j) {
        while (keys[i] < pivot) i++;
        while (keys[j] > pivot) j--;
        if (i <= j) {
            i32 key = keys[i];
            keys[i++] = keys[j];
            keys[j--] = key;
        }
    }
    quicksort(keys, low, j);
    quicksort(keys, i, high);
}

// Mutual recursion with 64-bit and floating-point values that live across the calls. `trail` points to a local array of
// the caller, and each call has its own.
static __device__ __noinline__ double descend(u64 key, u32 depth, const u32* trail);

static __device__ __noinline__ double branch(u64 key, u32 depth, const u32* trail) {
    u32 own[4] = {trail[0] + depth, trail[1] ^ (u32)key, trail[2] * 3, trail[3]};
    double left = descend(key * 6364136223846793005ull + 1, depth - 1, own);
    own[key & 3] += 5;
    double right = (key & 4) ? descend(key >> 3, depth - 1, own) : 0.5;
    return left * 0.25 + right + own[1 + depth % 3];
}

static __device__ __noinline__ double descend(u64 key, u32 depth, const u32* trail) {
    if (depth == 0) return (double)(trail[0] & 0xff) + (double)(u32)(key & 0xf);
    return branch(key ^ trail[3], depth, trail) + (double)depth;
}

extern "C" __global__ void recursion_numbers(u32* out, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u32 result = fibonacci(i % 11);
    if (i % 3 == 1) result += 1000 * ackermann(2, i % 5);
    out[i] = result;
}

extern "C" __global__ void recursion_sort(i32* keys, u32 each, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    quicksort(keys + i * each, 0, (i32)each - 1);
}

extern "C" __global__ void recursion_tree(const u64* keys, double* out, u32 depth, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u32 trail[4] = {i, i * i, 7, i & 3};
    out[i] = descend(keys[i], depth + i % 2, trail);
}

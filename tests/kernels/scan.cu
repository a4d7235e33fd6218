// Prefix sums within blocks.
#include "cuda_min.h"

constexpr u32 MAX_BLOCK = 256;

// Inclusive, by Hillis and Steele, double-buffered in shared memory; any block size up to 256.
extern "C" __global__ void scan_inclusive(const u32* in, u32* out, u32 n) {
    __shared__ u32 buffer[2][MAX_BLOCK];
    u32 t = threadIdx.x;
    u32 i = blockIdx.x * blockDim.x + t;
    u32 current = 0;
    buffer[0][t] = i < n ? in[i] : 0;
    __syncthreads();
    for (u32 distance = 1; distance < blockDim.x; distance *= 2) {
        u32 value = buffer[current][t];
        if (t >= distance) value += buffer[current][t - distance];
        buffer[1 - current][t] = value;
        current = 1 - current;
        __syncthreads();
    }
    if (i < n) out[i] = buffer[current][t];
}

// Exclusive, by Blelloch's up- and down-sweep over 2 * blockDim.x elements; the block size is a power of two.
extern "C" __global__ void scan_exclusive(const float* in, float* out, u32 n) {
    __shared__ float tree[2 * MAX_BLOCK];
    u32 t = threadIdx.x;
    u32 size = 2 * blockDim.x;
    u32 base = blockIdx.x * size;
    for (u32 j = t; j < size; j += blockDim.x) tree[j] = base + j < n ? in[base + j] : 0.0f;
    u32 offset = 1;
    for (u32 d = size / 2; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) tree[size - 1] = 0.0f;
    for (u32 d = 1; d < size; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < d) {
            u32 left = offset * (2 * t + 1) - 1;
            u32 right = offset * (2 * t + 2) - 1;
            float saved = tree[left];
            tree[left] = tree[right];
            tree[right] += saved;
        }
    }
    __syncthreads();
    for (u32 j = t; j < size; j += blockDim.x) {
        if (base + j < n) out[base + j] = tree[j];
    }
}

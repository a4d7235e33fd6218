// Merges two sorted arrays in device memory: each thread finds by bisection where its eight results begin.
#include "library.h"

extern "C" __global__ void merge_path(const u32* __restrict a, const u32* __restrict b, u32* __restrict out, u32 a_count, u32 b_count) {
    u32 first = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first >= a_count + b_count) return;
    u32 low = first > b_count ? first - b_count : 0, high = first < a_count ? first : a_count;
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (a[middle] <= b[first - 1 - middle]) low = middle + 1;
        else high = middle;
    }
    u32 i = low, j = first - low;
#pragma unroll
    for (u32 k = 0; k < 8 && first + k < a_count + b_count; k++) {
        bool from_a = j >= b_count || (i < a_count && a[i] <= b[j]);
        out[first + k] = from_a ? a[i++] : b[j++];
    }
}

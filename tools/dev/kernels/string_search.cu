// Counts the occurrences of a pattern of 8 bytes in a text, exact or with one byte different. Each thread looks at 16
// places.
#include "library.h"

extern "C" __global__ void string_search(const uint4* __restrict text, u32* counts, u32 low, u32 high, u32 groups) {
    u32 group = blockIdx.x * blockDim.x + threadIdx.x;
    if (group + 1 >= groups) return;
    uint4 here = text[group], next = text[group + 1];
    u32 words[6] = {here.x, here.y, here.z, here.w, next.x, next.y};
    u32 whole = 0, nearly = 0;
#pragma unroll
    for (u32 i = 0; i < 16; i++) {
        u32 word = i / 4, shift = i % 4 * 8;
        u32 a = (u32)(((u64)words[word + 1] << 32 | words[word]) >> shift) ^ low;
        u32 b = (u32)(((u64)words[word + 2 < 6 ? word + 2 : 5] << 32 | words[word + 1]) >> shift) ^ high;
        u32 wrong = 0;
#pragma unroll
        for (u32 byte = 0; byte < 32; byte += 8) wrong += (u32)((a >> byte & 255) != 0) + (u32)((b >> byte & 255) != 0);
        whole += wrong == 0;
        nearly += wrong == 1;
    }
    if (whole) atomicAdd(&counts[0], whole);
    if (nearly) atomicAdd(&counts[1], nearly);
}

// Median of 3 x 3 bytes by a sorting network, four pixels of a row for each thread. Columns at the margin repeat.
#include "library.h"

static __device__ u32 least(u32 a, u32 b) { return a < b ? a : b; }
static __device__ u32 greatest(u32 a, u32 b) { return a < b ? b : a; }
static __device__ u32 middle(u32 a, u32 b, u32 c) { return greatest(least(a, b), least(greatest(a, b), c)); }

extern "C" __global__ void median(const u8* __restrict in, uchar4* __restrict out, i32 side) {
    i32 x = (i32)(blockIdx.x * blockDim.x + threadIdx.x) * 4, y = (i32)(blockIdx.y * blockDim.y + threadIdx.y);
    u32 low[6], mid[6], high[6];
#pragma unroll
    for (i32 i = 0; i < 6; i++) {
        i32 column = x + i - 1 < 0 ? 0 : x + i - 1 >= side ? side - 1 : x + i - 1;
        u32 a = in[(y > 0 ? y - 1 : 0) * side + column];
        u32 b = in[y * side + column];
        u32 c = in[(y + 1 < side ? y + 1 : y) * side + column];
        low[i] = least(least(a, b), c);
        mid[i] = middle(a, b, c);
        high[i] = greatest(greatest(a, b), c);
    }
    u8 result[4];
#pragma unroll
    for (i32 i = 0; i < 4; i++) {
        result[i] = (u8)middle(greatest(greatest(low[i], low[i + 1]), low[i + 2]), middle(mid[i], mid[i + 1], mid[i + 2]),
                               least(least(high[i], high[i + 1]), high[i + 2]));
    }
    out[(y * side + x) / 4] = {result[0], result[1], result[2], result[3]};
}

// Structs by value as kernel parameters, small and larger than 128 bytes, read with static and dynamic index.
#include "cuda_min.h"

struct Small {
    u8 shift;
    i16 bias;
    u32 factor;
    u64 offset;
};

struct Large {
    u32 count;       // offset 0
    float scale;     // 4
    double origin;   // 8
    u32 table[40];   // 16
    i8 signs[12];    // 176
    u16 tail;        // 188
    u64 last;        // 192
};

static_assert(sizeof(Small) == 16 && sizeof(Large) == 200, "the cases rely on this layout");

extern "C" __global__ void struct_small(Small s, const u32* in, u64* out, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = s.offset + (u64)(in[i] >> s.shift) * s.factor + (u64)(i64)s.bias;
}

extern "C" __global__ void struct_large(Large s, u64* out, double* positions) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= s.count) return;
    // The table is read with an index known at run time only.
    i64 sign = s.signs[i % 12];
    out[i] = (u64)(sign * (i64)s.table[i % 40]) + s.tail + s.last;
    positions[i] = s.origin + (double)(s.scale * (float)i);
}

// The callee changes its own copy only.
extern "C" __global__ void struct_modified(Large s, u32* out, u32 rounds) {
    u32 t = threadIdx.x;
    for (u32 r = 0; r < rounds; r++) s.table[(t + r) % 40] += s.table[(t * 7 + r) % 40] + t;
    u32 sum = 0;
    for (u32 k = 0; k < 40; k++) sum = sum * 31 + s.table[k];
    out[t] = sum;
}

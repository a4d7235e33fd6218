// Narrow types and local arrays with dynamic indices: each thread sorts its own few elements.
#include "cuda_min.h"

constexpr u32 MOST = 24;

// Each thread sorts `count` (at most 24) signed 16-bit keys in a local array, and ranks them in a local array of bytes.
extern "C" __global__ void insertion_sort(const i16* in, i16* out, u8* ranks, u32 count, u32 n) {
    u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= n) return;
    i16 keys[MOST];
    u8 origin[MOST];
    for (u32 i = 0; i < count; i++) {
        i16 key = in[thread * count + i];
        u32 place = i;
        while (place > 0 && keys[place - 1] > key) {
            keys[place] = keys[place - 1];
            origin[place] = origin[place - 1];
            place--;
        }
        keys[place] = key;
        origin[place] = (u8)i;
    }
    for (u32 i = 0; i < count; i++) {
        out[thread * count + i] = keys[i];
        ranks[thread * count + origin[i]] = (u8)i;
    }
}

// Byte and halfword arithmetic with wrap-around: sums, differences, sign and zero extension, narrowing stores.
extern "C" __global__ void narrow_arithmetic(const u8* a, const i8* b, u8* sums, i8* differences, u16* products, i32* mixed, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    sums[i] = (u8)(a[i] + (u8)b[i]);
    differences[i] = (i8)(b[i] - (i8)a[i]);
    products[i] = (u16)(a[i] * (u8)b[i] * 3);
    mixed[i] = (i32)b[i] * 1000 + (i32)a[i] - (i32)(i16)(a[i] << 8);
}

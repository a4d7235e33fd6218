// Control flow with several ways out: threads that return before barriers the others pass, loops left from the middle,
// labelled exits out of nested loops.
#include "cuda_min.h"

// Threads past n return at once; the rest go through a barrier per round. Each adds its neighbour, cyclically. One block.
extern "C" __global__ void exit_before_barrier(const u32* in, u32* out, u32 rounds, u32 n) {
    __shared__ u32 ring[256];
    u32 t = threadIdx.x;
    if (t >= n) return;
    u32 value = in[t];
    for (u32 r = 0; r < rounds; r++) {
        ring[t] = value;
        __syncthreads();
        value = value * 3 + ring[t + 1 == n ? 0 : t + 1];
        __syncthreads();
    }
    out[t] = value;
}

// The first index in the thread's row that holds a zero (found = 1) or, before it, a value above the limit (found = 2).
extern "C" __global__ void exit_search(const u32* rows, u32 width, u32 limit, u32* index, u32* found, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const u32* row = rows + i * width;
    u32 k = 0;
    u32 how = 0;
    for (;; k++) {
        if (k == width) break;
        if (row[k] == 0) {
            how = 1;
            break;
        }
        if (row[k] > limit) {
            how = 2;
            break;
        }
        if ((row[k] & 1) != 0) continue;
        if (row[k] == limit) return;  // leaves this thread's outputs as they were
    }
    index[i] = k;
    found[i] = how;
}

// Smallest (a, b) with a * a + b * b == target, a <= b, by nested loops left with goto; a = b = 0xffffffff for none.
extern "C" __global__ void exit_nested(const u32* targets, u32* a_out, u32* b_out, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u32 target = targets[i];
    u32 a, b;
    for (a = 0; a * a <= target; a++) {
        for (b = a; a * a + b * b <= target; b++) {
            if (a * a + b * b == target) goto found;
        }
    }
    a = b = 0xffffffffu;
found:
    a_out[i] = a;
    b_out[i] = b;
}

// A loop with two entries (irreducible control flow): odd seeds jump into its middle.
extern "C" __global__ void exit_irreducible(const u32* seeds, u32* out, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u32 x = seeds[i], steps = 0;
    if ((x & 1) != 0) goto middle;
top:
    x = x * 5 + 1;
    steps++;
    if (steps > 40) goto done;
    if ((x & 6) == 2) goto done;
middle:
    x ^= x >> 3;
    steps += 2;
    if (x % 7 != 0) goto top;
done:
    out[i] = x + steps;
}

// Generic addresses: pointers that may be to shared, global, local or constant memory, chosen at run time.
#include "cuda_min.h"

__constant__ u32 STEPS[4] = {1, 10, 100, 1000};

static __device__ __noinline__ u32 sum_of(const u32* values, u32 count) {
    u32 sum = 0;
    for (u32 k = 0; k < count; k++) sum = sum * 3 + values[k];
    return sum;
}

static __device__ __noinline__ void reverse(u32* values, u32 count) {
    for (u32 k = 0; k < count / 2; k++) {
        u32 saved = values[k];
        values[k] = values[count - 1 - k];
        values[count - 1 - k] = saved;
    }
}

// where[t] says in which memory thread t works: 0 shared, 1 global, 2 local, 3 constant (read only). Blocks of 32.
extern "C" __global__ void generic_choice(const u32* in, const u32* where, u32* scratch, u32* out) {
    __shared__ u32 shared[32 * 4];
    u32 local[4];
    u32 t = threadIdx.x;
    u32 i = blockIdx.x * 32 + t;
    for (u32 k = 0; k < 4; k++) {
        shared[4 * t + k] = in[i] + k;
        scratch[4 * i + k] = in[i] ^ k;
        local[k] = in[i] - k * k;
    }
    __syncthreads();
    u32* mine = where[i] == 0 ? shared + 4 * t : where[i] == 1 ? scratch + 4 * i : local;
    if (where[i] != 3) reverse(mine, 4);
    const u32* read = where[i] == 3 ? STEPS : mine;
    out[i] = sum_of(read, 4);
    __syncthreads();
    // The shared words of another thread.
    out[gridDim.x * 32 + i] = sum_of(&shared[4 * (31 - t)], 4);
}

// Atomics and stores through pointers of either kind: even threads to shared, odd ones to global memory. Blocks of 32.
extern "C" __global__ void generic_atomics(const u32* in, u32* totals) {
    __shared__ u32 shared_total[2];
    __shared__ u64 wide;
    u32 t = threadIdx.x;
    if (t < 2) shared_total[t] = 0;
    if (t == 0) wide = 5;
    __syncthreads();
    u32* target = (in[t] & 1) == 0 ? shared_total : totals;
    atomicAdd(&target[0], in[t]);
    atomicMax(&target[1], in[t]);
    atomicAdd(&wide, (u64)in[t] << 16);
    __syncthreads();
    if (t < 2) totals[2 + t] = shared_total[t];
    if (t == 0) *(u64*)&totals[4] = wide;
}

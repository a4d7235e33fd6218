// build: -O2 -Xclang -target-feature -Xclang +ptx63
// Threads search for numbers with a small hash, each in as many rounds as it takes, and then wait for others: at barriers that stand in several
// places, at operations of a warp, for locks and flags, for the whole grid. Some return instead.
#include "cuda_min.h"

static __device__ u32 hash(u32 x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

// How many numbers of a sequence come before the first whose hash is below the limit.
static __device__ u32 search(u32 start, u32 limit) {
    u32 n = 0;
    while (hash(start + n * 0x9e3779b9u) >= limit) n++;
    return n;
}

// A barrier in each arm.
extern "C" __global__ void two_barriers(u32* out, u32 limit) {
    __shared__ u32 found[64];
    u32 t = threadIdx.x;
    if (t < 32) {
        found[t] = search(t, limit);
        __syncthreads();
        out[t] = found[63 - t];
    } else {
        found[t] = search(t * 3, limit);
        __syncthreads();
        out[t] = found[63 - t] + 1;
    }
}

// Each warp has a barrier.
extern "C" __global__ void named_barriers(u32* out, u32 limit) {
    __shared__ u32 found[64];
    u32 t = threadIdx.x;
    found[t] = search(t, limit);
    if (t < 32) {
        asm volatile("bar.sync 1, 32;" ::: "memory");
    } else {
        asm volatile("bar.sync 2, 32;" ::: "memory");
    }
    out[t] = found[t ^ 31];
}

// Threads that find nothing return from the loop. The others have arrays of their own.
extern "C" __global__ void returns(u32* out, u32 limit, u32 most) {
    __shared__ u32 sum;
    u32 t = threadIdx.x, own[8];
    for (u32 i = 0; i < 8; i++) own[i] = hash(8 * t + i);
    if (t == 0) sum = 0;
    __syncthreads();
    u32 n = 0;
    while (hash(t + n * 0x9e3779b9u) >= limit) {
        if (++n > most) {
            out[t] = 7;
            return;
        }
        own[n & 7] += n;
    }
    atomicAdd(&sum, n);
    __syncthreads();
    out[t] = sum + own[sum & 7];
}

// Both arms have the same operation of the warp.
extern "C" __global__ void two_shuffles(u32* out, u32 limit) {
    u32 t = threadIdx.x, n;
    if (t & 1) {
        n = search(t, limit);
        n = 3 * n + shfl_xor(0xffffffffu, n, 1);
    } else {
        n = search(7 * t, limit);
        n = 5 * n + shfl_xor(0xffffffffu, n, 1);
    }
    out[t] = n;
}

// Lanes leave one by one, and those that stay search and take what the highest of them has found.
extern "C" __global__ void leave_one_by_one(u32* out, u32 limit) {
    u32 t = threadIdx.x, lane = t & 31, mask = 0xffffffffu, sum = 0;
    for (u32 i = 0;; i++) {
        bool stays = i <= lane % 5;
        mask = ballot(mask, stays);
        if (!stays) break;
        sum += shfl(mask, search(sum + t, limit), 31 - leading_zeros(mask));
    }
    out[t] = sum;
}

// Those that have found something go on without the others.
extern "C" __global__ void return_and_shuffle(u32* out, u32 limit, u32 most) {
    u32 t = threadIdx.x, n = search(t, limit), sum = 0;
    u32 mask = ballot(0xffffffffu, n <= most);
    if (n > most) {
        out[t] = 7;
        return;
    }
    n = search(n, limit);
    for (u32 lane = 0; lane < 32; lane++) {
        if (mask >> lane & 1) sum += shfl(mask, n, lane);
    }
    out[t] = sum;
}

// A search by whoever has the lock.
extern "C" __global__ void locked(u32* sum, u32* lock, u32 limit) {
    u32 t = blockIdx.x * blockDim.x + threadIdx.x;
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0u, 1u) == 0) {
            __threadfence();
            *(volatile u32*)sum = *(volatile u32*)sum + search(t, limit);
            __threadfence();
            atomicExch(lock, 0u);
            done = true;
        }
    }
}

// Each thread waits for the one before.
extern "C" __global__ void in_turn(u32* out, u32 limit) {
    __shared__ volatile u32 turn;
    u32 t = threadIdx.x;
    if (t == 0) turn = 0;
    __syncthreads();
    u32 n = search(t, limit);
    while (turn != t) {}
    __threadfence();
    ((volatile u32*)out)[t] = n + (t ? ((volatile u32*)out)[t - 1] : 0);
    __threadfence();
    turn = t + 1;
}

// Each block waits for the one before.
extern "C" __global__ void blocks_in_turn(u32* out, u32* flags, u32 limit) {
    __shared__ u32 found[64];
    u32 t = threadIdx.x, b = blockIdx.x;
    found[t] = search(64 * b + t, limit);
    __syncthreads();
    if (t == 0) {
        u32 sum = 0;
        for (u32 i = 0; i < 64; i++) sum += found[i];
        if (b) {
            while (((volatile u32*)flags)[b - 1] == 0) {}
            __threadfence();
            sum += ((volatile u32*)out)[b - 1];
        }
        out[b] = sum;
        __threadfence();
        ((volatile u32*)flags)[b] = 1;
    }
}

// Waits for all threads of the grid, which count their blocks.
static __device__ void meet(u32* count) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1u);
        while (*(volatile u32*)count < gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
}

// All blocks wait for each other between two searches. For cooperative launches.
extern "C" __global__ void whole_grid(u32* sums, u32* out, u32* count, u32 limit) {
    u32 t = threadIdx.x, b = blockIdx.x;
    atomicAdd(sums + b, search(64 * b + t, limit));
    meet(count);
    out[64 * b + t] = search(((volatile u32*)sums)[(b + 1) % gridDim.x] + t, limit);
}

// The same with sums of warps, whose threads need not be in step before the loop that waits.
extern "C" __global__ void whole_grid_of_warps(u32* sums, u32* out, u32* count, u32 limit) {
    u32 t = threadIdx.x, b = blockIdx.x, sum = search(64 * b + t, limit);
    for (u32 i = 16; i > 0; i /= 2) sum += shfl_xor(0xffffffffu, sum, i);
    if (t % 32 == 0) atomicAdd(sums + b, sum);
    meet(count);
    out[64 * b + t] = search(((volatile u32*)sums)[(b + 1) % gridDim.x] + t, limit);
}

// Blocks count in turn, all in one loop. For cooperative launches.
extern "C" __global__ void count_in_turn(u32* count, u32 limit) {
    volatile u32* at = count;
    u32 seen;
    while ((seen = *at) < limit)
        if (seen % gridDim.x == blockIdx.x) *at = seen + 1;
}

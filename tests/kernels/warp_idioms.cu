// build: -O2 -Xclang -target-feature -Xclang +ptx63
// What CUDA programs do with warps: reductions and scans by shuffles, compaction by ballots, aggregated atomics, a sorting
// network, divergent loops. Blocks have any number of threads; each kernel says where it needs whole warps.
#include "cuda_min.h"

#define FULL 0xffffffffu

static __device__ float warp_sum(float v) {
    for (u32 d = 16; d > 0; d /= 2) v += shfl_down(FULL, v, d);
    return v;
}

// The block's sum: warps by shuffles, then the first warp over their sums. Whole warps.
extern "C" __global__ void block_sum(const float* in, float* sums, u32 n) {
    __shared__ float partial[32];
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float v = warp_sum(i < n ? in[i] : 0.0f);
    if (lane == 0) partial[warp] = v;
    __syncthreads();
    if (warp == 0) {
        v = lane < blockDim.x / 32 ? partial[lane] : 0.0f;
        v = warp_sum(v);
        if (lane == 0) sums[blockIdx.x] = v;
    }
}

// Sums of all elements up to each, warp by warp.
extern "C" __global__ void warp_scan(const u32* in, u32* out, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    u32 v = i < n ? in[i] : 0;
    u32 lane = lane_id();
    for (u32 d = 1; d < 32; d *= 2) {
        u32 below = shfl_up(FULL, v, d);
        if (lane >= d) v += below;
    }
    if (i < n) out[i] = v;
}

// Keeps the even elements, in their order, each warp in its own slice of the output.
extern "C" __global__ void compact(const u32* in, u32* out, u32* counts, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u32 v = in[i];
    bool keep = v % 2 == 0;
    u32 kept = ballot(active_mask(), keep);
    if (keep) out[i / 32 * 32 + popcount(kept & lanes_below())] = v;
    if (lane_id() == 0) counts[i / 32] = popcount(kept);
}

// Counts the multiples of three with one atomic per warp, and remembers for each thread what the counter was.
extern "C" __global__ void aggregate(const u32* in, u32* counter, u32* elected, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u32 won = 7;
    if (in[i] % 3 == 0) {
        u32 active = active_mask();
        u32 leader = leading_zeros(reverse_bits(active));
        u32 before = 0;
        if (lane_id() == leader) before = atomicAdd(counter, popcount(active));
        before = shfl(active, before, leader);
        won = before < n && popcount(active) > 0 ? lane_id() == leader : 9;
    }
    elected[i] = won;
}

// Sorts the elements of each warp. Whole warps.
extern "C" __global__ void warp_sort(const u32* in, u32* out) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    u32 lane = lane_id();
    u32 v = in[i];
    for (u32 size = 2; size <= 32; size *= 2) {
        for (u32 d = size / 2; d > 0; d /= 2) {
            u32 other = shfl_xor(FULL, v, d);
            bool up = (lane & size) == 0, lower = (lane & d) == 0;
            v = (v < other) == (up == lower) ? v : other;
        }
    }
    out[i] = v;
}

// Each thread takes its own number of rounds; those that are left add up what the lowest of them has.
extern "C" __global__ void leaving(const u32* rounds, u32* out, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    u32 left = i < n ? rounds[i] : 0;
    u32 sum = 0, mask = FULL;
    while ((mask = ballot(mask, left > 0)) && left > 0) {
        u32 lowest = leading_zeros(reverse_bits(mask));
        sum += shfl(mask, i * 10 + left, lowest) + popcount(mask);
        left--;
    }
    warp_sync(FULL);
    if (i < n) out[i] = sum;
}

// Sums rows of a matrix, a warp for each, with segments of 8 lanes for short rows.
extern "C" __global__ void rows(const i32* in, i32* out, u32 count, u32 width) {
    u32 row = (blockIdx.x * blockDim.x + threadIdx.x) / 8;
    if (row >= count) return;
    i32 sum = 0;
    for (u32 k = threadIdx.x % 8; k < width; k += 8) sum += in[row * width + k];
    u32 mask = 0xffu << (lane_id() & 24);
    for (u32 d = 4; d > 0; d /= 2) sum += (i32)shfl_down8(mask, (u32)sum, d);
    if (threadIdx.x % 8 == 0) out[row] = sum;
}

// Reverses the words of a warp through shared memory, and again through local arrays. Whole warps, up to 4.
extern "C" __global__ void exchange(const u32* in, u32* out) {
    __shared__ u32 words[128];
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    u32 first = threadIdx.x & ~31u, lane = lane_id();
    u32 own[4];
    for (u32 k = 0; k < 4; k++) own[k] = in[i] * (k + 1);
    words[threadIdx.x] = in[i];
    warp_sync(FULL);
    u32 v = words[first + 31 - lane];
    warp_sync(FULL);
    words[threadIdx.x] = v + own[v & 3];
    warp_sync(FULL);
    out[i] = words[first + (lane ^ 3)] + (all(FULL, v != 5) ? own[lane & 3] : 0);
}

// A tree in shared memory whose last steps are one warp's, as it was written before warps could diverge anywhere, with
// the waiting that is needed since.
extern "C" __global__ void old_tree(const u32* in, u32* sums) {
    __shared__ u32 scratch[128];
    volatile u32* s = scratch;
    u32 t = threadIdx.x;
    s[t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    if (t < 64) s[t] = s[t] + s[t + 64];
    __syncthreads();
    if (t < 32) {
        for (u32 d = 32; d > 0; d /= 2) {
            u32 v = s[t] + s[t + d];
            warp_sync(FULL);
            s[t] = v;
            warp_sync(FULL);
        }
    }
    if (t == 0) sums[blockIdx.x] = s[0];
}

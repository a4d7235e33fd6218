// build: -O2 --no-cuda-gpu-arch=sm_70 --cuda-gpu-arch=sm_90 -Xclang -target-feature -Xclang +ptx78
// Clusters of blocks, whose size the launch says: a histogram in the shared memory of all of a cluster's blocks, cells whose
// neighbours live in other blocks, a sum over all warps. What C++ has no builtin for is written as PTX.
#include "cuda_min.h"

static __device__ u32 cluster_rank() {
    u32 rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

static __device__ u32 cluster_size() {
    u32 size;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    return size;
}

static __device__ u32 cluster_number() {
    u32 number;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(number));
    return number;
}

static __device__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

// The same variable of another block.
template <typename T> static __device__ T* of_block(T* own, u32 rank) {
    T* other;
    asm("mapa.u64 %0, %1, %2;" : "=l"(other) : "l"(own), "r"(rank));
    return other;
}

// Counts bytes; each block of a cluster has a share of the bins. `count` bytes for each cluster; `bins` are a multiple of the
// cluster's size.
extern "C" __global__ void histogram(const u8* bytes, u32 count, u32* out, u32 bins) {
    DYNAMIC_SHARED(u32, share);
    u32 rank = cluster_rank(), size = cluster_size(), own = bins / size;
    for (u32 bin = threadIdx.x; bin < own; bin += blockDim.x) share[bin] = 0;
    cluster_sync();
    bytes += cluster_number() * count;
    for (u32 i = rank * blockDim.x + threadIdx.x; i < count; i += size * blockDim.x) {
        u32 bin = bytes[i] % bins;
        atomicAdd(of_block(share, bin / own) + bin % own, 1u);
    }
    cluster_sync();
    for (u32 bin = threadIdx.x; bin < own; bin += blockDim.x) atomicAdd(&out[rank * own + bin], share[bin]);
}

// Rounds of a cellular sum: each cell becomes its left neighbour, twice itself and its right neighbour. A block has 64 cells, the
// cluster is a ring of them.
extern "C" __global__ void ring(const u32* in, u32* out, u32 rounds) {
    __shared__ u32 cells[2][64];
    u32 t = threadIdx.x, rank = cluster_rank(), size = cluster_size();
    u32 place = (cluster_number() * size + rank) * 64 + t;
    cells[0][t] = in[place];
    cluster_sync();
    for (u32 round = 0; round < rounds; round++) {
        u32* now = cells[round % 2];
        u32 left = t > 0 ? now[t - 1] : of_block(now, (rank + size - 1) % size)[63];
        u32 right = t < 63 ? now[t + 1] : of_block(now, (rank + 1) % size)[0];
        cells[1 - round % 2][t] = left + 2 * now[t] + right;
        cluster_sync();
    }
    out[place] = cells[rounds % 2][t];
}

// The sum of each cluster's numbers, one for each thread; blocks are whole warps, up to 32 of them in a cluster.
extern "C" __global__ void total(const u32* in, u32* out) {
    __shared__ u32 sums[32];
    u32 t = threadIdx.x, rank = cluster_rank(), size = cluster_size(), warps = blockDim.x / 32;
    u32 sum = in[(cluster_number() * size + rank) * blockDim.x + t];
    for (u32 d = 16; d > 0; d /= 2) sum += shfl_xor(0xffffffff, sum, d);
    // All blocks have begun before another one writes to their memory.
    cluster_sync();
    if (t % 32 == 0) of_block(sums, 0)[rank * warps + t / 32] = sum;
    cluster_sync();
    if (rank == 0 && t < 32) {
        sum = t < warps * size ? sums[t] : 0;
        for (u32 d = 16; d > 0; d /= 2) sum += shfl_xor(0xffffffff, sum, d);
        if (t == 0) out[cluster_number()] = sum;
    }
}

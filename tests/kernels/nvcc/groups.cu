// Groups that form while the kernel runs: coalesced threads, partitions by label and by predicate, their reductions and scans,
// asynchronous copies of a block, and clusters as groups.
//
//   nvcc -arch=compute_90 -ptx -o groups.ptx groups.cu
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

constexpr int WORDS = 10;

// What every group of threads can say and do.
template <typename Group>
static __device__ void describe(const Group& group, int value, int* to) {
    to[0] = group.size();
    to[1] = group.thread_rank();
    to[2] = cg::reduce(group, value, cg::plus<int>());
    to[3] = cg::reduce(group, value, cg::bit_xor<int>());
    to[4] = cg::exclusive_scan(group, value, cg::plus<int>());
    to[5] = cg::inclusive_scan(group, value, cg::less<int>());
    to[6] = group.shfl(value, group.size() / 2);
    to[7] = group.shfl_down(value, 1) * (group.thread_rank() + 1 < group.size());
    to[8] = group.any(value > 90) + 2 * group.all(value > -90);
    to[9] = group.ballot(value & 1);
}

// The threads that take a branch of a switch.
extern "C" __global__ void coalesced(const int* in, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = in[i];
    switch (value & 3) {
    case 0: describe(cg::coalesced_threads(), value, out + WORDS * i); break;
    case 1: describe(cg::coalesced_threads(), 3 * value, out + WORDS * i); break;
    default:
        if (value > 0) describe(cg::coalesced_threads(), -value, out + WORDS * i);
    }
}

// Positive values, which one atomic of each group makes room for. The groups' order is open: all values are the same.
extern "C" __global__ void filter(const int* in, int n, int* count, int* kept) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || in[i] <= 0) return;
    cg::coalesced_group active = cg::coalesced_threads();
    int first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(count, active.size());
    atomicAdd(kept + active.shfl(first, 0) + active.thread_rank(), 7);
}

extern "C" __global__ void labeled(const int* in, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = in[i];
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    describe(cg::labeled_partition(warp, (unsigned)value % 5), value, out + WORDS * i);
}

extern "C" __global__ void binary(const int* in, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = in[i];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    describe(cg::binary_partition(tile, value > 10), value, out + WORDS * i);
}

// Tiles of coalesced threads, and one thread of a group that speaks for the others.
extern "C" __global__ void nested(const int* in, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = in[i], *to = out + 4 * i;
    if (value % 3 == 0) return;
    auto tile = cg::tiled_partition(cg::coalesced_threads(), 4);
    to[0] = tile.size();
    to[1] = tile.thread_rank();
    to[2] = cg::reduce(tile, value, cg::greater<int>());
    to[3] = cg::invoke_one_broadcast(cg::coalesced_threads(), [&] { return i / 32 * 7 + 1; });
}

// A block's rows come by asynchronous copies while the row before is summed.
extern "C" __global__ void copied(const int* in, int rows, int* out) {
    __shared__ alignas(16) int buffer[2][128];
    auto block = cg::this_thread_block();
    const int* from = in + 128 * rows * blockIdx.x;
    cg::memcpy_async(block, buffer[0], from, sizeof(buffer[0]));
    int sum = 0;
    for (int row = 0; row < rows; row++) {
        if (row + 1 < rows) {
            cg::memcpy_async(block, buffer[(row + 1) & 1], from + 128 * (row + 1), sizeof(buffer[0]));
            cg::wait_prior<1>(block);
        } else {
            cg::wait(block);
        }
        sum = 3 * sum + buffer[row & 1][(block.thread_rank() + 17 * row) % 128];
        block.sync();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Each block of a cluster reads the next one's shared memory.
extern "C" __global__ void cluster(const int* in, int* out) {
    __shared__ int own[64];
    auto group = cg::this_cluster();
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t, rank = group.block_rank();
    own[t] = in[i];
    auto token = group.barrier_arrive();
    int* to = out + 8 * i;
    to[0] = group.num_blocks();
    to[1] = rank;
    to[2] = group.thread_rank();
    to[3] = group.num_threads();
    to[4] = group.dim_blocks().x + 10 * group.block_index().x;
    group.barrier_wait(static_cast<decltype(token)&&>(token));
    int* next = group.map_shared_rank(own, (rank + 1) % group.num_blocks());
    to[5] = next[(t + 5) % 64];
    to[6] = group.query_shared_rank(next);
    group.sync();
    atomicAdd(&next[t % 8], in[i]);
    group.sync();
    to[7] = own[t];
}

// Cooperative groups: tiles, coalesced threads, reductions and scans, clusters, and a barrier of the grid.
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__device__ int sum_of(cg::thread_group group, int *scratch, int value)
{
    unsigned rank = group.thread_rank();
    for (int distance = group.size() / 2; distance > 0; distance /= 2) {
        scratch[rank] = value;
        group.sync();
        if (rank < distance) value += scratch[rank + distance];
        group.sync();
    }
    return value;
}
__global__ void tiles(int *out)
{
    __shared__ int scratch[128];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int value = (int)block.thread_rank();
    int total = cg::reduce(tile, value, cg::plus<int>());
    int before = cg::exclusive_scan(tile, value);
    int all = sum_of(block, scratch, value), active = 0;
    if (value % 3 == 0) {
        cg::coalesced_group some = cg::coalesced_threads();
        active = (int)some.size() * 100 + (int)some.thread_rank();
    }
    out[value * 4] = total, out[value * 4 + 1] = before, out[value * 4 + 2] = all, out[value * 4 + 3] = active;
}
__global__ void rotate(int *a, int *b, int n, bool *is_valid)
{
    cg::grid_group grid = cg::this_grid();
    *is_valid = grid.is_valid();
    unsigned i = (unsigned)grid.thread_rank();
    for (int round = 0; round < 3; round++) {
        if (i < n) b[i] = a[(i + 1) % n] + 1;
        grid.sync();
        if (i < n) a[i] = b[i];
        grid.barrier_wait(grid.barrier_arrive());
    }
}
/* One thread of a tile adds to a counter, and tells the others what was there. */
__global__ void one_of(unsigned *out)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    unsigned seen = cg::invoke_one_broadcast(tile, [=](unsigned by) { return atomicAdd(out, by); }, 3u);
    cg::invoke_one(tile, [=] { atomicAdd(out + 1, 1u); });
    out[2 + threadIdx.x] = seen;
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/* Each block reads a variable of its neighbour in the cluster. */
__global__ void clusters(unsigned *out)
{
    __shared__ unsigned own;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) own = 100 + blockIdx.x;
    cluster.sync();
    unsigned *other = cluster.map_shared_rank(&own, cluster.block_rank() ^ 1);
    if (threadIdx.x == 0) {
        unsigned *row = out + blockIdx.x * 4;
        row[0] = *other, row[1] = cluster.query_shared_rank(other), row[2] = cluster.num_blocks(), row[3] = cluster.num_threads();
    }
    cluster.barrier_wait(cluster.barrier_arrive());
}
#else
__global__ void clusters(unsigned *) {}
#endif
static void check_clusters(unsigned *out)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {cudaLaunchAttributeClusterDimension};
    attribute.val.clusterDim.x = 2, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = 4, config.blockDim = 32, config.attrs = &attribute, config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, clusters, out));
    CHECK(cudaDeviceSynchronize());
    for (unsigned i = 0; i < 4; i++, out += 4)
        EXPECT(out[0] == 100 + (i ^ 1) && out[1] == (i % 2 ^ 1) && out[2] == 2 && out[3] == 64);
}
/* Groups that are parts of others: what they tell of themselves, and which threads they have. */
__global__ void parts(unsigned *out)
{
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    auto quarter = cg::tiled_partition<4>(tile);
    cg::thread_block_tile<4> any = quarter;
    unsigned rank = block.thread_rank(), *row = out + rank * 10;
    row[0] = any.meta_group_rank() * 100 + any.meta_group_size();
    row[1] = quarter.ballot(rank % 3 == 0);
    cg::coalesced_group half = cg::binary_partition(tile, rank % 5 < 2);
    row[2] = half.lanes();
    row[3] = half.ballot(rank % 2);
    row[4] = cg::reduce(half, rank, cg::plus<unsigned>());
    if (rank % 3 == 0) {
        cg::coalesced_group some = cg::coalesced_threads();
        cg::thread_group fours = cg::tiled_partition(some, 4);
        row[5] = fours.lanes();
        row[6] = fours.meta_group_rank() * 100 + fours.meta_group_size();
    }
#if __CUDA_ARCH__ >= 700
    row[7] = tile.match_any(rank / 3);
    row[8] = half.match_any(rank / 3);
    row[9] = cg::labeled_partition(tile, rank % 4 + (1ull << 40) * (rank % 8)).lanes();
#endif
}
static void check_parts(bool has_match)
{
    unsigned *out;
    CHECK(cudaMallocManaged(&out, 64 * 10 * sizeof(unsigned)));
    parts<<<1, 64>>>(out);
    CHECK(cudaDeviceSynchronize());
    for (unsigned i = 0; i < 64; i++) {
        const unsigned *row = out + i * 10, first = i / 16 * 16, lane = first % 32;
        unsigned quarter = 0, half = 0, odd = 0, sum = 0, fours = 0, some = 0, rank = 0, same = 0, same_half = 0, label = 0, members = 0;
        for (unsigned j = i / 4 * 4; j < i / 4 * 4 + 4; j++) quarter |= (unsigned)(j % 3 == 0) << j % 4;
        for (unsigned j = first; j < first + 16; j++) {
            same |= (unsigned)(j / 3 == i / 3) << (j - first);
            label |= (unsigned)(j % 8 == i % 8) << (lane + j - first);
            if ((j % 5 < 2) != (i % 5 < 2)) continue;
            half |= 1u << (lane + j - first);
            odd |= j % 2 << members, same_half |= (unsigned)(j / 3 == i / 3) << members++, sum += j;
        }
        for (unsigned j = i / 32 * 32; j < i / 32 * 32 + 32; j++) rank += j % 3 == 0 && j < i;
        for (unsigned j = i / 32 * 32; j < i / 32 * 32 + 32; j++)
            if (j % 3 == 0) fours |= (unsigned)(some++ / 4 == rank / 4) << j % 32;
        EXPECT(row[0] == (i % 16 / 4) * 100 + 4 && row[1] == quarter);
        EXPECT(row[2] == half && row[3] == odd && row[4] == sum);
        EXPECT(i % 3 != 0 || (row[5] == fours && row[6] == rank / 4 * 100 + (some + 3) / 4));
        EXPECT(!has_match || (row[7] == same && row[8] == same_half && row[9] == label));
    }
}

int main()
{
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, parts));
    check_parts(attributes.ptxVersion >= 70);
    unsigned *counts;
    CHECK(cudaMallocManaged(&counts, 64 * sizeof(unsigned)));
    CHECK(cudaMemset(counts, 0, 64 * sizeof(unsigned)));
    one_of<<<1, 32>>>(counts);
    CHECK(cudaDeviceSynchronize());
    EXPECT(counts[0] == 12 && counts[1] == 4);
    unsigned seen = 0;
    for (int i = 0; i < 32; i += 8) seen |= 1u << counts[2 + i] / 3;
    for (int i = 0; i < 32; i++) EXPECT(counts[2 + i] == counts[2 + i / 8 * 8]);
    EXPECT(seen == 15);
    if (attributes.ptxVersion >= 90) check_clusters(counts);
    int *out, *a, *b, n = 500;
    CHECK(cudaMallocManaged(&out, 128 * 4 * sizeof(int)));
    tiles<<<1, 128>>>(out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 128; i++) {
        int first = i / 8 * 8, total = 0, before = 0;
        for (int j = first; j < first + 8; j++) total += j, before += j < i ? j : 0;
        EXPECT(out[i * 4] == total && out[i * 4 + 1] == before);
        EXPECT(i > 0 || out[i * 4 + 2] == 127 * 64);
        int warp = i / 32 * 32, size = 0, rank = 0;
        for (int j = warp; j < warp + 32; j++) size += j % 3 == 0, rank += j % 3 == 0 && j < i;
        EXPECT(i % 3 != 0 || out[i * 4 + 3] == size * 100 + rank);
    }
    CHECK(cudaMallocManaged(&a, n * sizeof(int)));
    CHECK(cudaMallocManaged(&b, n * sizeof(int)));
    for (int i = 0; i < n; i++) a[i] = i;
    bool *is_valid;
    CHECK(cudaMallocManaged(&is_valid, 1));
    void *arguments[] = {&a, &b, &n, &is_valid};
    CHECK(cudaLaunchCooperativeKernel(rotate, 8, 64, arguments));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) EXPECT(a[i] == (i + 3) % n + 3);
    EXPECT(*is_valid);
    /* An ordinary launch has no barrier of the grid. */
    rotate<<<8, 64>>>(a, b, n, is_valid);
    EXPECT(cudaDeviceSynchronize() == cudaErrorLaunchFailure && !*is_valid);
    printf("right\n");
}

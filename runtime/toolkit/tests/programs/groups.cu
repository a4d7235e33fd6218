// Cooperative groups: tiles, coalesced threads, reductions and scans, and a barrier of the grid.
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
__global__ void rotate(int *a, int *b, int n)
{
    cg::grid_group grid = cg::this_grid();
    unsigned i = (unsigned)grid.thread_rank();
    for (int round = 0; round < 3; round++) {
        if (i < n) b[i] = a[(i + 1) % n] + 1;
        grid.sync();
        if (i < n) a[i] = b[i];
        grid.sync();
    }
}

int main()
{
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
    void *arguments[] = {&a, &b, &n};
    CHECK(cudaLaunchCooperativeKernel(rotate, 8, 64, arguments));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) EXPECT(a[i] == (i + 3) % n + 3);
    printf("right\n");
}

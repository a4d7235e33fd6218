// Tiles of more than a warp: sums, extremes, scans, votes and shuffles of cooperative groups, which meet in the shared memory that
// CUDA reserves. The kernels' own shared memory must stay as it is.
//
//   nvcc -arch=compute_90 -ptx -o tiles.ptx tiles.cu
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

constexpr int WORDS = 9;

template <int SIZE>
static __device__ void all(const int* in, int* out) {
    __shared__ int own[1024];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int value = in[i];
    own[t] = 3 * value;
    auto tile = cg::tiled_partition<SIZE>(cg::this_thread_block());
    int* to = out + WORDS * i;
    to[0] = cg::reduce(tile, value, cg::plus<int>());
    to[1] = cg::reduce(tile, value, cg::less<int>());
    to[2] = cg::exclusive_scan(tile, value, cg::plus<int>());
    to[3] = cg::inclusive_scan(tile, value, cg::greater<int>());
    to[4] = tile.shfl(value, (5 * tile.meta_group_rank() + 33) % SIZE);
    to[5] = tile.any(value > 90) + 2 * tile.all(value > -90);
    tile.sync();
    to[6] = own[t];
    to[7] = own[t - tile.thread_rank() + (tile.thread_rank() + 40) % SIZE];
    to[8] = 1000 * tile.meta_group_rank() + tile.thread_rank();
}

extern "C" __global__ void tiles_64(const int* in, int* out) { all<64>(in, out); }
extern "C" __global__ void tiles_128(const int* in, int* out) { all<128>(in, out); }
extern "C" __global__ void tiles_256(const int* in, int* out) { all<256>(in, out); }
extern "C" __global__ void tiles_512(const int* in, int* out) { all<512>(in, out); }

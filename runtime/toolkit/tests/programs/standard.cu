// cuda/atomic, cuda/barrier, cuda/std and CUB of CCCL.
#include "check.h"
#include <cub/cub.cuh>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/std/array>

typedef cuda::barrier<cuda::thread_scope_block> barrier;

__device__ cuda::atomic<int, cuda::thread_scope_device> total{0};

__global__ void kernel(int *out)
{
    // clang takes no shared variable with a constructor.
    __shared__ __align__(alignof(barrier)) char storage[sizeof(barrier)];
    __shared__ int values[64];
    barrier &all = *reinterpret_cast<barrier *>(storage);
    if (threadIdx.x == 0) init(&all, blockDim.x);
    __syncthreads();
    values[threadIdx.x] = threadIdx.x;
    all.arrive_and_wait();
    cuda::std::array<int, 3> addends{1, 2, 3};
    total.fetch_add(addends[threadIdx.x % 3], cuda::memory_order_relaxed);
    out[threadIdx.x] = values[63 - threadIdx.x];
    all.arrive_and_wait();
    if (threadIdx.x == 0) out[64] = total.load();
}
/* A block's sum, and sums up to each thread. */
__global__ void block(int *out)
{
    typedef cub::BlockReduce<int, 64> Reduce;
    typedef cub::BlockScan<int, 64> Scan;
    __shared__ Reduce::TempStorage reduce;
    __shared__ Scan::TempStorage scan;
    int sum = Reduce(reduce).Sum((int)threadIdx.x), before;
    Scan(scan).ExclusiveSum((int)threadIdx.x, before);
    out[threadIdx.x] = before;
    if (threadIdx.x == 0) out[64] = sum;
}

int main()
{
    int *out;
    CHECK(cudaMallocManaged(&out, 65 * sizeof(int)));
    kernel<<<1, 64>>>(out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++) EXPECT(out[i] == 63 - i);
    EXPECT(out[64] == 21 * (1 + 2 + 3) + 1);
    block<<<1, 64>>>(out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++) EXPECT(out[i] == i * (i - 1) / 2);
    EXPECT(out[64] == 64 * 63 / 2);
    // CUB's functions for whole devices mark ranges for profilers.
    size_t bytes = 0;
    void *space;
    CHECK(cub::DeviceReduce::Sum(nullptr, bytes, out, out + 64, 64));
    CHECK(cudaMalloc(&space, bytes));
    CHECK(cub::DeviceReduce::Sum(space, bytes, out, out + 64, 64));
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[64] == 64 * 63 * 62 / 6);
    printf("right\n");
}

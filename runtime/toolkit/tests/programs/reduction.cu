// Sums by shuffles, ballots and matches, in dynamic shared memory.
#include "check.h"

__global__ void sums(const int *x, int n, int *total, unsigned *ballots, int *matches)
{
    extern __shared__ int parts[];
    int i = blockIdx.x * blockDim.x + threadIdx.x, value = i < n ? x[i] : 0;
    unsigned odd = __ballot_sync(0xffffffff, value & 1);
    if (threadIdx.x % 32 == 0) ballots[i / 32] = odd;
    atomicAdd(matches, __popc(__match_any_sync(0xffffffff, value % 4)));
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffff, value, distance);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned part = 1; part < blockDim.x / 32; part++) value += parts[part];
        atomicAdd(total, value);
    }
}

int main()
{
    const int n = 4096, block = 256;
    int *x, *total, *matches;
    unsigned *ballots;
    CHECK(cudaMallocManaged(&x, n * sizeof(int)));
    CHECK(cudaMallocManaged(&total, sizeof(int)));
    CHECK(cudaMallocManaged(&matches, sizeof(int)));
    CHECK(cudaMallocManaged(&ballots, n / 32 * sizeof(unsigned)));
    int expected = 0;
    for (int i = 0; i < n; i++) expected += x[i] = i * 7 % 1000;
    *total = *matches = 0;
    sums<<<n / block, block, block / 32 * sizeof(int)>>>(x, n, total, ballots, matches);
    CHECK(cudaDeviceSynchronize());
    EXPECT(*total == expected);
    int pairs = 0;
    for (int warp = 0; warp < n / 32; warp++) {
        unsigned odd = 0;
        for (int lane = 0; lane < 32; lane++) {
            odd |= (unsigned)(x[warp * 32 + lane] & 1) << lane;
            for (int other = 0; other < 32; other++) pairs += x[warp * 32 + lane] % 4 == x[warp * 32 + other] % 4;
        }
        EXPECT(ballots[warp] == odd);
    }
    EXPECT(*matches == pairs);
    printf("right\n");
}

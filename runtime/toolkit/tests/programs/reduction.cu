// Sums by shuffles, ballots and matches, in dynamic shared memory, and reductions over the members of masks.
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

__host__ __device__ int hashed(unsigned lane) { return (int)(lane * 0x9e3779b1u); }

/* Even and odd lanes by themselves. */
__global__ void reductions(unsigned *results)
{
    unsigned lane = threadIdx.x, mask = lane % 2 ? 0xaaaaaaaa : 0x55555555, *own = results + lane * 9;
    int x = hashed(lane);
    own[0] = __reduce_add_sync(mask, (unsigned)x);
    own[1] = __reduce_add_sync(mask, x);
    own[2] = __reduce_min_sync(mask, (unsigned)x);
    own[3] = __reduce_min_sync(mask, x);
    own[4] = __reduce_max_sync(mask, (unsigned)x);
    own[5] = __reduce_max_sync(mask, x);
    own[6] = __reduce_and_sync(mask, x | 1u << 7);
    own[7] = __reduce_or_sync(mask, x & 0xffffu);
    own[8] = __reduce_xor_sync(mask, (unsigned)x);
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
    unsigned *results;
    CHECK(cudaMallocManaged(&results, 32 * 9 * sizeof(unsigned)));
    reductions<<<1, 32>>>(results);
    CHECK(cudaDeviceSynchronize());
    for (unsigned lane = 0; lane < 32; lane++) {
        unsigned first = hashed(lane % 2), all[9] = {0, 0, first, first, first, first, ~0u, 0, 0};
        for (unsigned other = lane % 2; other < 32; other += 2) {
            int x = hashed(other);
            unsigned u = x;
            all[0] += u, all[1] += u, all[6] &= u | 1u << 7, all[7] |= u & 0xffffu, all[8] ^= u;
            if (u < all[2]) all[2] = u;
            if (x < (int)all[3]) all[3] = u;
            if (u > all[4]) all[4] = u;
            if (x > (int)all[5]) all[5] = u;
        }
        for (int kind = 0; kind < 9; kind++) EXPECT(results[lane * 9 + kind] == all[kind]);
    }
    printf("right\n");
}

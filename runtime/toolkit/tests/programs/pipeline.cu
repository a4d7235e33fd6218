// Copies in the background, two groups at a time, a barrier in shared memory, and ranges for a profiler.
#include "check.h"
#include <cuda_awbarrier.h>
#include <cuda_pipeline.h>
#include <nvtx3/nvToolsExt.h>

constexpr int threads = 64, rounds = 5;

__global__ void sums(const float4 *in, const int2 *pairs, const int *words, float *out)
{
    __shared__ float4 wide[2][threads];
    __shared__ int2 middle[2][threads];
    __shared__ int narrow[2][threads];
    int thread = threadIdx.x, other = threads - 1 - thread;
    auto fetch = [&](int round) {
        int at = round * threads + thread;
        __pipeline_memcpy_async(&wide[round % 2][thread], &in[at], sizeof(float4), round == 3 ? 8 : 0);
        __pipeline_memcpy_async(&middle[round % 2][thread], &pairs[at], sizeof(int2));
        __pipeline_memcpy_async(&narrow[round % 2][thread], &words[at], sizeof(int));
        __pipeline_commit();
    };
    float sum = 0;
    fetch(0);
    for (int round = 0; round < rounds; round++) {
        if (round + 1 < rounds) fetch(round + 1);
        __pipeline_wait_prior(round + 1 < rounds ? 1 : 0);
        __syncthreads();
        float4 a = wide[round % 2][other];
        int2 b = middle[round % 2][other];
        sum += a.x + 2 * a.y + 3 * a.z + 4 * a.w + b.x - b.y + narrow[round % 2][other];
        __syncthreads();
    }
    nvcuda::experimental::pipeline pipe;
    memcpy_async(wide[0][thread], in[thread], pipe);
    pipe.commit_and_wait();
#if __CUDA_ARCH__ >= 800
    __shared__ nvcuda::experimental::awbarrier barrier;
    if (thread == 0) init(&barrier, threads);
    __syncthreads();
    barrier.arrive_and_wait();
#else
    __syncthreads();
#endif
    out[thread] = sum + wide[0][other].x;
}

int main()
{
    constexpr int count = threads * rounds;
    float4 *in;
    int2 *pairs;
    int *words;
    float *out;
    nvtxRangePushA("copies");
    CHECK(cudaMallocManaged(&in, count * sizeof(float4)));
    CHECK(cudaMallocManaged(&pairs, count * sizeof(int2)));
    CHECK(cudaMallocManaged(&words, count * sizeof(int)));
    CHECK(cudaMallocManaged(&out, threads * sizeof(float)));
    for (int i = 0; i < count; i++) {
        in[i] = {float(i), float(i % 7), float(i % 5), float(i % 3)};
        pairs[i] = {3 * i, i};
        words[i] = i % 11;
    }
    sums<<<1, threads>>>(in, pairs, words, out);
    CHECK(cudaDeviceSynchronize());
    nvtxRangePop();
    for (int thread = 0; thread < threads; thread++) {
        int expected = threads - 1 - thread;
        for (int round = 0; round < rounds; round++) {
            int i = round * threads + threads - 1 - thread;
            expected += i + 2 * (i % 7) + (round == 3 ? 0 : 3 * (i % 5) + 4 * (i % 3)) + 2 * i + i % 11;
        }
        EXPECT(out[thread] == expected);
    }
    printf("right\n");
}

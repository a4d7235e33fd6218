/* Device functions, variables and kernels of other files. */
#include "../check.h"
#include "operations.h"

static __device__ unsigned int offset = 100;

__global__ void here(unsigned int *values)
{
    values[threadIdx.x] = scaled(collatz(values[threadIdx.x]), 1) + offset;
}

int main()
{
    const int count = 200;
    unsigned int *values, host[count];
    CHECK(cudaMalloc(&values, sizeof host));
    for (int i = 0; i < count; i++) host[i] = i;
    CHECK(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
    set_factors(3, 5);
    apply<<<2, 128>>>(values, count);
    here<<<1, 64>>>(values);
    CHECK(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost));
    auto collatz = [](unsigned int x) { return x % 2 == 0 ? x / 2 : 3 * x + 1; };
    for (unsigned int i = 0; i < count; i++) {
        unsigned int expected = collatz(i) * 3 + 7;
        if (i < 64) expected = collatz(expected) * 5 + 100;
        EXPECT(host[i] == expected);
    }
    EXPECT(calls_so_far() == count + 64);
    printf("right\n");
}

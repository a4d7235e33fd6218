// Constant and global variables by name.
#include "check.h"

__constant__ float coefficients[4];
__device__ int counter = 40;
__constant__ int fixed_table[3] = {2, 3, 5};
static __constant__ int own_table[3];
static __device__ int own_counter = 5;

__global__ void evaluate(const float *x, float *y, int n)
{
    int i = threadIdx.x;
    if (i < n) y[i] = ((coefficients[3] * x[i] + coefficients[2]) * x[i] + coefficients[1]) * x[i] + coefficients[0];
    if (i == 0) atomicAdd(&counter, fixed_table[0]);
    if (i < 3) atomicAdd(&own_counter, own_table[i]);
}

int main()
{
    float list[] = {1, 2, 3, 4}, *x, *y;
    int count = 0;
    size_t size = 0;
    CHECK(cudaMemcpyToSymbol(coefficients, list, sizeof(list)));
    CHECK(cudaGetSymbolSize(&size, coefficients));
    EXPECT(size == 16);
    CHECK(cudaMallocManaged(&x, 64 * sizeof(float)));
    CHECK(cudaMallocManaged(&y, 64 * sizeof(float)));
    for (int i = 0; i < 64; i++) x[i] = (float)i;
    int own[] = {10, 200, 3000};
    CHECK(cudaMemcpyToSymbol(own_table, own, sizeof(own)));
    evaluate<<<1, 64>>>(x, y, 64);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpyFromSymbol(&count, counter, sizeof(count)));
    EXPECT(count == 42);
    CHECK(cudaMemcpyFromSymbol(&count, own_counter, sizeof(count)));
    EXPECT(count == 3215);
    for (int i = 0; i < 64; i++) EXPECT(y[i] == 4.0f * i * i * i + 3 * i * i + 2 * i + 1);
    printf("right\n");
}

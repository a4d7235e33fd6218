#include "kernels.h"

__global__ void square(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int product = 1;
    UNROLL
    for (int factor = 0; factor < 2; ++factor) product *= x[i];
    x[i] = product;
}

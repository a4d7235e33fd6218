#include "operations.h"

/* A name that other files have too. */
static __device__ unsigned int offset = 7;
__device__ operation chosen = collatz;

__global__ void apply(unsigned int *values, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] = scaled(chosen(values[i]), 0) + offset;
}

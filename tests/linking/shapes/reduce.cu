#include "shape.h"

// The sum over the block, whose dynamic shared memory has a float for each thread.
__device__ float reduce(float value) {
    partial[threadIdx.x] = value;
    __syncthreads();
    for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) partial[threadIdx.x] += partial[threadIdx.x + step];
        __syncthreads();
    }
    return partial[0];
}

#pragma once
#include <cuda_runtime.h>

#ifdef __CUDACC__
/* A macro that is a directive, and a linkage without space, which only nvcc takes. */
#define UNROLL #pragma unroll
extern "C"__global__ void square(int *x, int n);
#endif
cudaError_t squares(int *x, int n);
int expected(int i);

/* What the files of this program have in common. */
#pragma once

/* In operations.cu, a static library. */
extern __device__ int calls;
extern __constant__ int factors[2];
__device__ unsigned int collatz(unsigned int x);
template <class T> __device__ T scaled(T x, int i) { return x * factors[i]; }
int calls_so_far();
void set_factors(int first, int second);

/* In kernels.cu. */
typedef unsigned int (*operation)(unsigned int);
extern __device__ operation chosen;
__global__ void apply(unsigned int *values, int count);

#include "shape.h"

__device__ unsigned calls;
__constant__ float scale[4] = {1.0f, 2.0f, 4.0f, 8.0f};

// Addresses of functions in memory.
__device__ float twice(float x) { return 2.0f * x; }
__device__ float minus(float x) { return -x; }
typedef float (*Operation)(float);
__device__ Operation operations[2] = {twice, minus};

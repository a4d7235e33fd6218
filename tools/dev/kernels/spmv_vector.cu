// build: -O2 -Xclang -target-feature -Xclang +ptx63
// Sparse matrix (CSR) by vector, a warp for each row.
#include "library.h"

extern "C" __global__ void spmv_vector(const u32* __restrict starts, const u32* __restrict columns, const float* __restrict values,
                                       const float* __restrict x, float* __restrict y, u32 rows) {
    u32 row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) return;
    float sum = 0.0f;
    for (u32 i = starts[row] + threadIdx.x % 32; i < starts[row + 1]; i += 32) sum = fmaf(values[i], x[columns[i]], sum);
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) y[row] = sum;
}

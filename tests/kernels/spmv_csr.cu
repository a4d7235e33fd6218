// y = A x for a sparse matrix in compressed rows (CSR): one row per thread, by fma in the order of storage.
#include "cuda_min.h"

extern "C" __global__ void spmv_csr(const u32* row_starts, const u32* columns, const float* values, const float* x, float* y,
                                    u32 rows) {
    u32 row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (u32 k = row_starts[row], end = row_starts[row + 1]; k < end; k++) sum = fmaf(values[k], x[columns[k]], sum);
    y[row] = sum;
}

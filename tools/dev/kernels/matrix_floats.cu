// build: -O3 --no-cuda-gpu-arch=sm_70 --cuda-gpu-arch=sm_80 -Xclang -target-feature -Xclang +ptx71
// Products of matrices of bf16 and tf32 by matrix units.
#include "matrix_units.h"

extern "C" __global__ void __launch_bounds__(256) bf16_mma(float *c, const char *a, const char *b, unsigned n, unsigned k) { tiles<Bf16>(c, a, b, n, 2 * k); }
extern "C" __global__ void __launch_bounds__(256) tf32_mma(float *c, const char *a, const char *b, unsigned n, unsigned k) { tiles<Tf32>(c, a, b, n, 4 * k); }

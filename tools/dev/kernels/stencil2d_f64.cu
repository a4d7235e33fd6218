// One Jacobi step of a nine-point stencil in f64, straight from device memory; the border stays as it is.
#include "library.h"

extern "C" __global__ void stencil2d_f64(const double* __restrict in, double* __restrict out, i32 side) {
    i32 x = (i32)(blockIdx.x * blockDim.x + threadIdx.x), y = (i32)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= side || y >= side) return;
    i32 at = y * side + x;
    double result = in[at];
    if (x > 0 && y > 0 && x < side - 1 && y < side - 1) {
        double edges = (in[at - 1] + in[at + 1]) + (in[at - side] + in[at + side]);
        double corners = (in[at - side - 1] + in[at - side + 1]) + (in[at + side - 1] + in[at + side + 1]);
        result = fma(0.2, edges, 0.05 * corners);
    }
    out[at] = result;
}

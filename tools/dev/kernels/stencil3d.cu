// The seven-point stencil on a cube, in f32 and f64: blocks of 32 x 8 go through the planes, with the column in registers.
#include "library.h"

template <typename T>
static __device__ void stencil(const T* __restrict in, T* __restrict out, i32 side, T centre, T around) {
    i32 x = (i32)(blockIdx.x * blockDim.x + threadIdx.x), y = (i32)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x < 1 || y < 1 || x >= side - 1 || y >= side - 1) return;
    i32 plane = side * side, at = y * side + x;
    T below = in[at], here = in[at + plane];
    for (i32 z = 1; z < side - 1; z++) {
        at += plane;
        T above = in[at + plane];
        T sum = below + above + in[at - 1] + in[at + 1] + in[at - side] + in[at + side];
        out[at] = centre * here + around * sum;
        below = here;
        here = above;
    }
}

extern "C" __global__ void stencil3d_f32(const float* __restrict in, float* __restrict out, i32 side) {
    stencil<float>(in, out, side, 0.4f, 0.1f);
}

extern "C" __global__ void stencil3d_f64(const double* __restrict in, double* __restrict out, i32 side) {
    stencil<double>(in, out, side, 0.4, 0.1);
}

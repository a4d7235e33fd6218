// A step of the lattice Boltzmann method in two dimensions with nine speeds: pull, then relax. The domain is periodic, its
// side a power of two.
#include "library.h"

extern "C" __global__ void lattice_boltzmann(const float* __restrict in, float* __restrict out, u32 side, float relaxation) {
    constexpr i32 DX[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, DY[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    u32 cells = side * side, at = y * side + x;
    float f[9], density = 0.0f, px = 0.0f, py = 0.0f;
#pragma unroll
    for (u32 i = 0; i < 9; i++) {
        u32 from_x = (x - (u32)DX[i]) & (side - 1), from_y = (y - (u32)DY[i]) & (side - 1);
        f[i] = in[i * cells + from_y * side + from_x];
        density += f[i];
        px = fmaf((float)DX[i], f[i], px);
        py = fmaf((float)DY[i], f[i], py);
    }
    float ux = px / density, uy = py / density;
    float square = 1.5f * fmaf(ux, ux, uy * uy);
#pragma unroll
    for (u32 i = 0; i < 9; i++) {
        float weight = i == 0 ? 4.0f / 9 : i < 5 ? 1.0f / 9 : 1.0f / 36;
        float along = 3.0f * fmaf((float)DX[i], ux, (float)DY[i] * uy);
        float equilibrium = weight * density * (1.0f + along + 0.5f * along * along - square);
        out[i * cells + at] = fmaf(relaxation, equilibrium - f[i], f[i]);
    }
}

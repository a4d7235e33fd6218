// Fluxes of an ideal gas between neighbouring cells, by the scheme of Rusanov: density, momentum in two directions, and energy.
#include "library.h"

constexpr float GAMMA = 1.4f;

struct Side {
    float flux[4], speed;
};

static __device__ Side side(float density, float x, float y, float energy) {
    float u = x / density, v = y / density;
    float pressure = (GAMMA - 1.0f) * (energy - 0.5f * density * (u * u + v * v));
    float sound = sqrtf(GAMMA * pressure / density);
    return {{x, x * u + pressure, y * u, (energy + pressure) * u}, fabsf(u) + sound};
}

extern "C" __global__ void euler_flux(const float4* __restrict cells, float4* __restrict fluxes, u32 width, u32 height) {
    u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x + 1 >= width || y >= height) return;
    // Energies and densities of the input lie between 1 and 2, momenta too.
    float4 l = cells[y * width + x], r = cells[y * width + x + 1];
    Side left = side(l.x, 0.5f * l.y, 0.5f * l.z, 2.0f * l.w), right = side(r.x, 0.5f * r.y, 0.5f * r.z, 2.0f * r.w);
    float speed = fmaxf(left.speed, right.speed);
    auto flux = [&](u32 i, float a, float b) { return 0.5f * (left.flux[i] + right.flux[i] - speed * (b - a)); };
    fluxes[y * width + x] = {flux(0, l.x, r.x), flux(1, 0.5f * l.y, 0.5f * r.y), flux(2, 0.5f * l.z, 0.5f * r.z),
                             flux(3, 2.0f * l.w, 2.0f * r.w)};
}

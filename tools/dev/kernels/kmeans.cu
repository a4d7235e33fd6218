// The nearest of 64 centres in 16 dimensions for each point, coordinates in arrays of their own. Blocks of 256.
#include "library.h"

constexpr u32 DIMENSIONS = 16, CENTRES = 64, BLOCK = 256;

extern "C" __global__ void __launch_bounds__(BLOCK)
kmeans(const float* __restrict points, const float* __restrict centres, u32* __restrict nearest, u32 n) {
    __shared__ float shared[CENTRES][DIMENSIONS];
    for (u32 i = threadIdx.x; i < CENTRES * DIMENSIONS; i += BLOCK) shared[i / DIMENSIONS][i % DIMENSIONS] = centres[i];
    __syncthreads();
    u32 point = blockIdx.x * BLOCK + threadIdx.x;
    if (point >= n) return;
    float coordinates[DIMENSIONS];
#pragma unroll
    for (u32 d = 0; d < DIMENSIONS; d++) coordinates[d] = points[d * n + point];
    float least = 1e30f;
    u32 best = 0;
    for (u32 centre = 0; centre < CENTRES; centre++) {
        float distance = 0.0f;
#pragma unroll
        for (u32 d = 0; d < DIMENSIONS; d++) {
            float difference = coordinates[d] - shared[centre][d];
            distance = fmaf(difference, difference, distance);
        }
        if (distance < least) {
            least = distance;
            best = centre;
        }
    }
    nearest[point] = best;
}

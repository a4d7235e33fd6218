// Prices of an Asian option: each thread follows paths of 64 steps, by xorshift and the transform of Box and Muller.
#include "library.h"

// Above 0 and below 1.
static __device__ float uniform(u32& state) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return fmaf((float)(state >> 8), 1.0f / (1 << 24), 1.0f / (1 << 25));
}

extern "C" __global__ void monte_carlo(float* __restrict sums, u32 paths, float drift, float volatility) {
    u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
    u32 state = thread * 2654435761u + 12345u;
    float sum = 0.0f;
    for (u32 path = 0; path < paths; path++) {
        float logarithm = 0.0f, total = 0.0f;
        for (u32 step = 0; step < 32; step++) {
            float radius = sqrtf(-1.3862944f * log2_approx(uniform(state)));
            float angle = 6.2831853f * uniform(state);
            logarithm += fmaf(volatility, radius * cos_approx(angle), drift);
            total += exp_by_steps(logarithm);
            logarithm += fmaf(volatility, radius * sin_approx(angle), drift);
            total += exp_by_steps(logarithm);
        }
        sum += fmaxf(total * (1.0f / 64) - 1.0f, 0.0f);
    }
    sums[thread] = sum;
}

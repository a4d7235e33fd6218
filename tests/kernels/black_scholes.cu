// European option prices by Black and Scholes. exp and log come from ex2.approx and lg2.approx; the normal distribution
// function is the polynomial 26.2.17 of Abramowitz and Stegun (error below 7.5e-8).
#include "cuda_min.h"

static __device__ float exponential(float x) { return exp2_approx(x * 1.44269504f); }
static __device__ float logarithm(float x) { return log2_approx(x) * 0.693147181f; }

static __device__ float normal_cdf(float x) {
    float k = 1.0f / fmaf(0.2316419f, fabsf(x), 1.0f);
    float poly = fmaf(fmaf(fmaf(fmaf(1.330274429f, k, -1.821255978f), k, 1.781477937f), k, -0.356563782f), k, 0.319381530f);
    float tail = 0.398942280f * exponential(-0.5f * x * x) * (k * poly);
    return x < 0.0f ? tail : 1.0f - tail;
}

extern "C" __global__ void black_scholes(const float* spot, const float* strike, const float* years, float* calls, float* puts,
                                         float rate, float volatility, u32 n) {
    u32 stride = blockDim.x * gridDim.x;
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        float s = spot[i], x = strike[i], t = years[i];
        float spread = volatility * sqrtf(t);
        float d1 = (logarithm(s / x) + (rate + 0.5f * volatility * volatility) * t) / spread;
        float d2 = d1 - spread;
        float n1 = normal_cdf(d1), n2 = normal_cdf(d2);
        float discounted = x * exponential(-rate * t);
        calls[i] = s * n1 - discounted * n2;
        puts[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
    }
}

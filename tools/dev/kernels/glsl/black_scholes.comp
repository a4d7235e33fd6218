#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 128) in;
BUFFER(Floats, float, 4)
PARAMETERS {
    layout(offset = 40) ConstFloats spot; ConstFloats strike; ConstFloats years; Floats calls; Floats puts;
    float rate; float volatility; uint n;
};

float normal_cdf(float x) {
    float k = 1 / fma(0.2316419, abs(x), 1.0);
    float poly = fma(fma(fma(fma(1.330274429, k, -1.821255978), k, 1.781477937), k, -0.356563782), k, 0.319381530);
    float tail = 0.398942280 * exp(-0.5 * x * x) * (k * poly);
    return x < 0 ? tail : 1 - tail;
}

void main() {
    uint stride = gl_WorkGroupSize.x * gl_NumWorkGroups.x;
    for (uint i = gl_GlobalInvocationID.x; i < n; i += stride) {
        float s = spot.at[i], x = strike.at[i], t = years.at[i];
        float spread = volatility * sqrt(t);
        float d1 = (log(s / x) + (rate + 0.5 * volatility * volatility) * t) / spread;
        float d2 = d1 - spread;
        float n1 = normal_cdf(d1), n2 = normal_cdf(d2);
        float discounted = x * exp(-rate * t);
        calls.at[i] = s * n1 - discounted * n2;
        puts.at[i] = discounted * (1 - n2) - s * (1 - n1);
    }
}

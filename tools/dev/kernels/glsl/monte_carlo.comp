#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Floats, float, 4)
PARAMETERS { layout(offset = 40) Floats sums; uint paths; float drift; float volatility; };

float uniform_number(inout uint state) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return fma(float(state >> 8), 1.0 / (1 << 24), 1.0 / (1 << 25));
}

void main() {
    uint thread = gl_GlobalInvocationID.x;
    uint state = thread * 2654435761u + 12345;
    float sum = 0;
    for (uint path = 0; path < paths; path++) {
        float logarithm = 0, total = 0;
        for (uint i = 0; i < 32; i++) {
            float radius = sqrt(-1.3862944 * log2(uniform_number(state)));
            float angle = 6.2831853 * uniform_number(state);
            logarithm += fma(volatility, radius * cos(angle), drift);
            total += exp(logarithm);
            logarithm += fma(volatility, radius * sin(angle), drift);
            total += exp(logarithm);
        }
        sum += max(total * (1.0 / 64) - 1, 0);
    }
    sums.at[thread] = sum;
}

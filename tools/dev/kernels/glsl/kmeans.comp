#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 256) in;
BUFFER(Floats, float, 4)
BUFFER(Words, uint, 4)
PARAMETERS { layout(offset = 40) ConstFloats points; ConstFloats centres; Words nearest; uint n; };

const uint DIMENSIONS = 16, CENTRES = 64;

shared float of_centres[CENTRES][DIMENSIONS];

void main() {
    for (uint i = gl_LocalInvocationID.x; i < CENTRES * DIMENSIONS; i += gl_WorkGroupSize.x) {
        of_centres[i / DIMENSIONS][i % DIMENSIONS] = centres.at[i];
    }
    barrier();
    uint point = gl_GlobalInvocationID.x;
    if (point >= n) return;
    float coordinates[DIMENSIONS];
    [[unroll]] for (uint d = 0; d < DIMENSIONS; d++) coordinates[d] = points.at[d * n + point];
    float least = 1e30;
    uint best = 0;
    for (uint centre = 0; centre < CENTRES; centre++) {
        float distance = 0;
        [[unroll]] for (uint d = 0; d < DIMENSIONS; d++) {
            float difference = coordinates[d] - of_centres[centre][d];
            distance = fma(difference, difference, distance);
        }
        if (distance < least) {
            least = distance;
            best = centre;
        }
    }
    nearest.at[point] = best;
}

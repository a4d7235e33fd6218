#version 460
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 128) in;
BUFFER(Words, uint, 4)
BUFFER(Floats, float, 4)
PARAMETERS { layout(offset = 40) ConstWords starts; ConstWords columns; ConstFloats values; ConstFloats x; Floats y; uint rows; };

void main() {
    uint row = gl_GlobalInvocationID.x / 32, lane = gl_LocalInvocationID.x % 32;
    if (row >= rows) return;
    float sum = 0;
    for (uint i = starts.at[row] + lane, end = starts.at[row + 1]; i < end; i += 32) sum = fma(values.at[i], x.at[columns.at[i]], sum);
    sum = subgroupAdd(sum);
    if (lane == 0) y.at[row] = sum;
}

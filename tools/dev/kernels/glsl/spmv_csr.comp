#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 128) in;
BUFFER(Words, uint, 4)
BUFFER(Floats, float, 4)
PARAMETERS { layout(offset = 40) ConstWords row_starts; ConstWords columns; ConstFloats values; ConstFloats x; Floats y; uint rows; };

void main() {
    uint row = gl_GlobalInvocationID.x;
    if (row >= rows) return;
    float sum = 0;
    for (uint k = row_starts.at[row], end = row_starts.at[row + 1]; k < end; k++) sum = fma(values.at[k], x.at[columns.at[k]], sum);
    y.at[row] = sum;
}

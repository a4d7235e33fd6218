#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 32, local_size_y = 8) in;
BUFFER(Doubles, double, 8)
PARAMETERS { layout(offset = 40) ConstDoubles source; Doubles result; int side; };

void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    if (x >= side || y >= side) return;
    int at = y * side + x;
    double value = source.at[at];
    if (x > 0 && y > 0 && x < side - 1 && y < side - 1) {
        double edges = (source.at[at - 1] + source.at[at + 1]) + (source.at[at - side] + source.at[at + side]);
        double corners = (source.at[at - side - 1] + source.at[at - side + 1]) + (source.at[at + side - 1] + source.at[at + side + 1]);
        value = fma(0.2lf, edges, 0.05lf * corners);
    }
    result.at[at] = value;
}

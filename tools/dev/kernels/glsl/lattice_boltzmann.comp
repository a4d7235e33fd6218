#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 32, local_size_y = 8) in;
BUFFER(Floats, float, 4)
PARAMETERS { layout(offset = 40) ConstFloats source; Floats result; uint side; float relaxation; };

const int DX[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, DY[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};

void main() {
    uint x = gl_GlobalInvocationID.x, y = gl_GlobalInvocationID.y;
    uint cells = side * side, at = y * side + x;
    float f[9], density = 0, px = 0, py = 0;
    [[unroll]] for (uint i = 0; i < 9; i++) {
        uint from_x = (x - uint(DX[i])) & (side - 1), from_y = (y - uint(DY[i])) & (side - 1);
        f[i] = source.at[i * cells + from_y * side + from_x];
        density += f[i];
        px = fma(float(DX[i]), f[i], px);
        py = fma(float(DY[i]), f[i], py);
    }
    float ux = px / density, uy = py / density;
    float square = 1.5 * fma(ux, ux, uy * uy);
    [[unroll]] for (uint i = 0; i < 9; i++) {
        float weight = i == 0 ? 4.0 / 9 : i < 5 ? 1.0 / 9 : 1.0 / 36;
        float along = 3 * fma(float(DX[i]), ux, float(DY[i]) * uy);
        float equilibrium = weight * density * (1 + along + 0.5 * along * along - square);
        result.at[i * cells + at] = fma(relaxation, equilibrium - f[i], f[i]);
    }
}

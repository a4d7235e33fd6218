#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 32, local_size_y = 8) in;
BUFFER(Floats, float, 4)
PARAMETERS { layout(offset = 40) ConstFloats source; Floats result; int side; float of_place; float of_value; };

void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    float centre = source.at[y * side + x], sum = 0, weights = 0;
    [[unroll]] for (int dy = -2; dy <= 2; dy++) {
        [[unroll]] for (int dx = -2; dx <= 2; dx++) {
            int at_x = clamp(x + dx, 0, side - 1), at_y = clamp(y + dy, 0, side - 1);
            float value = source.at[at_y * side + at_x], difference = value - centre;
            float weight = exp(fma(difference * difference, of_value, float(dx * dx + dy * dy) * of_place));
            sum = fma(weight, value, sum);
            weights += weight;
        }
    }
    result.at[y * side + x] = sum / weights;
}

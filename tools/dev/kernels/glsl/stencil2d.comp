#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 16, local_size_y = 8) in;
BUFFER(Floats, float, 4)
PARAMETERS { layout(offset = 40) ConstFloats source; Floats result; int width; int height; float alpha; };

const int WIDTH = 16, HEIGHT = 8;

shared float tile[HEIGHT + 2][WIDTH + 2];

void main() {
    ivec2 first = ivec2(gl_WorkGroupID.xy) * ivec2(WIDTH, HEIGHT) - 1;
    for (int j = int(gl_LocalInvocationIndex); j < (WIDTH + 2) * (HEIGHT + 2); j += WIDTH * HEIGHT) {
        ivec2 t = ivec2(j % (WIDTH + 2), j / (WIDTH + 2));
        ivec2 from = clamp(first + t, ivec2(0), ivec2(width, height) - 1);
        tile[t.y][t.x] = source.at[from.y * width + from.x];
    }
    barrier();
    ivec2 t = ivec2(gl_LocalInvocationID.xy) + 1;
    int x = first.x + t.x, y = first.y + t.y;
    if (x >= width || y >= height) return;
    float centre = tile[t.y][t.x], value = centre;
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
        float around = (tile[t.y - 1][t.x] + tile[t.y + 1][t.x]) + (tile[t.y][t.x - 1] + tile[t.y][t.x + 1]);
        value = fma(alpha, fma(-4.0, centre, around), centre);
    }
    result.at[y * width + x] = value;
}

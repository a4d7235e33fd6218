#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 32, local_size_y = 8) in;
BUFFER(Floats, float, 4)
PARAMETERS { layout(offset = 40) Floats result; uint side; float step_size; float depth; };

uint hash(uvec3 p) {
    uint h = p.x * 0x8da6b343 ^ p.y * 0xd8163841 ^ p.z * 0xcb1ab31f;
    h = (h ^ h >> 13) * 0x9e3779b1;
    return h ^ h >> 16;
}

float gradient(uint hash, vec3 p) {
    uint h = hash & 15;
    float u = h < 8 ? p.x : p.y;
    float v = h < 4 ? p.y : h == 12 || h == 14 ? p.x : p.z;
    return ((h & 1) != 0 ? -u : u) + ((h & 2) != 0 ? -v : v);
}

float blend(float a, float b, float t) { return fma(t, b - a, a); }

float noise(vec3 p) {
    vec3 whole = floor(p);
    uvec3 cell = uvec3(ivec3(whole));
    p -= whole;
    float corners[8];
    [[unroll]] for (uint i = 0; i < 8; i++) {
        uvec3 d = uvec3(i & 1, i >> 1 & 1, i >> 2);
        corners[i] = gradient(hash(cell + d), p - vec3(d));
    }
    vec3 t = p * p * p * fma(p, fma(p, vec3(6), vec3(-15)), vec3(10));
    return blend(blend(blend(corners[0], corners[1], t.x), blend(corners[2], corners[3], t.x), t.y),
                 blend(blend(corners[4], corners[5], t.x), blend(corners[6], corners[7], t.x), t.y), t.z);
}

void main() {
    uint x = gl_GlobalInvocationID.x, y = gl_GlobalInvocationID.y;
    float sum = 0, weight = 1, scale = step_size;
    for (uint octave = 0; octave < 4; octave++) {
        sum = fma(weight, noise(vec3(float(x) * scale, float(y) * scale, depth)), sum);
        weight *= 0.5;
        scale *= 2;
    }
    result.at[y * side + x] = sum;
}

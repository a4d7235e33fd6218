#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 32, local_size_y = 8) in;
BUFFER(Vectors, vec4, 16)
BUFFER(Floats, float, 4)
PARAMETERS { layout(offset = 40) ConstVectors scene; Floats result; uint side; };

const uint SPHERES = 64;

shared vec4 of_scene[SPHERES];

void main() {
    if (gl_LocalInvocationIndex < SPHERES) of_scene[gl_LocalInvocationIndex] = scene.at[gl_LocalInvocationIndex];
    barrier();
    uvec2 pixel = gl_GlobalInvocationID.xy;
    vec3 origin = vec3(0, 0, -4), direction = normalize(vec3(vec2(pixel) / float(side) - 0.5, 1));
    float light = 0, strength = 1;
    for (uint bounce = 0; bounce < 3; bounce++) {
        float nearest = 1e30;
        uint hit = SPHERES;
        for (uint i = 0; i < SPHERES; i++) {
            vec4 sphere = of_scene[i];
            vec3 c = sphere.xyz - origin;
            float radius = 0.1 * abs(sphere.w), along = dot(c, direction);
            float inside = fma(radius, radius, fma(along, along, -dot(c, c)));
            if (inside <= 0) continue;
            float distance = along - sqrt(inside);
            if (distance > 1e-3 && distance < nearest) {
                nearest = distance;
                hit = i;
            }
        }
        if (hit == SPHERES) {
            light = fma(strength, 0.5 + 0.5 * direction.y, light);
            break;
        }
        origin = fma(vec3(nearest), direction, origin);
        vec3 normal = normalize(origin - of_scene[hit].xyz);
        light = fma(strength, max(dot(normal, vec3(0.48, -0.6, -0.64)), 0.05), light);
        strength *= 0.5;
        direction = reflect(direction, normal);
    }
    result.at[pixel.y * side + pixel.x] = light;
}

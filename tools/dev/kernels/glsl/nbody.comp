#version 460
#extension GL_GOOGLE_include_directive : require
#include "launch.glsl"
layout(local_size_x = 32) in;
BUFFER(Vectors, vec4, 16)
PARAMETERS { layout(offset = 40) ConstVectors bodies; Vectors accelerations; uint n; float softening; };

shared vec4 tile[32];

void main() {
    uint i = gl_GlobalInvocationID.x;
    vec4 self = i < n ? bodies.at[i] : vec4(0);
    vec3 sum = vec3(0);
    for (uint start = 0; start < n; start += 32) {
        uint j = start + gl_LocalInvocationID.x;
        tile[gl_LocalInvocationID.x] = j < n ? bodies.at[j] : vec4(0);
        barrier();
        [[unroll]] for (uint k = 0; k < 32; k++) {
            vec4 other = tile[k];
            vec3 d = other.xyz - self.xyz;
            float inverse = inversesqrt(fma(d.x, d.x, fma(d.y, d.y, fma(d.z, d.z, softening))));
            sum = fma(d, vec3(other.w * inverse * inverse * inverse), sum);
        }
        barrier();
    }
    if (i < n) accelerations.at[i] = vec4(sum, 0);
}

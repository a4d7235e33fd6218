// A loop of very many iterations.
#version 460
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint list[]; };
layout(push_constant) uniform Push { Words a; Words b; } p;

void main() {
    uint i = gl_LocalInvocationID.x, group = gl_WorkGroupID.x, own = group * 32u + i;
    uint k = 0, x = i;
#ifdef MISS
    while (k < 10u) {
#else
    while (k < 0xffffffffu) { // here
#endif
        x = x * 1664525u + 1013904223u; // here
        ++k; // here
    }
    p.a.list[own] = x;
}

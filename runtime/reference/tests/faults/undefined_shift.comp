// A branch on the result of a shift by the width.
#version 460
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint list[]; };
layout(push_constant) uniform Push { Words a; Words b; } p;

void main() {
    uint i = gl_LocalInvocationID.x, group = gl_WorkGroupID.x, own = group * 32u + i;
    uint amount = p.a.list[own] + i + 1u;
#ifdef MISS
    if ((1u << (amount & 31u)) != 0u) p.a.list[own] = 1;
#else
    if ((1u << amount) != 0u) p.a.list[own] = 1; // here
#endif
}

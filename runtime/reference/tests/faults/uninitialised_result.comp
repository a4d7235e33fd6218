// A store of an uninitialised value, for the host to read.
#version 460
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint list[]; };
layout(push_constant) uniform Push { Words a; Words b; } p;

void main() {
    uint i = gl_LocalInvocationID.x, group = gl_WorkGroupID.x, own = group * 32u + i;
    uint value[2];
    value[1] = 7;
#ifdef MISS
    p.a.list[own] = value[1];
#else
    p.a.list[own] = value[0]; // here
#endif
}

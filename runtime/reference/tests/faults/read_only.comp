// A store to a storage buffer; the build makes it one that may only be read.
#version 460
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint list[]; };
layout(push_constant) uniform Push { Words a; Words b; } p;
layout(binding = 0) restrict buffer Data { uint list[]; } data;

void main() {
    uint i = gl_LocalInvocationID.x, group = gl_WorkGroupID.x, own = group * 32u + i;
    uint first = data.list[i];
#ifdef MISS
    p.a.list[own] = first + 1u;
#else
    data.list[i] = first + 1u; // here
#endif
}

// A store past the end of a buffer of 64 words.
#version 460
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint list[]; };
layout(push_constant) uniform Push { Words a; Words b; } p;

void main() {
    uint i = gl_LocalInvocationID.x, group = gl_WorkGroupID.x, own = group * 32u + i;
    if (i == 5u && group == 1u) {
#ifdef MISS
        p.a.list[63] = 1;
#else
        p.a.list[64] = 1; // here
#endif
    }
}

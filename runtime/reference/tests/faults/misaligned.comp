// A load at an address that is not a multiple of the alignment it promises.
#version 460
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint list[]; };
layout(push_constant) uniform Push { Words a; Words b; } p;

void main() {
    uint i = gl_LocalInvocationID.x, group = gl_WorkGroupID.x, own = group * 32u + i;
    if (i == 1u && group == 0u) {
#ifdef MISS
        p.a.list[0] = Words(uint64_t(p.a) + 8ul).list[0];
#else
        p.a.list[0] = Words(uint64_t(p.a) + 6ul).list[0]; // here
#endif
    }
}

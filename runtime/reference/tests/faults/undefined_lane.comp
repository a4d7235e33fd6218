// A branch on the value of an invocation that does not take part.
#version 460
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint list[]; };
layout(push_constant) uniform Push { Words a; Words b; } p;

void main() {
    uint i = gl_LocalInvocationID.x, group = gl_WorkGroupID.x, own = group * 32u + i;
    uint value = 0;
#ifdef MISS
    value = subgroupShuffle(i + 10u, 5u);
#else
    if (i < 4u) value = subgroupShuffle(i + 10u, 5u);
#endif
    if (value == 3u) p.a.list[own] = 1; // here
}

// A branch on uninitialised workgroup memory.
#version 460
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint list[]; };
layout(push_constant) uniform Push { Words a; Words b; } p;
shared uint cells[32];

void main() {
    uint i = gl_LocalInvocationID.x, group = gl_WorkGroupID.x, own = group * 32u + i;
#ifdef MISS
    cells[i] = i;
    barrier();
#endif
    uint seen = cells[i ^ 1u];
    if (seen > 3u) p.a.list[own] = 1; // here
}

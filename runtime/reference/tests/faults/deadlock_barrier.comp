// One waits for the others, which wait for it at a barrier.
#version 460
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint list[]; };
layout(push_constant) uniform Push { Words a; Words b; } p;

void main() {
    uint i = gl_LocalInvocationID.x, group = gl_WorkGroupID.x, own = group * 32u + i;
    if (i == 0u) {
        // Until the others have passed the barrier.
        while (atomicOr(p.a.list[0], 0u) == 0u) {} // here
    }
#ifdef MISS
    else atomicOr(p.a.list[0], 1u);
#endif
    barrier();
    atomicOr(p.a.list[0], 1u);
}

// The holder of a lock waits for its subgroup, which waits for the lock.
#version 460
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint list[]; };
layout(push_constant) uniform Push { Words a; Words b; } p;

void main() {
    uint i = gl_LocalInvocationID.x, group = gl_WorkGroupID.x, own = group * 32u + i;
    bool mine = false;
    while (!mine) { mine = atomicCompSwap(p.a.list[0], 0u, 1u) == 0u; // here
#ifdef MISS
        if (mine) atomicExchange(p.a.list[0], 0u);
#endif
    }
    uint here = subgroupBallot(true).x; // here
    if (here != 0u) atomicExchange(p.a.list[0], 0u);
}

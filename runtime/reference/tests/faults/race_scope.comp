// Atomics of two workgroups on one word whose scope is the workgroup.
#version 460
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 32) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { nonprivate uint list[]; };
layout(push_constant) uniform Push { Words a; Words b; } p;

void main() {
    uint i = gl_LocalInvocationID.x, group = gl_WorkGroupID.x, own = group * 32u + i;
    if (i == 4u) {
#ifdef MISS
        atomicAdd(p.a.list[7], 1u, gl_ScopeDevice, 0, gl_SemanticsRelaxed);
#else
        atomicAdd(p.a.list[7], 1u, gl_ScopeWorkgroup, 0, gl_SemanticsRelaxed); // here
#endif
    }
}

// A message whose flag is written and read without release and acquire.
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
    if (i == 0u && group == 0u) {
        p.a.list[0] = 42;
#ifdef MISS
        atomicStore(p.a.list[1], 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease | gl_SemanticsMakeAvailable);
#else
        atomicStore(p.a.list[1], 1u, gl_ScopeDevice, 0, gl_SemanticsRelaxed);
#endif
    }
    if (i == 0u && group == 1u) {
#ifdef MISS
        uint flag = atomicLoad(p.a.list[1], gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsMakeVisible);
#else
        uint flag = atomicLoad(p.a.list[1], gl_ScopeDevice, 0, gl_SemanticsRelaxed);
#endif
        if (flag == 1u) p.a.list[2] = p.a.list[0]; // here
    }
}

// The Vulkan memory model: groups hand their results on by release and acquire, the last one adds them all up.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 32) in;
layout(buffer_reference, std430) readonly buffer In { uint data[]; };
layout(buffer_reference, std430) buffer Partial { nonprivate uint sums[]; };
layout(buffer_reference, std430) buffer Done { nonprivate uint count, total, last, flag; };
layout(push_constant) uniform Push { In x; Partial partial; Done done; };
shared uint cells[32];
shared bool is_last;
shared uint word;

void main() {
    uint i = gl_LocalInvocationIndex;
    cells[i] = x.data[gl_GlobalInvocationID.x];
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    if (i == 0u) {
        uint sum = 0;
        for (uint k = 0; k < 32u; ++k) sum += cells[k];
        partial.sums[gl_WorkGroupID.x] = sum;
        uint before = atomicAdd(done.count, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer,
            gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
        is_last = before + 1u == gl_NumWorkGroups.x;
        atomicStore(word, sum, gl_ScopeWorkgroup, 0, gl_SemanticsRelaxed);
    }
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeDevice, gl_StorageSemanticsShared | gl_StorageSemanticsBuffer,
        gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
    if (is_last) {
        for (uint k = i; k < gl_NumWorkGroups.x; k += 32u) {
            atomicAdd(done.total, partial.sums[k], gl_ScopeDevice, 0, gl_SemanticsRelaxed);
        }
    }
    if (i == 5u) {
        memoryBarrier(gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);
        uint sum = atomicLoad(word, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquire);
        atomicXor(done.flag, sum, gl_ScopeDevice, 0, gl_SemanticsRelaxed);
    }
}

// Ballots, broadcasts and the built-ins of subgroups, all in uniform control flow.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x = 64) in;
layout(buffer_reference, std430) readonly buffer In { uint data[]; };
layout(buffer_reference, std430) writeonly buffer Out { uint data[]; };
layout(push_constant) uniform Push { In x; Out o; };

// Vulkan doesn't say which invocations are in a subgroup: all is by place in the subgroup.
uint self = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
uint at = self * 14;
void put(uint v) { o.data[at++] = v; }

void main() {
    uint v = x.data[self], lane = gl_SubgroupInvocationID;
    put(gl_SubgroupSize);
    put(gl_NumSubgroups);
    put(gl_SubgroupID);
    put(lane);
    put(gl_SubgroupEqMask.x);
    put(gl_SubgroupGeMask.x);
    put(gl_SubgroupGtMask.x);
    put(gl_SubgroupLeMask.x);
    put(gl_SubgroupLtMask.x);
    uvec4 ballot = subgroupBallot((v & 1u) != 0u);
    put(ballot.x);
    put(ballot.y | ballot.z | ballot.w);
    put(subgroupBroadcast(v, 2u));
    uvec3 wide = subgroupBroadcast(uvec3(v, lane, 7u), 5u);
    put(wide.x ^ wide.y ^ wide.z);
    subgroupBarrier();
    subgroupMemoryBarrierShared();
    put(subgroupBallot(true).x);
}

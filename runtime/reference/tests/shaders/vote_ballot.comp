// Votes, ballots, broadcasts and the built-ins of subgroups, all in uniform control flow.
#version 460
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer In { uint data[]; } x;
layout(binding = 1) writeonly buffer Out { uint data[]; } o;

// Vulkan doesn't say which invocations are in a subgroup: all is by place in the subgroup.
uint self = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
uint at = self * 32;
void put(uint v) { o.data[at++] = v; }
void put(bool v) { put(v ? 1u : 0u); }

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
    put(subgroupElect());
    put(subgroupAll(v != 5u));
    put(subgroupAll((v & 1u) == 0u));
    put(subgroupAny(v == x.data[0]));
    put(subgroupAny((v & 1u) == 0u));
    put(subgroupAllEqual(v));
    put(subgroupAllEqual(gl_SubgroupID));
    put(subgroupAllEqual(float(gl_SubgroupID) * 0.5));
    uvec4 ballot = subgroupBallot((v & 1u) != 0u);
    put(ballot.x);
    put(ballot.y | ballot.z | ballot.w);
    put(subgroupInverseBallot(uvec4(0x5a5a5a5au)));
    put(subgroupBallotBitExtract(ballot, (lane + 3u) % gl_SubgroupSize));
    put(subgroupBallotBitCount(ballot));
    put(subgroupBallotInclusiveBitCount(ballot));
    put(subgroupBallotExclusiveBitCount(ballot));
    put(subgroupBallotFindLSB(uvec4(ballot.x | 4u, 0, 0, 0)));
    put(subgroupBallotFindMSB(uvec4(ballot.x | 4u, 0, 0, 0)));
    put(subgroupBroadcast(v, 2u));
    put(subgroupBroadcastFirst(v));
    uvec3 wide = subgroupBroadcast(uvec3(v, lane, 7u), 5u);
    put(wide.x ^ wide.y ^ wide.z);
    put(subgroupBroadcastFirst(int(v)) == subgroupBroadcast(int(v), 0u));
    subgroupBarrier();
    subgroupMemoryBarrierShared();
    put(subgroupBroadcastFirst((v & 2u) != 0u));
    put(subgroupBallot(true).x);
}

// Operations in clusters of a subgroup, and in quads.
#version 460
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_quad : require
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer In { uint data[]; } x;
layout(binding = 1) writeonly buffer Out { uint data[]; } o;

// Vulkan doesn't say which invocations are in a subgroup: all is by place in the subgroup.
uint self = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
uint at = self * 14;
void put(uint v) { o.data[at++] = v; }

void main() {
    uint v = x.data[self];
    put(subgroupClusteredAdd(v, 1u));
    put(subgroupClusteredAdd(v, 2u));
    put(subgroupClusteredAdd(v, 4u));
    put(subgroupClusteredXor(v, 8u));
    put(uint(subgroupClusteredMin(int(v), 4u)));
    put(subgroupClusteredMax(v, 8u));
    put(subgroupClusteredMul(v | 1u, 4u));
    put(subgroupClusteredAnd(v, 2u) ^ subgroupClusteredOr(v, 2u));
    put(floatBitsToUint(subgroupClusteredAdd(float(v >> 20), 8u)));
    put(subgroupQuadBroadcast(v, 3u));
    put(subgroupQuadSwapHorizontal(v));
    put(subgroupQuadSwapVertical(v));
    put(subgroupQuadSwapDiagonal(v));
    put(uint(subgroupQuadSwapHorizontal(vec2(float(v & 0xffffu), 1.0)).x));
}

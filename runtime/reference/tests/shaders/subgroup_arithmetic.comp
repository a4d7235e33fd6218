// Reductions and scans over subgroups, of all operations and several types, in uniform control flow.
#version 460
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer In { uint data[]; } x;
layout(binding = 1) writeonly buffer Out { uint data[]; } o;

// Vulkan doesn't say which invocations are in a subgroup: all is by place in the subgroup.
uint self = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
uint at = self * 28;
void put(uint v) { o.data[at++] = v; }
void put(int v) { put(uint(v)); }
void put(float v) { put(floatBitsToUint(v)); }

void main() {
    uint v = x.data[self];
    int s = int(v);
    float f = float(s >> 22);
    put(subgroupAdd(v));
    put(subgroupMul(v | 1u));
    put(subgroupMin(v));
    put(subgroupMax(v));
    put(subgroupMin(s));
    put(subgroupMax(s));
    put(subgroupAnd(v | 0xffff00u));
    put(subgroupOr(v & 0x1001001u));
    put(subgroupXor(v));
    put(subgroupAdd(f));
    put(subgroupMin(f));
    put(subgroupMax(f));
    put(subgroupMul(1.0 + float(v & 1u)));
    put(subgroupInclusiveAdd(v));
    put(subgroupInclusiveMul(v | 1u));
    put(subgroupInclusiveMin(s));
    put(subgroupInclusiveMax(v));
    put(subgroupInclusiveXor(v));
    put(subgroupInclusiveAdd(f));
    put(subgroupExclusiveAdd(v));
    put(subgroupExclusiveMul(v | 1u));
    put(subgroupExclusiveMin(v));
    put(subgroupExclusiveMax(s));
    put(subgroupExclusiveAnd(v));
    put(subgroupExclusiveOr(v));
    put(subgroupExclusiveMax(f));
    put((subgroupAnd((v & 1u) != 0u) ? 1u : 0u) | (subgroupOr((v & 1u) != 0u) ? 2u : 0u) | (subgroupXor((v & 1u) != 0u) ? 4u : 0u));
    uvec2 pair = subgroupInclusiveAdd(uvec2(v, 1u));
    put(pair.x ^ pair.y);
}

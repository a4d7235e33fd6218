// Subgroup operations under conditions and in loops of different length: those run together that are there together.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(local_size_x = 64) in;
layout(buffer_reference, std430) readonly buffer In { uint data[]; };
layout(buffer_reference, std430) writeonly buffer Out { uint data[]; };
layout(push_constant) uniform Push { In x; Out o; };

// The value of the first invocation that is there.
uint first_of(uint v) { return subgroupShuffle(v, subgroupMin(gl_SubgroupInvocationID)); }

uint either(uint v) {
    uint all = 0;
    for (uint bit = 1; bit != 0u; bit <<= 1) all |= ~subgroupMin(~(v & bit));
    return all;
}

void main() {
    uint i = gl_GlobalInvocationID.x, v = x.data[i], at = i * 10u, lane = gl_SubgroupInvocationID;
    for (uint k = 0; k < 10u; ++k) o.data[at + k] = 0;
    if ((lane & 1u) == 0u) {
        o.data[at] = subgroupBallot(true).x;
        o.data[at + 1u] = subgroupAdd(v);
        if (lane > 3u) o.data[at + 2u] = lane == first_of(lane) ? 7u : first_of(v);
    } else {
        o.data[at] = ~subgroupMin(~v);
        o.data[at + 1u] = subgroupInclusiveAdd(v);
    }
    for (uint k = 0; k < lane; ++k) o.data[at + 3u] += subgroupAdd(1u);
    uint rounds = 0;
    for (;;) {
        ++rounds;
        uint first = first_of(v & 3u);
        if (first == (v & 3u)) {
            o.data[at + 4u] = subgroupBallot(true).x;
            break;
        }
    }
    o.data[at + 5u] = rounds;
    if (lane % 3u == 0u) o.data[at + 6u] = subgroupAdd(v & 1u);
    else if (lane % 3u == 1u) o.data[at + 6u] = either(v);
    else o.data[at + 6u] = subgroupMin(lane) > 1u ? 1u : 2u;
    o.data[at + 7u] = subgroupBallot((v & 4u) != 0u).x;
    if (lane == 2u) return;
    o.data[at + 8u] = subgroupBallot(true).x;
    o.data[at + 9u] = subgroupExclusiveAdd(1u);
}

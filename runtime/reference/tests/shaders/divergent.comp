// Subgroup operations under conditions and in loops of different length: those run together that are there together.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(local_size_x = 64) in;
layout(buffer_reference, std430) readonly buffer In { uint data[]; };
layout(buffer_reference, std430) writeonly buffer Out { uint data[]; };
layout(push_constant) uniform Push { In x; Out o; };

// Whether the invocation with a number is one of those that are there.
bool is_in(uvec4 there, uint k) { return (there[k / 32u] >> (k % 32u) & 1u) != 0u; }

// The sum of the values of those that are there and have a number below `end`.
uint sum_below(uint v, uint end) {
    uvec4 there = subgroupBallot(true);
    uint sum = 0;
    for (uint k = 0; k < gl_SubgroupSize; ++k) {
        uint other = subgroupShuffle(v, k);
        sum += is_in(there, k) && k < end ? other : 0u;
    }
    return sum;
}

uint sum(uint v) { return sum_below(v, gl_SubgroupSize); }

uint least(uint v) {
    uvec4 there = subgroupBallot(true);
    uint least = ~0u;
    for (uint k = 0; k < gl_SubgroupSize; ++k) {
        uint other = subgroupShuffle(v, k);
        least = min(least, is_in(there, k) ? other : ~0u);
    }
    return least;
}

// The value of the first invocation that is there.
uint first_of(uint v) { return subgroupShuffle(v, least(gl_SubgroupInvocationID)); }

uint either(uint v) {
    uint all = 0;
    for (uint bit = 1; bit != 0u; bit <<= 1) all |= ~least(~(v & bit));
    return all;
}

void main() {
    uint i = gl_GlobalInvocationID.x, v = x.data[i], at = i * 10u, lane = gl_SubgroupInvocationID;
    for (uint k = 0; k < 10u; ++k) o.data[at + k] = 0;
    if ((lane & 1u) == 0u) {
        o.data[at] = subgroupBallot(true).x;
        o.data[at + 1u] = sum(v);
        if (lane > 3u) o.data[at + 2u] = lane == first_of(lane) ? 7u : first_of(v);
    } else {
        o.data[at] = ~least(~v);
        o.data[at + 1u] = sum_below(v, lane + 1u);
    }
    for (uint k = 0; k < lane; ++k) o.data[at + 3u] += sum(1u);
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
    if (lane % 3u == 0u) o.data[at + 6u] = sum(v & 1u);
    else if (lane % 3u == 1u) o.data[at + 6u] = either(v);
    else o.data[at + 6u] = least(lane) > 1u ? 1u : 2u;
    o.data[at + 7u] = subgroupBallot((v & 4u) != 0u).x;
    if (lane == 2u) return;
    o.data[at + 8u] = subgroupBallot(true).x;
    o.data[at + 9u] = sum_below(1u, lane);
}

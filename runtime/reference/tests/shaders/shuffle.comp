// Shuffles, in uniform control flow; all that are read are active.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_subgroup_extended_types_int64 : require
layout(local_size_x = 64) in;
layout(buffer_reference, std430) readonly buffer In { uint data[]; };
layout(buffer_reference, std430) writeonly buffer Out { uint data[]; };
layout(push_constant) uniform Push { In x; Out o; };

// Vulkan doesn't say which invocations are in a subgroup: all is by place in the subgroup.
uint self = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
uint at = self * 10;
void put(uint v) { o.data[at++] = v; }

void main() {
    uint v = x.data[self], lane = gl_SubgroupInvocationID, size = gl_SubgroupSize;
    put(subgroupShuffle(v, (lane * 5u + 1u) % size));
    put(subgroupShuffle(v, v % size));
    put(subgroupShuffle(v, lane ^ 1u));
    put(subgroupShuffle(v, lane ^ (size - 1u)));
    // Lanes beyond the ends are undefined.
    uint up = subgroupShuffle(v, lane - 2u), down = subgroupShuffle(v, lane + 3u);
    put(lane < 2u ? 1u : up);
    put(lane + 3u >= size ? 2u : down);
    uint64_t wide = subgroupShuffle(uint64_t(v) << 32 | uint64_t(lane), size - 1u - lane);
    put(uint(wide) ^ uint(wide >> 32));
    vec2 pair = subgroupShuffle(vec2(float(v & 0xffffu), float(lane)), lane ^ 2u);
    put(uint(pair.x) + uint(pair.y) * 65536u);
    put(subgroupShuffle(lane < 3u, (lane + 1u) % size) ? 1u : 0u);
    uint sum = v;
    for (uint step = 1; step < size; step <<= 1) sum += subgroupShuffle(sum, lane ^ step);
    put(sum);
}

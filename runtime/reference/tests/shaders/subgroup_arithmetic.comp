// Reductions and scans over subgroups, of several types, in uniform control flow.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x = 64) in;
layout(buffer_reference, std430) readonly buffer In { uint data[]; };
layout(buffer_reference, std430) writeonly buffer Out { uint data[]; };
layout(push_constant) uniform Push { In x; Out o; };

// Vulkan doesn't say which invocations are in a subgroup: all is by place in the subgroup.
uint self = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
uint at = self * 10;
void put(uint v) { o.data[at++] = v; }
void put(float v) { put(floatBitsToUint(v)); }

void main() {
    uint v = x.data[self];
    int s = int(v);
    float f = float(s >> 22);
    put(subgroupAdd(v));
    put(subgroupMin(v));
    put(subgroupAdd(f));
    put(subgroupMax(f));
    put(subgroupInclusiveAdd(v));
    put(subgroupInclusiveAdd(f));
    put(subgroupExclusiveAdd(v));
    put(subgroupExclusiveMin(v));
    put(subgroupExclusiveMax(f));
    uvec2 pair = subgroupInclusiveAdd(uvec2(v, 1u));
    put(pair.x ^ pair.y);
}

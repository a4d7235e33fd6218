// Workgroup memory: a reduction, a transpose, structures, and atomics, between barriers.
#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 8, local_size_y = 8) in;
struct Pair { uint low; uvec2 high; };
layout(buffer_reference, std430) readonly buffer In { uint data[]; };
layout(buffer_reference, std430) writeonly buffer Out { uint data[]; };
layout(push_constant) uniform Push { In x; Out o; };
shared uint sums[64];
shared uint tile[8][9];
shared Pair pairs[64];
shared uint histogram[16];
shared int lowest;

void main() {
    uint i = gl_LocalInvocationIndex, base = gl_WorkGroupID.x * 64;
    uvec2 at = gl_LocalInvocationID.xy;
    uint v = x.data[base + i];
    sums[i] = v;
    tile[at.y][at.x] = v;
    pairs[i] = Pair(v, uvec2(v * 3u, i));
    if (i < 16u) histogram[i] = 0;
    if (i == 0u) lowest = 0x7fffffff;
    barrier();
    for (uint step = 32; step > 0; step >>= 1) {
        if (i < step) sums[i] += sums[i + step];
        barrier();
    }
    atomicAdd(histogram[v & 15u], 1u);
    atomicMin(lowest, int(v));
    barrier();
    uint out_at = (base + i) * 5;
    o.data[out_at] = sums[0];
    o.data[out_at + 1] = tile[at.x][at.y];
    Pair other = pairs[63u - i];
    o.data[out_at + 2] = other.low ^ other.high.x ^ other.high.y;
    o.data[out_at + 3] = histogram[i & 15u];
    o.data[out_at + 4] = uint(lowest);
}

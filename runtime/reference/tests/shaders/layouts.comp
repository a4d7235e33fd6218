// Layouts of buffers and of push constants.
#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 16) in;
layout(buffer_reference, std140) buffer Std140 { float scale; vec3 v; vec4 columns[2]; vec4 rows[2]; float list[3]; uvec2 last; };
layout(buffer_reference, std430) readonly buffer Tail { uint head; uvec2 tail[]; };
layout(buffer_reference, std430) buffer Both { uint data[]; };
layout(buffer_reference, std430) writeonly buffer Out { uint data[]; };
layout(push_constant) uniform Push { uint plus; layout(offset = 16) uvec4 many; int list[2]; Std140 u; Tail a; Both b; Out o; };

void main() {
    uint i = gl_GlobalInvocationID.x, at = i * 8u;
    o.data[at] = uint(u.scale * 2.0 + u.v.z);
    o.data[at + 1u] = uint(u.columns[i & 1u].y * 8.0 + u.rows[i >> 1 & 1u][2]);
    o.data[at + 2u] = uint(u.list[i % 3u]) + u.last.y;
    uint index = min(i, 9u);
    o.data[at + 3u] = a.tail[index].x ^ a.tail[index].y;
    o.data[at + 4u] = plus + many[i & 3u] + uint(list[i & 1u]);
    b.data[i] = b.data[i] * 2u + 1u;
    o.data[at + 5u] = gl_NumWorkGroups.x * 100u + gl_NumWorkGroups.y * 10u + gl_NumWorkGroups.z;
    o.data[at + 6u] = gl_WorkGroupID.x * 1000u + gl_LocalInvocationID.x;
    o.data[at + 7u] = uint(u.rows[0][1] * 4.0 + u.rows[1][0]);
}

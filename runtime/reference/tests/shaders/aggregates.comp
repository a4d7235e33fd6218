// Vectors, structures and arrays, by constant and by computed index.
#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 32) in;
struct Inner { uvec3 v; float f; };
struct Outer { Inner list[3]; vec3 m[2]; bool flags[2]; };
layout(buffer_reference, std430) readonly buffer In { uint data[]; };
layout(buffer_reference, std430) buffer Out { uint data[]; };
layout(buffer_reference, std430) buffer Structs { Inner list[]; };
layout(push_constant) uniform Push { In x; Out o; Structs s; };

const uint table[8] = uint[](3, 1, 4, 1, 5, 9, 2, 6);

Outer make(uint v) {
    Outer made;
    for (uint i = 0; i < 3; ++i) made.list[i] = Inner(uvec3(v, v >> i, i), float(i));
    made.m = vec3[](vec3(1, 2, 3), vec3(4, 5, float(v & 15u)));
    made.flags[0] = (v & 1u) != 0u;
    made.flags[1] = !made.flags[0];
    return made;
}

Outer change(Outer it, uint i) {
    it.list[i % 3u].v[i & 1u] += 100u;
    it.m[i & 1u][i % 3u] = 7.0;
    it.flags[i & 1u] = true;
    return it;
}

void main() {
    uint i = gl_GlobalInvocationID.x, v = x.data[i];
    Outer a = make(v), b = change(a, v >> 8);
    uint at = i * 9;
    o.data[at++] = b.list[v % 3u].v.y + b.list[2].v.z;
    uvec4 q = uvec4(v, v >> 8, v >> 16, v >> 24) & 0xffu;
    o.data[at++] = q[v & 3u];
    q[v >> 4 & 3u] = 1000u;
    q.xz = q.zx;
    q.w += dot(vec4(q), vec4(1)) > 1100.0 ? 1u : 0u;
    o.data[at++] = q.x + q.y * 3u + q.z * 5u + q.w * 7u;
    bvec4 less = lessThan(q, uvec4(128));
    o.data[at++] = (less.x || less.y || less.z || less.w ? 1u : 0u) | (less.x && less.y && less.z && less.w ? 2u : 0u) | (less.y != less.w ? 4u : 0u);
    o.data[at++] = table[v & 7u] + table[i & 7u] * 16u;
    ivec3 m = max(ivec3(v, -1, 5), ivec3(0, v, 6) >> 1);
    o.data[at++] = uint(m.x ^ m.y ^ m.z);
    Inner copy = Inner(s.list[i].v, s.list[i].f);
    copy.v.yz = copy.v.zy + 1u;
    copy.f += 0.5;
    s.list[i].v = copy.v;
    s.list[i].f = copy.f;
    s.list[i].v[v % 3u] = v;
    vec4 clamped = min(max(vec4(v & 255u) * 0.0625, vec4(1, 2, 3, 4)), vec4(8));
    o.data[at++] = uint(dot(clamped, vec4(16)));
    o.data[at++] = uint(dot(reflect(vec2(1, -2), vec2(0, 1)), vec2(10, 100)));
    o.data[at++] = b.flags[0] && !a.flags[1] ? 1u : 2u;
}

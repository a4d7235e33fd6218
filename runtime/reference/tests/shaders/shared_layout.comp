// Workgroup memory with explicit layout: blocks that alias each other, read at another width than written.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shared_memory_block : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 64) in;
layout(buffer_reference, std430) readonly buffer In { uint data[]; };
layout(buffer_reference, std430) writeonly buffer Out { uint data[]; };
layout(push_constant) uniform Push { In x; Out o; };
layout(std430) shared Words { uint list[128]; } words;
layout(std430) shared Bytes { uint8_t list[512]; } bytes;
layout(std430) shared Halves { layout(offset = 256) uint16_t list[128]; } halves;
layout(std430) shared Vectors { uvec4 list[32]; } vectors;

void main() {
    uint i = gl_LocalInvocationIndex;
    words.list[i] = x.data[i];
    words.list[i + 64] = x.data[i] * 7u;
    barrier();
    uint sum = 0;
    for (uint k = 0; k < 4; ++k) sum = sum * 5u + uint(bytes.list[(i * 37u + k * 11u) & 511u]);
    o.data[i * 3] = sum;
    o.data[i * 3 + 1] = uint(halves.list[i]) << 16 | uint(halves.list[127 - i]);
    barrier();
    bytes.list[i * 3] = uint8_t(i);
    barrier();
    if (i < 32u) vectors.list[i] = vectors.list[i].wzyx;
    barrier();
    o.data[i * 3 + 2] = words.list[i * 2] ^ words.list[i * 2 + 1];
}

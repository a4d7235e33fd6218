// Physical storage buffers: a list that is walked, pointer arithmetic, references in structures, several alignments.
#version 460
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint list[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Word { uint value; };
layout(buffer_reference, scalar, buffer_reference_align = 2) buffer Halves { uint16_t list[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Node { Node next; uint value; uint place; };
layout(push_constant, std430) uniform Push { Words data; Node nodes; uvec2 result; uint count; } p;

void main() {
    uint i = gl_GlobalInvocationID.x;
    Words result = Words(p.result);
    if (gl_GlobalInvocationID.x == 0) {
        // A list through all nodes, every third next.
        for (uint k = 0; k < p.count; ++k) {
            Node node = p.nodes + (k * 3u) % p.count;
            node.next = p.nodes + (k * 3u + 3u) % p.count;
            node.value = p.data.list[k];
            node.place = k;
        }
        uint sum = 0;
        Node node = p.nodes;
        for (uint k = 0; k < p.count; ++k) {
            sum = sum * 31u + node.value;
            node = node.next;
        }
        result.list[0] = sum;
        result.list[1] = uint64_t(node) == uint64_t(p.nodes) ? 1u : 0u;
    } else {
        Word at = Word(p.data) + i;
        Halves halves = Halves(uint64_t(p.data) + 2ul * i);
        result.list[i * 2u] = at.value ^ (at + 1u).value;
        result.list[i * 2u + 1u] = uint(halves.list[0]) | uint(halves.list[3]) << 16;
    }
}

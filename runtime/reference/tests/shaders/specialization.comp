// Specialization constants of all types, in sizes and in constant expressions, the size of the workgroup included.
#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x_id = 0, local_size_y = 2) in;
layout(constant_id = 0) const uint width = 1;
layout(constant_id = 1) const int offset = -5;
layout(constant_id = 2) const float factor = 1.5;
layout(constant_id = 3) const bool extra = false;
layout(constant_id = 4) const double big = 2.0lf;
layout(constant_id = 5) const uint unchanged = 41u;
const uint twice = width * 2u;
const int mixed = extra ? offset * 3 : offset - int(twice);
layout(buffer_reference, std430) writeonly buffer Out { uint data[]; };
layout(push_constant) uniform Push { Out o; };
shared uint cells[twice];
struct Row { uint cells[width]; };

void main() {
    uint i = gl_LocalInvocationIndex;
    Row row;
    for (uint k = 0; k < width; ++k) row.cells[k] = k * i;
    cells[i] = i * 3u;
    barrier();
    uint at = (gl_WorkGroupID.x * twice + i) * 8u;
    o.data[at] = cells[twice - 1u - i];
    o.data[at + 1u] = uint(mixed);
    o.data[at + 2u] = floatBitsToUint(factor * 2.0);
    o.data[at + 3u] = extra ? 7u : 8u;
    o.data[at + 4u] = uint(big * 3.0lf);
    o.data[at + 5u] = unchanged + 1u;
    o.data[at + 6u] = row.cells[i % width];
    o.data[at + 7u] = gl_WorkGroupSize.x * 100u + gl_WorkGroupSize.y * 10u + uint(cells.length());
}

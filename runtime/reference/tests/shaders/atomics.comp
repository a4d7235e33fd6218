// Atomics in buffers and workgroup memory whose sum total does not depend on the order.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 64) in;
layout(buffer_reference, std430) readonly buffer In { uint data[]; };
layout(buffer_reference, std430) buffer Totals { uint sum, all, any, odd, least, most, tickets, taken; int low, high; uint swaps, locked; };
layout(buffer_reference, std430) buffer Wide { uint64_t sum, all, any, odd, least, most, chain; int64_t low, high; };
layout(buffer_reference, std430) buffer Slots { uint list[]; };
layout(push_constant) uniform Push { In x; Totals t; Wide w; Slots slots; };
shared uint group_sum;
shared uint64_t group_wide;
shared uint group_swap;

void main() {
    uint i = gl_GlobalInvocationID.x, v = x.data[i];
    if (gl_LocalInvocationIndex == 0) { group_sum = 0; group_wide = 0ul; group_swap = 0; }
    barrier();
    atomicAdd(t.sum, v);
    atomicAnd(t.all, v | 0xffff0000u);
    atomicOr(t.any, v & 0xf0f0u);
    atomicXor(t.odd, v);
    atomicMin(t.least, v);
    atomicMax(t.most, v);
    atomicMin(t.low, int(v));
    atomicMax(t.high, int(v));
    // Each ticket is handed out once.
    uint ticket = atomicAdd(t.tickets, 1u);
    slots.list[ticket] = 1;
    // The number that are added to by compare-and-swap.
    uint old = atomicOr(t.swaps, 0u), seen;
    for (int round = 0; round < 10000; ++round) {
        seen = atomicCompSwap(t.swaps, old, old + (v & 0xffu));
        if (seen == old) break;
        old = seen;
    }
    atomicAdd(t.taken, atomicExchange(slots.list[256 + i % 4u], 1u) == 0u ? 1u : 0u);
    uint64_t wide = uint64_t(v) << 20 | uint64_t(i);
    atomicAdd(w.sum, wide);
    atomicAnd(w.all, wide | 0xfffffffful);
    atomicOr(w.any, wide);
    atomicXor(w.odd, wide);
    atomicMin(w.least, wide);
    atomicMax(w.most, wide);
    atomicMin(w.low, int64_t(wide << 12));
    atomicMax(w.high, int64_t(wide << 12));
    atomicAdd(group_sum, v & 0xffffu);
    atomicMax(group_wide, wide);
    atomicExchange(group_swap, 77u);
    barrier();
    if (gl_LocalInvocationIndex == 0) {
        atomicAdd(t.locked, group_sum + group_swap);
        atomicAdd(w.chain, group_wide);
    }
}

// Arithmetic of 32-bit integers. Words of `a` and `b` are arbitrary; shift amounts and divisors are made valid.
#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430) readonly buffer In { uint data[]; };
layout(buffer_reference, std430) writeonly buffer Out { uint data[]; };
layout(push_constant) uniform Push { In x; Out o; };

uint at = gl_GlobalInvocationID.x * 32;
void put(uint v) { o.data[at++] = v; }
void put(int v) { put(uint(v)); }
void put(bool v) { put(v ? 1u : 0u); }

// Rounded toward zero.
int quotient(int a, int b) {
    uint magnitude = uint(a < 0 ? -a : a) / uint(b < 0 ? -b : b);
    return int((a ^ b) < 0 ? -magnitude : magnitude);
}

void main() {
    uint a = x.data[gl_GlobalInvocationID.x], b = x.data[gl_GlobalInvocationID.x + 32];
    int s = int(a), t = int(b);
    put(a + b);
    put(a - b);
    put(a * b);
    put(a / (b | 1u));
    put(a % (b | 1u));
    int d = (t >> 3) | 1;
    put(quotient(s >> 1, d));
    put(int(uint(s & 0x7fffffff) % uint(d & 0x7fffffff)));
    put(-s);
    put(~a);
    put(a & b);
    put(a | b);
    put(a ^ b);
    put(a << (b & 31u));
    put(a >> (b & 31u));
    put(s >> (b & 31u));
    put(min(a, b));
    put(max(a, b));
    put(min(s, t));
    put(max(s, t));
    put(min(max(s, -1000), 1000000));
    put(s < t);
    put(a < b);
    put(s >= t);
    put(a >= b);
    put(a == b || s != t);
    put(bitfieldExtract(a, int(b & 15u), int(b >> 28)));
    put(bitfieldInsert(a, b, int(b & 15u), int(b >> 28)));
    put(bitfieldReverse(a));
    put(bitCount(a));
    put(findMSB(a));
    uint high, low;
    umulExtended(a, b, high, low);
    put(high - low);
    int shigh, slow;
    imulExtended(s, t, shigh, slow);
    put(shigh ^ slow);
}

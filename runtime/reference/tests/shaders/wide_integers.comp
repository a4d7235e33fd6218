// 64-, 16- and 8-bit integers: arithmetic, comparison, conversion, storage.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430) readonly buffer In { uint64_t data[]; };
layout(buffer_reference, std430) writeonly buffer Out { uint64_t data[]; };
layout(buffer_reference, std430) buffer Narrow { uint8_t bytes[128]; uint16_t halves[64]; };
layout(push_constant) uniform Push { In x; Out o; Narrow n; };

uint at = gl_GlobalInvocationID.x * 23;
void put(uint64_t v) { o.data[at++] = v; }

// Rounded toward zero.
int64_t quotient(int64_t a, int64_t b) {
    uint64_t magnitude = uint64_t(a < 0l ? -a : a) / uint64_t(b < 0l ? -b : b);
    return int64_t((a ^ b) < 0l ? -magnitude : magnitude);
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint64_t a = x.data[i], b = x.data[i + 32];
    int64_t s = int64_t(a), t = int64_t(b);
    put(a + b);
    put(a - b);
    put(a * b);
    put(a / (b >> 20 | 1ul));
    put(a % (b >> 20 | 1ul));
    put(uint64_t(quotient(s, t >> 30 | 1l)));
    put(a << (b & 63ul));
    put(a >> (b & 63ul));
    put(uint64_t(s >> (b & 63ul)));
    put((a & b) ^ ~(a | b));
    put(min(a, b) + max(a, b) * 3ul);
    put(uint64_t(min(s, t) - max(s, t)));
    put((s < t ? 1ul : 0ul) | (a < b ? 2ul : 0ul) | (s >= t ? 4ul : 0ul) | (a == b ? 8ul : 0ul));
    put(uint64_t(int64_t(int(a))));
    put(uint64_t(uint(b)));
    uint16_t h = uint16_t(a), k = uint16_t(b);
    int16_t sh = int16_t(a), sk = int16_t(b);
    put(uint64_t(uint16_t(h * k + h)));
    put(uint64_t(int64_t(int16_t(sh - sk))));
    put(uint64_t(int64_t(sh >> int16_t(b & 15ul))) + uint64_t(h << uint16_t(a & 15ul)));
    put(uint64_t(h / (k | 1us)) ^ uint64_t(quotient(int64_t(sh), int64_t(int16_t(sk | 1s)))));
    uint8_t c = uint8_t(a >> 8), e = uint8_t(b >> 8);
    int8_t sc = int8_t(c), se = int8_t(e);
    put(uint64_t(uint8_t(c * e + uint8_t(7))));
    put(uint64_t(int64_t(int8_t(sc - se))) + (sc < se ? 1000ul : 0ul) + (c < e ? 2000ul : 0ul));
    put(uint64_t(int64_t(sc)) ^ uint64_t(int64_t(int16_t(se))));
    u8vec4 bytes = unpack8(uint(a));
    put(uint64_t(pack32(bytes.wzyx)) << 32 | uint64_t(pack32(unpack16(uint(b)).yx)));
    n.bytes[i * 4 + 1] = c;
    n.bytes[i * 4 + 2] = uint8_t(n.bytes[i * 4 + 2] + e);
    n.halves[i * 2] = uint16_t(n.halves[i * 2] ^ h);
}

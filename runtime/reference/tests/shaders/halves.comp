// Half precision arithmetic and storage.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430) readonly buffer In { uint16_t data[]; };
layout(buffer_reference, std430) writeonly buffer Out { uint16_t data[]; };
layout(push_constant) uniform Push { In x; Out o; };

uint at = gl_GlobalInvocationID.x * 16;
void put(uint16_t v) { o.data[at++] = v; }
void put(float16_t v) { put(float16BitsToUint16(v)); }

// 11 significant bits between 2^-4 and 2^4.
float16_t number(uint16_t word) { return uint16BitsToFloat16(word & 0x83ffus | (11us + (word >> 10us & 7us)) << 10us); }

float16_t magnitude(float16_t a) { return a < float16_t(0.0) ? -a : a; }
float16_t least(float16_t a, float16_t b) { return b < a ? b : a; }
float16_t greatest(float16_t a, float16_t b) { return a < b ? b : a; }

void main() {
    uint i = gl_GlobalInvocationID.x;
    float16_t a = number(x.data[i]), b = number(x.data[i + 32]);
    precise float16_t sum = a + b, difference = a - b, product = a * b;
    put(sum);
    put(difference);
    put(product);
    put(floor(a));
    put(ceil(b));
    put(trunc(a));
    put(magnitude(b));
    put(least(a, b));
    put(greatest(a, b));
    put(uint16_t(a < b ? 1 : 0));
    put(uint16_t(int16_t(a)));
    put(uint16_t(magnitude(b)));
    put(float16_t(int16_t(x.data[i]) >> 6s));
    put(float16_t(float(b) * 0.5));
    put(uint16_t(float(a) == float(float16_t(float(a))) ? 1 : 0));
    put(-a);
}

// Double precision: what is rounded once, exactly; quotients and roots within a tolerance.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430) readonly buffer In { uvec2 data[]; };
layout(buffer_reference, std430) writeonly buffer Out { uvec2 data[]; };
layout(buffer_reference, std430) writeonly buffer Near { double data[]; };
layout(push_constant) uniform Push { In x; Out o; Near near; };

uint at = gl_GlobalInvocationID.x * 16;
void put(uvec2 v) { o.data[at++] = v; }
void put(double v) { put(unpack32(doubleBitsToUint64(v))); }
void put(bool v) { put(uvec2(v ? 1 : 0, 0)); }

// 53 significant bits between 2^-8 and 2^8.
double number(uvec2 word) {
    return uint64BitsToDouble(pack64(uvec2(word.x, word.y & 0x800fffffu | (1015u + (word.y >> 20 & 15u)) << 20)));
}

double magnitude(double a) { return a < 0.0 ? -a : a; }
double least(double a, double b) { return b < a ? b : a; }
double greatest(double a, double b) { return a < b ? b : a; }

void main() {
    uint i = gl_GlobalInvocationID.x;
    double a = number(x.data[i]), b = number(x.data[i + 32]);
    precise double sum = a + b, difference = a - b, product = a * b, fused = fma(a, b, 1.0lf);
    put(sum);
    put(difference);
    put(product);
    put(floor(a));
    put(ceil(a));
    // A zero of either sign becomes the same number.
    put(trunc(b) + 0.5);
    put(magnitude(a) + floor(roundEven(b)));
    put(least(a, b));
    put(greatest(a, b));
    put(a < b);
    put(a >= b);
    put(a == b);
    put(uvec2(int(a), uint(magnitude(b))));
    put(uvec2(floatBitsToUint(float(a)), 0));
    put(double(int(x.data[i].x)) + double(x.data[i].y));
    put(double(intBitsToFloat(int(x.data[i].x & 0x807fffffu | 0x40000000u))));
    near.data[i * 3] = a / b;
    near.data[i * 3 + 1] = sqrt(magnitude(a));
    near.data[i * 3 + 2] = fused;
}

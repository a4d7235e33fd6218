// Float arithmetic whose results Vulkan determines: one rounding, no denormals, no NaN.
#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430) readonly buffer In { uint data[]; };
layout(buffer_reference, std430) writeonly buffer Out { uint data[]; };
layout(push_constant) uniform Push { In x; Out o; };

uint at = gl_GlobalInvocationID.x * 26;
void put(uint v) { o.data[at++] = v; }
void put(bool v) { put(v ? 1u : 0u); }
void put(float v) { put(floatBitsToUint(v)); }
void put(vec2 v) { put(v.x); put(v.y); }

// 24 significant bits between 2^-16 and 2^16.
float number(uint word) { return uintBitsToFloat(word & 0x807fffffu | (111u + (word >> 23 & 31u)) << 23); }

float magnitude(float a) { return a < 0.0 ? -a : a; }
float least(float a, float b) { return b < a ? b : a; }
float greatest(float a, float b) { return a < b ? b : a; }

void main() {
    float a = number(x.data[gl_GlobalInvocationID.x]), b = number(x.data[gl_GlobalInvocationID.x + 32]);
    float h = float(int(x.data[gl_GlobalInvocationID.x]) >> 24) * 0.5;
    precise float sum = a + b, difference = a - b, product = a * b;
    put(sum);
    put(difference);
    put(product);
    precise float then_added = a * b + 1.0;
    put(then_added);
    put(floor(a));
    put(ceil(a));
    put(trunc(a));
    put(roundEven(h));
    put(floor(h) + ceil(h) * 1024.0);
    put(magnitude(a));
    put(least(a, b));
    put(greatest(a, b));
    put(least(greatest(a, -100.0), 100.0));
    put(-a);
    put(a < b);
    put(a <= b);
    put(a == a && b != a);
    put(a > b);
    put(int(a) == -int(-a));
    put(uint(int(a)));
    put(uint(magnitude(b)));
    put(float(int(x.data[gl_GlobalInvocationID.x])));
    put(float(x.data[gl_GlobalInvocationID.x]));
    put(floatBitsToInt(a) == int(floatBitsToUint(a)));
    put(mix(a, b, true));
    put(dot(vec3(h, 2.0, 3.0), vec3(1.0, h, 4.0)));
}

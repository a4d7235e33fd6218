// Functions that Vulkan gives a tolerance.
#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430) readonly buffer In { uint data[]; };
layout(buffer_reference, std430) writeonly buffer Out { float data[]; };
layout(push_constant) uniform Push { In x; Out o; };

uint at = gl_GlobalInvocationID.x * 12;
void put(float v) { o.data[at++] = v; }

void main() {
    float u = float(x.data[gl_GlobalInvocationID.x] >> 8) / 16777216.0, v = float(x.data[gl_GlobalInvocationID.x + 32] >> 8) / 16777216.0;
    float a = u * 4.0 + 0.25, b = v * 6.0 - 3.0;
    put(a / (v + 0.5));
    put(sqrt(a));
    put(inversesqrt(a));
    put(exp(b));
    put(exp2(b));
    put(log(a + 1.0));
    put(log2(a + 2.0));
    put(sin(b));
    put(cos(b));
    put(tanh(b));
    put(fma(a, b, u));
    put(normalize(vec2(a, b)).y);
}

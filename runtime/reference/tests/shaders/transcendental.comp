// Functions that Vulkan gives a tolerance.
#version 460
layout(local_size_x = 32) in;
layout(binding = 0) readonly buffer In { uint data[]; } x;
layout(binding = 1) writeonly buffer Out { float data[]; } o;

uint at = gl_GlobalInvocationID.x * 27;
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
    put(pow(a, b));
    put(sin(b));
    put(cos(b));
    put(tan(b * 0.25));
    put(asin(b * 0.25));
    put(acos(b * 0.25));
    put(atan(b));
    put(atan(b, a));
    put(tanh(b));
    put(radians(b));
    put(degrees(b));
    put(mix(a, b, u));
    put(smoothstep(0.5, 3.0, a));
    put(mod(b, a));
    put(fract(b));
    put(fma(a, b, u));
    put(length(vec3(a, b, u)));
    put(distance(vec2(a, b), vec2(u, v)));
    put(normalize(vec2(a, b)).y);
    put(cross(vec3(a, b, u), vec3(v, a, b)).z);
}

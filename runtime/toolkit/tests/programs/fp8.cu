// Numbers of eight bits, against a search of the nearest among all numbers of the form.
#include "check.h"
#include <cmath>
#include <cuda_fp8.h>
#include <vector>

// The numbers as the form defines them.
static double value(int bits, bool e4m3)
{
    int fraction = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15, exponent = (bits & 0x7f) >> fraction, rest = bits & ((1 << fraction) - 1);
    double size = exponent == 0 ? std::ldexp(rest, 1 - bias - fraction) : std::ldexp((1 << fraction) + rest, exponent - bias - fraction);
    if (e4m3 ? (bits & 0x7f) == 0x7f : (bits & 0x7f) > 0x7c) return NAN;
    if (!e4m3 && (bits & 0x7f) == 0x7c) size = INFINITY;
    return bits & 0x80 ? -size : size;
}
// The nearest finite number; of two the even one.
static int nearest(double a, bool e4m3)
{
    int best = 0, largest = e4m3 ? 0x7e : 0x7b;
    for (int bits = 0; bits <= largest; bits++) {
        double distance = std::fabs(std::fabs(a) - value(bits, e4m3)), least = std::fabs(std::fabs(a) - value(best, e4m3));
        if (distance < least || (distance == least && bits % 2 == 0)) best = bits;
    }
    if (std::fabs(a) > value(largest, e4m3)) best = largest;
    return best | (std::signbit(a) ? 0x80 : 0);
}

struct results {
    unsigned char saturated[2], infinite[2], by_double[2];
    float back[2];
};
__global__ void convert(const float *numbers, results *found, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = numbers[i];
    results r;
    __nv_fp8_e4m3 first(a);
    __nv_fp8_e5m2 second(a);
    r.saturated[0] = first.__x, r.saturated[1] = second.__x;
    r.back[0] = float(first), r.back[1] = float(second);
    r.infinite[0] = __nv_cvt_float_to_fp8(a, __NV_NOSAT, __NV_E4M3), r.infinite[1] = __nv_cvt_float_to_fp8(a, __NV_NOSAT, __NV_E5M2);
    r.by_double[0] = __nv_cvt_double_to_fp8(a, __NV_SATFINITE, __NV_E4M3), r.by_double[1] = __nv_fp8_e5m2(double(a)).__x;
    found[i] = r;
}
__global__ void pairs(float4 *out)
{
    __nv_fp8x4_e4m3 four(float4{1.5f, -448.0f, 0.001953125f, 17.0f});
    __nv_fp8x2_e5m2 two(__floats2half2_rn(-3.0f, 0.0625f));
    float2 wide = float2(two);
    out[0] = float4(four);
    out[1] = {wide.x, wide.y, (float)four.__x, (float)two.__x};
}

// e8m0 in both directions, saturated or not.
__global__ void powers(const float *numbers, unsigned char *found, float *back, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = numbers[i];
    found[i * 4] = __nv_cvt_float_to_e8m0(a, __NV_SATFINITE, cudaRoundZero), found[i * 4 + 1] = __nv_fp8_e8m0(a).__x;
    found[i * 4 + 2] = __nv_cvt_float_to_e8m0(a, __NV_NOSAT, cudaRoundPosInf);
    found[i * 4 + 3] = __nv_cvt_double_to_e8m0((double)a * (1 + 0x1p-40), __NV_SATFINITE, cudaRoundPosInf);
    back[i] = (float)__nv_fp8_e8m0(a);
}
// The least power that isn't below, or the greatest that isn't above, from 2^-127 to 2^127.
static int power(double a, bool up)
{
    if (std::isnan(a)) return 0xff;
    for (int bits = 0; bits < 0xff; bits++)
        if (std::ldexp(1, bits - 127) >= std::fabs(a)) return up || bits == 0 || std::ldexp(1, bits - 127) == std::fabs(a) ? bits : bits - 1;
    return 0xfe;
}

int main()
{
    std::vector<float> numbers = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 464.0f, 463.99997f, 61440.0f, 61439.996f, 1e30f, -1e-30f};
    for (int bits = 0; bits < 256; bits++)
        for (bool e4m3 : {false, true}) {
            float a = (float)value(bits, e4m3), b = (float)value((bits & 0x80) | ((bits + 1) & 0x7f), e4m3);
            if (!std::isfinite(a) || !std::isfinite(b)) continue;
            // A number, half way to the next one, and beside that.
            float half = (a + b) / 2;
            for (float number : {a, half, std::nextafter(half, a), std::nextafter(half, b)}) numbers.push_back(number);
        }
    int n = (int)numbers.size();
    float *in;
    results *out, *found = new results[n];
    CHECK(cudaMalloc(&in, n * sizeof(float)));
    CHECK(cudaMalloc(&out, n * sizeof(results)));
    CHECK(cudaMemcpy(in, numbers.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    convert<<<(n + 63) / 64, 64>>>(in, out, n);
    CHECK(cudaMemcpy(found, out, n * sizeof(results), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        for (int kind = 0; kind < 2; kind++) {
            float a = numbers[i];
            bool e4m3 = kind == 0;
            int expected = std::isnan(a) ? 0x7f : nearest(a, e4m3);
            EXPECT(found[i].saturated[kind] == expected && found[i].by_double[kind] == expected);
            EXPECT(std::isnan(a) ? std::isnan(found[i].back[kind]) : found[i].back[kind] == value(expected, e4m3));
            // Beyond half way to what would come next, there is no finite number.
            bool beyond = std::fabs(a) >= (e4m3 ? 464.0001 : 61440);
            if (beyond || std::isinf(a)) expected = (e4m3 ? 0x7f : 0x7c) | (std::signbit(a) ? 0x80 : 0);
            EXPECT(found[i].infinite[kind] == expected);
            EXPECT(__nv_cvt_float_to_fp8(a, __NV_SATFINITE, e4m3 ? __NV_E4M3 : __NV_E5M2) == found[i].saturated[kind]);
        }
    // Doubles that f32 doesn't hold: below its least number, and on either side of a tie.
    for (bool e4m3 : {false, true})
        for (double size : {1e-60, 0x1p-150, 0x1.8p-149, 1.0625 + 0x1p-40, 1.0625 - 0x1p-40, 1.125 + 0x1p-40, 1.125 - 0x1p-40, 1e300})
            for (double a : {size, -size})
                EXPECT(__nv_cvt_double_to_fp8(a, __NV_SATFINITE, e4m3 ? __NV_E4M3 : __NV_E5M2) == nearest(a, e4m3));
    float4 *wide, four[2];
    CHECK(cudaMalloc(&wide, sizeof four));
    pairs<<<1, 1>>>(wide);
    CHECK(cudaMemcpy(four, wide, sizeof four, cudaMemcpyDeviceToHost));
    EXPECT(four[0].x == 1.5f && four[0].y == -448.0f && four[0].z == 0.001953125f && four[0].w == 16.0f);
    EXPECT(four[1].x == -3.0f && four[1].y == 0.0625f);

    std::vector<float> sizes = {0.0f, NAN, INFINITY, 1.5f, -3.0f, 3.4e38f, 0x1p127f, 0x1.8p127f, 0x1p-126f, 0x1.000002p-126f, 0x1p-127f, 0x1.8p-127f, 0x1p-128f, 0x1p-149f};
    for (int exponent = -20; exponent < 20; exponent++)
        for (float a : {1.0f, 0x1.000002p0f, 0x1.fffffep0f}) sizes.push_back(std::ldexp(a, exponent));
    n = (int)sizes.size();
    unsigned char *bytes;
    float *list;
    CHECK(cudaMallocManaged(&bytes, n * 4));
    CHECK(cudaMallocManaged(&list, 2 * n * sizeof(float)));
    for (int i = 0; i < n; i++) list[i] = sizes[i];
    powers<<<(n + 63) / 64, 64>>>(list, bytes, list + n, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) {
        float a = sizes[i];
        int up = power(a, true);
        EXPECT(bytes[i * 4] == power(a, false) && bytes[i * 4 + 1] == up);
        EXPECT(bytes[i * 4 + 2] == (std::fabs(a) > 0x1p127f ? 0xff : up) && bytes[i * 4 + 3] == power((double)a * (1 + 0x1p-40), true));
        EXPECT(std::isnan(a) ? std::isnan(list[n + i]) : list[n + i] == std::ldexp(1.0f, up - 127));
    }
    printf("right\n");
}

// Conversions of __half and __nv_bfloat16 in all directions against a search among all numbers, and arithmetic that saturates or keeps NaN.
#include "check.h"
#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector>

template <class T> __host__ __device__ T of_bits(unsigned short bits)
{
    T value;
    value.__x = bits;
    return value;
}
#define CONVERSIONS(type, n)                                                                                            \
    __device__ void convert(float a, long long w, type *to)                                                             \
    {                                                                                                                   \
        to[0] = __float2##n##_rz(a), to[1] = __float2##n##_rd(a), to[2] = __float2##n##_ru(a);                           \
        to[3] = __ll2##n##_rz(w), to[4] = __ll2##n##_rd(w), to[5] = __ll2##n##_ru(w);                                    \
    }                                                                                                                   \
    __device__ void integers(type a, int *to)                                                                           \
    {                                                                                                                   \
        to[0] = __##n##2short_rz(a), to[1] = __##n##2short_rd(a), to[2] = __##n##2short_ru(a), to[3] = __##n##2short_rn(a); \
        to[4] = __##n##2ushort_rz(a), to[5] = __##n##2char_rz(a), to[6] = __##n##2uchar_rz(a);                           \
    }
CONVERSIONS(__half, half)
CONVERSIONS(__nv_bfloat16, bfloat16)

template <class T> __global__ void run(const float *numbers, const long long *wide, T *converted, int *whole, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    convert(numbers[i], wide[i], converted + i * 6);
    integers(T(numbers[i]), whole + i * 7);
}
template <class T> struct Results {
    T saturated[4], relu[3], nan[4];
    unsigned masks[3];
    T complex[2];
};
template <class T, class Pair> __global__ void arithmetic(Results<T> *r)
{
    T none = T(NAN), one(1.0f), half(0.5f), minus(-2.0f);
    r->saturated[0] = __hadd_sat(one, half), r->saturated[1] = __hsub_sat(half, one), r->saturated[2] = __hmul_sat(half, half);
    r->saturated[3] = __hfma_sat(none, one, one);
    r->relu[0] = __hfma_relu(one, minus, half), r->relu[1] = __hfma_relu(one, half, half), r->relu[2] = __hfma_relu(none, one, one);
    r->nan[0] = __hmax_nan(one, none), r->nan[1] = __hmin_nan(half, minus), r->nan[2] = __hmax(one, none);
    r->nan[3] = __hisnan2(Pair(one, none)).y;
    Pair a(one, none), b(half, one);
    r->masks[0] = __hgt2_mask(a, b), r->masks[1] = __hgtu2_mask(a, b), r->masks[2] = __hbgtu2(a, b);
    // (0.5 - 2i) (1 + 0.5i) + (1 - 2i)
    Pair z = __hcmadd(Pair(half, minus), Pair(one, half), Pair(one, minus));
    r->complex[0] = z.x, r->complex[1] = z.y;
}

// The largest number of the form that isn't above, or the smallest that isn't below. All positive ones are in order, up to infinity.
template <class T> static T directed(double a, bool up)
{
    bool away = up == (a > 0);
    double size = std::fabs(a);
    unsigned infinity = T(INFINITY).__x, low = 0, high = infinity;
    while (low < high) {
        unsigned middle = (low + high + 1) / 2;
        if ((float)of_bits<T>(middle) <= size) low = middle;
        else high = middle - 1;
    }
    if (away && (float)of_bits<T>(low) < size) low++;
    return of_bits<T>(low | (std::signbit(a) ? 0x8000 : 0));
}
static int clamp(double a, double least, double most) { return std::isnan(a) ? 0 : (int)std::fmin(std::fmax(a, least), most); }

template <class T, class Pair> static void check()
{
    std::vector<float> numbers = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 65504.0f, 65505.0f, 65536.0f, -1e9f, 3.4e38f, -3.4e38f, 2.5f, -2.5f, 1e-8f, -1e-8f, 6e-8f};
    for (float a = 1e-7f; a < 1e6f; a *= 1.37f)
        for (float sign : {1.0f, -1.0f}) numbers.push_back(sign * a), numbers.push_back(sign * (float)T(a));
    std::vector<long long> wide;
    for (size_t i = 0; i < numbers.size(); i++) {
        unsigned long long bits = (0x9e3779b97f4a7c15ull * (i + 1)) >> i % 63;
        wide.push_back(i % 5 == 0 ? 1ll << i % 62 : i % 5 == 1 ? (1ll << i % 62) + 1 : i % 2 ? (long long)bits : -(long long)(bits >> 1));
    }
    int n = (int)numbers.size();
    float *in;
    long long *in_wide;
    T *converted;
    int *whole;
    CHECK(cudaMallocManaged(&in, n * sizeof(float)));
    CHECK(cudaMallocManaged(&in_wide, n * sizeof(long long)));
    CHECK(cudaMallocManaged(&converted, n * 6 * sizeof(T)));
    CHECK(cudaMallocManaged(&whole, n * 7 * sizeof(int)));
    for (int i = 0; i < n; i++) in[i] = numbers[i], in_wide[i] = wide[i];
    run<T><<<(n + 63) / 64, 64>>>(in, in_wide, converted, whole, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) {
        float a = numbers[i];
        T *found = converted + i * 6;
        if (std::isnan(a)) {
            for (int mode = 0; mode < 3; mode++) EXPECT(std::isnan((float)found[mode]));
        } else {
            EXPECT(found[0].__x == directed<T>(a, a < 0).__x && found[1].__x == directed<T>(a, false).__x);
            EXPECT(found[2].__x == directed<T>(a, true).__x);
        }
        // A double doesn't hold all of 63 bits: where some are lost, the last one that it has is made odd, which no number of the form has.
        long long w = wide[i], size = std::llabs(w);
        int shift = 0;
        for (; size >> shift >= 1ll << 53; shift++) {}
        double d = std::ldexp((double)(size >> shift | (size & ((1ll << shift) - 1) ? 1 : 0)), shift) * (w < 0 ? -1 : 1);
        EXPECT(found[3].__x == directed<T>(d, d < 0).__x && found[4].__x == directed<T>(d, false).__x);
        EXPECT(found[5].__x == directed<T>(d, true).__x);
        double x = (float)T(a);
        const int *integers = whole + i * 7;
        EXPECT(integers[0] == clamp(std::trunc(x), -32768, 32767) && integers[1] == clamp(std::floor(x), -32768, 32767));
        EXPECT(integers[2] == clamp(std::ceil(x), -32768, 32767) && integers[3] == clamp(std::nearbyint(x), -32768, 32767));
        EXPECT(integers[4] == clamp(std::trunc(x), 0, 65535) && integers[5] == clamp(std::trunc(x), -128, 127));
        EXPECT(integers[6] == clamp(std::trunc(x), 0, 255));
    }
    Results<T> *r;
    CHECK(cudaMallocManaged(&r, sizeof(*r)));
    arithmetic<T, Pair><<<1, 1>>>(r);
    CHECK(cudaDeviceSynchronize());
    EXPECT((float)r->saturated[0] == 1 && (float)r->saturated[1] == 0 && (float)r->saturated[2] == 0.25f && r->saturated[3].__x == 0);
    EXPECT((float)r->relu[0] == 0 && (float)r->relu[1] == 1 && r->relu[2].__x == 0x7fff);
    EXPECT(r->nan[0].__x == 0x7fff && (float)r->nan[1] == -2 && (float)r->nan[2] == 1 && (float)r->nan[3] == 1);
    EXPECT(r->masks[0] == 0xffff && r->masks[1] == 0xffffffff && r->masks[2] == 1);
    EXPECT((float)r->complex[0] == 2.5f && (float)r->complex[1] == -3.75f);
}

int main()
{
    check<__half, __half2>();
    check<__nv_bfloat16, __nv_bfloat162>();
    printf("right\n");
}

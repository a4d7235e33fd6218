// Conversions of __half and __nv_bfloat16 in all directions against a search among all numbers, arithmetic that saturates or keeps NaN, and
// comparisons, least and greatest of NaN and zeros. What the host has too is computed there as well.
#include "check.h"
#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <limits>
#include <vector>

template <class T> __host__ __device__ T of_bits(unsigned short bits)
{
    T value;
    value.__x = bits;
    return value;
}
#define CONVERSIONS(type, n)                                                                                            \
    __host__ __device__ void round_nearest(double a, long long w, type *to)                                             \
    {                                                                                                                   \
        to[0] = __double2##n(a), to[1] = __ll2##n##_rn(w), to[2] = __ull2##n##_rn((unsigned long long)w);                \
        to[3] = type(a), to[4] = type(w), to[5] = type((unsigned long long)w);                                           \
    }                                                                                                                   \
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
template <class T> __global__ void round_all(const double *numbers, const long long *wide, T *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) round_nearest(numbers[i], wide[i], to + i * 6);
}
// Comparisons, and the lesser and greater, of one pair of numbers, and of the second in vectors whose first is no obstacle.
enum { EQ, NE, LT, LE, GT, GE };
template <class T, class Pair> struct Comparison {
    bool ordered[6], unordered[6], operators[6], all[6], all_unordered[6];
    Pair each[6], each_unordered[6], least2, greatest2, least2_nan, greatest2_nan;
    unsigned mask[6], mask_unordered[6];
    T least, greatest, least_nan, greatest_nan;
};
#define COMPARE(which, name, operation, x, y)                                                                            \
    c.ordered[which] = __h##name(a, b), c.unordered[which] = __h##name##u(a, b), c.operators[which] = a operation b;     \
    c.all[which] = __hb##name##2(Pair(x, a), Pair(y, b)), c.all_unordered[which] = __hb##name##u2(Pair(x, a), Pair(y, b)); \
    c.each[which] = __h##name##2(Pair(x, a), Pair(y, b)), c.each_unordered[which] = __h##name##u2(Pair(x, a), Pair(y, b)); \
    c.mask[which] = __h##name##2_mask(Pair(x, a), Pair(y, b)), c.mask_unordered[which] = __h##name##u2_mask(Pair(x, a), Pair(y, b))
template <class T, class Pair> __host__ __device__ Comparison<T, Pair> compare(T a, T b)
{
    Comparison<T, Pair> c;
    T one(1.0f), two(2.0f);
    COMPARE(EQ, eq, ==, one, one);
    COMPARE(NE, ne, !=, one, two);
    COMPARE(LT, lt, <, one, two);
    COMPARE(LE, le, <=, one, two);
    COMPARE(GT, gt, >, two, one);
    COMPARE(GE, ge, >=, two, one);
    c.least = __hmin(a, b), c.greatest = __hmax(a, b), c.least_nan = __hmin_nan(a, b), c.greatest_nan = __hmax_nan(a, b);
    c.least2 = __hmin2(Pair(a, b), Pair(b, a)), c.greatest2 = __hmax2(Pair(a, b), Pair(b, a));
    c.least2_nan = __hmin2_nan(Pair(a, b), Pair(b, a)), c.greatest2_nan = __hmax2_nan(Pair(a, b), Pair(b, a));
    return c;
}
template <class T, class Pair> __global__ void compare_all(const T *a, const T *b, Comparison<T, Pair> *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = compare<T, Pair>(a[i], b[i]);
}
template <class T> __global__ void fuse_all(const T *factors, T *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = __hfma(factors[i * 3], factors[i * 3 + 1], factors[i * 3 + 2]);
}
template <class T> struct Results {
    T saturated[4], relu[3], nan[4];
    unsigned masks[3];
    T complex[2], steps[6];
};
template <class T, class Pair> __global__ void arithmetic(Results<T> *r)
{
    T none = T(NAN), one(1.0f), half(0.5f), minus(-2.0f);
    r->saturated[0] = __hadd_sat(one, half), r->saturated[1] = __hsub_sat(half, one), r->saturated[2] = __hmul_sat(half, half);
    r->saturated[3] = __hfma_sat(none, one, one);
    r->relu[0] = __hfma_relu(one, minus, half), r->relu[1] = __hfma_relu(one, half, half), r->relu[2] = __hfma_relu(none, one, one);
    r->nan[0] = __hmax_nan(one, none), r->nan[1] = __hmin_nan(half, minus), r->nan[2] = __hmax(one, none);
    r->nan[3] = __hisnan2(Pair(one, none)).y;
    T step(5.0f);
    Pair steps(T(4.5f), T(-2.5f));
    r->steps[0] = ++step, --step, r->steps[1] = --step, steps++;
    r->steps[2] = steps.x, r->steps[3] = steps.y;
    step = 1.0f, r->steps[4] = step++, ++step, r->steps[5] = step--;
    Pair a(one, none), b(half, one);
    r->masks[0] = __hgt2_mask(a, b), r->masks[1] = __hgtu2_mask(a, b), r->masks[2] = __hbgtu2(a, b);
    // (0.5 - 2i) (1 + 0.5i) + (1 - 2i)
    Pair z = __hcmadd(Pair(half, minus), Pair(one, half), Pair(one, minus));
    r->complex[0] = z.x, r->complex[1] = z.y;
}

// The largest number of the form that isn't above, or the smallest that isn't below. All positive ones are in order, up to infinity.
template <class T> static T directed(long double a, bool up)
{
    bool away = up == (a > 0);
    long double size = std::fabs(a);
    unsigned infinity = T(INFINITY).__x, low = 0, high = infinity;
    while (low < high) {
        unsigned middle = (low + high + 1) / 2;
        if ((float)of_bits<T>(middle) <= size) low = middle;
        else high = middle - 1;
    }
    if (away && (float)of_bits<T>(low) < size) low++;
    return of_bits<T>(low | (std::signbit(a) ? 0x8000 : 0));
}
// The nearest, of two the even one. Infinity counts as the number that would come next.
template <class T> static T nearest(long double a)
{
    T low = directed<T>(std::fabs(a), false), high = directed<T>(std::fabs(a), true);
    long double below = (float)low, above = (float)high;
    if (std::isinf(above) && !std::isinf(below)) above = 2 * below - (float)of_bits<T>(low.__x - 1);
    long double middle = std::isinf(below) ? below : (below + above) / 2;
    bool up = std::fabs(a) > middle || (std::fabs(a) == middle && low.__x % 2 == 1);
    return of_bits<T>((up ? high : low).__x | (std::signbit(a) ? 0x8000 : 0));
}
static int clamp(double a, double least, double most) { return std::isnan(a) ? 0 : (int)std::fmin(std::fmax(a, least), most); }

// Doubles and integers of 64 bits to the nearest: numbers, ties and what is beside them, too small and too large ones.
template <class T> static void check_nearest()
{
    std::vector<double> numbers = {NAN, INFINITY, 0.0, 1e-60, 5e-324, 1e300, 0x1.fffffep127, 0x1.ffffffp127, 0x1p128, 65519.999, 65520.0};
    unsigned infinity = T(INFINITY).__x;
    for (unsigned bits = 0; bits < infinity; bits += bits < 40 || bits > infinity - 40 ? 1 : 61) {
        double a = (float)of_bits<T>(bits), b = (float)of_bits<T>(bits + 1);
        if (std::isinf(b)) b = 2 * a - (float)of_bits<T>(bits - 1);
        double tie = (a + b) / 2;
        for (double x : {a, tie}) numbers.insert(numbers.end(), {x, std::nextafter(x, 0), std::nextafter(x, 1e300), x * (1 + 0x1p-40)});
    }
    for (size_t i = 0, n = numbers.size(); i < n; i++) numbers.push_back(-numbers[i]);
    std::vector<long long> wide = {0, (1ll << 62) + (1ll << 54) + 1, 1ll << 63, ~(1ll << 63)};
    // One bit more than the forms have, the last one set, is a tie.
    for (int shift = 0; shift < 55; shift++)
        for (long long odd : {257ll, 259ll, 511ll, 2049ll, 4095ll})
            for (int beside = -1; beside <= 1; beside++)
                for (int sign : {1, -1}) wide.push_back(sign * (long long)((unsigned long long)odd << shift) + beside);
    int n = (int)numbers.size();
    for (int i = 0; (int)wide.size() < n; i++) wide.push_back((long long)(0x9e3779b97f4a7c15ull * (i + 1)) >> i % 63);
    EXPECT((int)wide.size() == n);
    double *in;
    long long *in_wide;
    T *found;
    CHECK(cudaMallocManaged(&in, n * sizeof(double)));
    CHECK(cudaMallocManaged(&in_wide, n * sizeof(long long)));
    CHECK(cudaMallocManaged(&found, n * 6 * sizeof(T)));
    for (int i = 0; i < n; i++) in[i] = numbers[i], in_wide[i] = wide[i];
    round_all<T><<<(n + 63) / 64, 64>>>(in, in_wide, found, n);
    CHECK(cudaDeviceSynchronize());
    for (bool host : {false, true})
        for (int i = 0; i < n; i++) {
            T *r = found + i * 6;
            if (host) round_nearest(numbers[i], wide[i], r);
            unsigned expected = nearest<T>(numbers[i]).__x, whole = nearest<T>(wide[i]).__x;
            unsigned natural = nearest<T>((unsigned long long)wide[i]).__x;
            // Which NaN is the hardware's matter.
            if (std::isnan(numbers[i])) EXPECT(std::isnan((float)r[0]) && std::isnan((float)r[3]));
            else EXPECT(r[0].__x == expected && r[3].__x == expected);
            EXPECT(r[1].__x == whole && r[4].__x == whole);
            EXPECT(r[2].__x == natural && r[5].__x == natural);
        }
}

template <class T, class Pair> static void check_comparisons()
{
    std::vector<T> values = {of_bits<T>(0x7fff), of_bits<T>(0xffff), T(0.0f), T(-0.0f), T(1.0f), T(-2.0f), T(INFINITY), T(-INFINITY), of_bits<T>(1), of_bits<T>(0x8001)};
    int side = (int)values.size(), n = side * side;
    T *a, *b;
    Comparison<T, Pair> *found;
    CHECK(cudaMallocManaged(&a, n * sizeof(T)));
    CHECK(cudaMallocManaged(&b, n * sizeof(T)));
    CHECK(cudaMallocManaged(&found, n * sizeof(*found)));
    for (int i = 0; i < n; i++) a[i] = values[i / side], b[i] = values[i % side];
    compare_all<T, Pair><<<(n + 63) / 64, 64>>>(a, b, found, n);
    CHECK(cudaDeviceSynchronize());
    for (bool host : {false, true})
        for (int i = 0; i < n; i++) {
            Comparison<T, Pair> c = host ? compare<T, Pair>(a[i], b[i]) : found[i];
            float x = (float)a[i], y = (float)b[i];
            bool nan = std::isnan(x) || std::isnan(y), c_rules[6] = {x == y, x != y, x < y, x <= y, x > y, x >= y};
            for (int which = 0; which < 6; which++) {
                bool ordered = !nan && c_rules[which], unordered = nan || c_rules[which];
                EXPECT(c.ordered[which] == ordered && c.unordered[which] == unordered && c.operators[which] == c_rules[which]);
                EXPECT(c.all[which] == ordered && c.all_unordered[which] == unordered);
                EXPECT((float)c.each[which].x == 1 && (float)c.each[which].y == ordered);
                EXPECT((float)c.each_unordered[which].x == 1 && (float)c.each_unordered[which].y == unordered);
                EXPECT(c.mask[which] == (ordered ? 0xffffffff : 0xffff) && c.mask_unordered[which] == (unordered ? 0xffffffff : 0xffff));
            }
            bool first = x < y || (x == y && std::signbit(x));
            unsigned least = (first ? a : b)[i].__x, greatest = (first ? b : a)[i].__x;
            if (nan) least = greatest = std::isnan(x) && std::isnan(y) ? 0x7fff : (std::isnan(x) ? b : a)[i].__x;
            EXPECT(c.least.__x == least && c.least2.x.__x == least && c.least2.y.__x == least);
            EXPECT(c.greatest.__x == greatest && c.greatest2.x.__x == greatest && c.greatest2.y.__x == greatest);
            if (nan) least = greatest = 0x7fff;
            EXPECT(c.least_nan.__x == least && c.least2_nan.x.__x == least && c.least2_nan.y.__x == least);
            EXPECT(c.greatest_nan.__x == greatest && c.greatest2_nan.x.__x == greatest && c.greatest2_nan.y.__x == greatest);
        }
}

// Products and sums of bfloat16 in the order a, b, c, and a * b + c rounded once.
static void check_fused()
{
    float rows[][4] = {{0x1p-100f, 0x1p-100f, 0.0f, 0.0f},
                       {-0x1p-100f, 0x1p-100f, -0.0f, -0.0f},
                       {0x1p-100f, 0x1p-100f, 0x1p-133f, 0x1p-133f},
                       // A half of the least number, and more than that.
                       {0x1p-67f, 0x1p-67f, 0.0f, 0.0f},
                       {0x1.02p-67f, 0x1p-67f, 0.0f, 0x1p-133f},
                       {0x1p-67f, -0x1p-67f, -0x1p-133f, -0x1p-132f},
                       // 1.0625 squared is 1.125 + 2^-8, a tie, which something small decides.
                       {0x1.1p0f, 0x1.1p0f, 0.0f, 0x1.2p0f},
                       {0x1.1p0f, 0x1.1p0f, 0x1p-100f, 0x1.22p0f},
                       {0x1.1p0f, 0x1.1p0f, -0x1p-100f, 0x1.2p0f},
                       {0x1p100f, 0x1p100f, -0x1p127f, INFINITY},
                       {0x1p64f, 0x1p64f, -0x1p127f, 0x1p127f}};
    const int n = sizeof rows / sizeof *rows;
    __nv_bfloat16 *in, *found;
    CHECK(cudaMallocManaged(&in, n * 3 * sizeof *in));
    CHECK(cudaMallocManaged(&found, n * sizeof *found));
    for (int i = 0; i < n * 3; i++) in[i] = __nv_bfloat16(rows[i / 3][i % 3]);
    fuse_all<<<1, n>>>(in, found, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) {
        unsigned expected = __builtin_bit_cast(unsigned, rows[i][3]) >> 16;
        EXPECT(found[i].__x == expected && __hfma(in[i * 3], in[i * 3 + 1], in[i * 3 + 2]).__x == expected);
    }
}

template <class T, class Pair> static void check()
{
    check_nearest<T>();
    check_comparisons<T, Pair>();
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
        long double w = wide[i];
        EXPECT(found[3].__x == directed<T>(w, w < 0).__x && found[4].__x == directed<T>(w, false).__x);
        EXPECT(found[5].__x == directed<T>(w, true).__x);
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
    EXPECT((float)r->steps[0] == 6 && (float)r->steps[1] == 4 && (float)r->steps[2] == 5.5f && (float)r->steps[3] == -1.5f);
    EXPECT((float)r->steps[4] == 1 && (float)r->steps[5] == 3);
}

int main()
{
    // All integers of 64 bits are exact in the host's long double.
    EXPECT(std::numeric_limits<long double>::digits >= 64);
    check<__half, __half2>();
    check<__nv_bfloat16, __nv_bfloat162>();
    check_fused();
    printf("right\n");
}

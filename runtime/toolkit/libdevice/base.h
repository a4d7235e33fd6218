// What the device's mathematics is written in: words as bits, and arithmetic that compilers must not fuse. The same source compiles for the
// device and, for tests of accuracy, for the host.
#pragma once

typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

#define INLINE static inline __attribute__((always_inline))

INLINE u32 bits(float x) { return __builtin_bit_cast(u32, x); }
INLINE u64 bits(double x) { return __builtin_bit_cast(u64, x); }
INLINE float f32(u32 x) { return __builtin_bit_cast(float, x); }
INLINE double f64(u64 x) { return __builtin_bit_cast(double, x); }

#ifdef __NVPTX__
// Whether denormal f32 numbers are zeros (nvcc -ftz=true): a constant by the time that code is generated.
// Under another name: clang takes its own declaration to never return.
extern "C" int reflect(const char *) __asm__("__nvvm_reflect");
#define FTZ (reflect("__CUDA_FTZ") != 0)
INLINE float fma(float a, float b, float c) { return FTZ ? __nvvm_fma_rn_ftz_f(a, b, c) : __nvvm_fma_rn_f(a, b, c); }
INLINE double fma(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
INLINE float add(float a, float b) { return FTZ ? __nvvm_add_rn_ftz_f(a, b) : __nvvm_add_rn_f(a, b); }
INLINE double add(double a, double b) { return __nvvm_add_rn_d(a, b); }
INLINE float mul(float a, float b) { return FTZ ? __nvvm_mul_rn_ftz_f(a, b) : __nvvm_mul_rn_f(a, b); }
INLINE double mul(double a, double b) { return __nvvm_mul_rn_d(a, b); }
INLINE float root(float x) { return FTZ ? __nvvm_sqrt_rn_ftz_f(x) : __nvvm_sqrt_rn_f(x); }
INLINE double root(double x) { return __nvvm_sqrt_rn_d(x); }
INLINE float divide(float a, float b) { return FTZ ? __nvvm_div_rn_ftz_f(a, b) : __nvvm_div_rn_f(a, b); }
INLINE double divide(double a, double b) { return __nvvm_div_rn_d(a, b); }
#else
#define FTZ false
INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
INLINE float add(float a, float b) { return a + b; }
INLINE double add(double a, double b) { return a + b; }
INLINE float mul(float a, float b) { return a * b; }
INLINE double mul(double a, double b) { return a * b; }
INLINE float root(float x) { return __builtin_sqrtf(x); }
INLINE double root(double x) { return __builtin_sqrt(x); }
INLINE float divide(float a, float b) { return a / b; }
INLINE double divide(double a, double b) { return a / b; }
#endif
INLINE float absolute(float x) { return f32(bits(x) & 0x7fffffff); }
INLINE double absolute(double x) { return f64(bits(x) & 0x7fffffffffffffff); }
INLINE float with_sign(float x, float sign) { return f32((bits(x) & 0x7fffffff) | (bits(sign) & 0x80000000)); }
INLINE double with_sign(double x, double sign) { return f64((bits(x) & 0x7fffffffffffffff) | (bits(sign) & 0x8000000000000000)); }
INLINE bool is_nan(float x) { return (bits(x) & 0x7fffffff) > 0x7f800000; }
INLINE bool is_nan(double x) { return (bits(x) & 0x7fffffffffffffff) > 0x7ff0000000000000; }
INLINE bool is_inf(float x) { return (bits(x) & 0x7fffffff) == 0x7f800000; }
INLINE bool is_inf(double x) { return (bits(x) & 0x7fffffffffffffff) == 0x7ff0000000000000; }
INLINE bool is_finite(float x) { return (bits(x) & 0x7fffffff) < 0x7f800000; }
INLINE bool is_finite(double x) { return (bits(x) & 0x7fffffffffffffff) < 0x7ff0000000000000; }
INLINE bool is_negative(float x) { return bits(x) >> 31; }
INLINE bool is_negative(double x) { return bits(x) >> 63; }
constexpr float INF = __builtin_inff();
constexpr double INF64 = __builtin_inf();
constexpr float NOT_A_NUMBER = __builtin_nanf("");
constexpr double NOT_A_NUMBER64 = __builtin_nan("");

// The nearest whole number, for values below 2^22 and 2^51.
INLINE float whole(float x) { return add(add(x, 12582912.0f), -12582912.0f); }
INLINE double whole(double x) { return add(add(x, 6755399441055744.0), -6755399441055744.0); }

// A polynomial with the highest coefficient first.
template <class T> INLINE T polynomial(T, T c) { return c; }
template <class T, class... C> INLINE T polynomial(T x, T c0, T c1, C... c) { return polynomial(x, fma(c0, x, c1), static_cast<T>(c)...); }

// The sum of two numbers, the second of which is smaller than half a unit of the first's last place, or nearly.
template <class T> struct Pair {
    T high, low;
};
template <class T> INLINE Pair<T> quick_sum(T a, T b)
{
    T high = add(a, b);
    return {high, add(b, add(a, -high) + T(0))};
}
template <class T> INLINE Pair<T> sum(T a, T b)
{
    T high = add(a, b), part = add(high, -a);
    return {high, add(add(a, -add(high, -part)), add(b, -part))};
}
template <class T> INLINE Pair<T> product(T a, T b)
{
    T high = mul(a, b);
    return {high, fma(a, b, -high)};
}

// 2^n for exponents of normal numbers.
INLINE float power_of_two(i32 n, float) { return f32((u32)(n + 127) << 23); }
INLINE double power_of_two(i32 n, double) { return f64((u64)(n + 1023) << 52); }

// x * 2^n for any n. Steps down leave as many bits above the least exponent as a number has, so that only the last one rounds.
template <class T> INLINE T scale(T x, i32 n)
{
    constexpr i32 MOST = sizeof(T) == 4 ? 127 : 1023, DOWN = sizeof(T) == 4 ? 102 : 969;
    for (int step = 0; step < 2 && n > MOST; step++) x = mul(x, power_of_two(MOST, T())), n -= MOST;
    for (int step = 0; step < 2 && n < 1 - MOST; step++) x = mul(x, power_of_two(-DOWN, T())), n += DOWN;
    n = n > MOST ? MOST : n < 1 - MOST ? 1 - MOST : n;
    return mul(x, power_of_two(n, T()));
}

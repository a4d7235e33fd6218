/* Functions that __half and __nv_bfloat16 have alike. Sums, products, quotients and roots are computed in f32, whose 24 bits are enough for
   the same result as rounding once. `type` and `type2` are the types, `n` and `n2` their names within names of functions, `round` and `widen`
   the conversions, and `fuse` the fused product and sum. */
#ifndef PTX2SPV_SMALL_FLOATS_H
#define PTX2SPV_SMALL_FLOATS_H
#include "../cuda_runtime.h"

#ifdef __CUDA__
#define PTX2SPV_BOTH static inline __attribute__((host, device))
#else
#define PTX2SPV_BOTH static inline
#endif
#define PTX2SPV_ON_DEVICE static inline __attribute__((device))

/* To f32, rounded to odd: of the two neighbours of what f32 doesn't hold, the one whose last place is odd. Rounding that to a smaller form gives
   what rounding the number once does. Where the nearest is a zero, the number alone tells the direction. */
PTX2SPV_BOTH float ptx2spv_round_to_odd(double a)
{
    float near = (float)a;
    unsigned int bits = __builtin_bit_cast(unsigned int, near);
    double rest = a - (double)near;
    if (rest != 0 && rest == rest && !(bits & 1)) bits += (rest > 0) == (a > 0) ? 1 : -1;
    return __builtin_bit_cast(float, bits);
}

/* An ordered comparison is false for NaN, an unordered one (with u at the end) true; the operators are C's. */
#define PTX2SPV_SMALL_COMPARE(type, type2, name, operation)                                                                  \
    PTX2SPV_BOTH bool __h##name(type a, type b) { return !ptx2spv_unordered(a, b) && (float)a operation (float)b; }          \
    PTX2SPV_BOTH bool __h##name##u(type a, type b) { return ptx2spv_unordered(a, b) || (float)a operation (float)b; }        \
    PTX2SPV_BOTH type2 __h##name##2(type2 a, type2 b) { return {type(__h##name(a.x, b.x)), type(__h##name(a.y, b.y))}; }     \
    PTX2SPV_BOTH bool __hb##name##2(type2 a, type2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }                 \
    PTX2SPV_BOTH type2 __h##name##u2(type2 a, type2 b) { return {type(__h##name##u(a.x, b.x)), type(__h##name##u(a.y, b.y))}; }\
    PTX2SPV_BOTH bool __hb##name##u2(type2 a, type2 b) { return __h##name##u(a.x, b.x) && __h##name##u(a.y, b.y); }          \
    PTX2SPV_BOTH unsigned int __h##name##2_mask(type2 a, type2 b)                                                            \
    {                                                                                                                        \
        return (__h##name(a.x, b.x) ? 0xffffu : 0) | (__h##name(a.y, b.y) ? 0xffff0000u : 0);                                \
    }                                                                                                                        \
    PTX2SPV_BOTH unsigned int __h##name##u2_mask(type2 a, type2 b)                                                           \
    {                                                                                                                        \
        return (__h##name##u(a.x, b.x) ? 0xffffu : 0) | (__h##name##u(a.y, b.y) ? 0xffff0000u : 0);                          \
    }                                                                                                                        \
    PTX2SPV_BOTH bool operator operation(type a, type b) { return (float)a operation (float)b; }
#define PTX2SPV_SMALL_ARITHMETIC(type, type2, name, operation)                                                               \
    PTX2SPV_BOTH type __h##name(type a, type b) { return type((float)a operation (float)b); }                                \
    PTX2SPV_BOTH type2 __h##name##2(type2 a, type2 b) { return {__h##name(a.x, b.x), __h##name(a.y, b.y)}; }                 \
    PTX2SPV_BOTH type operator operation(type a, type b) { return __h##name(a, b); }                                         \
    PTX2SPV_BOTH type2 operator operation(type2 a, type2 b) { return __h##name##2(a, b); }                                   \
    PTX2SPV_BOTH type &operator operation##=(type &a, type b) { return a = __h##name(a, b); }                                \
    PTX2SPV_BOTH type2 &operator operation##=(type2 &a, type2 b) { return a = __h##name##2(a, b); }
/* ++ and --, before and after. */
#define PTX2SPV_SMALL_STEP(type, type2, name, operation)                                                                     \
    PTX2SPV_BOTH type &operator operation(type &a) { return a = __h##name(a, type(1.0f)); }                                  \
    PTX2SPV_BOTH type2 &operator operation(type2 &a) { return a = __h##name##2(a, {type(1.0f), type(1.0f)}); }               \
    PTX2SPV_BOTH type operator operation(type &a, int)                                                                       \
    {                                                                                                                        \
        type before = a;                                                                                                     \
        operation a;                                                                                                         \
        return before;                                                                                                       \
    }                                                                                                                        \
    PTX2SPV_BOTH type2 operator operation(type2 &a, int)                                                                     \
    {                                                                                                                        \
        type2 before = a;                                                                                                    \
        operation a;                                                                                                         \
        return before;                                                                                                       \
    }
#define PTX2SPV_SMALL_ROUNDED(type, type2, name)                                                                             \
    PTX2SPV_BOTH type __h##name##_rn(type a, type b) { return __h##name(a, b); }                                             \
    PTX2SPV_BOTH type2 __h##name##2_rn(type2 a, type2 b) { return __h##name##2(a, b); }                                      \
    PTX2SPV_BOTH type __h##name##_sat(type a, type b) { return ptx2spv_saturate(__h##name(a, b)); }                          \
    PTX2SPV_BOTH type2 __h##name##2_sat(type2 a, type2 b) { return ptx2spv_saturate(__h##name##2(a, b)); }
#define PTX2SPV_SMALL_FUNCTION(type, type2, name, function)                                                                  \
    PTX2SPV_ON_DEVICE type h##name(type a) { return type(function((float)a)); }                                              \
    PTX2SPV_ON_DEVICE type2 h2##name(type2 a) { return {h##name(a.x), h##name(a.y)}; }
#define PTX2SPV_SMALL_INTEGER(type, n, integer, name)                                                                        \
    PTX2SPV_BOTH type __##name##2##n##_rn(integer a) { return type(a); }                                                     \
    PTX2SPV_BOTH integer __##n##2##name##_rz(type a) { return (integer)(float)a; }                                           \
    PTX2SPV_ON_DEVICE integer __##n##2##name##_rn(type a) { return __float2##name##_rn((float)a); }                          \
    PTX2SPV_ON_DEVICE integer __##n##2##name##_rd(type a) { return __float2##name##_rd((float)a); }                          \
    PTX2SPV_ON_DEVICE integer __##n##2##name##_ru(type a) { return __float2##name##_ru((float)a); }                          \
    PTX2SPV_ON_DEVICE type __##name##2##n##_rz(integer a) { return __float2##n##_rz(__##name##2float_rz(a)); }               \
    PTX2SPV_ON_DEVICE type __##name##2##n##_rd(integer a) { return __float2##n##_rd(__##name##2float_rd(a)); }               \
    PTX2SPV_ON_DEVICE type __##name##2##n##_ru(integer a) { return __float2##n##_ru(__##name##2float_ru(a)); }
/* Integers of 16 bits and less: all are exact in f32, and what is out of range becomes the nearest. */
#define PTX2SPV_SMALL_SHORT(type, n, integer, name, least, most, mode)                                                       \
    PTX2SPV_ON_DEVICE integer __##n##2##name##_##mode(type a) { return (integer)min(max(__float2int_##mode((float)a), least), most); }
#define PTX2SPV_SMALL_SHORTS(type, n, mode)                                                                                  \
    PTX2SPV_SMALL_SHORT(type, n, short, short, -32768, 32767, mode)                                                          \
    PTX2SPV_SMALL_SHORT(type, n, unsigned short, ushort, 0, 65535, mode)                                                     \
    PTX2SPV_ON_DEVICE type __short2##n##_##mode(short a) { return __float2##n##_##mode((float)a); }                          \
    PTX2SPV_ON_DEVICE type __ushort2##n##_##mode(unsigned short a) { return __float2##n##_##mode((float)a); }
#define PTX2SPV_SMALL_DIRECTED(type, n, mode)                                                                                \
    PTX2SPV_ON_DEVICE type __float2##n##_##mode(float a) { return ptx2spv_move(type(a), a, ptx2spv_direction_##mode(a)); }

#define PTX2SPV_SMALL_FLOAT(type, type2, n, n2)                                                                              \
    struct __align__(2) type {                                                                                               \
        unsigned short __x;                                                                                                  \
        type() = default;                                                                                                    \
        __host__ __device__ type(float a) : __x(ptx2spv_round_##n(a)) {}                                                     \
        __host__ __device__ type(double a) : __x(ptx2spv_round_##n(a)) {}                                                    \
        __host__ __device__ type(int a) : __x(ptx2spv_round_##n((double)a)) {}                                               \
        __host__ __device__ type(unsigned int a) : __x(ptx2spv_round_##n((double)a)) {}                                      \
        __host__ __device__ type(short a) : __x(ptx2spv_round_##n((float)a)) {}                                              \
        __host__ __device__ type(unsigned short a) : __x(ptx2spv_round_##n((float)a)) {}                                     \
        __host__ __device__ type(long a) : __x(ptx2spv_round_##n(a)) {}                                                      \
        __host__ __device__ type(unsigned long a) : __x(ptx2spv_round_##n(a)) {}                                             \
        __host__ __device__ type(long long a) : __x(ptx2spv_round_##n((long)a)) {}                                           \
        __host__ __device__ type(unsigned long long a) : __x(ptx2spv_round_##n((unsigned long)a)) {}                         \
        constexpr __host__ __device__ type(__##n##_raw a) : __x(a.x) {}                                                      \
        __host__ __device__ operator float() const { return ptx2spv_widen_##n(__x); }                                        \
        __host__ __device__ operator __##n##_raw() const { return {__x}; }                                                   \
        explicit __host__ __device__ operator bool() const { return (__x & 0x7fff) != 0; }                                   \
    };                                                                                                                       \
    struct __align__(4) type2 {                                                                                              \
        type x, y;                                                                                                           \
        type2() = default;                                                                                                   \
        __host__ __device__ type2(type a, type b) : x(a), y(b) {}                                                            \
    };                                                                                                                       \
    PTX2SPV_BOTH type ptx2spv_##n(unsigned short bits) { return type(__##n##_raw{bits}); }                                   \
    PTX2SPV_BOTH type __float2##n(float a) { return type(a); }                                                               \
    PTX2SPV_BOTH type __float2##n##_rn(float a) { return type(a); }                                                          \
    PTX2SPV_BOTH type __double2##n(double a) { return type(a); }                                                             \
    PTX2SPV_BOTH float __##n##2float(type a) { return (float)a; }                                                            \
    PTX2SPV_BOTH unsigned short __##n##_as_ushort(type a) { return a.__x; }                                                  \
    PTX2SPV_BOTH short __##n##_as_short(type a) { return (short)a.__x; }                                                     \
    PTX2SPV_BOTH type __ushort_as_##n(unsigned short a) { return ptx2spv_##n(a); }                                           \
    PTX2SPV_BOTH type __short_as_##n(short a) { return ptx2spv_##n((unsigned short)a); }                                     \
    PTX2SPV_BOTH type2 make_##n2(type a, type b) { return {a, b}; }                                                          \
    PTX2SPV_BOTH type2 __halves2##n2(type a, type b) { return {a, b}; }                                                      \
    PTX2SPV_BOTH type2 __##n##2##n2(type a) { return {a, a}; }                                                               \
    PTX2SPV_BOTH type2 __float2##n2##_rn(float a) { return {type(a), type(a)}; }                                             \
    PTX2SPV_BOTH type2 __floats2##n2##_rn(float a, float b) { return {type(a), type(b)}; }                                   \
    PTX2SPV_BOTH type2 __float22##n2##_rn(float2 a) { return {type(a.x), type(a.y)}; }                                       \
    PTX2SPV_BOTH float2 __##n2##2float2(type2 a) { return {(float)a.x, (float)a.y}; }                                        \
    PTX2SPV_BOTH float __low2float(type2 a) { return (float)a.x; }                                                           \
    PTX2SPV_BOTH float __high2float(type2 a) { return (float)a.y; }                                                          \
    PTX2SPV_BOTH type __low2##n(type2 a) { return a.x; }                                                                     \
    PTX2SPV_BOTH type __high2##n(type2 a) { return a.y; }                                                                    \
    PTX2SPV_BOTH type2 __low2##n2(type2 a) { return {a.x, a.x}; }                                                            \
    PTX2SPV_BOTH type2 __high2##n2(type2 a) { return {a.y, a.y}; }                                                           \
    PTX2SPV_BOTH type2 __lows2##n2(type2 a, type2 b) { return {a.x, b.x}; }                                                  \
    PTX2SPV_BOTH type2 __highs2##n2(type2 a, type2 b) { return {a.y, b.y}; }                                                 \
    PTX2SPV_BOTH type2 __lowhigh2highlow(type2 a) { return {a.y, a.x}; }                                                     \
    PTX2SPV_BOTH bool __hisnan(type a) { return (float)a != (float)a; }                                                      \
    PTX2SPV_BOTH int __hisinf(type a) { return __builtin_isinf((float)a) ? ((float)a > 0 ? 1 : -1) : 0; }                    \
    PTX2SPV_BOTH type __hneg(type a) { return ptx2spv_##n(a.__x ^ 0x8000); }                                                 \
    PTX2SPV_BOTH type __habs(type a) { return ptx2spv_##n(a.__x & 0x7fff); }                                                 \
    PTX2SPV_BOTH type2 __hneg2(type2 a) { return {__hneg(a.x), __hneg(a.y)}; }                                               \
    PTX2SPV_BOTH type2 __habs2(type2 a) { return {__habs(a.x), __habs(a.y)}; }                                               \
    PTX2SPV_BOTH type operator-(type a) { return __hneg(a); }                                                                \
    PTX2SPV_BOTH type operator+(type a) { return a; }                                                                        \
    PTX2SPV_BOTH type2 operator-(type2 a) { return __hneg2(a); }                                                             \
    PTX2SPV_BOTH bool ptx2spv_unordered(type a, type b) { return __builtin_isunordered((float)a, (float)b); }                \
    PTX2SPV_SMALL_COMPARE(type, type2, eq, ==)                                                                               \
    PTX2SPV_SMALL_COMPARE(type, type2, ne, !=)                                                                               \
    PTX2SPV_SMALL_COMPARE(type, type2, lt, <)                                                                                \
    PTX2SPV_SMALL_COMPARE(type, type2, le, <=)                                                                               \
    PTX2SPV_SMALL_COMPARE(type, type2, gt, >)                                                                                \
    PTX2SPV_SMALL_COMPARE(type, type2, ge, >=)                                                                               \
    PTX2SPV_SMALL_ARITHMETIC(type, type2, add, +)                                                                            \
    PTX2SPV_SMALL_ARITHMETIC(type, type2, sub, -)                                                                            \
    PTX2SPV_SMALL_ARITHMETIC(type, type2, mul, *)                                                                            \
    PTX2SPV_SMALL_ARITHMETIC(type, type2, div, /)                                                                            \
    PTX2SPV_SMALL_STEP(type, type2, add, ++)                                                                                 \
    PTX2SPV_SMALL_STEP(type, type2, sub, --)                                                                                 \
    /* To the numbers from 0 to 1; NaN becomes 0. */                                                                         \
    PTX2SPV_BOTH type ptx2spv_saturate(type a) { return (float)a > 0 ? (float)a < 1 ? a : type(1) : type(0); }               \
    PTX2SPV_BOTH type2 ptx2spv_saturate(type2 a) { return {ptx2spv_saturate(a.x), ptx2spv_saturate(a.y)}; }                  \
    PTX2SPV_BOTH type ptx2spv_positive(type a) { return (float)a > 0 ? a : __hisnan(a) ? ptx2spv_##n(0x7fff) : type(0); }    \
    PTX2SPV_SMALL_ROUNDED(type, type2, add)                                                                                  \
    PTX2SPV_SMALL_ROUNDED(type, type2, sub)                                                                                  \
    PTX2SPV_SMALL_ROUNDED(type, type2, mul)                                                                                  \
    PTX2SPV_BOTH type2 __h2div(type2 a, type2 b) { return a / b; }                                                           \
    /* Of equal ones, -0 is the smaller. NaN is left out, and two become the canonical one. */                               \
    PTX2SPV_BOTH bool ptx2spv_less(type a, type b) { return (float)a < (float)b || ((float)a == (float)b && a.__x > b.__x); }\
    PTX2SPV_BOTH type ptx2spv_number(type a) { return __hisnan(a) ? ptx2spv_##n(0x7fff) : a; }                               \
    PTX2SPV_BOTH type __hmax(type a, type b)                                                                                 \
    {                                                                                                                        \
        return __hisnan(a) ? ptx2spv_number(b) : __hisnan(b) || ptx2spv_less(b, a) ? a : b;                                  \
    }                                                                                                                        \
    PTX2SPV_BOTH type __hmin(type a, type b)                                                                                 \
    {                                                                                                                        \
        return __hisnan(a) ? ptx2spv_number(b) : __hisnan(b) || ptx2spv_less(a, b) ? a : b;                                  \
    }                                                                                                                        \
    PTX2SPV_BOTH type2 __hmax2(type2 a, type2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }                            \
    PTX2SPV_BOTH type2 __hmin2(type2 a, type2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }                            \
    PTX2SPV_BOTH type __hfma(type a, type b, type c) { return ptx2spv_##n(ptx2spv_fuse_##n(a.__x, b.__x, c.__x)); }          \
    PTX2SPV_BOTH type2 __hfma2(type2 a, type2 b, type2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }         \
    PTX2SPV_BOTH type __hfma_sat(type a, type b, type c) { return ptx2spv_saturate(__hfma(a, b, c)); }                       \
    PTX2SPV_BOTH type2 __hfma2_sat(type2 a, type2 b, type2 c) { return ptx2spv_saturate(__hfma2(a, b, c)); }                 \
    PTX2SPV_BOTH type __hfma_relu(type a, type b, type c) { return ptx2spv_positive(__hfma(a, b, c)); }                      \
    PTX2SPV_BOTH type2 __hfma2_relu(type2 a, type2 b, type2 c) { return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)}; }\
    /* Complex numbers: the products with the first one's real part are added first. */                                      \
    PTX2SPV_BOTH type2 __hcmadd(type2 a, type2 b, type2 c)                                                                   \
    {                                                                                                                        \
        return {__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};                          \
    }                                                                                                                        \
    PTX2SPV_BOTH type __hmax_nan(type a, type b) { return __hisnan(a) || __hisnan(b) ? ptx2spv_##n(0x7fff) : __hmax(a, b); } \
    PTX2SPV_BOTH type __hmin_nan(type a, type b) { return __hisnan(a) || __hisnan(b) ? ptx2spv_##n(0x7fff) : __hmin(a, b); } \
    PTX2SPV_BOTH type2 __hmax2_nan(type2 a, type2 b) { return {__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)}; }                \
    PTX2SPV_BOTH type2 __hmin2_nan(type2 a, type2 b) { return {__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)}; }                \
    PTX2SPV_BOTH type2 __hisnan2(type2 a) { return {type(__hisnan(a.x)), type(__hisnan(a.y))}; }                             \
    PTX2SPV_SMALL_FLOAT_ON_DEVICE(type, type2, n, n2)

#ifdef __CUDA__
/* In a direction, -1 for down and 1 for up: the neighbour of the nearest, where that is beyond the number in the wrong one. */
PTX2SPV_ON_DEVICE int ptx2spv_direction_rd(float) { return -1; }
PTX2SPV_ON_DEVICE int ptx2spv_direction_ru(float) { return 1; }
PTX2SPV_ON_DEVICE int ptx2spv_direction_rz(float a) { return a > 0 ? -1 : 1; }
template <class T> PTX2SPV_ON_DEVICE T ptx2spv_move(T near, float a, int direction)
{
    float found = (float)near;
    if (found == a || a != a || __builtin_isinf(a) || (found < a) == (direction < 0)) return near;
    if ((near.__x & 0x7fff) == 0) near.__x = direction < 0 ? 0x8001 : 0x0001;
    else near.__x = (unsigned short)((near.__x >> 15) == (direction < 0) ? near.__x + 1 : near.__x - 1);
    return near;
}
#define PTX2SPV_SMALL_FLOAT_ON_DEVICE(type, type2, n, n2)                                                                    \
    PTX2SPV_SMALL_DIRECTED(type, n, rz)                                                                                      \
    PTX2SPV_SMALL_DIRECTED(type, n, rd)                                                                                      \
    PTX2SPV_SMALL_DIRECTED(type, n, ru)                                                                                      \
    PTX2SPV_SMALL_SHORTS(type, n, rn)                                                                                        \
    PTX2SPV_SMALL_SHORTS(type, n, rz)                                                                                        \
    PTX2SPV_SMALL_SHORTS(type, n, rd)                                                                                        \
    PTX2SPV_SMALL_SHORTS(type, n, ru)                                                                                        \
    PTX2SPV_SMALL_SHORT(type, n, signed char, char, -128, 127, rz)                                                           \
    PTX2SPV_SMALL_SHORT(type, n, unsigned char, uchar, 0, 255, rz)                                                           \
    PTX2SPV_SMALL_INTEGER(type, n, int, int)                                                                                 \
    PTX2SPV_SMALL_INTEGER(type, n, unsigned int, uint)                                                                       \
    PTX2SPV_SMALL_INTEGER(type, n, long long, ll)                                                                            \
    PTX2SPV_SMALL_INTEGER(type, n, unsigned long long, ull)                                                                  \
    PTX2SPV_SMALL_FUNCTION(type, type2, sqrt, sqrtf)                                                                         \
    PTX2SPV_SMALL_FUNCTION(type, type2, rsqrt, rsqrtf)                                                                       \
    PTX2SPV_SMALL_FUNCTION(type, type2, rcp, 1.0f /)                                                                         \
    PTX2SPV_SMALL_FUNCTION(type, type2, exp, expf)                                                                           \
    PTX2SPV_SMALL_FUNCTION(type, type2, exp2, exp2f)                                                                         \
    PTX2SPV_SMALL_FUNCTION(type, type2, exp10, exp10f)                                                                       \
    PTX2SPV_SMALL_FUNCTION(type, type2, log, logf)                                                                           \
    PTX2SPV_SMALL_FUNCTION(type, type2, log2, log2f)                                                                         \
    PTX2SPV_SMALL_FUNCTION(type, type2, log10, log10f)                                                                       \
    PTX2SPV_SMALL_FUNCTION(type, type2, sin, sinf)                                                                           \
    PTX2SPV_SMALL_FUNCTION(type, type2, cos, cosf)                                                                           \
    PTX2SPV_SMALL_FUNCTION(type, type2, tanh, tanhf)                                                                         \
    PTX2SPV_SMALL_FUNCTION(type, type2, floor, floorf)                                                                       \
    PTX2SPV_SMALL_FUNCTION(type, type2, ceil, ceilf)                                                                         \
    PTX2SPV_SMALL_FUNCTION(type, type2, trunc, truncf)                                                                       \
    PTX2SPV_SMALL_FUNCTION(type, type2, rint, rintf)                                                                         \
    PTX2SPV_ON_DEVICE type __ldg(const type *p) { return ptx2spv_##n(__ldg((const unsigned short *)p)); }                    \
    PTX2SPV_ON_DEVICE type2 __ldg(const type2 *p) { return __builtin_bit_cast(type2, __ldg((const unsigned int *)p)); }      \
    PTX2SPV_SMALL_SHUFFLE(type, type2, n, __shfl_sync, int)                                                                  \
    PTX2SPV_SMALL_SHUFFLE(type, type2, n, __shfl_up_sync, unsigned int)                                                      \
    PTX2SPV_SMALL_SHUFFLE(type, type2, n, __shfl_down_sync, unsigned int)                                                    \
    PTX2SPV_SMALL_SHUFFLE(type, type2, n, __shfl_xor_sync, int)                                                              \
    /* One element of a pair, by comparing and swapping the word around. */                                                  \
    PTX2SPV_ON_DEVICE type2 atomicAdd(type2 *p, type2 v)                                                                     \
    {                                                                                                                        \
        unsigned int *word = (unsigned int *)p, old = *(volatile unsigned int *)word, seen;                                  \
        do {                                                                                                                 \
            seen = old;                                                                                                      \
            type2 next = __builtin_bit_cast(type2, seen) + v;                                                                \
            old = atomicCAS(word, seen, __builtin_bit_cast(unsigned int, next));                                             \
        } while (old != seen);                                                                                               \
        return __builtin_bit_cast(type2, old);                                                                               \
    }                                                                                                                        \
    PTX2SPV_ON_DEVICE type atomicAdd(type *p, type v)                                                                        \
    {                                                                                                                        \
        unsigned int *word = (unsigned int *)((size_t)p & ~(size_t)3), shift = (unsigned int)((size_t)p & 2) * 8;            \
        unsigned int old = *(volatile unsigned int *)word, seen;                                                             \
        do {                                                                                                                 \
            seen = old;                                                                                                      \
            type next = ptx2spv_##n((unsigned short)(seen >> shift)) + v;                                                    \
            old = atomicCAS(word, seen, (seen & ~(0xffffu << shift)) | (unsigned int)next.__x << shift);                     \
        } while (old != seen);                                                                                               \
        return ptx2spv_##n((unsigned short)(old >> shift));                                                                  \
    }
#define PTX2SPV_SMALL_SHUFFLE(type, type2, n, name, step)                                                                    \
    PTX2SPV_ON_DEVICE type name(unsigned int mask, type v, step from, int width = 32)                                        \
    {                                                                                                                        \
        return ptx2spv_##n((unsigned short)name(mask, (unsigned int)v.__x, from, width));                                    \
    }                                                                                                                        \
    PTX2SPV_ON_DEVICE type2 name(unsigned int mask, type2 v, step from, int width = 32)                                      \
    {                                                                                                                        \
        return __builtin_bit_cast(type2, name(mask, __builtin_bit_cast(unsigned int, v), from, width));                      \
    }
#else
#define PTX2SPV_SMALL_FLOAT_ON_DEVICE(type, type2, n, n2)
#endif

#endif

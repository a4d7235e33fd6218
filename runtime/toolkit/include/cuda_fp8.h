/* Numbers of eight bits: e4m3 (no infinities, one NaN), e5m2 (IEEE's form) and e8m0 (powers of two). */
#ifndef __CUDA_FP8_H__
#define __CUDA_FP8_H__
#ifdef __cplusplus
#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

/* Rounds to the nearest. What is too large becomes the largest number, or else infinity, which e4m3 has not: NaN. */
PTX2SPV_BOTH __nv_fp8_storage_t __nv_cvt_float_to_fp8(float a, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    unsigned int fraction = kind == __NV_E4M3 ? 3 : 2, bias = kind == __NV_E4M3 ? 7 : 15, largest = kind == __NV_E4M3 ? 0x7e : 0x7b;
    unsigned int bits = __builtin_bit_cast(unsigned int, a), size = bits & 0x7fffffff, sign = bits >> 24 & 0x80, result;
    if (size > 0x7f800000) return 0x7f;
    if (size < (128 - bias) << 23) {
        /* A sum whose last place is that of the smallest numbers. */
        unsigned int one = (151 - bias - fraction) << 23;
        float sum = __builtin_bit_cast(float, size) + __builtin_bit_cast(float, one);
        result = __builtin_bit_cast(unsigned int, sum) - one;
    } else {
        unsigned int shift = 23 - fraction;
        result = ((size + (1u << (shift - 1)) - 1 + (size >> shift & 1)) >> shift) - ((127 - bias) << fraction);
    }
    if (result > largest) result = saturate == __NV_SATFINITE ? largest : largest + 1;
    return (__nv_fp8_storage_t)(sign | result);
}
PTX2SPV_BOTH __nv_fp8_storage_t __nv_cvt_double_to_fp8(double a, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float_to_fp8(ptx2spv_round_to_odd(a), saturate, kind);
}
PTX2SPV_BOTH __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t a, __nv_fp8_interpretation_t kind)
{
    unsigned short sign = (unsigned short)((a & 0x80) << 8), size = a & 0x7f;
    if (kind == __NV_E5M2) return {(unsigned short)(size > 0x7c ? 0x7fff : sign | size << 8)};
    if (size == 0x7f) return {0x7fff};
    /* The exponents differ by eight. */
    return {(unsigned short)(sign | ptx2spv_round_half(ptx2spv_widen_half((unsigned short)(size << 7)) * 256.0f))};
}

/* From other types, and two at once: the first is the lower byte. */
#define PTX2SPV_FP8(name, type, component, to_one)                                                                               \
    PTX2SPV_BOTH __nv_fp8x2_storage_t __nv_cvt_##name##2_to_fp8x2(type a, __nv_saturation_t saturate,                            \
                                                                  __nv_fp8_interpretation_t kind)                                \
    {                                                                                                                            \
        return (__nv_fp8x2_storage_t)(to_one(component{a.x}, saturate, kind) | to_one(component{a.y}, saturate, kind) << 8);       \
    }
PTX2SPV_BOTH __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw a, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float_to_fp8(ptx2spv_widen_half(a.x), saturate, kind);
}
PTX2SPV_BOTH __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw a, __nv_saturation_t saturate,
                                                            __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float_to_fp8(ptx2spv_widen_bfloat16(a.x), saturate, kind);
}
PTX2SPV_FP8(float, float2, float, __nv_cvt_float_to_fp8)
PTX2SPV_FP8(double, double2, double, __nv_cvt_double_to_fp8)
PTX2SPV_FP8(halfraw, __half2_raw, __half_raw, __nv_cvt_halfraw_to_fp8)
PTX2SPV_FP8(bfloat16raw, __nv_bfloat162_raw, __nv_bfloat16_raw, __nv_cvt_bfloat16raw_to_fp8)
#undef PTX2SPV_FP8
PTX2SPV_BOTH __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t a, __nv_fp8_interpretation_t kind)
{
    return {__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)a, kind).x, __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(a >> 8), kind).x};
}

/* The types for a form: of one, two and four numbers. Those that are made of other numbers saturate. */
#define PTX2SPV_FP8_FROM(type)                                                                                                   \
    explicit __host__ __device__ PTX2SPV_FP8_TYPE(type a) : __x(__nv_cvt_float_to_fp8((float)a, __NV_SATFINITE, kind)) {}        \
    explicit __host__ __device__ operator type() const { return (type)(float)*this; }
#define PTX2SPV_FP8_FROM_LONG(type)                                                                                              \
    explicit __host__ __device__ PTX2SPV_FP8_TYPE(type a) : __x(__nv_cvt_double_to_fp8((double)a, __NV_SATFINITE, kind)) {}      \
    explicit __host__ __device__ operator type() const { return (type)(float)*this; }
template <__nv_fp8_interpretation_t kind> struct ptx2spv_fp8 {
    __nv_fp8_storage_t __x;
    ptx2spv_fp8() = default;
#define PTX2SPV_FP8_TYPE ptx2spv_fp8
    PTX2SPV_FP8_FROM(__half)
    PTX2SPV_FP8_FROM(__nv_bfloat16)
    PTX2SPV_FP8_FROM(short)
    PTX2SPV_FP8_FROM(unsigned short)
    PTX2SPV_FP8_FROM_LONG(double)
    PTX2SPV_FP8_FROM_LONG(int)
    PTX2SPV_FP8_FROM_LONG(unsigned int)
    PTX2SPV_FP8_FROM_LONG(long)
    PTX2SPV_FP8_FROM_LONG(unsigned long)
    PTX2SPV_FP8_FROM_LONG(long long)
    PTX2SPV_FP8_FROM_LONG(unsigned long long)
#undef PTX2SPV_FP8_TYPE
    explicit __host__ __device__ ptx2spv_fp8(float a) : __x(__nv_cvt_float_to_fp8(a, __NV_SATFINITE, kind)) {}
    explicit __host__ __device__ operator float() const { return ptx2spv_widen_half(__nv_cvt_fp8_to_halfraw(__x, kind).x); }
    explicit __host__ __device__ operator char() const { return (char)(float)*this; }
    explicit __host__ __device__ operator signed char() const { return (signed char)(float)*this; }
    explicit __host__ __device__ operator unsigned char() const { return (unsigned char)(float)*this; }
    explicit __host__ __device__ operator bool() const { return (__x & 0x7f) != 0; }
};
#undef PTX2SPV_FP8_FROM
#undef PTX2SPV_FP8_FROM_LONG
template <__nv_fp8_interpretation_t kind> struct ptx2spv_fp8x2 {
    __nv_fp8x2_storage_t __x;
    ptx2spv_fp8x2() = default;
    explicit __host__ __device__ ptx2spv_fp8x2(float2 a) : __x(__nv_cvt_float2_to_fp8x2(a, __NV_SATFINITE, kind)) {}
    explicit __host__ __device__ ptx2spv_fp8x2(double2 a) : __x(__nv_cvt_double2_to_fp8x2(a, __NV_SATFINITE, kind)) {}
    explicit __host__ __device__ ptx2spv_fp8x2(__half2 a) : ptx2spv_fp8x2(__half22float2(a)) {}
    explicit __host__ __device__ ptx2spv_fp8x2(__nv_bfloat162 a) : ptx2spv_fp8x2(__bfloat1622float2(a)) {}
    explicit __host__ __device__ operator __half2() const
    {
        __half2_raw raw = __nv_cvt_fp8x2_to_halfraw2(__x, kind);
        return {__half(__half_raw{raw.x}), __half(__half_raw{raw.y})};
    }
    explicit __host__ __device__ operator float2() const { return __half22float2((__half2)*this); }
};
template <__nv_fp8_interpretation_t kind> struct ptx2spv_fp8x4 {
    __nv_fp8x4_storage_t __x;
    ptx2spv_fp8x4() = default;
    template <class T>
    explicit __host__ __device__ ptx2spv_fp8x4(T low, T high)
        : __x(ptx2spv_fp8x2<kind>(low).__x | (__nv_fp8x4_storage_t)ptx2spv_fp8x2<kind>(high).__x << 16)
    {
    }
    explicit __host__ __device__ ptx2spv_fp8x4(float4 a) : ptx2spv_fp8x4(float2{a.x, a.y}, float2{a.z, a.w}) {}
    explicit __host__ __device__ ptx2spv_fp8x4(double4 a) : ptx2spv_fp8x4(double2{a.x, a.y}, double2{a.z, a.w}) {}
    explicit __host__ __device__ operator float4() const
    {
        ptx2spv_fp8x2<kind> low, high;
        low.__x = (__nv_fp8x2_storage_t)__x;
        high.__x = (__nv_fp8x2_storage_t)(__x >> 16);
        float2 a = (float2)low, b = (float2)high;
        return {a.x, a.y, b.x, b.y};
    }
};
/* Structures of their own, which other headers may declare before. */
#define PTX2SPV_FP8(name, base, kind)                                                                                            \
    struct name : base<kind> {                                                                                                   \
        using base<kind>::base;                                                                                                  \
        name() = default;                                                                                                        \
    };
PTX2SPV_FP8(__nv_fp8_e4m3, ptx2spv_fp8, __NV_E4M3)
PTX2SPV_FP8(__nv_fp8_e5m2, ptx2spv_fp8, __NV_E5M2)
PTX2SPV_FP8(__nv_fp8x2_e4m3, ptx2spv_fp8x2, __NV_E4M3)
PTX2SPV_FP8(__nv_fp8x2_e5m2, ptx2spv_fp8x2, __NV_E5M2)
PTX2SPV_FP8(__nv_fp8x4_e4m3, ptx2spv_fp8x4, __NV_E4M3)
PTX2SPV_FP8(__nv_fp8x4_e5m2, ptx2spv_fp8x4, __NV_E5M2)
#undef PTX2SPV_FP8

/* e8m0: a power of two from 2^-127 to 2^127, and NaN; signs are lost. */
PTX2SPV_BOTH __nv_fp8_storage_t __nv_cvt_float_to_e8m0(float a, __nv_saturation_t saturate, enum cudaRoundMode mode)
{
    unsigned int size = __builtin_bit_cast(unsigned int, a) & 0x7fffffff, exponent = size >> 23, rest = size & 0x7fffff;
    if (size > 0x7f800000) return 0xff;
    /* Below 2^-126, half of that is the least one. */
    if (mode == cudaRoundPosInf && (exponent == 0 ? rest > 0x400000 : rest != 0)) exponent++;
    return (__nv_fp8_storage_t)(exponent == 0xff && saturate == __NV_SATFINITE ? 0xfe : exponent);
}
/* To f32 in the same direction first. */
PTX2SPV_BOTH __nv_fp8_storage_t __nv_cvt_double_to_e8m0(double a, __nv_saturation_t saturate, enum cudaRoundMode mode)
{
    double size = __builtin_fabs(a);
    float near = (float)size;
    if (mode == cudaRoundPosInf && (double)near < size) near = __builtin_bit_cast(float, __builtin_bit_cast(unsigned int, near) + 1);
    if (mode == cudaRoundZero && (double)near > size) near = __builtin_bit_cast(float, __builtin_bit_cast(unsigned int, near) - 1);
    return __nv_cvt_float_to_e8m0(near, saturate, mode);
}
PTX2SPV_BOTH __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16_raw a, __nv_saturation_t saturate, enum cudaRoundMode mode)
{
    return __nv_cvt_float_to_e8m0(ptx2spv_widen_bfloat16(a.x), saturate, mode);
}
PTX2SPV_BOTH __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t a)
{
    return {(unsigned short)(a == 0xff ? 0x7fff : a == 0 ? 0x40 : a << 7)};
}
/* Those that are made of other numbers saturate, and are rounded up. */
struct __nv_fp8_e8m0 {
    __nv_fp8_storage_t __x;
    __nv_fp8_e8m0() = default;
    explicit __host__ __device__ __nv_fp8_e8m0(double a) : __x(__nv_cvt_double_to_e8m0(a, __NV_SATFINITE, cudaRoundPosInf)) {}
    explicit __host__ __device__ __nv_fp8_e8m0(float a) : __x(__nv_cvt_float_to_e8m0(a, __NV_SATFINITE, cudaRoundPosInf)) {}
    explicit __host__ __device__ __nv_fp8_e8m0(__half a) : __nv_fp8_e8m0((float)a) {}
    explicit __host__ __device__ __nv_fp8_e8m0(__nv_bfloat16 a) : __nv_fp8_e8m0((float)a) {}
    explicit __host__ __device__ operator float() const { return ptx2spv_widen_bfloat16(__nv_cvt_e8m0_to_bf16raw(__x).x); }
    explicit __host__ __device__ operator double() const { return (double)(float)*this; }
    explicit __host__ __device__ operator __nv_bfloat16() const { return __nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(__x)); }
};
#endif

#endif

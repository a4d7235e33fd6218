// Functions that are instructions, or a few operations on bits: conversions, rounding, integers, and the `__` forms. For the device only.
#pragma once
#include "base.h"

#define EXPORT extern "C" __attribute__((nothrow))

// Arithmetic with a rounding mode: CUDA's suffixes, and those of the instructions.
#define ROUNDED(mode, way)                                                                                                           \
    EXPORT float __nv_fadd_##mode(float a, float b) { return FTZ ? __nvvm_add_##way##_ftz_f(a, b) : __nvvm_add_##way##_f(a, b); }     \
    EXPORT float __nv_fsub_##mode(float a, float b) { return FTZ ? __nvvm_add_##way##_ftz_f(a, -b) : __nvvm_add_##way##_f(a, -b); }   \
    EXPORT float __nv_fmul_##mode(float a, float b) { return FTZ ? __nvvm_mul_##way##_ftz_f(a, b) : __nvvm_mul_##way##_f(a, b); }     \
    EXPORT float __nv_fdiv_##mode(float a, float b) { return FTZ ? __nvvm_div_##way##_ftz_f(a, b) : __nvvm_div_##way##_f(a, b); }     \
    EXPORT float __nv_frcp_##mode(float a) { return FTZ ? __nvvm_rcp_##way##_ftz_f(a) : __nvvm_rcp_##way##_f(a); }                    \
    EXPORT float __nv_fsqrt_##mode(float a) { return FTZ ? __nvvm_sqrt_##way##_ftz_f(a) : __nvvm_sqrt_##way##_f(a); }                 \
    EXPORT float __nv_fmaf_##mode(float a, float b, float c)                                                                         \
    {                                                                                                                                \
        return FTZ ? __nvvm_fma_##way##_ftz_f(a, b, c) : __nvvm_fma_##way##_f(a, b, c);                                               \
    }                                                                                                                                \
    EXPORT float __nv_fmaf_ieee_##mode(float a, float b, float c) { return __nvvm_fma_##way##_f(a, b, c); }                          \
    EXPORT double __nv_dadd_##mode(double a, double b) { return __nvvm_add_##way##_d(a, b); }                                        \
    EXPORT double __nv_dsub_##mode(double a, double b) { return __nvvm_add_##way##_d(a, -b); }                                       \
    EXPORT double __nv_dmul_##mode(double a, double b) { return __nvvm_mul_##way##_d(a, b); }                                        \
    EXPORT double __nv_ddiv_##mode(double a, double b) { return __nvvm_div_##way##_d(a, b); }                                        \
    EXPORT double __nv_drcp_##mode(double a) { return __nvvm_rcp_##way##_d(a); }                                                     \
    EXPORT double __nv_dsqrt_##mode(double a) { return __nvvm_sqrt_##way##_d(a); }                                                   \
    EXPORT double __nv_fma_##mode(double a, double b, double c) { return __nvvm_fma_##way##_d(a, b, c); }                            \
    EXPORT i32 __nv_float2int_##mode(float a) { return FTZ ? __nvvm_f2i_##way##_ftz(a) : __nvvm_f2i_##way(a); }                       \
    EXPORT u32 __nv_float2uint_##mode(float a) { return FTZ ? __nvvm_f2ui_##way##_ftz(a) : __nvvm_f2ui_##way(a); }                    \
    EXPORT i64 __nv_float2ll_##mode(float a) { return FTZ ? __nvvm_f2ll_##way##_ftz(a) : __nvvm_f2ll_##way(a); }                      \
    EXPORT u64 __nv_float2ull_##mode(float a) { return FTZ ? __nvvm_f2ull_##way##_ftz(a) : __nvvm_f2ull_##way(a); }                   \
    EXPORT i32 __nv_double2int_##mode(double a) { return __nvvm_d2i_##way(a); }                                                      \
    EXPORT u32 __nv_double2uint_##mode(double a) { return __nvvm_d2ui_##way(a); }                                                    \
    EXPORT i64 __nv_double2ll_##mode(double a) { return __nvvm_d2ll_##way(a); }                                                      \
    EXPORT u64 __nv_double2ull_##mode(double a) { return __nvvm_d2ull_##way(a); }                                                    \
    EXPORT float __nv_double2float_##mode(double a) { return FTZ ? __nvvm_d2f_##way##_ftz(a) : __nvvm_d2f_##way(a); }                 \
    EXPORT float __nv_int2float_##mode(i32 a) { return __nvvm_i2f_##way(a); }                                                        \
    EXPORT float __nv_uint2float_##mode(u32 a) { return __nvvm_ui2f_##way(a); }                                                      \
    EXPORT float __nv_ll2float_##mode(i64 a) { return __nvvm_ll2f_##way(a); }                                                        \
    EXPORT float __nv_ull2float_##mode(u64 a) { return __nvvm_ull2f_##way(a); }                                                      \
    EXPORT double __nv_ll2double_##mode(i64 a) { return __nvvm_ll2d_##way(a); }                                                      \
    EXPORT double __nv_ull2double_##mode(u64 a) { return __nvvm_ull2d_##way(a); }
ROUNDED(rn, rn)
ROUNDED(rz, rz)
ROUNDED(rd, rm)
ROUNDED(ru, rp)
#undef ROUNDED

EXPORT double __nv_int2double_rn(i32 a) { return a; }
EXPORT double __nv_uint2double_rn(u32 a) { return a; }
EXPORT i32 __nv_double2hiint(double a) { return (i32)(bits(a) >> 32); }
EXPORT i32 __nv_double2loint(double a) { return (i32)bits(a); }
EXPORT double __nv_hiloint2double(i32 high, i32 low) { return f64((u64)(u32)high << 32 | (u32)low); }
EXPORT i64 __nv_double_as_longlong(double a) { return (i64)bits(a); }
EXPORT double __nv_longlong_as_double(i64 a) { return f64((u64)a); }
EXPORT i32 __nv_float_as_int(float a) { return (i32)bits(a); }
EXPORT u32 __nv_float_as_uint(float a) { return bits(a); }
EXPORT float __nv_int_as_float(i32 a) { return f32((u32)a); }
EXPORT float __nv_uint_as_float(u32 a) { return f32(a); }
EXPORT unsigned short __nv_float2half_rn(float a) { return __builtin_bit_cast(unsigned short, (_Float16)a); }
EXPORT float __nv_half2float(unsigned short a) { return (float)__builtin_bit_cast(_Float16, a); }

// Integers.
EXPORT i32 __nv_abs(i32 a) { return a < 0 ? (i32)(0u - (u32)a) : a; }
EXPORT i64 __nv_llabs(i64 a) { return a < 0 ? (i64)(0ull - (u64)a) : a; }
EXPORT i32 __nv_min(i32 a, i32 b) { return b < a ? b : a; }
EXPORT i32 __nv_max(i32 a, i32 b) { return a < b ? b : a; }
EXPORT u32 __nv_umin(u32 a, u32 b) { return b < a ? b : a; }
EXPORT u32 __nv_umax(u32 a, u32 b) { return a < b ? b : a; }
EXPORT i64 __nv_llmin(i64 a, i64 b) { return b < a ? b : a; }
EXPORT i64 __nv_llmax(i64 a, i64 b) { return a < b ? b : a; }
EXPORT u64 __nv_ullmin(u64 a, u64 b) { return b < a ? b : a; }
EXPORT u64 __nv_ullmax(u64 a, u64 b) { return a < b ? b : a; }
EXPORT i32 __nv_clz(i32 a) { return a == 0 ? 32 : __builtin_clz((u32)a); }
EXPORT i32 __nv_clzll(i64 a) { return a == 0 ? 64 : __builtin_clzll((u64)a); }
EXPORT i32 __nv_ffs(i32 a) { return __builtin_ffs(a); }
EXPORT i32 __nv_ffsll(i64 a) { return __builtin_ffsll(a); }
EXPORT i32 __nv_popc(i32 a) { return __builtin_popcount((u32)a); }
EXPORT i32 __nv_popcll(i64 a) { return __builtin_popcountll((u64)a); }
EXPORT i32 __nv_brev(i32 a) { return (i32)__builtin_bitreverse32((u32)a); }
EXPORT i64 __nv_brevll(i64 a) { return (i64)__builtin_bitreverse64((u64)a); }
EXPORT i32 __nv_byte_perm(i32 a, i32 b, i32 selector) { return __nvvm_prmt(a, b, selector & 0x7777); }
EXPORT i32 __nv_mulhi(i32 a, i32 b) { return (i32)((i64)a * b >> 32); }
EXPORT u32 __nv_umulhi(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
EXPORT i64 __nv_mul64hi(i64 a, i64 b) { return (i64)((__int128)a * b >> 64); }
EXPORT u64 __nv_umul64hi(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }
EXPORT i32 __nv_mul24(i32 a, i32 b) { return __nvvm_mul24_i(a, b); }
EXPORT u32 __nv_umul24(u32 a, u32 b) { return __nvvm_mul24_ui(a, b); }
EXPORT i32 __nv_sad(i32 a, i32 b, i32 c) { return (i32)((u32)c + (a < b ? (u32)b - (u32)a : (u32)a - (u32)b)); }
EXPORT u32 __nv_usad(u32 a, u32 b, u32 c) { return c + (a < b ? b - a : a - b); }
EXPORT i32 __nv_hadd(i32 a, i32 b) { return (i32)(((i64)a + b) >> 1); }
EXPORT i32 __nv_rhadd(i32 a, i32 b) { return (i32)(((i64)a + b + 1) >> 1); }
EXPORT u32 __nv_uhadd(u32 a, u32 b) { return (u32)(((u64)a + b) >> 1); }
EXPORT u32 __nv_urhadd(u32 a, u32 b) { return (u32)(((u64)a + b + 1) >> 1); }

// Instructions for approximations.
INLINE float sine_approximation(float x) { return FTZ ? __nvvm_sin_approx_ftz_f(x) : __nvvm_sin_approx_f(x); }
INLINE float cosine_approximation(float x) { return FTZ ? __nvvm_cos_approx_ftz_f(x) : __nvvm_cos_approx_f(x); }
INLINE float power_approximation(float x) { return FTZ ? __nvvm_ex2_approx_ftz_f(x) : __nvvm_ex2_approx_f(x); }
INLINE float logarithm_approximation(float x) { return FTZ ? __nvvm_lg2_approx_ftz_f(x) : __nvvm_lg2_approx_f(x); }
INLINE float quotient_approximation(float a, float b) { return FTZ ? __nvvm_div_approx_ftz_f(a, b) : __nvvm_div_approx_f(a, b); }
EXPORT float __nv_fast_sinf(float x) { return sine_approximation(x); }
EXPORT float __nv_fast_cosf(float x) { return cosine_approximation(x); }
EXPORT float __nv_fast_tanf(float x) { return quotient_approximation(sine_approximation(x), cosine_approximation(x)); }
EXPORT void __nv_fast_sincosf(float x, float *sine, float *cosine) { *sine = sine_approximation(x), *cosine = cosine_approximation(x); }
EXPORT float __nv_fast_expf(float x) { return power_approximation(mul(x, 1.44269504088896340736f)); }
EXPORT float __nv_fast_exp10f(float x) { return power_approximation(mul(x, 3.32192809488736234787f)); }
EXPORT float __nv_fast_log2f(float x) { return logarithm_approximation(x); }
EXPORT float __nv_fast_logf(float x) { return mul(logarithm_approximation(x), 0.69314718055994530942f); }
EXPORT float __nv_fast_log10f(float x) { return mul(logarithm_approximation(x), 0.30102999566398119521f); }
EXPORT float __nv_fast_powf(float x, float y) { return power_approximation(mul(y, logarithm_approximation(x))); }
EXPORT float __nv_fast_fdividef(float a, float b) { return quotient_approximation(a, b); }
EXPORT float __nv_frsqrt_rn(float x)
{
    // The correctly rounded one is the nearest to 1/sqrt(x) among the approximation's neighbours.
    float y = FTZ ? __nvvm_rsqrt_approx_ftz_f(x) : __nvvm_rsqrt_approx_f(x);
    if (!(x > 0) || is_inf(x)) return y;
    return (float)(1.0 / __nvvm_sqrt_rn_d((double)x));
}
EXPORT float __nv_saturatef(float x) { return FTZ ? __nvvm_saturate_ftz_f(x) : __nvvm_saturate_f(x); }
EXPORT double __nv_rcp64h(double x) { return __nvvm_rcp_approx_ftz_d(x); }

// Rounding to whole numbers, minima and the like.
#define WHOLE(type, suffix, letter, natural)                                                                                    \
    EXPORT type __nv_floor##suffix(type x) { return __builtin_floor##suffix(x); }                                               \
    EXPORT type __nv_ceil##suffix(type x) { return __builtin_ceil##suffix(x); }                                                 \
    EXPORT type __nv_trunc##suffix(type x) { return __builtin_trunc##suffix(x); }                                               \
    EXPORT type __nv_rint##suffix(type x) { return __builtin_rint##suffix(x); }                                                 \
    EXPORT type __nv_nearbyint##suffix(type x) { return __builtin_rint##suffix(x); }                                            \
    EXPORT type __nv_round##suffix(type x)                                                                                      \
    {                                                                                                                           \
        type down = __builtin_trunc##suffix(x);                                                                                 \
        return with_sign(absolute(add(x, -down)) >= type(0.5) ? add(down, with_sign(type(1), x)) : down, x);                    \
    }                                                                                                                           \
    EXPORT i64 __nv_llrint##suffix(type x) { return __nvvm_##natural##2ll_rn(x); }                                              \
    EXPORT i64 __nv_llround##suffix(type x) { return __nvvm_##natural##2ll_rz(__nv_round##suffix(x)); }                         \
    EXPORT type __nv_fabs##suffix(type x) { return absolute(x); }                                                               \
    EXPORT type __nv_copysign##suffix(type x, type y) { return with_sign(x, y); }                                               \
    EXPORT type __nv_fmin##suffix(type a, type b) { return __builtin_fmin##suffix(a, b); }                                      \
    EXPORT type __nv_fmax##suffix(type a, type b) { return __builtin_fmax##suffix(a, b); }                                      \
    EXPORT type __nv_fdim##suffix(type a, type b) { return is_nan(a) || is_nan(b) ? add(a, b) : a > b ? add(a, -b) : type(0); } \
    EXPORT type __nv_fma##suffix(type a, type b, type c) { return fma(a, b, c); }                                               \
    EXPORT type __nv_sqrt##suffix(type x) { return __builtin_sqrt##suffix(x); }                                                 \
    EXPORT i32 __nv_isinf##letter(type x) { return is_inf(x); }                                                                 \
    EXPORT i32 __nv_isnan##letter(type x) { return is_nan(x); }                                                                 \
    EXPORT i32 __nv_signbit##letter(type x) { return is_negative(x); }
WHOLE(float, f, f, f)
WHOLE(double, , d, d)
#undef WHOLE
EXPORT i32 __nv_finitef(float x) { return is_finite(x); }
EXPORT i32 __nv_isfinited(double x) { return is_finite(x); }

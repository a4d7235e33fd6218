// The library of functions `__nv_...` that clang links into kernels. The names are those of its headers.
#include "kernels.h"
#include "plain.h"

// A function of one argument, for f32 and f64.
#define ONE(name, function)                                         \
    EXPORT float __nv_##name##f(float x) { return function(x); }    \
    EXPORT double __nv_##name(double x) { return function(x); }
ONE(sin, sine)
ONE(cos, cosine)
ONE(tan, tangent)
ONE(sinpi, sine_pi)
ONE(cospi, cosine_pi)
ONE(exp, exponential)
ONE(exp2, exponential_2)
ONE(exp10, exponential_10)
ONE(expm1, exponential_minus_1)
ONE(log, logarithm)
ONE(log2, logarithm_2)
ONE(log10, logarithm_10)
ONE(log1p, logarithm_plus_1)
ONE(atan, arc_tangent)
ONE(asin, arc_sine)
ONE(acos, arc_cosine)
ONE(sinh, hyperbolic_sine)
ONE(cosh, hyperbolic_cosine)
ONE(tanh, hyperbolic_tangent)
ONE(asinh, arc_hyperbolic_sine)
ONE(acosh, arc_hyperbolic_cosine)
ONE(atanh, arc_hyperbolic_tangent)
ONE(cbrt, cube_root)
ONE(rcbrt, inverse_cube_root)
ONE(erf, error_function)
ONE(erfc, error_complement)
ONE(erfcx, scaled_error_complement)
ONE(erfinv, inverse_error_function)
ONE(erfcinv, inverse_error_complement)
ONE(normcdf, normal_distribution)
ONE(normcdfinv, inverse_normal_distribution)
ONE(lgamma, logarithm_of_gamma)
ONE(tgamma, gamma_function)
#undef ONE

// CUDA's rsqrtf is the instruction.
EXPORT float __nv_rsqrtf(float x) { return FTZ ? __nvvm_rsqrt_approx_ftz_f(x) : __nvvm_rsqrt_approx_f(x); }
EXPORT double __nv_rsqrt(double x) { return inverse_root(x); }

#define BOTH(type, suffix)                                                                                                          \
    EXPORT void __nv_sincos##suffix(type x, type *s, type *c) { sine_and_cosine(x, s, c); }                                         \
    EXPORT void __nv_sincospi##suffix(type x, type *s, type *c) { *s = sine_pi(x), *c = cosine_pi(x); }                             \
    EXPORT type __nv_pow##suffix(type x, type y) { return power(x, y); }                                                            \
    EXPORT type __nv_powi##suffix(type x, i32 y) { return power(x, (type)y); }                                                      \
    EXPORT type __nv_atan2##suffix(type y, type x) { return arc_tangent_2(y, x); }                                                  \
    EXPORT type __nv_norm##suffix(i32 count, const type *x) { return norm(x, count); }                                              \
    EXPORT type __nv_rnorm##suffix(i32 count, const type *x) { return inverse_norm(x, count); }                                     \
    EXPORT type __nv_hypot##suffix(type x, type y)                                                                                  \
    {                                                                                                                               \
        type list[] = {x, y};                                                                                                       \
        return norm(list, 2);                                                                                                       \
    }                                                                                                                               \
    EXPORT type __nv_rhypot##suffix(type x, type y)                                                                                 \
    {                                                                                                                               \
        type list[] = {x, y};                                                                                                       \
        return inverse_norm(list, 2);                                                                                               \
    }                                                                                                                               \
    EXPORT type __nv_norm3d##suffix(type x, type y, type z)                                                                         \
    {                                                                                                                               \
        type list[] = {x, y, z};                                                                                                    \
        return norm(list, 3);                                                                                                       \
    }                                                                                                                               \
    EXPORT type __nv_rnorm3d##suffix(type x, type y, type z)                                                                        \
    {                                                                                                                               \
        type list[] = {x, y, z};                                                                                                    \
        return inverse_norm(list, 3);                                                                                               \
    }                                                                                                                               \
    EXPORT type __nv_norm4d##suffix(type x, type y, type z, type w)                                                                 \
    {                                                                                                                               \
        type list[] = {x, y, z, w};                                                                                                 \
        return norm(list, 4);                                                                                                       \
    }                                                                                                                               \
    EXPORT type __nv_rnorm4d##suffix(type x, type y, type z, type w)                                                                \
    {                                                                                                                               \
        type list[] = {x, y, z, w};                                                                                                 \
        return inverse_norm(list, 4);                                                                                               \
    }                                                                                                                               \
    EXPORT type __nv_fmod##suffix(type x, type y)                                                                                   \
    {                                                                                                                               \
        i32 quotient;                                                                                                               \
        return remainder_of(x, y, false, &quotient);                                                                                \
    }                                                                                                                               \
    EXPORT type __nv_remainder##suffix(type x, type y)                                                                              \
    {                                                                                                                               \
        i32 quotient;                                                                                                               \
        return remainder_of(x, y, true, &quotient);                                                                                 \
    }                                                                                                                               \
    EXPORT type __nv_remquo##suffix(type x, type y, i32 *quotient) { return remainder_of(x, y, true, quotient); }                   \
    EXPORT type __nv_ldexp##suffix(type x, i32 n) { return scale(x, n); }                                                           \
    EXPORT type __nv_scalbn##suffix(type x, i32 n) { return scale(x, n); }                                                          \
    EXPORT type __nv_modf##suffix(type x, type *down)                                                                               \
    {                                                                                                                               \
        *down = __nv_trunc##suffix(x);                                                                                              \
        return with_sign(is_inf(x) ? type(0) : add(x, -*down), x);                                                                  \
    }                                                                                                                               \
    EXPORT type __nv_frexp##suffix(type x, i32 *exponent)                                                                           \
    {                                                                                                                               \
        *exponent = 0;                                                                                                              \
        if (x == 0 || !is_finite(x)) return x;                                                                                      \
        *exponent = exponent_of(x) + 1;                                                                                             \
        return scale(scale(x, -(*exponent / 2)), *exponent / 2 - *exponent);                                                        \
    }                                                                                                                               \
    EXPORT i32 __nv_ilogb##suffix(type x)                                                                                           \
    {                                                                                                                               \
        return x == 0 || is_nan(x) ? (i32)0x80000000 : is_inf(x) ? 0x7fffffff : exponent_of(x);                                     \
    }                                                                                                                               \
    EXPORT type __nv_logb##suffix(type x)                                                                                           \
    {                                                                                                                               \
        return x == 0 ? -INF_OF<type> : !is_finite(x) ? mul(x, x) : (type)exponent_of(x);                                           \
    }                                                                                                                               \
    EXPORT type __nv_nextafter##suffix(type x, type y) { return next_after(x, y); }                                                 \
    EXPORT type __nv_nan##suffix(const signed char *) { return NAN_OF<type>; }

// The exponent of a number that is neither zero nor infinite.
INLINE i32 exponent_of(float x)
{
    u32 word = bits(x) & 0x7fffffff;
    return word < 0x800000 ? -118 - __builtin_clz(word) : (i32)(word >> 23) - 127;
}
INLINE i32 exponent_of(double x)
{
    u64 word = bits(x) & 0x7fffffffffffffff;
    return word < 0x10000000000000 ? -1011 - __builtin_clzll(word) : (i32)(word >> 52) - 1023;
}
INLINE float moved(float x, i32 step) { return f32(bits(x) + (u32)step); }
INLINE double moved(double x, i32 step) { return f64(bits(x) + (u64)(i64)step); }
INLINE float least(float) { return f32(1u); }
INLINE double least(double) { return f64(1ull); }
template <class T> INLINE T next_after(T x, T y)
{
    if (is_nan(x) || is_nan(y)) return add(x, y);
    if (x == y) return y;
    if (x == 0) return with_sign(least(x), y);
    return moved(x, (x < y) == (x > 0) ? 1 : -1);
}
BOTH(float, f)
BOTH(double, )
#undef BOTH

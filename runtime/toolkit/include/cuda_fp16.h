/* __half: IEEE's 16-bit numbers. */
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__
#ifdef __cplusplus
#include "crt/small_floats.h"

struct __half_raw {
    unsigned short x;
};
struct __half2_raw {
    unsigned short x, y;
};
#ifdef __clang__
template <class T> PTX2SPV_BOTH unsigned short ptx2spv_round_half(T a) { return __builtin_bit_cast(unsigned short, (_Float16)a); }
PTX2SPV_BOTH float ptx2spv_widen_half(unsigned short a) { return (float)__builtin_bit_cast(_Float16, a); }
#else
/* Rounding to the nearest by adding what has its last place where the result's is. */
template <class T> PTX2SPV_BOTH unsigned short ptx2spv_round_half(T value)
{
    double a = (double)value, size = __builtin_fabs(a);
    unsigned short sign = __builtin_signbit(a) ? 0x8000 : 0;
    if (a != a) return 0x7fff;
    if (size >= 65520) return (unsigned short)(sign | 0x7c00);
    int exponent = size < 1.0 / 16384 ? -14 : __builtin_ilogb(size);
    double rounded = __builtin_nearbyint(__builtin_ldexp(size, 10 - exponent));
    return (unsigned short)(sign + (unsigned short)((exponent + 14) * 1024 + (int)rounded));
}
PTX2SPV_BOTH float ptx2spv_widen_half(unsigned short a)
{
    int exponent = a >> 10 & 31, fraction = a & 1023;
    float size = exponent == 31 ? (fraction ? __builtin_nanf("") : __builtin_inff())
                 : exponent    ? __builtin_ldexpf((float)(fraction + 1024), exponent - 25)
                               : __builtin_ldexpf((float)fraction, -24);
    return a & 0x8000 ? -size : size;
}
#endif
PTX2SPV_BOTH unsigned short ptx2spv_fuse_half(unsigned short a, unsigned short b, unsigned short c)
{
#ifdef __CUDA_ARCH__
    unsigned short d;
    asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(d) : "h"(a), "h"(b), "h"(c));
    return d;
#else
    return ptx2spv_round_half(__builtin_fma((double)ptx2spv_widen_half(a), (double)ptx2spv_widen_half(b), (double)ptx2spv_widen_half(c)));
#endif
}
PTX2SPV_SMALL_FLOAT(__half, __half2, half, half2)
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;

#if defined(__CUDA__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 750)
PTX2SPV_ON_DEVICE __half htanh_approx(__half a)
{
    unsigned short result;
    asm("tanh.approx.f16 %0, %1;" : "=h"(result) : "h"(a.__x));
    return ptx2spv_half(result);
}
PTX2SPV_ON_DEVICE __half2 h2tanh_approx(__half2 a) { return {htanh_approx(a.x), htanh_approx(a.y)}; }
#endif
#endif

#endif

/* __nv_bfloat16: the upper half of f32. */
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__
#ifdef __cplusplus
#include "crt/small_floats.h"

struct __bfloat16_raw {
    unsigned short x;
};
typedef __bfloat16_raw __nv_bfloat16_raw;
struct __nv_bfloat162_raw {
    unsigned short x, y;
};
PTX2SPV_BOTH unsigned short ptx2spv_round_bfloat16(float a)
{
    unsigned int bits = __builtin_bit_cast(unsigned int, a);
    if (a != a) return 0x7fff;
    return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
PTX2SPV_BOTH unsigned short ptx2spv_round_bfloat16(double a) { return ptx2spv_round_bfloat16(ptx2spv_round_to_odd(a)); }
/* Integers of 64 bits: those beyond a double's 53 bits are rounded to odd as well, which in two's complement is setting the last bit that stays. */
template <class T> PTX2SPV_BOTH unsigned short ptx2spv_round_bfloat16(T a)
{
    T upper = a >> 53;
    if (upper != 0 && upper != (T)-1) a = (a & ~(T)0x7ff) | (a & 0x7ff ? 0x800 : 0);
    return ptx2spv_round_bfloat16((double)a);
}
PTX2SPV_BOTH float ptx2spv_widen_bfloat16(unsigned short a) { return __builtin_bit_cast(float, (unsigned int)a << 16); }
PTX2SPV_BOTH unsigned short ptx2spv_fuse_bfloat16(unsigned short a, unsigned short b, unsigned short c)
{
    /* The product is exact in f64; the sum of it and the last number is rounded to odd, and then once more. */
    double exact = (double)ptx2spv_widen_bfloat16(a) * (double)ptx2spv_widen_bfloat16(b), addend = (double)ptx2spv_widen_bfloat16(c);
    double sum = exact + addend, part = sum - exact, rest = (exact - (sum - part)) + (addend - part);
    unsigned long long bits = __builtin_bit_cast(unsigned long long, sum);
    if (rest != 0 && rest == rest && !(bits & 1)) bits += (rest > 0) == (sum > 0) ? 1 : -1;
    return ptx2spv_round_bfloat16(__builtin_bit_cast(double, bits));
}
PTX2SPV_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat162, bfloat16, bfloat162)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#endif

#endif

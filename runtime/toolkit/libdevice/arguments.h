// Reduction of arguments by multiples of pi/2, for f32 and f64.
#pragma once
#include "base.h"

// A rest in [-pi/4, pi/4] or barely more, and the number of quarters of a turn, of which the lowest two bits count.
template <class T> struct Reduced {
    T rest, low;
    i32 quarter;
};

// The bits of 2/pi after the point, the highest first.
static constexpr u64 TWO_OVER_PI[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c,
    0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
};

// 64 bits of 2/pi from a place; those before the point are zeros.
INLINE u64 bits_of_two_over_pi(i32 place)
{
    if (place <= -64) return 0;
    if (place < 0) return TWO_OVER_PI[0] >> -place;
    i32 word = place / 64, shift = place % 64;
    u64 high = TWO_OVER_PI[word] << shift;
    return shift == 0 ? high : high | TWO_OVER_PI[word + 1] >> (64 - shift);
}

INLINE u64 high_product(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }

// Payne and Hanek: the product of the significand and those bits of 2/pi that matter. The point of the product's three words is after the
// first two bits.
INLINE Reduced<double> reduce_by_bits(u64 significand, i32 exponent)
{
    // The value is significand * 2^(exponent - 63), and the significand has its highest bit set.
    i32 place = exponent - 65;
    u64 first = bits_of_two_over_pi(place), second = bits_of_two_over_pi(place + 64), third = bits_of_two_over_pi(place + 128);
    unsigned __int128 low = (unsigned __int128)significand * second + high_product(significand, third);
    u64 high = significand * first + (u64)(low >> 64), middle = (u64)low;
    // A word of the product has the quarters in its first two bits, then the fraction.
    i32 quarter = (i32)(high >> 62);
    u64 fraction = high << 2 | middle >> 62, more = middle << 2;
    bool negative = fraction >> 63;
    if (negative) {
        quarter += 1;
        fraction = ~fraction, more = ~more;
    }
    i32 zeros = fraction == 0 ? 64 : __builtin_clzll(fraction);
    if (zeros == 64) fraction = more, more = 0;
    else if (zeros > 0) fraction = fraction << zeros | more >> (64 - zeros);
    // Times pi/2, as 2^63 units of 2^-62.
    constexpr u64 HALF_PI = 0xc90fdaa22168c234;
    u64 angle = high_product(fraction, HALF_PI);
    u64 top = angle & ~0x7ffull;
    double scale_of_word = f64((u64)(1023 - 63 - zeros) << 52);
    double rest = mul((double)top, scale_of_word), low_part = mul((double)(angle & 0x7ff), scale_of_word);
    return {negative ? -rest : rest, negative ? -low_part : low_part, quarter};
}

INLINE Reduced<double> reduce(double x)
{
    double size = absolute(x);
    if (size < 105414350.0) {
        double count = whole(mul(x, 0.63661977236758134308));
        // pi/2 in three parts.
        double first = fma(count, -1.57079632679489655800e+00, x);
        Pair<double> p = product(count, -6.12323399573676603587e-17);
        Pair<double> r = sum(first, p.high);
        double low = add(r.low, add(p.low, mul(count, 1.49738490485916983e-33)));
        Pair<double> sum_of_all = quick_sum(r.high, low);
        return {sum_of_all.high, sum_of_all.low, (i32)count};
    }
    if (!is_finite(x)) return {NOT_A_NUMBER64, 0, 0};
    u64 word = bits(size);
    Reduced<double> r = reduce_by_bits((word & 0xfffffffffffff | 0x10000000000000) << 11, (i32)(word >> 52) - 1023);
    if (is_negative(x)) r = {-r.rest, -r.low, -r.quarter};
    return r;
}

INLINE Reduced<float> reduce(float x)
{
    float size = absolute(x);
    if (size < 39000.0f) {
        float count = whole(mul(x, 0.63661977236758134308f));
        float first = fma(count, -1.57079637050628662109375f, x);
        Pair<float> p = product(count, 4.37113900018624283e-8f);
        Pair<float> r = sum(first, p.high);
        float low = add(r.low, add(p.low, mul(count, -1.71512451e-15f)));
        Pair<float> sum_of_all = quick_sum(r.high, low);
        return {sum_of_all.high, sum_of_all.low, (i32)count};
    }
    if (!is_finite(x)) return {NOT_A_NUMBER, 0, 0};
    // As above, with a significand of 32 bits.
    u32 word = bits(size);
    u64 significand = (u64)(word & 0x7fffff | 0x800000) << 8;
    i32 place = (i32)(word >> 23) - 127 - 33;
    u64 all = significand * bits_of_two_over_pi(place) + (significand * (bits_of_two_over_pi(place + 64) >> 32) >> 32);
    i32 quarter = (i32)(all >> 62);
    u64 fraction = all << 2;
    bool negative = fraction >> 63;
    if (negative) {
        quarter += 1;
        fraction = ~fraction;
    }
    i32 zeros = fraction == 0 ? 63 : __builtin_clzll(fraction);
    u64 angle = high_product(fraction << zeros, 0xc90fdaa22168c234);
    u32 top = (u32)(angle >> 32) & ~0xffu;
    float unit = f32((u32)(127 - 31 - zeros) << 23), unit_of_low = f32((u32)(127 - 47 - zeros) << 23);
    float rest = mul((float)top, unit), low_part = mul((float)(u32)(angle >> 16 & 0xffffff), unit_of_low);
    Reduced<float> r = {negative ? -rest : rest, negative ? -low_part : low_part, quarter};
    if (is_negative(x)) r = {-r.rest, -r.low, -r.quarter};
    return r;
}

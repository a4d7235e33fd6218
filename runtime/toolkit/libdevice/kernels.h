// The device's mathematics: published algorithms, once for f32 and f64. Each function is in its own type's arithmetic.
#pragma once
#include "arguments.h"
#include "coefficients.h"
#include "series.h"

template <class T, int count> INLINE T horner(T x, const T (&c)[count])
{
    T value = c[0];
#pragma unroll
    for (int i = 1; i < count; i++) value = fma(value, x, c[i]);
    return value;
}

template <class T> constexpr bool is_f32 = sizeof(T) == 4;
// A constant in the function's type, as the nearest number and what remains of it.
template <class T> INLINE Pair<T> constant(float high, float low, double high64, double low64)
{
    if constexpr (is_f32<T>) return {high, low};
    else return {high64, low64};
}
template <class T> INLINE Pair<T> LN2() { return constant<T>(0x1.62e43p-1f, -0x1.05c610ca86c39p-29f, 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56); }
template <class T> INLINE Pair<T> LOG2E() { return constant<T>(0x1.715476p+0f, 0x1.4ae0cp-26f, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56); }
template <class T> INLINE Pair<T> LOG10E() { return constant<T>(0x1.bcb7b2p-2f, -0x1.5b235ep-27f, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57); }
template <class T> INLINE Pair<T> LOG10_2() { return constant<T>(0x1.344136p-2f, -0x1.ec10cp-27f, 0x1.34413509f79ffp-2, -0x1.9dc1da994fd21p-59); }
template <class T> INLINE Pair<T> LN10() { return constant<T>(0x1.26bb1cp+1f, -0x1.12aabap-25f, 0x1.26bb1bbb55516p+1, -0x1.f48ad494ea3e9p-53); }
template <class T> INLINE Pair<T> PI() { return constant<T>(0x1.921fb6p+1f, -0x1.777a5cp-24f, 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53); }
template <class T> INLINE Pair<T> HALF_PI() { return {mul(PI<T>().high, T(0.5)), mul(PI<T>().low, T(0.5))}; }
template <class T> INLINE Pair<T> ROOT_HALF() { return constant<T>(0x1.6a09e6p-1f, 0x1.9fcef4p-27f, 0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55); }

template <class T> constexpr T NAN_OF = is_f32<T> ? (T)NOT_A_NUMBER : (T)NOT_A_NUMBER64;
template <class T> constexpr T INF_OF = is_f32<T> ? (T)INF : (T)INF64;
template <class T> constexpr T LEAST_NORMAL = is_f32<T> ? (T)0x1p-126 : (T)0x1p-1022;

template <class T> INLINE Pair<T> add(Pair<T> a, Pair<T> b)
{
    Pair<T> s = sum(a.high, b.high);
    return quick_sum(s.high, add(s.low, add(a.low, b.low)));
}
template <class T> INLINE Pair<T> mul(Pair<T> a, Pair<T> b)
{
    Pair<T> p = product(a.high, b.high);
    return quick_sum(p.high, fma(a.high, b.low, fma(a.low, b.high, p.low)));
}
template <class T> INLINE Pair<T> divide(Pair<T> a, Pair<T> b)
{
    T q = divide(a.high, b.high);
    T rest = add(fma(-q, b.high, a.high), fma(-q, b.low, a.low));
    return quick_sum(q, divide(rest, b.high));
}

// Sine and cosine of rest + low, which is at most pi/4.
template <class T> INLINE T sine_of(T r, T low)
{
    T z = mul(r, r);
    return add(r, fma(mul(r, z), horner(z, Coefficients<T>::SIN), fma(mul(z, T(-0.5)), low, low)));
}
template <class T> INLINE T cosine_of(T r, T low)
{
    T z = mul(r, r);
    Pair<T> first = quick_sum(T(1), mul(z, T(-0.5)));
    // The rounding of z, and of the rest.
    T error = fma(mul(fma(r, r, -z), T(-0.5)), T(1), -mul(r, low));
    return add(first.high, add(first.low, fma(mul(z, z), horner(z, Coefficients<T>::COS), error)));
}
template <class T> INLINE T sine(T x)
{
    if (x == 0) return x;
    Reduced<T> r = reduce(x);
    T value = r.quarter & 1 ? cosine_of(r.rest, r.low) : sine_of(r.rest, r.low);
    return r.quarter & 2 ? -value : value;
}
template <class T> INLINE T cosine(T x)
{
    Reduced<T> r = reduce(x);
    T value = r.quarter & 1 ? sine_of(r.rest, r.low) : cosine_of(r.rest, r.low);
    return (r.quarter + 1) & 2 ? -value : value;
}
template <class T> INLINE void sine_and_cosine(T x, T *sine, T *cosine)
{
    Reduced<T> r = reduce(x);
    T s = sine_of(r.rest, r.low), c = cosine_of(r.rest, r.low);
    T first = r.quarter & 1 ? c : s, second = r.quarter & 1 ? s : c;
    *sine = x == 0 ? x : r.quarter & 2 ? -first : first;
    *cosine = (r.quarter + 1) & 2 ? -second : second;
}
template <class T> INLINE T tangent(T x)
{
    if (x == 0) return x;
    Reduced<T> r = reduce(x);
    T s = sine_of(r.rest, r.low), c = cosine_of(r.rest, r.low);
    return r.quarter & 1 ? divide(-c, s) : divide(s, c);
}

INLINE float nearest_whole(float x) { return __builtin_rintf(x); }
INLINE double nearest_whole(double x) { return __builtin_rint(x); }
// Of pi * x: the reduction is exact.
template <class T> INLINE T half_turns(T x, i32 &quarter)
{
    // Numbers that are so large are even.
    T limit = is_f32<T> ? T(0x1p24) : T(0x1p53);
    if (absolute(x) >= limit) x = is_finite(x) ? mul(x, T(0)) : NAN_OF<T>;
    T count = nearest_whole(add(x, x));
    quarter = (i32)((i64)count & 3);
    return fma(count, T(-0.5), x);
}
template <class T> INLINE T sine_of_turns(T r)
{
    T z = mul(r, r);
    T tail = mul(r, fma(z, horner(z, Coefficients<T>::SINPI), PI<T>().low));
    // The first coefficient is pi, of which the rounding matters too.
    Pair<T> first = product(r, PI<T>().high);
    return add(first.high, add(first.low, tail));
}
template <class T> INLINE T cosine_of_turns(T r)
{
    T z = mul(r, r);
    return fma(z, horner(z, Coefficients<T>::COSPI), T(1));
}
template <class T> INLINE T sine_pi(T x)
{
    i32 quarter;
    T r = half_turns(x, quarter);
    T value = quarter & 1 ? cosine_of_turns(r) : sine_of_turns(r);
    if (value == 0) return with_sign(T(0), x);
    return quarter & 2 ? -value : value;
}
template <class T> INLINE T cosine_pi(T x)
{
    i32 quarter;
    T r = half_turns(x, quarter);
    T value = quarter & 1 ? sine_of_turns(r) : cosine_of_turns(r);
    if (value == 0) return T(0);
    return (quarter + 1) & 2 ? -value : value;
}

// e^(x + low), scaled: the value is the result times 2^n. |x| must be small enough for n.
template <class T> INLINE Pair<T> exponential_parts(T x, T low, T &n)
{
    n = whole(mul(x, LOG2E<T>().high));
    T r = fma(n, -LN2<T>().high, x);
    // The product of n and the low part is rounded, but that is far below r's last place.
    Pair<T> parts = sum(r, fma(n, -LN2<T>().low, low));
    T p = fma(mul(parts.high, parts.high), horner(parts.high, Coefficients<T>::EXP), T(0));
    return {parts.high, add(p, fma(parts.high, parts.low, parts.low))};
}
template <class T> constexpr T EXP_LIMIT = is_f32<T> ? T(110) : T(760);
template <class T> INLINE T exponential(T x, T low)
{
    if (is_nan(x)) return x;
    if (x > EXP_LIMIT<T>) return INF_OF<T>;
    if (x < -EXP_LIMIT<T>) return T(0);
    T n;
    Pair<T> p = exponential_parts(x, low, n);
    Pair<T> s = quick_sum(T(1), p.high);
    return scale(add(s.high, add(s.low, p.low)), (i32)n);
}
template <class T> INLINE T exponential(T x) { return exponential(x, T(0)); }
template <class T> INLINE T exponential_2(T x)
{
    if (is_nan(x)) return x;
    T limit = is_f32<T> ? T(160) : T(1100);
    if (x > limit) return INF_OF<T>;
    if (x < -limit) return T(0);
    T n = whole(x), r = add(x, -n);
    Pair<T> p = mul(Pair<T>{r, T(0)}, LN2<T>());
    T z = fma(mul(p.high, p.high), horner(p.high, Coefficients<T>::EXP), fma(p.high, p.low, p.low));
    Pair<T> s = quick_sum(T(1), p.high);
    return scale(add(s.high, add(s.low, z)), (i32)n);
}
template <class T> INLINE T exponential_10(T x)
{
    if (is_nan(x)) return x;
    if (absolute(x) > (is_f32<T> ? T(60) : T(400))) return x > 0 ? INF_OF<T> : T(0);
    Pair<T> p = mul(Pair<T>{x, T(0)}, LN10<T>());
    return exponential(p.high, p.low);
}
// e^x - 1 as a pair, for x that isn't large.
template <class T> INLINE Pair<T> exponential_minus_1_pair(T x)
{
    T n;
    Pair<T> p = exponential_parts(x, T(0), n);
    T power = scale(T(1), (i32)n);
    // 2^n (1 + p) - 1
    Pair<T> first = sum(mul(power, p.high), add(power, T(-1)));
    return quick_sum(first.high, fma(power, p.low, first.low));
}
template <class T> INLINE T exponential_minus_1(T x)
{
    if (is_nan(x) || x == 0) return x;
    if (x > EXP_LIMIT<T>) return INF_OF<T>;
    if (x < (is_f32<T> ? T(-20) : T(-42))) return T(-1);
    // Where -1 is below the last place.
    if (x > (is_f32<T> ? T(30) : T(60))) return exponential(x);
    return exponential_minus_1_pair(x).high;
}

// The significand in [0.7, 1.42) minus one, and the exponent.
INLINE float significand(float x, float &e)
{
    i32 shift = 0;
    if (x < LEAST_NORMAL<float>) x = mul(x, 0x1p23f), shift = -23;
    i32 n = ((i32)bits(x) - 0x3f330000) >> 23;
    e = (float)(n + shift);
    return add(f32(bits(x) - ((u32)n << 23)), -1.0f);
}
INLINE double significand(double x, double &e)
{
    i32 shift = 0;
    if (x < LEAST_NORMAL<double>) x = mul(x, 0x1p52), shift = -52;
    i32 n = (i32)(((i64)bits(x) - 0x3fe6600000000000) >> 52);
    e = (double)(n + shift);
    return add(f64(bits(x) - ((u64)(i64)n << 52)), -1.0);
}
// log(1 + f) - f for such a significand.
template <class T> INLINE T logarithm_rest(T f)
{
    T z = mul(f, f);
    return mul(z, fma(f, horner(f, Coefficients<T>::LOG), T(-0.5)));
}
template <class T> INLINE bool logarithm_is_special(T x, T &value)
{
    if (x > 0 && x < INF_OF<T>) return false;
    value = is_nan(x) || x == INF_OF<T> ? add(x, x) : x == 0 ? -INF_OF<T> : NAN_OF<T>;
    return true;
}
template <class T> INLINE T logarithm(T x)
{
    T value, e;
    if (logarithm_is_special(x, value)) return value;
    T f = significand(x, e);
    Pair<T> s = quick_sum(mul(e, LN2<T>().high), f);
    if (e == 0) s = {f, T(0)};
    T error = fma(e, LN2<T>().high, -mul(e, LN2<T>().high));
    return add(s.high, add(s.low, add(logarithm_rest(f), fma(e, LN2<T>().low, error))));
}
// log(1 + f + low) as a pair, with nearly twice the bits: 2 atanh(q) for q = f / (2 + f).
template <class T> INLINE Pair<T> logarithm_pair(T f, T low)
{
    Pair<T> below = sum(T(2), f);
    Pair<T> q = divide(Pair<T>{f, low}, Pair<T>{below.high, add(below.low, low)});
    Pair<T> z = mul(q, q);
    Pair<T> third = constant<T>(0x1.555556p-1f, -0x1.555556p-26f, 0x1.5555555555555p-1, 0x1.5555555555555p-55);
    T rest = mul(z.high, horner(z.high, Coefficients<T>::QUOTIENT));
    Pair<T> factor = quick_sum(third.high, add(third.low, rest));
    Pair<T> cubic = mul(mul(q, z), factor);
    return add(Pair<T>{mul(q.high, T(2)), mul(q.low, T(2))}, cubic);
}
template <class T> INLINE Pair<T> times(T e, Pair<T> c) { return mul(Pair<T>{e, T(0)}, c); }
template <class T> INLINE T logarithm_2(T x)
{
    T value, e;
    if (logarithm_is_special(x, value)) return value;
    T f = significand(x, e);
    Pair<T> p = mul(logarithm_pair(f, T(0)), LOG2E<T>());
    Pair<T> s = sum(e, p.high);
    return add(s.high, add(s.low, p.low));
}
template <class T> INLINE T logarithm_10(T x)
{
    T value, e;
    if (logarithm_is_special(x, value)) return value;
    T f = significand(x, e);
    Pair<T> p = add(times(e, LOG10_2<T>()), mul(logarithm_pair(f, T(0)), LOG10E<T>()));
    return add(p.high, p.low);
}
// log(high + low) for a positive number.
template <class T> INLINE Pair<T> logarithm_of(Pair<T> x)
{
    T e;
    T f = significand(x.high, e);
    Pair<T> rest = logarithm_pair(f, scale(x.low, -(i32)e));
    return add(times(e, LN2<T>()), rest);
}
template <class T> INLINE T logarithm_plus_1(T x)
{
    if (x == 0 || is_nan(x) || x == INF_OF<T>) return x;
    if (!(x > -1)) return x == -1 ? -INF_OF<T> : NAN_OF<T>;
    if (x > T(-0.29) && x < T(0.41)) return add(x, logarithm_rest(x));
    Pair<T> p = logarithm_of(sum(T(1), x));
    return add(p.high, p.low);
}

template <class T> INLINE T arc_tangent_of(T x, T low)
{
    // Up to 1.
    T z = mul(x, x);
    return add(x, fma(mul(x, z), horner(z, Coefficients<T>::ATAN), low));
}
template <class T> INLINE T arc_tangent(T x)
{
    if (is_nan(x)) return x;
    T size = absolute(x);
    if (size <= 1) return arc_tangent_of(x, T(0));
    T inverse = divide(T(1), size);
    T value = add(HALF_PI<T>().high, -add(arc_tangent_of(inverse, T(0)), -HALF_PI<T>().low));
    return with_sign(value, x);
}
template <class T> INLINE T arc_tangent_2(T y, T x)
{
    if (is_nan(x) || is_nan(y)) return add(x, y);
    T a = absolute(y), b = absolute(x);
    T least = a < b ? a : b, most = a < b ? b : a;
    T quotient = most == 0 ? T(0) : is_inf(least) ? T(1) : divide(least, most);
    T value = arc_tangent_of(quotient, T(0));
    if (a > b) value = add(HALF_PI<T>().high, -add(value, -HALF_PI<T>().low));
    if (is_negative(x)) value = add(PI<T>().high, -add(value, -PI<T>().low));
    return with_sign(value, y);
}
template <class T> INLINE T arc_sine_of(T x)
{
    T z = mul(x, x);
    return fma(mul(x, z), horner(z, Coefficients<T>::ASIN), x);
}
// Twice the arc sine of the root of z.
template <class T> INLINE Pair<T> twice_arc_sine_of_root(T z)
{
    T s = root(z), low = s == 0 ? T(0) : divide(fma(-s, s, z), add(s, s));
    return {add(s, s), mul(fma(mul(s, z), horner(z, Coefficients<T>::ASIN), low), T(2))};
}
// A constant minus a number.
template <class T> INLINE T less(Pair<T> c, Pair<T> x)
{
    Pair<T> s = sum(c.high, -x.high);
    return add(s.high, add(s.low, add(c.low, -x.low)));
}
template <class T> INLINE T arc_sine(T x)
{
    T size = absolute(x);
    if (!(size <= 1)) return NAN_OF<T>;
    if (size <= T(0.5)) return arc_sine_of(x);
    return with_sign(less(HALF_PI<T>(), twice_arc_sine_of_root(mul(add(T(1), -size), T(0.5)))), x);
}
template <class T> INLINE T arc_cosine(T x)
{
    T size = absolute(x);
    if (!(size <= 1)) return NAN_OF<T>;
    if (size <= T(0.5)) return less(HALF_PI<T>(), Pair<T>{arc_sine_of(x), T(0)});
    Pair<T> twice = twice_arc_sine_of_root(mul(add(T(1), -size), T(0.5)));
    return x > 0 ? add(twice.high, twice.low) : less(PI<T>(), twice);
}

// e^|x| / 2 and e^-|x| / 2, where the first doesn't overflow before the hyperbolic function does.
template <class T> INLINE Pair<T> half_exponential(T size, T &inverse)
{
    T n;
    Pair<T> p = exponential_parts(size, T(0), n);
    Pair<T> s = quick_sum(T(1), p.high);
    s = quick_sum(s.high, add(s.low, p.low));
    Pair<T> up = {scale(s.high, (i32)n - 1), scale(s.low, (i32)n - 1)};
    if (is_inf(up.high)) up.low = T(0);
    inverse = divide(T(0.25), up.high);
    return up;
}
template <class T> INLINE T hyperbolic_sine(T x)
{
    T size = absolute(x);
    if (size < 1) {
        T z = mul(x, x);
        return fma(mul(x, z), horner(z, Coefficients<T>::SINH), x);
    }
    if (!(size < EXP_LIMIT<T>)) return add(x, is_nan(x) ? x : with_sign(INF_OF<T>, x));
    T inverse;
    Pair<T> up = half_exponential(size, inverse);
    return with_sign(add(up.high, add(up.low, -inverse)), x);
}
template <class T> INLINE T hyperbolic_cosine(T x)
{
    T size = absolute(x);
    if (is_nan(x)) return x;
    if (!(size < EXP_LIMIT<T>)) return INF_OF<T>;
    T inverse;
    Pair<T> up = half_exponential(size, inverse);
    return add(up.high, add(up.low, inverse));
}
template <class T> INLINE T hyperbolic_tangent(T x)
{
    if (is_nan(x)) return x;
    T size = absolute(x);
    if (size < T(0.55)) {
        T z = mul(x, x);
        return fma(mul(x, z), horner(z, Coefficients<T>::TANH), x);
    }
    if (size > (is_f32<T> ? T(10) : T(22))) return with_sign(T(1), x);
    T value = exponential(mul(size, T(2)));
    return with_sign(add(T(1), -divide(T(2), add(value, T(1)))), x);
}
template <class T> INLINE T arc_hyperbolic_sine(T x)
{
    T size = absolute(x);
    if (x == 0 || !is_finite(x)) return x;
    if (size > (is_f32<T> ? T(0x1p20) : T(0x1p50))) {
        Pair<T> p = add(logarithm_of(Pair<T>{size, T(0)}), LN2<T>());
        return with_sign(p.high, x);
    }
    // log1p(x + x^2 / (1 + sqrt(1 + x^2)))
    T z = mul(size, size);
    T more = divide(z, add(T(1), root(fma(size, size, T(1)))));
    return with_sign(logarithm_plus_1(add(size, more)), x);
}
template <class T> INLINE T arc_hyperbolic_cosine(T x)
{
    if (!(x >= 1)) return NAN_OF<T>;
    if (x == INF_OF<T>) return x;
    if (x > (is_f32<T> ? T(0x1p20) : T(0x1p50))) return add(logarithm_of(Pair<T>{x, T(0)}), LN2<T>()).high;
    T t = add(x, T(-1));
    return logarithm_plus_1(add(t, root(fma(t, t, mul(t, T(2))))));
}
template <class T> INLINE T arc_hyperbolic_tangent(T x)
{
    T size = absolute(x);
    if (x == 0 || is_nan(x)) return x;
    if (size >= 1) return size == 1 ? with_sign(INF_OF<T>, x) : NAN_OF<T>;
    T value = logarithm_plus_1(divide(mul(size, T(2)), add(T(1), -size)));
    return with_sign(mul(value, T(0.5)), x);
}

// x^y of |x|: e^(y log x) in pairs.
template <class T> INLINE T power_of(T x, T y)
{
    Pair<T> l = logarithm_of(Pair<T>{x, T(0)});
    T size = mul(y, l.high);
    if (absolute(size) > EXP_LIMIT<T>) return size > 0 ? INF_OF<T> : T(0);
    Pair<T> p = product(y, l.high);
    return exponential(p.high, fma(y, l.low, p.low));
}
template <class T> INLINE T power(T x, T y)
{
    if (x == 1 || y == 0) return T(1);
    if (is_nan(x) || is_nan(y)) return add(x, y);
    // Whether y is a whole number, and odd.
    T size = absolute(y), limit = is_f32<T> ? T(0x1p24) : T(0x1p53);
    bool is_whole = size >= limit || (T)(i64)size == size, is_odd = size < limit && is_whole && ((i64)size & 1);
    T base = absolute(x);
    T sign = is_negative(x) && is_odd ? T(-1) : T(1);
    if (is_inf(y)) return base == 1 ? T(1) : (base > 1) == (y > 0) ? INF_OF<T> : T(0);
    if (base == 0 || is_inf(base)) return mul(sign, (base == 0) == (y < 0) ? INF_OF<T> : T(0));
    if (x < 0 && !is_whole) return NAN_OF<T>;
    return mul(sign, power_of(base, y));
}

// The cube root: Newton's method from a third of the exponent, and a last step in pairs.
template <class T> INLINE T cube_root_of(T m)
{
    // m in [1, 8). The nearest line, then steps of third order.
    T y = fma(m, T(0.14), T(0.9));
#pragma unroll
    for (int step = 0; step < (is_f32<T> ? 2 : 3); step++) {
        T cube = mul(mul(y, y), y);
        y = mul(y, divide(fma(m, T(2), cube), fma(cube, T(2), m)));
    }
    return y;
}
template <class T> INLINE T cube_root_scaled(T size, i32 &third)
{
    T e;
    T f = add(significand(size, e), T(1));
    i32 n = (i32)e;
    third = (n + 3000) / 3 - 1000;
    i32 rest = n - 3 * third;
    // f in [0.7, 1.42) and rest in 0 to 2.
    return mul(f, rest == 0 ? T(1) : rest == 1 ? T(2) : T(4));
}
template <class T> INLINE T cube_root(T x)
{
    T size = absolute(x);
    if (x == 0 || !is_finite(x)) return x;
    i32 third;
    T m = cube_root_scaled(size, third), y = cube_root_of(m);
    // m - y^3 in pairs.
    Pair<T> square = product(y, y), cube = product(square.high, y);
    T rest = add(add(m, -cube.high), -fma(square.low, y, cube.low));
    y = add(y, divide(rest, mul(mul(y, y), T(3))));
    return with_sign(scale(y, third), x);
}
template <class T> INLINE T inverse_cube_root(T x)
{
    T size = absolute(x);
    if (is_nan(x)) return x;
    if (x == 0) return with_sign(INF_OF<T>, x);
    if (is_inf(x)) return with_sign(T(0), x);
    i32 third;
    T m = cube_root_scaled(size, third), y = divide(T(1), cube_root_of(m));
    Pair<T> square = product(y, y), cube = product(square.high, y);
    T low = fma(square.low, y, cube.low);
    T rest = fma(-m, low, fma(-m, cube.high, T(1)));
    y = fma(mul(y, T(1.0 / 3)), rest, y);
    return with_sign(scale(y, -third), x);
}

// The square root of a sum of squares, in pairs, of numbers scaled by the largest.
template <class T> INLINE Pair<T> sum_of_squares(const T *x, int count, i32 &exponent)
{
    T most = T(0);
    for (int i = 0; i < count; i++) most = absolute(x[i]) > most ? absolute(x[i]) : most;
    T e;
    significand(most, e);
    exponent = most == 0 ? 0 : (i32)e;
    Pair<T> total = {T(0), T(0)};
    for (int i = 0; i < count; i++) {
        T scaled = scale(x[i], -exponent);
        total = add(total, product(scaled, scaled));
    }
    return total;
}
template <class T> INLINE T norm(const T *x, int count)
{
    for (int i = 0; i < count; i++)
        if (is_inf(x[i])) return INF_OF<T>;
    for (int i = 0; i < count; i++)
        if (is_nan(x[i])) return x[i];
    i32 exponent;
    Pair<T> total = sum_of_squares(x, count, exponent);
    return scale(root(total.high), exponent);
}
template <class T> INLINE T inverse_root_of(Pair<T> x)
{
    T y = divide(T(1), root(x.high));
    // 1 - x y^2
    Pair<T> p = product(x.high, y);
    T rest = fma(-add(p.low, mul(x.low, y)), y, fma(-p.high, y, T(1)));
    return fma(mul(y, T(0.5)), rest, y);
}
template <class T> INLINE T inverse_norm(const T *x, int count)
{
    for (int i = 0; i < count; i++)
        if (is_inf(x[i])) return T(0);
    for (int i = 0; i < count; i++)
        if (is_nan(x[i])) return x[i];
    i32 exponent;
    Pair<T> total = sum_of_squares(x, count, exponent);
    if (total.high == 0) return INF_OF<T>;
    return scale(inverse_root_of(total), -exponent);
}
template <class T> INLINE T inverse_root(T x)
{
    if (is_nan(x) || x < 0) return NAN_OF<T>;
    if (x == 0) return with_sign(INF_OF<T>, x);
    if (x == INF_OF<T>) return T(0);
    return inverse_root_of(Pair<T>{x, T(0)});
}

// (1 + 2x) e^(x^2) erfc(x), from which the functions of large arguments come.
template <class T> INLINE T scaled_erfc(T x)
{
    T t = x > (is_f32<T> ? T(0x1p40) : T(0x1p80)) ? T(1) : divide(add(x, T(-4)), add(x, T(4)));
    return divide(mul(horner(t, Series<T>::ERFCX), T(0.5)), add(x, T(0.5)));
}
template <class T> INLINE Pair<T> TWO_OVER_ROOT_PI() { return constant<T>(0x1.20dd76p+0f, -0x1.f7ac92p-25f, 0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56); }
// erf(x) for |x| < 1.
template <class T> INLINE Pair<T> error_function_of(T x)
{
    T z = mul(x, x);
    Pair<T> first = product(x, TWO_OVER_ROOT_PI<T>().high);
    T rest = fma(x, fma(z, horner(z, Coefficients<T>::ERF), TWO_OVER_ROOT_PI<T>().low), first.low);
    return quick_sum(first.high, rest);
}
// erfc(x + low).
template <class T> INLINE T error_complement(T x, T low)
{
    if (is_nan(x)) return x;
    if (absolute(x) < 1) {
        Pair<T> erf = error_function_of(x);
        // The derivative of erfc is -2 / sqrt(pi) e^(-x^2).
        T slope = low == 0 ? T(0) : mul(exponential(-mul(x, x)), TWO_OVER_ROOT_PI<T>().high);
        return less(Pair<T>{T(1), T(0)}, Pair<T>{erf.high, fma(low, slope, erf.low)});
    }
    T size = absolute(x);
    if (size > (is_f32<T> ? T(10.1) : T(27.3))) return x > 0 ? T(0) : T(2);
    Pair<T> square = product(x, x);
    T e = exponential(-square.high, -fma(mul(x, T(2)), low, square.low));
    T value = mul(e, scaled_erfc(size));
    return x > 0 ? value : add(T(2), -value);
}
template <class T> INLINE T error_complement(T x) { return error_complement(x, T(0)); }
template <class T> INLINE T error_function(T x)
{
    if (is_nan(x)) return x;
    T size = absolute(x);
    if (size < 1) return error_function_of(x).high;
    return with_sign(add(T(1), -error_complement(size)), x);
}
template <class T> INLINE T scaled_error_complement(T x)
{
    if (is_nan(x)) return x;
    if (x >= T(0.5)) return x == INF_OF<T> ? T(0) : scaled_erfc(x);
    if (x < (is_f32<T> ? T(-9.4) : T(-26.7))) return INF_OF<T>;
    Pair<T> square = product(x, x);
    T e = exponential(square.high, square.low);
    if (x > -1) return mul(e, error_complement(x));
    return add(mul(e, T(2)), -scaled_erfc(-x));
}
template <class T> INLINE T normal_distribution(T x)
{
    if (is_nan(x)) return x;
    if (x < (is_f32<T> ? T(-15) : T(-39))) return T(0);
    if (x > 10) return T(1);
    Pair<T> p = mul(Pair<T>{-x, T(0)}, ROOT_HALF<T>());
    return mul(error_complement(p.high, p.low), T(0.5));
}
// The x of erfc(x) = y, 0 < y <= 1: an estimate, and steps of third order on the logarithm where y is small.
template <class T> INLINE T inverse_error_complement_of(T y)
{
    Pair<T> l = logarithm_of(Pair<T>{y, T(0)});
    T t = root(mul(T(-2), add(l.high, T(-0.69314718055994530942))));
    T x = mul(add(t, -divide(fma(t, fma(t, T(0.010328), T(0.802853)), T(2.515517)),
                             fma(t, fma(t, fma(t, T(0.001308), T(0.189269)), T(1.432788)), T(1)))),
              T(0.70710678118654752));
#pragma unroll
    for (int step = 0; step < (is_f32<T> ? 2 : 3); step++) {
        // (erfc(x) - y) / erfc'(x), with the factor e^(x^2) in both.
        Pair<T> square = product(x, x), exponent = add(square, l);
        T error = x < 1 ? mul(exponential(square.high), add(error_complement(x), -y))
                        : add(scaled_erfc(x), -exponential(exponent.high, exponent.low));
        T change = mul(error, T(-0.88622692545275801365));
        x = add(x, -divide(change, fma(x, change, T(1))));
    }
    return x;
}
// The x of erf(x) = y, |y| <= 1/2: the series' first terms, and steps of third order.
template <class T> INLINE T inverse_error_function_of(T y)
{
    T z = mul(mul(y, y), T(0.78539816339744830962));
    T x = mul(mul(y, T(0.88622692545275801365)), fma(z, fma(z, T(7.0 / 30), T(1.0 / 3)), T(1)));
#pragma unroll
    for (int step = 0; step < (is_f32<T> ? 1 : 2); step++) {
        Pair<T> erf = error_function_of(x);
        T change = mul(mul(add(add(erf.high, -y), erf.low), exponential(mul(x, x))), T(0.88622692545275801365));
        x = add(x, -divide(change, fma(x, change, T(1))));
    }
    return x;
}
template <class T> INLINE T inverse_error_complement(T y)
{
    if (!(y >= 0 && y <= 2)) return NAN_OF<T>;
    if (y == 0) return INF_OF<T>;
    if (y == 2) return -INF_OF<T>;
    if (y > T(0.5) && y < T(1.5)) return inverse_error_function_of(add(T(1), -y));
    return y < 1 ? inverse_error_complement_of(y) : -inverse_error_complement_of(add(T(2), -y));
}
template <class T> INLINE T inverse_error_function(T y)
{
    T size = absolute(y);
    if (!(size <= 1)) return NAN_OF<T>;
    if (size == 1) return with_sign(INF_OF<T>, y);
    if (size > T(0.5)) return with_sign(inverse_error_complement_of(add(T(1), -size)), y);
    return inverse_error_function_of(y);
}
template <class T> INLINE T inverse_normal_distribution(T y)
{
    T x = inverse_error_complement(mul(y, T(2)));
    return is_inf(x) ? -x : mul(times(x, ROOT_HALF<T>()).high, T(-2));
}

// Below, gamma(x) is 1/x.
template <class T> constexpr T LEAST_OF_GAMMA = is_f32<T> ? T(1e-10) : T(1e-19);
// The gamma function's logarithm for positive numbers.
template <class T> INLINE T logarithm_of_gamma_of(T x)
{
    T limit = is_f32<T> ? T(6) : T(12);
    if (x >= limit) {
        T inverse = divide(T(1), x), z = mul(inverse, inverse);
        T series = fma(inverse, horner(z, Series<T>::STIRLING), T(0.91893853320467274178));
        // (x - 1/2) (log x - 1) - 1/2 + log(2 pi) / 2 + ...
        Pair<T> l = add(logarithm_of(Pair<T>{x, T(0)}), Pair<T>{T(-1), T(0)});
        if (is_inf(mul(l.high, x))) return INF_OF<T>;
        Pair<T> p = mul(l, sum(x, T(-0.5)));
        return add(p.high, add(p.low, add(series, T(-0.5))));
    }
    if (x < LEAST_OF_GAMMA<T>) return -logarithm(x);
    if (x < T(1.5)) {
        // From x + 1 or x + 2.
        if (x >= T(0.5)) {
            T u = add(x, T(-1));
            Pair<T> l = u > T(-0.29) && u < T(0.41) ? logarithm_pair(u, T(0)) : logarithm_of(Pair<T>{x, T(0)});
            Pair<T> first = product(u, horner(u, Series<T>::LOGGAMMA));
            return add(Pair<T>{first.high, first.low}, Pair<T>{-l.high, -l.low}).high;
        }
        Pair<T> factor = add(product(x, x), Pair<T>{x, T(0)});
        Pair<T> l = logarithm_of(factor);
        return add(mul(x, horner(x, Series<T>::LOGGAMMA)), -l.high);
    }
    T factor = T(1);
    while (x > T(2.5)) x = add(x, T(-1)), factor = mul(factor, x);
    T u = add(x, T(-2));
    T value = mul(u, horner(u, Series<T>::LOGGAMMA));
    return factor == 1 ? value : add(logarithm(factor), value);
}
template <class T> INLINE T logarithm_of_gamma(T x)
{
    if (is_nan(x)) return x;
    if (is_inf(x)) return INF_OF<T>;
    if (x > 0) return logarithm_of_gamma_of(x);
    T size = absolute(x);
    if (size < LEAST_NORMAL<T>) return x == 0 ? INF_OF<T> : -logarithm(size);
    T s = absolute(sine_pi(size));
    if (s == 0) return INF_OF<T>;
    if (size < LEAST_OF_GAMMA<T>) return -logarithm(size);
    // log(pi / |x sin(pi x)|) - lgamma(|x|)
    Pair<T> l = logarithm_of(mul(Pair<T>{s, T(0)}, Pair<T>{size, T(0)}));
    constexpr T LOG_PI = T(1.14472988584940017414);
    return add(LOG_PI, -add(l.high, logarithm_of_gamma_of(size)));
}
template <class T> INLINE T gamma_of(T x)
{
    T limit = is_f32<T> ? T(8) : T(16);
    if (x > limit) {
        T inverse = divide(T(1), x), z = mul(inverse, inverse);
        T series = mul(inverse, horner(z, Series<T>::STIRLING));
        Pair<T> l = logarithm_of(Pair<T>{x, T(0)});
        Pair<T> p = add(mul(l, sum(x, T(-0.5))), Pair<T>{-x, series});
        // sqrt(2 pi), in two steps against overflow.
        T half = exponential(mul(p.high, T(0.5)), mul(p.low, T(0.5)));
        return mul(mul(half, T(2.50662827463100050242)), half);
    }
    Pair<T> factor = {T(1), T(0)};
    while (x >= 2) x = add(x, T(-1)), factor = mul(factor, Pair<T>{x, T(0)});
    T below = T(1);
    if (x < 1) below = x, x = add(x, T(1));
    T t = add(x, T(-1));
    return divide(factor.high, mul(below, horner(t, Series<T>::RECIPROCAL_GAMMA)));
}
template <class T> INLINE T gamma_function(T x)
{
    if (is_nan(x)) return x;
    if (x == 0) return with_sign(INF_OF<T>, x);
    T most = is_f32<T> ? T(35.1) : T(171.7);
    if (x > most) return INF_OF<T>;
    if (x > 0) return gamma_of(x);
    if (is_inf(x)) return NAN_OF<T>;
    T s = sine_pi(x);
    if (s == 0) return NAN_OF<T>;
    T size = absolute(x);
    if (size > (is_f32<T> ? T(42.5) : T(184))) return mul(with_sign(T(0), s), T(1));
    if (size < LEAST_OF_GAMMA<T>) return divide(T(1), x);
    // pi / (x sin(pi x) gamma(-x)), with the sign of the sine.
    T g = gamma_of(size > most - 1 ? add(size, T(-8)) : size);
    T value = divide(divide(PI<T>().high, mul(s, size)), g);
    for (T k = size - 8; size > most - 1 && k < size; k = add(k, T(1))) value = divide(value, k);
    return value;
}

// A number's significand with its highest bit set, and the exponent.
template <class U, int FRACTION> INLINE U significand_bits(U word, i32 &exponent)
{
    constexpr U HIDDEN = U(1) << FRACTION;
    exponent = (i32)(word >> FRACTION);
    if (exponent != 0) return (word & (HIDDEN - 1)) | HIDDEN;
    exponent = 1;
    while (word < HIDDEN) word <<= 1, exponent--;
    return word;
}
// The remainder by long division of significands, and the low bits of the quotient.
template <class U, int FRACTION, int BIAS, class T> INLINE T long_remainder(T x, T y, bool nearest, i32 *quotient)
{
    U a = __builtin_bit_cast(U, x), b = __builtin_bit_cast(U, y);
    constexpr U SIGN = U(1) << (sizeof(U) * 8 - 1);
    U sign = a & SIGN, sign_of_quotient = (a ^ b) & SIGN;
    a &= ~SIGN, b &= ~SIGN;
    *quotient = 0;
    if (b == 0 || is_nan(x) || is_nan(y) || is_inf(x)) return NAN_OF<T>;
    if (is_inf(y) || a == 0) return x;
    i32 ea, eb;
    U ma = significand_bits<U, FRACTION>(a, ea), mb = significand_bits<U, FRACTION>(b, eb);
    u32 count = 0;
    // One bit of the quotient after the other.
    U rest = ma;
    i32 steps = ea - eb;
    if (steps < 0) {
        // The quotient is zero, or one if it is rounded.
        if (!nearest || steps < -1) return x;
    }
    while (steps > 0) {
        count <<= 1;
        if (rest >= mb) rest -= mb, count++;
        rest <<= 1;
        steps--;
    }
    if (steps == 0) {
        count <<= 1;
        if (rest >= mb) rest -= mb, count++;
    }
    bool flip = false;
    if (nearest) {
        // Compares twice the rest with the divisor, in units of the smaller exponent.
        U twice = steps < 0 ? rest : rest << 1, divisor = mb;
        if (twice > divisor || (twice == divisor && (count & 1))) {
            count++;
            flip = true;
            rest = steps < 0 ? (mb << 1) - rest : mb - rest;
        }
    }
    i32 exponent = (steps < 0 ? ea : eb) - BIAS - FRACTION;
    *quotient = sign_of_quotient ? -(i32)(count & 0x7fffffff) : (i32)(count & 0x7fffffff);
    T value = scale((T)rest, exponent);
    U result = __builtin_bit_cast(U, value) | sign;
    return __builtin_bit_cast(T, flip ? U(result ^ SIGN) : result);
}
INLINE float remainder_of(float x, float y, bool nearest, i32 *quotient) { return long_remainder<u32, 23, 127>(x, y, nearest, quotient); }
INLINE double remainder_of(double x, double y, bool nearest, i32 *quotient) { return long_remainder<u64, 52, 1023>(x, y, nearest, quotient); }

// Measures the device's mathematics, compiled for the host, against libquadmath: the largest error of each function in units of the last
// place, and the bound that CUDA's manual states. Ends with 1 if a bound is exceeded, or a special value is wrong.
//
//   g++ -std=gnu++17 -O2 -mfma -ffp-contract=off accuracy.cpp -lquadmath -o accuracy
//   ./accuracy [NAME | all] [STRIDE]
//
// A function of one f32 argument is measured for every STRIDE-th of the 2^32 bit patterns (4099 otherwise; 1 is all of them), others for as
// many random arguments.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <quadmath.h>

#pragma GCC diagnostic ignored "-Wunknown-pragmas"
namespace device {
#include "../libdevice/kernels.h"
}
using namespace device;

typedef __float128 quad;

static quad normal_distribution_quad(quad x) { return erfcq(-x * M_SQRT1_2q) / 2; }
static quad scaled_quad(quad x)
{
    if (x < 100) return expq(x * x) * erfcq(x);
    quad term = 1, total = 0;
    for (int k = 1; k < 12; k++) total += term, term *= -(2 * k - 1) / (2 * x * x);
    return total / (x * sqrtq(M_PIq));
}
static quad inverse_erfc_quad(quad y)
{
    if (y == 1) return 0;
    if (y == 0) return HUGE_VALQ;
    if (y > 1) return -inverse_erfc_quad(2 - y);
    quad t = sqrtq(-2 * logq(y / 2)), x = y > 0.9q ? (1 - y) * 0.8862q : t * M_SQRT1_2q * (y < 1e-10q ? 0.985q : 0.9q);
    for (int i = 0; i < 400; i++) {
        quad e = scaled_quad(x) - y * expq(x * x), change = e * -0.886226925452758013649083741670572591398774728q;
        quad next = x - change / (1 + x * change);
        if (next == x) break;
        x = next;
    }
    return x;
}
static quad inverse_erf_quad(quad y)
{
    quad x = y * 0.8862q;
    if (fabsq(y) > 0.6q) x = y > 0 ? inverse_erfc_quad(1 - y) : -inverse_erfc_quad(1 + y);
    for (int i = 0; i < 8; i++) {
        quad change = (erfq(x) - y) * expq(x * x) * 0.886226925452758013649083741670572591398774728q;
        x -= change / (1 + x * change);
    }
    return x;
}
static quad inverse_normal_quad(quad y) { return -inverse_erfc_quad(2 * y) * M_SQRT2q; }
static quad sine_pi_quad(quad x) { quad r = fmodq(x, 2), k = rintq(2 * r), a = (r - k / 2) * M_PIq; int n = (int)k & 3; return n == 0 ? sinq(a) : n == 1 ? cosq(a) : n == 2 ? -sinq(a) : -cosq(a); }
static quad cosine_pi_quad(quad x) { quad r = fmodq(fabsq(x), 2), k = rintq(2 * r), a = (r - k / 2) * M_PIq; int n = (int)k & 3; return n == 0 ? cosq(a) : n == 1 ? -sinq(a) : n == 2 ? -cosq(a) : sinq(a); }
static quad exp10_quad(quad x) { return powq(10, x); }
static quad exp2_quad(quad x) { return powq(2, x); }
static quad inverse_root_quad(quad x) { return 1 / sqrtq(x); }
static quad inverse_cube_root_quad(quad x) { return 1 / cbrtq(x); }
static quad gamma_quad(quad x) { return tgammaq(x); }
static quad sine_part(quad x) { return sinq(x); }

template <class T> static T sine_of_both(T x) { T s, c; sine_and_cosine(x, &s, &c); return s; }
template <class T> static T norm_2(T x, T y) { T list[] = {x, y}; return norm(list, 2); }
template <class T> static T inverse_norm_2(T x, T y) { T list[] = {x, y}; return inverse_norm(list, 2); }
template <class T> static T modulo(T x, T y) { i32 q; return remainder_of(x, y, false, &q); }
template <class T> static T ieee_remainder(T x, T y) { i32 q; return remainder_of(x, y, true, &q); }
static quad inverse_norm_quad(quad x, quad y) { return 1 / hypotq(x, y); }

struct One {
    const char *name;
    float (*narrow)(float);
    double (*wide)(double);
    quad (*reference)(quad);
    // CUDA's bounds for f32 and f64.
    double narrow_bound, wide_bound;
    // The range of the arguments that are measured.
    double low, high;
};
static const double MAX = INFINITY;
#define BOTH(function) device::function<float>, device::function<double>
static const One ONE[] = {
    {"sin", BOTH(sine), sinq, 2, 2, -MAX, MAX},
    {"cos", BOTH(cosine), cosq, 2, 2, -MAX, MAX},
    {"sincos", sine_of_both<float>, sine_of_both<double>, sine_part, 2, 2, -MAX, MAX},
    {"tan", BOTH(tangent), tanq, 4, 2, -MAX, MAX},
    {"sinpi", BOTH(sine_pi), sine_pi_quad, 1, 2, -MAX, MAX},
    {"cospi", BOTH(cosine_pi), cosine_pi_quad, 1, 2, -MAX, MAX},
    {"exp", BOTH(exponential), expq, 2, 1, -MAX, MAX},
    {"exp2", BOTH(exponential_2), exp2_quad, 2, 1, -MAX, MAX},
    {"exp10", BOTH(exponential_10), exp10_quad, 2, 1, -MAX, MAX},
    {"expm1", BOTH(exponential_minus_1), expm1q, 1, 1, -MAX, MAX},
    {"log", BOTH(logarithm), logq, 1, 1, -MAX, MAX},
    {"log2", BOTH(logarithm_2), log2q, 1, 1, -MAX, MAX},
    {"log10", BOTH(logarithm_10), log10q, 2, 1, -MAX, MAX},
    {"log1p", BOTH(logarithm_plus_1), log1pq, 1, 1, -MAX, MAX},
    {"atan", BOTH(arc_tangent), atanq, 2, 2, -MAX, MAX},
    {"asin", BOTH(arc_sine), asinq, 2, 2, -1, 1},
    {"acos", BOTH(arc_cosine), acosq, 2, 2, -1, 1},
    {"sinh", BOTH(hyperbolic_sine), sinhq, 3, 2, -MAX, MAX},
    {"cosh", BOTH(hyperbolic_cosine), coshq, 2, 1, -MAX, MAX},
    {"tanh", BOTH(hyperbolic_tangent), tanhq, 2, 2, -MAX, MAX},
    {"asinh", BOTH(arc_hyperbolic_sine), asinhq, 3, 3, -MAX, MAX},
    {"acosh", BOTH(arc_hyperbolic_cosine), acoshq, 4, 3, 1, MAX},
    {"atanh", BOTH(arc_hyperbolic_tangent), atanhq, 3, 2, -1, 1},
    {"cbrt", BOTH(cube_root), cbrtq, 1, 1, -MAX, MAX},
    {"rcbrt", BOTH(inverse_cube_root), inverse_cube_root_quad, 1, 1, -MAX, MAX},
    {"rsqrt", BOTH(inverse_root), inverse_root_quad, 2, 1, 0, MAX},
    {"erf", BOTH(error_function), erfq, 2, 2, -MAX, MAX},
    {"erfc", BOTH(error_complement), erfcq, 4, 5, -MAX, MAX},
    {"erfcx", BOTH(scaled_error_complement), scaled_quad, 4, 4, -MAX, MAX},
    {"erfinv", BOTH(inverse_error_function), inverse_erf_quad, 2, 5, -1, 1},
    {"erfcinv", BOTH(inverse_error_complement), inverse_erfc_quad, 4, 6, 0, 2},
    {"normcdf", BOTH(normal_distribution), normal_distribution_quad, 5, 5, -MAX, MAX},
    {"normcdfinv", BOTH(inverse_normal_distribution), inverse_normal_quad, 5, 8, 0, 1},
    // Their bounds hold outside of -10.001 to -2.264, and of -11.0001 to -2.2637.
    {"lgamma", BOTH(logarithm_of_gamma), lgammaq, 6, 4, -2.26, MAX},
    {"tgamma", BOTH(gamma_function), gamma_quad, 5, 10, -MAX, MAX},
};
struct Two {
    const char *name;
    float (*narrow)(float, float);
    double (*wide)(double, double);
    quad (*reference)(quad, quad);
    double narrow_bound, wide_bound;
};
static const Two TWO[] = {
    {"pow", BOTH(power), powq, 4, 2},
    {"atan2", BOTH(arc_tangent_2), atan2q, 3, 2},
    {"hypot", norm_2<float>, norm_2<double>, hypotq, 3, 2},
    {"rhypot", inverse_norm_2<float>, inverse_norm_2<double>, inverse_norm_quad, 2, 1},
    {"fmod", modulo<float>, modulo<double>, fmodq, 0, 0},
    {"remainder", ieee_remainder<float>, ieee_remainder<double>, remainderq, 0, 0},
};

// The error in units of the last place of the reference, in the range of normal and denormal numbers.
template <class T> static double error_of(T found, quad exact)
{
    const int digits = sizeof(T) == 4 ? 24 : 53, least = sizeof(T) == 4 ? -149 : -1074, most = sizeof(T) == 4 ? 128 : 1024;
    if (isnanq(exact)) return std::isnan(found) ? 0 : INFINITY;
    if (std::isnan(found)) return INFINITY;
    if (isinfq(exact)) return (quad)found == exact ? 0 : INFINITY;
    int exponent;
    frexpq(exact, &exponent);
    quad unit = ldexpq(1, exact == 0 ? least : exponent - digits < least ? least : exponent - digits);
    if (std::isinf(found)) return fabsq(exact) >= ldexpq(1, most) - unit && (found > 0) == (exact > 0) ? 0 : INFINITY;
    // The result is 0 or NaN at the same places.
    return (double)(fabsq((quad)found - exact) / unit);
}

static unsigned long long state = 88172645463325252ull;
static unsigned long long next()
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state * 0x2545f4914f6cdd1dull;
}
// Arguments of all sizes, more of them of moderate ones.
template <class T> static T argument(double low, double high)
{
    unsigned long long word = next();
    int kind = word % 4;
    T x;
    if (kind == 0 && std::isfinite(low) && std::isfinite(high)) return (T)(low + (high - low) * ((word >> 8) * 0x1p-56));
    if (kind == 0) return (T)(((long long)next() >> 11) * 0x1p-52 * 40);
    if (kind == 1) return (T)(((long long)next() >> 11) * 0x1p-52);
    if (kind == 2) return (T)std::ldexp(((long long)next() >> 11) * 0x1p-52, (int)(word >> 8 & 31) - 20);
    if (sizeof(T) == 4) { unsigned bits = (unsigned)next(); memcpy(&x, &bits, 4); }
    else { unsigned long long bits = next(); memcpy(&x, &bits, 8); }
    return x;
}

static int failures = 0;
template <class T> static void report(const char *name, double worst, T x, T y, double bound)
{
    bool bad = !(worst <= (bound == 0 ? 0 : bound));
    failures += bad;
    printf("%-12s %s  %8.4g of %g  at %a %a%s\n", name, sizeof(T) == 4 ? "f32" : "f64", worst, bound, (double)x, (double)y, bad ? "  EXCEEDED" : "");
    fflush(stdout);
}

int main(int count, char **arguments)
{
    const char *wanted = count > 1 ? arguments[1] : "all";
    unsigned long long stride = count > 2 ? strtoull(arguments[2], nullptr, 10) : 4099;
    auto is_wanted = [&](const char *name) { return strcmp(wanted, "all") == 0 || strcmp(wanted, name) == 0; };
    for (const One &one : ONE) {
        if (!is_wanted(one.name)) continue;
        double worst = 0;
        float at = 0;
        for (unsigned long long word = 0; word < 1ull << 32; word += stride) {
            unsigned bits = (unsigned)word;
            float x;
            memcpy(&x, &bits, 4);
            if (!(x >= one.low && x <= one.high)) continue;
            double error = error_of(one.narrow(x), one.reference(x));
            if (error > worst) worst = error, at = x;
        }
        report(one.name, worst, at, 0.0f, one.narrow_bound);
        worst = 0;
        double wide_at = 0;
        for (unsigned long long i = 0; i < (1ull << 32) / stride / 4; i++) {
            double x = argument<double>(one.low, one.high);
            if (!(x >= one.low && x <= one.high)) continue;
            double error = error_of(one.wide(x), one.reference(x));
            if (error > worst) worst = error, wide_at = x;
        }
        report(one.name, worst, wide_at, 0.0, one.wide_bound);
    }
    for (const Two &two : TWO) {
        if (!is_wanted(two.name)) continue;
        double worst = 0, wide_worst = 0;
        float x_at = 0, y_at = 0;
        double wide_x = 0, wide_y = 0;
        for (unsigned long long i = 0; i < (1ull << 32) / stride / 4; i++) {
            float x = argument<float>(-MAX, MAX), y = argument<float>(-MAX, MAX);
            double error = error_of(two.narrow(x, y), two.reference(x, y));
            if (error > worst) worst = error, x_at = x, y_at = y;
            double a = argument<double>(-MAX, MAX), b = argument<double>(-MAX, MAX);
            error = error_of(two.wide(a, b), two.reference(a, b));
            if (error > wide_worst) wide_worst = error, wide_x = a, wide_y = b;
        }
        report(two.name, worst, x_at, y_at, two.narrow_bound);
        report(two.name, wide_worst, wide_x, wide_y, two.wide_bound);
    }
    return failures != 0;
}

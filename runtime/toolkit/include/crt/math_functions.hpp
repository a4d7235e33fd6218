/* Functions of mathematics that clang's headers and the C library don't have: `min` and `max` of all types, and on the host what CUDA
   adds to C's functions. Clang's wrapper includes this file several times. */
#ifndef PTX2SPV_MATH_FUNCTIONS_HPP
#define PTX2SPV_MATH_FUNCTIONS_HPP
#include <math.h>

#ifdef __CUDA__
#define PTX2SPV_HOST_DEVICE static inline __attribute__((host, device))
#else
#define PTX2SPV_HOST_DEVICE static inline
#endif
#define PTX2SPV_MIN_MAX(result, a_type, b_type)                                                                  \
    PTX2SPV_HOST_DEVICE result min(a_type a, b_type b) { return (result)b < (result)a ? (result)b : (result)a; } \
    PTX2SPV_HOST_DEVICE result max(a_type a, b_type b) { return (result)a < (result)b ? (result)b : (result)a; }
#define PTX2SPV_MIN_MAX_FLOAT(result, a_type, b_type, suffix)                                           \
    PTX2SPV_HOST_DEVICE result min(a_type a, b_type b) { return ::fmin##suffix((result)a, (result)b); } \
    PTX2SPV_HOST_DEVICE result max(a_type a, b_type b) { return ::fmax##suffix((result)a, (result)b); }

static inline int min(int a, int b) { return b < a ? b : a; }
static inline int max(int a, int b) { return a < b ? b : a; }
PTX2SPV_MIN_MAX(unsigned int, unsigned int, unsigned int)
PTX2SPV_MIN_MAX(unsigned int, int, unsigned int)
PTX2SPV_MIN_MAX(unsigned int, unsigned int, int)
PTX2SPV_MIN_MAX(long, long, long)
PTX2SPV_MIN_MAX(unsigned long, unsigned long, unsigned long)
PTX2SPV_MIN_MAX(unsigned long, long, unsigned long)
PTX2SPV_MIN_MAX(unsigned long, unsigned long, long)
PTX2SPV_MIN_MAX(long long, long long, long long)
PTX2SPV_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
PTX2SPV_MIN_MAX(unsigned long long, long long, unsigned long long)
PTX2SPV_MIN_MAX(unsigned long long, unsigned long long, long long)
PTX2SPV_MIN_MAX_FLOAT(float, float, float, f)
PTX2SPV_MIN_MAX_FLOAT(double, double, double, )
PTX2SPV_MIN_MAX_FLOAT(double, float, double, )
PTX2SPV_MIN_MAX_FLOAT(double, double, float, )
#undef PTX2SPV_MIN_MAX
#undef PTX2SPV_MIN_MAX_FLOAT
#undef PTX2SPV_HOST_DEVICE

/* On the host. */
static inline double rsqrt(double x) { return 1 / ::sqrt(x); }
static inline float rsqrtf(float x) { return (float)(1 / ::sqrt((double)x)); }
static inline double rcbrt(double x) { return 1 / ::cbrt(x); }
static inline float rcbrtf(float x) { return (float)(1 / ::cbrt((double)x)); }
static inline double sinpi(double x)
{
    double rest = ::fmod(x, 2), whole = ::nearbyint(rest * 2);
    double angle = (rest - whole / 2) * 3.14159265358979323846;
    switch ((int)whole & 3) {
    case 0: return whole == 0 && rest == 0 ? x * 0 : ::sin(angle);
    case 1: return ::cos(angle);
    case 2: return -::sin(angle);
    default: return -::cos(angle);
    }
}
static inline double cospi(double x)
{
    double rest = ::fmod(::fabs(x), 2), whole = ::nearbyint(rest * 2);
    double angle = (rest - whole / 2) * 3.14159265358979323846;
    switch ((int)whole & 3) {
    case 0: return ::cos(angle);
    case 1: return -::sin(angle);
    case 2: return -::cos(angle);
    default: return ::sin(angle);
    }
}
static inline float sinpif(float x) { return (float)::sinpi((double)x); }
static inline float cospif(float x) { return (float)::cospi((double)x); }
static inline void sincospi(double x, double *sine, double *cosine) { *sine = ::sinpi(x), *cosine = ::cospi(x); }
static inline void sincospif(float x, float *sine, float *cosine) { *sine = ::sinpif(x), *cosine = ::cospif(x); }
static inline double normcdf(double x) { return ::erfc(-x * 0.70710678118654752440) / 2; }
static inline float normcdff(float x) { return (float)::normcdf((double)x); }
static inline double norm3d(double x, double y, double z) { return ::hypot(::hypot(x, y), z); }
static inline float norm3df(float x, float y, float z) { return (float)::norm3d(x, y, z); }
/* Newton's method for erfc, from the leading terms of its inverse. */
static inline double erfcinv(double y)
{
    if (!(y > 0 && y < 2)) return y == 0 ? HUGE_VAL : y == 2 ? -HUGE_VAL : NAN;
    double small = y > 1 ? 2 - y : y, root = ::sqrt(-2 * ::log(small / 2));
    double x = small == 1 ? 0 : (root - (2.515517 + root * (0.802853 + root * 0.010328)) /
                                            (1 + root * (1.432788 + root * (0.189269 + root * 0.001308)))) * 0.70710678118654752440;
    for (int step = 0; step < 3; step++) {
        double error = ::erfc(x) - small, slope = -1.12837916709551257390 * ::exp(-x * x), change = error / slope;
        x -= change / (1 + x * change);
    }
    return y > 1 ? -x : x;
}
static inline float erfcinvf(float y) { return (float)::erfcinv((double)y); }
static inline double erfinv(double y)
{
    double x = y < -0.5 ? -::erfcinv(1 + y) : y > 0.5 ? ::erfcinv(1 - y) : y * 0.88622692545275801365;
    for (int step = 0; y >= -0.5 && y <= 0.5 && step < 4; step++) {
        double change = (::erf(x) - y) / (1.12837916709551257390 * ::exp(-x * x));
        x -= change / (1 + x * change);
    }
    return x;
}
static inline float erfinvf(float y) { return (float)::erfinv((double)y); }
static inline double normcdfinv(double y) { return -1.41421356237309504880 * ::erfcinv(2 * y); }
static inline float normcdfinvf(float y) { return (float)::normcdfinv((double)y); }
/* For large numbers the continued fraction of erfc, in which exp(x * x) cancels. */
static inline double erfcx(double x)
{
    if (x < 10) return ::exp(x * x) * ::erfc(x);
    double rest = 0;
    for (int step = 40; step > 0; step--) rest = step / 2.0 / (x + rest);
    return 0.56418958354775628695 / (x + rest);
}
static inline float erfcxf(float x) { return (float)::erfcx((double)x); }

#ifdef __CUDA__
/* In kernels: C++'s functions of f32, which clang declares, and CUDA's further ones. */
#define PTX2SPV_DEVICE_MATH static inline __attribute__((device))
#define PTX2SPV_FLOAT_1(result, name) \
    PTX2SPV_DEVICE_MATH result name(float x) { return ::name##f(x); }
#define PTX2SPV_FLOAT_2(result, name, type) \
    PTX2SPV_DEVICE_MATH result name(float x, type y) { return ::name##f(x, y); }
PTX2SPV_FLOAT_1(float, acosh)
PTX2SPV_FLOAT_1(float, asinh)
PTX2SPV_FLOAT_1(float, atanh)
PTX2SPV_FLOAT_1(float, cbrt)
PTX2SPV_FLOAT_1(float, cospi)
PTX2SPV_FLOAT_1(float, erf)
PTX2SPV_FLOAT_1(float, erfc)
PTX2SPV_FLOAT_1(float, erfcinv)
PTX2SPV_FLOAT_1(float, erfcx)
PTX2SPV_FLOAT_1(float, erfinv)
PTX2SPV_FLOAT_1(float, exp10)
PTX2SPV_FLOAT_1(float, exp2)
PTX2SPV_FLOAT_1(float, expm1)
PTX2SPV_FLOAT_1(float, lgamma)
PTX2SPV_FLOAT_1(float, log1p)
PTX2SPV_FLOAT_1(float, log2)
PTX2SPV_FLOAT_1(float, logb)
PTX2SPV_FLOAT_1(float, nearbyint)
PTX2SPV_FLOAT_1(float, normcdf)
PTX2SPV_FLOAT_1(float, normcdfinv)
PTX2SPV_FLOAT_1(float, rcbrt)
PTX2SPV_FLOAT_1(float, rint)
PTX2SPV_FLOAT_1(float, round)
PTX2SPV_FLOAT_1(float, rsqrt)
PTX2SPV_FLOAT_1(float, sinpi)
PTX2SPV_FLOAT_1(float, tgamma)
PTX2SPV_FLOAT_1(float, trunc)
PTX2SPV_FLOAT_1(int, ilogb)
PTX2SPV_FLOAT_1(long, lrint)
PTX2SPV_FLOAT_1(long, lround)
PTX2SPV_FLOAT_1(long long, llrint)
PTX2SPV_FLOAT_1(long long, llround)
PTX2SPV_FLOAT_2(float, copysign, float)
PTX2SPV_FLOAT_2(float, fdim, float)
PTX2SPV_FLOAT_2(float, fmax, float)
PTX2SPV_FLOAT_2(float, fmin, float)
PTX2SPV_FLOAT_2(float, hypot, float)
PTX2SPV_FLOAT_2(float, nextafter, float)
PTX2SPV_FLOAT_2(float, remainder, float)
PTX2SPV_FLOAT_2(float, scalbln, long)
PTX2SPV_FLOAT_2(float, scalbn, int)
PTX2SPV_DEVICE_MATH float fma(float x, float y, float z) { return ::fmaf(x, y, z); }
PTX2SPV_DEVICE_MATH float remquo(float x, float y, int *quotient) { return ::remquof(x, y, quotient); }
PTX2SPV_DEVICE_MATH void sincos(float x, float *sine, float *cosine) { ::sincosf(x, sine, cosine); }
PTX2SPV_DEVICE_MATH void sincospi(float x, float *sine, float *cosine) { ::sincospif(x, sine, cosine); }
#undef PTX2SPV_FLOAT_1
#undef PTX2SPV_FLOAT_2
#undef PTX2SPV_DEVICE_MATH
#endif

#endif

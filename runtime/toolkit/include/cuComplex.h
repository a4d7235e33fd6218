/* Complex numbers, for C as well. Quotients and magnitudes are scaled, so that they don't overflow on the way. */
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_
#include <math.h>
#include "vector_types.h"

#ifdef __CUDACC__
#define PTX2SPV_COMPLEX static inline __host__ __device__
#else
#define PTX2SPV_COMPLEX static inline
#endif

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define PTX2SPV_COMPLEX_FUNCTIONS(type, real, f, abs, sqrt)                                                    \
    PTX2SPV_COMPLEX type make_##type(real x, real y)                                                           \
    {                                                                                                          \
        type z;                                                                                                \
        z.x = x;                                                                                               \
        z.y = y;                                                                                               \
        return z;                                                                                              \
    }                                                                                                          \
    PTX2SPV_COMPLEX real cuCreal##f(type z) { return z.x; }                                                    \
    PTX2SPV_COMPLEX real cuCimag##f(type z) { return z.y; }                                                    \
    PTX2SPV_COMPLEX type cuConj##f(type z) { return make_##type(z.x, -z.y); }                                  \
    PTX2SPV_COMPLEX type cuCadd##f(type a, type b) { return make_##type(a.x + b.x, a.y + b.y); }               \
    PTX2SPV_COMPLEX type cuCsub##f(type a, type b) { return make_##type(a.x - b.x, a.y - b.y); }               \
    PTX2SPV_COMPLEX type cuCmul##f(type a, type b)                                                             \
    {                                                                                                          \
        return make_##type(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                                      \
    }                                                                                                          \
    PTX2SPV_COMPLEX type cuCdiv##f(type a, type b)                                                             \
    {                                                                                                          \
        real scale = 1 / (abs(b.x) + abs(b.y));                                                                \
        real ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;                           \
        scale = 1 / (bx * bx + by * by);                                                                       \
        return make_##type((ax * bx + ay * by) * scale, (ay * bx - ax * by) * scale);                          \
    }                                                                                                          \
    PTX2SPV_COMPLEX real cuCabs##f(type z)                                                                     \
    {                                                                                                          \
        real x = abs(z.x), y = abs(z.y), most = x > y ? x : y, least = x > y ? y : x, ratio = least / most;    \
        return most == 0 || isinf(most) || isinf(least) ? x + y : most * sqrt(1 + ratio * ratio);              \
    }                                                                                                          \
    PTX2SPV_COMPLEX type cuCfma##f(type a, type b, type c)                                                     \
    {                                                                                                          \
        return make_##type(a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x);                          \
    }

PTX2SPV_COMPLEX_FUNCTIONS(cuFloatComplex, float, f, fabsf, sqrtf)
PTX2SPV_COMPLEX_FUNCTIONS(cuDoubleComplex, double, , fabs, sqrt)

PTX2SPV_COMPLEX cuComplex make_cuComplex(float x, float y) { return make_cuFloatComplex(x, y); }
PTX2SPV_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) { return make_cuFloatComplex((float)z.x, (float)z.y); }
PTX2SPV_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return make_cuDoubleComplex(z.x, z.y); }

#endif

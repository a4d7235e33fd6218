/* make_int2 and the like, which make vectors of their components. */
#ifndef __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_H__
#include "vector_types.h"

/* For all vectors of a type. */
#define PTX2SPV_MAKE(name, type)                                                                            \
    static __inline__ __host__ __device__ name##1 make_##name##1(type x)                                    \
    {                                                                                                       \
        name##1 v = {x};                                                                                    \
        return v;                                                                                           \
    }                                                                                                       \
    static __inline__ __host__ __device__ name##2 make_##name##2(type x, type y)                            \
    {                                                                                                       \
        name##2 v = {x, y};                                                                                 \
        return v;                                                                                           \
    }                                                                                                       \
    static __inline__ __host__ __device__ name##3 make_##name##3(type x, type y, type z)                    \
    {                                                                                                       \
        name##3 v = {x, y, z};                                                                              \
        return v;                                                                                           \
    }                                                                                                       \
    static __inline__ __host__ __device__ name##4 make_##name##4(type x, type y, type z, type w)            \
    {                                                                                                       \
        name##4 v = {x, y, z, w};                                                                           \
        return v;                                                                                           \
    }
PTX2SPV_MAKE(char, signed char)
PTX2SPV_MAKE(uchar, unsigned char)
PTX2SPV_MAKE(short, short)
PTX2SPV_MAKE(ushort, unsigned short)
PTX2SPV_MAKE(int, int)
PTX2SPV_MAKE(uint, unsigned int)
PTX2SPV_MAKE(long, long)
PTX2SPV_MAKE(ulong, unsigned long)
PTX2SPV_MAKE(longlong, long long)
PTX2SPV_MAKE(ulonglong, unsigned long long)
PTX2SPV_MAKE(float, float)
PTX2SPV_MAKE(double, double)
#undef PTX2SPV_MAKE

#endif

/* CUDA's vector types. Those of two and four components are aligned as a whole, so that one access moves them. */
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__
#include "host_defines.h"

/* One to four components of a type, with the alignments of two and of four. */
#define PTX2SPV_VECTORS(name, type, two, four)        \
    struct name##1 { type x; };                       \
    struct __align__(two) name##2 { type x, y; };     \
    struct name##3 { type x, y, z; };                 \
    struct __align__(four) name##4 { type x, y, z, w; }; \
    typedef struct name##1 name##1;                   \
    typedef struct name##2 name##2;                   \
    typedef struct name##3 name##3;                   \
    typedef struct name##4 name##4;
PTX2SPV_VECTORS(char, signed char, 2, 4)
PTX2SPV_VECTORS(uchar, unsigned char, 2, 4)
PTX2SPV_VECTORS(short, short, 4, 8)
PTX2SPV_VECTORS(ushort, unsigned short, 4, 8)
PTX2SPV_VECTORS(int, int, 8, 16)
PTX2SPV_VECTORS(uint, unsigned int, 8, 16)
PTX2SPV_VECTORS(long, long, 16, 16)
PTX2SPV_VECTORS(ulong, unsigned long, 16, 16)
PTX2SPV_VECTORS(longlong, long long, 16, 16)
PTX2SPV_VECTORS(ulonglong, unsigned long long, 16, 16)
PTX2SPV_VECTORS(float, float, 8, 16)
PTX2SPV_VECTORS(double, double, 16, 16)
#undef PTX2SPV_VECTORS

struct dim3 {
    unsigned int x, y, z;
#ifdef __cplusplus
#if __cplusplus >= 201103L
    __host__ __device__ constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
#else
    __host__ __device__ dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    __host__ __device__ dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ operator uint3() const { uint3 v; v.x = x; v.y = y; v.z = z; return v; }
#endif
#endif
};
typedef struct dim3 dim3;

#endif

// Textures and surfaces for the test kernels, in inline assembly: an object is a number, the handle that the host has made.
#pragma once

#include "cuda_min.h"

typedef u64 Texture;
typedef u64 Surface;

static __device__ float tex1Dfetch(Texture t, i32 i) {
    float x, y, z, w;
    asm("tex.1d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5}];" : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "l"(t), "r"(i));
    return x;
}

static __device__ float4 tex1D_float4(Texture t, float u) {
    float4 v;
    asm("tex.1d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5}];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(t), "f"(u));
    return v;
}

static __device__ float tex2D(Texture t, float u, float v) {
    float x, y, z, w;
    asm("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];" : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "l"(t), "f"(u), "f"(v));
    return x;
}

static __device__ float4 tex2D_float4(Texture t, float u, float v) {
    float4 c;
    asm("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
        : "=f"(c.x), "=f"(c.y), "=f"(c.z), "=f"(c.w)
        : "l"(t), "f"(u), "f"(v));
    return c;
}

static __device__ u32 tex2D_u32(Texture t, float u, float v) {
    u32 x, y, z, w;
    asm("tex.2d.v4.u32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "l"(t), "f"(u), "f"(v));
    return x;
}

static __device__ float tex3D(Texture t, float u, float v, float w) {
    float r, g, b, a;
    asm("tex.3d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"
        : "=f"(r), "=f"(g), "=f"(b), "=f"(a)
        : "l"(t), "f"(u), "f"(v), "f"(w));
    return r;
}

// The x of surfaces counts bytes.
static __device__ void surf2Dwrite_u8(Surface s, u32 value, i32 x, i32 y) {
    asm volatile("sust.b.2d.b8.trap [%0, {%1, %2}], {%3};" ::"l"(s), "r"(x), "r"(y), "h"((u16)value) : "memory");
}

static __device__ void surf2Dwrite_uchar4(Surface s, u32 r, u32 g, u32 b, u32 a, i32 x, i32 y) {
    asm volatile("sust.b.2d.v4.b8.trap [%0, {%1, %2}], {%3, %4, %5, %6};" ::"l"(s), "r"(4 * x), "r"(y), "h"((u16)r), "h"((u16)g),
                 "h"((u16)b), "h"((u16)a)
                 : "memory");
}

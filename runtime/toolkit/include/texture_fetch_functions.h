/* Reads of textures, over clang's table of PTX instructions. */
#ifndef PTX2SPV_TEXTURE_FUNCTIONS_H
#define PTX2SPV_TEXTURE_FUNCTIONS_H

#define PTX2SPV_UNPACK(...) __VA_ARGS__
/* `T name(object, ...)` and `name(&result, object, ...)`; `as` is clang's name. */
#define PTX2SPV_TEXTURE(name, parameters, arguments) PTX2SPV_TEXTURE_AS(name, "__i" #name, parameters, arguments)
#define PTX2SPV_TEXTURE_AS(name, as, parameters, arguments)                                                                     \
    template <class T> static __device__ __inline__ void name(T *result, cudaTextureObject_t object, PTX2SPV_UNPACK parameters) \
    {                                                                                                                           \
        __nv_tex_surf_handler(as, result, object, PTX2SPV_UNPACK arguments);                                                    \
    }                                                                                                                           \
    template <class T> static __device__ __inline__ T name(cudaTextureObject_t object, PTX2SPV_UNPACK parameters)               \
    {                                                                                                                           \
        T result;                                                                                                               \
        __nv_tex_surf_handler(as, &result, object, PTX2SPV_UNPACK arguments);                                                   \
        return result;                                                                                                          \
    }
PTX2SPV_TEXTURE(tex1Dfetch, (int x), (x))
PTX2SPV_TEXTURE(tex1D, (float x), (x))
PTX2SPV_TEXTURE(tex2D, (float x, float y), (x, y))
PTX2SPV_TEXTURE(tex3D, (float x, float y, float z), (x, y, z))
PTX2SPV_TEXTURE(tex1DLayered, (float x, int layer), (x, layer))
PTX2SPV_TEXTURE(tex2DLayered, (float x, float y, int layer), (x, y, layer))
PTX2SPV_TEXTURE(texCubemap, (float x, float y, float z), (x, y, z))
PTX2SPV_TEXTURE(texCubemapLayered, (float x, float y, float z, int layer), (x, y, z, layer))
PTX2SPV_TEXTURE(tex1DLod, (float x, float level), (x, level))
PTX2SPV_TEXTURE(tex2DLod, (float x, float y, float level), (x, y, level))
PTX2SPV_TEXTURE(tex3DLod, (float x, float y, float z, float level), (x, y, z, level))
PTX2SPV_TEXTURE(tex1DLayeredLod, (float x, int layer, float level), (x, layer, level))
PTX2SPV_TEXTURE(tex2DLayeredLod, (float x, float y, int layer, float level), (x, y, layer, level))
PTX2SPV_TEXTURE(texCubemapLod, (float x, float y, float z, float level), (x, y, z, level))
PTX2SPV_TEXTURE(texCubemapLayeredLod, (float x, float y, float z, int layer, float level), (x, y, z, layer, level))
PTX2SPV_TEXTURE(tex1DGrad, (float x, float dx, float dy), (x, dx, dy))
PTX2SPV_TEXTURE(tex1DLayeredGrad, (float x, int layer, float dx, float dy), (x, layer, dx, dy))
PTX2SPV_TEXTURE_AS(tex2DGrad, "__itex2DGrad_v2", (float x, float y, float2 dx, float2 dy), (x, y, &dx, &dy))
PTX2SPV_TEXTURE_AS(tex2DLayeredGrad, "__itex2DLayeredGrad_v2", (float x, float y, int layer, float2 dx, float2 dy), (x, y, layer, &dx, &dy))
PTX2SPV_TEXTURE_AS(tex3DGrad, "__itex3DGrad_v2", (float x, float y, float z, float4 dx, float4 dy), (x, y, z, &dx, &dy))
#undef PTX2SPV_TEXTURE
#undef PTX2SPV_TEXTURE_AS

template <class T> static __device__ __inline__ T tex2Dgather(cudaTextureObject_t object, float x, float y, int component = 0)
{
    T result;
    __nv_tex_surf_handler("__itex2Dgather", &result, object, x, y, component);
    return result;
}

/* By references: their names are the handles of textures. */
template <class T> static __device__ __inline__ cudaTextureObject_t ptx2spv_texture_object(T reference)
{
    cudaTextureObject_t object;
    asm("mov.b64 %0, %1;" : "=l"(object) : "l"(reference));
    return object;
}
/* float, or the vector of as many floats as T has components. */
template <int components> struct ptx2spv_floats;
template <> struct ptx2spv_floats<1> { typedef float type; };
template <> struct ptx2spv_floats<2> { typedef float2 type; };
template <> struct ptx2spv_floats<4> { typedef float4 type; };
template <class T>
using ptx2spv_normalized = typename ptx2spv_floats<sizeof(T) / sizeof(typename __cuda_tex::__TypeInfoT<T>::__base_t)>::type;

#define PTX2SPV_TEXTURE_REFERENCE(name, dimensions, parameters, arguments)                                                    \
    template <class T>                                                                                                        \
    static __device__ __inline__ T name(texture<T, dimensions, cudaReadModeElementType> reference, PTX2SPV_UNPACK parameters) \
    {                                                                                                                         \
        return ::name<T>(ptx2spv_texture_object(reference), PTX2SPV_UNPACK arguments);                                        \
    }                                                                                                                         \
    template <class T>                                                                                                        \
    static __device__ __inline__ ptx2spv_normalized<T> name(texture<T, dimensions, cudaReadModeNormalizedFloat> reference,    \
                                                            PTX2SPV_UNPACK parameters)                                        \
    {                                                                                                                         \
        return ::name<ptx2spv_normalized<T>>(ptx2spv_texture_object(reference), PTX2SPV_UNPACK arguments);                    \
    }
PTX2SPV_TEXTURE_REFERENCE(tex1Dfetch, 1, (int x), (x))
PTX2SPV_TEXTURE_REFERENCE(tex1D, 1, (float x), (x))
PTX2SPV_TEXTURE_REFERENCE(tex2D, 2, (float x, float y), (x, y))
PTX2SPV_TEXTURE_REFERENCE(tex3D, 3, (float x, float y, float z), (x, y, z))
PTX2SPV_TEXTURE_REFERENCE(tex1DLayered, 241, (float x, int layer), (x, layer))
PTX2SPV_TEXTURE_REFERENCE(tex2DLayered, 242, (float x, float y, int layer), (x, y, layer))
PTX2SPV_TEXTURE_REFERENCE(texCubemap, 12, (float x, float y, float z), (x, y, z))
PTX2SPV_TEXTURE_REFERENCE(tex1DLod, 1, (float x, float level), (x, level))
PTX2SPV_TEXTURE_REFERENCE(tex2DLod, 2, (float x, float y, float level), (x, y, level))
PTX2SPV_TEXTURE_REFERENCE(tex3DLod, 3, (float x, float y, float z, float level), (x, y, z, level))
#undef PTX2SPV_TEXTURE_REFERENCE

/* Surfaces: elements are moved as bits, as many as T has. */
template <int size> struct ptx2spv_element;
template <> struct ptx2spv_element<1> { typedef unsigned char type; };
template <> struct ptx2spv_element<2> { typedef unsigned short type; };
template <> struct ptx2spv_element<4> { typedef unsigned int type; };
template <> struct ptx2spv_element<8> { typedef uint2 type; };
template <> struct ptx2spv_element<16> { typedef uint4 type; };

/* A read and a write of a type, as a word or a vector of words `v`, for a mode at the border. `geometry` is PTX's, `place` the coordinates after
   the object, which are the operands at the end. */
#define PTX2SPV_SURFACE_ELEMENT(dimension, geometry, parameters, mode, type, word, width, read, written, outputs, inputs, place, ...)       \
    static __device__ __inline__ type ptx2spv_read_##dimension##_##mode(type *, cudaSurfaceObject_t s, PTX2SPV_UNPACK parameters)           \
    {                                                                                                                                       \
        word v;                                                                                                                             \
        asm volatile("suld.b." geometry "." width "." #mode " " read ", " place "];"                                                        \
                     : PTX2SPV_UNPACK outputs : "l"(s), __VA_ARGS__ : "memory");                                                            \
        return (type)v;                                                                                                                     \
    }                                                                                                                                       \
    static __device__ __inline__ void ptx2spv_write_##dimension##_##mode(type value, cudaSurfaceObject_t s, PTX2SPV_UNPACK parameters)      \
    {                                                                                                                                       \
        word v = (word)value;                                                                                                               \
        asm volatile("sust.b." geometry "." width "." #mode " [%0, " place "], " written ";"                                                \
                     ::"l"(s), PTX2SPV_UNPACK inputs, __VA_ARGS__ : "memory");                                                              \
    }
/* Overloads for the sizes of elements. `p1`, `p2` and `p4` are the place after one, two and four operands. */
#define PTX2SPV_SURFACE_MODE(dimension, geometry, parameters, mode, p1, p2, p4, ...)                                                        \
    PTX2SPV_SURFACE_ELEMENT(dimension, geometry, parameters, mode, unsigned char, unsigned short, "b8", "{%0}, [%1", "{%1}",                \
                            ("=h"(v)), ("h"(v)), p1, __VA_ARGS__)                                                                           \
    PTX2SPV_SURFACE_ELEMENT(dimension, geometry, parameters, mode, unsigned short, unsigned short, "b16", "{%0}, [%1", "{%1}",              \
                            ("=h"(v)), ("h"(v)), p1, __VA_ARGS__)                                                                           \
    PTX2SPV_SURFACE_ELEMENT(dimension, geometry, parameters, mode, unsigned int, unsigned int, "b32", "{%0}, [%1", "{%1}",                  \
                            ("=r"(v)), ("r"(v)), p1, __VA_ARGS__)                                                                           \
    PTX2SPV_SURFACE_ELEMENT(dimension, geometry, parameters, mode, uint2, uint2, "v2.b32", "{%0, %1}, [%2", "{%1, %2}",                     \
                            ("=r"(v.x), "=r"(v.y)), ("r"(v.x), "r"(v.y)), p2, __VA_ARGS__)                                                  \
    PTX2SPV_SURFACE_ELEMENT(dimension, geometry, parameters, mode, uint4, uint4, "v4.b32", "{%0, %1, %2, %3}, [%4", "{%1, %2, %3, %4}",     \
                            ("=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)), ("r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)), p4, __VA_ARGS__)
#define PTX2SPV_SURFACE(dimension, geometry, parameters, arguments, p1, p2, p4, ...)                                      \
    PTX2SPV_SURFACE_MODE(dimension, geometry, parameters, trap, p1, p2, p4, __VA_ARGS__)                                  \
    PTX2SPV_SURFACE_MODE(dimension, geometry, parameters, clamp, p1, p2, p4, __VA_ARGS__)                                 \
    PTX2SPV_SURFACE_MODE(dimension, geometry, parameters, zero, p1, p2, p4, __VA_ARGS__)                                  \
    template <class T>                                                                                                    \
    static __device__ __inline__ T surf##dimension##read(cudaSurfaceObject_t s, PTX2SPV_UNPACK parameters,                \
                                                         enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)        \
    {                                                                                                                     \
        typename ptx2spv_element<sizeof(T)>::type *kind = nullptr;                                                        \
        auto bits = mode == cudaBoundaryModeTrap    ? ptx2spv_read_##dimension##_trap(kind, s, PTX2SPV_UNPACK arguments)  \
                    : mode == cudaBoundaryModeClamp ? ptx2spv_read_##dimension##_clamp(kind, s, PTX2SPV_UNPACK arguments) \
                                                    : ptx2spv_read_##dimension##_zero(kind, s, PTX2SPV_UNPACK arguments); \
        return __builtin_bit_cast(T, bits);                                                                               \
    }                                                                                                                     \
    template <class T>                                                                                                    \
    static __device__ __inline__ void surf##dimension##read(T *result, cudaSurfaceObject_t s, PTX2SPV_UNPACK parameters,  \
                                                            enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)     \
    {                                                                                                                     \
        *result = ::surf##dimension##read<T>(s, PTX2SPV_UNPACK arguments, mode);                                          \
    }                                                                                                                     \
    template <class T>                                                                                                    \
    static __device__ __inline__ void surf##dimension##write(T value, cudaSurfaceObject_t s, PTX2SPV_UNPACK parameters,   \
                                                             enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)    \
    {                                                                                                                     \
        auto bits = __builtin_bit_cast(typename ptx2spv_element<sizeof(T)>::type, value);                                 \
        if (mode == cudaBoundaryModeTrap) ptx2spv_write_##dimension##_trap(bits, s, PTX2SPV_UNPACK arguments);            \
        else if (mode == cudaBoundaryModeClamp) ptx2spv_write_##dimension##_clamp(bits, s, PTX2SPV_UNPACK arguments);     \
        else ptx2spv_write_##dimension##_zero(bits, s, PTX2SPV_UNPACK arguments);                                         \
    }
PTX2SPV_SURFACE(1D, "1d", (int x), (x), "{%2}", "{%3}", "{%5}",
                "r"(x))
PTX2SPV_SURFACE(2D, "2d", (int x, int y), (x, y), "{%2, %3}", "{%3, %4}", "{%5, %6}",
                "r"(x), "r"(y))
PTX2SPV_SURFACE(3D, "3d", (int x, int y, int z), (x, y, z), "{%2, %3, %4, %4}", "{%3, %4, %5, %5}", "{%5, %6, %7, %7}",
                "r"(x), "r"(y), "r"(z))
PTX2SPV_SURFACE(2DLayered, "a2d", (int x, int y, int layer), (x, y, layer), "{%4, %2, %3, %3}", "{%5, %3, %4, %4}", "{%7, %5, %6, %6}",
                "r"(x), "r"(y), "r"(layer))
#undef PTX2SPV_SURFACE
#undef PTX2SPV_SURFACE_MODE
#undef PTX2SPV_SURFACE_ELEMENT
#undef PTX2SPV_UNPACK

#endif

/* Reads of textures, over clang's table of PTX instructions. */
#ifndef PTX2SPV_TEXTURE_FUNCTIONS_H
#define PTX2SPV_TEXTURE_FUNCTIONS_H

#define PTX2SPV_UNPACK(...) __VA_ARGS__
/* `T name(object, ...)` and `name(&result, object, ...)`. */
#define PTX2SPV_TEXTURE(name, parameters, arguments)                                                                            \
    template <class T> static __device__ __inline__ void name(T *result, cudaTextureObject_t object, PTX2SPV_UNPACK parameters) \
    {                                                                                                                           \
        __nv_tex_surf_handler("__i" #name, result, object, PTX2SPV_UNPACK arguments);                                           \
    }                                                                                                                           \
    template <class T> static __device__ __inline__ T name(cudaTextureObject_t object, PTX2SPV_UNPACK parameters)               \
    {                                                                                                                           \
        T result;                                                                                                               \
        ::name(&result, object, PTX2SPV_UNPACK arguments);                                                                      \
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
#undef PTX2SPV_TEXTURE

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

/* Overloads for the sizes of elements and the modes at the border. `geometry` is PTX's, `place` the coordinates after the object, which is
   operand `object` for reads of a component. */
#define PTX2SPV_SURFACE_MODE(dimension, geometry, parameters, mode, p1, p2, p4, ...)                                                                  \
    static __device__ __inline__ unsigned char ptx2spv_read_##dimension##_##mode(unsigned char *, cudaSurfaceObject_t s, PTX2SPV_UNPACK parameters)   \
    {                                                                                                                                                 \
        unsigned short v;                                                                                                                             \
        asm volatile("suld.b." geometry ".b8." #mode " {%0}, [%1, " p1 "];" : "=h"(v) : "l"(s), __VA_ARGS__ : "memory");                              \
        return (unsigned char)v;                                                                                                                      \
    }                                                                                                                                                 \
    static __device__ __inline__ unsigned short ptx2spv_read_##dimension##_##mode(unsigned short *, cudaSurfaceObject_t s, PTX2SPV_UNPACK parameters) \
    {                                                                                                                                                 \
        unsigned short v;                                                                                                                             \
        asm volatile("suld.b." geometry ".b16." #mode " {%0}, [%1, " p1 "];" : "=h"(v) : "l"(s), __VA_ARGS__ : "memory");                             \
        return v;                                                                                                                                     \
    }                                                                                                                                                 \
    static __device__ __inline__ unsigned int ptx2spv_read_##dimension##_##mode(unsigned int *, cudaSurfaceObject_t s, PTX2SPV_UNPACK parameters)     \
    {                                                                                                                                                 \
        unsigned int v;                                                                                                                               \
        asm volatile("suld.b." geometry ".b32." #mode " {%0}, [%1, " p1 "];" : "=r"(v) : "l"(s), __VA_ARGS__ : "memory");                             \
        return v;                                                                                                                                     \
    }                                                                                                                                                 \
    static __device__ __inline__ uint2 ptx2spv_read_##dimension##_##mode(uint2 *, cudaSurfaceObject_t s, PTX2SPV_UNPACK parameters)                   \
    {                                                                                                                                                 \
        uint2 v;                                                                                                                                      \
        asm volatile("suld.b." geometry ".v2.b32." #mode " {%0, %1}, [%2, " p2 "];"                                                                   \
                     : "=r"(v.x), "=r"(v.y) : "l"(s), __VA_ARGS__ : "memory");                                                                        \
        return v;                                                                                                                                     \
    }                                                                                                                                                 \
    static __device__ __inline__ uint4 ptx2spv_read_##dimension##_##mode(uint4 *, cudaSurfaceObject_t s, PTX2SPV_UNPACK parameters)                   \
    {                                                                                                                                                 \
        uint4 v;                                                                                                                                      \
        asm volatile("suld.b." geometry ".v4.b32." #mode " {%0, %1, %2, %3}, [%4, " p4 "];"                                                           \
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(s), __VA_ARGS__ : "memory");                                                  \
        return v;                                                                                                                                     \
    }                                                                                                                                                 \
    static __device__ __inline__ void ptx2spv_write_##dimension##_##mode(unsigned char v, cudaSurfaceObject_t s, PTX2SPV_UNPACK parameters)           \
    {                                                                                                                                                 \
        asm volatile("sust.b." geometry ".b8." #mode " [%0, " p1 "], {%1};" ::"l"(s), "h"((unsigned short)v), __VA_ARGS__ : "memory");                \
    }                                                                                                                                                 \
    static __device__ __inline__ void ptx2spv_write_##dimension##_##mode(unsigned short v, cudaSurfaceObject_t s, PTX2SPV_UNPACK parameters)          \
    {                                                                                                                                                 \
        asm volatile("sust.b." geometry ".b16." #mode " [%0, " p1 "], {%1};" ::"l"(s), "h"(v), __VA_ARGS__ : "memory");                               \
    }                                                                                                                                                 \
    static __device__ __inline__ void ptx2spv_write_##dimension##_##mode(unsigned int v, cudaSurfaceObject_t s, PTX2SPV_UNPACK parameters)            \
    {                                                                                                                                                 \
        asm volatile("sust.b." geometry ".b32." #mode " [%0, " p1 "], {%1};" ::"l"(s), "r"(v), __VA_ARGS__ : "memory");                               \
    }                                                                                                                                                 \
    static __device__ __inline__ void ptx2spv_write_##dimension##_##mode(uint2 v, cudaSurfaceObject_t s, PTX2SPV_UNPACK parameters)                   \
    {                                                                                                                                                 \
        asm volatile("sust.b." geometry ".v2.b32." #mode " [%0, " p2 "], {%1, %2};"                                                                   \
                     ::"l"(s), "r"(v.x), "r"(v.y), __VA_ARGS__ : "memory");                                                                           \
    }                                                                                                                                                 \
    static __device__ __inline__ void ptx2spv_write_##dimension##_##mode(uint4 v, cudaSurfaceObject_t s, PTX2SPV_UNPACK parameters)                   \
    {                                                                                                                                                 \
        asm volatile("sust.b." geometry ".v4.b32." #mode " [%0, " p4 "], {%1, %2, %3, %4};"                                                           \
                     ::"l"(s), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), __VA_ARGS__ : "memory");                                                       \
    }
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
#undef PTX2SPV_UNPACK

#endif

/* References to textures and surfaces, as CUDA had them before version 12. */
#ifndef PTX2SPV_CUDA_TEXTURE_TYPES_H
#define PTX2SPV_CUDA_TEXTURE_TYPES_H
#include "../channel_descriptor.h"

#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureTypeCubemap 0x0C
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2
#define cudaTextureTypeCubemapLayered 0xFC
#define cudaSurfaceType1D 0x01
#define cudaSurfaceType2D 0x02
#define cudaSurfaceType3D 0x03

template <class T, int dimensions = cudaTextureType1D, enum cudaTextureReadMode mode = cudaReadModeElementType>
struct __device_builtin_texture_type__ texture : public textureReference {
    texture(int isNormalized = 0, enum cudaTextureFilterMode filter = cudaFilterModePoint,
            enum cudaTextureAddressMode address = cudaAddressModeClamp)
        : texture(isNormalized, filter, address, cudaCreateChannelDesc<T>())
    {
    }
    texture(int isNormalized, enum cudaTextureFilterMode filter, enum cudaTextureAddressMode address, cudaChannelFormatDesc format)
        : textureReference()
    {
        normalized = isNormalized;
        filterMode = filter;
        for (auto &each : addressMode) each = address;
        channelDesc = format;
    }
};
template <class T, int dimensions = cudaSurfaceType1D>
struct __device_builtin_surface_type__ surface : public surfaceReference {
    surface() : surfaceReference() {}
};
template <int dimensions> struct __device_builtin_surface_type__ surface<void, dimensions> : public surfaceReference {
    surface() : surfaceReference() {}
};

template <class T, int d, enum cudaTextureReadMode m>
static inline cudaError_t cudaBindTexture(size_t *offset, const texture<T, d, m> &reference, const void *pointer,
                                          const cudaChannelFormatDesc &format, size_t bytes = UINT_MAX)
{
    return ::cudaBindTexture(offset, (const textureReference *)&reference, pointer, &format, bytes);
}
template <class T, int d, enum cudaTextureReadMode m>
static inline cudaError_t cudaBindTexture(size_t *offset, const texture<T, d, m> &reference, const void *pointer, size_t bytes = UINT_MAX)
{
    return ::cudaBindTexture(offset, (const textureReference *)&reference, pointer, &reference.channelDesc, bytes);
}
template <class T, int d, enum cudaTextureReadMode m>
static inline cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, d, m> &reference, const void *pointer,
                                            const cudaChannelFormatDesc &format, size_t width, size_t height, size_t pitch)
{
    return ::cudaBindTexture2D(offset, (const textureReference *)&reference, pointer, &format, width, height, pitch);
}
template <class T, int d, enum cudaTextureReadMode m>
static inline cudaError_t cudaBindTextureToArray(const texture<T, d, m> &reference, cudaArray_const_t array,
                                                 const cudaChannelFormatDesc &format)
{
    return ::cudaBindTextureToArray((const textureReference *)&reference, array, &format);
}
template <class T, int d, enum cudaTextureReadMode m>
static inline cudaError_t cudaBindTextureToArray(const texture<T, d, m> &reference, cudaArray_const_t array)
{
    cudaChannelFormatDesc format;
    cudaError_t error = ::cudaGetChannelDesc(&format, array);
    return error == cudaSuccess ? ::cudaBindTextureToArray((const textureReference *)&reference, array, &format) : error;
}
template <class T, int d, enum cudaTextureReadMode m> static inline cudaError_t cudaUnbindTexture(const texture<T, d, m> &reference)
{
    return ::cudaUnbindTexture((const textureReference *)&reference);
}

#endif

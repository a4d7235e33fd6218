/* The format of an array's elements by their type. */
#ifndef __CHANNEL_DESCRIPTOR_H__
#define __CHANNEL_DESCRIPTOR_H__
#include "cuda_runtime_api.h"

#ifdef __cplusplus
#define PTX2SPV_FORMAT(type, count, kind)                                                                    \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<type>()                                   \
    {                                                                                                        \
        int bits = (int)(sizeof(type) / count * 8);                                                          \
        return cudaCreateChannelDesc(bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0, \
                                     cudaChannelFormatKind##kind);                                           \
    }
#define PTX2SPV_FORMATS(type, vector, kind) \
    PTX2SPV_FORMAT(type, 1, kind)           \
    PTX2SPV_FORMAT(vector##1, 1, kind)      \
    PTX2SPV_FORMAT(vector##2, 2, kind)      \
    PTX2SPV_FORMAT(vector##4, 4, kind)

template <class T> inline cudaChannelFormatDesc cudaCreateChannelDesc()
{
    return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}
PTX2SPV_FORMAT(char, 1, Signed)
PTX2SPV_FORMATS(signed char, char, Signed)
PTX2SPV_FORMATS(unsigned char, uchar, Unsigned)
PTX2SPV_FORMATS(short, short, Signed)
PTX2SPV_FORMATS(unsigned short, ushort, Unsigned)
PTX2SPV_FORMATS(int, int, Signed)
PTX2SPV_FORMATS(unsigned int, uint, Unsigned)
PTX2SPV_FORMATS(float, float, Float)
#undef PTX2SPV_FORMAT
#undef PTX2SPV_FORMATS
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf() { return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat); }
#endif

#endif

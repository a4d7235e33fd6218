// Vector loads and stores: float4, float2, int2, uchar4, ushort4, double2, ulonglong2, aligned as their types demand.
#include "cuda_min.h"

extern "C" __global__ void vector_floats(const float4* a, const float2* b, float4* out, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = a[i];
    float2 w = b[i];
    out[i] = float4{fmaf(v.x, w.x, v.y), fmaf(v.y, w.y, v.z), v.z * w.x, v.w - w.y};
}

extern "C" __global__ void vector_integers(const int2* a, const ulonglong2* b, int2* out, ulonglong2* wide, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int2 v = a[i];
    ulonglong2 w = b[i];
    out[i] = int2{v.y, (i32)((u32)v.x + (u32)v.y)};
    wide[i] = ulonglong2{w.x + w.y, w.x ^ (u64)(u32)v.x};
}

// Luminance of pixels and a brightened copy that saturates.
extern "C" __global__ void vector_pixels(const uchar4* pixels, uchar4* bright, ushort4* wide, u8* grey, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uchar4 p = pixels[i];
    grey[i] = (u8)((77 * p.x + 150 * p.y + 29 * p.z) >> 8);
    u32 r = p.x + 40u, g = p.y + 40u, b = p.z + 40u;
    bright[i] = uchar4{(u8)(r > 255 ? 255 : r), (u8)(g > 255 ? 255 : g), (u8)(b > 255 ? 255 : b), p.w};
    wide[i] = ushort4{(u16)(p.x * 257), (u16)(p.y * 257), (u16)(p.z * 257), (u16)(p.w * 257)};
}

extern "C" __global__ void vector_doubles(const double2* a, double2* out, u32 n) {
    __shared__ double2 tile[64];
    u32 t = threadIdx.x;
    u32 i = blockIdx.x * blockDim.x + t;
    tile[t] = i < n ? a[i] : double2{0.0, 0.0};
    __syncthreads();
    double2 other = tile[blockDim.x - 1 - t];
    if (i < n) out[i] = double2{tile[t].x + other.y, tile[t].y * other.x};
}

// What textures are used for: rotating an image with linear filtering, edges by Sobel's operator from a texture into a
// surface, volume rendering with a transfer function, bicubic interpolation by four linear reads, and a Monte Carlo
// integration whose table is a texture on linear memory.
#include "textures.h"

// Each pixel's place, turned about the middle; coordinates from 0 to 1, so that the image repeats.
extern "C" __global__ void rotate(Texture image, float* out, u32 width, u32 height, float cosine, float sine) {
    u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float u = (float)x / (float)width - 0.5f, v = (float)y / (float)height - 0.5f;
    out[y * width + x] = tex2D(image, u * cosine - v * sine + 0.5f, v * cosine + u * sine + 0.5f);
}

extern "C" __global__ void sobel(Texture image, Surface edges, u32 width, u32 height) {
    u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    i32 p[3][3];
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) p[j][i] = (i32)tex2D_u32(image, (float)x + (float)i - 0.5f, (float)y + (float)j - 0.5f);
    i32 across = p[0][2] + 2 * p[1][2] + p[2][2] - p[0][0] - 2 * p[1][0] - p[2][0];
    i32 down = p[2][0] + 2 * p[2][1] + p[2][2] - p[0][0] - 2 * p[0][1] - p[0][2];
    i32 strength = (across < 0 ? -across : across) + (down < 0 ? -down : down);
    surf2Dwrite_u8(edges, strength > 255 ? 255 : (u32)strength, (i32)x, (i32)y);
}

// Parallel rays through a volume, from front to back; each sample's colour and opacity come from a table.
extern "C" __global__ void volume(Texture density, Texture transfer, Surface picture, u32 width, u32 height, u32 steps,
                                  float slant) {
    u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float red = 0, green = 0, blue = 0, clear = 1;
    for (u32 i = 0; i < steps; i++) {
        float t = (float)i * 0.5f;
        float s = tex3D(density, (float)x * 0.5f + t * slant, (float)y * 0.5f + 0.25f, t);
        float4 c = tex1D_float4(transfer, s * 0.25f);
        float weight = clear * c.w;
        red = red + weight * c.x;
        green = green + weight * c.y;
        blue = blue + weight * c.z;
        clear = clear * (1.0f - c.w);
    }
    surf2Dwrite_uchar4(picture, (u32)(red * 255.0f), (u32)(green * 255.0f), (u32)(blue * 255.0f),
                       (u32)((1.0f - clear) * 255.0f), (i32)x, (i32)y);
}

// Weights of the cubic B-spline.
static __device__ float w0(float a) { return (a * (a * (-a + 3.0f) - 3.0f) + 1.0f) * 0.16666667f; }
static __device__ float w1(float a) { return (a * a * (3.0f * a - 6.0f) + 4.0f) * 0.16666667f; }
static __device__ float w2(float a) { return (a * (a * (-3.0f * a + 3.0f) + 3.0f) + 1.0f) * 0.16666667f; }
static __device__ float w3(float a) { return a * a * a * 0.16666667f; }

// Enlarges an image: of the sixteen elements around a place, linear filtering sums four at a time.
extern "C" __global__ void bicubic(Texture image, float* out, u32 width, u32 height, float scale) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= width || j >= height) return;
    float x = (float)i * scale, y = (float)j * scale;
    float px = __builtin_floorf(x), py = __builtin_floorf(y), fx = x - px, fy = y - py;
    float gx0 = w0(fx) + w1(fx), gx1 = w2(fx) + w3(fx), gy0 = w0(fy) + w1(fy), gy1 = w2(fy) + w3(fy);
    float x0 = px - 0.5f + w1(fx) / gx0, x1 = px + 1.5f + w3(fx) / gx1;
    float y0 = py - 0.5f + w1(fy) / gy0, y1 = py + 1.5f + w3(fy) / gy1;
    float upper = gx0 * tex2D(image, x0, y0) + gx1 * tex2D(image, x1, y0);
    float lower = gx0 * tex2D(image, x0, y1) + gx1 * tex2D(image, x1, y1);
    out[j * width + i] = gy0 * upper + gy1 * lower;
}

// The mean of a tabulated function at random places; each thread has numbers of its own.
extern "C" __global__ void monte_carlo(Texture table, float* means, u32 size, u32 samples) {
    u32 thread = blockIdx.x * blockDim.x + threadIdx.x, state = thread * 747796405u + 2891336453u;
    float sum = 0;
    for (u32 i = 0; i < samples; i++) {
        state = state * 1664525u + 1013904223u;
        sum += tex1Dfetch(table, (i32)umulhi(state, size));
    }
    means[thread] = sum / (float)samples;
}

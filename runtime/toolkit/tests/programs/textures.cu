// Texture objects of arrays and of memory, texture references, and surfaces.
#include "check.h"
#include <vector>

texture<float, 2, cudaReadModeElementType> reference;

__global__ void read(cudaTextureObject_t image, cudaTextureObject_t bytes, float *linear, float4 *normalized, float *referenced)
{
    int x = threadIdx.x, y = threadIdx.y, i = y * 8 + x;
    linear[i] = tex2D<float>(image, x + 1.0f, y + 0.5f);
    normalized[i] = tex1Dfetch<float4>(bytes, i);
    referenced[i] = tex2D(reference, x + 0.5f, y + 0.5f);
}
__global__ void flip(cudaSurfaceObject_t surface)
{
    int x = threadIdx.x, y = threadIdx.y;
    float left = surf2Dread<float>(surface, x * 4, y), right = surf2Dread<float>(surface, (7 - x) * 4, y);
    surf2Dwrite(right, surface, x * 4, y);
    surf2Dwrite(left, surface, (7 - x) * 4, y);
}
/* The level by itself, and by how far neighbours are apart: one texel of the first level, and two. */
__global__ void levels(cudaTextureObject_t image, float *out)
{
    out[0] = tex2DLod<float>(image, 0.5f, 0.5f, 1);
    out[1] = tex2DGrad<float>(image, 0.5f, 0.5f, make_float2(0.125f, 0), make_float2(0, 0.125f));
    tex2DGrad(&out[2], image, 0.5f, 0.5f, make_float2(0.25f, 0), make_float2(0, 0.25f));
}

int main()
{
    std::vector<float> pixels(64);
    for (int i = 0; i < 64; i++) pixels[i] = (float)(i * i % 53);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &format, 8, 8, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, pixels.data(), 32, 32, 8, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
    description.filterMode = cudaFilterModeLinear;
    cudaTextureObject_t image, bytes;
    CHECK(cudaCreateTextureObject(&image, &resource, &description, nullptr));

    uchar4 *colours;
    CHECK(cudaMallocManaged(&colours, 64 * sizeof(uchar4)));
    for (int i = 0; i < 64; i++) colours[i] = make_uchar4(i, 255 - i, 0, 255);
    cudaResourceDesc memory = {};
    memory.resType = cudaResourceTypeLinear;
    memory.res.linear.devPtr = colours;
    memory.res.linear.desc = cudaCreateChannelDesc<uchar4>();
    memory.res.linear.sizeInBytes = 64 * sizeof(uchar4);
    cudaTextureDesc normalize = {};
    normalize.readMode = cudaReadModeNormalizedFloat;
    CHECK(cudaCreateTextureObject(&bytes, &memory, &normalize, nullptr));
    CHECK(cudaBindTextureToArray(reference, array));

    float *linear, *referenced;
    float4 *normalized;
    CHECK(cudaMallocManaged(&linear, 64 * sizeof(float)));
    CHECK(cudaMallocManaged(&referenced, 64 * sizeof(float)));
    CHECK(cudaMallocManaged(&normalized, 64 * sizeof(float4)));
    read<<<1, dim3(8, 8)>>>(image, bytes, linear, normalized, referenced);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++) {
        float next = i % 8 == 7 ? pixels[i] : pixels[i + 1];
        EXPECT(linear[i] == (pixels[i] + next) / 2);
        EXPECT(referenced[i] == pixels[i]);
        EXPECT(normalized[i].x == i / 255.0f && normalized[i].y == (255 - i) / 255.0f && normalized[i].w == 1);
    }

    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    flip<<<1, dim3(4, 8)>>>(surface);
    std::vector<float> flipped(64);
    CHECK(cudaMemcpy2DFromArray(flipped.data(), 32, array, 0, 0, 32, 8, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) EXPECT(flipped[i] == pixels[i / 8 * 8 + 7 - i % 8]);

    cudaMipmappedArray_t pyramid;
    CHECK(cudaMallocMipmappedArray(&pyramid, &format, make_cudaExtent(8, 8, 0), 2));
    for (int level = 0; level < 2; level++) {
        cudaArray_t part;
        CHECK(cudaGetMipmappedArrayLevel(&part, pyramid, level));
        std::vector<float> constant(64, level + 1.0f);
        int size = 8 >> level;
        CHECK(cudaMemcpy2DToArray(part, 0, 0, constant.data(), size * 4, size * 4, size, cudaMemcpyHostToDevice));
    }
    cudaResourceDesc whole = {};
    whole.resType = cudaResourceTypeMipmappedArray;
    whole.res.mipmap.mipmap = pyramid;
    description.normalizedCoords = 1;
    description.maxMipmapLevelClamp = 1;
    cudaTextureObject_t mipmapped;
    CHECK(cudaCreateTextureObject(&mipmapped, &whole, &description, nullptr));
    levels<<<1, 1>>>(mipmapped, linear);
    CHECK(cudaDeviceSynchronize());
    EXPECT(linear[0] == 2 && linear[1] == 1 && linear[2] == 2);
    CHECK(cudaDestroyTextureObject(mipmapped));
    CHECK(cudaFreeMipmappedArray(pyramid));
    CHECK(cudaUnbindTexture(reference));
    CHECK(cudaDestroyTextureObject(image));
    CHECK(cudaFreeArray(array));
    printf("right\n");
}

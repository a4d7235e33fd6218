// The structures that the headers and the library share: what the library writes is read by its name, and the other way round.
#include "check.h"
#include <cstring>
#include <cuda.h>
#include <nvrtc.h>

static_assert(NVRTC_ERROR_INTERNAL_ERROR == 11, "a number of NVRTC's manual");

// An attribute by its number in CUDA's manual, from the driver API, which returns plain numbers.
static long long attribute(int number)
{
    int value = -1;
    EXPECT(cuDeviceGetAttribute(&value, (CUdevice_attribute)number, 0) == CUDA_SUCCESS);
    return value;
}

static void properties()
{
    cudaDeviceProp p;
    memset(&p, 0xa5, sizeof p);
    CHECK(cudaGetDeviceProperties(&p, 0));
    char name[256] = {};
    size_t memory;
    CUuuid uuid;
    EXPECT(cuDeviceGetName(name, sizeof name, 0) == CUDA_SUCCESS && strcmp(p.name, name) == 0);
    EXPECT(cuDeviceTotalMem(&memory, 0) == CUDA_SUCCESS && p.totalGlobalMem == memory);
    EXPECT(cuDeviceGetUuid(&uuid, 0) == CUDA_SUCCESS && memcmp(&p.uuid, &uuid, 16) == 0);
    const struct {
        int number;
        long long value;
    } fields[] = {
        {1, p.maxThreadsPerBlock}, {2, p.maxThreadsDim[0]}, {3, p.maxThreadsDim[1]}, {4, p.maxThreadsDim[2]}, {5, p.maxGridSize[0]},
        {6, p.maxGridSize[1]}, {7, p.maxGridSize[2]}, {8, (long long)p.sharedMemPerBlock}, {9, (long long)p.totalConstMem}, {10, p.warpSize},
        {11, (long long)p.memPitch}, {12, p.regsPerBlock}, {13, p.clockRate}, {14, (long long)p.textureAlignment}, {15, p.deviceOverlap},
        {16, p.multiProcessorCount}, {17, p.kernelExecTimeoutEnabled}, {18, p.integrated}, {19, p.canMapHostMemory}, {20, p.computeMode},
        {21, p.maxTexture1D}, {22, p.maxTexture2D[0]}, {23, p.maxTexture2D[1]}, {24, p.maxTexture3D[0]}, {25, p.maxTexture3D[1]},
        {26, p.maxTexture3D[2]}, {27, p.maxTexture2DLayered[0]}, {28, p.maxTexture2DLayered[1]}, {29, p.maxTexture2DLayered[2]},
        {30, (long long)p.surfaceAlignment}, {31, p.concurrentKernels}, {32, p.ECCEnabled}, {33, p.pciBusID}, {34, p.pciDeviceID},
        {35, p.tccDriver}, {36, p.memoryClockRate}, {37, p.memoryBusWidth}, {38, p.l2CacheSize}, {39, p.maxThreadsPerMultiProcessor},
        {40, p.asyncEngineCount}, {41, p.unifiedAddressing}, {42, p.maxTexture1DLayered[0]}, {43, p.maxTexture1DLayered[1]},
        {45, p.maxTexture2DGather[0]}, {46, p.maxTexture2DGather[1]}, {47, p.maxTexture3DAlt[0]}, {48, p.maxTexture3DAlt[1]},
        {49, p.maxTexture3DAlt[2]}, {50, p.pciDomainID}, {51, (long long)p.texturePitchAlignment}, {52, p.maxTextureCubemap},
        {53, p.maxTextureCubemapLayered[0]}, {54, p.maxTextureCubemapLayered[1]}, {55, p.maxSurface1D}, {56, p.maxSurface2D[0]},
        {57, p.maxSurface2D[1]}, {58, p.maxSurface3D[0]}, {59, p.maxSurface3D[1]}, {60, p.maxSurface3D[2]}, {61, p.maxSurface1DLayered[0]},
        {62, p.maxSurface1DLayered[1]}, {63, p.maxSurface2DLayered[0]}, {64, p.maxSurface2DLayered[1]}, {65, p.maxSurface2DLayered[2]},
        {66, p.maxSurfaceCubemap}, {67, p.maxSurfaceCubemapLayered[0]}, {68, p.maxSurfaceCubemapLayered[1]}, {69, p.maxTexture1DLinear},
        {70, p.maxTexture2DLinear[0]}, {71, p.maxTexture2DLinear[1]}, {72, p.maxTexture2DLinear[2]}, {73, p.maxTexture2DMipmap[0]},
        {74, p.maxTexture2DMipmap[1]}, {75, p.major}, {76, p.minor}, {77, p.maxTexture1DMipmap}, {78, p.streamPrioritiesSupported},
        {79, p.globalL1CacheSupported}, {80, p.localL1CacheSupported}, {81, (long long)p.sharedMemPerMultiprocessor},
        {82, p.regsPerMultiprocessor}, {83, p.managedMemory}, {84, p.isMultiGpuBoard}, {85, p.multiGpuBoardGroupID},
        {86, p.hostNativeAtomicSupported}, {87, p.singleToDoublePrecisionPerfRatio}, {88, p.pageableMemoryAccess},
        {89, p.concurrentManagedAccess}, {90, p.computePreemptionSupported}, {91, p.canUseHostPointerForRegisteredMem},
        {95, p.cooperativeLaunch}, {96, p.cooperativeMultiDeviceLaunch}, {97, (long long)p.sharedMemPerBlockOptin},
        {99, p.hostRegisterSupported}, {100, p.pageableMemoryAccessUsesHostPageTables}, {101, p.directManagedMemAccessFromHost},
        {106, p.maxBlocksPerMultiProcessor}, {108, p.persistingL2CacheMaxSize}, {109, p.accessPolicyMaxWindowSize},
        {111, (long long)p.reservedSharedMemPerBlock}, {112, p.sparseCudaArraySupported}, {113, p.hostRegisterReadOnlySupported},
        {114, p.timelineSemaphoreInteropSupported}, {115, p.memoryPoolsSupported}, {116, p.gpuDirectRDMASupported},
        {117, p.gpuDirectRDMAFlushWritesOptions}, {118, p.gpuDirectRDMAWritesOrdering}, {119, p.memoryPoolSupportedHandleTypes},
        {120, p.clusterLaunch}, {121, p.deferredMappingCudaArraySupported}, {125, p.ipcEventSupported}, {129, p.unifiedFunctionPointers},
    };
    for (auto field : fields)
        if (field.value != attribute(field.number)) {
            printf("attribute %d: %lld in the structure, %lld by itself\n", field.number, field.value, attribute(field.number));
            exit(1);
        }
    // All of the structure is written, and nothing behind.
    struct {
        cudaDeviceProp properties;
        char behind[64];
    } guarded;
    memset(&guarded, 0xa5, sizeof guarded);
    CHECK(cudaGetDeviceProperties(&guarded.properties, 0));
    for (char byte : guarded.behind) EXPECT(byte == (char)0xa5);
    EXPECT(guarded.properties.reserved[59] == 0);
}

__constant__ int constants[10];
__global__ void __launch_bounds__(96) kernel(int *p, int value)
{
    __shared__ int shared[33];
    shared[threadIdx.x % 33] = constants[value % 10];
    __syncthreads();
    *p = shared[value % 33];
}

static void functions_and_memory()
{
    cudaFuncAttributes a;
    memset(&a, 0xa5, sizeof a);
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 12345));
    CHECK(cudaFuncGetAttributes(&a, kernel));
    EXPECT(a.sharedSizeBytes == 33 * sizeof(int) && a.maxThreadsPerBlock == 96 && a.ptxVersion == 75 && a.maxDynamicSharedSizeBytes == 12345);
    int *device, *host;
    CHECK(cudaMalloc(&device, 64));
    CHECK(cudaHostAlloc(&host, 64, cudaHostAllocMapped));
    cudaPointerAttributes of;
    memset(&of, 0xa5, sizeof of);
    CHECK(cudaPointerGetAttributes(&of, device));
    EXPECT(of.type == cudaMemoryTypeDevice && of.device == 0 && of.devicePointer == device && of.hostPointer == nullptr);
    CHECK(cudaPointerGetAttributes(&of, host));
    EXPECT(of.type == cudaMemoryTypeHost && of.device == 0 && of.hostPointer == host);
    CHECK(cudaFree(device));
    CHECK(cudaFreeHost(host));
}

// A box of 3 x 2 x 2 bytes from the middle of one to the middle of another.
static void boxes()
{
    unsigned char from[4][5][8], to[3][6][10] = {}, *device;
    for (int i = 0; i < 160; i++) from[0][0][i] = (unsigned char)(i + 1);
    CHECK(cudaMalloc(&device, sizeof to));
    CHECK(cudaMemset(device, 0, sizeof to));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(from, 8, 8, 5);
    copy.srcPos = make_cudaPos(2, 1, 1);
    copy.dstPtr = make_cudaPitchedPtr(device, 10, 10, 6);
    copy.dstPos = make_cudaPos(4, 3, 0);
    copy.extent = make_cudaExtent(3, 2, 2);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    CHECK(cudaMemcpy(to, device, sizeof to, cudaMemcpyDeviceToHost));
    for (int z = 0; z < 3; z++)
        for (int y = 0; y < 6; y++)
            for (int x = 0; x < 10; x++) {
                bool inside = x >= 4 && x < 7 && y >= 3 && y < 5 && z < 2;
                EXPECT(to[z][y][x] == (inside ? from[z + 1][y - 2][x - 2] : 0));
            }
    CHECK(cudaFree(device));
}

// What a texture object and nodes of a graph were made of.
static void descriptions()
{
    float *memory;
    CHECK(cudaMalloc(&memory, 4096));
    cudaResourceDesc resource = {}, same = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = memory;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    resource.res.pitch2D.width = 24;
    resource.res.pitch2D.height = 3;
    resource.res.pitch2D.pitchInBytes = 1024;
    cudaTextureDesc settings = {}, read = {};
    settings.addressMode[0] = cudaAddressModeClamp;
    settings.addressMode[1] = cudaAddressModeBorder;
    settings.filterMode = cudaFilterModeLinear;
    settings.borderColor[2] = 0.5f;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &settings, nullptr));
    CHECK(cudaGetTextureObjectResourceDesc(&same, texture));
    CHECK(cudaGetTextureObjectTextureDesc(&read, texture));
    EXPECT(same.resType == cudaResourceTypePitch2D && same.res.pitch2D.devPtr == memory && same.res.pitch2D.desc.x == 32);
    EXPECT(same.res.pitch2D.width == 24 && same.res.pitch2D.height == 3 && same.res.pitch2D.pitchInBytes == 1024);
    EXPECT(read.addressMode[0] == cudaAddressModeClamp && read.addressMode[1] == cudaAddressModeBorder);
    EXPECT(read.filterMode == cudaFilterModeLinear && read.borderColor[2] == 0.5f && read.readMode == cudaReadModeElementType);
    CHECK(cudaDestroyTextureObject(texture));

    cudaGraph_t graph;
    cudaGraphNode_t node, other;
    CHECK(cudaGraphCreate(&graph, 0));
    int value = 7;
    void *arguments[] = {&memory, &value};
    cudaKernelNodeParams launch = {}, found = {};
    launch.func = (void *)kernel;
    launch.gridDim = dim3(2, 3, 4);
    launch.blockDim = dim3(32, 2);
    launch.sharedMemBytes = 128;
    launch.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &launch));
    CHECK(cudaGraphKernelNodeGetParams(node, &found));
    EXPECT(found.func == (void *)kernel && found.gridDim.z == 4 && found.blockDim.y == 2 && found.sharedMemBytes == 128);
    EXPECT(*(int *)found.kernelParams[1] == 7);
    cudaMemsetParams set = {}, found_set = {};
    set.dst = memory;
    set.pitch = 512;
    set.value = 0x1234;
    set.elementSize = 2;
    set.width = 100;
    set.height = 5;
    CHECK(cudaGraphAddMemsetNode(&other, graph, &node, 1, &set));
    CHECK(cudaGraphMemsetNodeGetParams(other, &found_set));
    EXPECT(found_set.dst == memory && found_set.pitch == 512 && found_set.value == 0x1234 && found_set.elementSize == 2);
    EXPECT(found_set.width == 100 && found_set.height == 5);
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFree(memory));
}

// Memory in graphs, places of memory, and attributes of streams.
static void places_and_attributes()
{
    cudaGraph_t graph;
    cudaGraphNode_t allocation, release;
    cudaMemAccessDesc access = {};
    cudaMemAllocNodeParams wanted = {}, found = {};
    access.location.type = cudaMemLocationTypeDevice;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    wanted.poolProps.allocType = cudaMemAllocationTypePinned;
    wanted.poolProps.location.type = cudaMemLocationTypeDevice;
    wanted.accessDescs = &access;
    wanted.accessDescCount = 1;
    wanted.bytesize = 12345;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &wanted));
    CHECK(cudaGraphMemAllocNodeGetParams(allocation, &found));
    EXPECT(wanted.dptr != nullptr && found.dptr == wanted.dptr && found.bytesize == 12345);
    EXPECT(found.poolProps.allocType == cudaMemAllocationTypePinned && found.poolProps.location.type == cudaMemLocationTypeDevice);
    void *freed = nullptr;
    CHECK(cudaGraphAddMemFreeNode(&release, graph, &allocation, 1, wanted.dptr));
    CHECK(cudaGraphMemFreeNodeGetParams(release, &freed));
    EXPECT(freed == wanted.dptr);
    CHECK(cudaGraphDestroy(graph));

    cudaMemPool_t pool;
    cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    CHECK(cudaMemPoolGetAccess(&flags, pool, &access.location));
    EXPECT(flags == cudaMemAccessFlagsProtReadWrite);
    int *managed, last = -3;
    cudaMemLocation host = {cudaMemLocationTypeHost, 0};
    CHECK(cudaMallocManaged(&managed, 4096));
    CHECK(cudaMemAdvise(managed, 4096, cudaMemAdviseSetPreferredLocation, host));
    CHECK(cudaMemPrefetchAsync(managed, 4096, access.location, 0, 0));
    CHECK(cudaMemRangeGetAttribute(&last, sizeof last, cudaMemRangeAttributePreferredLocation, managed, 4096));
    EXPECT(last == cudaCpuDeviceId);
    CHECK(cudaMemRangeGetAttribute(&last, sizeof last, cudaMemRangeAttributeLastPrefetchLocation, managed, 4096));
    EXPECT(last == 0);

    cudaStream_t stream;
    cudaStreamAttrValue policy = {}, same = {};
    policy.accessPolicyWindow.base_ptr = managed;
    policy.accessPolicyWindow.num_bytes = 4096;
    policy.accessPolicyWindow.hitRatio = 0.5f;
    policy.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    policy.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &policy));
    CHECK(cudaStreamGetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &same));
    EXPECT(same.accessPolicyWindow.base_ptr == managed && same.accessPolicyWindow.num_bytes == 4096);
    EXPECT(same.accessPolicyWindow.hitRatio == 0.5f && same.accessPolicyWindow.missProp == cudaAccessPropertyStreaming);
}

// The driver API's descriptions, and a context in the way of CUDA 13.
static void driver()
{
    CUcontext context;
    CUctxCreateParams parameters = {};
    EXPECT(cuCtxCreate(&context, &parameters, 0, 0) == CUDA_SUCCESS);
    CUdeviceptr memory;
    EXPECT(cuMemAlloc(&memory, 4096) == CUDA_SUCCESS);
    CUDA_RESOURCE_DESC resource = {}, same = {};
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D.devPtr = memory;
    resource.res.pitch2D.format = CU_AD_FORMAT_FLOAT;
    resource.res.pitch2D.numChannels = 2;
    resource.res.pitch2D.width = 24;
    resource.res.pitch2D.height = 3;
    resource.res.pitch2D.pitchInBytes = 1024;
    CUDA_TEXTURE_DESC settings = {}, read = {};
    settings.addressMode[1] = CU_TR_ADDRESS_MODE_BORDER;
    settings.filterMode = CU_TR_FILTER_MODE_LINEAR;
    settings.borderColor[2] = 0.5f;
    CUtexObject texture;
    EXPECT(cuTexObjectCreate(&texture, &resource, &settings, nullptr) == CUDA_SUCCESS);
    EXPECT(cuTexObjectGetResourceDesc(&same, texture) == CUDA_SUCCESS && cuTexObjectGetTextureDesc(&read, texture) == CUDA_SUCCESS);
    EXPECT(same.resType == CU_RESOURCE_TYPE_PITCH2D && same.res.pitch2D.devPtr == memory && same.res.pitch2D.numChannels == 2);
    EXPECT(same.res.pitch2D.width == 24 && same.res.pitch2D.height == 3 && same.res.pitch2D.pitchInBytes == 1024);
    EXPECT(read.addressMode[1] == CU_TR_ADDRESS_MODE_BORDER && read.filterMode == CU_TR_FILTER_MODE_LINEAR && read.borderColor[2] == 0.5f);
    EXPECT(cuTexObjectDestroy(texture) == CUDA_SUCCESS && cuMemFree(memory) == CUDA_SUCCESS && cuCtxDestroy(context) == CUDA_SUCCESS);
}

int main()
{
    properties();
    functions_and_memory();
    boxes();
    descriptions();
    places_and_attributes();
    driver();
    printf("right\n");
}

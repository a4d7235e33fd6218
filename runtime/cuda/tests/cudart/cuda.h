/* CUDA's runtime API as compiled programs use it: this project's own declarations, and macros for the code that nvcc and clang
   generate for kernels and variables. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct cudaExtent {
    size_t width, height, depth;
};
struct cudaPos {
    size_t x, y, z;
};
struct cudaPitchedPtr {
    void *ptr;
    size_t pitch, xsize, ysize;
};
struct cudaChannelFormatDesc {
    int x, y, z, w, f;
};
struct cudaMemcpy3DParms {
    struct Array *srcArray;
    cudaPos srcPos;
    cudaPitchedPtr srcPtr;
    struct Array *dstArray;
    cudaPos dstPos;
    cudaPitchedPtr dstPtr;
    cudaExtent extent;
    int kind;
};
struct cudaResourceDesc {
    int type;
    struct Array *array;
    int64_t rest[6];
};
struct cudaTextureDesc {
    int addressMode[3], filterMode, readMode, sRGB;
    float border[4];
    int normalized;
    unsigned anisotropy;
    int mipFilter;
    float mipBias, mipMin, mipMax;
    int noTrilinear, seamless;
};
struct cudaFuncAttributes {
    size_t shared, constant, local;
    int maxThreads, registers, ptx, binary, caches, dynamicShared, carveout, clusters[22];
};
struct cudaPointerAttributes {
    int type, device;
    void *devicePointer, *hostPointer;
    long reserved[8];
};
struct cudaKernelNodeParams {
    const void *func;
    dim3 grid, block;
    unsigned shared;
    void **params, **extra;
};
struct cudaLaunchAttribute {
    int id, pad;
    uint64_t value[8];
};
struct cudaLaunchConfig {
    dim3 grid, block;
    size_t shared;
    struct Stream *stream;
    cudaLaunchAttribute *attributes;
    unsigned count;
};

extern "C" {
void **__cudaRegisterFatBinary(const void *wrapper);
void __cudaRegisterFatBinaryEnd(void **binary);
void __cudaUnregisterFatBinary(void **binary);
void __cudaRegisterFunction(void **binary, const char *host, char *device, const char *name, int limit, void *thread, void *block,
                            dim3 *block_size, dim3 *grid_size, int *warp);
void __cudaRegisterVar(void **binary, char *host, char *device, const char *name, int external, size_t size, int constant, int global);
void __cudaRegisterTexture(void **binary, const void *host, const void **device, const char *name, int dimensions, int normalized, int external);
void __cudaRegisterManagedVar(void **binary, void **pointer, char *device, const char *name, int external, size_t size, int constant,
                              int global);
char __cudaInitModule(void **binary);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct Stream *stream);
int __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
int __cudaGetKernel(struct Kernel **kernel, const void *host);
int __cudaLaunchKernel(struct Kernel *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, struct Stream *stream);
int cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared, struct Stream *stream);
int cudaLaunchKernel_ptsz(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared, struct Stream *stream);
int cudaLaunchKernelExC(const cudaLaunchConfig *config, const void *host, void **arguments);
int cudaLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared, struct Stream *stream);
int cudaGetLastError(void);
int cudaPeekAtLastError(void);
const char *cudaGetErrorName(int error);
const char *cudaGetErrorString(int error);
int cudaRuntimeGetVersion(int *version);
int cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags, int *status);
int cudaGetDeviceCount(int *count);
int cudaGetDevice(int *device);
int cudaSetDevice(int device);
int cudaDeviceReset(void);
int cudaDeviceSynchronize(void);
int cudaGetDeviceProperties(void *properties, int device);
int cudaGetDeviceProperties_v2(void *properties, int device);
int cudaMalloc(void *pointer, size_t bytes);
int cudaFree(void *pointer);
int cudaMallocAsync(void *pointer, size_t bytes, struct Stream *stream);
int cudaFreeAsync(void *pointer, struct Stream *stream);
int cudaMallocHost(void *pointer, size_t bytes);
int cudaFreeHost(void *pointer);
int cudaMallocManaged(void *pointer, size_t bytes, unsigned flags);
int cudaMallocPitch(void *pointer, size_t *pitch, size_t width, size_t height);
int cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaMemcpy_ptds(void *to, const void *from, size_t bytes, int kind);
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, struct Stream *stream);
int cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind);
int cudaMemcpy3D(const cudaMemcpy3DParms *parms);
int cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, int kind);
int cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, int kind);
int cudaGetSymbolAddress(void *address, const void *symbol);
int cudaGetSymbolSize(size_t *size, const void *symbol);
int cudaMemset(void *pointer, int value, size_t bytes);
int cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height);
int cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent);
int cudaStreamCreate(struct Stream **stream);
int cudaStreamDestroy(struct Stream *stream);
int cudaStreamSynchronize(struct Stream *stream);
int cudaStreamQuery(struct Stream *stream);
int cudaStreamWaitEvent(struct Stream *stream, struct Event *event, unsigned flags);
int cudaStreamBeginCapture(struct Stream *stream, int mode);
int cudaStreamEndCapture(struct Stream *stream, struct Graph **graph);
int cudaEventCreate(struct Event **event);
int cudaEventRecord(struct Event *event, struct Stream *stream);
int cudaEventSynchronize(struct Event *event);
int cudaEventElapsedTime(float *milliseconds, struct Event *start, struct Event *end);
int cudaEventDestroy(struct Event *event);
int cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *host);
int cudaFuncSetAttribute(const void *host, int attribute, int value);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int threads, size_t shared);
cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int kind);
int cudaMallocArray(struct Array **array, const cudaChannelFormatDesc *format, size_t width, size_t height, unsigned flags);
int cudaFreeArray(struct Array *array);
int cudaMemcpy2DToArray(struct Array *array, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int kind);
int cudaMemcpyFromArray(void *to, struct Array *array, size_t x, size_t y, size_t bytes, int kind);
int cudaArrayGetInfo(cudaChannelFormatDesc *format, cudaExtent *extent, unsigned *flags, struct Array *array);
int cudaCreateTextureObject(uint64_t *texture, const cudaResourceDesc *resource, const cudaTextureDesc *description, const void *view);
int cudaGetTextureObjectTextureDesc(cudaTextureDesc *description, uint64_t texture);
int cudaDestroyTextureObject(uint64_t texture);
int cudaGraphCreate(struct Graph **graph, unsigned flags);
int cudaGraphAddKernelNode(struct Node **node, struct Graph *graph, struct Node **after, size_t count, const cudaKernelNodeParams *params);
int cudaGraphAddMemcpyNode1D(struct Node **node, struct Graph *graph, struct Node **after, size_t count, void *to, const void *from,
                             size_t bytes, int kind);
int cudaGraphInstantiate(struct Exec **exec, struct Graph *graph, unsigned long long flags, char *log, size_t size);
int cudaGraphLaunch(struct Exec *exec, struct Stream *stream);
int cudaGraphExecDestroy(struct Exec *exec);
int cudaGraphDestroy(struct Graph *graph);
/* textureReference of CUDA 11. */
struct textureReference {
    int normalized, filterMode, addressMode[3];
    cudaChannelFormatDesc channelDesc;
    int sRGB;
    unsigned maxAnisotropy;
    int mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, reserved[14];
};
int cudaBindTexture2D(size_t *offset, const void *reference, const void *pointer, const cudaChannelFormatDesc *format, size_t width,
                      size_t height, size_t pitch);
int cudaBindTextureToArray(const void *reference, struct Array *array, const cudaChannelFormatDesc *format);
int cudaUnbindTexture(const void *reference);
int cudaGetTextureReference(const void **reference, const void *symbol);
int cudaBindTexture(size_t *offset, const void *reference, const void *pointer, const cudaChannelFormatDesc *format, size_t bytes);
}

enum { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT };

#define EXPECT(result, call)                                                                        \
    do {                                                                                            \
        long long found = (long long)(call), wanted = (long long)(result);                          \
        if (found != wanted) {                                                                      \
            printf("%s:%d: %s: %lld, not %lld\n", __FILE__, __LINE__, #call, found, wanted);        \
            fflush(stdout);                                                                         \
            _Exit(1);                                                                               \
        }                                                                                           \
    } while (0)
#define OK(call) EXPECT(0, call)
#define TRUE(what) EXPECT(1, (what) != 0)

/* What the compiler calls `<<<grid, block, shared, stream>>>`. */
#define LAUNCH(grid, block, shared, stream) \
    if (__cudaPushCallConfiguration(grid, block, shared, stream)) {} else

/* A kernel's host stub. */
template <typename... Arguments> static void launch_stub(const void *host, Arguments... arguments)
{
    dim3 grid, block;
    size_t shared;
    struct Stream *stream;
    void *list[] = {&arguments...};
    if (__cudaPopCallConfiguration(&grid, &block, &shared, &stream) == 0)
        cudaLaunchKernel(host, grid, block, list, shared, stream);
}

/* A fat binary with one entry: PTX, or something else. */
struct FatBinary {
    unsigned char container[8192];
    struct {
        uint32_t magic, version;
        const void *data, *list;
    } wrapper;

    FatBinary(const char *content, uint16_t kind = 1)
    {
        uint64_t size = (strlen(content) + 8) / 8 * 8, rest = 64 + size;
        const uint32_t header[] = {0xba55ed50, 1 | 16 << 16};
        const uint16_t entry[] = {kind, 0x0101, 64, 0}, version[] = {0, 7};
        const uint32_t architecture = 70;
        if (80 + size > sizeof container)
            abort();
        memset(container, 0, sizeof container);
        memcpy(container, header, 8);
        memcpy(container + 8, &rest, 8);
        memcpy(container + 16, entry, 8);
        memcpy(container + 24, &size, 8);
        memcpy(container + 40, version, 4);
        memcpy(container + 44, &architecture, 4);
        memcpy(container + 80, content, strlen(content));
        wrapper = {0x466243b1, 1, container, nullptr};
    }
};

/* Registers a fat binary with what is in it, and unregisters it at the end, as generated code does. */
struct Registration {
    FatBinary binary;
    void **handle;

    template <typename Register> Registration(const char *content, Register add, uint16_t kind = 1) : binary(content, kind)
    {
        handle = __cudaRegisterFatBinary(&binary.wrapper);
        add(handle);
        __cudaRegisterFatBinaryEnd(handle);
    }
    ~Registration() { __cudaUnregisterFatBinary(handle); }
};

static inline void add_kernel(void **binary, const void *host, const char *name)
{
    __cudaRegisterFunction(binary, (const char *)host, (char *)name, name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
}

static inline void add_variable(void **binary, void *host, const char *name, size_t size, int constant)
{
    __cudaRegisterVar(binary, (char *)host, (char *)name, name, 0, size, constant, 0);
}

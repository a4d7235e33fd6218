/* A program with kernels, as a CUDA compiler passes it to the host compiler. */
#include <cmath>
#include <dlfcn.h>
#include <thread>
#include <vector>

#include "cuda.h"
#include "kernels.h"

struct Pair {
    float scale;
    unsigned char index;
    double offset;
};

static float factors[4];
static int counter = 5, other_counter = 100, nowhere;
static int *shared_number;

/* The version of libcudart.so: some structures are longer in later ones. */
static int version;

static void scale(float *out, const float *in, Pair pair, int n) { launch_stub((const void *)scale, out, in, pair, n); }
static void count(int by) { launch_stub((const void *)count, by); }
static void total(int *out) { launch_stub((const void *)total, out); }
static void sample(float *out, uint64_t texture) { launch_stub((const void *)sample, out, texture); }
static void fetch(float *out) { launch_stub((const void *)fetch, out); }
static textureReference row_reference, array_reference;
static void fail()
{
    dim3 grid, block;
    size_t shared;
    struct Stream *stream;
    if (__cudaPopCallConfiguration(&grid, &block, &shared, &stream) == 0)
        cudaLaunchKernel((const void *)fail, grid, block, nullptr, shared, stream);
}
static void other_count(int by) { launch_stub((const void *)other_count, by + 0); }
static void missing() {}
static void machine_code() {}
static void unregistered() {}

static Registration first(first_ptx, [](void **binary) {
    add_kernel(binary, (const void *)scale, "scale");
    add_kernel(binary, (const void *)count, "count");
    add_kernel(binary, (const void *)total, "total");
    add_kernel(binary, (const void *)sample, "sample");
    add_kernel(binary, (const void *)fetch, "fetch");
    __cudaRegisterTexture(binary, &row_reference, nullptr, "bytes_of_row", 1, 1, 0);
    __cudaRegisterTexture(binary, &array_reference, nullptr, "texels_of_array", 2, 0, 0);
    add_kernel(binary, (const void *)fail, "fail");
    add_kernel(binary, (const void *)missing, "missing");
    add_variable(binary, factors, "factors", sizeof factors, 1);
    add_variable(binary, &counter, "counter", sizeof counter, 0);
});

static Registration second(second_ptx, [](void **binary) {
    add_kernel(binary, (const void *)other_count, "count");
    add_variable(binary, &other_counter, "counter", sizeof other_counter, 0);
    __cudaRegisterManagedVar(binary, (void **)&shared_number, (char *)"shared_number", "shared_number", 0, 4, 0, 0);
});

static Registration third("machine code", [](void **binary) { add_kernel(binary, (const void *)machine_code, "machine_code"); }, 2);

static void launches()
{
    const float factor[] = {1, 2, 3, 4};
    float in[100], out[100];
    for (int i = 0; i < 100; i++)
        in[i] = i;
    float *device_in, *device_out;
    OK(cudaMalloc(&device_in, sizeof in));
    OK(cudaMalloc(&device_out, sizeof out));
    OK(cudaMemcpyToSymbol(factors, factor, sizeof factor, 0, HOST_TO_DEVICE));
    OK(cudaMemcpy(device_in, in, sizeof in, HOST_TO_DEVICE));
    LAUNCH(dim3(4), dim3(32), 0, nullptr) scale(device_out, device_in, Pair{0.5, 2, 7}, 100);
    OK(cudaGetLastError());
    OK(cudaMemcpy(out, device_out, sizeof out, DEVICE_TO_HOST));
    for (int i = 0; i < 100; i++)
        TRUE(out[i] == i * 1.5f + 7);

    /* By handle, as version 13 of the compiler does, with a list of attributes, and in the thread's own stream. */
    Pair pair = {2, 0, 1};
    int n = 100;
    void *list[] = {&device_out, &device_in, &pair, &n};
    struct Kernel *kernel;
    OK(__cudaGetKernel(&kernel, (const void *)scale));
    OK(__cudaLaunchKernel(kernel, 4, 32, list, 0, nullptr));
    OK(cudaMemcpy(out, device_out, sizeof out, DEFAULT));
    TRUE(out[99] == 199);
    pair.scale = 3;
    OK(cudaLaunchKernel_ptsz((const void *)scale, 4, 32, list, 0, nullptr));
    OK(cudaMemcpy_ptds(out, device_out, sizeof out, DEVICE_TO_HOST));
    TRUE(out[99] == 298);
    pair.scale = 4;
    cudaLaunchAttribute priority = {8, 0, {}};
    cudaLaunchConfig config = {4, 32, 0, nullptr, &priority, 1};
    OK(cudaLaunchKernelExC(&config, (const void *)scale, list));
    OK(cudaMemcpy(out, device_out, sizeof out, DEVICE_TO_HOST));
    TRUE(out[99] == 397);
    pair.scale = 5;
    OK(cudaLaunchCooperativeKernel((const void *)scale, 4, 32, list, 0, nullptr));
    OK(cudaMemcpy(out, device_out, sizeof out, DEVICE_TO_HOST));
    TRUE(out[99] == 496);

    int totals[64];
    LAUNCH(1, 64, 64 * 4, nullptr) total((int *)device_out);
    OK(cudaMemcpy(totals, device_out, sizeof totals, DEVICE_TO_HOST));
    EXPECT(2016, totals[63]);

    cudaFuncAttributes attributes;
    memset(&attributes, 0x55, sizeof attributes);
    OK(cudaFuncGetAttributes(&attributes, (const void *)total));
    TRUE(attributes.maxThreads >= 64 && attributes.ptx == 70 && attributes.binary == 86);
    EXPECT(version >= 12000, attributes.clusters[21] == 0);
    OK(cudaFuncSetAttribute((const void *)total, 8, 1024));
    OK(cudaFuncGetAttributes(&attributes, (const void *)total));
    EXPECT(1024, attributes.dynamicShared);
    int blocks;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)total, 64, 0));
    TRUE(blocks > 0);
    OK(cudaFree(device_in));
    OK(cudaFree(device_out));
}

static void variables()
{
    int value = 0;
    size_t size;
    int *address;
    OK(cudaGetSymbolSize(&size, &counter));
    EXPECT(4, size);
    OK(cudaGetSymbolAddress(&address, &counter));
    OK(cudaMemcpy(&value, address, 4, DEVICE_TO_HOST));
    EXPECT(5, value);
    LAUNCH(1, 1, 0, nullptr) count(6);
    OK(cudaMemcpyFromSymbol(&value, &counter, 4, 0, DEVICE_TO_HOST));
    EXPECT(11, value);
    EXPECT(5, counter);
    EXPECT(13, cudaMemcpyFromSymbol(&value, &nowhere, 4, 0, DEVICE_TO_HOST));
    EXPECT(1, cudaMemcpyFromSymbol(&value, &counter, 4, 1, DEVICE_TO_HOST));
    EXPECT(21, cudaMemcpyFromSymbol(&value, &counter, 4, 0, HOST_TO_DEVICE));
    EXPECT(21, cudaGetLastError());

    /* A variable of the other module, and a managed variable. */
    TRUE(__cudaInitModule(second.handle) == 1);
    EXPECT(40, *shared_number);
    *shared_number = 50;
    LAUNCH(1, 1, 0, nullptr) other_count(1);
    OK(cudaDeviceSynchronize());
    EXPECT(52, *shared_number);
    OK(cudaMemcpyFromSymbol(&value, &other_counter, 4, 0, DEVICE_TO_HOST));
    EXPECT(101, value);
    OK(cudaMemcpyFromSymbol(&value, &counter, 4, 0, DEVICE_TO_HOST));
    EXPECT(11, value);
}

static void streams()
{
    struct Stream *a, *b;
    struct Event *start, *end;
    float time = -1;
    int value, *pinned, *device;
    OK(cudaStreamCreate(&a));
    OK(cudaStreamCreate(&b));
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&end));
    OK(cudaMallocHost(&pinned, 256));
    OK(cudaMallocAsync(&device, 256, a));
    OK(cudaEventRecord(start, a));
    LAUNCH(1, 64, 256, a) total(device);
    OK(cudaEventRecord(end, a));
    OK(cudaStreamWaitEvent(b, end, 0));
    OK(cudaMemcpyAsync(pinned, device, 256, DEVICE_TO_HOST, b));
    OK(cudaStreamSynchronize(b));
    EXPECT(2016, pinned[5]);
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&time, start, end));
    TRUE(time >= 0);
    OK(cudaStreamQuery(a));

    /* Streams are interchangeable between the two APIs. */
    int (*synchronize)(struct Stream *);
    int status = 7;
    OK(cudaGetDriverEntryPoint("cuStreamSynchronize", (void **)&synchronize, 0, &status));
    EXPECT(version >= 12000 ? 0 : 7, status);
    OK(synchronize(a));
    OK(cudaGetDriverEntryPoint("cuMemAlloc", (void **)&synchronize, 0, &status));
    EXPECT(500, cudaGetDriverEntryPoint("cuNothing", (void **)&synchronize, 0, nullptr));
    EXPECT(500, cudaGetLastError());

    /* Graphs by hand and by capture. */
    struct Graph *graph;
    struct Node *kernel, *copy;
    struct Exec *exec;
    int by = 4;
    void *list[] = {&by};
    cudaKernelNodeParams params = {(const void *)count, 1, 1, 0, list, nullptr};
    int *address;
    OK(cudaGetSymbolAddress(&address, &counter));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &params));
    OK(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, pinned, address, 4, DEVICE_TO_HOST));
    OK(cudaGraphInstantiate(&exec, graph, 0, nullptr, 0));
    OK(cudaGraphLaunch(exec, a));
    OK(cudaGraphLaunch(exec, a));
    OK(cudaStreamSynchronize(a));
    EXPECT(19, pinned[0]);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamBeginCapture(a, 0));
    LAUNCH(1, 1, 0, a) count(-8);
    OK(cudaStreamEndCapture(a, &graph));
    OK(cudaMemcpyFromSymbol(&value, &counter, 4, 0, DEVICE_TO_HOST));
    EXPECT(19, value);
    OK(cudaGraphInstantiate(&exec, graph, 0, nullptr, 0));
    OK(cudaGraphLaunch(exec, nullptr));
    OK(cudaMemcpyFromSymbol(&value, &counter, 4, 0, DEVICE_TO_HOST));
    EXPECT(11, value);
    OK(cudaFreeAsync(device, a));
    OK(cudaFreeHost(pinned));
    OK(cudaEventDestroy(start));
    OK(cudaStreamDestroy(a));
    EXPECT(400, cudaStreamSynchronize(a));
    EXPECT(400, cudaGetLastError());
}

static void memory()
{
    char *device, rows[6][10], back[6][10];
    size_t pitch;
    cudaPointerAttributes attributes;
    for (int i = 0; i < 60; i++)
        rows[i / 10][i % 10] = i;
    OK(cudaMallocPitch(&device, &pitch, 10, 6));
    OK(cudaMemcpy2D(device, pitch, rows, 10, 10, 6, HOST_TO_DEVICE));
    OK(cudaMemset2D(device + 2 * pitch + 3, pitch, 99, 4, 2));
    OK(cudaMemcpy2D(back, 10, device, pitch, 10, 6, DEVICE_TO_HOST));
    for (int y = 0; y < 6; y++)
        for (int x = 0; x < 10; x++)
            EXPECT((y == 2 || y == 3) && x >= 3 && x < 7 ? 99 : rows[y][x], back[y][x]);
    OK(cudaMemset3D(cudaPitchedPtr{device, pitch, 10, 3}, 1, cudaExtent{10, 2, 2}));
    OK(cudaMemcpy2D(back, 10, device, pitch, 10, 6, DEVICE_TO_HOST));
    const int first[] = {1, 1, 20, 1, 1, 50};
    for (int y = 0; y < 6; y++)
        EXPECT(first[y], back[y][0]);
    cudaMemcpy3DParms parms = {};
    parms.srcPtr = {rows, 10, 10, 3};
    parms.dstPtr = {device, pitch, 10, 3};
    parms.srcPos = {1, 0, 0};
    parms.extent = {2, 3, 2};
    parms.kind = HOST_TO_DEVICE;
    OK(cudaMemcpy3D(&parms));
    OK(cudaMemcpy2D(back, 10, device, pitch, 10, 6, DEVICE_TO_HOST));
    EXPECT(rows[5][1], back[5][0]);
    EXPECT(rows[5][2], back[5][1]);
    EXPECT(rows[5][2], back[5][2]);
    EXPECT(12, cudaMemcpy2D(device, 9, rows, 10, 10, 6, HOST_TO_DEVICE));
    EXPECT(21, cudaMemcpy(device, rows, 10, 5));
    memset(&attributes, 0x55, sizeof attributes);
    OK(cudaPointerGetAttributes(&attributes, device + 5));
    EXPECT(version >= 13000, attributes.reserved[7] == 0);
    TRUE(attributes.type == 2 && attributes.devicePointer == device + 5 && attributes.device == 0);
    OK(cudaPointerGetAttributes(&attributes, rows));
    TRUE(attributes.type == 0);
    EXPECT(1, cudaFree(device + 1));
    OK(cudaFree(device));
    OK(cudaMalloc(&device, 0));
    TRUE(device == nullptr);
    OK(cudaFree(nullptr));
    EXPECT(1, cudaGetLastError());
    int *managed;
    OK(cudaMallocManaged(&managed, 64, 1));
    *managed = 3;
    OK(cudaMemset(managed, 0, 4));
    OK(cudaDeviceSynchronize());
    EXPECT(0, *managed);
    OK(cudaPointerGetAttributes(&attributes, managed));
    EXPECT(3, attributes.type);
    OK(cudaFree(managed));
}

static void textures()
{
    const float texels[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
    struct Array *array;
    uint64_t texture;
    float *device, out[4];
    cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, 2);
    cudaExtent extent;
    unsigned flags;
    OK(cudaMallocArray(&array, &format, 4, 2, 0));
    OK(cudaMemcpy2DToArray(array, 0, 0, texels, 16, 16, 2, HOST_TO_DEVICE));
    OK(cudaMemcpyFromArray(out, array, 8, 0, 16, DEVICE_TO_HOST));
    TRUE(out[0] == 3 && out[1] == 4 && out[2] == 5 && out[3] == 6);
    format = {};
    OK(cudaArrayGetInfo(&format, &extent, &flags, array));
    TRUE(format.x == 32 && format.y == 0 && format.f == 2 && extent.width == 4 && extent.height == 2 && flags == 0);
    cudaResourceDesc resource = {0, array, {}};
    cudaTextureDesc description = {}, again;
    description.addressMode[0] = description.addressMode[1] = 1;
    description.seamless = 1;
    memset(&again, 0x55, sizeof again);
    OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    OK(cudaGetTextureObjectTextureDesc(&again, texture));
    TRUE(again.addressMode[1] == 1 && again.readMode == 0);
    EXPECT(version >= 12000 ? 1 : 0x55555555, again.seamless);
    OK(cudaMalloc(&device, sizeof out));
    LAUNCH(1, 4, 0, nullptr) sample(device, texture);
    OK(cudaMemcpy(out, device, sizeof out, DEVICE_TO_HOST));
    for (int i = 0; i < 4; i++)
        TRUE(out[i] == texels[1][i]);
    OK(cudaDestroyTextureObject(texture));

    /* References, as up to version 11. */
    const unsigned char row[4] = {0, 51, 102, 255};
    unsigned char *bytes;
    const void *same = nullptr;
    size_t offset = 99;
    cudaChannelFormatDesc byte = cudaCreateChannelDesc(8, 0, 0, 0, 1);
    OK(cudaMalloc(&bytes, 256));
    OK(cudaMemcpy(bytes, row, sizeof row, HOST_TO_DEVICE));
    array_reference.normalized = 1;
    array_reference.addressMode[0] = array_reference.addressMode[1] = 1;
    OK(cudaGetTextureReference(&same, &array_reference));
    TRUE(same == &array_reference);
    OK(cudaBindTexture(&offset, &row_reference, bytes, &byte, UINT32_MAX));
    EXPECT(0, (int)offset);
    OK(cudaBindTextureToArray(&array_reference, array, &format));
    LAUNCH(1, 4, 0, nullptr) fetch(device);
    OK(cudaMemcpy(out, device, sizeof out, DEVICE_TO_HOST));
    for (int i = 0; i < 4; i++)
        TRUE(fabsf(out[i] - (row[i] / 255.0f + 10 * texels[1][i])) < 1e-4f);
    OK(cudaUnbindTexture(&row_reference));
    EXPECT(18, cudaBindTexture(nullptr, &same, bytes, &byte, 4));
    EXPECT(18, cudaGetLastError());
    OK(cudaFree(bytes));
    OK(cudaFreeArray(array));
    format = cudaCreateChannelDesc(8, 16, 0, 0, 1);
    EXPECT(20, cudaMallocArray(&array, &format, 4, 2, 0));
    EXPECT(1, cudaBindTexture(nullptr, nullptr, nullptr, &format, 4));
    EXPECT(1, cudaGetLastError());
}

/* Expects an error from a launch, and from the first cudaGetLastError after it. */
static void expect_launch(int error, const void *host, dim3 grid, dim3 block, size_t shared)
{
    int by = 1;
    void *list[] = {&by};
    EXPECT(error, cudaLaunchKernel(host, grid, block, list, shared, nullptr));
    EXPECT(error, cudaPeekAtLastError());
    EXPECT(error, cudaGetLastError());
    OK(cudaGetLastError());
}

static void errors()
{
    /* Since version 13 the runtime returns the driver's error: an invalid value, not an invalid configuration. */
    int configuration = version < 13000 ? 9 : 1;
    expect_launch(configuration, (const void *)count, 0, 1, 0);
    expect_launch(configuration, (const void *)count, 1, 1025, 0);
    expect_launch(configuration, (const void *)count, 1, 2048, 0);
    expect_launch(configuration, (const void *)count, 1, dim3(1, 1, 65), 0);
    expect_launch(configuration, (const void *)count, dim3(1, 65536), 1, 0);
    expect_launch(1, (const void *)count, 1, 1, 1 << 20);
    expect_launch(98, (const void *)unregistered, 1, 1, 0);
    expect_launch(98, (const void *)missing, 1, 1, 0);
    expect_launch(209, (const void *)machine_code, 1, 1, 0);
    EXPECT(52, __cudaPopCallConfiguration(nullptr, nullptr, nullptr, nullptr));
    OK(cudaGetLastError());
    EXPECT(101, cudaSetDevice(1));
    /* A successful call doesn't clear the error, and other threads don't see it. */
    OK(cudaDeviceSynchronize());
    std::thread([] { OK(cudaGetLastError()); }).join();
    EXPECT(101, cudaGetLastError());
    TRUE(strcmp(cudaGetErrorName(9), "cudaErrorInvalidConfiguration") == 0);
    TRUE(strcmp(cudaGetErrorName(2), "cudaErrorMemoryAllocation") == 0);
    TRUE(strcmp(cudaGetErrorString(9), "invalid configuration argument") == 0);
    TRUE(strcmp(cudaGetErrorString(2), "out of memory") == 0);
    TRUE(strcmp(cudaGetErrorString(12345), "unrecognized error code") == 0);

    /* A kernel's error stays until the device is reset, which initializes the variables again. */
    int value;
    LAUNCH(1, 1, 0, nullptr) fail();
    OK(cudaGetLastError());
    EXPECT(719, cudaDeviceSynchronize());
    EXPECT(719, cudaGetLastError());
    EXPECT(719, cudaGetLastError());
    EXPECT(719, cudaMalloc(&value, 4));
    OK(cudaDeviceReset());
    OK(cudaDeviceSynchronize());
    EXPECT(719, cudaGetLastError());
    OK(cudaGetLastError());
    OK(cudaMemcpyFromSymbol(&value, &counter, 4, 0, DEVICE_TO_HOST));
    EXPECT(5, value);
}

static void threads()
{
    std::vector<std::thread> list;
    for (int number = 0; number < 4; number++)
        list.emplace_back([number] {
            int *device, out[64], current = -1;
            OK(cudaGetDevice(&current));
            EXPECT(0, current);
            OK(cudaMalloc(&device, sizeof out));
            for (int round = 0; round < 8; round++) {
                OK(cudaMemset(device, 0, sizeof out));
                LAUNCH(1, 8 * (number + 1), 256, nullptr) total(device);
                OK(cudaGetLastError());
                OK(cudaMemcpy(out, device, sizeof out, DEVICE_TO_HOST));
                int n = 8 * (number + 1);
                EXPECT(n * (n - 1) / 2, out[n - 1]);
            }
            OK(cudaFree(device));
        });
    for (std::thread &thread : list)
        thread.join();
}

static void plugins(const char *path)
{
    for (int round = 0; round < 2; round++) {
        void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        TRUE(plugin);
        const void *(*run)(int *) = (const void *(*)(int *))dlsym(plugin, "run_nine");
        int *device, value = 0;
        OK(cudaMalloc(&device, 4));
        const void *nine = run(device);
        OK(cudaMemcpy(&value, device, 4, DEVICE_TO_HOST));
        EXPECT(9, value);
        OK(dlclose(plugin));
        expect_launch(98, nine, 1, 1, 0);
        OK(cudaFree(device));
    }
}

/* A call at exit, when the runtime library has already shut down. */
struct Late {
    ~Late()
    {
        if (cudaDeviceSynchronize() != 4)
            puts("late");
    }
};

int main(int, char **names)
{
    static Late late;
    int devices = 0, cooperative = 0;
    char properties[1032];
    OK(cudaGetDeviceCount(&devices));
    EXPECT(1, devices);
    OK(cudaRuntimeGetVersion(&version));
    printf("%d\n", version);
    /* The flag for cooperative launches has another offset in version 13. Nothing is written beyond the end of version 11's structure. */
    memset(properties, 0x55, sizeof properties);
    OK((version < 12000 || version >= 13000 ? cudaGetDeviceProperties : cudaGetDeviceProperties_v2)(properties, 0));
    memcpy(&cooperative, properties + (version >= 13000 ? 668 : 688), 4);
    EXPECT(1, cooperative);
    EXPECT(version < 12000, properties[728] == 0x55 && properties[1007] == 0x55);
    EXPECT(version < 12000 || version >= 13000, properties[1008] == 0x55 && properties[1031] == 0x55);
    launches();
    variables();
    streams();
    memory();
    textures();
    errors();
    launches();
    threads();
    plugins(names[1]);
    puts("done");
    return 0;
}

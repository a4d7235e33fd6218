/* A program as CUDA's users write them, linked with -lcuda. The declarations are this program's own. */
#include <malloc.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetName(char *name, int len, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDevicePrimaryCtxRetain(Context *context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxCreate_v2(Context *context, unsigned flags, int device);
int cuCtxDestroy_v2(Context context);
int cuCtxPushCurrent_v2(Context context);
int cuCtxPopCurrent_v2(Context *context);
int cuCtxSetCurrent(Context context);
int cuCtxGetCurrent(Context *context);
int cuCtxSynchronize(void);
int cuMemAlloc_v2(Address *address, size_t bytes);
int cuMemFree_v2(Address address);
int cuMemAllocHost_v2(void **pointer, size_t bytes);
int cuMemFreeHost(void *pointer);
int cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags);
int cuMemHostUnregister(void *pointer);
int cuMemHostGetDevicePointer_v2(Address *address, void *pointer, unsigned flags);
int cuMemAllocManaged(Address *address, size_t bytes, unsigned flags);
int cuMemPrefetchAsync(Address address, size_t bytes, int device, Stream stream);
int cuMemAdvise(Address address, size_t bytes, int advice, int device);
int cuMemcpy2D_v2(const struct copy_2d *copy);
int cuMemsetD2D8_v2(Address address, size_t pitch, unsigned char value, size_t width, size_t height);
int cuMemGetAddressRange_v2(Address *base, size_t *size, Address address);
int cuMemsetD32Async(Address address, unsigned value, size_t count, Stream stream);
int cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, Stream stream);
int cuPointerGetAttribute(void *value, int attribute, Address address);
int cuMemcpyHtoD_v2(Address to, const void *from, size_t bytes);
int cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, Stream stream);
int cuMemcpyDtoH_v2(void *to, Address from, size_t bytes);
int cuMemcpyDtoHAsync_v2_ptsz(void *to, Address from, size_t bytes, Stream stream);
int cuMemcpy(Address to, Address from, size_t bytes);
int cuMemsetD32_v2(Address address, unsigned value, size_t count);
int cuModuleLoadData(Module *module, const void *image);
int cuModuleLoadDataEx(Module *module, const void *image, unsigned count, int *options, void **values);
int cuModuleUnload(Module module);
int cuModuleGetFunction(Function *function, Module module, const char *name);
int cuModuleGetGlobal_v2(Address *address, size_t *bytes, Module module, const char *name);
int cuLaunchKernel(Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, Stream stream, void **params, void **extra);
int cuLaunchHostFunc(Stream stream, void (*function)(void *), void *data);
int cuStreamCreate(Stream *stream, unsigned flags);
int cuStreamDestroy_v2(Stream stream);
int cuStreamSynchronize(Stream stream);
int cuStreamWaitEvent(Stream stream, Event event, unsigned flags);
int cuEventCreate(Event *event, unsigned flags);
int cuEventDestroy_v2(Event event);
int cuEventRecord(Event event, Stream stream);
int cuEventSynchronize(Event event);
int cuEventElapsedTime(float *milliseconds, Event start, Event end);
struct kernel_node {
    Function function;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
    void *kernel, *context;
};

struct set_node {
    Address address;
    size_t pitch;
    unsigned value, element;
    size_t width, height;
};

int cuMemsetD8Async(Address address, unsigned char value, size_t count, Stream stream);
int cuMemAllocAsync(Address *address, size_t bytes, Stream stream);
int cuMemFreeAsync(Address address, Stream stream);
int cuDeviceGetDefaultMemPool(void **pool, int device);
int cuMemPoolGetAttribute(void *pool, int attribute, void *value);
int cuMemPoolSetAttribute(void *pool, int attribute, const void *value);
int cuGraphCreate(Graph *graph, unsigned flags);
int cuGraphDestroy(Graph graph);
int cuGraphAddKernelNode_v2(Node *node, Graph graph, const Node *after, size_t count, const struct kernel_node *params);
int cuGraphAddMemsetNode(Node *node, Graph graph, const Node *after, size_t count, const struct set_node *params, Context context);
int cuGraphAddDependencies(Graph graph, const Node *from, const Node *to, size_t count);
int cuGraphGetNodes(Graph graph, Node *nodes, size_t *count);
int cuGraphGetEdges(Graph graph, Node *from, Node *to, size_t *count);
int cuGraphInstantiateWithFlags(Exec *exec, Graph graph, uint64_t flags);
int cuGraphExecKernelNodeSetParams_v2(Exec exec, Node node, const struct kernel_node *params);
int cuGraphLaunch(Exec exec, Stream stream);
int cuGraphExecDestroy(Exec exec);
int cuStreamBeginCapture_v2(Stream stream, int mode);
int cuStreamEndCapture(Stream stream, Graph *graph);
int cuStreamIsCapturing(Stream stream, int *status);
int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status);
int cuGetExportTable(const void **table, const void *id);

static const char *const ptx =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".visible .global .align 4 .u32 bias = 100;\n"
    ".visible .entry add(.param .u64 out, .param .u64 in, .param .u32 n, .param .u8 k)\n{\n"
    "    .reg .pred %p;\n    .reg .b32 %r<8>;\n    .reg .b64 %d<6>;\n"
    "    ld.param.u64 %d1, [out];\n    ld.param.u64 %d2, [in];\n    ld.param.u32 %r1, [n];\n    ld.param.u8 %r6, [k];\n"
    "    mov.u32 %r2, %tid.x;\n    mov.u32 %r3, %ctaid.x;\n    mov.u32 %r4, %ntid.x;\n    mad.lo.u32 %r2, %r3, %r4, %r2;\n"
    "    setp.ge.u32 %p, %r2, %r1;\n    @%p bra done;\n"
    "    mul.wide.u32 %d3, %r2, 4;\n    add.u64 %d4, %d2, %d3;\n    add.u64 %d5, %d1, %d3;\n"
    "    ld.global.u32 %r5, [%d4];\n    ld.global.u32 %r7, [bias];\n    add.u32 %r5, %r5, %r7;\n    add.u32 %r5, %r5, %r6;\n"
    "    st.global.u32 [%d5], %r5;\ndone:\n    ret;\n}\n"
    ".visible .entry fail()\n{\n    trap;\n}\n"
    /* As Taichi declares the function: without the result. */
    ".extern .func vprintf(.param .b64 format, .param .b64 values);\n"
    ".global .align 1 .b8 text[8] = {110, 32, 61, 32, 37, 100, 10, 0};\n"
    ".visible .entry say(.param .u32 n)\n{\n"
    "    .local .align 8 .b8 values[8];\n    .reg .b32 %r;\n    .reg .b64 %d<4>;\n"
    "    ld.param.u32 %r, [n];\n    st.local.u32 [values], %r;\n"
    "    mov.u64 %d1, values;\n    cvta.local.u64 %d1, %d1;\n    mov.u64 %d2, text;\n    cvta.global.u64 %d2, %d2;\n"
    "    {\n    .param .b64 p0;\n    st.param.b64 [p0], %d2;\n    .param .b64 p1;\n    st.param.b64 [p1], %d1;\n"
    "    call.uni vprintf, (p0, p1);\n    }\n    ret;\n}\n";

enum { N = 1000 };

static Module module;
static Function add;

/* Adds bias and k to 0..N in a stream, and looks at the result. */
static void run(Stream stream, unsigned char k)
{
    uint32_t numbers[N];
    Address in, out;
    unsigned n = N;
    OK(cuMemAlloc_v2(&in, sizeof numbers));
    OK(cuMemAlloc_v2(&out, sizeof numbers));
    for (unsigned i = 0; i < N; ++i)
        numbers[i] = i;
    OK(cuMemcpyHtoDAsync_v2(in, numbers, sizeof numbers, stream));
    /* Memory that isn't pinned may be changed at once. */
    memset(numbers, 0, sizeof numbers);
    void *params[] = {&out, &in, &n, &k};
    OK(cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, stream, params, NULL));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(numbers, out, sizeof numbers));
    for (unsigned i = 0; i < N; ++i)
        TRUE(numbers[i] == i + 100 + k);

    /* The same by one buffer of all arguments. */
    struct { Address out, in; unsigned n; unsigned char k; } packed = {out, in, N, 50};
    size_t size = sizeof packed;
    void *extra[] = {(void *)1, &packed, (void *)2, &size, NULL};
    OK(cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, stream, NULL, extra));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoHAsync_v2_ptsz(numbers, out, sizeof numbers, stream));
    TRUE(numbers[N - 1] == N - 1 + 150);
    OK(cuMemFree_v2(in));
    OK(cuMemFree_v2(out));
}

static void basics(void)
{
    int version, count, device, value;
    char name[4];
    OK(cuDriverGetVersion(&version));
    TRUE(version >= 12020);
    OK(cuDeviceGetCount(&count));
    TRUE(count == 1);
    OK(cuDeviceGet(&device, 0));
    EXPECT(101, cuDeviceGet(&device, 1));
    OK(cuDeviceGetName(name, sizeof name, device));
    TRUE(strlen(name) == 3);
    for (int attribute = 1; attribute <= 150; ++attribute)
        OK(cuDeviceGetAttribute(&value, attribute, device));
    EXPECT(1, cuDeviceGetAttribute(&value, 0, device));
    OK(cuDeviceGetAttribute(&value, 10, device));
    TRUE(value == 32);
    const void *table = &value;
    EXPECT(1, cuGetExportTable(&table, "0123456789abcdef"));
    int (*init)(unsigned);
    int status;
    OK(cuGetProcAddress_v2("cuInit", (void **)&init, 12000, 0, &status));
    TRUE(status == 0 && init(0) == 0);
    OK(cuGetProcAddress_v2("cuNothing", (void **)&init, 12000, 0, &status));
    TRUE(status == 1 && init == NULL);
}

static void contexts(Context primary)
{
    Context made, other;
    Address address;
    OK(cuCtxCreate_v2(&made, 0, 0));
    OK(cuCtxGetCurrent(&other));
    TRUE(other == made);
    OK(cuMemAlloc_v2(&address, 64));
    OK(cuCtxPushCurrent_v2(primary));
    OK(cuCtxPopCurrent_v2(&other));
    TRUE(other == primary);
    OK(cuCtxDestroy_v2(made));
    EXPECT(201, cuCtxDestroy_v2(made));
    EXPECT(201, cuCtxSetCurrent(made));
    /* Objects of the context were destroyed with it. */
    OK(cuCtxGetCurrent(&other));
    TRUE(other == primary);
    EXPECT(1, cuMemFree_v2(address));
    OK(cuCtxSetCurrent(NULL));
    EXPECT(201, cuMemAlloc_v2(&address, 64));
    OK(cuCtxSetCurrent(primary));
}

static void write_late(void *byte)
{
    usleep(50000);
    *(volatile unsigned char *)byte = 77;
}

static void memory(void)
{
    Address address, base;
    size_t size;
    unsigned kind, word = 0;
    uint32_t *pinned;
    EXPECT(1, cuMemAlloc_v2(&address, 0));
    OK(cuMemAlloc_v2(&address, 4096));
    OK(cuMemGetAddressRange_v2(&base, &size, address + 1000));
    TRUE(base == address && size == 4096);
    OK(cuPointerGetAttribute(&kind, 2, address + 1));
    TRUE(kind == 2);
    EXPECT(1, cuMemFree_v2(address + 256));
    OK(cuMemFree_v2(0));
    OK(cuMemsetD32_v2(address + 4, 0x01020304, 3));
    OK(cuMemcpyDtoH_v2(&word, address + 5, 4));
    TRUE(word == 0x04010203);
    EXPECT(1, cuMemsetD32_v2(address + 1, 0, 1));
    EXPECT(1, cuMemcpyHtoD_v2(address + 4000, &word, 97));
    EXPECT(1, cuMemcpyHtoD_v2(0xdead0000, &word, 4));
    EXPECT(1, cuMemcpyDtoH_v2(NULL, address, 4));
    OK(cuMemAllocHost_v2((void **)&pinned, 64));
    pinned[3] = 77;
    OK(cuMemcpy(address, (Address)pinned, 64));
    OK(cuMemcpy((Address)&word, address + 12, 4));
    TRUE(word == 77);
    OK(cuPointerGetAttribute(&kind, 2, (Address)pinned));
    TRUE(kind == 1);
    OK(cuMemFreeHost(pinned));
    EXPECT(1, cuMemFreeHost(pinned));
    /* Memory that the host can read is filled at return; so much takes the device some time. */
    OK(cuMemAllocHost_v2((void **)&pinned, 64 << 20));
    OK(cuMemsetD32_v2((Address)pinned, 0x600d, 16 << 20));
    TRUE(pinned[(16 << 20) - 1] == 0x600d);
    OK(cuMemFreeHost(pinned));
    OK(cuMemFree_v2(address));
    EXPECT(1, cuMemFree_v2(address));
    /* Rows of three bytes from the middle of rows of five to the middle of rows of eight. */
    unsigned char image[4][5], rows[4][8];
    for (unsigned i = 0; i < sizeof image; ++i)
        image[i / 5][i % 5] = i;
    OK(cuMemAlloc_v2(&address, sizeof rows));
    OK(cuMemsetD2D8_v2(address, 8, 0xee, 8, 4));
    struct copy_2d copy = {{1, 1, 1, image, 0, NULL, 5}, {2, 2, 2, NULL, address, NULL, 8}, 3, 2};
    OK(cuMemcpy2D_v2(&copy));
    OK(cuMemcpyDtoH_v2(rows, address, sizeof rows));
    for (unsigned y = 0; y < 4; ++y)
        for (unsigned x = 0; x < 8; ++x)
            TRUE(rows[y][x] == (y >= 2 && x >= 2 && x < 5 ? image[y - 1][x - 1] : 0xee));
    /* The host's rows are read after the functions that were launched before. */
    unsigned char *middle = &image[1][1];
    OK(cuLaunchHostFunc(NULL, write_late, middle));
    OK(cuMemcpy2D_v2(&copy));
    OK(cuMemcpyDtoH_v2(rows, address, sizeof rows));
    TRUE(rows[2][2] == 77);
    copy.to.kind = 7;
    EXPECT(1, cuMemcpy2D_v2(&copy));
    OK(cuMemFree_v2(address));

    /* Registered memory is the program's own. */
    uint32_t *own = aligned_alloc(4096, 8192);
    OK(cuMemHostRegister_v2(own, 8192, 0));
    EXPECT(712, cuMemHostRegister_v2(own + 5, 64, 0));
    OK(cuMemsetD32_v2((Address)own + 400, 0x1234, 1));
    OK(cuCtxSynchronize());
    TRUE(own[100] == 0x1234);
    OK(cuMemHostUnregister(own));
    EXPECT(713, cuMemHostUnregister(own));
    OK(cuMemHostRegister_v2(own + 500, 64, 0));
    EXPECT(712, cuMemHostRegister_v2(own, 8192, 0));
    OK(cuMemHostUnregister(own + 500));
    EXPECT(1, cuMemHostGetDevicePointer_v2(&address, own, 0));
    free(own);
    /* Where the device has managed memory, host and device see each other's writes. */
    int has_managed;
    OK(cuDeviceGetAttribute(&has_managed, 83, 0));
    if (has_managed) {
        OK(cuMemAllocManaged(&address, 4096, 1));
        uint32_t *managed = (uint32_t *)address;
        managed[0] = 5;
        OK(cuMemAdvise(address, 4096, 1, 0));
        OK(cuMemPrefetchAsync(address + 64, 64, 0, NULL));
        EXPECT(1, cuMemPrefetchAsync(address + 64, 4096, 0, NULL));
        EXPECT(101, cuMemPrefetchAsync(address, 64, 9, NULL));
        OK(cuMemcpy(address + 4, address, 4));
        OK(cuMemsetD32_v2(address + 8, 6, 1));
        OK(cuCtxSynchronize());
        TRUE(managed[1] == 5 && managed[2] == 6);
        OK(cuPointerGetAttribute(&kind, 8, address + 5));
        TRUE(kind == 1);
        OK(cuMemFree_v2(address));
    } else {
        EXPECT(801, cuMemAllocManaged(&address, 4096, 1));
    }
    EXPECT(1, cuMemAdvise(address, 64, 1, 0));
    /* Large allocations begin at a page, which programs rely on. */
    for (size_t bytes = 1 << 20; bytes < 4 << 20; bytes += 1000000) {
        OK(cuMemAlloc_v2(&address, bytes));
        TRUE(address % 4096 == 0);
        OK(cuMemGetAddressRange_v2(&base, &size, address + bytes - 1));
        TRUE(base == address && size == bytes);
        EXPECT(1, cuMemcpyDtoH_v2(&word, address + bytes - 3, 4));
        OK(cuMemFree_v2(address));
    }
}

static void modules(void)
{
    Module wrong;
    Function function;
    Address address;
    size_t bytes;
    char log[400];
    int options[] = {5, 6};
    void *values[] = {log, (void *)sizeof log};
    const char *text = ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry f()\n{\n    nothing.u32;\n}\n";
    EXPECT(218, cuModuleLoadDataEx(&wrong, text, 2, options, values));
    TRUE(strstr(log, "nothing") != NULL && strstr(log, ":6:") != NULL);
    TRUE((size_t)values[1] == strlen(log));
    EXPECT(209, cuModuleLoadData(&wrong, "\177ELF"));
    EXPECT(1, cuModuleLoadData(&wrong, NULL));
    EXPECT(500, cuModuleGetFunction(&function, module, "nothing"));
    OK(cuModuleGetGlobal_v2(&address, &bytes, module, "bias"));
    TRUE(bytes == 4);
    OK(cuMemcpyDtoH_v2(&options[0], address, 4));
    TRUE(options[0] == 100);
    EXPECT(1, cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    void *params[] = {&address, &address, &options, log};
    EXPECT(1, cuLaunchKernel(add, 0, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    EXPECT(400, cuLaunchKernel((Function)&bytes, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuModuleLoadData(&wrong, ptx));
    OK(cuModuleGetFunction(&function, wrong, "fail"));
    OK(cuModuleUnload(wrong));
    EXPECT(400, cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    EXPECT(400, cuModuleUnload(wrong));
    /* The kernel's output appears once the device was waited for, in order with the program's own output. */
    int n = 7;
    void *arguments[] = {&n};
    OK(cuModuleGetFunction(&function, module, "say"));
    printf("before ");
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    OK(cuCtxSynchronize());
}

static void count_up(void *counter)
{
    ++*(volatile int *)counter;
}

static void streams(void)
{
    Stream stream, other;
    Event start, end;
    float milliseconds = -1;
    int counter = 0;
    OK(cuStreamCreate(&stream, 1));
    OK(cuStreamCreate(&other, 0));
    OK(cuEventCreate(&start, 0));
    OK(cuEventCreate(&end, 0));
    EXPECT(400, cuEventElapsedTime(&milliseconds, start, end));
    OK(cuEventRecord(start, stream));
    run(stream, 1);
    OK(cuEventRecord(end, stream));
    OK(cuStreamWaitEvent(other, end, 0));
    OK(cuEventSynchronize(end));
    OK(cuEventElapsedTime(&milliseconds, start, end));
    TRUE(milliseconds >= 0);
    OK(cuLaunchHostFunc(other, count_up, &counter));
    OK(cuStreamSynchronize(other));
    TRUE(counter == 1);
    OK(cuEventDestroy_v2(start));
    OK(cuEventDestroy_v2(end));
    OK(cuStreamDestroy_v2(stream));
    EXPECT(400, cuStreamSynchronize(stream));
    OK(cuStreamDestroy_v2(other));
}

/* The same commands as a graph made by hand, and as one that is captured from two streams. */
static void graphs(void)
{
    Graph graph;
    Exec exec;
    Node set, launch;
    Stream stream, other;
    Event fork, joined;
    Address in, out;
    size_t count = 0;
    int status;
    unsigned n = N;
    unsigned char k = 1;
    uint32_t numbers[N];
    OK(cuStreamCreate(&stream, 1));
    OK(cuStreamCreate(&other, 1));
    OK(cuMemAllocAsync(&in, sizeof numbers, stream));
    OK(cuMemAllocAsync(&out, sizeof numbers, stream));
    void *params[] = {&out, &in, &n, &k};
    struct kernel_node kernel = {add, {8, 1, 1}, {128, 1, 1}, 0, params, NULL, NULL, NULL};
    struct set_node sets = {in, 0, 1000, 4, N, 1};
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddKernelNode_v2(&launch, graph, NULL, 0, &kernel));
    OK(cuGraphAddMemsetNode(&set, graph, NULL, 0, &sets, NULL));
    OK(cuGraphAddDependencies(graph, &set, &launch, 1));
    OK(cuGraphGetEdges(graph, NULL, NULL, &count));
    TRUE(count == 1);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    /* Arguments are those of the time of the call. */
    k = 77;
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(numbers, out, sizeof numbers));
    TRUE(numbers[0] == 1101 && numbers[N - 1] == 1101);
    k = 2;
    OK(cuGraphExecKernelNodeSetParams_v2(exec, launch, &kernel));
    EXPECT(1, cuGraphExecKernelNodeSetParams_v2(exec, set, &kernel));
    OK(cuGraphDestroy(graph));
    EXPECT(1, cuGraphDestroy(graph));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(numbers, out, sizeof numbers));
    TRUE(numbers[N / 2] == 1102);
    OK(cuGraphExecDestroy(exec));

    OK(cuEventCreate(&fork, 2));
    OK(cuEventCreate(&joined, 2));
    OK(cuMemsetD32_v2(in, 0, N));
    OK(cuCtxSynchronize());
    EXPECT(401, cuStreamEndCapture(stream, &graph));
    OK(cuStreamBeginCapture_v2(stream, 0));
    OK(cuStreamIsCapturing(stream, &status));
    TRUE(status == 1);
    OK(cuMemsetD8Async(in, 1, sizeof numbers / 2, stream));
    OK(cuEventRecord(fork, stream));
    OK(cuStreamWaitEvent(other, fork, 0));
    OK(cuMemsetD8Async(in + sizeof numbers / 2, 2, sizeof numbers / 2, other));
    OK(cuEventRecord(joined, other));
    OK(cuStreamWaitEvent(stream, joined, 0));
    OK(cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, stream, params, NULL));
    EXPECT(903, cuStreamEndCapture(other, &graph));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuStreamIsCapturing(other, &status));
    TRUE(status == 0);
    OK(cuGraphGetNodes(graph, NULL, &count));
    TRUE(count == 3);
    /* Nothing has happened yet. */
    OK(cuMemcpyDtoH_v2(numbers, in, sizeof numbers));
    TRUE(numbers[0] == 0);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(numbers, out, sizeof numbers));
    TRUE(numbers[0] == 0x01010101 + 102 && numbers[N - 1] == 0x02020202 + 102);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));

    /* A stream that doesn't join the first one again is an error. */
    OK(cuStreamBeginCapture_v2(stream, 0));
    OK(cuEventRecord(fork, stream));
    OK(cuStreamWaitEvent(other, fork, 0));
    OK(cuMemsetD8Async(in, 2, 64, other));
    EXPECT(904, cuStreamEndCapture(stream, &graph));
    OK(cuStreamSynchronize(other));

    /* To wait for a stream that joined makes all of the capture invalid. */
    OK(cuStreamBeginCapture_v2(stream, 0));
    OK(cuEventRecord(fork, stream));
    OK(cuStreamWaitEvent(other, fork, 0));
    EXPECT(900, cuStreamSynchronize(other));
    OK(cuStreamIsCapturing(stream, &status));
    TRUE(status == 2);
    EXPECT(901, cuEventRecord(joined, other));
    EXPECT(901, cuStreamEndCapture(stream, &graph));
    TRUE(graph == NULL);
    OK(cuStreamSynchronize(other));

    void *pool, *found;
    uint64_t used, none = 0;
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuMemPoolGetAttribute(pool, 7, &used));
    TRUE(used == 2 * sizeof numbers);
    OK(cuPointerGetAttribute(&found, 17, in));
    TRUE(found == pool);
    OK(cuMemFreeAsync(in, stream));
    OK(cuMemFreeAsync(out, stream));
    OK(cuMemPoolGetAttribute(pool, 7, &used));
    TRUE(used == 0);
    /* Each of the peaks is reset alone. */
    OK(cuMemPoolSetAttribute(pool, 6, &none));
    OK(cuMemPoolGetAttribute(pool, 8, &used));
    TRUE(used == 2 * sizeof numbers);
    OK(cuMemPoolSetAttribute(pool, 8, &none));
    OK(cuMemPoolGetAttribute(pool, 8, &used));
    TRUE(used == 0);
    EXPECT(1, cuMemFreeAsync(out, stream));
    OK(cuEventDestroy_v2(fork));
    OK(cuEventDestroy_v2(joined));
    OK(cuStreamDestroy_v2(stream));
    OK(cuStreamDestroy_v2(other));
}

static void *in_thread(void *context)
{
    Address address;
    EXPECT(201, cuMemAlloc_v2(&address, 64));
    OK(cuCtxSetCurrent(context));
    run(NULL, 2);
    run((Stream)2, 3);
    return NULL;
}

static pthread_key_t last;
static Address words;

/* Called after the thread's own stream is gone: the work is in order with what was in that. */
static void at_end(void *value)
{
    unsigned found;
    OK(cuMemcpyDtoDAsync_v2(words + 4, words, 4, (Stream)2));
    OK(cuStreamSynchronize((Stream)2));
    OK(cuMemcpyDtoH_v2(&found, words + 4, 4));
    TRUE(found == (uintptr_t)value);
}

static void *short_thread(void *context)
{
    static unsigned value;
    OK(cuCtxSetCurrent(context));
    OK(cuMemsetD32Async(words, ++value, 1, (Stream)2));
    TRUE(pthread_setspecific(last, (void *)(uintptr_t)value) == 0);
    return NULL;
}

/* Threads that end leave no memory behind. */
static void many_threads(Context context)
{
    enum { MANY = 500, MOST = 100 };
    size_t before = 0;
    pthread_t thread;
    OK(cuMemAlloc_v2(&words, 8));
    TRUE(pthread_key_create(&last, at_end) == 0);
    for (int i = 0; i < 2 * MANY; ++i) {
        if (i == MANY)
            before = mallinfo2().uordblks;
        pthread_create(&thread, NULL, short_thread, context);
        pthread_join(thread, NULL);
    }
    TRUE(mallinfo2().uordblks < before + MANY * MOST);
    OK(cuMemFree_v2(words));
}

static Address left;

/* Registered before cuInit, so that this runs after the library's own exit handler. */
static void at_exit(void)
{
    if (cuMemFree_v2(left) != 4)
        _exit(3);
}

int main(void)
{
    Context context;
    pthread_t threads[2];
    int status;
    atexit(at_exit);
    EXPECT(3, cuCtxSynchronize());
    OK(cuInit(0));
    EXPECT(1, cuInit(1));
    basics();
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&add, module, "add"));
    run(NULL, 0);
    contexts(context);
    memory();
    modules();
    streams();
    graphs();
    for (int i = 0; i < 2; ++i)
        pthread_create(&threads[i], NULL, in_thread, context);
    for (int i = 0; i < 2; ++i)
        pthread_join(threads[i], NULL);
    many_threads(context);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(cuCtxSynchronize() == 3 ? 0 : 1);
    waitpid(child, &status, 0);
    TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    OK(cuMemAlloc_v2(&left, 64));

    /* A fault in a kernel makes its context unusable. */
    Context made;
    Module failing;
    Function fail;
    OK(cuCtxCreate_v2(&made, 0, 0));
    OK(cuModuleLoadData(&failing, ptx));
    OK(cuModuleGetFunction(&fail, failing, "fail"));
    OK(cuLaunchKernel(fail, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    EXPECT(719, cuCtxSynchronize());
    EXPECT(719, cuCtxSynchronize());
    EXPECT(719, cuModuleLoadData(&failing, ptx));
    OK(cuCtxDestroy_v2(made));
    run(NULL, 4);
    puts("done");
    return 0;
}

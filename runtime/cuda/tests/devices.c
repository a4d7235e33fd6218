/* Several devices: contexts, memory, copies, events and threads. The argument is ignored. The declarations are this program's own. */
#include <pthread.h>

#include "checks.h"

enum { MOST = 8, COUNT = 1 << 16, BYTES = COUNT * 4, PIECES = 40 };

typedef struct library *Library;

/* A kernel as a node of a graph. */
struct node {
    Function function;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
    Function kernel;
    Context context;
};

struct array_2d {
    size_t width, height;
    unsigned format, channels;
};

struct pointer {
    int kind, device;
    void *on_device, *on_host;
};

int cuInit(unsigned flags);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetName(char *name, int length, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetPCIBusId(char *text, int length, int device);
int cuDeviceGetByPCIBusId(int *device, const char *text);
int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuDeviceCanAccessPeer(int *can, int device, int peer);
int cuDeviceGetP2PAttribute(int *value, int attribute, int device, int peer);
int cuDevicePrimaryCtxRetain(Context *context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active);
int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags);
int cuCtxCreate_v2(Context *context, unsigned flags, int device);
int cuCtxDestroy_v2(Context context);
int cuCtxSetCurrent(Context context);
int cuCtxGetCurrent(Context *context);
int cuCtxGetDevice(int *device);
int cuCtxPushCurrent_v2(Context context);
int cuCtxPopCurrent_v2(Context *context);
int cuCtxSynchronize(void);
int cuCtxEnablePeerAccess(Context peer, unsigned flags);
int cuCtxDisablePeerAccess(Context peer);
int cuMemAlloc_v2(Address *address, size_t bytes);
int cuMemFree_v2(Address address);
int cuMemAllocAsync(Address *address, size_t bytes, Stream stream);
int cuMemFreeAsync(Address address, Stream stream);
int cuMemAllocManaged(Address *address, size_t bytes, unsigned flags);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemFreeHost(void *pointer);
int cuMemGetInfo_v2(size_t *free, size_t *total);
int cuMemGetAddressRange_v2(Address *start, size_t *bytes, Address address);
int cuArrayCreate_v2(void **array, const struct array_2d *description);
int cuArrayDestroy(void *array);
int cuMemcpy(Address to, Address from, size_t bytes);
int cuMemcpyAsync(Address to, Address from, size_t bytes, Stream stream);
int cuMemcpyHtoD_v2(Address to, const void *from, size_t bytes);
int cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, Stream stream);
int cuMemcpyDtoH_v2(void *to, Address from, size_t bytes);
int cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, Stream stream);
int cuMemcpyDtoD_v2(Address to, Address from, size_t bytes);
int cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, Stream stream);
int cuMemcpyPeer(Address to, Context to_context, Address from, Context from_context, size_t bytes);
int cuMemcpyPeerAsync(Address to, Context to_context, Address from, Context from_context, size_t bytes, Stream stream);
int cuMemcpy2D_v2(const struct copy_2d *copy);
int cuMemsetD32_v2(Address address, unsigned value, size_t count);
int cuMemsetD32Async(Address address, unsigned value, size_t count, Stream stream);
int cuPointerGetAttribute(void *value, int attribute, Address address);
int cuModuleLoadData(Module *module, const void *image);
int cuModuleGetFunction(Function *function, Module module, const char *name);
int cuModuleGetGlobal_v2(Address *address, size_t *bytes, Module module, const char *name);
int cuLibraryLoadData(Library *library, const void *code, void *, void *, unsigned, void *, void *, unsigned);
int cuLibraryGetKernel(Function *kernel, Library library, const char *name);
int cuLibraryGetGlobal(Address *address, size_t *bytes, Library library, const char *name);
int cuLibraryUnload(Library library);
int cuLaunchKernel(Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, Stream stream, void **params, void **extra);
int cuStreamCreate(Stream *stream, unsigned flags);
int cuStreamDestroy_v2(Stream stream);
int cuStreamSynchronize(Stream stream);
int cuStreamGetDevice(Stream stream, int *device);
int cuStreamBeginCapture_v2(Stream stream, int mode);
int cuStreamEndCapture(Stream stream, Graph *graph);
int cuGraphCreate(Graph *graph, unsigned flags);
int cuGraphAddKernelNode_v2(void **node, Graph graph, void *const *before, size_t count, const struct node *parameters);
int cuGraphInstantiateWithFlags(void **executable, Graph graph, uint64_t flags);
int cuGraphLaunch(void *executable, Stream stream);
int cuGraphExecDestroy(void *executable);
int cuGraphDestroy(Graph graph);
int cuModuleUnload(Module module);
int cuStreamWaitEvent(Stream stream, Event event, unsigned flags);
int cuEventCreate(Event *event, unsigned flags);
int cuEventDestroy_v2(Event event);
int cuEventRecord(Event event, Stream stream);
int cuEventSynchronize(Event event);
int cuEventQuery(Event event);
int cuEventElapsedTime(float *milliseconds, Event start, Event end);
int cudaGetDeviceCount(int *count);
int cudaSetDevice(int device);
int cudaGetDevice(int *device);
int cudaDeviceReset(void);
int cudaMalloc(void **pointer, size_t bytes);
int cudaFree(void *pointer);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaMemset(void *pointer, int value, size_t bytes);
int cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes);
int cudaDeviceCanAccessPeer(int *can, int device, int peer);
int cudaDeviceEnablePeerAccess(int device, unsigned flags);
int cudaPointerGetAttributes(struct pointer *attributes, const void *pointer);

/* out[i] = in[i] * 3 + term + extra, in 32 bits, with extra a variable. */
static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .u32 extra;\n"
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 term)\n{\n"
    "    .reg .b64 %o, %p, %d;\n    .reg .b32 %i, %r, %n, %t;\n"
    "    mov.u32 %i, %ctaid.x;\n    mov.u32 %n, %ntid.x;\n    mov.u32 %r, %tid.x;\n    mad.lo.u32 %i, %i, %n, %r;\n"
    "    ld.param.u64 %o, [out];\n    ld.param.u64 %p, [in];\n    ld.param.u32 %t, [term];\n"
    "    mul.wide.u32 %d, %i, 4;\n    add.u64 %o, %o, %d;\n    add.u64 %p, %p, %d;\n"
    "    ld.global.u32 %r, [%p];\n    mad.lo.u32 %r, %r, 3, %t;\n    ld.global.u32 %n, [extra];\n    add.u32 %r, %r, %n;\n"
    "    st.global.u32 [%o], %r;\n    ret;\n}\n";

/* With 32-bit pointers. */
static const char short_ptx[] = ".version 7.0\n.target sm_70\n.address_size 32\n.visible .global .u32 y = 77;\n"
                                ".visible .entry k(.param .u32 a)\n{\n    ret;\n}\n";

/* What the program has on each device. */
static struct own {
    Context context;
    Module module;
    Function function;
    Stream stream;
    Address in, out, extra;
} own[MOST];

static int count;
static uint32_t numbers[COUNT], seen[COUNT];

static void launch(Function function, Stream stream, Address out, Address in, uint32_t term)
{
    void *params[] = {&out, &in, &term};
    OK(cuLaunchKernel(function, COUNT / 256, 1, 1, 256, 1, 1, 0, stream, params, NULL));
}

static void check(Address address, uint32_t factor, uint32_t term)
{
    memset(seen, 0x5a, sizeof seen);
    OK(cuMemcpyDtoH_v2(seen, address, BYTES));
    for (uint32_t i = 0; i < COUNT; ++i)
        TRUE(seen[i] == i * factor + term);
}

static void identities(void)
{
    char name[256], bus[MOST][32];
    for (int i = 0; i < count; ++i) {
        int device, value, bus_number;
        size_t bytes;
        OK(cuDeviceGet(&device, i));
        TRUE(device == i);
        OK(cuDeviceGetName(name, sizeof name, i));
        OK(cuDeviceTotalMem_v2(&bytes, i));
        TRUE(strlen(name) > 0 && bytes > 0);
        OK(cuDeviceGetPCIBusId(bus[i], sizeof bus[i], i));
        OK(cuDeviceGetByPCIBusId(&device, bus[i]));
        TRUE(device == i);
        for (int j = 0; j < i; ++j)
            TRUE(strcmp(bus[i], bus[j]) != 0);
        OK(cuDeviceGetAttribute(&value, 33, i));
        TRUE(sscanf(bus[i], "%*x:%x:", &bus_number) == 1 && bus_number == value);
    }
    int device;
    EXPECT(101, cuDeviceGet(&device, count));
    EXPECT(101, cuDeviceGet(&device, -1));
    EXPECT(101, cuDeviceGetName(name, sizeof name, count));
    EXPECT(101, cuDeviceGetByPCIBusId(&device, "0000:fe:1f.7"));
    EXPECT(101, cuDeviceCanAccessPeer(&device, 0, count));
    EXPECT(101, cuCtxCreate_v2(&own[0].context, 0, count));
    EXPECT(101, cuDevicePrimaryCtxRetain(&own[0].context, count));
}

static void contexts(void)
{
    for (int i = 0; i < count; ++i) {
        struct own *on = &own[i];
        int device, active;
        unsigned flags;
        size_t bytes;
        OK(cuDevicePrimaryCtxGetState(i, &flags, &active));
        TRUE(!active && flags == 0);
        OK(cuDevicePrimaryCtxSetFlags_v2(i, i % 2 ? 4 : 1));
        OK(cuDevicePrimaryCtxRetain(&on->context, i));
        OK(cuDevicePrimaryCtxGetState(i, &flags, &active));
        TRUE(active && flags == (i % 2 ? 4u : 1u));
        for (int j = 0; j < i; ++j)
            TRUE(own[j].context != on->context);
        OK(cuCtxSetCurrent(on->context));
        OK(cuCtxGetDevice(&device));
        TRUE(device == i);
        OK(cuModuleLoadData(&on->module, ptx));
        OK(cuModuleGetFunction(&on->function, on->module, "k"));
        OK(cuModuleGetGlobal_v2(&on->extra, &bytes, on->module, "extra"));
        OK(cuMemsetD32_v2(on->extra, 1000 * i, 1));
        OK(cuStreamCreate(&on->stream, 1));
        OK(cuStreamGetDevice(on->stream, &device));
        TRUE(device == i);
        OK(cuMemAlloc_v2(&on->in, BYTES));
        OK(cuMemAlloc_v2(&on->out, BYTES));
        OK(cuMemcpyHtoD_v2(on->in, numbers, BYTES));
        launch(on->function, NULL, on->out, on->in, i);
        check(on->out, 3, 1001 * i);
    }
    /* A created context beside, on the last device; the stack of contexts. */
    Context made, popped;
    int device;
    OK(cuCtxSetCurrent(own[0].context));
    OK(cuCtxCreate_v2(&made, 0, count - 1));
    OK(cuCtxGetDevice(&device));
    TRUE(device == count - 1 && made != own[count - 1].context);
    OK(cuCtxPopCurrent_v2(&popped));
    OK(cuCtxGetDevice(&device));
    TRUE(popped == made && device == 0);
    OK(cuCtxDestroy_v2(made));
}

/* All memory has addresses of its own, which tell the device. */
static void addresses(void)
{
    static Address list[MOST][PIECES];
    const size_t sizes[] = {4, 1 << 12, 1 << 20, 3 << 20};
    for (int piece = 0; piece < PIECES; ++piece)
        for (int i = 0; i < count; ++i) {
            OK(cuCtxSetCurrent(own[i].context));
            OK(cuMemAlloc_v2(&list[i][piece], sizes[piece % 4]));
        }
    for (int i = 0; i < count; ++i)
        for (int j = 0; j < count; ++j)
            for (int a = 0; a < PIECES; ++a)
                for (int b = 0; b < PIECES; ++b)
                    if (i != j || a != b) {
                        Address first = list[i][a], second = list[j][b];
                        TRUE(first + sizes[a % 4] <= second || second + sizes[b % 4] <= first);
                    }
    for (int i = 0; i < count; ++i)
        for (int j = 0; j < count; ++j) {
            int ordinal;
            Context context;
            OK(cuCtxSetCurrent(own[j].context));
            OK(cuPointerGetAttribute(&ordinal, 9, own[i].out + 100));
            OK(cuPointerGetAttribute(&context, 1, own[i].out + 100));
            TRUE(ordinal == i && context == own[i].context);
        }
    /* Whatever is current, memory is freed on its device. */
    for (int i = 0; i < count; ++i)
        for (int piece = 0; piece < PIECES; ++piece) {
            OK(cuCtxSetCurrent(own[(i + piece) % count].context));
            OK(cuMemFree_v2(list[i][piece]));
        }
}

static void copies(void)
{
    for (int i = 0; i < count; ++i)
        for (int j = 0; j < count; ++j) {
            const struct own *from = &own[i], *to = &own[j];
            if (i == j)
                continue;
            OK(cuCtxSetCurrent(from->context));
            OK(cuMemsetD32_v2(to->out, 7, COUNT));
            OK(cuMemcpyPeer(to->out, to->context, from->in, from->context, BYTES));
            check(to->out, 1, 0);
            /* The result of a kernel that may still run, in the stream's order, with each context current. */
            for (int k = 0; k < count; ++k) {
                OK(cuCtxSetCurrent(own[k].context));
                OK(cuMemsetD32_v2(to->out, 7, COUNT));
                launch(from->function, from->stream, from->out, from->in, k);
                OK(cuMemcpyPeerAsync(to->out, to->context, from->out, from->context, BYTES, from->stream));
                OK(cuStreamSynchronize(from->stream));
                check(to->out, 3, 1000 * i + k);
            }
            OK(cuCtxSetCurrent(to->context));
            OK(cuMemsetD32_v2(from->out, 9, COUNT));
            OK(cuMemcpyDtoD_v2(to->out, from->out, BYTES));
            check(to->out, 0, 9);
            OK(cuMemcpy(to->out, from->in, BYTES));
            check(to->out, 1, 0);
            OK(cuMemcpyDtoDAsync_v2(to->out, from->out, BYTES, to->stream));
            launch(to->function, to->stream, to->out, to->out, 5);
            OK(cuStreamSynchronize(to->stream));
            check(to->out, 0, 27 + 5 + 1000 * j);
            /* The host's memory, while another device is current. */
            OK(cuMemcpyHtoD_v2(from->out, numbers, BYTES));
            check(from->out, 1, 0);
            OK(cuMemcpyAsync(from->out + 4, (Address)(uintptr_t)numbers, BYTES - 4, to->stream));
            OK(cuMemcpyDtoHAsync_v2(seen, from->out, BYTES, to->stream));
            OK(cuStreamSynchronize(to->stream));
            TRUE(seen[0] == 0 && seen[1] == 0 && seen[COUNT - 1] == COUNT - 2);
            OK(cuMemsetD32Async(from->out, 3, COUNT, to->stream));
            OK(cuStreamSynchronize(to->stream));
            check(from->out, 0, 3);
            /* Columns 2 to 33 of rows of 64 numbers. */
            struct copy_2d rows = {.from.kind = 2, .from.device = from->in, .from.pitch = 256, .from.x = 8, .to.kind = 2, .to.device = to->out,
                                   .to.pitch = 128, .width = 128, .height = COUNT / 64};
            OK(cuMemcpy2D_v2(&rows));
            OK(cuMemcpyDtoH_v2(seen, to->out, BYTES / 2));
            for (uint32_t k = 0; k < COUNT / 2; ++k)
                TRUE(seen[k] == k / 32 * 64 + k % 32 + 2);
            /* Ranges that end after the memory. */
            EXPECT(1, cuMemcpyPeer(to->out + 4, to->context, from->in, from->context, BYTES));
            EXPECT(1, cuMemcpyDtoD_v2(to->out, from->in + 4, BYTES));
            /* Variables. */
            uint32_t value = 0;
            OK(cuMemcpyDtoH_v2(&value, to->extra, 4));
            TRUE(value == 1000u * j);
        }
}

static void host_memory(void)
{
    uint32_t *pinned;
    Address managed;
    OK(cuCtxSetCurrent(own[0].context));
    OK(cuMemHostAlloc((void **)&pinned, BYTES, 1));
    int has_managed = cuMemAllocManaged(&managed, BYTES, 1) == 0;
    for (int i = 0; i < count; ++i) {
        const struct own *on = &own[i];
        OK(cuCtxSetCurrent(on->context));
        memset(pinned, 0, BYTES);
        launch(on->function, on->stream, on->out, on->in, 3);
        OK(cuMemcpyDtoHAsync_v2(pinned, on->out, BYTES, on->stream));
        OK(cuMemsetD32Async(on->out, 1, COUNT, on->stream));
        OK(cuMemcpyHtoDAsync_v2(on->out, pinned, BYTES, on->stream));
        OK(cuStreamSynchronize(on->stream));
        for (uint32_t k = 0; k < COUNT; ++k)
            TRUE(pinned[k] == 3 * k + 3 + 1000 * i);
        check(on->out, 3, 3 + 1000 * i);
        if (has_managed) {
            memcpy((void *)(uintptr_t)managed, numbers, BYTES);
            OK(cuMemcpyDtoD_v2(on->out, managed, BYTES));
            check(on->out, 1, 0);
            OK(cuMemsetD32_v2(managed, i, COUNT));
            TRUE(((uint32_t *)(uintptr_t)managed)[COUNT - 1] == (uint32_t)i);
        }
    }
    OK(cuMemFreeHost(pinned));
    if (has_managed)
        OK(cuMemFree_v2(managed));
}

static void peers(void)
{
    for (int i = 0; i < count; ++i)
        for (int j = 0; j < count; ++j) {
            int can, value;
            OK(cuDeviceCanAccessPeer(&can, i, j));
            if (i == j) {
                TRUE(!can);
                EXPECT(101, cuDeviceGetP2PAttribute(&value, 2, i, j));
                continue;
            }
            OK(cuDeviceGetP2PAttribute(&value, 2, i, j));
            TRUE(value == can);
            OK(cuCtxSetCurrent(own[i].context));
            EXPECT(705, cuCtxDisablePeerAccess(own[j].context));
            if (!can) {
                EXPECT(217, cuCtxEnablePeerAccess(own[j].context, 0));
                continue;
            }
            EXPECT(1, cuCtxEnablePeerAccess(own[j].context, 1));
            OK(cuCtxEnablePeerAccess(own[j].context, 0));
            EXPECT(704, cuCtxEnablePeerAccess(own[j].context, 0));
            /* A kernel follows the address. */
            launch(own[i].function, own[i].stream, own[i].out, own[j].in, 8);
            OK(cuStreamSynchronize(own[i].stream));
            check(own[i].out, 3, 8 + 1000 * i);
            launch(own[i].function, own[i].stream, own[j].out, own[i].in, 9);
            OK(cuStreamSynchronize(own[i].stream));
            check(own[j].out, 3, 9 + 1000 * i);
            OK(cuCtxDisablePeerAccess(own[j].context));
        }
}

/* A ring of kernels, each on the result of the device before. */
static void events(void)
{
    Event done[MOST], foreign;
    for (int i = 0; i < count; ++i) {
        OK(cuCtxSetCurrent(own[i].context));
        OK(cuEventCreate(&done[i], 0));
        OK(cuMemcpyHtoD_v2(own[i].out, numbers, BYTES));
    }
    uint32_t factor = 1, term = 0;
    Address from = own[0].in;
    for (int round = 0; round < 3; ++round)
        for (int i = 0; i < count; ++i) {
            const struct own *on = &own[i];
            if (from != own[0].in) {
                int before = (i + count - 1) % count;
                OK(cuStreamWaitEvent(on->stream, done[before], 0));
                OK(cuMemcpyAsync(on->out, from, BYTES, on->stream));
            }
            launch(on->function, on->stream, on->out, on->out, round);
            OK(cuEventRecord(done[i], on->stream));
            factor *= 3;
            term = term * 3 + round + 1000 * i;
            from = on->out;
        }
    OK(cuEventSynchronize(done[count - 1]));
    OK(cuEventQuery(done[0]));
    check(from, factor, term);
    /* Events, streams and kernels of different devices. */
    float time;
    OK(cuEventCreate(&foreign, 0));
    EXPECT(400, cuEventRecord(foreign, own[0].stream));
    OK(cuEventRecord(foreign, own[count - 1].stream));
    OK(cuEventSynchronize(foreign));
    EXPECT(400, cuEventElapsedTime(&time, done[0], foreign));
    void *params[] = {&own[0].out, &own[0].in, &factor};
    EXPECT(400, cuLaunchKernel(own[0].function, 1, 1, 1, 1, 1, 1, 0, own[1].stream, params, NULL));
    for (int i = 0; i < count; ++i)
        OK(cuEventDestroy_v2(done[i]));
    OK(cuEventDestroy_v2(foreign));
}

/* A library's kernels are of every device. */
static void libraries(void)
{
    Library library;
    Function kernel;
    OK(cuCtxSetCurrent(own[0].context));
    OK(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "k"));
    for (int i = count - 1; i >= 0; --i) {
        Address extra;
        size_t bytes;
        int ordinal;
        OK(cuCtxSetCurrent(own[i].context));
        OK(cuLibraryGetGlobal(&extra, &bytes, library, "extra"));
        OK(cuPointerGetAttribute(&ordinal, 9, extra));
        TRUE(bytes == 4 && ordinal == i);
        OK(cuMemsetD32_v2(extra, 50 + i, 1));
        launch(kernel, own[i].stream, own[i].out, own[i].in, 2);
        OK(cuStreamSynchronize(own[i].stream));
        check(own[i].out, 3, 52 + i);
        /* Captured, and as a node. */
        for (int is_node = 0; is_node < 2; ++is_node) {
            Graph graph;
            void *executable, *node;
            uint32_t term = 6 + is_node;
            void *params[] = {&own[i].out, &own[i].in, &term};
            struct node parameters = {NULL, {COUNT / 256, 1, 1}, {256, 1, 1}, 0, params, NULL, kernel, NULL};
            if (is_node) {
                OK(cuGraphCreate(&graph, 0));
                OK(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &parameters));
            } else {
                OK(cuStreamBeginCapture_v2(own[i].stream, 0));
                launch(kernel, own[i].stream, own[i].out, own[i].in, term);
                OK(cuStreamEndCapture(own[i].stream, &graph));
            }
            OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
            OK(cuGraphLaunch(executable, own[i].stream));
            OK(cuStreamSynchronize(own[i].stream));
            check(own[i].out, 3, 50 + i + term);
            OK(cuGraphExecDestroy(executable));
            OK(cuGraphDestroy(graph));
        }
    }
    OK(cuLibraryUnload(library));
}

/* Variables are found by their addresses alone, whatever memory other devices have at the same ones. */
static void variables(void)
{
    const struct array_2d description = {16, 16, 3, 1};
    for (int i = 0; i < count; ++i) {
        OK(cuCtxSetCurrent(own[i].context));
        OK(cuMemsetD32_v2(own[i].extra, 2000 * i, 1));
    }
    for (int j = 0; j < count; ++j) {
        void *arrays[8];
        OK(cuCtxSetCurrent(own[j].context));
        for (int k = 0; k < 8; ++k)
            OK(cuArrayCreate_v2(&arrays[k], &description));
        for (int i = 0; i < count; ++i) {
            int ordinal;
            Context context;
            Address start;
            size_t bytes;
            uint32_t value = 1;
            OK(cuPointerGetAttribute(&ordinal, 9, own[i].extra));
            OK(cuPointerGetAttribute(&context, 1, own[i].extra));
            TRUE(ordinal == i && context == own[i].context);
            OK(cuMemGetAddressRange_v2(&start, &bytes, own[i].extra));
            TRUE(start <= own[i].extra && own[i].extra + 4 <= start + bytes);
            /* After the variable's kernel, which may still run. */
            OK(cuCtxSetCurrent(own[i].context));
            launch(own[i].function, own[i].stream, own[i].out, own[i].in, 1);
            OK(cuCtxSetCurrent(own[j].context));
            OK(cuMemcpyDtoH_v2(&value, own[i].extra, 4));
            TRUE(value == 2000u * i + j);
            value++;
            OK(cuMemcpyHtoD_v2(own[i].extra, &value, 4));
        }
        for (int k = 0; k < 8; ++k)
            OK(cuArrayDestroy(arrays[k]));
    }
    for (int i = 0; i < count; ++i) {
        uint32_t value;
        OK(cuCtxSetCurrent(own[i].context));
        OK(cuMemcpyDtoH_v2(&value, own[i].extra, 4));
        TRUE(value == 2000u * i + count);
        OK(cuMemsetD32_v2(own[i].extra, 1000 * i, 1));
    }
}

/* A device may have more memory than another one tries addresses at a time, and managed memory. */
static void many(void)
{
    enum { MANY = 400, SHARED = 12 };
    static Address list[MANY];
    static Address managed[MOST][SHARED];
    OK(cuCtxSetCurrent(own[0].context));
    for (int k = 0; k < MANY; ++k)
        OK(cuMemAlloc_v2(&list[k], 64));
    int has_managed = cuMemAllocManaged(&managed[0][0], 4096, 1) == 0;
    if (has_managed)
        OK(cuMemFree_v2(managed[0][0]));
    for (int i = 0; i < count; ++i) {
        Address address;
        Module module;
        OK(cuCtxSetCurrent(own[i].context));
        OK(cuMemAlloc_v2(&address, 64));
        OK(cuMemFree_v2(address));
        OK(cuModuleLoadData(&module, ptx));
        OK(cuModuleUnload(module));
        for (int k = 0; k < SHARED && cuMemAllocManaged(&managed[i][k], 4096, 1) == 0; ++k) {
            *(uint32_t *)(uintptr_t)managed[i][k] = 100 * i + k;
            TRUE(has_managed || i > 0);
        }
    }
    for (int i = 0; i < count; ++i)
        for (int k = 0; k < SHARED && managed[i][k] != 0; ++k) {
            TRUE(*(uint32_t *)(uintptr_t)managed[i][k] == 100u * i + k);
            OK(cuMemFree_v2(managed[i][k]));
        }
    for (int k = 0; k < MANY; ++k)
        OK(cuMemFree_v2(list[k]));
}

/* Modules with 32-bit pointers: in contexts of their own, which have no memory beyond the reach of these. */
static void short_pointers(void)
{
    Context contexts[MOST];
    for (int i = 0; i < count; ++i) {
        Module module;
        Address variable, address;
        size_t bytes;
        int ordinal;
        OK(cuCtxCreate_v2(&contexts[i], 0, i));
        OK(cuModuleLoadData(&module, short_ptx));
        OK(cuModuleGetGlobal_v2(&variable, &bytes, module, "y"));
        OK(cuMemAlloc_v2(&address, 64));
        OK(cuPointerGetAttribute(&ordinal, 9, variable));
        TRUE(ordinal == i);
        OK(cuPointerGetAttribute(&ordinal, 9, address));
        TRUE(ordinal == i);
    }
    for (int i = count - 1; i >= 0; --i)
        OK(cuCtxDestroy_v2(contexts[i]));
}

/* Memory in the order of streams, of which the last free is in a stream of another device. */
static void pools(void)
{
    for (int i = 0; i < count; ++i) {
        Address memory;
        int ordinal;
        OK(cuCtxSetCurrent(own[(i + 1) % count].context));
        OK(cuMemAllocAsync(&memory, BYTES, own[i].stream));
        OK(cuPointerGetAttribute(&ordinal, 9, memory));
        TRUE(ordinal == i);
        launch(own[i].function, own[i].stream, memory, own[i].in, 4);
        OK(cuStreamSynchronize(own[i].stream));
        check(memory, 3, 4 + 1000 * i);
        OK(cuMemFreeAsync(memory, own[(i + 1) % count].stream));
    }
}

static void *work(void *argument)
{
    const struct own *on = argument;
    const uint32_t number = on - own;
    uint32_t *found = malloc(BYTES);
    OK(cuCtxSetCurrent(on->context));
    for (uint32_t round = 0; round < 20; ++round) {
        launch(on->function, on->stream, on->out, on->in, round);
        OK(cuMemcpyDtoHAsync_v2(found, on->out, BYTES, on->stream));
        OK(cuStreamSynchronize(on->stream));
        for (uint32_t i = 0; i < COUNT; ++i)
            TRUE(found[i] == 3 * i + round + 1000 * number);
    }
    free(found);
    return NULL;
}

/* A thread for each device. */
static void threads(void)
{
    pthread_t list[MOST];
    for (int i = 0; i < count; ++i)
        TRUE(pthread_create(&list[i], NULL, work, &own[i]) == 0);
    for (int i = 0; i < count; ++i)
        TRUE(pthread_join(list[i], NULL) == 0);
}

static void *thread_of_runtime(void *argument)
{
    int device = -1;
    (void)argument;
    OK(cudaGetDevice(&device));
    TRUE(device == 0);
    return NULL;
}

static void runtime_library(void)
{
    void *memory[MOST], *moved;
    int number, device;
    OK(cuCtxSetCurrent(NULL));
    OK(cudaGetDeviceCount(&number));
    TRUE(number == count);
    for (int i = 0; i < count; ++i) {
        struct pointer known;
        OK(cudaSetDevice(i));
        OK(cudaGetDevice(&device));
        TRUE(device == i);
        OK(cudaMalloc(&memory[i], BYTES));
        OK(cudaMemset(memory[i], i + 1, BYTES));
        OK(cudaSetDevice(0));
        OK(cudaPointerGetAttributes(&known, memory[i]));
        TRUE(known.kind == 2 && known.device == i && known.on_device == memory[i]);
    }
    EXPECT(101, cudaSetDevice(count));
    OK(cudaGetDevice(&device));
    TRUE(device == 0);
    /* The default kind, and devices by number. */
    for (int i = 1; i < count; ++i) {
        OK(cudaMemcpy(memory[0], memory[i], BYTES, 4));
        OK(cudaMemcpy(seen, memory[0], BYTES, 4));
        TRUE(seen[COUNT - 1] == 0x01010101u * (i + 1));
        OK(cudaMemcpy(memory[i], numbers, BYTES, 1));
        OK(cudaMemcpyPeer(memory[0], 0, memory[i], i, BYTES));
        OK(cudaMemcpy(seen, memory[0], BYTES, 2));
        TRUE(memcmp(seen, numbers, BYTES) == 0);
        OK(cudaDeviceCanAccessPeer(&number, 0, i));
        if (!number)
            EXPECT(217, cudaDeviceEnablePeerAccess(i, 0));
    }
    EXPECT(101, cudaDeviceEnablePeerAccess(0, 0));
    EXPECT(101, cudaDeviceEnablePeerAccess(count, 0));
    pthread_t thread;
    OK(cudaSetDevice(1));
    TRUE(pthread_create(&thread, NULL, thread_of_runtime, NULL) == 0);
    TRUE(pthread_join(thread, NULL) == 0);
    /* A reset is of the current device alone. */
    OK(cudaDeviceReset());
    OK(cudaGetDevice(&device));
    TRUE(device == 1);
    EXPECT(1, cudaFree(memory[1]));
    OK(cudaMalloc(&moved, BYTES));
    OK(cudaMemcpy(moved, memory[0], BYTES, 3));
    OK(cudaMemcpy(seen, moved, BYTES, 2));
    TRUE(memcmp(seen, numbers, BYTES) == 0);
    OK(cudaFree(moved));
    for (int i = 0; i < count; ++i)
        if (i != 1)
            OK(cudaFree(memory[i]));
}

int main(void)
{
    for (uint32_t i = 0; i < COUNT; ++i)
        numbers[i] = i;
    OK(cuInit(0));
    OK(cuDeviceGetCount(&count));
    TRUE(2 <= count && count <= MOST);
    identities();
    contexts();
    addresses();
    copies();
    host_memory();
    peers();
    events();
    libraries();
    variables();
    many();
    short_pointers();
    pools();
    threads();
    runtime_library();
    printf("done\n");
    return 0;
}

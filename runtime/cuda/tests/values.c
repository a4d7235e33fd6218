/* Values written in stream order, attributes of streams, batches of copies, shared handles, ranges of managed memory, and the
   functions with 32-bit sizes. The declarations are this program's own. */
#include "checks.h"

struct operation {
    int kind;
    /* The flags of barriers. */
    unsigned first;
    Address address;
    uint64_t value;
    unsigned flags;
    Address alias;
    uint64_t gap;
};

struct side {
    size_t x, y, z, level;
    int kind;
    const void *host;
    Address device;
    void *array;
    Context context;
    size_t pitch, height;
};

struct copy {
    struct side from, to;
    size_t width, height, depth;
};

struct copy_attributes {
    int order, from[2], to[2];
    unsigned flags;
};

struct shared {
    char bytes[64];
};

struct launch_attribute {
    int number, gap;
    union {
        char size[64];
        unsigned numbers[16];
        struct {
            Event event;
            int flags, trigger;
        } event;
    };
};

struct launch {
    unsigned grid[3], block[3], shared;
    Stream stream;
    struct launch_attribute *attributes;
    unsigned count;
};

/* CUDA_MEMCPY2D_v1. */
struct short_copy {
    unsigned from_x, from_y;
    int from_kind;
    const void *from_host;
    unsigned from_device;
    void *from_array;
    unsigned from_pitch, to_x, to_y;
    int to_kind;
    void *to_host;
    unsigned to_device;
    void *to_array;
    unsigned to_pitch, width, height;
};

int cuInit(unsigned flags);
int cuCtxDestroy_v2(Context context);
int cuCtxCreate(Context *context, unsigned flags, int device);
int cuCtxCreate_v2(Context *context, unsigned flags, int device);
int cuCtxSetCurrent(Context context);
int cuCtxGetDevice_v2(int *device, Context context);
int cuCtxSynchronize_v2(Context context);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetDefaultMemPool(void **pool, int device);
int cuMemPoolGetAccess(unsigned *flags, void *pool, const int *location);
int cuDeviceTotalMem(unsigned *bytes, int device);
int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuMemGetInfo(unsigned *free, unsigned *total);
int cuMemAlloc(unsigned *address, unsigned bytes);
int cuMemFree(unsigned address);
int cuMemsetD32(unsigned address, unsigned value, unsigned count);
int cuMemcpyHtoD(unsigned to, const void *from, unsigned bytes);
int cuMemcpyDtoH(void *to, unsigned from, unsigned bytes);
int cuMemcpy2D(const struct short_copy *copy);
int cuMemAllocHost(void **pointer, unsigned bytes);
int cuArrayCreate(void **array, const unsigned *description);
int cuArrayGetDescriptor(unsigned *description, void *array);
int cuMemcpyHtoA(void *to, unsigned offset, const void *from, unsigned bytes);
int cuMemcpyAtoH(void *to, void *from, unsigned offset, unsigned bytes);
int cuArrayDestroy(void *array);
int cuMemAlloc_v2(Address *address, size_t bytes);
int cuMemFree_v2(Address address);
int cuMemFreeHost(void *pointer);
int cuMemAllocManaged(Address *address, size_t bytes, unsigned flags);
int cuMemAdvise(Address address, size_t bytes, int advice, int device);
int cuMemPrefetchAsync(Address address, size_t bytes, int device, Stream stream);
int cuMemRangeGetAttribute(void *data, size_t data_bytes, int attribute, Address address, size_t bytes);
int cuMemRangeGetAttributes(void **data, size_t *data_bytes, int *attributes, size_t count, Address address, size_t bytes);
int cuMemcpyDtoH_v2(void *to, Address from, size_t bytes);
int cuMemsetD8_v2(Address address, unsigned char value, size_t count);
int cuMemcpy3DPeer(const struct copy *copy);
int cuMemcpyBatchAsync(Address *to, Address *from, size_t *bytes, size_t count, struct copy_attributes *attributes,
                       size_t *firsts, size_t attribute_count, size_t *failed, Stream stream);
int cuModuleLoadData(Module *module, const void *image);
int cuModuleGetFunction(Function *function, Module module, const char *name);
int cuLibraryLoadData(void **library, const void *image, int *options, void **values, unsigned count, int *library_options,
                      void **library_values, unsigned library_count);
int cuLibraryGetManaged(Address *address, size_t *bytes, void *library, const char *name);
int cuLaunchKernelEx(const struct launch *launch, Function function, void **params, void **extra);
int cuOccupancyMaxPotentialClusterSize(int *size, Function function, const struct launch *launch);
int cuOccupancyMaxActiveClusters(int *count, Function function, const struct launch *launch);
int cuStreamCreate(Stream *stream, unsigned flags);
int cuStreamSynchronize(Stream stream);
int cuStreamGetAttribute(Stream stream, int number, void *value);
int cuStreamSetAttribute(Stream stream, int number, const void *value);
int cuStreamCopyAttributes(Stream to, Stream from);
int cuStreamWriteValue32_v2(Stream stream, Address address, uint32_t value, unsigned flags);
int cuStreamWriteValue64_v2(Stream stream, Address address, uint64_t value, unsigned flags);
int cuStreamWaitValue32_v2(Stream stream, Address address, uint32_t value, unsigned flags);
int cuStreamWaitValue64_v2(Stream stream, Address address, uint64_t value, unsigned flags);
int cuStreamBatchMemOp_v2(Stream stream, unsigned count, struct operation *operations, unsigned flags);
int cuEventCreate(Event *event, unsigned flags);
int cuEventRecord(Event event, Stream stream);
int cuEventQuery(Event event);
int cuEventSynchronize(Event event);
int cuEventDestroy_v2(Event event);
int cuIpcGetMemHandle(struct shared *handle, Address address);
int cuIpcOpenMemHandle_v2(Address *address, struct shared handle, unsigned flags);
int cuIpcCloseMemHandle(Address address);
int cuIpcGetEventHandle(struct shared *handle, Event event);
int cuIpcOpenEventHandle(Event *event, struct shared handle);

static const char ptx[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry put(.param .u64 word, .param .u32 value)\n{\n"
    "    .reg .b32 %r;\n    .reg .b64 %d;\n"
    "    ld.param.u64 %d, [word];\n    ld.param.u32 %r, [value];\n    st.global.u32 [%d], %r;\n    ret;\n}\n";

static const char managed_ptx[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".visible .global .attribute(.managed) .align 4 .u32 counter[3] = {1, 2, 3};\n";

static Stream stream, other;
static Function put;

static void values(void)
{
    Address words;
    uint64_t seen[4];
    OK(cuMemAlloc_v2(&words, sizeof seen));
    OK(cuMemsetD8_v2(words, 0xff, sizeof seen));
    /* The streams don't wait for the default stream. */
    OK(cuStreamSynchronize(NULL));
    OK(cuStreamWriteValue32_v2(stream, words + 4, 0x12345678, 0));
    OK(cuStreamWriteValue64_v2(stream, words + 8, 0x1122334455667788, 1));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(seen, words, sizeof seen));
    TRUE(seen[0] == 0x12345678ffffffff && seen[1] == 0x1122334455667788 && seen[2] == ~0ull);
    EXPECT(1, cuStreamWriteValue32_v2(stream, words + 2, 0, 0));
    EXPECT(1, cuStreamWriteValue64_v2(stream, words + 4, 0, 0));
    EXPECT(1, cuStreamWriteValue32_v2(stream, words, 0, 2));
    EXPECT(1, cuStreamWriteValue32_v2(stream, 0, 0, 0));
    EXPECT(1, cuStreamWriteValue32_v2(stream, words + sizeof seen, 0, 0));
    /* Waits for the work of another stream. */
    unsigned value = 5;
    void *params[] = {&words, &value};
    struct launch launch = {{1, 1, 1}, {1, 1, 1}, 0, other, NULL, 0};
    OK(cuLaunchKernelEx(&launch, put, params, NULL));
    OK(cuStreamWaitValue32_v2(stream, words, 5, 1));
    OK(cuStreamWaitValue32_v2(stream, words, 3, 0));
    OK(cuStreamWaitValue64_v2(stream, words + 8, 8, 2));
    OK(cuStreamWaitValue64_v2(stream, words + 8, 0, 3));
    /* No earlier work writes this value. */
    EXPECT(801, cuStreamWaitValue32_v2(stream, words, 6, 1));
    EXPECT(1, cuStreamWaitValue32_v2(stream, words, 5, 4));
    struct operation batch[] = {{2, 0, words, 9, 0, 0, 0}, {1, 0, words, 9, 1, 0, 0}, {6, 1, 0, 0, 0, 0, 0}, {5, 0, words + 16, 77, 0, 0, 0}};
    OK(cuStreamBatchMemOp_v2(stream, 4, batch, 0));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(seen, words, sizeof seen));
    TRUE((uint32_t)seen[0] == 9 && seen[2] == 77 && seen[3] == ~0ull);
    batch[2].kind = 7;
    EXPECT(1, cuStreamBatchMemOp_v2(stream, 4, batch, 0));
    EXPECT(1, cuStreamBatchMemOp_v2(stream, 257, batch, 0));
    OK(cuMemFree_v2(words));
}

static void attributes(void)
{
    unsigned value[16] = {4}, seen[16];
    Event event;
    Address word;
    OK(cuStreamGetAttribute(stream, 3, seen));
    TRUE(seen[0] == 1);
    OK(cuStreamSetAttribute(stream, 3, value));
    OK(cuStreamGetAttribute(stream, 3, seen));
    TRUE(seen[0] == 4);
    OK(cuStreamGetAttribute(NULL, 3, seen));
    TRUE(seen[0] == 1);
    OK(cuStreamCopyAttributes(NULL, stream));
    OK(cuStreamGetAttribute(NULL, 3, seen));
    TRUE(seen[0] == 4);
    OK(cuStreamGetAttribute(stream, 8, seen));
    TRUE(seen[0] == 0);
    EXPECT(1, cuStreamGetAttribute(stream, 4, seen));
    EXPECT(1, cuStreamSetAttribute(stream, 2, value));

    /* An event of the launch's own. */
    OK(cuEventCreate(&event, 2));
    OK(cuMemAlloc_v2(&word, 4));
    value[0] = 3;
    void *params[] = {&word, value};
    struct launch_attribute attribute = {.number = 7, .event = {event, 0, 0}};
    struct launch launch = {{1, 1, 1}, {1, 1, 1}, 0, stream, &attribute, 1};
    OK(cuLaunchKernelEx(&launch, put, params, NULL));
    OK(cuEventSynchronize(event));
    OK(cuEventQuery(event));
    OK(cuMemcpyDtoH_v2(seen, word, 4));
    TRUE(seen[0] == 3);
    attribute.event.event = NULL;
    EXPECT(400, cuLaunchKernelEx(&launch, put, params, NULL));
    attribute.number = 13;
    EXPECT(801, cuLaunchKernelEx(&launch, put, params, NULL));
    launch.count = 0;
    int size, major;
    OK(cuDeviceGetAttribute(&major, 75, 0));
    OK(cuOccupancyMaxPotentialClusterSize(&size, put, &launch));
    TRUE(size == (major >= 9 ? 8 : 1));
    OK(cuOccupancyMaxActiveClusters(&size, put, &launch));
    TRUE(major >= 9 ? size > 0 : size == 0);
    OK(cuMemFree_v2(word));
}

static void copies(Context context)
{
    Address memory;
    unsigned char own[64], seen[64];
    size_t failed = 0;
    for (int i = 0; i < 64; ++i)
        own[i] = i;
    OK(cuMemAlloc_v2(&memory, 64));
    /* Backwards through the device's memory. */
    Address to[] = {memory, memory + 32, (Address)seen, (Address)seen + 32};
    Address from[] = {(Address)own + 32, (Address)own, memory, memory + 32};
    size_t bytes[] = {32, 32, 32, 32}, firsts[] = {0, 2};
    struct copy_attributes kinds[] = {{2, {0}, {0}, 0}, {1, {0}, {0}, 0}};
    OK(cuMemcpyBatchAsync(to, from, bytes, 4, kinds, firsts, 2, &failed, stream));
    OK(cuStreamSynchronize(stream));
    for (int i = 0; i < 64; ++i)
        TRUE(seen[i] == (i + 32) % 64);
    firsts[1] = 4;
    EXPECT(1, cuMemcpyBatchAsync(to, from, bytes, 4, kinds, firsts, 2, &failed, stream));
    TRUE(failed == SIZE_MAX);
    firsts[1] = 2;
    EXPECT(1, cuMemcpyBatchAsync(to, from, bytes, 4, kinds, firsts, 2, &failed, NULL));

    Context second;
    Address its;
    OK(cuCtxCreate_v2(&second, 0, 0));
    OK(cuMemAlloc_v2(&its, 64));
    struct copy copy = {{.kind = 2, .device = memory, .context = context, .pitch = 8},
                        {.kind = 2, .device = its, .context = second, .pitch = 16}, 8, 4, 1};
    OK(cuMemsetD8_v2(its, 0, 64));
    OK(cuMemcpy3DPeer(&copy));
    OK(cuMemcpyDtoH_v2(seen, its, 64));
    TRUE(seen[0] == 32 && seen[7] == 39 && seen[8] == 0 && seen[16] == 40 && seen[55] == 63);
    copy.to.context = NULL;
    EXPECT(201, cuMemcpy3DPeer(&copy));
    OK(cuCtxSetCurrent(context));
    OK(cuCtxSynchronize_v2(second));
    int device = 9;
    OK(cuCtxGetDevice_v2(&device, second));
    TRUE(device == 0);
    OK(cuMemFree_v2(memory));
}

static void shared_handles(void)
{
    Address memory, opened;
    Event event, same, private;
    struct shared handle;
    OK(cuMemAlloc_v2(&memory, 512));
    OK(cuIpcGetMemHandle(&handle, memory + 100));
    OK(cuIpcOpenMemHandle_v2(&opened, handle, 1));
    TRUE(opened == memory);
    EXPECT(1, cuIpcOpenMemHandle_v2(&opened, handle, 0));
    OK(cuIpcCloseMemHandle(opened));
    EXPECT(1, cuIpcCloseMemHandle(opened));
    OK(cuMemFree_v2(memory));
    EXPECT(400, cuIpcOpenMemHandle_v2(&opened, handle, 1));
    EXPECT(400, cuIpcOpenEventHandle(&same, handle));
    EXPECT(1, cuIpcGetMemHandle(&handle, memory));
    OK(cuEventCreate(&private, 2));
    EXPECT(1, cuIpcGetEventHandle(&handle, private));
    OK(cuEventCreate(&event, 6));
    OK(cuIpcGetEventHandle(&handle, event));
    OK(cuIpcOpenEventHandle(&same, handle));
    TRUE(same != event);
    OK(cuEventRecord(event, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuEventQuery(same));
    OK(cuEventDestroy_v2(event));
    OK(cuEventQuery(same));
    OK(cuEventDestroy_v2(same));
    memset(&handle, 0x5a, sizeof handle);
    EXPECT(400, cuIpcOpenMemHandle_v2(&opened, handle, 1));
}

static void managed(void)
{
    Address memory;
    size_t bytes;
    void *library;
    int has_managed, value, devices[3];
    OK(cuDeviceGetAttribute(&has_managed, 83, 0));
    if (!has_managed)
        return;
    OK(cuMemAllocManaged(&memory, 4096, 1));
    OK(cuMemRangeGetAttribute(&value, 4, 1, memory, 4096));
    TRUE(value == 0);
    OK(cuMemAdvise(memory, 2048, 1, 0));
    OK(cuMemRangeGetAttribute(&value, 4, 1, memory, 2048));
    TRUE(value == 1);
    OK(cuMemRangeGetAttribute(&value, 4, 1, memory + 1024, 2048));
    TRUE(value == 0);
    OK(cuMemAdvise(memory, 2048, 2, 0));
    OK(cuMemAdvise(memory, 4096, 3, -1));
    OK(cuMemAdvise(memory, 4096, 5, 0));
    OK(cuMemPrefetchAsync(memory, 4096, 0, stream));
    int preferred, type, prefetched, attributes[] = {2, 5, 4, 3, 1};
    void *places[] = {&preferred, &type, &prefetched, devices, &value};
    size_t sizes[] = {4, 4, 4, sizeof devices, 4};
    OK(cuMemRangeGetAttributes(places, sizes, attributes, 5, memory, 4096));
    TRUE(preferred == -1 && type == 2 && prefetched == 0 && value == 0);
    TRUE(devices[0] == 0 && devices[1] == -2 && devices[2] == -2);
    OK(cuMemAdvise(memory + 64, 64, 4, 0));
    OK(cuMemRangeGetAttribute(&value, 4, 2, memory, 4096));
    TRUE(value == -2);
    EXPECT(1, cuMemRangeGetAttribute(&value, 3, 1, memory, 4096));
    EXPECT(1, cuMemRangeGetAttribute(&value, 4, 1, memory, 4097));
    EXPECT(1, cuMemRangeGetAttribute(&value, 4, 9, memory, 4096));
    OK(cuMemFree_v2(memory));
    /* What was advised doesn't outlive the memory. */
    OK(cuMemAllocManaged(&memory, 4096, 1));
    OK(cuMemRangeGetAttribute(&value, 4, 2, memory, 4096));
    TRUE(value == -2);
    OK(cuMemFree_v2(memory));

    OK(cuLibraryLoadData(&library, managed_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetManaged(&memory, &bytes, library, "counter"));
    TRUE(bytes == 12 && ((uint32_t *)memory)[2] == 3);
    EXPECT(500, cuLibraryGetManaged(&memory, &bytes, library, "nothing"));
    OK(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    EXPECT(500, cuLibraryGetManaged(&memory, &bytes, library, "counter"));
}

static void short_sizes(void)
{
    unsigned bytes, free, total, address, words[4] = {1, 2, 3, 4}, seen[4] = {0};
    unsigned description[] = {16, 0, 0x20, 1}, found[4];
    size_t all;
    void *pinned, *array;
    Context old;
    /* These functions are for contexts of their own kind. */
    EXPECT(201, cuMemGetInfo(&free, &total));
    OK(cuCtxCreate(&old, 0, 0));
    OK(cuDeviceTotalMem_v2(&all, 0));
    OK(cuDeviceTotalMem(&bytes, 0));
    TRUE(bytes == (all > UINT32_MAX ? UINT32_MAX : all));
    OK(cuMemGetInfo(&free, &total));
    TRUE(total == bytes && free <= total);
    OK(cuMemAllocHost(&pinned, 64));
    memset(pinned, 1, 64);
    OK(cuMemFreeHost(pinned));
    /* An address of more than 32 bits can't be returned. */
    int result = cuMemAlloc(&address, sizeof words);
    if (result == 0) {
        OK(cuMemcpyHtoD(address, words, sizeof words));
        OK(cuMemsetD32(address + 4, 9, 2));
        struct short_copy copy = {.from_x = 4, .from_kind = 2, .from_device = address, .to_kind = 1, .to_host = seen, .width = 12, .height = 1};
        OK(cuMemcpy2D(&copy));
        TRUE(seen[0] == 9 && seen[1] == 9 && seen[2] == 4);
        OK(cuMemcpyDtoH(seen, address, 4));
        TRUE(seen[0] == 1);
        OK(cuMemFree(address));
    } else {
        EXPECT(2, result);
    }
    EXPECT(1, cuMemAlloc(&address, 0));
    EXPECT(1, cuMemFree(64));
    OK(cuArrayCreate(&array, description));
    OK(cuArrayGetDescriptor(found, array));
    TRUE(!memcmp(found, description, sizeof found));
    OK(cuMemcpyHtoA(array, 16, words, 16));
    OK(cuMemcpyAtoH(seen, array, 20, 8));
    TRUE(seen[0] == 2 && seen[1] == 3);
    OK(cuArrayDestroy(array));
    OK(cuCtxDestroy_v2(old));
}

int main(void)
{
    Context context;
    Module module;
    void *pool;
    unsigned flags;
    int here[] = {1, 0}, there[] = {1, 1}, host[] = {2, 0};
    OK(cuInit(0));
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&put, module, "put"));
    OK(cuStreamCreate(&stream, 1));
    OK(cuStreamCreate(&other, 1));
    values();
    attributes();
    copies(context);
    shared_handles();
    managed();
    short_sizes();
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuMemPoolGetAccess(&flags, pool, here));
    TRUE(flags == 3);
    EXPECT(101, cuMemPoolGetAccess(&flags, pool, there));
    EXPECT(1, cuMemPoolGetAccess(&flags, pool, host));
    puts("done");
    return 0;
}

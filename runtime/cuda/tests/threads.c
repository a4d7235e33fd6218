/* All kinds of calls mixed in many threads, on objects that other threads destroy. Each call may fail; none may crash, hang, or be
   stopped by validation. The second argument is the number of calls of each thread, the third one
   the first random number. The declarations are this program's own. */
#include <pthread.h>

#include "checks.h"

enum { THREADS = 16, SLOTS = 6, CALLS = 400, BYTES = 1 << 16, NOT_PERMITTED = 800 };

struct array_description {
    size_t width, height;
    int format;
    unsigned channels;
};

struct resource {
    int kind;
    uint64_t of[16];
    unsigned flags;
};

struct texture {
    int address_modes[3], filter;
    unsigned flags, max_anisotropy;
    int mip_filter;
    float bias, least, most, border[4];
    int reserved[12];
};

int cuInit(unsigned flags);
int cuCtxCreate_v2(Context *context, unsigned flags, int device);
int cuCtxDestroy_v2(Context context);
int cuCtxSetCurrent(Context context);
int cuCtxGetCurrent(Context *context);
int cuCtxSynchronize(void);
int cuMemGetInfo_v2(size_t *free, size_t *total);
int cuMemAlloc_v2(Address *address, size_t bytes);
int cuMemAllocAsync(Address *address, size_t bytes, Stream stream);
int cuMemFree_v2(Address address);
int cuMemFreeAsync(Address address, Stream stream);
int cuMemGetAddressRange_v2(Address *base, size_t *size, Address address);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemFreeHost(void *pointer);
int cuMemsetD8Async(Address address, unsigned char value, size_t count, Stream stream);
int cuMemsetD32_v2(Address address, unsigned value, size_t count);
int cuMemsetD2D8Async(Address address, size_t pitch, unsigned char value, size_t width, size_t height, Stream stream);
int cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, Stream stream);
int cuMemcpyDtoH_v2(void *to, Address from, size_t bytes);
int cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, Stream stream);
int cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, Stream stream);
int cuMemcpyHtoA_v2(void *to, size_t offset, const void *from, size_t bytes);
int cuMemcpyAtoH_v2(void *to, void *from, size_t offset, size_t bytes);
int cuPointerGetAttribute(void *value, int attribute, Address address);
int cuModuleLoadData(Module *module, const void *image);
int cuModuleUnload(Module module);
int cuModuleGetFunction(Function *function, Module module, const char *name);
int cuModuleGetGlobal_v2(Address *address, size_t *bytes, Module module, const char *name);
int cuLaunchKernel(Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, Stream stream, void **params, void **extra);
int cuLaunchHostFunc(Stream stream, void (*function)(void *), void *data);
int cuStreamCreate(Stream *stream, unsigned flags);
int cuStreamDestroy_v2(Stream stream);
int cuStreamSynchronize(Stream stream);
int cuStreamQuery(Stream stream);
int cuStreamWaitEvent(Stream stream, Event event, unsigned flags);
int cuEventCreate(Event *event, unsigned flags);
int cuEventDestroy_v2(Event event);
int cuEventRecord(Event event, Stream stream);
int cuEventSynchronize(Event event);
int cuEventElapsedTime(float *milliseconds, Event start, Event end);
int cuStreamBeginCapture_v2(Stream stream, int mode);
int cuStreamEndCapture(Stream stream, Graph *graph);
int cuGraphCreate(Graph *graph, unsigned flags);
int cuGraphDestroy(Graph graph);
int cuGraphAddEmptyNode(Node *node, Graph graph, const Node *after, size_t count);
int cuGraphAddDependencies(Graph graph, const Node *from, const Node *to, size_t count);
int cuGraphDestroyNode(Node node);
int cuGraphInstantiateWithFlags(Exec *exec, Graph graph, uint64_t flags);
int cuGraphLaunch(Exec exec, Stream stream);
int cuGraphExecDestroy(Exec exec);
int cuArrayCreate_v2(void **array, const struct array_description *description);
int cuArrayDestroy(void *array);
int cuTexObjectCreate(uint64_t *object, const struct resource *resource, const struct texture *texture, const void *view);
int cuTexObjectDestroy(uint64_t object);

/* Adds 1 to each of the first numbers of an array that lives as long as the program. */
static const char *const ptx =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter = 1;\n"
    ".visible .entry add(.param .u64 numbers)\n{\n"
    "    .reg .b32 %r<4>;\n    .reg .b64 %d<4>;\n"
    "    ld.param.u64 %d1, [numbers];\n    mov.u32 %r1, %tid.x;\n    mul.wide.u32 %d2, %r1, 4;\n    add.u64 %d3, %d1, %d2;\n"
    "    ld.global.u32 %r2, [counter];\n    red.global.add.u32 [%d3], %r2;\n    ret;\n}\n";

/* Objects of each kind, which any thread makes, uses and destroys. */
static Context made, contexts[SLOTS];
static Address memory[SLOTS], numbers;
static Stream streams[SLOTS];
static Event events[SLOTS];
static Module modules[SLOTS], kept;
static Function functions[SLOTS], kept_function;
static Graph graphs[SLOTS];
static Node nodes[SLOTS];
static Exec execs[SLOTS];
static void *arrays[SLOTS];
static uint64_t textures[SLOTS];
static char bytes[THREADS][BYTES];
/* Functions are called when their threads have ended, too: by graphs that captured them. */
static unsigned calls = CALLS, seed = 1, launches, called;

static void call(void *data)
{
    Context context;
    EXPECT(NOT_PERMITTED, cuCtxGetCurrent(&context));
    __atomic_add_fetch((unsigned *)data, 1, __ATOMIC_RELAXED);
}

#define MAKE(list, call)        \
    do {                        \
        __typeof__(*list) new = 0; \
        if (call == 0)          \
            list[to] = new;     \
    } while (0)

static void *run(void *data)
{
    unsigned thread = (unsigned)(uintptr_t)data, random = thread * 7919 + seed;
    char *own = bytes[thread];
    OK(cuCtxSetCurrent(made));
    for (unsigned round = 0; round < calls; round++) {
        random = random * 1664525 + 1013904223;
        unsigned to = (random >> 8) % SLOTS, from = (random >> 12) % SLOTS, size = random >> 18 & 0x7fff;
        Stream stream = random >> 16 & 1 ? streams[from] : NULL;
        void *params[] = {&numbers}, *pinned = NULL;
        struct array_description description = {64, 4, 1, 1};
        struct resource resource = {.kind = 0, .of = {(uint64_t)(uintptr_t)arrays[from]}};
        struct texture texture = {.flags = 1};
        size_t sizes[2];
        Address found;
        float time;
        switch ((random >> 20) % 52) {
        case 0: case 1: case 2: MAKE(memory, cuMemAlloc_v2(&new, BYTES)); break;
        case 3: case 4: MAKE(memory, cuMemAllocAsync(&new, size + 1, stream)); break;
        case 5: case 6: cuMemFree_v2(memory[to]); break;
        case 7: cuMemFreeAsync(memory[to], stream); break;
        case 8: case 9: cuMemsetD8Async(memory[to], 1, size, stream); break;
        case 10: cuMemsetD32_v2(memory[to], 2, size / 4); break;
        case 11: cuMemsetD2D8Async(memory[to] + 1, 300, 3, 250, 40, stream); break;
        case 12: case 13: cuMemcpyHtoDAsync_v2(memory[to], own, size, stream); break;
        case 14: cuMemcpyHtoDAsync_v2(memory[to], own, BYTES, stream); break;
        case 15: cuMemcpyDtoHAsync_v2(own, memory[from], size, stream); break;
        case 16: cuMemcpyDtoH_v2(own, memory[from], BYTES); break;
        case 17: cuMemcpyDtoDAsync_v2(memory[to], memory[from], size, stream); break;
        case 18: cuMemGetAddressRange_v2(&found, sizes, memory[from]); break;
        case 19: cuPointerGetAttribute(&found, 3, memory[from] + size); break;
        case 20:
            if (cuMemHostAlloc(&pinned, BYTES, 0) == 0) {
                cuMemcpyHtoDAsync_v2(memory[to], pinned, size, stream);
                OK(cuMemFreeHost(pinned));
            }
            break;
        case 21: cuMemGetInfo_v2(&sizes[0], &sizes[1]); break;
        case 22: MAKE(streams, cuStreamCreate(&new, random & 1)); break;
        case 23: cuStreamDestroy_v2(streams[to]); break;
        case 24: cuStreamSynchronize(streams[from]); break;
        case 25: cuStreamQuery(streams[from]); break;
        case 26: cuCtxSynchronize(); break;
        case 27: MAKE(events, cuEventCreate(&new, 0)); break;
        case 28: cuEventDestroy_v2(events[to]); break;
        case 29: case 30: cuEventRecord(events[to], stream); break;
        case 31: cuEventSynchronize(events[from]); break;
        case 32: cuStreamWaitEvent(stream, events[to], 0); break;
        case 33: cuEventElapsedTime(&time, events[from], events[to]); break;
        case 34: MAKE(modules, cuModuleLoadData(&new, ptx)); break;
        case 35: cuModuleUnload(modules[to]); break;
        case 36: MAKE(functions, cuModuleGetFunction(&new, modules[from], "add")); break;
        case 37: cuModuleGetGlobal_v2(&found, sizes, modules[from], "counter"); break;
        case 38: cuLaunchKernel(functions[from], 1, 1, 1, 32, 1, 1, 0, stream, params, NULL); break;
        case 39: case 40:
            if (cuLaunchKernel(kept_function, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL) == 0)
                __atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED);
            break;
        case 41: cuLaunchHostFunc(stream, call, &called); break;
        case 42: MAKE(graphs, cuGraphCreate(&new, 0)); break;
        case 43: cuGraphDestroy(graphs[to]); break;
        case 44:
            MAKE(nodes, cuGraphAddEmptyNode(&new, graphs[from], &nodes[from], random & 1));
            cuGraphAddDependencies(graphs[from], &nodes[from], &nodes[to], 1);
            break;
        case 45: cuGraphDestroyNode(nodes[to]); break;
        case 46: MAKE(execs, cuGraphInstantiateWithFlags(&new, graphs[from], 0)); break;
        case 47:
            cuGraphLaunch(execs[from], stream);
            if (random & 1)
                cuGraphExecDestroy(execs[to]);
            break;
        case 48:
            /* Other threads change the list, and this capture must end. */
            stream = streams[from];
            if (cuStreamBeginCapture_v2(stream, 2) == 0) {
                cuMemsetD8Async(memory[to], 4, size, stream);
                MAKE(graphs, cuStreamEndCapture(stream, &new));
            }
            break;
        case 49:
            MAKE(arrays, cuArrayCreate_v2(&new, &description));
            cuMemcpyHtoA_v2(arrays[to], 0, own, 64);
            cuMemcpyAtoH_v2(own, arrays[from], 64, 64);
            break;
        case 50:
            MAKE(textures, cuTexObjectCreate(&new, &resource, &texture, NULL));
            cuTexObjectDestroy(textures[from]);
            if (random & 1)
                cuArrayDestroy(arrays[from]);
            break;
        case 51:
            if (random & 1) {
                MAKE(contexts, cuCtxCreate_v2(&new, 0, 0));
                MAKE(memory, cuMemAlloc_v2(&new, BYTES));
            } else {
                cuCtxDestroy_v2(contexts[to]);
            }
            OK(cuCtxSetCurrent(made));
            break;
        }
    }
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t threads[THREADS];
    void *params[] = {&numbers};
    unsigned found[32];
    if (count > 2)
        calls = (unsigned)atoi(arguments[2]);
    if (count > 3)
        seed = (unsigned)atoi(arguments[3]);
    OK(cuInit(0));
    OK(cuCtxCreate_v2(&made, 0, 0));
    OK(cuMemAlloc_v2(&numbers, sizeof found));
    OK(cuMemsetD32_v2(numbers, 0, 32));
    OK(cuModuleLoadData(&kept, ptx));
    OK(cuModuleGetFunction(&kept_function, kept, "add"));
    OK(cuLaunchKernel(kept_function, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    for (uintptr_t thread = 0; thread < THREADS; thread++)
        TRUE(pthread_create(&threads[thread], NULL, run, (void *)thread) == 0);
    for (int thread = 0; thread < THREADS; thread++)
        TRUE(pthread_join(threads[thread], NULL) == 0);
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH_v2(found, numbers, sizeof found));
    /* Functions that other threads unloaded count too. */
    for (int index = 0; index < 32; index++)
        TRUE(found[index] == found[0] && found[index] > launches);
    puts("done");
    return 0;
}

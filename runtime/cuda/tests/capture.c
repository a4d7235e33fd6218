/* What each call does to a stream capture: its code, the capture's status after it, the code of the capture's next command, and that of its end.
   answers/capture.txt has what NVIDIA's driver answered to this program. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *P;
typedef unsigned long long U64;
int cuInit(unsigned);
int cuDeviceGet(int *, int);
int cuDevicePrimaryCtxRetain(P *, int);
int cuCtxSetCurrent(P);
int cuCtxSynchronize(void);
int cuStreamCreate(P *, unsigned);
int cuStreamDestroy_v2(P);
int cuStreamSynchronize(P);
int cuStreamQuery(P);
int cuStreamWaitEvent(P, P, unsigned);
int cuStreamBeginCapture_v2(P, int);
int cuStreamEndCapture(P, P *);
int cuStreamIsCapturing(P, int *);
int cuThreadExchangeStreamCaptureMode(int *);
int cuEventCreate(P *, unsigned);
int cuEventRecord(P, P);
int cuEventQuery(P);
int cuEventSynchronize(P);
int cuEventElapsedTime(float *, P, P);
int cuMemAlloc_v2(U64 *, size_t);
int cuMemAllocPitch_v2(U64 *, size_t *, size_t, size_t, unsigned);
int cuMemFree_v2(U64);
int cuMemAllocHost_v2(P *, size_t);
int cuMemHostAlloc(P *, size_t, unsigned);
int cuMemFreeHost(P);
int cuMemHostRegister_v2(P, size_t, unsigned);
int cuMemHostUnregister(P);
int cuMemHostGetDevicePointer_v2(U64 *, P, unsigned);
int cuMemAllocManaged(U64 *, size_t, unsigned);
int cuMemGetInfo_v2(size_t *, size_t *);
int cuMemAllocAsync(U64 *, size_t, P);
int cuPointerGetAttribute(void *, int, U64);
int cuMemcpyHtoD_v2(U64, const void *, size_t);
int cuMemcpyDtoH_v2(void *, U64, size_t);
int cuMemcpyDtoD_v2(U64, U64, size_t);
int cuMemcpyHtoDAsync_v2(U64, const void *, size_t, P);
int cuMemcpyDtoHAsync_v2(void *, U64, size_t, P);
int cuMemsetD8_v2(U64, unsigned char, size_t);
int cuMemsetD8Async(U64, unsigned char, size_t, P);
int cuModuleLoadData(P *, const void *);
int cuModuleUnload(P);
int cuModuleGetFunction(P *, P, const char *);
int cuModuleGetGlobal_v2(U64 *, size_t *, P, const char *);
int cuLaunchKernel(P, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, P, void **, void **);
int cuFuncSetAttribute(P, int, int);
int cuFuncGetAttribute(int *, int, P);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *, P, int, size_t);
int cuGraphCreate(P *, unsigned);
int cuGraphInstantiateWithFlags(P *, P, U64);
int cuMemPoolTrimTo(P, size_t);
int cuDeviceGetDefaultMemPool(P *, int);

static P context, s, t, u, captured, plain, plain2, module, kernel, exec, empty, pool;
static U64 memory, managed, spare;
static char host[4096] __attribute__((aligned(4096)));
static P pinned;
static const char ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n.visible .global .u32 g;\n.visible .entry k() { ret; }\n";


static int op(const char *name)
{
    P p = NULL;
    U64 a = 0;
    size_t n = 0, m = 0;
    int i = 0;
    float time;
#define IF(text, call) if (!strcmp(name, text)) return call
    IF("none", 0);
    IF("query_captured_stream", cuStreamQuery(s));
    IF("sync_captured_stream", cuStreamSynchronize(s));
    IF("query_other_stream", cuStreamQuery(t));
    IF("sync_other_stream", cuStreamSynchronize(t));
    IF("query_null", cuStreamQuery(NULL));
    IF("sync_null", cuStreamSynchronize(NULL));
    IF("sync_context", cuCtxSynchronize());
    IF("query_captured_event", cuEventQuery(captured));
    IF("sync_captured_event", cuEventSynchronize(captured));
    IF("query_event", cuEventQuery(plain));
    IF("sync_event", cuEventSynchronize(plain));
    IF("elapsed_captured", cuEventElapsedTime(&time, captured, plain));
    IF("elapsed", cuEventElapsedTime(&time, plain, plain2));
    IF("record_null", cuEventRecord(plain2, NULL));
    IF("record_other", cuEventRecord(plain2, t));
    IF("wait_uncaptured_event", cuStreamWaitEvent(s, plain, 0));
    IF("wait_external", cuStreamWaitEvent(s, plain, 1));
    IF("wait_null_captured_event", cuStreamWaitEvent(NULL, captured, 0));
    IF("join_other", cuStreamWaitEvent(t, captured, 0));
    IF("merge", cuStreamWaitEvent(u, captured, 0));
    IF("alloc", cuMemAlloc_v2(&a, 4096));
    IF("alloc_pitch", cuMemAllocPitch_v2(&a, &n, 100, 10, 4));
    IF("alloc_managed", cuMemAllocManaged(&a, 4096, 1));
    IF("alloc_host", cuMemAllocHost_v2(&p, 4096));
    IF("host_alloc", cuMemHostAlloc(&p, 4096, 0));
    IF("host_pointer", cuMemHostGetDevicePointer_v2(&a, pinned, 0));
    IF("free", (cuMemFree_v2(spare)));
    IF("free_null", cuMemFree_v2(0));
    IF("free_host", cuMemFreeHost(pinned));
    IF("register", cuMemHostRegister_v2(host, 4096, 0));
    IF("unregister", cuMemHostUnregister(host));
    IF("info", cuMemGetInfo_v2(&n, &m));
    IF("pointer_attribute", cuPointerGetAttribute(&i, 2, memory));
    IF("alloc_async_captured", cuMemAllocAsync(&a, 4096, s));
    IF("alloc_async_other", cuMemAllocAsync(&a, 4096, t));
    IF("alloc_async_null", cuMemAllocAsync(&a, 4096, NULL));
    IF("pool_trim", cuMemPoolTrimTo(pool, 0));
    IF("copy_to", cuMemcpyHtoD_v2(memory, host, 64));
    IF("copy_from", cuMemcpyDtoH_v2(host, memory, 64));
    IF("copy_within", cuMemcpyDtoD_v2(memory, memory + 64, 64));
    IF("copy_async_null", cuMemcpyHtoDAsync_v2(memory, host, 64, NULL));
    IF("copy_async_other", cuMemcpyHtoDAsync_v2(memory, host, 64, t));
    IF("copy_async_captured", cuMemcpyHtoDAsync_v2(memory, host, 64, s));
    IF("copy_back_async_captured", cuMemcpyDtoHAsync_v2(host, memory, 64, s));
    IF("set", cuMemsetD8_v2(memory, 1, 64));
    IF("set_null", cuMemsetD8Async(memory, 1, 64, NULL));
    IF("set_other", cuMemsetD8Async(memory, 1, 64, t));
    IF("set_legacy", cuMemsetD8Async(memory, 1, 64, (P)1));
    IF("set_per_thread", cuMemsetD8Async(memory, 1, 64, (P)2));
    IF("launch_null", cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    IF("launch_other", cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, t, NULL, NULL));
    IF("launch_captured", cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    IF("launch_wrong", cuLaunchKernel(kernel, 1, 1, 1, 4096, 1, 1, 0, s, NULL, NULL));
    IF("module_load", cuModuleLoadData(&p, ptx));
    IF("module_unload", cuModuleUnload(module));
    IF("module_function", cuModuleGetFunction(&p, module, "k"));
    IF("module_global", cuModuleGetGlobal_v2(&a, &n, module, "g"));
    IF("function_set", cuFuncSetAttribute(kernel, 8, 1024));
    IF("function_get", cuFuncGetAttribute(&i, 0, kernel));
    IF("occupancy", cuOccupancyMaxActiveBlocksPerMultiprocessor(&i, kernel, 64, 0));
    IF("stream_create", cuStreamCreate(&p, 0));
    return -1;
}

static const char *const names[] = {"none", "query_captured_stream", "sync_captured_stream", "query_other_stream", "sync_other_stream", "query_null",
    "sync_null", "sync_context", "query_captured_event", "sync_captured_event", "query_event", "sync_event", "elapsed_captured", "elapsed",
    "record_null", "record_other", "wait_uncaptured_event", "wait_external", "wait_null_captured_event", "join_other", "merge", "alloc",
    "alloc_pitch", "alloc_managed", "alloc_host", "host_alloc", "host_pointer", "free", "free_null", "free_host", "register", "unregister", "info",
    "pointer_attribute", "alloc_async_captured", "alloc_async_other", "alloc_async_null", "pool_trim", "copy_to", "copy_from", "copy_within",
    "copy_async_null", "copy_async_other", "copy_async_captured", "copy_back_async_captured", "set", "set_null", "set_other", "set_legacy",
    "set_per_thread", "launch_null", "launch_other", "launch_captured", "launch_wrong", "module_load", "module_unload", "module_function",
    "module_global", "function_set", "function_get", "occupancy", "stream_create"};

struct Task {
    const char *name;
    int mode, code;
};
static void *in_thread(void *data)
{
    struct Task *task = data;
    cuCtxSetCurrent(context);
    int mode = task->mode;
    if (mode >= 0) cuThreadExchangeStreamCaptureMode(&mode);
    task->code = op(task->name);
    return NULL;
}
static int elsewhere(const char *name, int mode)
{
    struct Task task = {name, mode, 0};
    pthread_t thread;
    pthread_create(&thread, NULL, in_thread, &task);
    pthread_join(thread, NULL);
    return task.code;
}

/* where: 0 in this thread; 1 in another; 2 and 3 in this one, with a mode of the thread that is exchanged; 4 in another, which is relaxed. */
static void line(const char *name, int mode, unsigned flags, int where)
{
    P graph = (P)1, extra = NULL;
    int status = -1, joined = -1;
    cuStreamCreate(&s, flags), cuStreamCreate(&t, 1), cuStreamCreate(&u, 1);
    cuEventCreate(&captured, 0), cuEventCreate(&plain, 0), cuEventCreate(&plain2, 0);
    cuMemAlloc_v2(&memory, 4096), cuMemAlloc_v2(&spare, 4096), cuMemAllocManaged(&managed, 4096, 1), cuMemAllocHost_v2(&pinned, 4096);
    if (!strcmp(name, "unregister")) cuMemHostRegister_v2(host, 4096, 0);
    cuModuleLoadData(&module, ptx), cuModuleGetFunction(&kernel, module, "k");
    cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    cuEventRecord(plain, t), cuEventRecord(plain2, t), cuCtxSynchronize();
    cuGraphCreate(&empty, 0), cuGraphInstantiateWithFlags(&exec, empty, 0);
    int begun = cuStreamBeginCapture_v2(s, mode);
    cuMemsetD8Async(memory, 1, 64, s), cuEventRecord(captured, s);
    if (!strcmp(name, "merge")) cuStreamBeginCapture_v2(u, 2), cuMemsetD8Async(memory, 1, 64, u);
    int thread_mode = where == 2 ? 1 : 2, code;
    if (where == 2 || where == 3) cuThreadExchangeStreamCaptureMode(&thread_mode);
    code = where == 1 ? elsewhere(name, -1) : where == 4 ? elsewhere(name, 2) : op(name);
    if (where == 2 || where == 3) cuThreadExchangeStreamCaptureMode(&thread_mode);
    int asked = cuStreamIsCapturing(s, &status);
    int next = cuMemsetD8Async(memory, 2, 64, s);
    if (!strcmp(name, "merge")) {
        cuStreamIsCapturing(u, &joined);
        printf("(other: status %d, end %d) ", joined, cuStreamEndCapture(u, &extra));
    }
    int end = cuStreamEndCapture(s, &graph), after = -1;
    cuStreamIsCapturing(s, &after);
    printf("%d status %d %d next %d end %d %s after %d%s | %s %d%u%d\n", code, asked, status, next, end,
        graph == NULL ? "none" : graph == (P)1 ? "unchanged" : "graph", after, begun ? " not begun" : "", name, mode, flags, where);
    cuStreamEndCapture(t, &extra);
    if (!strcmp(name, "register") || !strcmp(name, "unregister")) cuMemHostUnregister(host);
    cuCtxSynchronize();
    cuModuleUnload(module), cuStreamDestroy_v2(s), cuStreamDestroy_v2(t), cuStreamDestroy_v2(u);
    cuMemFree_v2(memory), cuMemFree_v2(managed);
}

int main(void)
{
    int device;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context)) return 1;
    cuDeviceGetDefaultMemPool(&pool, device);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (int mode = 0; mode < 3; mode++)
            for (unsigned flags = 0; flags < 2; flags++)
                for (int where = 0; where < 5; where++) line(names[i], mode, flags, where);
    }
}

/* What CUDA's driver answers without a context, to zero bytes, in callbacks, and after main. The declarations are this program's
   own; the codes are those of NVIDIA's driver 580 on an H100. */
#include <unistd.h>

#include "checks.h"

enum { INVALID_VALUE = 1, NOT_INITIALIZED = 3, DEINITIALIZED = 4, INVALID_CONTEXT = 201, NOT_PERMITTED = 800 };

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuDeviceGetCount(int *count);
int cuDeviceGetDefaultMemPool(void **pool, int device);
int cuDevicePrimaryCtxRetain(Context *context, int device);
int cuCtxCreate_v2(Context *context, unsigned flags, int device);
int cuCtxDestroy_v2(Context context);
int cuCtxSetCurrent(Context context);
int cuCtxPushCurrent_v2(Context context);
int cuCtxPopCurrent_v2(Context *context);
int cuCtxGetCurrent(Context *context);
int cuCtxGetDevice(int *device);
int cuCtxSynchronize(void);
int cuMemAlloc_v2(Address *address, size_t bytes);
int cuMemAllocAsync(Address *address, size_t bytes, Stream stream);
int cuMemAllocFromPoolAsync(Address *address, size_t bytes, void *pool, Stream stream);
int cuMemAllocHost_v2(void **pointer, size_t bytes);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemFree_v2(Address address);
int cuMemFreeAsync(Address address, Stream stream);
int cuMemFreeHost(void *pointer);
int cuMemsetD8_v2(Address address, unsigned char value, size_t count);
int cuMemcpyDtoH_v2(void *to, Address from, size_t bytes);
int cuStreamQuery(Stream stream);
int cuStreamAddCallback(Stream stream, void (*callback)(Stream, int, void *), void *data, unsigned flags);
int cuLaunchHostFunc(Stream stream, void (*function)(void *), void *data);
int cuUserObjectCreate(void **object, void *data, void (*destroy)(void *), unsigned count, unsigned flags);
int cuUserObjectRelease(void *object, unsigned count);

static Context made;
static int callbacks;

static void call(void *data)
{
    Context context;
    int number;
    Address address = *(Address *)data;
    OK(cuInit(0));
    OK(cuDriverGetVersion(&number));
    EXPECT(NOT_PERMITTED, cuDeviceGetCount(&number));
    EXPECT(NOT_PERMITTED, cuCtxGetCurrent(&context));
    EXPECT(NOT_PERMITTED, cuCtxSetCurrent(made));
    EXPECT(NOT_PERMITTED, cuCtxSynchronize());
    EXPECT(NOT_PERMITTED, cuStreamQuery(NULL));
    EXPECT(NOT_PERMITTED, cuMemsetD8_v2(address, 1, 1));
    EXPECT(NOT_PERMITTED, cuMemFree_v2(0));
    callbacks++;
}

static void call_with_result(Stream stream, int result, void *data)
{
    TRUE(stream == NULL && result == 0);
    call(data);
}

static void at_exit(void)
{
    Context context = NULL;
    Address address;
    int device = 7;
    unsigned char byte = 0;
    OK(cuCtxGetCurrent(&context));
    TRUE(context == made);
    OK(cuCtxGetDevice(&device));
    TRUE(device == 0);
    OK(cuMemAlloc_v2(&address, 16));
    OK(cuMemsetD8_v2(address, 9, 16));
    OK(cuMemcpyDtoH_v2(&byte, address, 1));
    TRUE(byte == 9);
    OK(cuMemFree_v2(address));
    OK(cuCtxPushCurrent_v2(made));
    OK(cuCtxPopCurrent_v2(&context));
    OK(cuCtxSetCurrent(NULL));
    OK(cuCtxGetCurrent(&context));
    TRUE(context == NULL);
    puts("at exit");
}

static void after_the_library(void)
{
    Context context;
    EXPECT(DEINITIALIZED, cuInit(0));
    EXPECT(DEINITIALIZED, cuCtxGetCurrent(&context));
    puts("after the library");
}

int main(void)
{
    Context context = (Context)1;
    Address address = 1;
    void *pointer = &address, *pool, *object;

    atexit(after_the_library);
    EXPECT(NOT_INITIALIZED, cuMemFree_v2(0));
    EXPECT(NOT_INITIALIZED, cuCtxGetCurrent(&context));
    OK(cuInit(0));
    OK(cuCtxGetCurrent(&context));
    TRUE(context == NULL);
    OK(cuMemFree_v2(0));
    OK(cuMemFreeHost(NULL));
    EXPECT(INVALID_VALUE, cuMemFree_v2(4096));
    EXPECT(INVALID_CONTEXT, cuMemFreeAsync(0, NULL));
    EXPECT(INVALID_VALUE, cuCtxPushCurrent_v2(NULL));
    EXPECT(INVALID_CONTEXT, cuCtxPopCurrent_v2(&context));
    EXPECT(INVALID_VALUE, cuCtxDestroy_v2(NULL));

    OK(cuCtxCreate_v2(&made, 0, 0));
    OK(cuMemFree_v2(0));
    OK(cuMemFreeAsync(0, NULL));
    EXPECT(INVALID_VALUE, cuMemAlloc_v2(&address, 0));
    address = 1;
    OK(cuMemAllocAsync(&address, 0, NULL));
    TRUE(address == 0);
    address = 1;
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuMemAllocFromPoolAsync(&address, 0, pool, NULL));
    TRUE(address == 0);
    OK(cuMemHostAlloc(&pointer, 0, 0));
    TRUE(pointer == NULL);
    pointer = &address;
    OK(cuMemAllocHost_v2(&pointer, 0));
    TRUE(pointer == NULL);
    OK(cuMemFreeHost(pointer));

    /* The memory's context needn't be current. */
    OK(cuMemAlloc_v2(&address, 16));
    OK(cuCtxSetCurrent(NULL));
    OK(cuMemFree_v2(address));
    EXPECT(INVALID_VALUE, cuMemFree_v2(address));
    OK(cuCtxSetCurrent(made));

    OK(cuMemAlloc_v2(&address, 16));
    OK(cuLaunchHostFunc(NULL, call, &address));
    OK(cuStreamAddCallback(NULL, call_with_result, &address, 0));
    OK(cuCtxSynchronize());
    OK(cuUserObjectCreate(&object, &address, call, 1, 1));
    OK(cuUserObjectRelease(object, 1));
    TRUE(callbacks == 3);
    OK(cuMemFree_v2(address));
    atexit(at_exit);
    puts("done");
    return 0;
}

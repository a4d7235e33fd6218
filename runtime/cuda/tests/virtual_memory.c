/* Virtual memory management: ranges of addresses, allocations, mappings and access. The declarations are this program's own. */
#include "checks.h"

struct properties {
    int kind, handle_types, place[2];
    void *metadata;
    unsigned char compression, network;
    unsigned short usage;
    unsigned char reserved[4];
};

struct access {
    int place[2], flags;
};

typedef unsigned long long Handle;

int cuInit(unsigned flags);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDevicePrimaryCtxRetain(Context *context, int device);
int cuCtxSetCurrent(Context context);
int cuCtxSynchronize(void);
int cuMemAddressReserve(Address *address, size_t bytes, size_t alignment, Address wish, unsigned long long flags);
int cuMemAddressFree(Address address, size_t bytes);
int cuMemCreate(Handle *memory, size_t bytes, const struct properties *properties, unsigned long long flags);
int cuMemRelease(Handle memory);
int cuMemMap(Address address, size_t bytes, size_t offset, Handle memory, unsigned long long flags);
int cuMemUnmap(Address address, size_t bytes);
int cuMemSetAccess(Address address, size_t bytes, const struct access *access, size_t count);
int cuMemGetAccess(unsigned long long *flags, const int *place, Address address);
int cuMemGetAllocationGranularity(size_t *granularity, const struct properties *properties, int option);
int cuMemGetAllocationPropertiesFromHandle(struct properties *properties, Handle memory);
int cuMemRetainAllocationHandle(Handle *memory, void *address);
int cuMemFree_v2(Address address);
int cuMemsetD32_v2(Address address, unsigned value, size_t count);
int cuMemcpy2D_v2(const struct copy_2d *copy);
int cuMemcpyDtoH_v2(void *host, Address address, size_t bytes);
int cuMemcpyHtoD_v2(Address address, const void *host, size_t bytes);
int cuMemGetAddressRange_v2(Address *base, size_t *size, Address address);
int cuPointerGetAttribute(void *value, int attribute, Address address);
int cuModuleLoadData(Module *module, const void *image);
int cuModuleLoad(Module *module, const char *path);
int cuModuleGetFunction(Function *function, Module module, const char *name);
int cuLaunchKernel(Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   Stream stream, void **arguments, void **extra);

static const char ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
                          ".visible .entry number(.param .u64 out, .param .u32 count) {\n"
                          ".reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<4>;\n"
                          "ld.param.u64 %d0, [out]; ld.param.u32 %r0, [count]; cvta.to.global.u64 %d0, %d0;\n"
                          "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;\n"
                          "setp.ge.u32 %p, %r4, %r0; @%p ret;\n"
                          "mul.wide.u32 %d1, %r4, 4; add.u64 %d0, %d0, %d1; st.global.u32 [%d0], %r4; ret; }\n";

int main(void)
{
    Context context;
    EXPECT(3, cuMemAddressFree(0, 0));
    OK(cuInit(0));
    int has_it = 0;
    OK(cuDeviceGetAttribute(&has_it, 102, 0));
    TRUE(has_it == 0);
    Module module;
    EXPECT(201, cuModuleLoad(&module, "missing"));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    EXPECT(301, cuModuleLoad(&module, "missing"));

    struct properties properties = { .kind = 1, .place = { 1, 0 } };
    size_t least = 0, recommended = 0;
    OK(cuMemGetAllocationGranularity(&least, &properties, 0));
    OK(cuMemGetAllocationGranularity(&recommended, &properties, 1));
    TRUE(least > 0 && recommended % least == 0);
    const size_t size = recommended;
    EXPECT(1, cuMemGetAllocationGranularity(NULL, &properties, 0));
    EXPECT(1, cuMemGetAllocationGranularity(&least, NULL, 0));

    /* Three allocations in a row, two of them released while they are mapped. */
    Address range;
    OK(cuMemAddressReserve(&range, 4 * size, 0, 0, 0));
    TRUE(range % size == 0);
    EXPECT(1, cuMemAddressReserve(&range, size + 1, 0, 0, 0));
    EXPECT(1, cuMemAddressReserve(&range, 0, 0, 0, 0));
    Handle memory[3];
    for (int i = 0; i < 3; i++)
        OK(cuMemCreate(&memory[i], size, &properties, 0));
    EXPECT(1, cuMemCreate(&memory[0], size - 1, &properties, 0));
    EXPECT(1, cuMemCreate(&memory[0], size, NULL, 0));
    struct properties known = { 0 };
    OK(cuMemGetAllocationPropertiesFromHandle(&known, memory[1]));
    TRUE(known.kind == 1 && known.place[0] == 1 && known.place[1] == 0);
    for (int i = 0; i < 3; i++)
        OK(cuMemMap(range + i * size, size, 0, memory[i], 0));
    EXPECT(1, cuMemMap(range, size, 0, memory[2], 1));
    EXPECT(1, cuMemMap(range + 4 * size, size, 0, memory[2], 0));
    OK(cuMemRelease(memory[0]));
    OK(cuMemRelease(memory[1]));
    EXPECT(1, cuMemAddressFree(range, 4 * size));

    /* Access. */
    struct access access = { { 1, 0 }, 3 };
    unsigned long long flags = 7;
    OK(cuMemGetAccess(&flags, access.place, range));
    TRUE(flags == 0);
    EXPECT(1, cuMemSetAccess(range, 4 * size, &access, 1));
    OK(cuMemSetAccess(range, 3 * size, &access, 1));
    OK(cuMemGetAccess(&flags, access.place, range + 2 * size));
    TRUE(flags == 3);
    EXPECT(1, cuMemGetAccess(&flags, access.place, range + 3 * size));

    /* Kernels and copies cross the borders between allocations. */
    Function function;
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, "number"));
    unsigned count = 512;
    Address border = range + size, from = border - 1024;
    void *arguments[] = { &from, &count };
    OK(cuLaunchKernel(function, 2, 1, 1, 256, 1, 1, 0, NULL, arguments, NULL));
    OK(cuCtxSynchronize());
    unsigned *host = malloc(3 * size + 4);
    OK(cuMemcpyDtoH_v2(host, range, 3 * size));
    for (unsigned i = 0; i < count; i++)
        TRUE(host[(size - 1024) / 4 + i] == i);
    EXPECT(1, cuMemcpyDtoH_v2(host, range, 3 * size + 4));
    /* Four rows, of which the last ends where the memory does, or behind. */
    struct copy_2d rows = { .from.kind = 2, .from.device = range + 3 * size - 7168, .from.pitch = 2048,
                            .to.kind = 1, .to.host = host, .to.pitch = 1024, .width = 1024, .height = 4 };
    OK(cuMemcpy2D_v2(&rows));
    rows.from.device += 4;
    EXPECT(1, cuMemcpy2D_v2(&rows));
    OK(cuMemsetD32_v2(border - 4, 5000, 2));
    OK(cuMemcpyDtoH_v2(host, border - 8, 16));
    TRUE(host[0] == 254 && host[1] == 5000 && host[2] == 5000 && host[3] == 257);

    /* What lies there. */
    int kind = 0;
    OK(cuPointerGetAttribute(&kind, 2, range + 100));
    TRUE(kind == 2);
    Handle again;
    OK(cuMemRetainAllocationHandle(&again, (void *)(range + size + 8)));
    OK(cuMemRelease(again));
    EXPECT(1, cuMemRelease(again));
    EXPECT(1, cuMemRetainAllocationHandle(&again, (void *)(range + 3 * size)));
    EXPECT(1, cuMemFree_v2(range));

    /* Whole mappings are unmapped; what is left keeps its contents, and a new allocation takes the place. */
    EXPECT(1, cuMemUnmap(range, size / 2));
    OK(cuMemUnmap(range, size));
    EXPECT(1, cuMemUnmap(range, size));
    OK(cuMemcpyDtoH_v2(host, range + size, 8));
    TRUE(host[0] == 5000 && host[1] == 257);
    OK(cuMemCreate(&again, size, &properties, 0));
    OK(cuMemMap(range, size, 0, again, 0));
    OK(cuMemSetAccess(range, size, &access, 1));
    OK(cuMemcpyHtoD_v2(range, host, 8));
    OK(cuMemUnmap(range, 3 * size));
    OK(cuMemRelease(again));
    OK(cuMemRelease(memory[2]));
    EXPECT(1, cuMemAddressFree(range, 3 * size));
    OK(cuMemAddressFree(range, 4 * size));
    EXPECT(1, cuMemAddressFree(range, 4 * size));
    free(host);
    puts("done");
    return 0;
}

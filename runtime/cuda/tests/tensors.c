/* Tensor maps as CUDA's users have them: made by the host, passed by value. The declarations are this program's own. */
#include "checks.h"

typedef struct link *Link;

struct tensor_map {
    _Alignas(64) uint32_t words[32];
};

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(Context *context, int device);
int cuCtxSetCurrent(Context context);
int cuMemAlloc_v2(Address *address, size_t bytes);
int cuMemcpyDtoH_v2(void *to, Address from, size_t bytes);
int cuMemcpyHtoD_v2(Address to, const void *from, size_t bytes);
int cuModuleLoadData(Module *module, const void *image);
int cuModuleGetFunction(Function *function, Module module, const char *name);
int cuLaunchKernel(Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **arguments, void **extra);
int cuTensorMapEncodeTiled(struct tensor_map *map, int type, unsigned rank, void *address, const uint64_t *sizes,
                           const uint64_t *strides, const unsigned *box, const unsigned *steps, int interleave, int swizzle,
                           int promotion, int outside);
int cuTensorMapEncodeIm2col(struct tensor_map *map, int type, unsigned rank, void *address, const uint64_t *sizes,
                            const uint64_t *strides, const int *lower, const int *upper, unsigned channels, unsigned pixels,
                            const unsigned *steps, int interleave, int swizzle, int promotion, int outside);
int cuTensorMapEncodeIm2colWide(struct tensor_map *map, int type, unsigned rank, void *address, const uint64_t *sizes,
                                const uint64_t *strides, int lower, int upper, unsigned channels, unsigned pixels,
                                const unsigned *steps, int interleave, int mode, int swizzle, int promotion, int outside);
int cuTensorMapReplaceAddress(struct tensor_map *map, void *address);
int cuLinkCreate(unsigned count, int *options, void **values, Link *link);
int cuLinkAddData(Link link, int kind, void *data, size_t size, const char *name, unsigned count, int *options, void **values);
int cuLinkComplete(Link link, void **image, size_t *size);
int cuLinkDestroy(Link link);

enum { INVALID_VALUE = 1, PTX = 1, U32 = 2 };

/* A box of 4 by 4 words from column 4, row 1 on comes to shared memory, and each thread writes one of them. */
static char kernel[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 out)\n{\n"
    "    .shared .align 128 .b8 data[64];\n    .shared .align 8 .b64 barrier;\n"
    "    .reg .pred %p;\n    .reg .b32 %t, %x, %y, %v;\n    .reg .b64 %m, %o, %d;\n"
    "    mov.b64 %m, map;\n    cvta.param.u64 %m, %m;\n    ld.param.u64 %o, [out];\n    mov.u32 %t, %tid.x;\n"
    "    setp.ne.u32 %p, %t, 0;\n    @%p bra ready;\n"
    "    mbarrier.init.shared.b64 [barrier], 1;\n    mbarrier.arrive.expect_tx.shared.b64 _, [barrier], 64;\n"
    "    mov.u32 %x, 4;\n    mov.u32 %y, 1;\n"
    "    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [data], [%m, {%x, %y}], [barrier];\n"
    "ready:\n    bar.sync 0;\n"
    "waiting:\n    mbarrier.try_wait.parity.shared.b64 %p, [barrier], 0;\n    @!%p bra waiting;\n"
    "    mul.wide.u32 %d, %t, 4;\n    add.u64 %o, %o, %d;\n    mov.u32 %x, data;\n    mad.lo.u32 %x, %t, 4, %x;\n"
    "    ld.shared.u32 %v, [%x];\n    st.global.u32 [%o], %v;\n    ret;\n}\n";

static void loads(void)
{
    uint32_t content[4][8], copied[16];
    for (unsigned place = 0; place < 32; place++)
        content[place / 8][place % 8] = 100 + place;
    Address tensor, out;
    OK(cuMemAlloc_v2(&tensor, sizeof content));
    OK(cuMemAlloc_v2(&out, sizeof copied));
    OK(cuMemcpyHtoD_v2(tensor, content, sizeof content));
    const uint64_t sizes[] = {7, 4}, strides[] = {32};
    const unsigned box[] = {4, 4}, steps[] = {1, 1};
    struct tensor_map map;
    OK(cuTensorMapEncodeTiled(&map, U32, 2, (void *)(uintptr_t)(tensor + 256), sizes, strides, box, steps, 0, 0, 0, 0));
    OK(cuTensorMapReplaceAddress(&map, (void *)(uintptr_t)tensor));
    EXPECT(INVALID_VALUE, cuTensorMapReplaceAddress(&map, (void *)(uintptr_t)(tensor + 8)));

    /* Through the linker's first functions. */
    Link link;
    void *image;
    size_t size;
    OK(cuLinkCreate(0, NULL, NULL, &link));
    OK(cuLinkAddData(link, PTX, kernel, sizeof kernel, "kernel", 0, NULL, NULL));
    OK(cuLinkComplete(link, &image, &size));
    Module module;
    Function function;
    OK(cuModuleLoadData(&module, image));
    OK(cuLinkDestroy(link));
    OK(cuModuleGetFunction(&function, module, "k"));
    void *arguments[] = {&map, &out};
    OK(cuLaunchKernel(function, 1, 1, 1, 16, 1, 1, 0, NULL, arguments, NULL));
    OK(cuMemcpyDtoH_v2(copied, out, sizeof copied));
    for (unsigned place = 0; place < 16; place++) {
        unsigned x = 4 + place % 4, y = 1 + place / 4;
        EXPECT((int)(x < 7 && y < 4 ? 100 + 8 * y + x : 0), (int)copied[place]);
    }
}

static void refusals(void)
{
    const uint64_t sizes[] = {64, 8, 8}, strides[] = {256, 2048};
    const unsigned box[] = {16, 4, 2}, steps[] = {1, 1, 1}, far[] = {1, 9, 1};
    const int lower[] = {-1}, upper[] = {1}, beyond[] = {40000};
    void *address = (void *)0x10000;
    struct tensor_map map;
    OK(cuTensorMapEncodeTiled(&map, U32, 3, address, sizes, strides, box, steps, 0, 2, 3, 0));
    EXPECT(INVALID_VALUE, cuTensorMapEncodeTiled(NULL, U32, 3, address, sizes, strides, box, steps, 0, 2, 3, 0));
    EXPECT(INVALID_VALUE, cuTensorMapEncodeTiled(&map, 13, 3, address, sizes, strides, box, steps, 0, 2, 3, 0));
    EXPECT(INVALID_VALUE, cuTensorMapEncodeTiled(&map, U32, 6, address, sizes, strides, box, steps, 0, 2, 3, 0));
    EXPECT(INVALID_VALUE, cuTensorMapEncodeTiled(&map, U32, 3, address, sizes, strides, box, far, 0, 2, 3, 0));
    EXPECT(INVALID_VALUE, cuTensorMapEncodeTiled(&map, U32, 3, address, sizes, strides, box, steps, 3, 2, 3, 0));
    EXPECT(INVALID_VALUE, cuTensorMapEncodeTiled(&map, U32, 3, address, sizes, strides, box, steps, 0, 1, 3, 0));
    EXPECT(INVALID_VALUE, cuTensorMapEncodeTiled(&map, U32, 3, address, sizes, strides, box, steps, 0, 2, 3, 1));
    OK(cuTensorMapEncodeTiled(&map, U32, 3, address, sizes, strides, box, steps, 1, 1, 0, 0));
    OK(cuTensorMapEncodeTiled(&map, U32, 3, address, sizes, strides, box, steps, 2, 1, 0, 0));
    EXPECT(INVALID_VALUE, cuTensorMapEncodeTiled(&map, U32, 2, address, sizes, strides, box, steps, 1, 1, 0, 0));
    OK(cuTensorMapEncodeIm2col(&map, U32, 3, address, sizes, strides, lower, upper, 16, 1024, steps, 0, 0, 0, 0));
    struct tensor_map wide;
    OK(cuTensorMapEncodeIm2col(&map, U32, 3, address, sizes, strides, lower, upper, 16, 1024, steps, 0, 2, 0, 0));
    OK(cuTensorMapEncodeIm2colWide(&wide, U32, 3, address, sizes, strides, -1, 1, 16, 1024, steps, 0, 1, 2, 0, 0));
    EXPECT(0, memcmp(&map, &wide, sizeof map));
    EXPECT(INVALID_VALUE, cuTensorMapEncodeIm2colWide(&wide, U32, 3, address, sizes, strides, -1, 1, 16, 8, steps, 0, 2, 2, 0, 0));
    EXPECT(INVALID_VALUE, cuTensorMapEncodeIm2colWide(&wide, U32, 3, address, sizes, strides, 40000, 1, 16, 8, steps, 0, 0, 2, 0, 0));
    EXPECT(INVALID_VALUE, cuTensorMapEncodeIm2col(&map, U32, 2, address, sizes, strides, lower, upper, 16, 8, steps, 0, 0, 0, 0));
    EXPECT(INVALID_VALUE, cuTensorMapEncodeIm2col(&map, U32, 3, address, sizes, strides, beyond, upper, 16, 8, steps, 0, 0, 0, 0));
    EXPECT(INVALID_VALUE, cuTensorMapEncodeIm2col(&map, U32, 3, address, sizes, strides, lower, upper, 16, 1025, steps, 0, 0, 0, 0));
}

int main(void)
{
    Context context;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    loads();
    refusals();
    puts("done");
    return 0;
}

/* A program whose kernels launch kernels and copy. The declarations are this program's own. */
#include "checks.h"

int cuInit(unsigned flags);
int cuCtxCreate_v2(Context *context, unsigned flags, int device);
int cuCtxDestroy_v2(Context context);
int cuCtxSynchronize(void);
int cuMemAlloc_v2(Address *address, size_t bytes);
int cuMemcpyHtoD_v2(Address to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, Address from, size_t bytes);
int cuModuleLoadData(Module *module, const void *image);
int cuModuleGetFunction(Function *function, Module module, const char *name);
int cuLaunchKernel(Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **arguments, void **extra);

static const char ptx[] =
    ".version 6.4\n.target sm_60\n.address_size 64\n"
    ".extern .func (.param .b64 r) cudaGetParameterBufferV2\n"
    "    (.param .b64 kernel, .param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 shared);\n"
    ".extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b64 buffer, .param .b64 stream);\n"
    ".extern .func (.param .b32 r) cudaMemcpyAsync\n"
    "    (.param .b64 to, .param .b64 from, .param .b64 bytes, .param .b32 kind, .param .b64 stream);\n"
    ".visible .entry add(.param .u64 sum, .param .u32 value)\n{\n"
    "    .reg .b32 %r;\n    .reg .b64 %d;\n"
    "    ld.param.u64 %d, [sum];\n    ld.param.u32 %r, [value];\n    red.global.add.u32 [%d], %r;\n    ret;\n}\n"
    /* Launches `add` on 2 blocks of 3 threads. */
    ".visible .entry launch(.param .u64 sum, .param .u32 value)\n{\n"
    "    .reg .b32 %r;\n    .reg .b64 %d<4>;\n"
    "    ld.param.u64 %d1, [sum];\n    ld.param.u32 %r, [value];\n    mov.u64 %d2, add;\n"
    "    .param .b64 k;\n    .param .align 4 .b8 grid[12];\n    .param .align 4 .b8 block[12];\n    .param .b32 shared;\n"
    "    .param .b64 b;\n    .param .b64 stream;\n    .param .b32 e;\n"
    "    st.param.b64 [k], %d2;\n    st.param.b32 [grid], 2;\n    st.param.b32 [grid+4], 1;\n    st.param.b32 [grid+8], 1;\n"
    "    st.param.b32 [block], 3;\n    st.param.b32 [block+4], 1;\n    st.param.b32 [block+8], 1;\n    st.param.b32 [shared], 0;\n"
    "    call (b), cudaGetParameterBufferV2, (k, grid, block, shared);\n    ld.param.b64 %d3, [b];\n"
    "    st.u64 [%d3], %d1;\n    st.u32 [%d3+8], %r;\n"
    "    st.param.b64 [k], %d3;\n    st.param.b64 [stream], 0;\n    call (e), cudaLaunchDeviceV2, (k, stream);\n    ret;\n}\n"
    ".visible .entry copy(.param .u64 to, .param .u64 from, .param .u64 bytes)\n{\n"
    "    .reg .b64 %d<4>;\n"
    "    ld.param.u64 %d1, [to];\n    ld.param.u64 %d2, [from];\n    ld.param.u64 %d3, [bytes];\n"
    "    .param .b64 t;\n    .param .b64 f;\n    .param .b64 n;\n    .param .b32 k;\n    .param .b64 s;\n    .param .b32 e;\n"
    "    st.param.b64 [t], %d1;\n    st.param.b64 [f], %d2;\n    st.param.b64 [n], %d3;\n"
    "    st.param.b32 [k], 3;\n    st.param.b64 [s], 0;\n    call (e), cudaMemcpyAsync, (t, f, n, k, s);\n    ret;\n}\n";

int main(void)
{
    Context context;
    Module module;
    Function launch, copy;
    Address words;
    uint32_t value = 7, seen[4] = {100, 1, 2, 3};
    uint64_t bytes = 8, far = 1 << 20;

    OK(cuInit(0));
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&launch, module, "launch"));
    OK(cuModuleGetFunction(&copy, module, "copy"));
    OK(cuMemAlloc_v2(&words, sizeof seen));
    OK(cuMemcpyHtoD_v2(words, seen, sizeof seen));
    void *launched[] = {&words, &value};
    OK(cuLaunchKernel(launch, 1, 1, 1, 2, 1, 1, 0, NULL, launched, NULL));
    Address second = words + 8;
    void *copied[] = {&second, &words, &bytes};
    OK(cuLaunchKernel(copy, 1, 1, 1, 1, 1, 1, 0, NULL, copied, NULL));
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH_v2(seen, words, sizeof seen));
    /* Two threads launch six each. */
    EXPECT(100 + 2 * 6 * 7, (int)seen[0]);
    EXPECT(1, (int)seen[1]);
    EXPECT(100 + 2 * 6 * 7, (int)seen[2]);
    EXPECT(1, (int)seen[3]);

    /* A copy to an unallocated address makes the context unusable, as a kernel's access would. */
    void *astray[] = {&words, &words, &far};
    EXPECT(700, cuLaunchKernel(copy, 1, 1, 1, 1, 1, 1, 0, NULL, astray, NULL));
    EXPECT(700, cuCtxSynchronize());
    EXPECT(700, cuLaunchKernel(launch, 1, 1, 1, 2, 1, 1, 0, NULL, launched, NULL));
    OK(cuCtxDestroy_v2(context));
    puts("done");
    return 0;
}

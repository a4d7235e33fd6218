/* A program that asks for kernels and launches some. The declarations are this program's own. */
#include "checks.h"

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(Context *context, int device);
int cuCtxSetCurrent(Context context);
int cuCtxSynchronize(void);
int cuModuleLoadData(Module *module, const void *image);
int cuModuleGetFunction(Function *function, Module module, const char *name);
int cuModuleGetLoadingMode(unsigned *mode);
int cuFuncGetAttribute(int *value, int attribute, Function function);
int cuFuncGetParamInfo(Function function, size_t index, size_t *offset, size_t *size);
int cuFuncIsLoaded(unsigned *state, Function function);
int cuFuncLoad(Function function);
int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, Function function, void *size, size_t dynamic, int limit);
int cuLaunchKernel(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared, Stream stream, void **params, void **extra);

static unsigned state(Function function)
{
    unsigned state = 7;
    OK(cuFuncIsLoaded(&state, function));
    return state;
}

/* What keeps `late` from being translated shows only when it is lowered. */
static const char *text =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".extern .global .u32 elsewhere;\n"
    ".visible .entry good(.param .u64 out, .param .u32 n) .maxntid 96, 1, 1 {\n"
    ".shared .align 4 .b8 room[20]; .reg .b32 %r; .reg .b64 %a;\n"
    "ld.param.u64 %a, [out]; ld.param.u32 %r, [n]; st.shared.u32 [room], %r; ret; }\n"
    ".func takes_two(.param .align 4 .b8 two[8]) { ret; }\n"
    ".visible .entry late() { .param .align 4 .b8 three[12]; call takes_two, (three); ret; }\n"
    ".visible .entry early() { .reg .b32 %r; ld.global.u32 %r, [elsewhere]; ret; }\n";

int main(void)
{
    Context context;
    Module module;
    Function good, late, early;
    unsigned mode;
    int value, grid, block;
    size_t offset, size;
    Address nowhere = 0;
    unsigned n = 3;
    void *params[] = {&nowhere, &n};
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetLoadingMode(&mode));
    OK(cuModuleGetFunction(&good, module, "good"));
    EXPECT(500, cuModuleGetFunction(&early, module, "none"));
    EXPECT(218, cuModuleGetFunction(&early, module, "early"));
    if (mode == 1) {
        TRUE(state(good) == 1);
        EXPECT(218, cuModuleGetFunction(&late, module, "late"));
        puts("eager");
        return 0;
    }

    /* What a kernel declares is known before it is translated. */
    OK(cuFuncGetAttribute(&value, 0, good));
    TRUE(value == 96);
    OK(cuFuncGetAttribute(&value, 1, good));
    TRUE(value == 20);
    OK(cuFuncGetParamInfo(good, 1, &offset, &size));
    TRUE(offset == 8 && size == 4);
    EXPECT(1, cuFuncGetParamInfo(good, 2, &offset, &size));
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, good, NULL, 0, 0));
    TRUE(block > 0 && block <= 96 && block % 32 == 0 && grid > 0);
    TRUE(state(good) == 0);
    OK(cuLaunchKernel(good, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    OK(cuCtxSynchronize());
    TRUE(state(good) == 1);

    /* A refused launch leaves the context as it was. */
    OK(cuModuleGetFunction(&late, module, "late"));
    TRUE(state(late) == 0);
    EXPECT(218, cuLaunchKernel(late, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    EXPECT(218, cuFuncLoad(late));
    TRUE(state(late) == 0);
    OK(cuLaunchKernel(good, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    OK(cuCtxSynchronize());
    puts("lazy");
    return 0;
}

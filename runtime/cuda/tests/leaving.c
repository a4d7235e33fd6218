/* Returns from main while kernels run. The argument says how: `queued`, after an asynchronous launch that takes minutes; `called`,
   while another thread's launch goes on from dispatch to dispatch. */
#include <pthread.h>
#include <unistd.h>

#include "checks.h"

int cuInit(unsigned flags);
int cuCtxCreate_v2(Context *context, unsigned flags, int device);
int cuCtxSetCurrent(Context context);
int cuModuleLoadData(Module *module, const void *image);
int cuModuleGetFunction(Function *function, Module module, const char *name);
int cuMemAlloc_v2(Address *address, size_t bytes);
int cuLaunchKernel(Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, Stream stream, void **params, void **extra);

/* Each thread does so many rounds, and stores what it computed. */
static const char *const ptx =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry few(.param .u64 out)\n{\n .reg .b32 %r<3>; .reg .b64 %a; .reg .pred %p;\n"
    " ld.param.u64 %a, [out]; mov.u32 %r1, 0; mov.u32 %r2, 1;\n"
    "AGAIN: mad.lo.u32 %r2, %r2, 1664525, 1013904223; add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, 500; @%p bra AGAIN;\n"
    " st.global.u32 [%a], %r2;\n ret;\n}\n"
    ".visible .entry many(.param .u64 out)\n{\n .reg .b32 %r<3>; .reg .b64 %a, %i; .reg .pred %p;\n"
    " ld.param.u64 %a, [out]; mov.u64 %i, 0; mov.u32 %r2, 1;\n"
    "AGAIN: mad.lo.u32 %r2, %r2, 1664525, 1013904223; add.u64 %i, %i, 1; setp.lt.u64 %p, %i, 0x10000000000; @%p bra AGAIN;\n"
    " st.global.u32 [%a], %r2;\n ret;\n}\n";

static Context context;
static volatile int begun;

static Function kernel(const char *name)
{
    Module module;
    Function function;
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, name));
    return function;
}

static void *call(void *name)
{
    Address out;
    void *params[] = {&out};
    Function function;
    OK(cuCtxSetCurrent(context));
    function = kernel(name);
    OK(cuMemAlloc_v2(&out, 4));
    /* The driver's compiler has been used before. */
    OK(cuLaunchKernel(kernel("few"), 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    begun = 1;
    cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
    pause();
    return NULL;
}

int main(int count, char **arguments)
{
    const char *how = count > 2 ? arguments[2] : "";
    pthread_t thread;
    OK(cuInit(0));
    OK(cuCtxCreate_v2(&context, 0, 0));
    if (strcmp(how, "queued") == 0) {
        Address out;
        void *params[] = {&out};
        OK(cuMemAlloc_v2(&out, 4));
        OK(cuLaunchKernel(kernel("few"), 65535, 64, 1, 256, 1, 1, 0, NULL, params, NULL));
    } else {
        TRUE(pthread_create(&thread, NULL, call, "many") == 0);
        while (!begun) usleep(1000);
        usleep(300000);
    }
    /* Without a line's end, the text is in the buffer still. */
    printf("leaves");
    return 7;
}

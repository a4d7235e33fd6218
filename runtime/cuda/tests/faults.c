/* Kernels that access memory where there is none: the launch ends with an error, and the process lives. */
#include "checks.h"
#include <sys/wait.h>
#include <unistd.h>

int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(Context *, int);
int cuDevicePrimaryCtxRelease_v2(int);
int cuCtxSetCurrent(Context);
int cuCtxSynchronize(void);
int cuModuleLoadData(Module *, const void *);
int cuModuleGetFunction(Function *, Module, const char *);
int cuLaunchKernel(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void **, void **);
int cuMemAlloc_v2(Address *, size_t);
int cuMemFree_v2(Address);
int cuMemcpyDtoH_v2(void *, Address, size_t);

#define KERNEL(body) ".version 7.5\n.target sm_75\n.address_size 64\n" \
    ".visible .entry kernel(.param .u64 address)\n{\n .reg .b32 %r; .reg .b64 %a; .reg .pred %p;\n" \
    " ld.param.u64 %a, [address];\n" body " ret;\n}\n"

static const char *const STORE = KERNEL(" mov.u32 %r, 1; st.global.u32 [%a], %r;\n");
static const char *const POLL = KERNEL("AGAIN: ld.volatile.global.u32 %r, [%a]; setp.eq.u32 %p, %r, 0; @%p bra AGAIN;\n");

static const char *const VECTOR = KERNEL(" st.global.v4.b32 [%a], {%r, %r, %r, %r};\n");

enum { ILLEGAL_ADDRESS = 700, MISALIGNED_ADDRESS = 716 };

/* Runs a kernel with an address in a process of its own: an absolute one, or one in memory if the kernel tests its accesses. */
static void run(const char *text, Address address, int tests, int expected)
{
    pid_t child = fork();
    TRUE(child >= 0);
    if (child == 0) {
        Context context;
        Module module;
        Function kernel;
        Address memory;
        char bytes[4];
        void *arguments[] = {&address};
        alarm(600);
        if (tests)
            setenv("PTX2SPV_CUDA_CHECK", "1", 1);
        OK(cuInit(0));
        OK(cuDevicePrimaryCtxRetain(&context, 0));
        OK(cuCtxSetCurrent(context));
        OK(cuMemAlloc_v2(&memory, 64));
        if (tests)
            address += memory;
        OK(cuModuleLoadData(&module, text));
        OK(cuModuleGetFunction(&kernel, module, "kernel"));
        /* A launch that waits for its kernel, since that has loops of unknown length, says so itself. */
        int code = cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL);
        TRUE(code == 0 || (text == POLL && code == expected));
        EXPECT(expected, cuCtxSynchronize());
        EXPECT(expected, cuMemcpyDtoH_v2(bytes, memory, 4));
        EXPECT(expected, cuMemFree_v2(memory));
        OK(cuDevicePrimaryCtxRelease_v2(0));
        exit(0);
    }
    int status;
    TRUE(waitpid(child, &status, 0) == child);
    TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    run(STORE, 0, 0, ILLEGAL_ADDRESS);
    run(POLL, 0, 0, ILLEGAL_ADDRESS);
    run(STORE, 0x7000000000000000, 0, ILLEGAL_ADDRESS);
    run(STORE, 64, 1, ILLEGAL_ADDRESS);
    run(VECTOR, 4, 1, MISALIGNED_ADDRESS);
    run(STORE, 2, 1, MISALIGNED_ADDRESS);
    puts("done");
    return 0;
}

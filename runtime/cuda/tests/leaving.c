/* Returns from main while kernels run. The argument says how: `queued`, after an asynchronous launch that takes minutes; `called`,
   while another thread's launch goes on from dispatch to dispatch; `first`, while the driver compiles the first kernel of all for another
   thread; `callback`, from a host function of another stream than the kernel's; `within`, from a function that a call of the same thread
   calls, where nothing runs. */
#include <pthread.h>
#include <sys/wait.h>
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
int cuStreamCreate(Stream *stream, unsigned flags);
int cuLaunchHostFunc(Stream stream, void (*function)(void *), void *data);
int cuUserObjectCreate(Object *object, void *data, void (*destroy)(void *), unsigned count, unsigned flags);
int cuUserObjectRelease(Object object, unsigned count);

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

enum { STEPS = 20000 };

/* A kernel without loops that takes seconds to compile. */
static const char *long_kernel(void)
{
    static char text[400 + 60 * STEPS];
    char *at = text + sprintf(text, ".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry long(.param .u64 out)\n{\n"
                                    " .reg .b32 %%r; .reg .b64 %%a;\n ld.param.u64 %%a, [out]; ld.global.u32 %%r, [%%a];\n");
    for (int i = 0; i < STEPS; ++i) at += sprintf(at, " mad.lo.u32 %%r, %%r, %%r, %d;\n", i);
    sprintf(at, " st.global.u32 [%%a], %%r;\n ret;\n}\n");
    return text;
}

static Function kernel(const char *name)
{
    Module module;
    Function function;
    OK(cuModuleLoadData(&module, strcmp(name, "long") == 0 ? long_kernel() : ptx));
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
    if (strcmp(name, "long") != 0) OK(cuLaunchKernel(kernel("few"), 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    begun = 1;
    cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
    pause();
    return NULL;
}

/* Holds the lock of the standard input, which never comes. */
static void *read_input(void *nothing)
{
    getchar();
    return nothing;
}

static void leave(void *text)
{
    if (text) printf("%s", (char *)text);
    exit(7);
}

static int is_within, is_forked;

/* Runs after the exit handlers of the library and the driver. */
static void last(void)
{
    if (is_forked) _exit(3);
    if (is_within) printf("leaves");
}

/* A child's exit waits for none of the threads that it doesn't have. */
static void fork_off(void)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        is_forked = 1;
        exit(4);
    }
    TRUE(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

int main(int count, char **arguments)
{
    const char *how = count > 2 ? arguments[2] : "";
    pthread_t thread;
    int ends[2];
    atexit(last);
    OK(cuInit(0));
    OK(cuCtxCreate_v2(&context, 0, 0));
    if (strcmp(how, "queued") == 0 || strcmp(how, "callback") == 0) {
        Address out;
        void *params[] = {&out};
        OK(cuMemAlloc_v2(&out, 4));
        OK(cuLaunchKernel(kernel("few"), 65535, 64, 1, 256, 1, 1, 0, NULL, params, NULL));
        if (strcmp(how, "callback") == 0) {
            Stream stream;
            OK(cuStreamCreate(&stream, 1));
            OK(cuLaunchHostFunc(stream, leave, "leaves"));
            for (;;) pause();
        }
    } else if (strcmp(how, "within") == 0) {
        Object object;
        is_within = 1;
        OK(cuUserObjectCreate(&object, NULL, leave, 1, 1));
        cuUserObjectRelease(object, 1);
    } else {
        TRUE(pthread_create(&thread, NULL, call, strcmp(how, "first") == 0 ? "long" : "many") == 0);
        while (!begun) usleep(1000);
        usleep(300000);
        fork_off();
    }
    TRUE(pipe(ends) == 0 && dup2(ends[0], 0) == 0);
    TRUE(pthread_create(&thread, NULL, read_input, NULL) == 0);
    usleep(100000);
    /* Without a line's end, the text is in the buffer still. */
    printf("leaves");
    return 7;
}

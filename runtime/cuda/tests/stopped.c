/* Nothing happens after a kernel that was stopped: no kernel, copy, memset or host function behind it, and nothing is printed. */
#include "checks.h"
#include <sys/wait.h>
#include <unistd.h>

int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(Context *, int);
int cuCtxSetCurrent(Context);
int cuCtxSynchronize(void);
int cuModuleLoadData(Module *, const void *);
int cuModuleGetFunction(Function *, Module, const char *);
int cuLaunchKernel(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void **, void **);
int cuLaunchHostFunc(Stream, void (*)(void *), void *);
int cuStreamAddCallback(Stream, void (*)(Stream, int, void *), void *, unsigned);
int cuStreamCreate(Stream *, unsigned);
int cuStreamQuery(Stream);
int cuStreamWaitEvent(Stream, Event, unsigned);
int cuStreamBeginCapture_v2(Stream, int);
int cuStreamEndCapture(Stream, Graph *);
int cuGraphInstantiateWithFlags(Exec *, Graph, uint64_t);
int cuGraphLaunch(Exec, Stream);
int cuEventCreate(Event *, unsigned);
int cuEventRecord(Event, Stream);
int cuEventQuery(Event);
int cuMemHostAlloc(void **, size_t, unsigned);
int cuMemHostGetDevicePointer_v2(Address *, void *, unsigned);
int cuMemsetD8Async(Address, unsigned char, size_t, Stream);
int cuMemcpyHtoDAsync_v2(Address, const void *, size_t, Stream);
int cuMemcpyDtoDAsync_v2(Address, Address, size_t, Stream);

enum { NOT_READY = 600, FAILED_ASSERTION = 710, LAUNCH_FAILED = 719, NON_BLOCKING = 1, BLOCKS = 64 };

/* The last thread of a grid stops, after work that takes long enough for the host to submit more meanwhile. */
#define SLOWLY(body) \
    " mov.u32 %r1, 0; mov.u32 %r2, 1;\n" \
    "AGAIN: mad.lo.u32 %r2, %r2, 1664525, 1013904223; add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, 5000; @%p bra AGAIN;\n" \
    " mov.u32 %r1, %ctaid.x; setp.ne.u32 %p, %r1, 63; @%p bra END;\n" body "END: ret;\n"
static const char *const ptx =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 arguments);\n"
    ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);\n"
    ".global .align 1 .b8 text[5] = {114, 97, 110, 10, 0};\n"
    ".visible .entry traps()\n{\n .reg .b32 %r<3>; .reg .pred %p;\n" SLOWLY(" trap;\n") "}\n"
    ".visible .entry asserts()\n{\n .reg .b32 %r<3>; .reg .b64 %a; .reg .pred %p;\n" SLOWLY(
        " mov.u64 %a, text; cvta.global.u64 %a, %a;\n"
        " { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 s;\n"
        " st.param.b64 [m], %a; st.param.b64 [f], %a; st.param.b32 [l], 7; st.param.b64 [n], %a; st.param.b64 [s], 1;\n"
        " call __assertfail, (m, f, l, n, s); }\n") "}\n"
    ".visible .entry writes(.param .u64 address)\n{\n .reg .b32 %r; .reg .b64 %a;\n"
    " ld.param.u64 %a, [address]; mov.u32 %r, 7; st.global.u32 [%a], %r;\n ret;\n}\n"
    ".visible .entry prints()\n{\n .reg .b32 %r; .reg .b64 %a;\n"
    " mov.u64 %a, text; cvta.global.u64 %a, %a;\n"
    " { .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %a; st.param.b64 [b], 0;\n"
    " call (r), vprintf, (a, b); ld.param.b32 %r, [r]; }\n ret;\n}\n";

static Function stops, writes, prints;
static Address memory;
static volatile unsigned *words;
static int error;

/* A call behind a kernel that stops may say so already. */
#define BEHIND(call) do { int code = call; TRUE(code == 0 || code == error); } while (0)

static void called(void *data)
{
    *(volatile int *)data = 1;
}

static void called_back(Stream stream, int status, void *data)
{
    (void)stream;
    *(volatile int *)data = status;
}

static int launch(Function function, Stream stream)
{
    void *arguments[] = {&memory};
    return cuLaunchKernel(function, function == stops ? BLOCKS : 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL);
}

/* Everything that may come behind. The third and the fourth word differ from the others. */
static void follow(Stream stream)
{
    unsigned other = 9;
    BEHIND(launch(writes, stream));
    BEHIND(launch(prints, stream));
    BEHIND(cuMemsetD8Async(memory + 4, 7, 4, stream));
    BEHIND(cuMemcpyDtoDAsync_v2(memory + 8, memory + 16, 4, stream));
    BEHIND(cuMemcpyHtoDAsync_v2(memory + 12, &other, 4, stream));
}

static void same_stream(Stream first, Stream second)
{
    (void)second;
    OK(launch(stops, first));
    follow(first);
}

static void default_stream(Stream first, Stream second)
{
    (void)second;
    OK(launch(stops, first));
    follow(NULL);
}

static void by_event(Stream first, Stream second)
{
    Event event;
    OK(cuEventCreate(&event, 0));
    OK(launch(stops, first));
    BEHIND(cuEventRecord(event, first));
    BEHIND(cuStreamWaitEvent(second, event, 0));
    follow(second);
}

static void in_a_graph(Stream first, Stream second)
{
    Graph graph;
    Exec exec;
    (void)second;
    OK(cuStreamBeginCapture_v2(first, 0));
    OK(launch(stops, first));
    OK(launch(writes, first));
    OK(launch(prints, first));
    OK(cuMemsetD8Async(memory + 4, 7, 4, first));
    OK(cuStreamEndCapture(first, &graph));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    BEHIND(cuGraphLaunch(exec, first));
    follow(first);
}

/* The error is found by a query. */
static void query(Stream first, Stream second)
{
    Event event;
    int code;
    (void)second;
    OK(cuEventCreate(&event, 2));
    OK(launch(stops, first));
    BEHIND(cuEventRecord(event, first));
    while ((code = cuEventQuery(event)) == NOT_READY)
        usleep(1000);
    TRUE(code == error);
    follow(first);
}

static void run(const char *name, int expected, void (*behind)(Stream, Stream))
{
    pid_t child = fork();
    TRUE(child >= 0);
    if (child == 0) {
        Context context;
        Module module;
        Stream first, second;
        static volatile int was_called = -1, status = -1;
        int called_before = -1;
        error = expected;
        alarm(600);
        OK(cuInit(0));
        OK(cuDevicePrimaryCtxRetain(&context, 0));
        OK(cuCtxSetCurrent(context));
        OK(cuModuleLoadData(&module, ptx));
        OK(cuModuleGetFunction(&stops, module, name));
        OK(cuModuleGetFunction(&writes, module, "writes"));
        OK(cuModuleGetFunction(&prints, module, "prints"));
        OK(cuMemHostAlloc((void **)&words, 64, 0));
        OK(cuMemHostGetDevicePointer_v2(&memory, (void *)words, 0));
        OK(cuStreamCreate(&first, 0));
        OK(cuStreamCreate(&second, NON_BLOCKING));
        for (unsigned index = 0; index < 16; index++)
            words[index] = index;
        /* The kernels are translated, and do what they should. */
        OK(launch(writes, first));
        OK(cuCtxSynchronize());
        TRUE(words[0] == 7);
        words[0] = 0;
        behind(first, second);
        BEHIND(cuLaunchHostFunc(first, called, (void *)&was_called));
        called_before = cuStreamAddCallback(first, called_back, (void *)&status, 0);
        TRUE(called_before == 0 || called_before == error);
        EXPECT(error, cuCtxSynchronize());
        EXPECT(error, cuCtxSynchronize());
        EXPECT(error, cuStreamQuery(second));
        EXPECT(error, launch(writes, second));
        for (unsigned index = 0; index < 16; index++)
            TRUE(words[index] == index);
        TRUE(was_called == -1 && status != 0);
        fflush(stdout);
        _exit(0);
    }
    int status;
    TRUE(waitpid(child, &status, 0) == child);
    TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    void (*const cases[])(Stream, Stream) = {same_stream, default_stream, by_event, in_a_graph, query};
    for (unsigned index = 0; index < sizeof cases / sizeof *cases; index++) {
        run("traps", LAUNCH_FAILED, cases[index]);
        run("asserts", FAILED_ASSERTION, cases[index]);
    }
    puts("done");
    return 0;
}

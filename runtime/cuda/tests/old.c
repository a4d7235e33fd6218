/* A program that launches as before CUDA 4, with pointers of 32 bits too, copies between contexts, and changes edges of a graph. The declarations are this program's
   own. */
#include "checks.h"

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(Context *context, int device);
int cuCtxSetCurrent(Context context);
int cuCtxCreate_v2(Context *context, unsigned flags, int device);
int cuCtxPopCurrent_v2(Context *context);
int cuCtxDestroy_v2(Context context);
int cuCtxEnablePeerAccess(Context peer, unsigned flags);
int cuCtxDisablePeerAccess(Context peer);
int cuMemAlloc_v2(Address *address, size_t bytes);
int cuMemFree_v2(Address address);
int cuModuleUnload(Module module);
int cuModuleGetGlobal_v2(Address *address, size_t *bytes, Module module, const char *name);
int cuMemcpyHtoD_v2(Address to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, Address from, size_t bytes);
int cuMemcpyPeer(Address to, Context to_context, Address from, Context from_context, size_t bytes);
int cuMemcpyPeerAsync(Address to, Context to_context, Address from, Context from_context, size_t bytes, Stream stream);
int cuModuleLoadData(Module *module, const void *image);
int cuModuleGetFunction(Function *function, Module module, const char *name);
int cuFuncSetBlockShape(Function function, int x, int y, int z);
int cuFuncSetSharedSize(Function function, unsigned bytes);
int cuParamSetSize(Function function, unsigned bytes);
int cuParamSeti(Function function, int offset, unsigned value);
int cuParamSetf(Function function, int offset, float value);
int cuParamSetv(Function function, int offset, void *bytes, unsigned count);
int cuLaunch(Function function);
int cuLaunchGrid(Function function, int width, int height);
int cuLaunchGridAsync(Function function, int width, int height, Stream stream);
int cuGraphCreate(Graph *graph, unsigned flags);
int cuGraphAddEmptyNode(Node *node, Graph graph, const Node *after, size_t count);
int cuGraphAddDependencies_v2(Graph graph, const Node *from, const Node *to, const void *data, size_t count);
int cuGraphRemoveDependencies(Graph graph, const Node *from, const Node *to, size_t count);
int cuGraphRemoveDependencies_v2(Graph graph, const Node *from, const Node *to, const void *data, size_t count);
int cuGraphGetEdges_v2(Graph graph, Node *from, Node *to, void *data, size_t *count);
int cuGraphNodeGetDependencies_v2(Node node, Node *nodes, void *data, size_t *count);
int cuGraphNodeGetDependentNodes(Node node, Node *nodes, size_t *count);
int cuGraphNodeGetDependentNodes_v2(Node node, Node *nodes, void *data, size_t *count);
int cuGraphDestroy(Graph graph);

/* out[row * 64 + i] = i * factor + term, with i counting through a row of blocks, and one row of blocks for each row. */
static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 out, .param .f32 factor, .param .u32 term)\n{\n"
    "    .reg .b64 %d;\n    .reg .b32 %i, %r, %n;\n    .reg .f32 %f, %g;\n"
    "    mov.u32 %i, %ctaid.x;\n    mov.u32 %n, %ntid.x;\n    mov.u32 %r, %tid.x;\n    mad.lo.u32 %i, %i, %n, %r;\n"
    "    cvt.rn.f32.u32 %f, %i;\n    ld.param.f32 %g, [factor];\n    mul.f32 %f, %f, %g;\n"
    "    ld.param.u32 %r, [term];\n    cvt.rn.f32.u32 %g, %r;\n    add.f32 %f, %f, %g;\n"
    "    mov.u32 %r, %ctaid.y;\n    mad.lo.u32 %i, %r, 64, %i;\n"
    "    ld.param.u64 %d, [out];\n    mad.wide.u32 %d, %i, 4, %d;\n    st.global.f32 [%d], %f;\n    ret;\n}\n";

static void launches(void)
{
    Module module;
    Function function;
    Address out;
    float zeros[128] = {0}, seen[128];
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, "k"));
    OK(cuMemAlloc_v2(&out, sizeof seen));
    OK(cuMemcpyHtoD_v2(out, zeros, sizeof zeros));
    EXPECT(1, cuLaunch(function));
    EXPECT(1, cuFuncSetBlockShape(function, 32, 0, 1));
    OK(cuFuncSetBlockShape(function, 32, 1, 1));
    OK(cuFuncSetSharedSize(function, 64));
    OK(cuParamSetv(function, 0, &out, sizeof out));
    OK(cuParamSetf(function, 8, 0.5));
    OK(cuParamSeti(function, 12, 3));
    /* A launch fails until the size of the arguments is set. */
    EXPECT(1, cuLaunch(function));
    OK(cuParamSetSize(function, 16));
    EXPECT(1, cuLaunchGrid(function, 2, 0));
    OK(cuLaunch(function));
    OK(cuMemcpyDtoH_v2(seen, out, sizeof seen));
    for (int i = 0; i < 128; ++i)
        TRUE(seen[i] == (i < 32 ? i * 0.5f + 3 : 0));
    OK(cuParamSeti(function, 12, 4));
    OK(cuLaunchGrid(function, 2, 2));
    OK(cuMemcpyDtoH_v2(seen, out, sizeof seen));
    for (int i = 0; i < 128; ++i)
        TRUE(seen[i] == i % 64 * 0.5f + 4);
    OK(cuParamSetf(function, 8, 2));
    OK(cuLaunchGridAsync(function, 2, 1, NULL));
    OK(cuMemcpyDtoH_v2(seen, out, sizeof seen));
    TRUE(seen[63] == 130 && seen[64] == 4);
    EXPECT(1, cuParamSeti(function, -4, 1));
    EXPECT(1, cuParamSeti(function, 4096, 1));
    EXPECT(1, cuParamSetSize(function, 5000));
}

/* Sums blocks of 32 numbers, scales them by a constant, and counts the blocks: as nvcc 1.1 wrote it, for hosts of 32 bits. */
static const char short_pointers[] =
    ".version 1.1\n.target sm_11\n.const .align 4 .b8 scale[4] = {3,0,0,0};\n.global .align 4 .b8 blocks[4];\n"
    ".entry sums\n{\n    .reg .u32 %r<20>;\n    .reg .pred %p;\n    .param .u32 in;\n    .param .u32 out;\n"
    "    .shared .align 4 .b8 part[128];\n"
    "    cvt.u32.u16 %r1, %tid.x;\n    cvt.u32.u16 %r2, %ctaid.x;\n    mul.lo.u32 %r3, %r2, 32;\n    add.u32 %r3, %r3, %r1;\n"
    "    mul.lo.u32 %r3, %r3, 4;\n    ld.param.u32 %r4, [in];\n    add.u32 %r4, %r4, %r3;\n    ld.global.u32 %r5, [%r4+0];\n"
    "    mov.u32 %r6, part;\n    mul.lo.u32 %r7, %r1, 4;\n    add.u32 %r7, %r7, %r6;\n    st.shared.u32 [%r7+0], %r5;\n"
    "    bar.sync 0;\n    setp.ne.u32 %p, %r1, 0;\n    @%p bra done;\n    mov.u32 %r8, 0;\n    mov.u32 %r9, 0;\n"
    "again:\n    ld.shared.u32 %r10, [%r6+0];\n    add.u32 %r8, %r8, %r10;\n    add.u32 %r6, %r6, 4;\n    add.u32 %r9, %r9, 1;\n"
    "    setp.ne.u32 %p, %r9, 32;\n    @%p bra again;\n    ld.const.u32 %r11, [scale];\n    mul.lo.u32 %r8, %r8, %r11;\n"
    "    ld.param.u32 %r12, [out];\n    mul.lo.u32 %r13, %r2, 4;\n    add.u32 %r12, %r12, %r13;\n    st.global.u32 [%r12+0], %r8;\n"
    "    mov.u32 %r14, blocks;\n    atom.global.add.u32 %r15, [%r14+0], 1;\ndone:\n    exit;\n}\n";

static void short_addresses(void)
{
    Module module;
    Function function;
    Address in, out, scale, blocks;
    size_t bytes;
    unsigned numbers[128], seen[4], sum, room, factor = 5;
    int result;
    OK(cuModuleLoadData(&module, short_pointers));
    OK(cuModuleGetFunction(&function, module, "sums"));
    OK(cuModuleGetGlobal_v2(&scale, &bytes, module, "scale"));
    TRUE(bytes == 4);
    OK(cuMemcpyHtoD_v2(scale, &factor, 4));
    OK(cuMemAlloc_v2(&in, sizeof numbers));
    /* Generic addresses leave 1 GiB, of which at least half is on one side of a multiple of 2 GiB. Where memory is scarce, it is
     * 16 MiB at least. */
    room = 300u << 20;
    while ((result = cuMemAlloc_v2(&out, room)) == 2 && room > (4u << 20))
        room /= 2;
    OK(result);
    for (unsigned i = 0; i < 128; ++i)
        numbers[i] = i * i;
    OK(cuMemcpyHtoD_v2(in, numbers, sizeof numbers));
    OK(cuFuncSetBlockShape(function, 32, 1, 1));
    /* The host had pointers of 32 bits: the low halves of these. */
    OK(cuParamSeti(function, 0, (unsigned)in));
    OK(cuParamSeti(function, 4, (unsigned)out + room - 16));
    OK(cuParamSetSize(function, 8));
    OK(cuLaunchGrid(function, 4, 1));
    OK(cuMemcpyDtoH_v2(seen, out + room - 16, sizeof seen));
    for (unsigned block = 0; block < 4; ++block) {
        sum = 0;
        for (unsigned i = 32 * block; i < 32 * block + 32; ++i)
            sum += i * i;
        TRUE(seen[block] == 5 * sum);
    }
    OK(cuModuleGetGlobal_v2(&blocks, &bytes, module, "blocks"));
    OK(cuMemcpyDtoH_v2(seen, blocks, 4));
    TRUE(seen[0] == 4);
    OK(cuMemFree_v2(out));
    OK(cuMemFree_v2(in));
    OK(cuModuleUnload(module));
    /* What is allocated now may be out of reach of such a module. */
    OK(cuMemAlloc_v2(&in, 4));
    EXPECT(801, cuModuleLoadData(&module, short_pointers));
    OK(cuMemFree_v2(in));
}

static void peers(Context context)
{
    Context other, popped;
    Address here, there;
    int number = 8, seen = 0;
    OK(cuMemAlloc_v2(&here, 4));
    OK(cuMemcpyHtoD_v2(here, &number, 4));
    OK(cuCtxCreate_v2(&other, 0, 0));
    OK(cuMemAlloc_v2(&there, 4));
    OK(cuMemcpyPeer(there, other, here, context, 4));
    OK(cuMemcpyDtoH_v2(&seen, there, 4));
    TRUE(seen == 8);
    number = 9;
    OK(cuMemcpyHtoD_v2(there, &number, 4));
    OK(cuMemcpyPeerAsync(here, context, there, other, 4, NULL));
    OK(cuMemcpyDtoH_v2(&seen, here, 4));
    TRUE(seen == 9);
    EXPECT(217, cuCtxEnablePeerAccess(context, 0));
    EXPECT(1, cuCtxEnablePeerAccess(context, 1));
    EXPECT(201, cuCtxEnablePeerAccess(other, 0));
    EXPECT(705, cuCtxDisablePeerAccess(context));
    OK(cuCtxPopCurrent_v2(&popped));
    OK(cuCtxDestroy_v2(other));
    EXPECT(201, cuMemcpyPeer(here, context, here, other, 4));
}

static void edges(void)
{
    Graph graph;
    Node nodes[3], from[4], to[4];
    size_t count = 4;
    uint64_t data[4] = {7, 7, 7, 7};
    OK(cuGraphCreate(&graph, 0));
    for (int i = 0; i < 3; ++i)
        OK(cuGraphAddEmptyNode(&nodes[i], graph, NULL, 0));
    OK(cuGraphAddDependencies_v2(graph, (Node[]){nodes[0], nodes[0]}, (Node[]){nodes[1], nodes[2]}, NULL, 2));
    OK(cuGraphGetEdges_v2(graph, from, to, data, &count));
    TRUE(count == 2 && from[0] == nodes[0] && from[1] == nodes[0]);
    TRUE(data[0] == 0 && data[1] == 0 && data[2] == 7);
    /* Nothing is written past the given count. */
    data[0] = data[1] = 7;
    count = 1;
    OK(cuGraphGetEdges_v2(graph, from, to, data, &count));
    TRUE(count == 1 && data[0] == 0 && data[1] == 7);
    count = 4;
    OK(cuGraphNodeGetDependentNodes(nodes[0], to, &count));
    TRUE(count == 2 && to[0] == nodes[1] && to[1] == nodes[2]);
    count = 4;
    OK(cuGraphNodeGetDependencies_v2(nodes[2], from, data, &count));
    TRUE(count == 1 && from[0] == nodes[0]);
    OK(cuGraphRemoveDependencies(graph, nodes, nodes + 1, 1));
    EXPECT(1, cuGraphRemoveDependencies_v2(graph, nodes, nodes + 1, NULL, 1));
    count = 4;
    OK(cuGraphNodeGetDependentNodes_v2(nodes[0], to, data, &count));
    TRUE(count == 1 && to[0] == nodes[2]);
    data[0] = 1;
    /* A port that only kernels have. */
    EXPECT(1, cuGraphAddDependencies_v2(graph, nodes, nodes + 1, data, 1));
    OK(cuGraphDestroy(graph));
}

int main(void)
{
    Context context;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    short_addresses();
    launches();
    peers(context);
    edges();
    puts("done");
    return 0;
}

/* Graphs: parameters of nodes, child graphs, memory of graphs, user objects. The declarations are this program's own. */
#include "checks.h"

/* CUgraphNodeParams with the members that are used here. */
struct kernel_params {
    Function function;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
    void *kernel, *context;
};

struct set_params {
    Address address;
    size_t pitch;
    unsigned value, element;
    size_t width, height;
};

struct call_params {
    void (*function)(void *);
    void *data;
};

struct side {
    size_t x, y, z, level;
    int kind;
    const void *host;
    Address device;
    void *array, *reserved;
    size_t pitch, height;
};

struct copy {
    struct side from, to;
    size_t width, height, depth;
};

struct allocation_params {
    int type, handles, place, device;
    char rest[72];
    const void *access;
    size_t access_count, bytes;
    Address address;
};

struct any_params {
    int kind, gap[3];
    union {
        long long size[29];
        struct kernel_params kernel;
        struct {
            int flags, gap;
            void *context;
            struct copy copy;
        } copy;
        struct set_params set;
        struct call_params call;
        Graph graph;
        Event event;
        struct allocation_params allocation;
        Address address;
    };
    long long gap2;
};

int cuInit(unsigned flags);
int cuCtxCreate_v2(Context *context, unsigned flags, int device);
int cuCtxSynchronize(void);
int cuMemAlloc_v2(Address *address, size_t bytes);
int cuMemAllocAsync(Address *address, size_t bytes, Stream stream);
int cuMemFreeAsync(Address address, Stream stream);
int cuMemFree_v2(Address address);
int cuMemcpyDtoH_v2(void *to, Address from, size_t bytes);
int cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, Stream stream);
int cuMemsetD32_v2(Address address, unsigned value, size_t count);
int cuMemsetD32Async(Address address, unsigned value, size_t count, Stream stream);
int cuModuleLoadData(Module *module, const void *image);
int cuModuleGetFunction(Function *function, Module module, const char *name);
int cuStreamCreate(Stream *stream, unsigned flags);
int cuStreamSynchronize(Stream stream);
int cuStreamBeginCapture_v2(Stream stream, int mode);
int cuStreamEndCapture(Stream stream, Graph *graph);
int cuEventCreate(Event *event, unsigned flags);
int cuEventQuery(Event event);
int cuEventRecordWithFlags(Event event, Stream stream, unsigned flags);
int cuStreamWaitEvent(Stream stream, Event event, unsigned flags);
int cuDeviceGetGraphMemAttribute(int device, int attribute, void *value);
int cuGraphCreate(Graph *graph, unsigned flags);
int cuGraphDestroy(Graph graph);
int cuGraphClone(Graph *clone, Graph graph);
int cuGraphGetNodes(Graph graph, Node *nodes, size_t *count);
int cuGraphNodeGetType(Node node, int *kind);
int cuGraphAddNode(Node *node, Graph graph, const Node *after, size_t count, struct any_params *params);
int cuGraphAddNode_v2(Node *node, Graph graph, const Node *after, const void *data, size_t count, struct any_params *params);
int cuGraphAddKernelNode_v2(Node *node, Graph graph, const Node *after, size_t count, const struct kernel_params *params);
int cuGraphAddMemsetNode(Node *node, Graph graph, const Node *after, size_t count, const struct set_params *params, Context context);
int cuGraphAddMemcpyNode(Node *node, Graph graph, const Node *after, size_t count, const struct copy *params, Context context);
int cuGraphAddHostNode(Node *node, Graph graph, const Node *after, size_t count, const struct call_params *params);
int cuGraphAddEmptyNode(Node *node, Graph graph, const Node *after, size_t count);
int cuGraphAddChildGraphNode(Node *node, Graph graph, const Node *after, size_t count, Graph child);
int cuGraphAddEventRecordNode(Node *node, Graph graph, const Node *after, size_t count, Event event);
int cuGraphAddEventWaitNode(Node *node, Graph graph, const Node *after, size_t count, Event event);
int cuGraphAddMemAllocNode(Node *node, Graph graph, const Node *after, size_t count, struct allocation_params *params);
int cuGraphAddMemFreeNode(Node *node, Graph graph, const Node *after, size_t count, Address address);
int cuGraphKernelNodeGetParams_v2(Node node, struct kernel_params *params);
int cuGraphKernelNodeGetAttribute(Node node, int attribute, void *value);
int cuGraphKernelNodeSetAttribute(Node node, int attribute, const void *value);
int cuGraphKernelNodeCopyAttributes(Node to, Node from);
int cuGraphMemsetNodeGetParams(Node node, struct set_params *params);
int cuGraphMemcpyNodeGetParams(Node node, struct copy *params);
int cuGraphHostNodeGetParams(Node node, struct call_params *params);
int cuGraphMemAllocNodeGetParams(Node node, struct allocation_params *params);
int cuGraphMemFreeNodeGetParams(Node node, Address *address);
int cuGraphEventRecordNodeGetEvent(Node node, Event *event);
int cuGraphEventRecordNodeSetEvent(Node node, Event event);
int cuGraphEventWaitNodeGetEvent(Node node, Event *event);
int cuGraphEventWaitNodeSetEvent(Node node, Event event);
int cuGraphExecEventRecordNodeSetEvent(Exec exec, Node node, Event event);
int cuGraphChildGraphNodeGetGraph(Node node, Graph *graph);
int cuGraphExecChildGraphNodeSetParams(Exec exec, Node node, Graph graph);
int cuGraphNodeFindInClone(Node *node, Node original, Graph clone);
int cuGraphNodeSetParams(Node node, struct any_params *params);
int cuGraphExecNodeSetParams(Exec exec, Node node, struct any_params *params);
int cuGraphNodeSetEnabled(Exec exec, Node node, unsigned enabled);
int cuGraphNodeGetEnabled(Exec exec, Node node, unsigned *enabled);
int cuGraphInstantiateWithFlags(Exec *exec, Graph graph, uint64_t flags);
int cuGraphExecGetFlags(Exec exec, uint64_t *flags);
int cuGraphExecUpdate(Exec exec, Graph graph, Node *node, int *result);
int cuGraphLaunch(Exec exec, Stream stream);
int cuGraphExecDestroy(Exec exec);
int cuGraphDebugDotPrint(Graph graph, const char *path, unsigned flags);
int cuUserObjectCreate(Object *object, void *data, void (*destroy)(void *), unsigned count, unsigned flags);
int cuUserObjectRetain(Object object, unsigned count);
int cuUserObjectRelease(Object object, unsigned count);
int cuGraphRetainUserObject(Graph graph, Object object, unsigned count, unsigned flags);
int cuGraphReleaseUserObject(Graph graph, Object object, unsigned count);

static const char ptx[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    /* *word = *word * 10 + digit. */
    ".visible .entry append(.param .u64 word, .param .u32 digit)\n{\n"
    "    .reg .b32 %r<3>;\n    .reg .b64 %d;\n"
    "    ld.param.u64 %d, [word];\n    ld.param.u32 %r1, [digit];\n    ld.global.u32 %r2, [%d];\n"
    "    mad.lo.u32 %r2, %r2, 10, %r1;\n    st.global.u32 [%d], %r2;\n    ret;\n}\n";

static Function append;
static Stream stream;
static Address word;

static uint32_t read_word(Address address)
{
    uint32_t value;
    OK(cuMemcpyDtoH_v2(&value, address, sizeof value));
    return value;
}

/* Launches a graph on a word of zero, and returns the word afterwards. */
static uint32_t launch(Exec exec)
{
    OK(cuMemsetD32_v2(word, 0, 1));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    return read_word(word);
}

/* The parameters of a launch that appends a digit. They point to the digit, which is read by the call that gets them. */
static struct any_params digit(const unsigned *value)
{
    static void *params[2];
    struct any_params any = {0};
    params[0] = &word;
    params[1] = (void *)value;
    any.kernel = (struct kernel_params){append, {1, 1, 1}, {1, 1, 1}, 0, params, NULL, NULL, NULL};
    return any;
}

static Node add_digit(Graph graph, Node after, unsigned value)
{
    Node node;
    struct any_params params = digit(&value);
    OK(cuGraphAddNode(&node, graph, &after, after != NULL, &params));
    return node;
}

static void nodes_of_all_kinds(void)
{
    Graph graph, clone;
    Exec exec;
    Node first, second, empty, found;
    struct kernel_params kernel;
    unsigned enabled, value = 5, cooperative[16] = {1}, seen[16];
    int kind, result;
    OK(cuGraphCreate(&graph, 0));
    first = add_digit(graph, NULL, 1);
    second = add_digit(graph, first, 2);
    OK(cuGraphKernelNodeGetParams_v2(second, &kernel));
    TRUE(kernel.function == append && kernel.grid[0] == 1 && kernel.block[2] == 1 && kernel.extra == NULL);
    TRUE(*(Address *)kernel.params[0] == word && *(unsigned *)kernel.params[1] == 2);
    /* The parameters that were read can be used again. */
    *(unsigned *)kernel.params[1] = 2;
    OK(cuGraphAddKernelNode_v2(&found, graph, &second, 1, &kernel));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    TRUE(launch(exec) == 122);

    struct any_params params = digit(&value);
    OK(cuGraphNodeSetParams(second, &params));
    TRUE(launch(exec) == 122);
    OK(cuGraphExecUpdate(exec, graph, &empty, &result));
    TRUE(result == 0 && launch(exec) == 152);
    value = 7;
    OK(cuGraphExecNodeSetParams(exec, first, &params));
    TRUE(launch(exec) == 752);
    OK(cuGraphNodeSetEnabled(exec, second, 0));
    OK(cuGraphNodeGetEnabled(exec, second, &enabled));
    TRUE(enabled == 0 && launch(exec) == 72);
    OK(cuGraphNodeSetEnabled(exec, second, 1));
    TRUE(launch(exec) == 752);

    OK(cuGraphKernelNodeGetAttribute(first, 2, seen));
    TRUE(seen[0] == 0);
    OK(cuGraphKernelNodeSetAttribute(first, 2, cooperative));
    OK(cuGraphKernelNodeCopyAttributes(second, first));
    OK(cuGraphKernelNodeGetAttribute(second, 2, seen));
    TRUE(seen[0] == 1);
    EXPECT(1, cuGraphKernelNodeGetAttribute(second, 3, seen));
    /* New parameters leave the attributes as they are. */
    OK(cuGraphNodeSetParams(first, &params));
    OK(cuGraphKernelNodeGetAttribute(first, 2, seen));
    TRUE(seen[0] == 1);

    /* The clone has its own nodes. */
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphNodeFindInClone(&found, second, clone));
    TRUE(found != second);
    OK(cuGraphKernelNodeGetParams_v2(found, &kernel));
    TRUE(*(unsigned *)kernel.params[1] == 5);
    EXPECT(1, cuGraphNodeFindInClone(&found, found, clone));
    EXPECT(1, cuGraphNodeFindInClone(&found, second, graph));

    struct any_params nothing = {0};
    nothing.kind = 5;
    OK(cuGraphAddNode_v2(&empty, graph, &second, NULL, 1, &nothing));
    OK(cuGraphNodeGetType(empty, &kind));
    TRUE(kind == 5);
    EXPECT(1, cuGraphNodeSetEnabled(exec, empty, 0));
    EXPECT(1, cuGraphKernelNodeGetParams_v2(empty, &kernel));
    EXPECT(910, cuGraphExecUpdate(exec, graph, &empty, &result));
    TRUE(result == 2);
    nothing.kind = 8;
    EXPECT(801, cuGraphAddNode(&empty, graph, NULL, 0, &nothing));
    nothing.kind = 99;
    EXPECT(1, cuGraphAddNode(&empty, graph, NULL, 0, &nothing));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(clone));
    OK(cuGraphDestroy(graph));
}

static void count_up(void *counter)
{
    ++*(volatile int *)counter;
}

static void copies_fills_and_calls(void)
{
    Graph graph;
    Exec exec;
    Node set, copy, call;
    int counter = 0;
    uint32_t target[4] = {0};
    struct set_params sets = {word, 0, 0x1234, 2, 2, 1}, set_seen;
    struct copy copies = {{.kind = 2, .device = word}, {.kind = 1, .host = target}, 4, 1, 1}, copy_seen;
    struct call_params calls = {count_up, &counter}, call_seen;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemsetNode(&set, graph, NULL, 0, &sets, NULL));
    OK(cuGraphAddMemcpyNode(&copy, graph, &set, 1, &copies, NULL));
    OK(cuGraphAddHostNode(&call, graph, &copy, 1, &calls));
    OK(cuGraphMemsetNodeGetParams(set, &set_seen));
    TRUE(!memcmp(&sets, &set_seen, sizeof sets));
    OK(cuGraphMemcpyNodeGetParams(copy, &copy_seen));
    TRUE(copy_seen.from.device == word && copy_seen.to.host == target && copy_seen.width == 4);
    OK(cuGraphHostNodeGetParams(call, &call_seen));
    TRUE(call_seen.function == count_up && call_seen.data == &counter);
    EXPECT(1, cuGraphMemcpyNodeGetParams(call, &copy_seen));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    TRUE(counter == 1 && target[0] == 0x12341234 && target[1] == 0);

    struct any_params other = {0};
    other.kind = 1;
    other.copy.copy = copies;
    other.copy.copy.to.host = &target[2];
    OK(cuGraphExecNodeSetParams(exec, copy, &other));
    EXPECT(1, cuGraphExecNodeSetParams(exec, set, &other));
    other.kind = 2;
    other.set = (struct set_params){word, 0, 9, 4, 1, 1};
    OK(cuGraphExecNodeSetParams(exec, set, &other));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    TRUE(counter == 2 && target[2] == 9 && target[0] == 0x12341234);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

static void child_graphs(const char *path)
{
    Graph child, graph, inner;
    Exec exec;
    Node node, after, first;
    size_t count = 0;
    char text[400] = {0};
    OK(cuGraphCreate(&child, 0));
    first = add_digit(child, NULL, 1);
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    after = add_digit(graph, node, 9);
    /* The node has a copy of the graph. Changes of the copy count until the graph is instantiated. */
    add_digit(child, first, 8);
    OK(cuGraphChildGraphNodeGetGraph(node, &inner));
    TRUE(inner != child);
    OK(cuGraphNodeFindInClone(&first, first, inner));
    add_digit(inner, first, 2);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    add_digit(inner, first, 3);
    TRUE(launch(exec) == 129);
    OK(cuGraphExecChildGraphNodeSetParams(exec, node, child));
    TRUE(launch(exec) == 189);
    EXPECT(1, cuGraphExecChildGraphNodeSetParams(exec, node, graph));
    EXPECT(1, cuGraphExecChildGraphNodeSetParams(exec, after, child));

    OK(cuGraphDebugDotPrint(graph, path, 0));
    FILE *file = fopen(path, "r");
    TRUE(file && fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    TRUE(strstr(text, "n0 -> n1") && strstr(text, "Kernel") && strstr(text, "Graph"));
    OK(cuGraphDestroy(graph));
    EXPECT(1, cuGraphGetNodes(inner, NULL, &count));
    TRUE(launch(exec) == 189);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(child));
}

static void events(void)
{
    Graph graph;
    Exec exec;
    Node record, wait;
    Event one, other, seen;
    OK(cuEventCreate(&one, 2));
    OK(cuEventCreate(&other, 2));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddEventRecordNode(&record, graph, NULL, 0, one));
    OK(cuGraphAddEventWaitNode(&wait, graph, &record, 1, one));
    OK(cuGraphEventRecordNodeGetEvent(record, &seen));
    TRUE(seen == one);
    OK(cuGraphEventWaitNodeSetEvent(wait, other));
    OK(cuGraphEventWaitNodeGetEvent(wait, &seen));
    TRUE(seen == other);
    EXPECT(1, cuGraphEventWaitNodeGetEvent(record, &seen));
    EXPECT(1, cuGraphEventRecordNodeSetEvent(wait, one));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphExecEventRecordNodeSetEvent(exec, record, other));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuEventQuery(other));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

static void memory_of_graphs(void)
{
    Graph graph, captured;
    Exec exec;
    Node allocate, set, copy, release;
    uint64_t used, flags;
    Address address, own;
    struct allocation_params allocation = {1, 0, 1, 0, {0}, NULL, 0, 256, 0}, seen;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemAllocNode(&allocate, graph, NULL, 0, &allocation));
    TRUE(allocation.address != 0);
    OK(cuGraphMemAllocNodeGetParams(allocate, &seen));
    TRUE(seen.address == allocation.address && seen.bytes == 256);
    struct set_params sets = {allocation.address, 0, 42, 4, 64, 1};
    OK(cuGraphAddMemsetNode(&set, graph, &allocate, 1, &sets, NULL));
    struct copy copies = {{.kind = 2, .device = allocation.address + 252}, {.kind = 2, .device = word}, 4, 1, 1};
    OK(cuGraphAddMemcpyNode(&copy, graph, &set, 1, &copies, NULL));
    EXPECT(801, cuGraphClone(&captured, graph));
    OK(cuGraphCreate(&captured, 0));
    EXPECT(801, cuGraphAddChildGraphNode(&release, captured, NULL, 0, graph));
    OK(cuGraphDestroy(captured));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    /* Not the program's before the first launch. */
    EXPECT(1, cuMemsetD32_v2(allocation.address, 0, 1));
    OK(cuDeviceGetGraphMemAttribute(0, 0, &used));
    TRUE(used == 0);
    TRUE(launch(exec) == 42);
    OK(cuDeviceGetGraphMemAttribute(0, 0, &used));
    TRUE(used == 256);
    /* The memory is the program's now, until it is freed. */
    TRUE(read_word(allocation.address + 128) == 42);
    EXPECT(1, cuGraphLaunch(exec, stream));
    OK(cuMemFreeAsync(allocation.address, stream));
    EXPECT(1, cuMemsetD32_v2(allocation.address, 0, 1));
    TRUE(launch(exec) == 42);
    OK(cuMemFree_v2(allocation.address));
    OK(cuGraphExecDestroy(exec));
    /* With the flag, a launch frees the memory of the launch before. */
    OK(cuGraphInstantiateWithFlags(&exec, graph, 1));
    OK(cuGraphExecGetFlags(exec, &flags));
    TRUE(flags == 1);
    TRUE(launch(exec) == 42);
    TRUE(launch(exec) == 42);
    OK(cuMemFree_v2(allocation.address));
    OK(cuGraphExecDestroy(exec));
    /* With a node that frees the memory, too. */
    OK(cuGraphAddMemFreeNode(&release, graph, &copy, 1, allocation.address));
    OK(cuGraphMemFreeNodeGetParams(release, &address));
    TRUE(address == allocation.address);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    TRUE(launch(exec) == 42);
    TRUE(launch(exec) == 42);
    EXPECT(1, cuMemFree_v2(allocation.address));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuDeviceGetGraphMemAttribute(0, 2, &used));
    TRUE(used == 0);

    /* Captured allocations become such nodes. */
    OK(cuStreamBeginCapture_v2(stream, 0));
    OK(cuMemAllocAsync(&own, 64, stream));
    OK(cuMemsetD32Async(own, 17, 16, stream));
    OK(cuMemcpyDtoDAsync_v2(word, own + 60, 4, stream));
    OK(cuMemFreeAsync(own, stream));
    OK(cuStreamEndCapture(stream, &captured));
    OK(cuGraphInstantiateWithFlags(&exec, captured, 0));
    TRUE(launch(exec) == 17);
    TRUE(launch(exec) == 17);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(captured));
    allocation.bytes = 0;
    OK(cuGraphCreate(&graph, 0));
    EXPECT(1, cuGraphAddMemAllocNode(&allocate, graph, NULL, 0, &allocation));
    OK(cuGraphDestroy(graph));
}

static void captured_launches_and_events(void)
{
    Graph inner, outer;
    Exec exec, around;
    Node first, nodes[2];
    Event event;
    size_t count = 2;
    unsigned value = 3;
    /* A captured launch is one of a copy. */
    OK(cuGraphCreate(&inner, 0));
    first = add_digit(inner, NULL, 1);
    OK(cuGraphInstantiateWithFlags(&exec, inner, 0));
    OK(cuStreamBeginCapture_v2(stream, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamEndCapture(stream, &outer));
    OK(cuGraphInstantiateWithFlags(&around, outer, 0));
    struct any_params params = digit(&value);
    OK(cuGraphExecNodeSetParams(exec, first, &params));
    TRUE(launch(exec) == 3 && launch(around) == 1);
    OK(cuGraphExecDestroy(around));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(outer));
    OK(cuGraphDestroy(inner));

    /* External events are nodes of the graph, and no part of the capture. */
    OK(cuEventCreate(&event, 0));
    EXPECT(401, cuEventRecordWithFlags(event, stream, 1));
    EXPECT(401, cuStreamWaitEvent(stream, event, 1));
    OK(cuStreamBeginCapture_v2(stream, 0));
    OK(cuEventRecordWithFlags(event, stream, 1));
    OK(cuStreamWaitEvent(stream, event, 1));
    OK(cuStreamEndCapture(stream, &outer));
    OK(cuGraphGetNodes(outer, nodes, &count));
    TRUE(count == 2);
    OK(cuGraphInstantiateWithFlags(&exec, outer, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuEventQuery(event));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(outer));
}

static void user_objects(void)
{
    Graph graph, clone;
    Exec exec;
    Object object;
    int destroyed = 0;
    OK(cuGraphCreate(&graph, 0));
    add_digit(graph, NULL, 4);
    EXPECT(1, cuUserObjectCreate(&object, &destroyed, count_up, 1, 0));
    EXPECT(1, cuUserObjectCreate(&object, &destroyed, count_up, 0, 1));
    OK(cuUserObjectCreate(&object, &destroyed, count_up, 1, 1));
    OK(cuUserObjectRetain(object, 2));
    EXPECT(1, cuUserObjectRelease(object, 4));
    OK(cuGraphRetainUserObject(graph, object, 2, 0));
    /* The program's three references go to the graph, which has five then. */
    OK(cuGraphRetainUserObject(graph, object, 3, 1));
    EXPECT(1, cuUserObjectRelease(object, 1));
    OK(cuGraphReleaseUserObject(graph, object, 4));
    EXPECT(1, cuGraphReleaseUserObject(graph, object, 2));
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(clone));
    TRUE(destroyed == 0);
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphExecDestroy(exec));
    OK(cuStreamSynchronize(stream));
    TRUE(destroyed == 1);

    OK(cuUserObjectCreate(&object, &destroyed, count_up, 1, 1));
    OK(cuUserObjectRelease(object, 1));
    TRUE(destroyed == 2);
    EXPECT(1, cuUserObjectRetain(object, 1));
}

int main(int count, char **arguments)
{
    Context context;
    Module module;
    TRUE(count == 2);
    OK(cuInit(0));
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&append, module, "append"));
    OK(cuStreamCreate(&stream, 1));
    OK(cuMemAlloc_v2(&word, 4));
    nodes_of_all_kinds();
    copies_fills_and_calls();
    child_graphs(arguments[1]);
    events();
    memory_of_graphs();
    captured_launches_and_events();
    user_objects();
    puts("done");
    return 0;
}

/* Conditional nodes of graphs, and edges with ports. The declarations are this program's own. */
#include "checks.h"

struct kernel_params {
    Function function;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
    void *kernel, *context;
};

struct conditional_params {
    uint64_t condition;
    unsigned kind, size;
    Graph *graphs;
    Context context;
};

/* CUgraphNodeParams with the members that are used here. */
struct any_params {
    int kind, gap[3];
    union {
        long long size[29];
        struct kernel_params kernel;
        struct conditional_params conditional;
    };
    long long gap2;
};

/* CUgraphEdgeData */
struct edge_data {
    unsigned char from_port, to_port, kind, reserved[5];
};

int cuInit(unsigned flags);
int cuCtxCreate_v2(Context *context, unsigned flags, int device);
int cuMemAlloc_v2(Address *address, size_t bytes);
int cuMemcpyDtoH_v2(void *to, Address from, size_t bytes);
int cuMemcpyHtoD_v2(Address to, const void *from, size_t bytes);
int cuModuleLoadData(Module *module, const void *image);
int cuModuleGetFunction(Function *function, Module module, const char *name);
int cuLaunchKernel(Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, Stream stream, void **params, void **extra);
int cuStreamCreate(Stream *stream, unsigned flags);
int cuStreamSynchronize(Stream stream);
int cuStreamBeginCaptureToGraph(Stream stream, Graph graph, const Node *after, const void *data, size_t count, int mode);
int cuStreamEndCapture(Stream stream, Graph *graph);
int cuGraphCreate(Graph *graph, unsigned flags);
int cuGraphDestroy(Graph graph);
int cuGraphClone(Graph *clone, Graph graph);
int cuGraphGetNodes(Graph graph, Node *nodes, size_t *count);
int cuGraphGetEdges(Graph graph, Node *from, Node *to, size_t *count);
int cuGraphGetEdges_v2(Graph graph, Node *from, Node *to, struct edge_data *data, size_t *count);
int cuGraphNodeGetDependencies(Node node, Node *nodes, size_t *count);
int cuGraphNodeGetDependentNodes_v2(Node node, Node *nodes, struct edge_data *data, size_t *count);
int cuGraphNodeGetType(Node node, int *kind);
int cuGraphAddNode_v2(Node *node, Graph graph, const Node *after, const struct edge_data *data, size_t count, struct any_params *params);
int cuGraphAddEmptyNode(Node *node, Graph graph, const Node *after, size_t count);
int cuGraphAddChildGraphNode(Node *node, Graph graph, const Node *after, size_t count, Graph child);
int cuGraphAddDependencies_v2(Graph graph, const Node *from, const Node *to, const struct edge_data *data, size_t count);
int cuGraphRemoveDependencies_v2(Graph graph, const Node *from, const Node *to, const struct edge_data *data, size_t count);
int cuGraphNodeSetParams(Node node, struct any_params *params);
int cuGraphConditionalHandleCreate(uint64_t *condition, Graph graph, Context context, unsigned first, unsigned flags);
int cuGraphInstantiateWithFlags(Exec *exec, Graph graph, uint64_t flags);
int cuGraphExecUpdate(Exec exec, Graph graph, Node *node, int *result);
int cuGraphLaunch(Exec exec, Stream stream);
int cuGraphExecDestroy(Exec exec);

enum { IF, WHILE, SWITCH };
enum { CONDITIONAL = 13, ASSIGN_DEFAULT = 1 };

static const char ptx[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".extern .func cudaGraphSetConditional(.param .b64 condition, .param .b32 value);\n"
    /* *word = *word * 10 + digit. */
    ".visible .entry append(.param .u64 word, .param .u32 digit)\n{\n"
    "    .reg .b32 %r<3>;\n    .reg .b64 %d;\n"
    "    ld.param.u64 %d, [word];\n    ld.param.u32 %r1, [digit];\n    ld.global.u32 %r2, [%d];\n"
    "    mad.lo.u32 %r2, %r2, 10, %r1;\n    st.global.u32 [%d], %r2;\n    ret;\n}\n"
    /* Sets a condition to words[0], and takes one from that unless it is zero. */
    ".visible .entry decide(.param .u64 condition, .param .u64 words)\n{\n"
    "    .reg .b32 %r<3>;\n    .reg .b64 %d<3>;\n    .reg .pred %p;\n"
    "    ld.param.u64 %d1, [condition];\n    ld.param.u64 %d2, [words];\n    ld.global.u32 %r1, [%d2];\n"
    "    { .param .b64 a; .param .b32 b; st.param.b64 [a], %d1; st.param.b32 [b], %r1;\n"
    "      call.uni cudaGraphSetConditional, (a, b); }\n"
    "    setp.ne.u32 %p, %r1, 0;\n    @%p sub.u32 %r1, %r1, 1;\n    st.global.u32 [%d2], %r1;\n    ret;\n}\n";

static Function append, decide;
static Stream stream;
/* The digits, and the words from which conditions come. */
static Address word, words;

static Node add_launch(Graph graph, Node after, Function function, void *first, void *second)
{
    Node node;
    void *params[2] = {first, second};
    struct any_params any = {0};
    any.kernel = (struct kernel_params){function, {1, 1, 1}, {1, 1, 1}, 0, params, NULL, NULL, NULL};
    OK(cuGraphAddNode_v2(&node, graph, &after, NULL, after != NULL, &any));
    return node;
}

static Node add_digit(Graph graph, Node after, unsigned value)
{
    return add_launch(graph, after, append, &word, &value);
}

/* Sets a condition to the word at an index, which it decreases. */
static Node add_decision(Graph graph, Node after, uint64_t condition, int index)
{
    Address from = words + 4 * index;
    return add_launch(graph, after, decide, &condition, &from);
}

static Node add_conditional(Graph graph, Node after, uint64_t condition, unsigned kind, unsigned size, Graph *graphs)
{
    Node node;
    struct any_params any = {.kind = CONDITIONAL};
    any.conditional = (struct conditional_params){condition, kind, size, NULL, NULL};
    OK(cuGraphAddNode_v2(&node, graph, &after, NULL, after != NULL, &any));
    memcpy(graphs, any.conditional.graphs, size * sizeof *graphs);
    return node;
}

/* Launches a graph with given words, and returns the digits that it appends to a 7. */
static uint32_t launch(Exec exec, unsigned a, unsigned b)
{
    unsigned value = 7, given[2] = {a, b};
    OK(cuMemcpyHtoD_v2(word, &value, 4));
    OK(cuMemcpyHtoD_v2(words, given, 8));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(&value, word, 4));
    return value;
}

static void choices(void)
{
    Graph graph, clone, stranger, either[2], cases[3];
    Exec exec;
    Node node, second;
    uint64_t condition, other;
    int kind;
    size_t count = 0;
    struct any_params any = {.kind = CONDITIONAL};
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphConditionalHandleCreate(&condition, graph, NULL, 0, 0));
    OK(cuGraphConditionalHandleCreate(&other, graph, NULL, 1, ASSIGN_DEFAULT));
    TRUE(condition != other);
    EXPECT(1, cuGraphConditionalHandleCreate(&condition, graph, NULL, 0, 2));
    node = add_decision(graph, NULL, condition, 0);
    node = add_conditional(graph, node, condition, IF, 2, either);
    OK(cuGraphNodeGetType(node, &kind));
    TRUE(kind == CONDITIONAL);
    add_digit(either[0], NULL, 1);
    add_digit(either[1], NULL, 2);
    second = add_conditional(graph, node, other, SWITCH, 3, cases);
    add_digit(cases[0], NULL, 3);
    add_digit(cases[1], add_digit(cases[1], NULL, 4), 5);
    add_digit(cases[2], NULL, 6);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    /* The first value of the second condition is one, at each launch. */
    TRUE(launch(exec, 5, 0) == 7145);
    TRUE(launch(exec, 0, 0) == 7245);

    /* Each condition has one node, and each kind of node its number of graphs. */
    any.conditional = (struct conditional_params){condition, IF, 1, NULL, NULL};
    EXPECT(1, cuGraphAddNode_v2(&second, graph, NULL, NULL, 0, &any));
    OK(cuGraphConditionalHandleCreate(&other, graph, NULL, 0, 0));
    any.conditional = (struct conditional_params){other, IF, 3, NULL, NULL};
    EXPECT(1, cuGraphAddNode_v2(&second, graph, NULL, NULL, 0, &any));
    any.conditional = (struct conditional_params){other, WHILE, 2, NULL, NULL};
    EXPECT(1, cuGraphAddNode_v2(&second, graph, NULL, NULL, 0, &any));
    any.conditional = (struct conditional_params){other, SWITCH, 0, NULL, NULL};
    EXPECT(1, cuGraphAddNode_v2(&second, graph, NULL, NULL, 0, &any));
    any.conditional = (struct conditional_params){1, IF, 1, NULL, NULL};
    EXPECT(1, cuGraphAddNode_v2(&second, graph, NULL, NULL, 0, &any));
    EXPECT(801, cuGraphNodeSetParams(node, &any));
    /* A graph has its own conditions, and a node that isn't added leaves its condition and the parameters as they are. */
    OK(cuGraphCreate(&stranger, 0));
    any.conditional = (struct conditional_params){other, IF, 1, NULL, NULL};
    EXPECT(1, cuGraphAddNode_v2(&second, stranger, NULL, NULL, 0, &any));
    OK(cuGraphAddEmptyNode(&second, stranger, NULL, 0));
    EXPECT(1, cuGraphAddNode_v2(&node, graph, &second, NULL, 1, &any));
    TRUE(any.conditional.graphs == NULL);
    OK(cuGraphDestroy(stranger));
    add_conditional(graph, NULL, other, IF, 1, cases);
    EXPECT(801, cuGraphClone(&clone, graph));
    OK(cuGraphDestroy(graph));
    /* The node's graphs are gone with it, but not the executable graph. */
    EXPECT(1, cuGraphGetNodes(either[0], NULL, &count));
    TRUE(launch(exec, 0, 0) == 7245);
    OK(cuGraphExecDestroy(exec));

    /* Without a second graph, zero skips the node; so does a number that has no graph. */
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphConditionalHandleCreate(&condition, graph, NULL, 0, 0));
    OK(cuGraphConditionalHandleCreate(&other, graph, NULL, 0, 0));
    node = add_decision(graph, NULL, condition, 0);
    node = add_conditional(graph, node, condition, IF, 1, either);
    add_digit(either[0], NULL, 1);
    node = add_decision(graph, node, other, 1);
    node = add_conditional(graph, node, other, SWITCH, 2, cases);
    add_digit(cases[0], NULL, 2);
    add_digit(cases[1], NULL, 3);
    add_digit(graph, node, 9);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    TRUE(launch(exec, 0, 0) == 729);
    TRUE(launch(exec, 1, 1) == 7139);
    TRUE(launch(exec, 1, 2) == 719);
    TRUE(launch(exec, 0, 0xffffffff) == 79);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* A loop, captured into the node's graph, with a condition within. */
static void loops(void)
{
    Graph graph, body, within, captured;
    Exec exec, around;
    Node node;
    uint64_t condition, inner;
    unsigned digit = 4;
    int result;
    void *params[2] = {&word, &digit}, *decision[2];
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphConditionalHandleCreate(&condition, graph, NULL, 1, ASSIGN_DEFAULT));
    node = add_conditional(graph, add_digit(graph, NULL, 1), condition, WHILE, 1, &body);
    add_digit(graph, node, 2);
    OK(cuStreamBeginCaptureToGraph(stream, body, NULL, NULL, 0, 0));
    OK(cuLaunchKernel(append, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    decision[0] = &condition;
    decision[1] = &words;
    OK(cuLaunchKernel(decide, 1, 1, 1, 1, 1, 1, 0, stream, decision, NULL));
    OK(cuStreamEndCapture(stream, &captured));
    TRUE(captured == body);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    TRUE(launch(exec, 0, 0) == 7142);
    TRUE(launch(exec, 3, 0) == 7144442);

    /* In each round, a graph that runs in the first two. */
    OK(cuGraphConditionalHandleCreate(&inner, body, NULL, 0, 0));
    node = add_conditional(body, add_decision(body, NULL, inner, 1), inner, IF, 1, &within);
    add_digit(within, NULL, 8);
    {
        Node all[4], from[2] = {node, 0};
        size_t count = 4;
        OK(cuGraphGetNodes(body, all, &count));
        TRUE(count == 4);
        OK(cuGraphAddDependencies_v2(body, from, all, NULL, 1));
    }
    TRUE(launch(exec, 1, 0) == 71442);
    OK(cuGraphExecUpdate(exec, graph, &node, &result));
    TRUE(result == 0 && launch(exec, 2, 2) == 71848442);
    OK(cuGraphInstantiateWithFlags(&around, graph, 0));
    TRUE(launch(around, 1, 1) == 718442);
    OK(cuGraphExecDestroy(around));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

static void ports(void)
{
    Graph graph;
    Exec exec;
    Node first, second, empty, from[4], to[4];
    size_t count = 0;
    const struct edge_data early = {1, 0, 1, {0}}, order = {2, 0, 0, {0}};
    struct edge_data seen[4], wrong[] = {{1, 0, 0, {0}}, {3, 0, 1, {0}}, {0, 0, 1, {0}}, {1, 1, 1, {0}}, {1, 0, 1, {1}}, {1, 0, 2, {0}}};
    OK(cuGraphCreate(&graph, 0));
    first = add_digit(graph, NULL, 1);
    second = add_digit(graph, NULL, 2);
    OK(cuGraphAddEmptyNode(&empty, graph, NULL, 0));
    OK(cuGraphAddDependencies_v2(graph, &first, &second, &early, 1));
    OK(cuGraphAddDependencies_v2(graph, &first, &empty, &order, 1));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i)
        EXPECT(1, cuGraphAddDependencies_v2(graph, &first, &second, &wrong[i], 1));
    /* Only kernels have ports, and only kernels can begin early. */
    EXPECT(1, cuGraphAddDependencies_v2(graph, &empty, &second, &order, 1));
    EXPECT(1, cuGraphAddDependencies_v2(graph, &second, &empty, &early, 1));
    /* Nor does a node depend on itself. */
    EXPECT(1, cuGraphAddDependencies_v2(graph, &second, &second, &early, 1));
    EXPECT(1, cuGraphAddDependencies_v2(graph, &second, &second, NULL, 1));

    OK(cuGraphGetEdges(graph, NULL, NULL, &count));
    TRUE(count == 2);
    count = 4;
    EXPECT(402, cuGraphGetEdges(graph, from, to, &count));
    OK(cuGraphGetEdges_v2(graph, from, to, seen, &count));
    TRUE(count == 2 && from[0] == first && to[0] == second && from[1] == first && to[1] == empty);
    TRUE(!memcmp(&seen[0], &early, sizeof early) && !memcmp(&seen[1], &order, sizeof order));
    /* A list with more places than items is NULL behind them; one with fewer tells how many there are. */
    from[2] = to[3] = first;
    count = 4;
    OK(cuGraphGetEdges_v2(graph, from, to, seen, &count));
    TRUE(count == 2 && !from[2] && !to[3]);
    count = 1;
    OK(cuGraphGetEdges_v2(graph, from, to, seen, &count));
    TRUE(count == 1);
    from[1] = NULL;
    count = 1;
    OK(cuGraphGetNodes(graph, from, &count));
    TRUE(count == 1 && from[0] && !from[1]);
    from[3] = first;
    count = 4;
    OK(cuGraphGetNodes(graph, from, &count));
    TRUE(count == 3 && from[2] && !from[3]);
    to[1] = NULL;
    count = 1;
    OK(cuGraphNodeGetDependentNodes_v2(first, to, seen, &count));
    TRUE(count == 1 && to[0] == second && !to[1]);
    count = 4;
    EXPECT(402, cuGraphNodeGetDependencies(second, from, &count));
    OK(cuGraphNodeGetDependentNodes_v2(first, to, seen, &count));
    TRUE(count == 2 && to[0] == second && seen[0].from_port == 1 && seen[1].from_port == 2);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    TRUE(launch(exec, 0, 0) == 712);
    OK(cuGraphExecDestroy(exec));

    /* An edge is removed by its data. */
    EXPECT(1, cuGraphRemoveDependencies_v2(graph, &first, &second, NULL, 1));
    OK(cuGraphRemoveDependencies_v2(graph, &first, &second, &early, 1));
    count = 4;
    OK(cuGraphNodeGetDependencies(second, from, &count));
    TRUE(count == 0);
    OK(cuGraphDestroy(graph));
}

int main(void)
{
    Context context;
    Module module;
    OK(cuInit(0));
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&append, module, "append"));
    OK(cuModuleGetFunction(&decide, module, "decide"));
    OK(cuStreamCreate(&stream, 1));
    OK(cuMemAlloc_v2(&word, 4));
    OK(cuMemAlloc_v2(&words, 8));
    choices();
    loops();
    ports();
    puts("done");
    return 0;
}

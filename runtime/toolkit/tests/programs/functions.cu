// Functions of the runtime API that few programs call: entry points of the driver, modules that the program loads, nodes of graphs, edges,
// objects that graphs keep, copies in batches, limits of shared memory and function objects.
#include "check.h"
#include <cudaTypedefs.h>
#include <nvfunctional>
#include <sm_60_atomic_functions.h>

__device__ int table[4] = {1, 2, 3, 4};
extern __shared__ char dynamic[];

/* One of two function objects, and a copy of that. */
__global__ void calls(int *p, int n)
{
    nvstd::function<int(int)> chosen = [n](int x) { return x * n; }, same;
    if (threadIdx.x % 2) chosen = [n](int x) { return x - n; };
    same = chosen;
    chosen = nullptr;
    p[threadIdx.x] = chosen == nullptr ? same(10) : 0;
}
__global__ void add(int *p, int value) { p[threadIdx.x] += value; }
__global__ void uses_dynamic(int *p) { dynamic[threadIdx.x] = 1, p[0] = dynamic[0]; }
__global__ void uses_static(int *p)
{
    __shared__ int own[1024];
    own[threadIdx.x] = 1, p[0] = own[threadIdx.x ^ 1];
}

static const char module[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                             ".visible .global .u32 number = 7;\n"
                             ".visible .entry store(.param .u64 to)\n{\n.reg .u64 %p;\n.reg .u32 %r;\n"
                             "ld.param.u64 %p, [to];\nld.global.u32 %r, [number];\nst.global.u32 [%p], %r;\nret;\n}\n";

static void loading(int *memory)
{
    cudaDriverEntryPointQueryResult status;
    void *function = nullptr;
    CHECK(cudaGetDriverEntryPoint("cuDeviceGetCount", &function, cudaEnableDefault, &status));
    int count = 0;
    EXPECT(status == cudaDriverEntryPointSuccess && ((PFN_cuDeviceGetCount)function)(&count) == CUDA_SUCCESS && count > 0);
    CHECK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 12000, cudaEnableDefault, &status));
    EXPECT(status == cudaDriverEntryPointSuccess && function != nullptr);

    cudaLibrary_t library;
    cudaKernel_t kernel, same;
    unsigned kernels = 0;
    int *number, value;
    size_t bytes;
    CHECK(cudaLibraryLoadData(&library, module, nullptr, nullptr, 0, nullptr, nullptr, 0));
    CHECK(cudaLibraryGetKernelCount(&kernels, library));
    CHECK(cudaLibraryGetKernel(&kernel, library, "store"));
    CHECK(cudaLibraryEnumerateKernels(&same, 1, library));
    CHECK(cudaLibraryGetGlobal(&number, &bytes, library, "number"));
    EXPECT(kernels == 1 && same == kernel && bytes == 4);
    void *arguments[] = {&memory};
    CHECK(cudaLaunchKernel((const void *)kernel, 1, 1, arguments, 0, 0));
    CHECK(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDefault));
    EXPECT(value == 7);
    CHECK(cudaLibraryUnload(library));

    const char *name;
    size_t parameters, offset, size;
    CHECK(cudaFuncGetName(&name, add));
    CHECK(cudaFuncGetParamCount((const void *)add, &parameters));
    CHECK(cudaFuncGetParamInfo((const void *)add, 1, &offset, &size));
    EXPECT(strstr(name, "add") != nullptr && parameters == 2 && offset == 8 && size == 4);
}

static void CUDART_CB count_down(void *number) { --*(int *)number; }

static void graphs(int *memory)
{
    cudaGraph_t graph, of_node;
    cudaGraphExec_t exec;
    cudaGraphNode_t to, from, record, from_edge[2], to_edge[2];
    cudaEvent_t first, second, found;
    int in[4] = {10, 20, 30, 40}, other[4] = {5, 6, 7, 8}, out[4] = {};
    CHECK(cudaEventCreate(&first));
    CHECK(cudaEventCreate(&second));
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemcpyNodeToSymbol(&to, graph, nullptr, 0, table, in, sizeof in, 0, cudaMemcpyHostToDevice));
    CHECK(cudaGraphAddMemcpyNodeFromSymbol(&from, graph, nullptr, 0, out, table, sizeof out, 0, cudaMemcpyDeviceToHost));
    cudaGraphNodeParams node = {cudaGraphNodeTypeEventRecord};
    node.eventRecord.event = first;
    cudaGraphEdgeData data[2] = {};
    CHECK(cudaGraphAddNode_v2(&record, graph, &from, data, 1, &node));
    CHECK(cudaGraphAddDependencies_v2(graph, &to, &from, data, 1));
    size_t edges = 2;
    data[0].type = 99;
    CHECK(cudaGraphGetEdges_v2(graph, from_edge, to_edge, data, &edges));
    EXPECT(edges == 2 && data[0].type == cudaGraphDependencyTypeDefault && data[0].from_port == cudaGraphKernelNodePortDefault);
    CHECK(cudaGraphEventRecordNodeSetEvent(record, second));
    CHECK(cudaGraphEventRecordNodeGetEvent(record, &found));
    CHECK(cudaGraphNodeGetContainingGraph(record, &of_node));
    EXPECT(found == second && of_node == graph);

    int held = 2;
    cudaUserObject_t object;
    CHECK(cudaUserObjectCreate(&object, &held, count_down, 1, cudaUserObjectNoDestructorSync));
    CHECK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    cudaGraphInstantiateParams parameters = {};
    parameters.flags = cudaGraphInstantiateFlagAutoFreeOnLaunch;
    CHECK(cudaGraphInstantiateWithParams(&exec, graph, &parameters));
    EXPECT(parameters.result_out == cudaGraphInstantiateSuccess);
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaEventSynchronize(second));
    EXPECT(out[0] == 10 && out[3] == 40);
    CHECK(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, to, table, other, sizeof other, 0, cudaMemcpyHostToDevice));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[0] == 5 && out[3] == 8 && held == 2);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    EXPECT(held == 1);

    void *places[2] = {memory, memory + 2}, *sources[2] = {in, in + 1};
    size_t sizes[2] = {8, 4}, batch = 0, failed;
    cudaMemcpyAttributes order = {cudaMemcpySrcAccessOrderStream};
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMemcpyBatchAsync(places, sources, sizes, 2, &order, &batch, 1, &failed, stream));
    CHECK(cudaMemcpyAsync(out, memory, 12, cudaMemcpyDefault, stream));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(out[0] == 10 && out[1] == 20 && out[2] == 20);
    int device = -1;
    CHECK(cudaStreamGetDevice(stream, &device));
    EXPECT(device == 0);
}

/* Of all compute capabilities 9.0 has most, whatever the device has itself. */
static void shared_memory(int *memory)
{
    const int most = 227 << 10;
    cudaFuncAttributes attributes;
    int blocks = -1;
    size_t available = 0;
    EXPECT(cudaFuncSetAttribute(uses_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1) == cudaErrorInvalidValue);
    EXPECT(cudaFuncSetAttribute(uses_static, cudaFuncAttributeMaxDynamicSharedMemorySize, most) == cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(uses_static, cudaFuncAttributeMaxDynamicSharedMemorySize, most - 4096));
    CHECK(cudaFuncSetAttribute(uses_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    CHECK(cudaFuncGetAttributes(&attributes, uses_dynamic));
    EXPECT(attributes.maxDynamicSharedSizeBytes == 100000);
    cudaGetLastError();
    uses_dynamic<<<1, 32, 100001>>>(memory);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    uses_dynamic<<<1, 32, 100000>>>(memory);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, uses_dynamic, 32, most + 1));
    EXPECT(blocks == 0);
    CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&available, uses_static, 2, 32));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, uses_static, 32, available));
    EXPECT(available > 0 && blocks == 2);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, uses_static, 32, available + 1));
    EXPECT(blocks < 2);
}

static void function_objects(int *memory)
{
    int out[2], n = 3;
    calls<<<1, 2>>>(memory, n);
    CHECK(cudaMemcpy(out, memory, sizeof out, cudaMemcpyDefault));
    nvstd::function<int(int)> times = [&n](int x) { return x * n; }, none;
    EXPECT(out[0] == 30 && out[1] == 7 && times(5) == 15 && !none);
}

int main()
{
    int *memory;
    CHECK(cudaMalloc(&memory, 4096));
    function_objects(memory);
    loading(memory);
    graphs(memory);
    shared_memory(memory);
    printf("right\n");
}

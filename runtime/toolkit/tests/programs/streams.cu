// Streams, events, pinned memory, host functions, a captured graph, and one with a loop.
#include "check.h"

__global__ void increment(int *x, int n, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += by;
}
__global__ void count_down(cudaGraphConditionalHandle more, int *left) { cudaGraphSetConditional(more, --*left > 0); }
static void CUDART_CB count(void *data) { ++*(int *)data; }

int main()
{
    const int n = 1000, streams = 3;
    cudaStream_t stream[streams];
    cudaEvent_t start, done[streams];
    int *host, *device[streams], calls = 0;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaMallocHost(&host, streams * n * sizeof(int)));
    for (int i = 0; i < streams * n; i++) host[i] = i;
    CHECK(cudaEventRecord(start));
    for (int s = 0; s < streams; s++) {
        CHECK(cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&done[s], cudaEventDefault));
        CHECK(cudaMalloc(&device[s], n * sizeof(int)));
        CHECK(cudaMemcpyAsync(device[s], host + s * n, n * sizeof(int), cudaMemcpyHostToDevice, stream[s]));
        increment<<<(n + 127) / 128, 128, 0, stream[s]>>>(device[s], n, s + 1);
        CHECK(cudaMemcpyAsync(host + s * n, device[s], n * sizeof(int), cudaMemcpyDeviceToHost, stream[s]));
        CHECK(cudaLaunchHostFunc(stream[s], count, &calls));
        CHECK(cudaEventRecord(done[s], stream[s]));
        if (s > 0) CHECK(cudaStreamWaitEvent(stream[s], done[s - 1], 0));
        CHECK(cudaStreamSynchronize(stream[s]));
    }
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, start, done[streams - 1]));
    EXPECT(milliseconds >= 0 && calls == streams);
    for (int i = 0; i < streams * n; i++) EXPECT(host[i] == i + i / n + 1);

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaMemset(device[0], 0, n * sizeof(int)));
    CHECK(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 3; i++) increment<<<8, 128, 0, stream[0]>>>(device[0], n, 2);
    CHECK(cudaStreamEndCapture(stream[0], &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int i = 0; i < 5; i++) CHECK(cudaGraphLaunch(exec, stream[0]));
    CHECK(cudaStreamSynchronize(stream[0]));
    CHECK(cudaMemcpy(host, device[0], n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) EXPECT(host[i] == 30);

    cudaGraphExecUpdateResult outcome;
    CHECK(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 3; i++) increment<<<8, 128, 0, stream[0]>>>(device[0], n, -1);
    CHECK(cudaStreamEndCapture(stream[0], &graph));
    CHECK(cudaGraphExecUpdate(exec, graph, nullptr, &outcome));
    EXPECT(outcome == cudaGraphExecUpdateSuccess);
    CHECK(cudaGraphLaunch(exec, stream[0]));
    CHECK(cudaMemcpyAsync(host, device[0], n * sizeof(int), cudaMemcpyDeviceToHost, stream[0]));
    CHECK(cudaStreamSynchronize(stream[0]));
    for (int i = 0; i < n; i++) EXPECT(host[i] == 27);

    cudaGraphNode_t loop;
    cudaGraphConditionalHandle more;
    int rounds = 4;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&more, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams node = {};
    node.type = cudaGraphNodeTypeConditional;
    node.conditional.handle = more;
    node.conditional.type = cudaGraphCondTypeWhile;
    node.conditional.size = 1;
    CHECK(cudaGraphAddNode(&loop, graph, nullptr, 0, &node));
    cudaGraph_t body = node.conditional.phGraph_out[0];
    CHECK(cudaStreamBeginCaptureToGraph(stream[0], body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
    increment<<<8, 128, 0, stream[0]>>>(device[0], n, 5);
    count_down<<<1, 1, 0, stream[0]>>>(more, device[1]);
    CHECK(cudaStreamEndCapture(stream[0], nullptr));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaMemcpy(device[1], &rounds, sizeof rounds, cudaMemcpyHostToDevice));
    CHECK(cudaGraphLaunch(exec, stream[0]));
    CHECK(cudaStreamSynchronize(stream[0]));
    CHECK(cudaMemcpy(host, device[0], n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) EXPECT(host[i] == 47);
    printf("right\n");
}

// Pointers stored in memory: nodes linked through global memory, and arrays of pointers. One block each.
#include "cuda_min.h"

struct Node {
    Node* next;
    u32 value;
    u32 padding;
};

// Thread i makes node i and links it to node order[i] (n for none); then thread 0 follows the chain from node 0.
extern "C" __global__ void linked_list(const u32* order, const u32* values, Node* nodes, u32* visited, u32* length, u32 n) {
    for (u32 i = threadIdx.x; i < n; i += blockDim.x) {
        nodes[i].value = values[i];
        nodes[i].next = order[i] < n ? &nodes[order[i]] : nullptr;
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    u32 count = 0;
    for (const Node* node = nodes; node != nullptr; node = node->next) visited[count++] = node->value;
    *length = count;
}

// A table of row pointers of different lengths, built by one thread and used by all.
extern "C" __global__ void pointer_table(const u32* starts, float* data, float** rows, float* sums, u32 n) {
    if (threadIdx.x == 0) {
        for (u32 r = 0; r <= n; r++) rows[r] = data + starts[r];
    }
    __syncthreads();
    u32 r = threadIdx.x;
    if (r >= n) return;
    float sum = 0.0f;
    for (float* p = rows[r]; p != rows[r + 1]; p++) {
        sum += *p;
        *p = sum;
    }
    sums[r] = sum;
}

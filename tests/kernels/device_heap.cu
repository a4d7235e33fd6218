// Memory that kernels allocate: linked lists of nodes of growing size, arrays handed from thread to thread, and memory
// given back and taken again.
#include "cuda_min.h"

extern "C" __device__ void* malloc(unsigned long size);
extern "C" __device__ void free(void* memory);

struct Node {
    Node* next;
    u32 value;
};

extern "C" __global__ void heap_lists(const u32* lengths, u32* out, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Node* head = nullptr;
    for (u32 k = 0; k < lengths[i]; k++) {
        Node* node = (Node*)malloc(sizeof(Node) + 24 * k);
        if (node == nullptr) {
            out[i] = 0xffffffff;
            return;
        }
        node->next = head;
        node->value = i * k + 1;
        head = node;
    }
    u32 sum = 0;
    while (head != nullptr) {
        sum = 31 * sum + head->value;
        Node* next = head->next;
        free(head);
        head = next;
    }
    out[i] = sum;
}

extern "C" __global__ void heap_exchange(u32* out, u32 size) {
    __shared__ u32* arrays[32];
    u32 i = threadIdx.x;
    u32* mine = (u32*)malloc(4 * size);
    for (u32 k = 0; k < size; k++) mine[k] = 1000 * i + k;
    arrays[i] = mine;
    __syncthreads();
    u32* theirs = arrays[(i + 5) % blockDim.x];
    u32 sum = ((u64)mine & 15) == 0 ? 0 : 1;
    for (u32 k = 0; k < size; k++) sum += theirs[k];
    __syncthreads();
    free(theirs);
    out[i] = sum;
}

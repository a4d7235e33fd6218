// A step of breadth-first search: visits the neighbours of all nodes of this level.
#include "library.h"

extern "C" __global__ void bfs(const u32* __restrict starts, const u32* __restrict edges, u32* levels, u32* reached, u32 level,
                               u32 nodes) {
    u32 node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || levels[node] != level) return;
    for (u32 i = starts[node]; i < starts[node + 1]; i++) {
        u32 to = edges[i];
        if (levels[to] > level + 1 && atomicMin(&levels[to], level + 1) > level + 1) atomicAdd(reached, 1u);
    }
}

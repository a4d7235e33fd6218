// The nearest leaf of a tree of boxes that a ray hits, with a stack in local memory. The tree is complete, each box is a centre and two
// thirds of half its extent. Random boxes don't enclose their children, which makes no difference to the walk.
#include "library.h"

constexpr u32 DEPTH = 16;

struct Vector {
    float x, y, z;
};

// Where the ray enters a box around `centre`; negative if it doesn't.
static __device__ float entry(float4 centre, Vector origin, Vector inverse) {
    float near = 0.0f, far = 1e30f, extent = 1.5f * centre.w;
    float from[3] = {centre.x - origin.x, centre.y - origin.y, centre.z - origin.z}, by[3] = {inverse.x, inverse.y, inverse.z};
#pragma unroll
    for (u32 i = 0; i < 3; i++) {
        float a = (from[i] - extent) * by[i], b = (from[i] + extent) * by[i];
        near = fmaxf(near, fminf(a, b));
        far = fminf(far, fmaxf(a, b));
    }
    return near <= far ? near : -1.0f;
}

extern "C" __global__ void bvh_walk(const float4* __restrict boxes, u32* __restrict hits, u32 side, u32 leaves) {
    u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= side || y >= side) return;
    float step = 2.0f / (float)side;
    Vector origin = {0.0f, 0.0f, -3.0f};
    Vector inverse = {1.0f / fmaf((float)x, step, -0.999f), 1.0f / fmaf((float)y, step, -0.999f), 0.5f};
    u32 stack[DEPTH], height = 0, node = 1, best = 0;
    float nearest = 1e30f;
    while (node) {
        float distance = entry(boxes[node], origin, inverse);
        if (distance < 0.0f || distance >= nearest) {
            node = height ? stack[--height] : 0;
        } else if (node >= leaves) {
            nearest = distance;
            best = node;
            node = height ? stack[--height] : 0;
        } else {
            stack[height++] = 2 * node + 1;
            node = 2 * node;
        }
    }
    hits[y * side + x] = best;
}

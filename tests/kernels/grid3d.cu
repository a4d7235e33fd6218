// Writes to each cell of a volume which thread and block computed it, with three-dimensional grids and blocks.
#include "cuda_min.h"

extern "C" __global__ void grid3d(u32* cells, u32* shape, u32 nx, u32 ny, u32 nz) {
    u32 x = blockIdx.x * blockDim.x + threadIdx.x;
    u32 y = blockIdx.y * blockDim.y + threadIdx.y;
    u32 z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x == 0 && y == 0 && z == 0) {
        shape[0] = blockDim.x;
        shape[1] = blockDim.y;
        shape[2] = blockDim.z;
        shape[3] = gridDim.x;
        shape[4] = gridDim.y;
        shape[5] = gridDim.z;
    }
    if (x >= nx || y >= ny || z >= nz) return;
    u32 thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    u32 block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    cells[(z * ny + y) * nx + x] = block << 16 | thread;
}

// Launches from kernels by the interface of CUDA before 12, whose kernels may wait for their children.
//
//   nvcc -rdc=true -arch=compute_75 -DCUDA_FORCE_CDP1_IF_SUPPORTED -ptx -o launches_before_12.ptx launches_before_12.cu
extern "C" __global__ void add(int* sum, int value) { atomicAdd(sum, value); }

// Sums of parts, each by a child, when these are complete.
extern "C" __global__ void waits(int* sums, int* out, int rounds) {
    int own = threadIdx.x + blockIdx.x * blockDim.x, seen = 0;
    for (int round = 0; round < rounds; round++) {
        add<<<1, 2>>>(sums + own, round + own + 1);
        add<<<3, 1>>>(sums + own, 10 * round);
        cudaDeviceSynchronize();
        seen = 3 * seen + *(volatile int*)&sums[own];
    }
    out[own] = seen;
}

// Depth first: a child's children are complete before its launcher goes on.
extern "C" __global__ void tree(int* sum, int* seen, int depth) {
    if (depth > 0) {
        tree<<<1, 1>>>(sum, seen, depth - 1);
        tree<<<1, 1>>>(sum, seen, depth - 1);
        cudaDeviceSynchronize();
    }
    int before = atomicAdd(sum, 1);
    if (depth > 0) atomicAdd(&seen[depth], before);
}

extern "C" __global__ void streams(int* words) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    add<<<1, 32, 0, stream>>>(words, 2);
    cudaStreamDestroy(stream);
    words[1] = cudaGetLastError();
}

// The barrier of the grid by the functions of the device runtime, as before CUDA 12 and in Numba.
//
//   nvcc -rdc=true -arch=compute_90 -ptx -o grid_handles.ptx grid_handles.cu
extern "C" __global__ void by_handle(unsigned* words, unsigned* out, int rounds) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    unsigned long long handle = cudaCGGetIntrinsicHandle(cudaCGScopeGrid);
    unsigned sum = 0;
    for (int round = 0; round < rounds; round++) {
        words[i] = i * (round + 3);
        sum += 100 * cudaCGSynchronize(handle, 0);
        sum += words[(i + 33 * round) % n];
        sum += 10000 * cudaCGSynchronizeGrid(handle, 0);
    }
    out[i] = sum;
}

extern "C" __global__ void handle_queries(unsigned* out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long handle = cudaCGGetIntrinsicHandle(cudaCGScopeGrid);
    unsigned a = 77, b = 78, c = 79, d = 80;
    unsigned* to = out + 10 * i;
    to[0] = handle != 0;
    to[1] = cudaCGGetSize(&a, &b, handle);
    to[2] = a;
    to[3] = b;
    to[4] = cudaCGGetRank(&c, &d, handle);
    to[5] = c;
    to[6] = d;
    to[7] = cudaCGGetIntrinsicHandle((cudaCGScope)2) != 0;
    to[8] = cudaCGGetIntrinsicHandle(cudaCGScopeInvalid) != 0;
    to[9] = cudaCGSynchronize(0, 0);
}

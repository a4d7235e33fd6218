// A program of one source file: `nvcc` as build.sh calls it, with machine code beside the PTX.
#include <cstdio>

template <typename T>
__global__ void sums(const T* a, const T* b, T* sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sum[i] = a[i] + b[i];
}

__constant__ int table[4] = {1, 10, 100, 1000};

__global__ void places(int* out) { out[threadIdx.x] = table[threadIdx.x & 3] + blockDim.x; }

int main() {
    float *a, *b, *sum, host[3] = {1, 2, 3};
    cudaMalloc(&a, sizeof host);
    cudaMalloc(&b, sizeof host);
    cudaMalloc(&sum, sizeof host);
    cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(b, host, sizeof host, cudaMemcpyHostToDevice);
    sums<<<1, 32>>>(a, b, sum, 3);
    places<<<1, 32>>>(nullptr);
    cudaMemcpy(host, sum, sizeof host, cudaMemcpyDeviceToHost);
    std::printf("%g %g %g\n", host[0], host[1], host[2]);
}

#include "kernels.h"
#include <cstdio>
#include <vector>

cudaError_t squares(int *x, int n)
{
    int *device;
    cudaError_t error = cudaMalloc(&device, n * sizeof(int));
    if (error == cudaSuccess) error = cudaMemcpy(device, x, n * sizeof(int), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) square<< <(n + 63) / 64, 64>> >(device, n);
    if (error == cudaSuccess) error = cudaMemcpy(x, device, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(device);
    return error;
}

int main()
{
    std::vector<int> x(1000);
    for (int i = 0; i < 1000; i++) x[i] = i;
    if (cudaError_t error = squares(x.data(), 1000)) return printf("%s\n", cudaGetErrorString(error));
    for (int i = 0; i < 1000; i++)
        if (x[i] != expected(i)) return printf("%d: %d\n", i, x[i]);
    printf("right\n");
}

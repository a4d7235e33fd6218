// With horner.cu a program of two source files, compiled apart (`-rdc=true`): a function, a constant and a counter of the other one.
extern __device__ float horner(float x);
extern __device__ unsigned calls;

extern "C" __global__ void polynomial(const float* x, float* y, unsigned* count) {
    y[threadIdx.x] = horner(x[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) *count = calls;
}

int main() {
    polynomial<<<1, 4>>>(nullptr, nullptr, nullptr);
    return cudaDeviceSynchronize() != cudaSuccess;
}

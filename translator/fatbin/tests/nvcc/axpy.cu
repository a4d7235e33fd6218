extern "C" __global__ void axpy(float *y, const float *x, float a)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] += a * x[i];
}

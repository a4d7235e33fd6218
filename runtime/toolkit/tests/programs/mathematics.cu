// The device's mathematics against the host's, and numbers of 16 bits.
#include "check.h"
#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

const int FUNCTIONS = 12;
template <class T> __host__ __device__ void evaluate(T x, T *y)
{
    T size = fabs(x) + T(0.125);
    y[0] = sin(x), y[1] = cos(x), y[2] = exp(x / 4), y[3] = log(size), y[4] = pow(size, T(1.5)), y[5] = erf(x / 8);
    y[6] = tanh(x / 4), y[7] = fmod(x, T(0.75)), y[8] = atan2(x, T(2)), y[9] = cbrt(x), y[10] = lgamma(size), y[11] = log1p(size);
}
template <class T> __global__ void on_device(const T *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) evaluate(x[i], y + i * FUNCTIONS);
}
template <class T> void test(double tolerance)
{
    const int n = 300;
    T *x, *y;
    CHECK(cudaMallocManaged(&x, n * sizeof(T)));
    CHECK(cudaMallocManaged(&y, n * FUNCTIONS * sizeof(T)));
    for (int i = 0; i < n; i++) x[i] = T((i - 150) * 0.171875);
    on_device<<<(n + 63) / 64, 64>>>(x, y, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) {
        T host[FUNCTIONS];
        evaluate(x[i], host);
        for (int j = 0; j < FUNCTIONS; j++) {
            bool near = std::fabs((double)y[i * FUNCTIONS + j] - (double)host[j]) <= tolerance * (1 + std::fabs((double)host[j]));
            if (!near) printf("function %d of %g: %.17g, not %.17g\n", j, (double)x[i], (double)y[i * FUNCTIONS + j], (double)host[j]);
            EXPECT(near);
        }
    }
}

__global__ void not_numbers(double *x) { x[0] = nan(""), x[1] = nanf("1"), x[2] = std::nan("0x8"); }

__global__ void small(const __half *a, __half2 *b, __nv_bfloat16 *c)
{
    int i = threadIdx.x;
    b[i] = __hfma2(__half2half2(a[i]), make_half2(a[i], 2.0f), __float2half2_rn(1.0f));
    c[i] = __nv_bfloat16(__half2float(a[i])) * __nv_bfloat16(3.0f);
}

int main()
{
    double *nans;
    CHECK(cudaMallocManaged(&nans, 3 * sizeof(double)));
    not_numbers<<<1, 1>>>(nans);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 3; i++) EXPECT(std::isnan(nans[i]));
    test<float>(1e-6);
    test<double>(4e-15);
    __half *a;
    __half2 *b;
    __nv_bfloat16 *c;
    CHECK(cudaMallocManaged(&a, 64));
    CHECK(cudaMallocManaged(&b, 128));
    CHECK(cudaMallocManaged(&c, 64));
    for (int i = 0; i < 32; i++) a[i] = __float2half(i * 0.5f);
    small<<<1, 32>>>(a, b, c);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++) {
        EXPECT(__low2float(b[i]) == i * 0.5f * i * 0.5f + 1 && __high2float(b[i]) == i + 1);
        EXPECT((float)c[i] == i * 1.5f);
    }
    printf("right\n");
}

// cuComplex.h on the device against the C++ library's complex numbers.
#include "check.h"
#include <complex>
#include <cuComplex.h>

__global__ void evaluate(const cuDoubleComplex *a, const cuComplex *b, cuDoubleComplex *x, cuComplex *y)
{
    cuDoubleComplex p = a[0], q = a[1];
    x[0] = cuCadd(p, q), x[1] = cuCsub(p, q), x[2] = cuCmul(p, q), x[3] = cuCdiv(p, q), x[4] = cuConj(p), x[5] = cuCfma(p, q, p);
    x[6] = make_cuDoubleComplex(cuCabs(p), cuCreal(q)), x[7] = cuCdiv(make_cuDoubleComplex(1e300, 1e300), make_cuDoubleComplex(2e300, 0));
    x[8] = make_cuDoubleComplex(cuCabs(make_cuDoubleComplex(3e300, -4e300)), cuCabs(make_cuDoubleComplex(0, -0.0)));
    y[0] = cuCmulf(b[0], b[1]), y[1] = cuCdivf(b[0], b[1]), y[2] = make_cuComplex(cuCabsf(b[0]), cuCimagf(b[1]));
}

int main()
{
    std::complex<double> *a, *x;
    std::complex<float> *b, *y;
    CHECK(cudaMallocManaged(&a, 2 * sizeof(*a)));
    CHECK(cudaMallocManaged(&x, 9 * sizeof(*x)));
    CHECK(cudaMallocManaged(&b, 2 * sizeof(*b)));
    CHECK(cudaMallocManaged(&y, 3 * sizeof(*y)));
    a[0] = {1.5, -2.25}, a[1] = {-0.75, 3.5}, b[0] = {1.5f, -2.25f}, b[1] = {-0.75f, 3.5f};
    evaluate<<<1, 1>>>((cuDoubleComplex *)a, (cuComplex *)b, (cuDoubleComplex *)x, (cuComplex *)y);
    CHECK(cudaDeviceSynchronize());
    std::complex<double> p = a[0], q = a[1];
    const std::complex<double> right[] = {p + q, p - q, p * q, p / q, std::conj(p), p * q + p, {std::abs(p), -0.75}, {0.5, 0.5}, {5e300, 0}};
    for (int i = 0; i < 9; i++) EXPECT(std::abs(x[i] / 8.0 - right[i] / 8.0) <= 1e-15 * std::abs(right[i]));
    const std::complex<float> right_f[] = {b[0] * b[1], b[0] / b[1], {std::abs(b[0]), 3.5f}};
    for (int i = 0; i < 3; i++) EXPECT(std::abs(y[i] - right_f[i]) <= 3e-7f * std::abs(right_f[i]));
    printf("right\n");
}

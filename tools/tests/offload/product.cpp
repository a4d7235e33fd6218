// A product of matrices and a histogram with atomics.
#include <cstdio>
#include <vector>
int main()
{
    const int n = 64;
    std::vector<float> a(n * n), b(n * n), c(n * n);
    std::vector<int> counts(16);
    for (int i = 0; i < n * n; i++) { a[i] = float(i % 7); b[i] = float(i % 5); }
    float *x = a.data(), *y = b.data(), *z = c.data();
    int *h = counts.data();
#pragma acc parallel loop collapse(2) copyin(x[0:n*n], y[0:n*n]) copyout(z[0:n*n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
#pragma acc loop seq
            for (int k = 0; k < n; k++) sum += x[i * n + k] * y[k * n + j];
            z[i * n + j] = sum;
        }
#pragma acc parallel loop copyin(z[0:n*n]) copy(h[0:16])
    for (int i = 0; i < n * n; i++) {
#pragma acc atomic update
        h[int(z[i]) % 16]++;
    }
    std::vector<int> expected(16);
    int bad = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
            bad += sum != c[i * n + j];
            expected[int(sum) % 16]++;
        }
    bad += expected != counts;
    std::puts(bad ? "wrong" : "right");
    return bad != 0;
}

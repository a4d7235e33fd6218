/* Reductions, private variables and a data region. */
#include <stdio.h>
#include <math.h>
int main(void)
{
    enum { N = 4096 };
    static double a[N], b[N];
    double sum = 0, most = -1;
    int count = 0;
    for (int i = 0; i < N; i++) a[i] = i % 97;
#pragma acc data copyin(a) copyout(b)
    {
#pragma acc parallel loop reduction(+:sum) reduction(max:most) reduction(+:count)
        for (int i = 0; i < N; i++) { sum += a[i]; most = fmax(most, a[i]); count += a[i] > 50; }
#pragma acc parallel loop gang worker vector
        for (int i = 0; i < N; i++) b[i] = sqrt(a[i]) + a[(i + 1) % N];
    }
    double s = 0, m = -1; int c = 0, bad = 0;
    for (int i = 0; i < N; i++) { s += a[i]; m = fmax(m, a[i]); c += a[i] > 50; bad += b[i] != sqrt(a[i]) + a[(i + 1) % N]; }
    if (s != sum || m != most || c != count || bad) { printf("wrong: %g %g, %g %g, %d %d, %d\n", s, sum, m, most, c, count, bad); return 1; }
    puts("right");
}

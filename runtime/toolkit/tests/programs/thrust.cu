// Thrust, unmodified, over CUB: Debian's libthrust-dev and libcub-dev.
#include "check.h"
#include <algorithm>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <vector>

int main()
{
    const int n = 5000;
    auto scramble = [] __host__ __device__(int x) { return x * 7919 % 10007; };
    thrust::device_vector<int> x(n), y(n);
    thrust::sequence(x.begin(), x.end());
    thrust::transform(x.begin(), x.end(), y.begin(), scramble);
    std::vector<int> expected(n);
    long long sum = 0;
    for (int i = 0; i < n; i++) sum += expected[i] = scramble(i);
    EXPECT(thrust::reduce(y.begin(), y.end(), 0ll, thrust::plus<long long>()) == sum);
    thrust::sort(y.begin(), y.end());
    std::sort(expected.begin(), expected.end());
    thrust::host_vector<int> sorted = y;
    thrust::inclusive_scan(y.begin(), y.end(), x.begin());
    thrust::host_vector<int> sums = x;
    for (int i = 0, before = 0; i < n; i++) {
        EXPECT(sorted[i] == expected[i]);
        EXPECT(sums[i] == (before += expected[i]));
    }
    printf("right\n");
}

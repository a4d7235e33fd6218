// Templates, functors, lambdas and classes in kernels.
#include "check.h"
#include <cinttypes>
#include <type_traits>

template <class T, int count> struct Vector {
    T values[count];
    __host__ __device__ T &operator[](int i) { return values[i]; }
    __host__ __device__ const T &operator[](int i) const { return values[i]; }
    template <class F> __host__ __device__ Vector map(F f) const
    {
        Vector result;
        for (int i = 0; i < count; i++) result[i] = f(values[i]);
        return result;
    }
};
template <class T> struct Scale {
    T factor;
    __host__ __device__ T operator()(T x) const { return std::is_floating_point<T>::value ? x * factor : x * factor + 1; }
};
template <class T, int count, class F> __global__ void apply(Vector<T, count> *data, int n, F f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = data[i].map(f);
}
constexpr int square(int x) { return x * x; }
template <class... T> __global__ void total(long long *out, T... values) { *out = (square(3) + ... + values); }

struct Shape {
    virtual __device__ ~Shape() {}
    virtual __device__ int area() const = 0;
};
struct Square : Shape {
    int side;
    explicit __device__ Square(int side) : side(side) {}
    __device__ int area() const override { return side * side; }
};
struct Box : Square {
    using Square::Square;
    __device__ int area() const override { return side * 6 * side; }
};
__global__ void areas(int *out)
{
    Shape *shape = threadIdx.x % 2 ? new Box((int)threadIdx.x) : new Square((int)threadIdx.x);
    out[threadIdx.x] = shape->area();
    delete shape;
}

template <class T> void test()
{
    const int n = 100;
    Vector<T, 3> *data;
    CHECK(cudaMallocManaged(&data, n * sizeof(*data)));
    for (int i = 0; i < n; i++) data[i] = {{T(i), T(2 * i), T(3 * i)}};
    apply<<<4, 32>>>(data, n, Scale<T>{T(2)});
    T offset = T(5);
    apply<<<4, 32>>>(data, n, [=] __host__ __device__(T x) { return x + offset; });
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 3; j++) EXPECT(data[i][j] == Scale<T>{T(2)}(T((j + 1) * i)) + offset);
    CHECK(cudaFree(data));
}

int main()
{
    test<int>();
    test<float>();
    test<unsigned long long>();
    int *area;
    CHECK(cudaMallocManaged(&area, 40 * sizeof(*area)));
    areas<<<1, 40>>>(area);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 40; i++) EXPECT(area[i] == i * i * (i % 2 ? 6 : 1));
    long long *sum;
    CHECK(cudaMallocManaged(&sum, sizeof(*sum)));
    total<<<1, 1>>>(sum, 1, 2ll, (short)3);
    CHECK(cudaDeviceSynchronize());
    EXPECT(*sum == 15);
    // As before C++11, in which names right after a text are parts of it.
    EXPECT(sizeof("%"PRId64) == 4);
    printf("right\n");
}

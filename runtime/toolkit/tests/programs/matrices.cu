// nvcuda::wmma: products of small integers, whose sums are exact in all types.
#include "check.h"
#include <initializer_list>
#include <mma.h>
#include <type_traits>

using namespace nvcuda;

// Element `i` of the first, second and third matrix.
__host__ __device__ int number(int which, int i) { return (i * 7 + which * 5 + i / 13) % 9 - (which == 3 ? 0 : 4); }

template <class T> struct storage { typedef T type; };
template <> struct storage<wmma::precision::tf32> { typedef float type; };

// d = a * b + c. Rows of `a` are in memory for row_major; columns otherwise.
template <int m, int n, int k, class T, class A, class B, class S>
__global__ void multiply(const typename storage<T>::type *a, const typename storage<T>::type *b, const S *c, S *d, bool by_columns)
{
    constexpr bool a_rows = std::is_same<A, wmma::row_major>::value, b_rows = std::is_same<B, wmma::row_major>::value;
    wmma::fragment<wmma::matrix_a, m, n, k, T, A> first;
    wmma::fragment<wmma::matrix_b, m, n, k, T, B> second;
    wmma::fragment<wmma::accumulator, m, n, k, S> sum, addend;
    wmma::load_matrix_sync(first, a, a_rows ? k : m);
    wmma::load_matrix_sync(second, b, b_rows ? n : k);
    wmma::layout_t layout = by_columns ? wmma::mem_col_major : wmma::mem_row_major;
    wmma::load_matrix_sync(addend, c, by_columns ? m : n, layout);
    wmma::fill_fragment(sum, S(3));
    for (int i = 0; i < sum.num_elements; i++) addend.x[i] = addend.x[i] + sum.x[i];
    wmma::mma_sync(sum, first, second, addend);
    wmma::store_matrix_sync(d, sum, by_columns ? m : n, layout);
}

template <int m, int n, int k, class T, class A, class B, class S> void test(bool by_columns)
{
    typedef typename storage<T>::type E;
    constexpr bool a_rows = std::is_same<A, wmma::row_major>::value, b_rows = std::is_same<B, wmma::row_major>::value;
    int low = std::is_same<T, unsigned char>::value ? 4 : 0;
    E *a, *b;
    S *c, *d;
    CHECK(cudaMallocManaged(&a, m * k * sizeof(E)));
    CHECK(cudaMallocManaged(&b, k * n * sizeof(E)));
    CHECK(cudaMallocManaged(&c, m * n * sizeof(S)));
    CHECK(cudaMallocManaged(&d, m * n * sizeof(S)));
    for (int i = 0; i < m * k; i++) a[i] = E((float)(number(0, i) + low));
    for (int i = 0; i < k * n; i++) b[i] = E((float)(number(1, i) + low));
    for (int i = 0; i < m * n; i++) c[i] = S((float)number(2, i));
    multiply<m, n, k, T, A, B, S><<<1, 32>>>(a, b, c, d, by_columns);
    CHECK(cudaDeviceSynchronize());
    for (int row = 0; row < m; row++)
        for (int column = 0; column < n; column++) {
            int at = by_columns ? column * m + row : row * n + column, expected = number(2, at) + 3;
            for (int i = 0; i < k; i++)
                expected += (number(0, a_rows ? row * k + i : i * m + row) + low) * (number(1, b_rows ? i * n + column : column * k + i) + low);
            EXPECT((float)d[at] == expected);
        }
    for (void *memory : {(void *)a, (void *)b, (void *)c, (void *)d}) CHECK(cudaFree(memory));
}

int main()
{
    using wmma::col_major, wmma::row_major;
    test<16, 16, 16, __half, row_major, col_major, float>(false);
    test<8, 32, 16, __half, col_major, row_major, __half>(true);
    test<32, 8, 16, __nv_bfloat16, row_major, row_major, float>(false);
    test<16, 16, 16, signed char, row_major, col_major, int>(true);
    test<16, 16, 8, wmma::precision::tf32, row_major, col_major, float>(false);
    test<8, 8, 4, double, col_major, row_major, double>(true);
    printf("right\n");
}

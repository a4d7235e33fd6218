/* Products of matrices by the threads of a warp: nvcuda::wmma, over PTX's wmma instructions by clang's functions for them. */
#ifndef PTX2SPV_MMA_H
#define PTX2SPV_MMA_H
#include "cuda_bf16.h"
#include "cuda_fp16.h"

#if defined(__cplusplus) && defined(__CUDA__)
namespace nvcuda {
namespace wmma {

struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
}
template <class Use, int m, int n, int k, class T, class Layout = void> class fragment;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
#define PTX2SPV_WARP static __device__ inline __attribute__((always_inline))
/* What a thread has of a matrix. */
#define PTX2SPV_PART(element, count)                             \
  public:                                                        \
    typedef element element_type, storage_element_type;          \
    enum { num_elements = count, num_storage_elements = count }; \
    element x[count];

/* `word` is what clang's functions take for the elements. */
#define PTX2SPV_LOAD_OPERAND(use, m, n, k, T, element, word, load, layout, number)                                            \
    PTX2SPV_WARP void load_matrix_sync(fragment<use, m, n, k, T, layout> &f, const element *from, unsigned int stride)        \
    {                                                                                                                         \
        load((word *)f.x, (const word *)from, stride, number);                                                                \
    }
#define PTX2SPV_OPERAND(use, m, n, k, T, element, count, word, load)                                                          \
    template <class Layout> class fragment<use, m, n, k, T, Layout> {                                                         \
        PTX2SPV_PART(element, count)                                                                                          \
    };                                                                                                                        \
    PTX2SPV_LOAD_OPERAND(use, m, n, k, T, element, word, load, row_major, 0)                                                  \
    PTX2SPV_LOAD_OPERAND(use, m, n, k, T, element, word, load, col_major, 1)
#define PTX2SPV_ACCUMULATOR(m, n, k, T, count, word, load, store)                                                             \
    template <> class fragment<accumulator, m, n, k, T> {                                                                     \
        PTX2SPV_PART(T, count)                                                                                                \
    };                                                                                                                        \
    PTX2SPV_WARP void load_matrix_sync(fragment<accumulator, m, n, k, T> &f, const T *from, unsigned int stride,              \
                                       layout_t layout)                                                                       \
    {                                                                                                                         \
        if (layout == mem_row_major) load((word *)f.x, (const word *)from, stride, 0);                                        \
        else load((word *)f.x, (const word *)from, stride, 1);                                                                \
    }                                                                                                                         \
    PTX2SPV_WARP void store_matrix_sync(T *to, const fragment<accumulator, m, n, k, T> &f, unsigned int stride,               \
                                        layout_t layout)                                                                      \
    {                                                                                                                         \
        if (layout == mem_row_major) store((word *)to, (const word *)f.x, stride, 0);                                         \
        else store((word *)to, (const word *)f.x, stride, 1);                                                                 \
    }
/* d = a * b + c. Layouts are numbered; only integers saturate. */
#define PTX2SPV_PRODUCT_BY(m, n, k, T, word, D, d_word, C, c_word, product, saturates, A, B, number)                          \
    PTX2SPV_WARP void mma_sync(fragment<accumulator, m, n, k, D> &d, const fragment<matrix_a, m, n, k, T, A> &a,              \
                               const fragment<matrix_b, m, n, k, T, B> &b, const fragment<accumulator, m, n, k, C> &c,        \
                               bool saturate = false)                                                                         \
    {                                                                                                                         \
        d_word *to = (d_word *)d.x;                                                                                           \
        const c_word *addend = (const c_word *)c.x;                                                                           \
        if (saturate) product(to, (const word *)a.x, (const word *)b.x, addend, number, saturates);                           \
        else product(to, (const word *)a.x, (const word *)b.x, addend, number, 0);                                            \
    }
#define PTX2SPV_PRODUCT(...)                                         \
    PTX2SPV_PRODUCT_BY(__VA_ARGS__, row_major, row_major, 0)         \
    PTX2SPV_PRODUCT_BY(__VA_ARGS__, row_major, col_major, 1)         \
    PTX2SPV_PRODUCT_BY(__VA_ARGS__, col_major, row_major, 2)         \
    PTX2SPV_PRODUCT_BY(__VA_ARGS__, col_major, col_major, 3)

/* The types of a shape, with as many elements as a thread has of 16-bit and 8-bit operands. */
#define PTX2SPV_INTEGERS(m, n, k, shape, T, kind, a, b)                                                \
    PTX2SPV_OPERAND(matrix_a, m, n, k, T, T, a, int, __imma_##shape##_ld_a_##kind)                     \
    PTX2SPV_OPERAND(matrix_b, m, n, k, T, T, b, int, __imma_##shape##_ld_b_##kind)                     \
    PTX2SPV_PRODUCT(m, n, k, T, int, int, int, int, int, __imma_##shape##_mma_##kind, 1)
#define PTX2SPV_SHAPE(m, n, shape, a, b)                                                               \
    PTX2SPV_OPERAND(matrix_a, m, n, 16, __half, __half, 16, int, __hmma_##shape##_ld_a)                \
    PTX2SPV_OPERAND(matrix_b, m, n, 16, __half, __half, 16, int, __hmma_##shape##_ld_b)                \
    PTX2SPV_OPERAND(matrix_a, m, n, 16, __nv_bfloat16, __nv_bfloat16, a, int, __mma_bf16_##shape##_ld_a) \
    PTX2SPV_OPERAND(matrix_b, m, n, 16, __nv_bfloat16, __nv_bfloat16, b, int, __mma_bf16_##shape##_ld_b) \
    PTX2SPV_ACCUMULATOR(m, n, 16, __half, 8, int, __hmma_##shape##_ld_c_f16, __hmma_##shape##_st_c_f16) \
    PTX2SPV_ACCUMULATOR(m, n, 16, float, 8, float, __hmma_##shape##_ld_c_f32, __hmma_##shape##_st_c_f32) \
    PTX2SPV_ACCUMULATOR(m, n, 16, int, 8, int, __imma_##shape##_ld_c, __imma_##shape##_st_c_i32)       \
    PTX2SPV_PRODUCT(m, n, 16, __half, int, __half, int, __half, int, __hmma_##shape##_mma_f16f16, 0)   \
    PTX2SPV_PRODUCT(m, n, 16, __half, int, __half, int, float, float, __hmma_##shape##_mma_f16f32, 0)  \
    PTX2SPV_PRODUCT(m, n, 16, __half, int, float, float, __half, int, __hmma_##shape##_mma_f32f16, 0)  \
    PTX2SPV_PRODUCT(m, n, 16, __half, int, float, float, float, float, __hmma_##shape##_mma_f32f32, 0) \
    PTX2SPV_PRODUCT(m, n, 16, __nv_bfloat16, int, float, float, float, float, __mma_bf16_##shape##_mma_f32, 0) \
    PTX2SPV_INTEGERS(m, n, 16, shape, signed char, s8, a, b)                                           \
    PTX2SPV_INTEGERS(m, n, 16, shape, unsigned char, u8, a, b)
PTX2SPV_SHAPE(16, 16, m16n16k16, 8, 8)
PTX2SPV_SHAPE(32, 8, m32n8k16, 16, 4)
PTX2SPV_SHAPE(8, 32, m8n32k16, 4, 16)
PTX2SPV_OPERAND(matrix_a, 16, 16, 8, precision::tf32, float, 4, int, __mma_tf32_m16n16k8_ld_a)
PTX2SPV_OPERAND(matrix_b, 16, 16, 8, precision::tf32, float, 4, int, __mma_tf32_m16n16k8_ld_b)
PTX2SPV_ACCUMULATOR(16, 16, 8, float, 8, float, __mma_tf32_m16n16k8_ld_c, __mma_m16n16k8_st_c_f32)
PTX2SPV_PRODUCT(16, 16, 8, precision::tf32, int, float, float, float, float, __mma_tf32_m16n16k8_mma_f32, 0)
PTX2SPV_OPERAND(matrix_a, 8, 8, 4, double, double, 1, double, __dmma_m8n8k4_ld_a)
PTX2SPV_OPERAND(matrix_b, 8, 8, 4, double, double, 1, double, __dmma_m8n8k4_ld_b)
PTX2SPV_ACCUMULATOR(8, 8, 4, double, 2, double, __dmma_m8n8k4_ld_c, __dmma_m8n8k4_st_c_f64)
PTX2SPV_PRODUCT(8, 8, 4, double, double, double, double, double, double, __dmma_m8n8k4_mma_f64, 0)

template <class Use, int m, int n, int k, class T, class Layout, class V>
PTX2SPV_WARP void fill_fragment(fragment<Use, m, n, k, T, Layout> &f, V value)
{
    for (auto &x : f.x) x = value;
}
/* The nearest number of tf32; of two that with more size. */
PTX2SPV_WARP float __float_to_tf32(float a)
{
    unsigned int bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(a));
    return __builtin_bit_cast(float, bits);
}

#undef PTX2SPV_WARP
#undef PTX2SPV_PART
#undef PTX2SPV_LOAD_OPERAND
#undef PTX2SPV_OPERAND
#undef PTX2SPV_ACCUMULATOR
#undef PTX2SPV_PRODUCT_BY
#undef PTX2SPV_PRODUCT
#undef PTX2SPV_INTEGERS
#undef PTX2SPV_SHAPE
#endif
} // namespace wmma
} // namespace nvcuda
#endif

#endif

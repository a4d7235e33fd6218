/* Copies in the background by groups. The class `nvcuda::experimental::pipeline` is what NVIDIA's manual has here for older programs. */
#ifndef PTX2SPV_CUDA_PIPELINE_H
#define PTX2SPV_CUDA_PIPELINE_H
#include "cuda_pipeline_primitives.h"

#if defined(__cplusplus) && defined(__CUDA__)
namespace nvcuda {
namespace experimental {
class pipeline {
    size_t committed = 0;

  public:
    __device__ pipeline() {}
    pipeline(const pipeline &) = delete;
    pipeline &operator=(const pipeline &) = delete;
    __device__ size_t commit()
    {
        __pipeline_commit();
        return committed++;
    }
    __device__ void commit_and_wait()
    {
        commit();
        __pipeline_wait_prior(0);
    }
    /* Waits for the group that `commit` gave this number. */
    __device__ void wait(size_t group) { __pipeline_wait_prior(committed - 1 - group); }
    template <unsigned int pending> __device__ void wait_prior() { __pipeline_wait_prior(pending); }
};
template <class T> static __device__ inline void memcpy_async(T &shared, const T &global, pipeline &)
{
    static_assert(sizeof(T) % 4 == 0 && alignof(T) % 4 == 0, "copies in the background are of words");
    constexpr size_t step = alignof(T) < 16 ? alignof(T) : 16;
    for (size_t i = 0; i < sizeof(T); i += step) __pipeline_memcpy_async((char *)&shared + i, (const char *)&global + i, step);
}
} // namespace experimental
} // namespace nvcuda
#endif

#endif

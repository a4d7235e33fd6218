/* Copies from global to shared memory that go on while the thread does: PTX's cp.async. */
#ifndef PTX2SPV_CUDA_PIPELINE_PRIMITIVES_H
#define PTX2SPV_CUDA_PIPELINE_PRIMITIVES_H
#include "cuda_runtime.h"

#if defined(__cplusplus) && defined(__CUDA__)
#define PTX2SPV_PIPELINE static __device__ inline __attribute__((always_inline))

/* Copies `size` bytes, 4, 8 or 16, of which the last `zeros` are zeros instead. */
PTX2SPV_PIPELINE void __pipeline_memcpy_async(void *__restrict__ shared, const void *__restrict__ global, size_t size, size_t zeros = 0)
{
#if __CUDA_ARCH__ >= 800
    unsigned int to = (unsigned int)__cvta_generic_to_shared(shared), from_memory = (unsigned int)(size - zeros);
    size_t from = __cvta_generic_to_global(global);
    if (size == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(from_memory) : "memory");
    else if (size == 8) asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(from_memory) : "memory");
    else asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(from_memory) : "memory");
#else
    for (size_t i = 0; i < size; i++) ((char *)shared)[i] = i < size - zeros ? ((const char *)global)[i] : 0;
#endif
}
/* Ends a group of copies. */
PTX2SPV_PIPELINE void __pipeline_commit()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
/* Waits until at most the last `pending` groups are under way. */
PTX2SPV_PIPELINE void __pipeline_wait_prior(size_t pending)
{
#if __CUDA_ARCH__ >= 800
    switch (pending) {
#define PTX2SPV_WAIT(count) \
    case count: asm volatile("cp.async.wait_group " #count ";" ::: "memory"); break;
        PTX2SPV_WAIT(1)
        PTX2SPV_WAIT(2)
        PTX2SPV_WAIT(3)
        PTX2SPV_WAIT(4)
        PTX2SPV_WAIT(5)
        PTX2SPV_WAIT(6)
        PTX2SPV_WAIT(7)
        PTX2SPV_WAIT(8)
#undef PTX2SPV_WAIT
    /* To wait for more is always right. */
    default: asm volatile("cp.async.wait_group 0;" ::: "memory");
    }
#endif
}
#undef PTX2SPV_PIPELINE
#endif

#endif

/* Barriers in shared memory by which threads arrive and wait apart: PTX's mbarrier, of compute capability 8.0. */
#ifndef PTX2SPV_CUDA_AWBARRIER_PRIMITIVES_H
#define PTX2SPV_CUDA_AWBARRIER_PRIMITIVES_H
#include <stdint.h>
#include "cuda_runtime.h"

#if defined(__cplusplus) && defined(__CUDA__)
typedef uint64_t __mbarrier_t;
typedef uint64_t __mbarrier_token_t;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define PTX2SPV_MBARRIER static __device__ inline __attribute__((always_inline))
PTX2SPV_MBARRIER uint32_t __mbarrier_maximum_count() { return (1u << 20) - 1; }
PTX2SPV_MBARRIER void __mbarrier_init(__mbarrier_t *barrier, uint32_t expected)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"((unsigned int)__cvta_generic_to_shared(barrier)), "r"(expected) : "memory");
}
PTX2SPV_MBARRIER void __mbarrier_inval(__mbarrier_t *barrier)
{
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"((unsigned int)__cvta_generic_to_shared(barrier)) : "memory");
}
PTX2SPV_MBARRIER __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *barrier)
{
    __mbarrier_token_t token;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"((unsigned int)__cvta_generic_to_shared(barrier)) : "memory");
    return token;
}
PTX2SPV_MBARRIER __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t *barrier)
{
    __mbarrier_token_t token;
    asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(token) : "r"((unsigned int)__cvta_generic_to_shared(barrier)) : "memory");
    return token;
}
PTX2SPV_MBARRIER bool __mbarrier_test_wait(__mbarrier_t *barrier, __mbarrier_token_t token)
{
    unsigned int passed;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(passed)
                 : "r"((unsigned int)__cvta_generic_to_shared(barrier)), "l"(token)
                 : "memory");
    return passed != 0;
}
PTX2SPV_MBARRIER uint32_t __mbarrier_token_pending_count(__mbarrier_token_t token)
{
    uint32_t count;
    asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(token));
    return count;
}
#undef PTX2SPV_MBARRIER
#endif
#endif

#endif

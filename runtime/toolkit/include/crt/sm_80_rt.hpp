/* Reductions over a warp. Those of clang up to 19 give the mask to the instruction where the value belongs; `device_functions.hpp` names
   them otherwise. This is also the last header that clang's wrapper includes, and so includes `new`: with nvcc, kernels have `new` and
   `delete` without a header. */
#ifndef PTX2SPV_SM_80_RT_HPP
#define PTX2SPV_SM_80_RT_HPP

#include <new>

#undef __reduce_add_sync
#undef __reduce_min_sync
#undef __reduce_max_sync
#undef __reduce_and_sync
#undef __reduce_or_sync
#undef __reduce_xor_sync

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define PTX2SPV_REDUCE(name, type, kind)                                                                                     \
    static __device__ __inline__ type __reduce_##name##_sync(unsigned int mask, type value)                                  \
    {                                                                                                                        \
        type result;                                                                                                         \
        asm volatile("redux.sync." #name "." #kind " %0, %1, %2;" : "=r"(result) : "r"(value), "r"(mask) : "memory");        \
        return result;                                                                                                       \
    }
PTX2SPV_REDUCE(add, unsigned int, u32)
PTX2SPV_REDUCE(add, int, s32)
PTX2SPV_REDUCE(min, unsigned int, u32)
PTX2SPV_REDUCE(min, int, s32)
PTX2SPV_REDUCE(max, unsigned int, u32)
PTX2SPV_REDUCE(max, int, s32)
PTX2SPV_REDUCE(and, unsigned int, b32)
PTX2SPV_REDUCE(or, unsigned int, b32)
PTX2SPV_REDUCE(xor, unsigned int, b32)
#undef PTX2SPV_REDUCE
#endif

#endif

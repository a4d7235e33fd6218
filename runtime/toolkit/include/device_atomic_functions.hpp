/* Atomic functions, over clang's and as loops of compare and swap. The scopes `_block` and `_system` are PTX's .cta and .sys. */
#ifndef __DEVICE_ATOMIC_FUNCTIONS_HPP__
#define __DEVICE_ATOMIC_FUNCTIONS_HPP__

#define PTX2SPV_DEVICE static __attribute__((device)) inline __attribute__((always_inline))

#define PTX2SPV_ATOMIC(name, type, function)                                                     \
    PTX2SPV_DEVICE type atomic##name(type *p, type v) { return function(p, v); }                 \
    PTX2SPV_DEVICE type atomic##name##_block(type *p, type v) { return function##_block(p, v); } \
    PTX2SPV_DEVICE type atomic##name##_system(type *p, type v) { return function##_system(p, v); }
/* Where clang's functions take another type of the same size. */
#define PTX2SPV_ATOMIC_AS(name, type, as, function)                                                              \
    PTX2SPV_DEVICE type atomic##name(type *p, type v) { return (type)function((as *)p, (as)v); }                 \
    PTX2SPV_DEVICE type atomic##name##_block(type *p, type v) { return (type)function##_block((as *)p, (as)v); } \
    PTX2SPV_DEVICE type atomic##name##_system(type *p, type v) { return (type)function##_system((as *)p, (as)v); }

PTX2SPV_ATOMIC(Add, int, __iAtomicAdd)
PTX2SPV_ATOMIC(Add, unsigned int, __uAtomicAdd)
PTX2SPV_ATOMIC(Add, unsigned long long, __ullAtomicAdd)
PTX2SPV_ATOMIC(Add, float, __fAtomicAdd)
PTX2SPV_ATOMIC(Exch, int, __iAtomicExch)
PTX2SPV_ATOMIC(Exch, unsigned int, __uAtomicExch)
PTX2SPV_ATOMIC(Exch, unsigned long long, __ullAtomicExch)
PTX2SPV_ATOMIC(Exch, float, __fAtomicExch)
PTX2SPV_ATOMIC(Min, int, __iAtomicMin)
PTX2SPV_ATOMIC(Min, unsigned int, __uAtomicMin)
PTX2SPV_ATOMIC(Min, long long, __illAtomicMin)
PTX2SPV_ATOMIC(Min, unsigned long long, __ullAtomicMin)
PTX2SPV_ATOMIC(Max, int, __iAtomicMax)
PTX2SPV_ATOMIC(Max, unsigned int, __uAtomicMax)
PTX2SPV_ATOMIC(Max, long long, __illAtomicMax)
PTX2SPV_ATOMIC(Max, unsigned long long, __ullAtomicMax)
PTX2SPV_ATOMIC(And, int, __iAtomicAnd)
PTX2SPV_ATOMIC(And, unsigned int, __uAtomicAnd)
PTX2SPV_ATOMIC_AS(And, unsigned long long, unsigned long long, __ullAtomicAnd)
PTX2SPV_ATOMIC(Or, int, __iAtomicOr)
PTX2SPV_ATOMIC(Or, unsigned int, __uAtomicOr)
PTX2SPV_ATOMIC_AS(Or, unsigned long long, unsigned long long, __ullAtomicOr)
PTX2SPV_ATOMIC(Xor, int, __iAtomicXor)
PTX2SPV_ATOMIC(Xor, unsigned int, __uAtomicXor)
PTX2SPV_ATOMIC_AS(Xor, unsigned long long, unsigned long long, __ullAtomicXor)
PTX2SPV_ATOMIC(Inc, unsigned int, __uAtomicInc)
PTX2SPV_ATOMIC(Dec, unsigned int, __uAtomicDec)
PTX2SPV_ATOMIC_AS(And, long long, long long, __llAtomicAnd)
PTX2SPV_ATOMIC_AS(Or, long long, long long, __llAtomicOr)
PTX2SPV_ATOMIC_AS(Xor, long long, long long, __llAtomicXor)

PTX2SPV_DEVICE int atomicSub(int *p, int v) { return __iAtomicAdd(p, (int)(0u - (unsigned int)v)); }
PTX2SPV_DEVICE unsigned int atomicSub(unsigned int *p, unsigned int v) { return __uAtomicAdd(p, 0u - v); }
PTX2SPV_DEVICE int atomicSub_block(int *p, int v) { return __iAtomicAdd_block(p, (int)(0u - (unsigned int)v)); }
PTX2SPV_DEVICE unsigned int atomicSub_block(unsigned int *p, unsigned int v) { return __uAtomicAdd_block(p, 0u - v); }
PTX2SPV_DEVICE int atomicSub_system(int *p, int v) { return __iAtomicAdd_system(p, (int)(0u - (unsigned int)v)); }
PTX2SPV_DEVICE unsigned int atomicSub_system(unsigned int *p, unsigned int v) { return __uAtomicAdd_system(p, 0u - v); }

#define PTX2SPV_CAS(type, function) \
    PTX2SPV_DEVICE type atomicCAS##function(type *p, type compare, type v)
PTX2SPV_CAS(int, ) { return __iAtomicCAS(p, compare, v); }
PTX2SPV_CAS(int, _block) { return __iAtomicCAS_block(p, compare, v); }
PTX2SPV_CAS(int, _system) { return __iAtomicCAS_system(p, compare, v); }
PTX2SPV_CAS(unsigned int, ) { return __uAtomicCAS(p, compare, v); }
PTX2SPV_CAS(unsigned int, _block) { return __uAtomicCAS_block(p, compare, v); }
PTX2SPV_CAS(unsigned int, _system) { return __uAtomicCAS_system(p, compare, v); }
PTX2SPV_CAS(unsigned long long, ) { return __ullAtomicCAS(p, compare, v); }
PTX2SPV_CAS(unsigned long long, _block) { return __ullAtomicCAS_block(p, compare, v); }
PTX2SPV_CAS(unsigned long long, _system) { return __ullAtomicCAS_system(p, compare, v); }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
PTX2SPV_CAS(unsigned short, )
{
    unsigned short old;
    asm volatile("atom.cas.b16 %0, [%1], %2, %3;" : "=h"(old) : "l"(p), "h"(compare), "h"(v) : "memory");
    return old;
}
#endif
#undef PTX2SPV_CAS

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
PTX2SPV_ATOMIC(Add, double, __dAtomicAdd)
#endif

#undef PTX2SPV_ATOMIC
#undef PTX2SPV_ATOMIC_AS

#endif

// Copies to shared memory that go on while a thread does (sm_80).
#pragma once
#include "cuda_min.h"

// An address in shared memory.
static __device__ unsigned place(const void *p) { return (unsigned)(unsigned long long)(__attribute__((address_space(3))) const void *)p; }

static __device__ void copy16(unsigned to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"((__attribute__((address_space(1))) const void *)from) : "memory");
}
static __device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> static __device__ void wait_group() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }

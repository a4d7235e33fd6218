/* Functions of the device that clang's headers don't have: loads and stores with cache hints, dot products of bytes, and the like. */
#ifndef PTX2SPV_DEVICE_FUNCTIONS_HPP
#define PTX2SPV_DEVICE_FUNCTIONS_HPP

/* Clang's functions of these names are wrong: `sm_80_rt.hpp` has others. */
#define __reduce_add_sync __clang_reduce_add_sync
#define __reduce_min_sync __clang_reduce_min_sync
#define __reduce_max_sync __clang_reduce_max_sync
#define __reduce_and_sync __clang_reduce_and_sync
#define __reduce_or_sync __clang_reduce_or_sync
#define __reduce_xor_sync __clang_reduce_xor_sync

#ifndef PTX2SPV_DEVICE
#define PTX2SPV_DEVICE static __attribute__((device)) inline __attribute__((always_inline))
#endif

#define PTX2SPV_LOAD(type, hint, instruction, suffix, constraint, temporary)                             \
    PTX2SPV_DEVICE type __ld##hint(const type *p)                                                        \
    {                                                                                                    \
        temporary v;                                                                                     \
        asm volatile("ld." instruction "." suffix " %0, [%1];" : "=" constraint(v) : "l"(p) : "memory"); \
        return (type)v;                                                                                  \
    }
#define PTX2SPV_LOAD2(type, hint, instruction, suffix, constraint)      \
    PTX2SPV_DEVICE type __ld##hint(const type *p)                       \
    {                                                                   \
        type v;                                                         \
        asm volatile("ld." instruction ".v2." suffix " {%0, %1}, [%2];" \
                     : "=" constraint(v.x), "=" constraint(v.y)         \
                     : "l"(p)                                           \
                     : "memory");                                       \
        return v;                                                       \
    }
#define PTX2SPV_LOAD4(type, hint, instruction, suffix, constraint)                                        \
    PTX2SPV_DEVICE type __ld##hint(const type *p)                                                         \
    {                                                                                                     \
        type v;                                                                                           \
        asm volatile("ld." instruction ".v4." suffix " {%0, %1, %2, %3}, [%4];"                           \
                     : "=" constraint(v.x), "=" constraint(v.y), "=" constraint(v.z), "=" constraint(v.w) \
                     : "l"(p)                                                                             \
                     : "memory");                                                                         \
        return v;                                                                                         \
    }
#define PTX2SPV_STORE(type, hint, suffix, constraint, temporary)                                         \
    PTX2SPV_DEVICE void __st##hint(type *p, type v)                                                      \
    {                                                                                                    \
        asm volatile("st." #hint "." suffix " [%0], %1;" ::"l"(p), constraint((temporary)v) : "memory"); \
    }
#define PTX2SPV_STORE2(type, hint, suffix, constraint)                                                       \
    PTX2SPV_DEVICE void __st##hint(type *p, type v)                                                          \
    {                                                                                                        \
        asm volatile("st." #hint ".v2." suffix " [%0], {%1, %2};" ::"l"(p), constraint(v.x), constraint(v.y) \
                     : "memory");                                                                            \
    }
#define PTX2SPV_STORE4(type, hint, suffix, constraint)                                               \
    PTX2SPV_DEVICE void __st##hint(type *p, type v)                                                  \
    {                                                                                                \
        asm volatile("st." #hint ".v4." suffix " [%0], {%1, %2, %3, %4};" ::"l"(p), constraint(v.x), \
                     constraint(v.y), constraint(v.z), constraint(v.w)                               \
                     : "memory");                                                                    \
    }
/* All types for a cache hint; `operation` gets the hint and the rest of its arguments. */
#define PTX2SPV_TYPES(one, two, four, ...)                               \
    one(char, __VA_ARGS__, "s8", "r", int)                               \
    one(signed char, __VA_ARGS__, "s8", "r", int)                        \
    one(unsigned char, __VA_ARGS__, "u8", "r", unsigned int)             \
    one(short, __VA_ARGS__, "s16", "h", short)                           \
    one(unsigned short, __VA_ARGS__, "u16", "h", unsigned short)         \
    one(int, __VA_ARGS__, "s32", "r", int)                               \
    one(unsigned int, __VA_ARGS__, "u32", "r", unsigned int)             \
    one(long, __VA_ARGS__, "s64", "l", long)                             \
    one(unsigned long, __VA_ARGS__, "u64", "l", unsigned long)           \
    one(long long, __VA_ARGS__, "s64", "l", long long)                   \
    one(unsigned long long, __VA_ARGS__, "u64", "l", unsigned long long) \
    one(float, __VA_ARGS__, "f32", "f", float)                           \
    one(double, __VA_ARGS__, "f64", "d", double)                         \
    two(int2, __VA_ARGS__, "s32", "r")                                   \
    two(uint2, __VA_ARGS__, "u32", "r")                                  \
    two(float2, __VA_ARGS__, "f32", "f")                                 \
    two(longlong2, __VA_ARGS__, "s64", "l")                              \
    two(ulonglong2, __VA_ARGS__, "u64", "l")                             \
    two(double2, __VA_ARGS__, "f64", "d")                                \
    four(int4, __VA_ARGS__, "s32", "r")                                  \
    four(uint4, __VA_ARGS__, "u32", "r")                                 \
    four(float4, __VA_ARGS__, "f32", "f")
PTX2SPV_TYPES(PTX2SPV_LOAD, PTX2SPV_LOAD2, PTX2SPV_LOAD4, cg, "cg")
PTX2SPV_TYPES(PTX2SPV_LOAD, PTX2SPV_LOAD2, PTX2SPV_LOAD4, ca, "ca")
PTX2SPV_TYPES(PTX2SPV_LOAD, PTX2SPV_LOAD2, PTX2SPV_LOAD4, cs, "cs")
PTX2SPV_TYPES(PTX2SPV_LOAD, PTX2SPV_LOAD2, PTX2SPV_LOAD4, lu, "lu")
PTX2SPV_TYPES(PTX2SPV_LOAD, PTX2SPV_LOAD2, PTX2SPV_LOAD4, cv, "cv")
PTX2SPV_TYPES(PTX2SPV_STORE, PTX2SPV_STORE2, PTX2SPV_STORE4, wb)
PTX2SPV_TYPES(PTX2SPV_STORE, PTX2SPV_STORE2, PTX2SPV_STORE4, cg)
PTX2SPV_TYPES(PTX2SPV_STORE, PTX2SPV_STORE2, PTX2SPV_STORE4, cs)
PTX2SPV_TYPES(PTX2SPV_STORE, PTX2SPV_STORE2, PTX2SPV_STORE4, wt)
#undef PTX2SPV_LOAD
#undef PTX2SPV_LOAD2
#undef PTX2SPV_LOAD4
#undef PTX2SPV_STORE
#undef PTX2SPV_STORE2
#undef PTX2SPV_STORE4
#undef PTX2SPV_TYPES

#define PTX2SPV_DOT(name, result, type, instruction)                            \
    PTX2SPV_DEVICE result name(type a, type b, result c)                        \
    {                                                                           \
        result d;                                                               \
        asm(instruction " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); \
        return d;                                                               \
    }
PTX2SPV_DOT(__dp4a, int, int, "dp4a.s32.s32")
PTX2SPV_DOT(__dp4a, unsigned int, unsigned int, "dp4a.u32.u32")
PTX2SPV_DOT(__dp2a_lo, int, int, "dp2a.lo.s32.s32")
PTX2SPV_DOT(__dp2a_lo, unsigned int, unsigned int, "dp2a.lo.u32.u32")
PTX2SPV_DOT(__dp2a_hi, int, int, "dp2a.hi.s32.s32")
PTX2SPV_DOT(__dp2a_hi, unsigned int, unsigned int, "dp2a.hi.u32.u32")
#undef PTX2SPV_DOT
PTX2SPV_DEVICE int __dp4a(char4 a, char4 b, int c) { return __dp4a(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c); }
PTX2SPV_DEVICE unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c)
{
    return __dp4a(__builtin_bit_cast(unsigned int, a), __builtin_bit_cast(unsigned int, b), c);
}

PTX2SPV_DEVICE void __nanosleep(unsigned int nanoseconds) { asm volatile("nanosleep.u32 %0;" ::"r"(nanoseconds)); }
PTX2SPV_DEVICE void __prefetch_global_l1(const void *p) { asm volatile("prefetch.global.L1 [%0];" ::"l"(p)); }
PTX2SPV_DEVICE void __prefetch_global_l2(const void *p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }

/* Atomic operations with C11's orders. Scopes have no effect: all are the system's, and fences make the orders. */
#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4
PTX2SPV_DEVICE void __nv_atomic_thread_fence(int order, int = __NV_THREAD_SCOPE_SYSTEM)
{
    if (order != __NV_ATOMIC_RELAXED) __nvvm_membar_sys();
}
template <class T> PTX2SPV_DEVICE T __nv_atomic_load_n(T *p, int order, int = __NV_THREAD_SCOPE_SYSTEM)
{
    if (order == __NV_ATOMIC_SEQ_CST) __nvvm_membar_sys();
    T value = __atomic_load_n(p, __ATOMIC_RELAXED);
    __nv_atomic_thread_fence(order);
    return value;
}
template <class T> PTX2SPV_DEVICE void __nv_atomic_store_n(T *p, T value, int order, int = __NV_THREAD_SCOPE_SYSTEM)
{
    __nv_atomic_thread_fence(order);
    __atomic_store_n(p, value, __ATOMIC_RELAXED);
    if (order == __NV_ATOMIC_SEQ_CST) __nvvm_membar_sys();
}
template <class T> PTX2SPV_DEVICE void __nv_atomic_load(T *p, T *value, int order, int = __NV_THREAD_SCOPE_SYSTEM)
{
    if (order == __NV_ATOMIC_SEQ_CST) __nvvm_membar_sys();
    __atomic_load(p, value, __ATOMIC_RELAXED);
    __nv_atomic_thread_fence(order);
}
template <class T> PTX2SPV_DEVICE void __nv_atomic_store(T *p, T *value, int order, int = __NV_THREAD_SCOPE_SYSTEM)
{
    __nv_atomic_thread_fence(order);
    __atomic_store(p, value, __ATOMIC_RELAXED);
    if (order == __NV_ATOMIC_SEQ_CST) __nvvm_membar_sys();
}
#define PTX2SPV_ATOMIC(name)                                                                                                      \
    template <class T> PTX2SPV_DEVICE T __nv_atomic_##name(T *p, T value, int order, int = __NV_THREAD_SCOPE_SYSTEM)              \
    {                                                                                                                             \
        __nv_atomic_thread_fence(order);                                                                                          \
        T old = __atomic_##name(p, value, __ATOMIC_RELAXED);                                                                      \
        __nv_atomic_thread_fence(order);                                                                                          \
        return old;                                                                                                               \
    }
PTX2SPV_ATOMIC(exchange_n)
PTX2SPV_ATOMIC(fetch_add)
PTX2SPV_ATOMIC(fetch_sub)
PTX2SPV_ATOMIC(fetch_and)
PTX2SPV_ATOMIC(fetch_or)
PTX2SPV_ATOMIC(fetch_xor)
PTX2SPV_ATOMIC(fetch_min)
PTX2SPV_ATOMIC(fetch_max)
#undef PTX2SPV_ATOMIC
template <class T> PTX2SPV_DEVICE void __nv_atomic_exchange(T *p, T *value, T *old, int order, int = __NV_THREAD_SCOPE_SYSTEM)
{
    __nv_atomic_thread_fence(order);
    __atomic_exchange(p, value, old, __ATOMIC_RELAXED);
    __nv_atomic_thread_fence(order);
}
template <class T>
PTX2SPV_DEVICE bool __nv_atomic_compare_exchange(T *p, T *expected, T *value, bool weak, int success, int failure,
                                                 int = __NV_THREAD_SCOPE_SYSTEM)
{
    __nv_atomic_thread_fence(success | failure);
    bool done = __atomic_compare_exchange(p, expected, value, weak, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    __nv_atomic_thread_fence(success | failure);
    return done;
}
template <class T>
PTX2SPV_DEVICE bool __nv_atomic_compare_exchange_n(T *p, T *expected, T value, bool weak, int success, int failure,
                                                   int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    return __nv_atomic_compare_exchange(p, expected, &value, weak, success, failure, scope);
}

/* Minima and maxima for dynamic programming: of sums, of three numbers, with zero as the least (`relu`), and with the operand that was chosen. */
#define PTX2SPV_DPX(kind, type, add, max, min)                                                                        \
    PTX2SPV_DEVICE type __viaddmax_##kind(type a, type b, type c) { return max(add(a, b), c); }                       \
    PTX2SPV_DEVICE type __viaddmin_##kind(type a, type b, type c) { return min(add(a, b), c); }                       \
    PTX2SPV_DEVICE type __vimax3_##kind(type a, type b, type c) { return max(max(a, b), c); }                         \
    PTX2SPV_DEVICE type __vimin3_##kind(type a, type b, type c) { return min(min(a, b), c); }
#define PTX2SPV_DPX_RELU(kind, type, max, min)                                                                        \
    PTX2SPV_DEVICE type __viaddmax_##kind##_relu(type a, type b, type c) { return max(__viaddmax_##kind(a, b, c), 0); } \
    PTX2SPV_DEVICE type __viaddmin_##kind##_relu(type a, type b, type c) { return max(__viaddmin_##kind(a, b, c), 0); } \
    PTX2SPV_DEVICE type __vimax3_##kind##_relu(type a, type b, type c) { return max(__vimax3_##kind(a, b, c), 0); }   \
    PTX2SPV_DEVICE type __vimin3_##kind##_relu(type a, type b, type c) { return max(__vimin3_##kind(a, b, c), 0); }   \
    PTX2SPV_DEVICE type __vimax_##kind##_relu(type a, type b) { return max(max(a, b), 0); }                           \
    PTX2SPV_DEVICE type __vimin_##kind##_relu(type a, type b) { return max(min(a, b), 0); }
#define PTX2SPV_DPX_CHOSEN(kind, type)                                                                                \
    PTX2SPV_DEVICE type __vibmax_##kind(type a, type b, bool *first) { return (*first = a >= b) ? a : b; }            \
    PTX2SPV_DEVICE type __vibmin_##kind(type a, type b, bool *first) { return (*first = a <= b) ? a : b; }
#define PTX2SPV_DPX_CHOSEN2(kind, half, max, min)                                                                     \
    PTX2SPV_DEVICE unsigned int __vibmax_##kind(unsigned int a, unsigned int b, bool *high, bool *low)                \
    {                                                                                                                 \
        *high = (half)(a >> 16) >= (half)(b >> 16), *low = (half)a >= (half)b;                                        \
        return max(a, b);                                                                                             \
    }                                                                                                                 \
    PTX2SPV_DEVICE unsigned int __vibmin_##kind(unsigned int a, unsigned int b, bool *high, bool *low)                \
    {                                                                                                                 \
        *high = (half)(a >> 16) <= (half)(b >> 16), *low = (half)a <= (half)b;                                        \
        return min(a, b);                                                                                             \
    }
PTX2SPV_DEVICE int ptx2spv_wrapping_sum(int a, int b) { return (int)((unsigned int)a + (unsigned int)b); }
PTX2SPV_DEVICE unsigned int ptx2spv_wrapping_sum(unsigned int a, unsigned int b) { return a + b; }
PTX2SPV_DPX(s32, int, ptx2spv_wrapping_sum, max, min)
PTX2SPV_DPX(u32, unsigned int, ptx2spv_wrapping_sum, umax, umin)
PTX2SPV_DPX(s16x2, unsigned int, __vadd2, __vmaxs2, __vmins2)
PTX2SPV_DPX(u16x2, unsigned int, __vadd2, __vmaxu2, __vminu2)
PTX2SPV_DPX_RELU(s32, int, max, min)
PTX2SPV_DPX_RELU(s16x2, unsigned int, __vmaxs2, __vmins2)
PTX2SPV_DPX_CHOSEN(s32, int)
PTX2SPV_DPX_CHOSEN(u32, unsigned int)
PTX2SPV_DPX_CHOSEN2(s16x2, short, __vmaxs2, __vmins2)
PTX2SPV_DPX_CHOSEN2(u16x2, unsigned short, __vmaxu2, __vminu2)
#undef PTX2SPV_DPX
#undef PTX2SPV_DPX_RELU
#undef PTX2SPV_DPX_CHOSEN
#undef PTX2SPV_DPX_CHOSEN2

/* What stands in tables of virtual functions where there is none to call. */
extern "C" {
__attribute__((device, weak, noreturn)) inline void __cxa_pure_virtual(void) { __builtin_trap(); }
__attribute__((device, weak, noreturn)) inline void __cxa_deleted_virtual(void) { __builtin_trap(); }
}

/* Declared by clang's headers, and not defined; the tag may select any quiet NaN. */
PTX2SPV_DEVICE double nan(const char *) { return __builtin_nan(""); }
PTX2SPV_DEVICE float nanf(const char *) { return __builtin_nanf(""); }

/* Addresses of one space as numbers, and back; clang numbers the spaces. */
#define PTX2SPV_SPACE(name, number)                                                             \
    PTX2SPV_DEVICE size_t __cvta_generic_to_##name(const void *p)                               \
    {                                                                                           \
        return (size_t)(void __attribute__((address_space(number))) *)p;                        \
    }                                                                                           \
    PTX2SPV_DEVICE void *__cvta_##name##_to_generic(size_t address)                             \
    {                                                                                           \
        return (void *)(void __attribute__((address_space(number))) *)address;                  \
    }
PTX2SPV_SPACE(global, 1)
PTX2SPV_SPACE(shared, 3)
PTX2SPV_SPACE(constant, 4)
PTX2SPV_SPACE(local, 5)
#undef PTX2SPV_SPACE
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
PTX2SPV_DEVICE unsigned int __isGridConstant(const void *p)
{
    unsigned int is;
    asm("{ .reg .pred p; isspacep.param p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(is) : "l"(p));
    return is;
}
#endif

#endif

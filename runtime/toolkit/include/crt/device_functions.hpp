/* Functions of the device that clang's headers don't have: loads and stores with cache hints, dot products of bytes, and the like. */
#ifndef PTX2SPV_DEVICE_FUNCTIONS_HPP
#define PTX2SPV_DEVICE_FUNCTIONS_HPP

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

/* Loads and stores of C11's orders. Scopes have no effect: all are the system's, and fences make the orders. */
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

#endif

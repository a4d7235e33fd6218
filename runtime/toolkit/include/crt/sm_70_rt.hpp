/* Matches of a value over a warp, of all types; clang's headers have them by size. */
#ifndef PTX2SPV_SM_70_RT_HPP
#define PTX2SPV_SM_70_RT_HPP

#define PTX2SPV_MATCH(type, bits, as)                                                                   \
    static __device__ __inline__ unsigned int __match_any_sync(unsigned int mask, type value)           \
    {                                                                                                   \
        return __match##bits##_any_sync(mask, __builtin_bit_cast(as, value));                           \
    }                                                                                                   \
    static __device__ __inline__ unsigned int __match_all_sync(unsigned int mask, type value, int *all) \
    {                                                                                                   \
        return __match##bits##_all_sync(mask, __builtin_bit_cast(as, value), all);                      \
    }
PTX2SPV_MATCH(int, 32, unsigned int)
PTX2SPV_MATCH(unsigned int, 32, unsigned int)
PTX2SPV_MATCH(float, 32, unsigned int)
PTX2SPV_MATCH(long, 64, unsigned long long)
PTX2SPV_MATCH(unsigned long, 64, unsigned long long)
PTX2SPV_MATCH(long long, 64, unsigned long long)
PTX2SPV_MATCH(unsigned long long, 64, unsigned long long)
PTX2SPV_MATCH(double, 64, unsigned long long)
#undef PTX2SPV_MATCH

#endif

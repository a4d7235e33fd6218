// What cuda_min.h has beyond CUDA's own headers, for NVIDIA's compiler.
#pragma once

#define DYNAMIC_SHARED(type, name) extern __shared__ type name[]

// Operations of a warp, as CUDA's `__shfl_sync` and its kin.
static __device__ u32 shfl(u32 mask, u32 v, u32 lane) { return __shfl_sync(mask, v, (i32)lane); }
static __device__ u32 shfl_up(u32 mask, u32 v, u32 d) { return __shfl_up_sync(mask, v, d); }
static __device__ u32 shfl_xor(u32 mask, u32 v, u32 d) { return __shfl_xor_sync(mask, v, (i32)d); }
static __device__ float shfl_down(u32 mask, float v, u32 d) { return __shfl_down_sync(mask, v, d); }
static __device__ u32 shfl_down8(u32 mask, u32 v, u32 d) { return __shfl_down_sync(mask, v, d, 8); }
static __device__ u32 ballot(u32 mask, bool p) { return __ballot_sync(mask, p); }
static __device__ bool all(u32 mask, bool p) { return __all_sync(mask, p); }
static __device__ void warp_sync(u32 mask) { __syncwarp(mask); }
static __device__ u32 active_mask() { return __activemask(); }
static __device__ u32 lane_id() {
    u32 lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}
static __device__ u32 lanes_below() {
    u32 lanes;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lanes));
    return lanes;
}

// The hardware's approximations.
#define APPROXIMATION(name, instruction)                                   \
    static __device__ float name(float a) {                                \
        float result;                                                      \
        asm(instruction ".f32 %0, %1;" : "=f"(result) : "f"(a));           \
        return result;                                                     \
    }
APPROXIMATION(rsqrt_approx, "rsqrt.approx")
APPROXIMATION(exp2_approx, "ex2.approx")
APPROXIMATION(log2_approx, "lg2.approx")

// Upper halves of products.
static __device__ u32 umulhi(u32 a, u32 b) { return __umulhi(a, b); }
static __device__ i64 mul64hi(i64 a, i64 b) { return __mul64hi(a, b); }
static __device__ u64 umul64hi(u64 a, u64 b) { return __umul64hi(a, b); }

// Bit operations: one PTX instruction each.
static __device__ u32 popcount(u32 a) { return (u32)__popc(a); }
static __device__ u32 leading_zeros(u32 a) { return (u32)__clz((i32)a); }
static __device__ u32 reverse_bits(u32 a) { return __brev(a); }

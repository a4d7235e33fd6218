// The part of CUDA C++ that the test kernels use, written against clang's NVPTX builtins, so that no CUDA toolkit is
// needed to build them. Contains: the CUDA keywords, built-in index variables, vector types, barriers and fences,
// atomics, operations of warps, and the few math functions. Does not contain: textures (see textures.h), half precision, printf.
//
// With HOST_CHECK defined it takes these from host/host_check.h instead, which runs the same sources on the CPU; NVIDIA's
// compiler brings most of it along (cuda_nvcc.h).
#pragma once

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

#ifdef __NVCC__
#include "cuda_nvcc.h"
#else

struct alignas(8) int2 { i32 x, y; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) double2 { double x, y; };
struct alignas(4) uchar4 { u8 x, y, z, w; };
struct alignas(8) ushort4 { u16 x, y, z, w; };
struct alignas(16) ulonglong2 { u64 x, y; };

#ifdef HOST_CHECK
#include "host_check.h"
#else

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define DYNAMIC_SHARED(type, name) extern __shared__ type name[]

// threadIdx.x and its kin read special registers; there is no variable behind them.
#define INDEX_VARIABLE(name, type, register)                                                                            \
    struct type {                                                                                                       \
        static __device__ u32 read_x() { return __nvvm_read_ptx_sreg_##register##_x(); }                                \
        static __device__ u32 read_y() { return __nvvm_read_ptx_sreg_##register##_y(); }                                \
        static __device__ u32 read_z() { return __nvvm_read_ptx_sreg_##register##_z(); }                                \
        __declspec(property(get = read_x)) u32 x;                                                                       \
        __declspec(property(get = read_y)) u32 y;                                                                       \
        __declspec(property(get = read_z)) u32 z;                                                                       \
    };                                                                                                                  \
    extern const __device__ type name;
INDEX_VARIABLE(threadIdx, ThreadIndex, tid)
INDEX_VARIABLE(blockDim, BlockSize, ntid)
INDEX_VARIABLE(blockIdx, BlockIndex, ctaid)
INDEX_VARIABLE(gridDim, GridSize, nctaid)
#undef INDEX_VARIABLE

// __syncthreads() itself is a clang builtin.
static __device__ void __threadfence() { __nvvm_membar_gl(); }

static __device__ u32 atomicAdd(u32* p, u32 v) { return (u32)__nvvm_atom_add_gen_i((i32*)p, (i32)v); }
static __device__ i32 atomicAdd(i32* p, i32 v) { return __nvvm_atom_add_gen_i(p, v); }
static __device__ u64 atomicAdd(u64* p, u64 v) { return (u64)__nvvm_atom_add_gen_ll((i64*)p, (i64)v); }
static __device__ float atomicAdd(float* p, float v) { return __nvvm_atom_add_gen_f(p, v); }
static __device__ double atomicAdd(double* p, double v) { return __nvvm_atom_add_gen_d(p, v); }
static __device__ i32 atomicMin(i32* p, i32 v) { return __nvvm_atom_min_gen_i(p, v); }
static __device__ u32 atomicMin(u32* p, u32 v) { return __nvvm_atom_min_gen_ui(p, v); }
static __device__ i64 atomicMin(i64* p, i64 v) { return __nvvm_atom_min_gen_ll(p, v); }
static __device__ u64 atomicMin(u64* p, u64 v) { return __nvvm_atom_min_gen_ull(p, v); }
static __device__ i32 atomicMax(i32* p, i32 v) { return __nvvm_atom_max_gen_i(p, v); }
static __device__ u32 atomicMax(u32* p, u32 v) { return __nvvm_atom_max_gen_ui(p, v); }
static __device__ i64 atomicMax(i64* p, i64 v) { return __nvvm_atom_max_gen_ll(p, v); }
static __device__ u64 atomicMax(u64* p, u64 v) { return __nvvm_atom_max_gen_ull(p, v); }
static __device__ u32 atomicAnd(u32* p, u32 v) { return (u32)__nvvm_atom_and_gen_i((i32*)p, (i32)v); }
static __device__ u64 atomicAnd(u64* p, u64 v) { return (u64)__nvvm_atom_and_gen_ll((i64*)p, (i64)v); }
static __device__ u32 atomicOr(u32* p, u32 v) { return (u32)__nvvm_atom_or_gen_i((i32*)p, (i32)v); }
static __device__ u64 atomicOr(u64* p, u64 v) { return (u64)__nvvm_atom_or_gen_ll((i64*)p, (i64)v); }
static __device__ u32 atomicXor(u32* p, u32 v) { return (u32)__nvvm_atom_xor_gen_i((i32*)p, (i32)v); }
static __device__ u64 atomicXor(u64* p, u64 v) { return (u64)__nvvm_atom_xor_gen_ll((i64*)p, (i64)v); }
static __device__ u32 atomicExch(u32* p, u32 v) { return (u32)__nvvm_atom_xchg_gen_i((i32*)p, (i32)v); }
static __device__ u64 atomicExch(u64* p, u64 v) { return (u64)__nvvm_atom_xchg_gen_ll((i64*)p, (i64)v); }
static __device__ u32 atomicInc(u32* p, u32 limit) { return __nvvm_atom_inc_gen_ui(p, limit); }
static __device__ u32 atomicDec(u32* p, u32 limit) { return __nvvm_atom_dec_gen_ui(p, limit); }
static __device__ u32 atomicCAS(u32* p, u32 old, u32 v) { return (u32)__nvvm_atom_cas_gen_i((i32*)p, (i32)old, (i32)v); }
static __device__ u64 atomicCAS(u64* p, u64 old, u64 v) { return (u64)__nvvm_atom_cas_gen_ll((i64*)p, (i64)old, (i64)v); }

// Operations of a warp, as CUDA's `__shfl_sync` and its kin.
static __device__ u32 shfl(u32 mask, u32 v, u32 lane) { return (u32)__nvvm_shfl_sync_idx_i32(mask, (i32)v, (i32)lane, 31); }
static __device__ u32 shfl_up(u32 mask, u32 v, u32 d) { return (u32)__nvvm_shfl_sync_up_i32(mask, (i32)v, (i32)d, 0); }
static __device__ u32 shfl_xor(u32 mask, u32 v, u32 d) { return (u32)__nvvm_shfl_sync_bfly_i32(mask, (i32)v, (i32)d, 31); }
static __device__ float shfl_down(u32 mask, float v, u32 d) { return __nvvm_shfl_sync_down_f32(mask, v, (i32)d, 31); }
static __device__ u32 shfl_down8(u32 mask, u32 v, u32 d) {
    return (u32)__nvvm_shfl_sync_down_i32(mask, (i32)v, (i32)d, 0x181f);
}
static __device__ u32 ballot(u32 mask, bool p) { return __nvvm_vote_ballot_sync(mask, p); }
static __device__ bool all(u32 mask, bool p) { return __nvvm_vote_all_sync(mask, p); }
static __device__ void warp_sync(u32 mask) { __nvvm_bar_warp_sync(mask); }
static __device__ u32 active_mask() { return __nvvm_activemask(); }
static __device__ u32 lane_id() { return __nvvm_read_ptx_sreg_laneid(); }
static __device__ u32 lanes_below() { return __nvvm_read_ptx_sreg_lanemask_lt(); }

// Correctly rounded to nearest even: results are bit-exact.
static __device__ float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
static __device__ double fma(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
static __device__ float sqrtf(float a) { return __nvvm_sqrt_rn_f(a); }
static __device__ double sqrt(double a) { return __nvvm_sqrt_rn_d(a); }
static __device__ float fabsf(float a) { return __builtin_fabsf(a); }
static __device__ float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
static __device__ float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }

// The hardware's approximations.
static __device__ float rsqrt_approx(float a) { return __nvvm_rsqrt_approx_f(a); }
static __device__ float exp2_approx(float a) { return __nvvm_ex2_approx_f(a); }
static __device__ float log2_approx(float a) { return __nvvm_lg2_approx_f(a); }

// Upper halves of products.
static __device__ u32 umulhi(u32 a, u32 b) { return __nvvm_mulhi_ui(a, b); }
static __device__ i64 mul64hi(i64 a, i64 b) { return __nvvm_mulhi_ll(a, b); }
static __device__ u64 umul64hi(u64 a, u64 b) { return __nvvm_mulhi_ull(a, b); }

// Bit operations: one PTX instruction each.
static __device__ u32 popcount(u32 a) { return (u32)__builtin_popcount(a); }
static __device__ u32 leading_zeros(u32 a) { return a ? (u32)__builtin_clz(a) : 32; }
static __device__ u32 reverse_bits(u32 a) { return __builtin_bitreverse32(a); }

#endif

#endif

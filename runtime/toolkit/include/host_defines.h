/* Qualifiers of functions and variables. */
#ifndef __HOST_DEFINES_H__
#define __HOST_DEFINES_H__

#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __inline_hint__
#ifndef __cplusplus
#define CUDARTAPI
#else
#define CUDARTAPI
#endif
#define CUDART_CB
#define __CUDART_API_VERSION CUDART_VERSION

#if defined(__CUDA__) && defined(__clang__)
#define __noinline__ __attribute__((noinline))
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __device_builtin__
#define __device_builtin_texture_type__ __attribute__((device_builtin_texture_type))
#define __device_builtin_surface_type__ __attribute__((device_builtin_surface_type))
#define __cudart_builtin__
#define __grid_constant__
#if __has_attribute(cluster_dims)
#define __cluster_dims__(...) __attribute__((cluster_dims(__VA_ARGS__)))
#else
#define __cluster_dims__(...) \
    __attribute__((diagnose_if(true, "this clang can't compile __cluster_dims__; launch by cudaLaunchKernelEx", "error")))
#endif
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#define __device_builtin__
#define __cudart_builtin__
#endif

#endif

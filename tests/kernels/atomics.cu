// Atomics of 32 and 64 bits on global and shared memory. What is checked does not depend on the order of threads.
#include "cuda_min.h"

// cells[0..9]: add, and, or, xor, min and max unsigned, min and max signed, increment, decrement. cells[0..7] below: likewise.
static __device__ void update32(u32* cells, u32 value, u32 limit) {
    atomicAdd(&cells[0], value);
    atomicAnd(&cells[1], value | 0xff);
    atomicOr(&cells[2], value & 0xff00ff);
    atomicXor(&cells[3], value);
    atomicMin(&cells[4], value);
    atomicMax(&cells[5], value);
    atomicMin((i32*)&cells[6], (i32)value);
    atomicMax((i32*)&cells[7], (i32)value);
    atomicInc(&cells[8], limit);
    atomicDec(&cells[9], limit);
}

static __device__ void update64(u64* cells, u64 value) {
    atomicAdd(&cells[0], value);
    atomicAnd(&cells[1], value | 0xff);
    atomicOr(&cells[2], value & 0xff00ff00ff00ffull);
    atomicXor(&cells[3], value);
    atomicMin(&cells[4], value);
    atomicMax(&cells[5], value);
    atomicMin((i64*)&cells[6], (i64)value);
    atomicMax((i64*)&cells[7], (i64)value);
}

extern "C" __global__ void atomics_global32(const u32* in, u32* cells, u32 limit, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) update32(cells, in[i], limit);
}

extern "C" __global__ void atomics_global64(const u64* in, u64* cells, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) update64(cells, in[i]);
}

// Each block has its own ten cells, initialised from `first` and written out at the end.
extern "C" __global__ void atomics_shared32(const u32* in, const u32* first, u32* out, u32 limit, u32 n) {
    __shared__ u32 cells[10];
    if (threadIdx.x < 10) cells[threadIdx.x] = first[threadIdx.x];
    __syncthreads();
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) update32(cells, in[i], limit);
    __syncthreads();
    if (threadIdx.x < 10) out[blockIdx.x * 10 + threadIdx.x] = cells[threadIdx.x];
}

extern "C" __global__ void atomics_shared64(const u64* in, const u64* first, u64* out, u32 n) {
    __shared__ u64 cells[8];
    if (threadIdx.x < 8) cells[threadIdx.x] = first[threadIdx.x];
    __syncthreads();
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) update64(cells, in[i]);
    __syncthreads();
    if (threadIdx.x < 8) out[blockIdx.x * 8 + threadIdx.x] = cells[threadIdx.x];
}

// Old values, in one block. Each ticket 0 .. n-1 is drawn once: seen[ticket] becomes 1. Exchanges pass values from thread
// to thread; with the one left in the end taken out too, what comes out is what was put in, so the sums are known.
extern "C" __global__ void atomics_returned(u32* tickets, u32* seen, u32* baton, u32* passed, u64* wide_baton, u64* wide_passed, u32 n) {
    u32 t = threadIdx.x;
    if (t < n) {
        u32 ticket = atomicAdd(tickets, 1u);
        atomicAdd(&seen[ticket], 1u);
        atomicAdd(passed, atomicExch(baton, t * t + 1));
        atomicAdd(wide_passed, atomicExch(wide_baton, ((u64)t << 40) + t));
    }
    __syncthreads();
    if (t != 0) return;
    atomicAdd(passed, atomicExch(baton, 0u));
    atomicAdd(wide_passed, atomicExch(wide_baton, 0ull));
}

// Compare-and-swap loops: a sum modulo 10007 in 32 bits, and a product modulo 2^64 in 64 bits.
extern "C" __global__ void atomics_cas(const u32* in, u32* sum, u64* product, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u32 expected = *(volatile u32*)sum;
    for (;;) {
        u32 seen = atomicCAS(sum, expected, (expected + in[i]) % 10007);
        if (seen == expected) break;
        expected = seen;
    }
    u64 wide = *(volatile u64*)product;
    for (;;) {
        u64 seen = atomicCAS(product, wide, wide * (2 * (u64)in[i] + 1));
        if (seen == wide) break;
        wide = seen;
    }
}

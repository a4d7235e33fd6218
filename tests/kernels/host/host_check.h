// Stands in for the device part of cuda_min.h on the CPU: the threads of a block are fibers that take turns at barriers,
// blocks run one after another. Everything on one CPU thread, so atomics are plain operations. Not for speed.
#pragma once
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __shared__ static
#define __constant__
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define DYNAMIC_SHARED(type, name) static type* const name = (type*)host::dynamic_shared

struct Index3 {
    u32 x, y, z;
};
static Index3 threadIdx, blockDim, blockIdx, gridDim;

namespace host {

alignas(16) static u8 dynamic_shared[48 * 1024];
constexpr size_t STACK_BYTES = 128 * 1024;

struct Fiber {
    ucontext_t context;
    Index3 index;
    bool done;
    std::vector<u8> stack;
};
static ucontext_t scheduler;
static Fiber* current;
static void (*body)(void*);
static void* body_data;

static void enter() {
    body(body_data);
    current->done = true;
    swapcontext(&current->context, &scheduler);
}

static void barrier() {
    swapcontext(&current->context, &scheduler);
    threadIdx = current->index;
}

// Every fiber runs to its next barrier or its end, round after round: threads that have ended no longer count.
static void run_block(std::vector<Fiber>& fibers) {
    for (size_t i = 0; i < fibers.size(); i++) {
        Fiber& fiber = fibers[i];
        fiber.index = {u32(i) % blockDim.x, u32(i) / blockDim.x % blockDim.y, u32(i) / blockDim.x / blockDim.y};
        fiber.done = false;
        fiber.stack.resize(STACK_BYTES);
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.data();
        fiber.context.uc_stack.ss_size = STACK_BYTES;
        fiber.context.uc_link = nullptr;
        makecontext(&fiber.context, enter, 0);
    }
    for (bool running = true; running;) {
        running = false;
        for (Fiber& fiber : fibers) {
            if (fiber.done) continue;
            running = true;
            current = &fiber;
            threadIdx = fiber.index;
            swapcontext(&scheduler, &fiber.context);
        }
    }
}

template <class... P, size_t... I>
static void call(void (*kernel)(P...), void** args, std::index_sequence<I...>) {
    kernel(*(std::remove_reference_t<P>*)args[I]...);
}

// Launches a kernel; args[i] points to the value of parameter i.
template <class... P>
static void launch(void (*kernel)(P...), const u32* grid, const u32* block, void** args) {
    struct Data {
        void (*kernel)(P...);
        void** args;
    } data = {kernel, args};
    body_data = &data;
    body = [](void* p) { call(((Data*)p)->kernel, ((Data*)p)->args, std::index_sequence_for<P...>{}); };
    gridDim = {grid[0], grid[1], grid[2]};
    blockDim = {block[0], block[1], block[2]};
    std::vector<Fiber> fibers(block[0] * block[1] * block[2]);
    for (u32 z = 0; z < grid[2]; z++)
        for (u32 y = 0; y < grid[1]; y++)
            for (u32 x = 0; x < grid[0]; x++) {
                blockIdx = {x, y, z};
                run_block(fibers);
            }
}

// Memory that ends where an unmapped page begins: the first byte past a buffer faults.
extern "C" void* host_allocate(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t pages = (bytes + page - 1) / page * page;
    u8* base = (u8*)mmap(nullptr, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED || mprotect(base + pages, page, PROT_NONE) != 0) abort();
    return base + pages - bytes;
}

}  // namespace host

static void __syncthreads() { host::barrier(); }
static void __threadfence() {}

template <class T> static T update(T* p, T v) { return std::exchange(*p, v); }
template <class T> static T atomicAdd(T* p, T v) { return update<T>(p, *p + v); }
// Wrap-around, not overflow.
static i32 atomicAdd(i32* p, i32 v) { return update<i32>(p, (i32)((u32)*p + (u32)v)); }
template <class T> static T atomicMin(T* p, T v) { return update<T>(p, v < *p ? v : *p); }
template <class T> static T atomicMax(T* p, T v) { return update<T>(p, v > *p ? v : *p); }
template <class T> static T atomicAnd(T* p, T v) { return update<T>(p, *p & v); }
template <class T> static T atomicOr(T* p, T v) { return update<T>(p, *p | v); }
template <class T> static T atomicXor(T* p, T v) { return update<T>(p, *p ^ v); }
template <class T> static T atomicExch(T* p, T v) { return update<T>(p, v); }
template <class T> static T atomicCAS(T* p, T old, T v) { return update<T>(p, *p == old ? v : *p); }
static u32 atomicInc(u32* p, u32 limit) { return update<u32>(p, *p >= limit ? 0 : *p + 1); }
static u32 atomicDec(u32* p, u32 limit) { return update<u32>(p, *p == 0 || *p > limit ? limit : *p - 1); }

static float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
static float sqrtf(float a) { return __builtin_sqrtf(a); }
static double sqrt(double a) { return __builtin_sqrt(a); }
static float fabsf(float a) { return __builtin_fabsf(a); }
static float fminf(float a, float b) { return __builtin_fminf(a, b); }
static float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }

static float rsqrt_approx(float a) { return 1.0f / __builtin_sqrtf(a); }
static float exp2_approx(float a) { return __builtin_exp2f(a); }
static float log2_approx(float a) { return __builtin_log2f(a); }

static u32 umulhi(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
static i64 mul64hi(i64 a, i64 b) { return (i64)((__int128)a * b >> 64); }
static u64 umul64hi(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }

static u32 popcount(u32 a) { return (u32)__builtin_popcount(a); }
static u32 leading_zeros(u32 a) { return a != 0 ? (u32)__builtin_clz(a) : 32; }
static u32 reverse_bits(u32 a) { return __builtin_bitreverse32(a); }

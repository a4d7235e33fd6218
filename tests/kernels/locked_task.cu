// build: -O0
// An allocator whose threads take turns, as run-time libraries of compilers have them: the lanes of a warp one by one, each under
// a lock, by a closure over locals and flags that it changes. Without optimisation, all of that lies in local memory and is
// reached through generic pointers.
#include "cuda_min.h"

struct Arena {
    u64 head, end;
    u32 lock, failures;
};

template <typename Task>
static __device__ void one_by_one(u32* lock, const Task& task) {
    for (u32 lane = 0; lane < 32; lane++) {
        if (threadIdx.x % 32 == lane) {
            while (atomicExch(lock, 1) == 1) {
            }
            __threadfence();
            task();
            __threadfence();
            atomicExch(lock, 0);
        }
    }
}

static __device__ u64 allocate(Arena* arena, u64 size, u64 align) {
    u64 found = 0;
    bool fits = false;
    one_by_one(&arena->lock, [&]() {
        u64 start = (arena->head + align - 1) / align * align;
        if (start + size <= arena->end) {
            arena->head = start + size;
            found = start;
            fits = true;
        } else {
            arena->failures++;
        }
    });
    return fits ? found : 0;
}

// Every thread takes the same size a few times, and counts what it got.
extern "C" __global__ void locked_allocate(Arena* arena, u32* got, u32 times, u32 size) {
    u32 count = 0;
    for (u32 i = 0; i < times; i++) {
        u64 place = allocate(arena, size, 8);
        if (place != 0) count += place % 8 == 0 ? 1 : 1000;
    }
    got[blockIdx.x * blockDim.x + threadIdx.x] = count;
}

// One thread takes two sizes, as a library does that sets itself up.
extern "C" __global__ void locked_initialize(Arena* arena, u64* places, u64 first, u64 second) {
    places[0] = allocate(arena, first, 4096);
    places[1] = allocate(arena, second, 4096);
}

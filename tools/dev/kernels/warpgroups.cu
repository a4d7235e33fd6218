// build: -O3 --no-cuda-gpu-arch=sm_70 --cuda-gpu-arch=sm_90a -Xclang -target-feature -Xclang +ptx80
// Products of matrices by warpgroups, as CUTLASS uses them on sm_90.
#include "async_copies.h"
#include "library.h"

// Lines of 64 bytes that are swizzled; eight of them take 512 bytes.
static __device__ u64 lines(unsigned from) { return (u64)(from >> 4 & 0x3fff) | 1ull << 16 | 32ull << 32 | 2ull << 62; }

#define FOUR(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SIXTEEN(d, i) FOUR(d, i), FOUR(d, i + 4), FOUR(d, i + 8), FOUR(d, i + 12)

// d += 64 rows of A by 128 columns of B, 16 deep.
static __device__ void product(float (&d)[64], u64 a, u64 b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
                 "}, %64, %65, 1, 1, 1, 0, 0;"
                 : SIXTEEN(d, 0), SIXTEEN(d, 16), SIXTEEN(d, 32), SIXTEEN(d, 48)
                 : "l"(a), "l"(b));
}

// C = A B for f16, A by rows and B by columns: tiles of 128 by 128 of two warpgroups, 32 deep in shared memory, three stages.
extern "C" __global__ void __launch_bounds__(256) hgemm_wgmma(float *c, const char *a, const char *b, unsigned n, unsigned k) {
    constexpr int STAGES = 3;
    alignas(1024) __shared__ char shared[STAGES][2][128 * 64];
    unsigned t = threadIdx.x, lane = t % 32, steps = k / 32;
    u64 bytes = 2ull * k;
    a += blockIdx.y * 128 * bytes;
    b += blockIdx.x * 128 * bytes;
    auto load = [&](unsigned step) {
        if (step < steps)
#pragma unroll
            for (unsigned i = t; i < 512; i += 256) {
                unsigned row = i / 4, piece = i % 4, to = row * 64 + (piece ^ (row / 2 % 4)) * 16;
                copy16(place(shared[step % STAGES][0]) + to, a + row * bytes + step * 64 + piece * 16);
                copy16(place(shared[step % STAGES][1]) + to, b + row * bytes + step * 64 + piece * 16);
            }
        commit();
    };
    float sums[64] = {};
    load(0);
    load(1);
    for (unsigned step = 0; step < steps; step++) {
        wait_group<1>();
        // What was copied is there for products too.
        asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
        load(step + 2);
        u64 rows = lines(place(shared[step % STAGES][0]) + t / 128 * 64 * 64), columns = lines(place(shared[step % STAGES][1]));
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        product(sums, rows, columns);
        // 32 bytes further in each line.
        product(sums, rows + 2, columns + 2);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    c += (u64)(blockIdx.y * 128 + t / 32 * 16 + lane / 4) * n + blockIdx.x * 128 + lane % 4 * 2;
#pragma unroll
    for (unsigned i = 0; i < 64; i++) c[(u64)(i / 2 % 2 * 8) * n + i / 4 * 8 + i % 2] = sums[i];
}

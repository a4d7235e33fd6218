// build: -O2 --no-cuda-gpu-arch=sm_70 --cuda-gpu-arch=sm_80 -Xclang -target-feature -Xclang +ptx71
// Threads that work on different things at the same time: copies ahead of their use, a warp that fetches for another, a queue
// between threads. What C++ has no builtin for is written as PTX.
#include "cuda_min.h"

static __device__ u32 shared_address(const void* p) {
    u64 address;
    asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(p));
    return (u32)address;
}

static __device__ void copy_async(const void* to, const void* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

// c = a * b for square matrices whose side is a multiple of 16; the next tiles arrive while these are multiplied.
extern "C" __global__ void matmul_async(const u32* a, const u32* b, u32* c, u32 side) {
    __shared__ u32 left[2][16][16], right[2][16][16];
    u32 x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    u32 sum = 0, tiles = side / 16;
    copy_async(&left[0][y][x], &a[row * side + x]);
    copy_async(&right[0][y][x], &b[y * side + column]);
    asm volatile("cp.async.commit_group;" ::: "memory");
    for (u32 tile = 0; tile < tiles; tile++) {
        u32 now = tile % 2, next = 1 - now;
        if (tile + 1 < tiles) {
            copy_async(&left[next][y][x], &a[row * side + (tile + 1) * 16 + x]);
            copy_async(&right[next][y][x], &b[((tile + 1) * 16 + y) * side + column]);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        for (u32 k = 0; k < 16; k++) sum += left[now][y][k] * right[now][k][x];
        __syncthreads();
    }
    c[row * side + column] = sum;
}

// Each warp adds up a row of 32-bit words by pieces of four that its threads copy two chunks ahead: of the last piece only what the row has, of some
// pieces nothing, and some threads leave what was there. Blocks of 32.
extern "C" __global__ void padded_rows(const u32* in, u32* out, u32 length) {
    __shared__ __attribute__((aligned(16))) u32 buffer[3][32][4];
    u32 thread = threadIdx.x, chunks = (length + 127) / 128;
    const u32* row = in + blockIdx.x * length;
    for (u32 i = 0; i < 3; i++)
        for (u32 j = 0; j < 4; j++) buffer[i][thread][j] = 0;
    __syncthreads();
    u32 sum = 0;
    for (u32 chunk = 0; chunk < chunks + 2; chunk++) {
        u32 first = chunk * 128 + thread * 4, left = first < length ? (length - first) * 4 : 0, bytes = left < 16 ? left : 16;
        u32 ignored = chunk % 5 == 3 && thread % 4 == 1, copies = chunk < chunks && !(chunk % 3 == 1 && thread % 2 == 0);
        asm volatile("{ .reg .pred c; setp.ne.u32 c, %3, 0; @c cp.async.cg.shared.global [%0], [%1], 16, %2; }"
                     ::"r"(shared_address(buffer[chunk % 3][thread])), "l"(row + (bytes ? first : 0)), "r"(ignored ? 0 : bytes), "r"(copies)
                     : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
        if (chunk < 2) continue;
        asm volatile("cp.async.wait_group 2;" ::: "memory");
        __syncthreads();
        const u32* words = buffer[(chunk - 2) % 3][(thread + chunk) % 32];
        sum = sum * 3 + words[0] + words[1] * 5 + words[2] * 7 + words[3] * 11;
        __syncthreads();
    }
    out[blockIdx.x * 32 + thread] = sum;
}

static __device__ void named_sync(u32 barrier) { asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory"); }
static __device__ void named_arrive(u32 barrier) { asm volatile("bar.arrive %0, 64;" ::"r"(barrier) : "memory"); }

// The first warp fetches chunks of 32 into two buffers, the second one adds them up by lane. Barriers 1 and 2: a buffer is full;
// 3 and 4: it is empty. Blocks of 64.
extern "C" __global__ void named_pipeline(const u32* in, u32* out, u32 chunks) {
    __shared__ u32 buffer[2][32];
    u32 lane = threadIdx.x % 32;
    in += blockIdx.x * chunks * 32;
    if (threadIdx.x < 32) {
        for (u32 chunk = 0; chunk < chunks; chunk++) {
            named_sync(3 + chunk % 2);
            buffer[chunk % 2][lane] = in[chunk * 32 + lane];
            named_arrive(1 + chunk % 2);
        }
    } else {
        u32 sum = 0;
        named_arrive(3);
        named_arrive(4);
        for (u32 chunk = 0; chunk < chunks; chunk++) {
            named_sync(1 + chunk % 2);
            sum = sum * 3 + buffer[chunk % 2][31 - lane];
            if (chunk + 2 < chunks) named_arrive(3 + chunk % 2);
        }
        out[blockIdx.x * 32 + lane] = sum;
    }
}

static __device__ void mbarrier_arrive(u64* barrier) {
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(shared_address(barrier)) : "memory");
}

static __device__ void mbarrier_wait(u64* barrier, u32 parity) {
    u32 done = 0;
    while (!done) {
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(shared_address(barrier)), "r"(parity)
                     : "memory");
    }
}

// The same by mbarriers: phases are told apart by their parity. Blocks of 64.
extern "C" __global__ void mbarrier_pipeline(const u32* in, u32* out, u32 chunks) {
    __shared__ u32 buffer[2][32];
    __shared__ u64 full[2], empty[2];
    u32 lane = threadIdx.x % 32;
    in += blockIdx.x * chunks * 32;
    if (threadIdx.x < 2) {
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(shared_address(&full[threadIdx.x])) : "memory");
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(shared_address(&empty[threadIdx.x])) : "memory");
    }
    __syncthreads();
    u32 sum = 0;
    for (u32 chunk = 0; chunk < chunks; chunk++) {
        u32 which = chunk % 2, parity = chunk / 2 % 2;
        if (threadIdx.x < 32) {
            // The first time a buffer is empty without anybody having said so: the phase before the first counts as complete.
            mbarrier_wait(&empty[which], 1 - parity);
            buffer[which][lane] = in[chunk * 32 + lane];
            mbarrier_arrive(&full[which]);
        } else {
            mbarrier_wait(&full[which], parity);
            sum = sum * 3 + buffer[which][31 - lane];
            mbarrier_arrive(&empty[which]);
        }
    }
    if (threadIdx.x >= 32) out[blockIdx.x * 32 + lane] = sum;
}

// A queue of 16 slots between the threads of a block: even ones put `rounds` numbers each, odd ones take as many and count how
// often they got each. Blocks of at least 16. A slot's turn says whose it is: 2 * lap to be filled, 2 * lap + 1 to be emptied.
extern "C" __global__ void queue(u32* seen, u32 rounds) {
    __shared__ u32 head, tail, turns[16], slots[16];
    if (threadIdx.x == 0) head = tail = 0;
    if (threadIdx.x < 16) turns[threadIdx.x] = 0;
    __syncthreads();
    volatile u32* turn = turns;
    volatile u32* slot = slots;
    for (u32 round = 0; round < rounds; round++) {
        if (threadIdx.x % 2 == 0) {
            u32 ticket = atomicAdd(&tail, 1u);
            while (turn[ticket % 16] != ticket / 16 * 2) {}
            __threadfence();
            slot[ticket % 16] = threadIdx.x / 2 * rounds + round;
            __threadfence();
            turn[ticket % 16] = ticket / 16 * 2 + 1;
        } else {
            u32 ticket = atomicAdd(&head, 1u);
            while (turn[ticket % 16] != ticket / 16 * 2 + 1) {}
            __threadfence();
            atomicAdd(&seen[slot[ticket % 16]], 1u);
            __threadfence();
            turn[ticket % 16] = ticket / 16 * 2 + 2;
        }
    }
}

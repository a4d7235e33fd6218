// Atomic functions of all types, and a lock-free stack of values.
#include "check.h"

struct Results {
    int add, least, most, bits;
    unsigned inc, swapped;
    unsigned long long wide;
    long long wide_most;
    float sum;
    double sum64;
};

__device__ double add_by_swaps(double *p, double v)
{
    unsigned long long *word = (unsigned long long *)p, old = *word, seen;
    do {
        seen = old;
        old = atomicCAS(word, seen, (unsigned long long)__double_as_longlong(v + __longlong_as_double((long long)seen)));
    } while (old != seen);
    return __longlong_as_double((long long)old);
}
__global__ void run(Results *r, int *slots)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&r->add, i);
    atomicMin(&r->least, -i);
    atomicMax(&r->most, i);
    atomicXor(&r->bits, 1 << (i % 31));
    atomicInc(&r->inc, 9);
    atomicAdd(&r->wide, 1ull << 33);
    atomicMax(&r->wide_most, (long long)i << 34);
    atomicAdd(&r->sum, 0.5f);
    add_by_swaps(&r->sum64, 0.25);
    atomicAdd(&r->sum64, 0.25);
    atomicExch(&slots[i % 7], i);
    if (i == 0) r->swapped = atomicCAS(&r->swapped, 3u, 4u);
}
/* The last block to be done adds what all of them have stored. */
__global__ void last_adds(long long *parts, unsigned *done, long long *sum)
{
    __nv_atomic_store_n(&parts[blockIdx.x], (long long)blockIdx.x << 33, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL);
    if (atomicAdd(done, 1) + 1 != gridDim.x) return;
    for (unsigned i = 0; i < gridDim.x; i++) *sum += __nv_atomic_load_n(&parts[i], __NV_ATOMIC_ACQUIRE);
}
/* C11's operations: each thread adds, and the largest, the bits and a chain of exchanges are kept. */
__global__ void orders(int *words, unsigned long long *wide, float *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, expected;
    __nv_atomic_fetch_add(&words[0], i, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_sub(&words[1], i, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_SYSTEM);
    __nv_atomic_fetch_min(&words[2], -i, __NV_ATOMIC_ACQ_REL);
    __nv_atomic_fetch_max(&words[3], i, __NV_ATOMIC_ACQ_REL);
    __nv_atomic_fetch_xor(&words[4], 1 << i % 31, __NV_ATOMIC_RELAXED);
    __nv_atomic_fetch_or(&words[5], 1 << i % 31, __NV_ATOMIC_RELAXED);
    __nv_atomic_fetch_and(&words[6], ~(1 << i % 31), __NV_ATOMIC_RELAXED);
    __nv_atomic_fetch_add(wide, 1ull << 33, __NV_ATOMIC_RELAXED);
    __nv_atomic_fetch_add(sum, 0.5f, __NV_ATOMIC_RELAXED);
    __nv_atomic_load(&words[7], &expected, __NV_ATOMIC_RELAXED);
    while (!__nv_atomic_compare_exchange_n(&words[7], &expected, expected + 2, true, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_ACQUIRE)) {}
    // What was there before goes to a sum, so that nothing is lost.
    __nv_atomic_fetch_add(&words[9], __nv_atomic_exchange_n(&words[8], i, __NV_ATOMIC_ACQ_REL), __NV_ATOMIC_RELAXED);
}

int main()
{
    Results *r;
    int *slots;
    CHECK(cudaMallocManaged(&r, sizeof(*r)));
    CHECK(cudaMallocManaged(&slots, 7 * sizeof(int)));
    *r = Results();
    r->swapped = 3;
    run<<<8, 64>>>(r, slots);
    CHECK(cudaDeviceSynchronize());
    EXPECT(r->add == 511 * 256 && r->least == -511 && r->most == 511);
    int bits = 0;
    for (int i = 0; i < 512; i++) bits ^= 1 << (i % 31);
    EXPECT(r->bits == bits && r->inc == 512 % 10 && r->swapped == 3);
    EXPECT(r->wide == 512ull << 33 && r->wide_most == 511ll << 34);
    EXPECT(r->sum == 256 && r->sum64 == 256);
    for (int i = 0; i < 7; i++) EXPECT(slots[i] % 7 == i);
    long long *parts;
    unsigned *done;
    CHECK(cudaMallocManaged(&parts, 101 * sizeof(*parts)));
    CHECK(cudaMallocManaged(&done, sizeof(*done)));
    *done = 0, parts[100] = 0;
    last_adds<<<100, 1>>>(parts, done, parts + 100);
    CHECK(cudaDeviceSynchronize());
    EXPECT(parts[100] == 4950ll << 33);
    int *words;
    unsigned long long *wide;
    float *sum;
    CHECK(cudaMallocManaged(&words, 10 * sizeof(int)));
    CHECK(cudaMallocManaged(&wide, sizeof(*wide)));
    CHECK(cudaMallocManaged(&sum, sizeof(*sum)));
    for (int i = 0; i < 10; i++) words[i] = i == 6 ? -1 : 0;
    *wide = 0, *sum = 0;
    orders<<<8, 64>>>(words, wide, sum);
    CHECK(cudaDeviceSynchronize());
    EXPECT(words[0] == 511 * 256 && words[1] == -511 * 256 && words[2] == -511 && words[3] == 511);
    EXPECT(words[4] == bits && words[5] == 0x7fffffff && words[6] == (int)0x80000000 && words[7] == 1024);
    EXPECT(words[8] + words[9] == 511 * 256 && *wide == 512ull << 33 && *sum == 256);
    printf("right\n");
}

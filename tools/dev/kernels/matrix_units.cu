// build: -O3 --no-cuda-gpu-arch=sm_70 --cuda-gpu-arch=sm_80 -Xclang -target-feature -Xclang +ptx71
// Products of matrices by tensor cores, as CUTLASS and mma.h use them.
#include "async_copies.h"
#include "library.h"

static __device__ void load4(unsigned (&d)[4], unsigned from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(from) : "memory");
}

// Products of 16 by 8 elements, 32 bytes deep. Each has the type of its sums.
#define PRODUCT(NAME, SUM, SHAPE, TYPES, HELD) \
    struct NAME { \
        typedef SUM Sum; \
        static __device__ void add(Sum (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) { \
            asm volatile("mma.sync.aligned." SHAPE ".row.col." TYPES " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
                         : HELD(d[0]), HELD(d[1]), HELD(d[2]), HELD(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1)); \
        } \
    }
PRODUCT(F16, float, "m16n8k16", "f32.f16.f16.f32", "+f");
PRODUCT(Bf16, float, "m16n8k16", "f32.bf16.bf16.f32", "+f");
PRODUCT(Tf32, float, "m16n8k8", "f32.tf32.tf32.f32", "+f");
PRODUCT(S8, int, "m16n8k32", "s32.s8.s8.s32", "+r");
#undef PRODUCT

// C = A B, A by rows and B by columns: tiles of 128 by 128, rows of 64 bytes in shared memory whose 16-byte pieces are swizzled, three stages. Eight
// warps, each with 64 by 32.
template <class Product>
static __device__ void tiles(typename Product::Sum *c, const char *a, const char *b, unsigned n, unsigned bytes) {
    typedef typename Product::Sum Sum;
    constexpr int STAGES = 3;
    alignas(128) __shared__ char shared[STAGES][2][128 * 64];
    unsigned t = threadIdx.x, warp = t / 32, lane = t % 32;
    a += (u64)blockIdx.y * 128 * bytes;
    b += (u64)blockIdx.x * 128 * bytes;
    unsigned steps = bytes / 64;
    auto load = [&](unsigned step) {
        if (step < steps)
#pragma unroll
            for (unsigned part = 0; part < 2; part++) {
                unsigned i = t + part * 256;
                unsigned row = i / 4, piece = i % 4, to = row * 64 + (piece ^ (row / 2 % 4)) * 16;
                copy16(place(shared[step % STAGES][0]) + to, a + (u64)row * bytes + step * 64 + piece * 16);
                copy16(place(shared[step % STAGES][1]) + to, b + (u64)row * bytes + step * 64 + piece * 16);
            }
        commit();
    };
    Sum sums[4][4][4] = {};
    load(0);
    load(1);
    unsigned y = warp / 4 * 64, x = warp % 4 * 32;
    for (unsigned step = 0; step < steps; step++) {
        wait_group<1>();
        __syncthreads();
        load(step + 2);
        unsigned from_a = place(shared[step % STAGES][0]), from_b = place(shared[step % STAGES][1]);
#pragma unroll
        for (int half = 0; half < 2; half++) {
            unsigned fa[4][4], fb[2][4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                unsigned row = y + i * 16 + lane % 16, piece = half * 2 + lane / 16;
                load4(fa[i], from_a + row * 64 + (piece ^ (row / 2 % 4)) * 16);
            }
#pragma unroll
            for (int j = 0; j < 2; j++) {
                unsigned row = x + j * 16 + lane / 16 * 8 + lane % 8, piece = half * 2 + lane / 8 % 2;
                load4(fb[j], from_b + row * 64 + (piece ^ (row / 2 % 4)) * 16);
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    Product::add(sums[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
        }
    }
    c += (u64)(blockIdx.y * 128 + y + lane / 4) * n + blockIdx.x * 128 + x + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                c[(u64)(i * 16 + e / 2 * 8) * n + j * 8 + e % 2] = sums[i][j][e];
}

extern "C" __global__ void __launch_bounds__(256) hgemm_mma(float *c, const char *a, const char *b, unsigned n, unsigned k) { tiles<F16>(c, a, b, n, 2 * k); }
extern "C" __global__ void __launch_bounds__(256) bf16_mma(float *c, const char *a, const char *b, unsigned n, unsigned k) { tiles<Bf16>(c, a, b, n, 2 * k); }
extern "C" __global__ void __launch_bounds__(256) tf32_mma(float *c, const char *a, const char *b, unsigned n, unsigned k) { tiles<Tf32>(c, a, b, n, 4 * k); }
extern "C" __global__ void __launch_bounds__(256) int8_mma(int *c, const char *a, const char *b, unsigned n, unsigned k) { tiles<S8>(c, a, b, n, k); }

// C = A B for f16, where A has two of each four elements of a row, by rows, and B lies by columns. `kept` says which two: for 16 rows and 64 places in
// the direction of the sum a word for each lane, as mma.sp takes them. Any words serve: one element of the first two, one of the others. Tiles as above,
// rows of B are twice as long and there are two stages.
extern "C" __global__ void __launch_bounds__(256)
hgemm_sparse(float *c, const unsigned *kept, const char *a, const char *b, unsigned n, unsigned k) {
    constexpr unsigned A_BYTES = 64, B_BYTES = 128, STAGES = 2;
    alignas(128) __shared__ char rows[STAGES][128 * A_BYTES];
    alignas(128) __shared__ char columns[STAGES][128 * B_BYTES];
    unsigned t = threadIdx.x, warp = t / 32, lane = t % 32;
    unsigned steps = k / 64;
    a += (u64)blockIdx.y * 128 * k;
    b += (u64)blockIdx.x * 128 * 2 * k;
    auto load = [&](unsigned step) {
        if (step < steps) {
#pragma unroll
            for (unsigned i = t; i < 128 * A_BYTES / 16; i += 256)
                copy16(place(rows[step % STAGES]) + i / 4 * A_BYTES + (i % 4 ^ i / 8 % 4) * 16, a + (u64)(i / 4) * k + step * A_BYTES + i % 4 * 16);
#pragma unroll
            for (unsigned i = t; i < 128 * B_BYTES / 16; i += 256)
                copy16(place(columns[step % STAGES]) + i / 8 * B_BYTES + (i % 8 ^ i / 8 % 8) * 16, b + (u64)(i / 8) * 2 * k + step * B_BYTES + i % 8 * 16);
        }
        commit();
    };
    float sums[4][4][4] = {};
    load(0);
    unsigned y = warp / 4 * 64, x = warp % 4 * 32;
    kept += (u64)(blockIdx.y * 8 + y / 16) * steps * 32 + lane;
    for (unsigned step = 0; step < steps; step++) {
        unsigned places[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            places[i] = (kept[(u64)(i * steps + step) * 32] & 0x55555555) | 0x88888888;
        wait_group<0>();
        __syncthreads();
        load(step + 1);
        unsigned from_a = place(rows[step % STAGES]), from_b = place(columns[step % STAGES]);
#pragma unroll
        for (int half = 0; half < 2; half++) {
            unsigned fa[4][4], fb[4][4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                unsigned row = y + i * 16 + lane % 16, piece = half * 2 + lane / 16;
                load4(fa[i], from_a + row * A_BYTES + (piece ^ (row / 2 % 4)) * 16);
            }
#pragma unroll
            for (int j = 0; j < 4; j++) {
                unsigned row = x + j * 8 + lane % 8, piece = half * 4 + lane / 8;
                load4(fb[j], from_b + row * B_BYTES + (piece ^ row % 8) * 16);
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    float(&d)[4] = sums[i][j];
                    asm volatile("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, %13;"
                                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                                 : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j][0]), "r"(fb[j][1]), "r"(fb[j][2]), "r"(fb[j][3]),
                                   "r"(places[i]), "n"(half));
                }
        }
    }
    c += (u64)(blockIdx.y * 128 + y + lane / 4) * n + blockIdx.x * 128 + x + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                c[(u64)(i * 16 + e / 2 * 8) * n + j * 8 + e % 2] = sums[i][j][e];
}

// C = A B, both by rows, by fragments that no code looks into: tiles of 128 by 128 of eight warps, 32 deep in shared memory.
extern "C" __global__ void __launch_bounds__(256) hgemm_wmma(float *c, const _Float16 *a, const _Float16 *b, unsigned n, unsigned k) {
    constexpr int A_PITCH = 40, B_PITCH = 136;
    alignas(128) __shared__ _Float16 rows[128 * A_PITCH];
    alignas(128) __shared__ _Float16 columns[32 * B_PITCH];
    unsigned t = threadIdx.x, warp = t / 32;
    a += (u64)blockIdx.y * 128 * k;
    b += blockIdx.x * 128;
    unsigned y = warp / 4 * 64, x = warp % 4 * 32;
    float sums[4][2][8] = {};
    for (unsigned start = 0; start < k; start += 32) {
        __syncthreads();
        for (unsigned i = t; i < 512; i += 256) {
            *(ulonglong2 *)(rows + i / 4 * A_PITCH + i % 4 * 8) = *(const ulonglong2 *)(a + (u64)(i / 4) * k + start + i % 4 * 8);
            *(ulonglong2 *)(columns + i / 16 * B_PITCH + i % 16 * 8) = *(const ulonglong2 *)(b + (u64)(start + i / 16) * n + i % 16 * 8);
        }
        __syncthreads();
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int fa[4][8], fb[2][8];
#pragma unroll
            for (int i = 0; i < 4; i++)
                __hmma_m16n16k16_ld_a(fa[i], (const int *)(rows + (y + i * 16) * A_PITCH + half * 16), A_PITCH, 0);
#pragma unroll
            for (int j = 0; j < 2; j++)
                __hmma_m16n16k16_ld_b(fb[j], (const int *)(columns + half * 16 * B_PITCH + x + j * 16), B_PITCH, 0);
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 2; j++)
                    __hmma_m16n16k16_mma_f32f32(sums[i][j], fa[i], fb[j], sums[i][j], 0, 0);
        }
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 2; j++)
            __hmma_m16n16k16_st_c_f32(c + (u64)(blockIdx.y * 128 + y + i * 16) * n + blockIdx.x * 128 + x + j * 16, sums[i][j], n, 0);
}

static __device__ void load4_turned(unsigned (&d)[4], unsigned from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(from) : "memory");
}
// Two f32 as f16, the first one in the lower half.
static __device__ unsigned halves(float low, float high) {
    unsigned both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}
// The same in all lanes of a quad.
static __device__ float quad_sum(float x) {
    x += shfl_xor(x, 1);
    return x + shfl_xor(x, 2);
}
static __device__ float quad_max(float x) {
    x = fmaxf(x, shfl_xor(x, 1));
    return fmaxf(x, shfl_xor(x, 2));
}

// softmax(Q K^T / 8) V of heads with n rows of 64 f16: each of four warps has 16 rows of Q; K and V come in tiles of 64 rows, two stages of them.
extern "C" __global__ void __launch_bounds__(128) flash_attention(char *result, const char *q, const char *k, const char *v, unsigned n) {
    constexpr unsigned BYTES = 128, TILE = 64, STAGES = 2;
    alignas(128) __shared__ char queries[TILE * BYTES];
    alignas(128) __shared__ char keys[STAGES][TILE * BYTES];
    alignas(128) __shared__ char values[STAGES][TILE * BYTES];
    unsigned t = threadIdx.x, warp = t / 32, lane = t % 32;
    u64 head = (u64)blockIdx.y * n * BYTES;
    u64 own = head + (u64)blockIdx.x * TILE * BYTES;
    auto copy = [&](char *to, const char *from) {
#pragma unroll
        for (unsigned i = t; i < TILE * 8; i += 128)
            copy16(place(to) + i / 8 * BYTES + (i % 8 ^ i / 8 % 8) * 16, from + (u64)i * 16);
    };
    auto load = [&](unsigned tile) {
        if (tile * TILE < n) {
            copy(keys[tile % STAGES], k + head + (u64)tile * TILE * BYTES);
            copy(values[tile % STAGES], v + head + (u64)tile * TILE * BYTES);
        }
        commit();
    };
    // Where the lane's row of a matrix of 16 rows and 16 columns begins.
    auto at = [&](const char *rows, unsigned row, unsigned piece) { return place(rows) + row * BYTES + (piece ^ row % 8) * 16; };
    copy(queries, q + own);
    load(0);
    wait_group<0>();
    __syncthreads();
    unsigned fq[4][4];
#pragma unroll
    for (unsigned d = 0; d < 4; d++) load4(fq[d], at(queries, warp * 16 + lane % 16, d * 2 + lane / 16));
    float sums[8][4] = {}, largest[2] = {-1e30f, -1e30f}, totals[2] = {};
    for (unsigned tile = 0; tile * TILE < n; tile++) {
        wait_group<0>();
        __syncthreads();
        load(tile + 1);
        float scores[8][4] = {};
#pragma unroll
        for (unsigned d = 0; d < 4; d++)
#pragma unroll
            for (unsigned j = 0; j < 4; j++) {
                unsigned fk[4];
                load4(fk, at(keys[tile % STAGES], j * 16 + lane / 16 * 8 + lane % 8, d * 2 + lane / 8 % 2));
                F16::add(scores[2 * j], fq[d], fk[0], fk[1]);
                F16::add(scores[2 * j + 1], fq[d], fk[2], fk[3]);
            }
        // An element's row is that of its lane's number divided by four, or eight further.
        float scale[2];
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float most = largest[half];
#pragma unroll
            for (int j = 0; j < 8; j++) most = fmaxf(most, fmaxf(scores[j][2 * half], scores[j][2 * half + 1]));
            most = quad_max(most);
            // log2(e) / 8
            constexpr float FACTOR = 0.18033688f;
            scale[half] = exp2_approx_ftz((largest[half] - most) * FACTOR);
            largest[half] = most;
            totals[half] *= scale[half];
#pragma unroll
            for (int j = 0; j < 8; j++)
#pragma unroll
                for (int e = 2 * half; e < 2 * half + 2; e++) {
                    scores[j][e] = exp2_approx_ftz((scores[j][e] - most) * FACTOR);
                    totals[half] += scores[j][e];
                    sums[j][e] *= scale[half];
                }
        }
#pragma unroll
        for (unsigned i = 0; i < 4; i++) {
            unsigned weights[4] = {halves(scores[2 * i][0], scores[2 * i][1]), halves(scores[2 * i][2], scores[2 * i][3]),
                                   halves(scores[2 * i + 1][0], scores[2 * i + 1][1]), halves(scores[2 * i + 1][2], scores[2 * i + 1][3])};
#pragma unroll
            for (unsigned j = 0; j < 4; j++) {
                unsigned fv[4];
                load4_turned(fv, at(values[tile % STAGES], i * 16 + lane % 16, j * 2 + lane / 16));
                F16::add(sums[2 * j], weights, fv[0], fv[1]);
                F16::add(sums[2 * j + 1], weights, fv[2], fv[3]);
            }
        }
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float total = quad_sum(totals[half]);
        char *row = result + own + (warp * 16 + lane / 4 + half * 8) * BYTES + lane % 4 * 4;
#pragma unroll
        for (int j = 0; j < 8; j++) *(unsigned *)(row + j * 16) = halves(sums[j][2 * half] / total, sums[j][2 * half + 1] / total);
    }
}

// Chains of products, which tell what the chip's matrix units do at most.
template <class Product> static __device__ void chains(typename Product::Sum *out, unsigned factor, unsigned rounds) {
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a[4] = {factor, factor, factor, factor};
    typename Product::Sum sums[8][4] = {};
#pragma unroll 1
    for (unsigned round = 0; round < rounds; round++)
#pragma unroll
        for (int i = 0; i < 8; i++) Product::add(sums[i], a, factor, factor);
    typename Product::Sum sum = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) sum += sums[i][0] + sums[i][1] + sums[i][2] + sums[i][3];
    out[at] = sum;
}

extern "C" __global__ void chain_f16(float *out, unsigned factor, unsigned rounds) { chains<F16>(out, factor, rounds); }
extern "C" __global__ void chain_tf32(float *out, unsigned factor, unsigned rounds) { chains<Tf32>(out, factor, rounds); }
extern "C" __global__ void chain_s8(int *out, unsigned factor, unsigned rounds) { chains<S8>(out, factor, rounds); }

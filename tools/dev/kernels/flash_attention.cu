// build: -O3 --no-cuda-gpu-arch=sm_70 --cuda-gpu-arch=sm_80 -Xclang -target-feature -Xclang +ptx71
// Attention by matrix units.
#include "library.h"
#include "matrix_units.h"

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

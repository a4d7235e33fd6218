// Grids whose blocks wait for each other, for cooperative launches.
//
//   nvcc -arch=compute_90 -fmad=false -ptx -o grid_sync.ptx grid_sync.cu
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// What each thread has in registers, local and shared memory must survive three barriers in each of some rounds.
extern "C" __global__ void rounds(unsigned* a, unsigned* b, unsigned* out, int n, int count) {
    cg::grid_group grid = cg::this_grid();
    __shared__ unsigned seen[64];
    extern __shared__ unsigned more[];
    unsigned history[8];
    int t = threadIdx.x, first = grid.thread_rank(), step = grid.size();
    for (int k = t; k < 64; k += blockDim.x) seen[k] = 0;
    more[t] = first;
    for (int k = 0; k < 8; k++) history[k] = first * k;
    __syncthreads();
    unsigned sum = 0;
    for (int round = 0; round < count; round++) {
        for (int i = first; i < n; i += step) b[i] = 3 * a[(i + 1) % n] + a[(i + n / 2) % n] + round;
        grid.sync();
        sum += b[(first + 7 * round) % n];
        history[sum & 7] += sum;
        atomicAdd(&seen[(t + sum) % 64], sum);
        grid.sync();
        for (int i = first; i < n; i += step) a[i] = b[n - 1 - i] ^ more[t];
        more[t] += round;
        grid.sync();
    }
    unsigned hash = sum;
    for (int k = 0; k < 8; k++) hash = 31 * hash + history[k];
    out[3 * first] = hash;
    out[3 * first + 1] = more[t];
    __syncthreads();
    unsigned all = 0;
    for (int k = 0; k < 64; k++) all += seen[k];
    out[3 * first + 2] = all;
}

// The two halves of a barrier, with work in between.
extern "C" __global__ void halves(unsigned* words, unsigned* out) {
    cg::grid_group grid = cg::this_grid();
    unsigned i = grid.thread_rank(), n = grid.size();
    words[i] = i * i + 1;
    auto token = grid.barrier_arrive();
    unsigned own = 0;
    for (unsigned k = 0; k < 10; k++) own = own * 5 + i;
    grid.barrier_wait(std::move(token));
    out[i] = words[n - 1 - i] + own;
}

// Block by block: a block of threads of which most have returned before the barrier.
extern "C" __global__ void leavers(unsigned* words, unsigned* out) {
    cg::grid_group grid = cg::this_grid();
    unsigned block = blockIdx.x, blocks = gridDim.x;
    if (threadIdx.x >= 32) return;
    if (threadIdx.x == 0) words[block] = 7 * block + 1;
    grid.sync();
    if (threadIdx.x == 5) out[block] = words[(block + 1) % blocks];
}

// What the group says of itself; not valid in an ordinary launch.
extern "C" __global__ void group(unsigned* out) {
    cg::grid_group grid = cg::this_grid();
    unsigned i = grid.thread_rank();
    out[4 * i] = grid.is_valid();
    out[4 * i + 1] = grid.size();
    out[4 * i + 2] = grid.block_rank();
    out[4 * i + 3] = grid.num_blocks();
}

// A sum over the grid in the same order for every launch of a size: each block sums in a tree, and every block adds up all blocks'.
static __device__ float dot(const float* x, const float* y, int n, float* partial, float* shared, cg::grid_group& grid) {
    float sum = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) sum = sum + x[i] * y[i];
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] = shared[threadIdx.x] + shared[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = shared[0];
    grid.sync();
    float total = 0;
    for (int block = 0; block < gridDim.x; block++) total = total + partial[block];
    grid.sync();
    return total;
}

// Conjugate gradients in one launch: the five-point Laplace operator on a square of width * width unknowns.
extern "C" __global__ void conjugate_gradients(const float* right, float* x, float* r, float* p, float* ap, float* partial,
                                               int width, int iterations, float* residual) {
    cg::grid_group grid = cg::this_grid();
    __shared__ float shared[256];
    int n = width * width, first = grid.thread_rank(), step = grid.size();
    for (int i = first; i < n; i += step) {
        x[i] = 0;
        r[i] = right[i];
        p[i] = right[i];
    }
    grid.sync();
    float rr = dot(r, r, n, partial, shared, grid);
    int k = 0;
    for (; k < iterations && rr > 1e-10f; k++) {
        for (int i = first; i < n; i += step) {
            int column = i % width;
            float sum = 4 * p[i];
            if (column > 0) sum = sum - p[i - 1];
            if (column < width - 1) sum = sum - p[i + 1];
            if (i >= width) sum = sum - p[i - width];
            if (i < n - width) sum = sum - p[i + width];
            ap[i] = sum;
        }
        grid.sync();
        float alpha = rr / dot(p, ap, n, partial, shared, grid);
        for (int i = first; i < n; i += step) {
            x[i] = x[i] + alpha * p[i];
            r[i] = r[i] - alpha * ap[i];
        }
        grid.sync();
        float next = dot(r, r, n, partial, shared, grid);
        float beta = next / rr;
        rr = next;
        for (int i = first; i < n; i += step) p[i] = r[i] + beta * p[i];
        grid.sync();
    }
    if (first == 0) {
        residual[0] = rr;
        residual[1] = k;
    }
}

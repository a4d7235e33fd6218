// Kernels for NVIDIA's own compiler, whose PTX differs from clang's: unrolled and predicated code, `.pragma`s, local depots,
// DWARF sections. Results in the `.json` files were recorded on an H200.
//
//   nvcc -arch=compute_90 -ptx -o mixed.ptx mixed.cu
//   nvcc -O0 -G -arch=compute_90 -ptx -o mixed_debug.ptx mixed.cu
#include <stdint.h>

struct Parameters {
    float weights[40];
    int n;
    double scale;
};

// Remainders in a loop of unknown length.
extern "C" __global__ void gcds(const unsigned* a, const unsigned* b, unsigned* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i];
    while (y) {
        unsigned t = x % y;
        x = y;
        y = t;
    }
    out[i] = x;
}

// A large struct by value, vector loads, f32 division and roots.
extern "C" __global__ void conv(const float4* __restrict__ in, float4* out, Parameters p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= p.n) return;
    float4 v = __ldg(in + i);
    float acc = 0;
#pragma unroll 1
    for (int k = 0; k < 40; k++) acc += p.weights[k] * ((k & 1) ? v.x : v.y) + v.z / (1.0f + fabsf(v.w) * k);
    out[i] = make_float4(acc, sqrtf(fabsf(acc)), rsqrtf(1.0f + acc * acc), (float)(acc * p.scale));
}

__device__ __noinline__ double horner(double x, const double* c, int n) {
    double r = 0;
    for (int i = n - 1; i >= 0; i--) r = r * x + c[i];
    return r;
}

__constant__ double coefficients[6] = {1.0, -0.5, 0.25, -0.125, 3.0, 7.0};

// A call with a pointer to constant memory, f64 arithmetic, a switch.
extern "C" __global__ void poly(const double* x, double* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double v = horner(x[i], coefficients, 6);
        switch (i % 7) {
            case 0: v = v / 3; break;
            case 1: v = sqrt(fabs(v)); break;
            case 2: v = floor(v); break;
            case 3: v = fmin(v, 2.0); break;
            case 4: v = (double)(long long)v; break;
            case 5: v = -v; break;
            default: v = v * v + 1;
        }
        y[i] = v;
    }
}

// A reduction in dynamic shared memory, atomics of 32 and 64 bits.
extern "C" __global__ void maxima(const int* a, int n, int* best, unsigned long long* sum) {
    extern __shared__ int sh[];
    int t = threadIdx.x;
    int m = -2147483647;
    unsigned long long s = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) {
        m = max(m, a[i]);
        s += (unsigned)a[i];
    }
    sh[t] = m;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d) sh[t] = max(sh[t], sh[t + d]);
        __syncthreads();
    }
    if (t == 0) atomicMax(best, sh[0]);
    atomicAdd(sum, s);
}

// Bytes, and predicated arithmetic on 16 bits.
extern "C" __global__ void rot13(const uint8_t* s, uint8_t* d, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        uint8_t c = s[i];
        if (c >= 'a' && c <= 'z') c = 'a' + (c - 'a' + 13) % 26;
        else if (c >= 'A' && c <= 'Z') c = 'A' + (c - 'A' + 13) % 26;
        d[i] = c;
    }
}

// A local array with dynamic indices, 64-bit remainders, bit functions.
extern "C" __global__ void permute(unsigned* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned char p[8];
    unsigned long long x = 0x123456789abcdefULL * (i + 1);
    for (int k = 0; k < 8; k++) p[k] = k;
    for (int k = 7; k > 0; k--) {
        int j = (x >> (k * 7)) % (k + 1);
        unsigned char t = p[k];
        p[k] = p[j];
        p[j] = t;
    }
    unsigned r = 0;
    for (int k = 0; k < 8; k++) r = r * 8 + p[k];
    out[i] = r ^ __popc(i) ^ __brev(i) ^ __clz(i) ^ (unsigned)__umul64hi(x, x);
}

// Threads that leave before and between the barriers of the others.
extern "C" __global__ void early(const int* a, int* out, int n) {
    __shared__ int buf[64];
    int t = threadIdx.x;
    if (t >= n) return;
    buf[t] = a[t];
    for (int r = 0; r < 5; r++) {
        __syncthreads();
        int v = buf[(t + r + 1) % n];
        __syncthreads();
        buf[t] += v;
        if (buf[t] > 1000000) {
            out[t] = -buf[t];
            return;
        }
    }
    out[t] = buf[t];
}

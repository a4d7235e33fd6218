// Kernels that launch kernels.
//
//   nvcc -rdc=true -arch=compute_90 -fmad=false -ptx -o launches.ptx launches.cu
#include <cuda_runtime.h>

// A log: the number of entries, then the entries.
extern "C" __global__ void append(unsigned* log, unsigned tag) {
    if (threadIdx.x == 0 && blockIdx.x == 0) log[1 + atomicAdd(log, 1)] = tag;
}

// Has what the grid before it in its stream wrote, and what its launcher did.
extern "C" __global__ void doubled(unsigned* words, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) words[i] = 2 * words[i] + 1;
}

extern "C" __global__ void order(unsigned* log, unsigned* words, int n) {
    words[0] = 5;
    append<<<1, 32, 0, cudaStreamTailLaunch>>>(log, 90);
    append<<<2, 64>>>(log, 10);
    doubled<<<(n + 31) / 32, 32>>>(words, n);
    append<<<1, 1>>>(log, 11);
    doubled<<<(n + 31) / 32, 32>>>(words, n);
    append<<<1, 32, 0, cudaStreamTailLaunch>>>(log, 91);
    append<<<1, 1>>>(log, 12);
}

// Children are complete, with their own, before the tail begins.
extern "C" __global__ void inner(unsigned* log, unsigned tag) {
    append<<<1, 1, 0, cudaStreamTailLaunch>>>(log, tag + 2);
    append<<<1, 1>>>(log, tag);
    append<<<1, 1>>>(log, tag + 1);
}

extern "C" __global__ void nested(unsigned* log) {
    append<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 99);
    inner<<<1, 1>>>(log, 10);
    inner<<<1, 1>>>(log, 20);
    inner<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 100);
    append<<<1, 1>>>(log, 30);
}

// Named streams, which an event orders; fire and forget.
extern "C" __global__ void streams(unsigned* words, int n, int* errors) {
    cudaStream_t first, second;
    cudaEvent_t event;
    errors[0] = cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    errors[1] = cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    errors[2] = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    doubled<<<1, 32, 0, first>>>(words, n);
    errors[3] = cudaEventRecord(event, first);
    errors[4] = cudaStreamWaitEvent(second, event, 0);
    doubled<<<1, 32, 0, second>>>(words, n);
    doubled<<<1, 32, 0, cudaStreamFireAndForget>>>(words + n, n);
    errors[5] = cudaEventDestroy(event);
    errors[6] = cudaStreamDestroy(first);
    errors[7] = cudaStreamDestroy(second);
    errors[8] = cudaGetLastError();
    errors[9] = cudaStreamCreateWithFlags(&first, cudaStreamDefault);
    errors[10] = cudaGetLastError();
    errors[11] = cudaGetLastError();
}

// Copies and sets in stream order.
extern "C" __global__ void copies(unsigned* a, unsigned* b, int n, int* errors) {
    errors[0] = cudaMemsetAsync(a, 1, 4 * n, 0);
    doubled<<<1, 64>>>(a, n);
    errors[1] = cudaMemcpyAsync(b, a, 4 * n, cudaMemcpyDeviceToDevice, 0);
    doubled<<<1, 64>>>(a, n / 2);
    errors[2] = cudaMemcpy2DAsync(b + n, 8, a, 16, 4, n / 4, cudaMemcpyDeviceToDevice, 0);
    errors[3] = cudaMemset2DAsync(b, 16, 7, 4, n / 4, 0);
}

// A chain of launches, each from the one before.
extern "C" __global__ void deeper(unsigned* log, unsigned depth) {
    log[1 + atomicAdd(log, 1)] = depth;
    if (depth > 0) deeper<<<1, 1>>>(log, depth - 1);
}

// Launches of every thread.
extern "C" __global__ void add_at(unsigned* sums, unsigned at, unsigned value) { atomicAdd(&sums[at], value); }

extern "C" __global__ void many(unsigned* sums, unsigned bins, unsigned each) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned k = 0; k < each; k++) add_at<<<1, 1>>>(sums, (i + k) % bins, i * each + k + 1);
}

// Parameters of all kinds.
struct Pair {
    short first;
    double second;
};
extern "C" __global__ void parameters(unsigned long long* out, char a, double b, short c, Pair d, int e) {
    if (threadIdx.x + threadIdx.y + blockIdx.z != 0) return;
    out[0] = a;
    out[1] = __double_as_longlong(b);
    out[2] = c;
    out[3] = d.first;
    out[4] = __double_as_longlong(d.second);
    out[5] = e;
    out[6] = blockDim.x + 100 * blockDim.y + 10000 * gridDim.z;
}
extern "C" __global__ void pass(unsigned long long* out, int scale) {
    Pair pair = {(short)(3 * scale), 0.5 * scale};
    parameters<<<dim3(1, 1, 3), dim3(4, 2, 1), 64>>>(out, (char)scale, 1.25 * scale, (short)(-scale), pair, 7 * scale);
}

// Launches that can't be.
extern "C" __global__ void refused(unsigned* log, int* errors) {
    append<<<1, 2048>>>(log, 1);
    errors[0] = cudaGetLastError();
    append<<<0, 1>>>(log, 2);
    errors[1] = cudaPeekAtLastError();
    errors[2] = cudaGetLastError();
    append<<<1, dim3(1, 1, 128)>>>(log, 3);
    errors[3] = cudaGetLastError();
    append<<<1, 32, 1 << 20>>>(log, 4);
    errors[4] = cudaGetLastError();
    append<<<1, 1>>>(log, 5);
    errors[5] = cudaGetLastError();
}

// What the runtime says on the device.
extern "C" __global__ void queries(int* out) {
    cudaFuncAttributes attributes;
    int value = -1;
    out[0] = cudaFuncGetAttributes(&attributes, (const void*)append);
    out[1] = attributes.maxThreadsPerBlock;
    out[2] = (int)attributes.sharedSizeBytes;
    out[3] = cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0);
    out[4] = value;
    out[5] = cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0);
    out[6] = value;
    out[7] = cudaGetDevice(&value);
    out[8] = value;
    out[9] = cudaGetDeviceCount(&value);
    out[10] = value > 0;
    out[11] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, append, 256, 0);
    out[12] = value > 0;
    out[13] = cudaDeviceGetAttribute(&value, (cudaDeviceAttr)9999, 0);
    out[14] = cudaGetLastError();
    int* memory;
    out[15] = cudaMalloc(&memory, 64);
    *memory = 5;
    out[16] = cudaFree(memory);
}

// Sorts by parts of parts: a block divides, children sort both sides in streams of their own.
extern "C" __global__ void quicksort(int* values, int left, int right, int depth) {
    if (depth >= 12 || right - left < 16) {
        for (int i = left + 1; i <= right; i++) {
            int value = values[i], k = i;
            for (; k > left && values[k - 1] > value; k--) values[k] = values[k - 1];
            values[k] = value;
        }
        return;
    }
    int pivot = values[(left + right) / 2], i = left, j = right;
    while (i <= j) {
        while (values[i] < pivot) i++;
        while (values[j] > pivot) j--;
        if (i > j) break;
        int value = values[i];
        values[i++] = values[j];
        values[j--] = value;
    }
    cudaStream_t stream;
    if (left < j) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, stream>>>(values, left, j, depth + 1);
        cudaStreamDestroy(stream);
    }
    if (i < right) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, stream>>>(values, i, right, depth + 1);
        cudaStreamDestroy(stream);
    }
}

// The Mandelbrot set by squares: one whose border has the same count everywhere is filled, others are divided.
static __device__ int escape(int x, int y, int size, int limit) {
    float a = -2.0f + 3.0f * x / size, b = -1.5f + 3.0f * y / size, u = a, v = b;
    int count = 0;
    for (; count < limit && u * u + v * v < 4.0f; count++) {
        float next = u * u - v * v + a;
        v = 2.0f * u * v + b;
        u = next;
    }
    return count;
}

extern "C" __global__ void fill(int* image, int size, int x0, int y0, int side, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < side * side; i += gridDim.x * blockDim.x)
        image[(y0 + i / side) * size + x0 + i % side] = count;
}

extern "C" __global__ void pixels(int* image, int size, int x0, int y0, int side, int limit) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < side && y < side) image[(y0 + y) * size + x0 + x] = escape(x0 + x, y0 + y, size, limit);
}

extern "C" __global__ void squares(int* image, int size, int left, int top, int side, int limit) {
    int x0 = left + blockIdx.x * side, y0 = top + blockIdx.y * side;
    __shared__ int least, most;
    if (threadIdx.x == 0) least = limit, most = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < 4 * side; i += blockDim.x) {
        int k = i % side, which = i / side;
        int x = which == 0 ? k : which == 1 ? side - 1 : which == 2 ? k : 0;
        int y = which == 0 ? 0 : which == 1 ? k : which == 2 ? side - 1 : k;
        int count = escape(x0 + x, y0 + y, size, limit);
        atomicMin(&least, count);
        atomicMax(&most, count);
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (least == most) {
        fill<<<2, 32>>>(image, size, x0, y0, side, least);
    } else if (side <= 8) {
        pixels<<<dim3((side + 3) / 4, (side + 3) / 4), dim3(4, 4)>>>(image, size, x0, y0, side, limit);
    } else {
        squares<<<dim3(2, 2), 32>>>(image, size, x0, y0, side / 2, limit);
    }
}

// Bytes that are set.
extern "C" __global__ void sets(unsigned char* bytes) {
    cudaMemsetAsync(bytes + 1, 0x85, 50, 0);
    cudaMemsetAsync(bytes + 64, 3, 64, 0);
    cudaMemset2DAsync(bytes + 128, 16, 9, 5, 3, 0);
}

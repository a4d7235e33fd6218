// What the device runtime says in kernels.
//
//   nvcc -rdc=true -arch=compute_90 -fmad=false -ptx -o device_runtime.ptx device_runtime.cu
#include <cuda_runtime.h>

extern "C" __global__ void __launch_bounds__(96) small(unsigned* words) {
    __shared__ unsigned part[96];
    part[threadIdx.x] = threadIdx.x;
    __syncthreads();
    words[threadIdx.x] = part[95 - threadIdx.x];
}
extern "C" __global__ void nothing() {}
extern "C" __global__ void add(unsigned* sum) { atomicAdd(sum, 1); }
static __device__ int plain(int x) { return x + 1; }

// Sizes of launches, each with the error that is left.
extern "C" __global__ void sizes(unsigned* words, int* errors) {
    int n = 0;
    small<<<1, 96>>>(words);
    errors[n++] = cudaGetLastError();
    small<<<1, 97>>>(words);
    errors[n++] = cudaGetLastError();
    add<<<1, 1, 47 << 10>>>(words);
    errors[n++] = cudaGetLastError();
    add<<<1, 1, 49 << 10>>>(words);
    errors[n++] = cudaGetLastError();
    add<<<1, 1, 200 << 10>>>(words);
    errors[n++] = cudaGetLastError();
    add<<<1, 1, 228 << 10>>>(words);
    errors[n++] = cudaGetLastError();
    add<<<dim3(1, 65536), 1>>>(words);
    errors[n++] = cudaGetLastError();
    add<<<0x80000000u, 1>>>(words);
    errors[n++] = cudaGetLastError();
    add<<<1, dim3(0, 1)>>>(words);
    errors[n++] = cudaGetLastError();
    add<<<1, dim3(1, 1, 65)>>>(words);
    errors[n++] = cudaGetLastError();
    add<<<1, dim3(32, 32, 1)>>>(words);
    errors[n++] = cudaGetLastError();
}

// Streams and events.
extern "C" __global__ void handles(int* errors) {
    cudaStream_t stream = 0;
    cudaEvent_t event = 0, other = 0;
    int n = 0;
    errors[n++] = cudaStreamCreateWithFlags(&stream, 1);
    errors[n++] = stream != 0;
    errors[n++] = cudaStreamCreateWithFlags(&stream, 0);
    errors[n++] = cudaStreamCreateWithFlags(&stream, 2);
    errors[n++] = cudaStreamCreateWithFlags(&stream, 1);
    errors[n++] = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    errors[n++] = cudaEventCreateWithFlags(&other, cudaEventDefault);
    errors[n++] = cudaEventCreateWithFlags(&other, cudaEventBlockingSync);
    errors[n++] = cudaEventCreateWithFlags(&other, cudaEventDisableTiming | cudaEventInterprocess);
    errors[n++] = cudaEventRecord(event, stream);
    errors[n++] = cudaEventRecord(event, 0);
    errors[n++] = cudaEventRecord(event, cudaStreamTailLaunch);
    errors[n++] = cudaEventRecord(event, cudaStreamFireAndForget);
    errors[n++] = cudaStreamWaitEvent(stream, event, 0);
    errors[n++] = cudaStreamWaitEvent(0, event, 0);
    errors[n++] = cudaStreamWaitEvent(cudaStreamTailLaunch, event, 0);
    errors[n++] = cudaStreamWaitEvent(cudaStreamFireAndForget, event, 0);
    errors[n++] = cudaStreamWaitEvent(stream, event, 1);
    errors[n++] = cudaEventDestroy(event);
    errors[n++] = cudaStreamDestroy(stream);
    errors[n++] = cudaStreamDestroy(0);
}

// Copies and sets that can or can't be.
extern "C" __global__ void moves(unsigned char* a, unsigned char* b, int* errors) {
    int n = 0;
    unsigned char local[16];
    __shared__ unsigned char shared[16];
    local[a[0] & 15] = shared[a[1] & 15] = 1;
    errors[n++] = cudaMemcpyAsync(a, b, 16, cudaMemcpyDeviceToDevice, 0);
    errors[n++] = cudaMemcpyAsync(a, b, 16, cudaMemcpyDefault, 0);
    errors[n++] = cudaMemcpyAsync(a, b, 16, cudaMemcpyHostToDevice, 0);
    errors[n++] = cudaMemcpyAsync(a, b, 16, cudaMemcpyHostToHost, 0);
    errors[n++] = cudaMemcpyAsync(a, b, 16, (cudaMemcpyKind)7, 0);
    errors[n++] = cudaMemcpyAsync(a, b, 0, cudaMemcpyDeviceToDevice, 0);
    errors[n++] = cudaMemcpyAsync(a, local, 16, cudaMemcpyDeviceToDevice, 0);
    errors[n++] = cudaMemcpyAsync(a, shared, 16, cudaMemcpyDeviceToDevice, 0);
    errors[n++] = cudaMemcpyAsync(shared, a, 16, cudaMemcpyDeviceToDevice, 0);
    errors[n++] = cudaMemcpy2DAsync(a + 32, 4, b, 16, 5, 2, cudaMemcpyDeviceToDevice, 0);
    errors[n++] = cudaMemcpy2DAsync(a + 32, 16, b, 4, 5, 2, cudaMemcpyDeviceToDevice, 0);
    errors[n++] = cudaMemcpy2DAsync(a + 32, 16, b, 16, 5, 0, cudaMemcpyDeviceToDevice, 0);
    errors[n++] = cudaMemset2DAsync(a + 64, 4, 0, 5, 2, 0);
    errors[n++] = cudaMemset2DAsync(a + 64, 8, 0, 5, 2, 0);
    errors[n++] = cudaMemsetAsync(a, 0, 0, 0);
    errors[n++] = cudaMemsetAsync(local, 0, 4, 0);
    errors[n++] = cudaMemsetAsync(a + 90, 0, 4, cudaStreamTailLaunch);
    errors[n++] = cudaMemset3DAsync(cudaPitchedPtr{a + 100, 4, 4, 3}, 0, cudaExtent{3, 2, 2}, 0);
    cudaMemcpy3DParms p = {};
    p.srcPtr = {b, 6, 6, 4};
    p.dstPtr = {a + 140, 5, 5, 3};
    p.srcPos = {1, 1, 0};
    p.dstPos = {0, 1, 1};
    p.extent = {3, 2, 2};
    p.kind = cudaMemcpyDeviceToDevice;
    errors[n++] = cudaMemcpy3DAsync(&p, 0);
    errors[n++] = cudaGetLastError();
}

// Kernels.
extern "C" __global__ void functions(int* out) {
    cudaFuncAttributes attributes;
    int n = 0, value = -7;
    out[n++] = cudaFuncGetAttributes(&attributes, (const void*)small);
    out[n++] = (int)attributes.sharedSizeBytes;
    out[n++] = (int)attributes.constSizeBytes;
    out[n++] = attributes.maxThreadsPerBlock;
    out[n++] = attributes.ptxVersion == attributes.binaryVersion && attributes.numRegs > 0;
    out[n++] = cudaFuncGetAttributes(&attributes, (const void*)nothing);
    out[n++] = (int)attributes.sharedSizeBytes;
    out[n++] = attributes.maxThreadsPerBlock;
    out[n++] = cudaFuncGetAttributes(&attributes, (const void*)plain);
    out[n++] = cudaFuncGetAttributes(&attributes, (const void*)0);
    out[n++] = cudaFuncGetAttributes(nullptr, (const void*)small);
    int threads, processor, few, most;
    cudaDeviceGetAttribute(&processor, cudaDevAttrMaxThreadsPerMultiProcessor, 0);
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxBlocksPerMultiprocessor, 0);
    for (threads = 0; threads <= 1025; threads += threads < 2 ? 1 : 341) {
        out[n++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, nothing, threads, 0);
        int expected = threads == 0 || threads > 1024 ? 0 : min(processor / ((threads + 31) / 32 * 32), most);
        out[n++] = value == expected;
    }
    out[n++] = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&value, small, 64, 0, 1);
    out[n++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&few, small, 64, 30000);
    out[n++] = few > 0 && few < value;
}

// The device.
extern "C" __global__ void device(int* out) {
    int n = 0, value = -7;
    size_t limit = 77;
    out[n++] = cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0);
    out[n++] = value;
    out[n++] = cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0);
    out[n++] = value;
    out[n++] = cudaDeviceGetAttribute(&value, (cudaDeviceAttr)0, 0);
    out[n++] = cudaDeviceGetAttribute(&value, (cudaDeviceAttr)9999, 0);
    out[n++] = value;
    out[n++] = cudaPeekAtLastError();
    out[n++] = cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, -1);
    out[n++] = cudaGetLastError();
    out[n++] = cudaGetLastError();
    out[n++] = cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0);
    out[n++] = cudaGetDevice(&value);
    out[n++] = value;
    out[n++] = cudaGetDeviceCount(&value);
    out[n++] = value;
    out[n++] = cudaRuntimeGetVersion(&value);
    out[n++] = value;
    out[n++] = cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize);
    out[n++] = (int)limit;
    out[n++] = cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount);
    out[n++] = (int)limit;
    out[n++] = cudaDeviceGetLimit(&limit, cudaLimitDevRuntimeSyncDepth);
    out[n++] = (int)limit;
    int* memory;
    out[n++] = cudaMalloc(&memory, 64);
    *memory = 5;
    out[n++] = *memory;
    out[n++] = cudaFree(memory);
}

// Names and texts of errors.
extern "C" __global__ void texts(char* out, int error) {
    const char* name = cudaGetErrorName((cudaError_t)(error + blockIdx.x));
    const char* text = cudaGetErrorString((cudaError_t)(error + blockIdx.x));
    char* to = out + 200 * blockIdx.x;
    for (int i = 0; i < 80 && name[i]; i++) to[i] = name[i];
    for (int i = 0; i < 120 && text[i]; i++) to[80 + i] = text[i];
}

// Children that fail.
extern "C" __global__ void traps() { asm("trap;"); }
extern "C" __global__ void launches_trap() { traps<<<1, 1>>>(); }

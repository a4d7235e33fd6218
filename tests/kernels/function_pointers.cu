// Functions whose address is data: a table in constant memory, a pointer in global memory, virtual functions.
#include "cuda_min.h"

typedef u32 (*Operation)(u32, u32);

static __device__ __noinline__ u32 sum(u32 a, u32 b) { return a + b; }
static __device__ __noinline__ u32 product(u32 a, u32 b) { return a * b; }
static __device__ __noinline__ u32 mix(u32 a, u32 b) { return (a << 5 | a >> 27) ^ b; }
static __device__ __noinline__ u32 gcd(u32 a, u32 b) { return b == 0 ? a : gcd(b, a % b); }

__constant__ Operation operations[4] = {sum, product, mix, gcd};
__device__ Operation chosen = mix;

struct Shape {
    __device__ virtual i64 area() const = 0;
    __device__ virtual i64 scaled(i32 factor) const { return area() * factor; }
};

struct Square : Shape {
    i32 side;
    __device__ Square(i32 side) : side(side) {}
    __device__ i64 area() const override { return (i64)side * side; }
};

struct Ring : Shape {
    i32 inner, outer;
    __device__ Ring(i32 inner, i32 outer) : inner(inner), outer(outer) {}
    __device__ i64 area() const override { return 3 * ((i64)outer * outer - (i64)inner * inner); }
    __device__ i64 scaled(i32 factor) const override { return Shape::scaled(factor) + inner; }
};

static __device__ __noinline__ i64 measure(const Shape* shape, i32 factor) { return shape->scaled(factor) - shape->area(); }

extern "C" __global__ void pointer_table(const u32* a, const u32* b, u32* out, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u32 result = operations[i % 4](a[i], b[i]);
    out[i] = chosen(result, b[i]);
}

extern "C" __global__ void virtual_calls(const i32* sizes, i64* out, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Square square(sizes[i]);
    Ring ring(sizes[i], sizes[i] + 10);
    const Shape* shape = (i % 3 == 0) ? (const Shape*)&square : &ring;
    out[i] = measure(shape, (i32)(i % 5) - 2);
}

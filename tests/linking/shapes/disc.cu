#include "shape.h"

static __device__ int sides = 100;

__device__ Disc::Disc(float size) : Shape(size) {}
__device__ float Disc::area() const { return counted(3.0f * size * size) + sides; }

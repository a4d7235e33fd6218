#include "shape.h"

static __device__ int sides = 4;

__device__ Square::Square(float size) : Shape(size) {}
__device__ float Square::area() const { return counted(size * size); }
__device__ int Square::corners() const { return sides; }

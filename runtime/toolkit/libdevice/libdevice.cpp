// The library of functions `__nv_...` that clang links into kernels.
#include "plain.h"

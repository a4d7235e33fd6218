// What the programs have in common.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                              \
    do {                                                                                                         \
        cudaError_t error = (call);                                                                              \
        if (error != cudaSuccess) {                                                                              \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error));                     \
            exit(1);                                                                                             \
        }                                                                                                        \
    } while (0)
#define EXPECT(condition)                                                                                        \
    do {                                                                                                         \
        if (!(condition)) {                                                                                      \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                                               \
            exit(1);                                                                                             \
        }                                                                                                        \
    } while (0)

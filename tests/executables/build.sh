#!/bin/sh
# Builds the programs here anew, with CUDA's compiler and a shared runtime library: no code of NVIDIA's gets into them but the few lines
# that register a program's kernels. Options of the linker keep the files small.
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-nvcc}
build() {
    output=$1
    shift
    "$nvcc" -std=c++17 -O2 -cudart shared -cudadevrt none -Xcompiler -Os -Xlinker -s,-z,noseparate-code,-z,max-page-size=4096,--build-id=none "$@" \
        -o "$output"
}
build sums -gencode 'arch=compute_75,code=[sm_75,compute_75]' sums.cu
build polynomial -rdc=true -gencode 'arch=compute_75,code=[sm_75,compute_75]' polynomial.cu horner.cu

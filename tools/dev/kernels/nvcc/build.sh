#!/bin/sh
# Compiles all kernels of the bench with NVIDIA's compiler, for `bench kernels --ptx-dir`: NVCC says which one. Its output is
# fixed by the version: that of CUDA 13.0 is here. -fmad=false as for clang: the sources say what is fused.
set -eu
cd "$(dirname "$0")"
tests=../../../../tests/kernels
for source in ../*.cu $(sed -n 's|.*ptx!("\(.*\)").*|\1|p' ../../src/bin/bench/workloads/basics.rs | sed "s|.*|$tests/&.cu|"); do
    name=${source##*/}
    "${NVCC:-nvcc}" -ptx -arch=compute_80 -O3 -std=c++17 -fmad=false --expt-relaxed-constexpr -I "$tests/include" "$source" \
        -o "${name%.cu}.ptx"
done

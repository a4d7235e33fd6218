#!/bin/sh
# Compiles all kernels of the bench with NVIDIA's compiler, the program in NVCC, for `bench kernels --ptx-dir`. The
# output depends on
# the version; the files here are those of CUDA 13.0. -fmad=false as for clang: the sources fuse explicitly.
set -eu
cd "$(dirname "$0")"
tests=../../../../tests/kernels
for source in ../*.cu $(sed -n 's|.*ptx!("\(.*\)").*|\1|p' ../../src/bin/bench/workloads/basics.rs | sed "s|.*|$tests/&.cu|"); do
    name=${source##*/}
    "${NVCC:-nvcc}" -ptx -arch=compute_80 -O3 -std=c++17 -fmad=false --expt-relaxed-constexpr -I "$tests/include" "$source" \
        -o "${name%.cu}.ptx"
done

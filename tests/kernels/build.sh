#!/bin/sh
# Rebuilds the .ptx of every .cu here and in tools/dev/kernels, or of those named, with clang alone: no CUDA toolkit is needed.
#
# -ffp-contract=off: the sources say where a multiplication and an addition are fused (fmaf), so that the expected
# results can be bit-exact; without it clang would also leave the choice to the PTX assembler (mul.f32 instead of
# mul.rn.f32).
set -eu
cd "$(dirname "$0")"
clang=${CLANG:-clang-19}
[ $# -gt 0 ] || set -- *.cu ../../tools/dev/kernels/*.cu
for source in "$@"; do
    flags="-O2"
    # A first line "// build: FLAGS" replaces the optimisation level.
    own=$(sed -n '1s|^// build: ||p' "$source")
    [ -z "$own" ] || flags=$own
    # shellcheck disable=SC2086  # flags are several words
    "$clang" -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc -nocudalib -std=c++17 -S $flags \
        -ffp-contract=off -fno-strict-aliasing -fno-exceptions -Wall -Wextra -Werror -Wno-unknown-cuda-version -Wno-unused-function \
        -Iinclude "$source" -o "${source%.cu}.ptx"
done

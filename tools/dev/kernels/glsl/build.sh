#!/bin/sh
# Compiles the GLSL files in this folder, or the named files, to SPIR-V with glslang.
set -eu
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- *.comp
for source in "$@"; do
    glslangValidator --quiet --target-env vulkan1.2 "$source" -o "${source%.comp}.spv"
done

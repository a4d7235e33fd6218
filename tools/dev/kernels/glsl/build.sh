#!/bin/sh
# Compiles the GLSL here, or the files that are named, to the SPIR-V beside it, with glslang alone.
set -eu
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- *.comp
for source in "$@"; do
    glslangValidator --quiet --target-env vulkan1.2 "$source" -o "${source%.comp}.spv"
done

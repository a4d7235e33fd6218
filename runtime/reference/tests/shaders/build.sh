#!/bin/sh
# Rebuilds the .spv of every .comp here, or of those named, with glslang 11.12.
set -eu
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- *.comp
for source in "$@"; do
    glslangValidator -V --quiet --target-env vulkan1.2 "$source" -o "${source%.comp}.spv"
    spirv-val --target-env vulkan1.2 "${source%.comp}.spv"
done

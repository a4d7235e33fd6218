#!/bin/sh
# Rebuilds the modules of every .spvasm here, and of every .comp or those named, with glslang 11.12 and SPIRV-Tools: NAME.spv
# with the fault and NAME.miss.spv without, both with line information but without the source.
set -eu
cd "$(dirname "$0")"
for source in *.spvasm; do
    spirv-as --target-env vulkan1.2 "$source" -o "${source%asm}"
    spirv-val --target-env vulkan1.2 "${source%asm}"
done
[ $# -gt 0 ] || set -- *.comp
for source in "$@"; do
    name=${source%.comp}
    for variant in "" .miss; do
        [ -z "$variant" ] && define= || define=-DMISS
        # shellcheck disable=SC2086  # no word where there is no define
        glslangValidator -V -g --quiet --target-env vulkan1.2 $define "$source" -o "$name$variant.spv"
        spirv-dis --raw-id "$name$variant.spv" | python3 -c '
import re, sys
text = sys.stdin.read()
text = re.sub(r"(OpSource GLSL 460 %\d+) \".*?\"\n(?=\s+Op)", r"\1\n", text, flags=re.S)
text = re.sub(r"\s+OpModuleProcessed .*", "", text)
print(text)' | spirv-as --preserve-numeric-ids --target-env vulkan1.2 - -o "$name$variant.spv"
        spirv-val --target-env vulkan1.2 "$name$variant.spv"
    done
done

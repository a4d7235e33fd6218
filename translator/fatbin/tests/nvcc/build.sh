#!/bin/sh
# Makes the fat binaries of this folder with nvcc 13.5, by the options that change their form.
set -e
cd "$(dirname "$0")"
make() {
    output=$1
    shift
    nvcc -fatbin "$@" axpy.cu -o "$output.fatbin"
}
ptx="-gencode arch=compute_80,code=compute_80"
make default $ptx
make size $ptx --compress-mode=size
make speed $ptx --compress-mode=speed
make none $ptx --compress-mode=none
make relocatable $ptx -rdc=true
make several $ptx -gencode arch=compute_75,code=compute_75 -gencode arch=compute_90a,code=compute_90a -gencode arch=compute_100f,code=compute_100f
make concatenated $ptx -gencode arch=compute_75,code=compute_75 -gencode arch=compute_90a,code=compute_90a -Xfatbin --concat
make concatenated_speed $ptx -gencode arch=compute_75,code=compute_75 -Xfatbin --concat --compress-mode=speed
make debug $ptx -G
make machine_code -gencode arch=compute_80,code=sm_80 --compress-mode=size
make linker_code -gencode arch=compute_80,code=lto_80 -rdc=true

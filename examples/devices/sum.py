"""A sum that is spread over devices, by CUDA's driver library alone: over all of one process, or over processes with a device each.

    ptx2spv cuda --device cpu,cpu -- python3 examples/devices/sum.py
    ptx2spv cuda --device cpu,cpu -- python3 examples/devices/sum.py --processes
    ptx2spv cuda --device cpu,cpu -- mpirun -n 2 python3 examples/devices/sum.py

A process that a launcher has started, here MPI's, takes the device of its number among those of its machine, as frameworks do: by
CUDA_VISIBLE_DEVICES, before it loads the library. With --processes the program is its own launcher.
"""

import ctypes
import os
import subprocess
import sys

COUNT = 1 << 16

# sums[block of threads] += i * i for every i from first on, one for each thread.
PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry squares(.param .u64 sum, .param .u32 first)
{
    .reg .b32 %i, %n, %t;
    .reg .b64 %sum, %square, %old;
    mov.u32 %i, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mov.u32 %t, %tid.x;
    mad.lo.u32 %i, %i, %n, %t;
    ld.param.u32 %t, [first];
    add.u32 %i, %i, %t;
    mul.wide.u32 %square, %i, %i;
    ld.param.u64 %sum, [sum];
    atom.global.add.u64 %old, [%sum], %square;
    ret;
}
"""


class Driver:
    """CUDA's driver library: each call's error is an exception."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")

    def __getattr__(self, name):
        function = getattr(self.library, name)

        def call(*arguments):
            result = function(*arguments)
            if result:
                text = ctypes.c_char_p()
                self.library.cuGetErrorName(result, ctypes.byref(text))
                raise RuntimeError(f"{name}: {(text.value or b'?').decode()}")

        return call


class Device:
    """A device with its context, stream and kernel."""

    def __init__(self, cuda, ordinal):
        name = ctypes.create_string_buffer(256)
        cuda.cuDeviceGetName(name, 256, ordinal)
        self.cuda, self.ordinal, self.name = cuda, ordinal, name.value.decode()
        self.context, self.stream, module, self.kernel = (ctypes.c_void_p() for _ in range(4))
        self.sum = ctypes.c_uint64()
        cuda.cuDevicePrimaryCtxRetain(ctypes.byref(self.context), ordinal)
        cuda.cuCtxSetCurrent(self.context)
        cuda.cuStreamCreate(ctypes.byref(self.stream), 1)
        cuda.cuModuleLoadData(ctypes.byref(module), PTX)
        cuda.cuModuleGetFunction(ctypes.byref(self.kernel), module, b"squares")
        cuda.cuMemAlloc_v2(ctypes.byref(self.sum), ctypes.c_size_t(8))
        cuda.cuMemsetD32_v2(self.sum, 0, ctypes.c_size_t(2))

    def start(self, first, count):
        """Adds the squares of some numbers; doesn't wait for them."""
        first = ctypes.c_uint32(first)
        pointers = (ctypes.c_void_p * 2)(ctypes.addressof(self.sum), ctypes.addressof(first))
        self.cuda.cuLaunchKernel(self.kernel, count // 256, 1, 1, 256, 1, 1, 0, self.stream, pointers, None)

    def finish(self):
        self.cuda.cuStreamSynchronize(self.stream)


def spread(first, count):
    """The sum of the squares of some numbers, over all devices that the process sees."""
    cuda, number = Driver(), ctypes.c_int()
    cuda.cuInit(0)
    cuda.cuDeviceGetCount(ctypes.byref(number))
    devices = [Device(cuda, ordinal) for ordinal in range(number.value)]
    part = count // len(devices) // 256 * 256
    for device in devices:
        is_last = device is devices[-1]
        # The stream tells the device, whatever context is current.
        device.start(first + device.ordinal * part, count - device.ordinal * part if is_last else part)
    for device in devices:
        device.finish()
    # The parts meet on the first device, copied there from the others, and are read together.
    gathered, parts = ctypes.c_uint64(), (ctypes.c_uint64 * len(devices))()
    cuda.cuCtxSetCurrent(devices[0].context)
    cuda.cuMemAlloc_v2(ctypes.byref(gathered), ctypes.c_size_t(8 * len(devices)))
    for device in devices:
        place = ctypes.c_uint64(gathered.value + 8 * device.ordinal)
        cuda.cuMemcpyPeer(place, devices[0].context, device.sum, device.context, ctypes.c_size_t(8))
    cuda.cuMemcpyDtoH_v2(parts, gathered, ctypes.c_size_t(8 * len(devices)))
    return sum(parts), [device.name for device in devices]


def own_share():
    """The first number and the count of this process, and its number, by MPI's or our own variables."""
    for rank, size, local in [
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
        ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
        ("RANK", "WORLD_SIZE", "LOCAL_RANK"),
    ]:
        if rank in os.environ and size in os.environ:
            number, processes = int(os.environ[rank]), int(os.environ[size])
            os.environ["CUDA_VISIBLE_DEVICES"] = os.environ.get(local, os.environ[rank])
            return number * (COUNT // processes), COUNT // processes, number
    return 0, COUNT, 0


def launch(processes):
    """Starts the program several times, and adds what the processes write."""
    variables = [{"RANK": str(rank), "WORLD_SIZE": str(processes), "LOCAL_RANK": str(rank)} for rank in range(processes)]
    started = [
        subprocess.Popen([sys.executable, __file__], env={**os.environ, **each}, stdout=subprocess.PIPE, text=True)
        for each in variables
    ]
    lines = [process.communicate()[0].strip() for process in started]
    if any(process.returncode for process in started):
        sys.exit("a process failed")
    print("\n".join(lines))
    return sum(int(line.split()[-1]) for line in lines)


def main():
    if "--processes" in sys.argv:
        total = launch(2)
        print(f"together {total}")
        is_right = total == sum(i * i for i in range(COUNT))
    else:
        first, count, number = own_share()
        total, names = spread(first, count)
        print(f"process {number} on {' and '.join(names)}: {total}")
        is_right = total == sum(i * i for i in range(first, first + count))
    sys.exit(0 if is_right else "the sum is wrong")


if __name__ == "__main__":
    main()

"""Triton without torch: a vector addition, launched with objects that have data_ptr()."""

import ctypes
import numpy as np
import triton
import triton.language as tl
from triton.backends.nvidia.driver import CudaDriver


@triton.jit
def add(out, a, b, n, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < n
    tl.store(out + index, tl.load(a + index, mask=inside) + tl.load(b + index, mask=inside), mask=inside)


cuda = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()


def check(result):
    assert result == 0, result


check(cuda.cuInit(0))
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
check(cuda.cuCtxSetCurrent(context))


class Driver(CudaDriver):
    """Triton's, where that asks torch."""

    def __init__(self):
        from triton.backends.nvidia.driver import CudaLauncher, CudaUtils

        self.utils, self.launcher_cls = CudaUtils(), CudaLauncher

    def get_current_device(self):
        return 0

    def set_current_device(self, device):
        pass

    def get_current_stream(self, device):
        return 0

    def get_device_capability(self, device=0):
        return (8, 6)


class Vector:
    """Device memory with what Triton asks of a tensor."""

    dtype = "float32"

    def __init__(self, values):
        self.values, self.address = values, ctypes.c_uint64()
        check(cuda.cuMemAlloc_v2(ctypes.byref(self.address), ctypes.c_size_t(values.nbytes)))
        check(cuda.cuMemcpyHtoD_v2(self.address, values.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(values.nbytes)))

    def data_ptr(self):
        return self.address.value

    def read(self):
        values = np.zeros_like(self.values)
        check(cuda.cuMemcpyDtoH_v2(values.ctypes.data_as(ctypes.c_void_p), self.address, ctypes.c_size_t(values.nbytes)))
        return values


triton.runtime.driver.set_active(Driver())
n = 1000
a, b = np.arange(n, dtype=np.float32), np.arange(n, dtype=np.float32) * 0.5
out = Vector(np.zeros(n, np.float32))
add[(4,)](out, Vector(a), Vector(b), n, BLOCK=256)
assert np.array_equal(out.read(), a + b)

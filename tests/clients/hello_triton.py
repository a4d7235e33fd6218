"""Triton without torch: eight kernels, launched with objects that have data_ptr()."""

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


@triton.jit
def softmax(out, x, columns, BLOCK: tl.constexpr):
    """A block for each row."""
    row, index = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + index, mask=index < columns, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + index, powers / tl.sum(powers, axis=0), mask=index < columns)


@triton.jit
def normalize(out, x, weight, bias, columns, epsilon, BLOCK: tl.constexpr):
    """Layer normalization: the rows' mean and variance in loops over parts of the row."""
    row, index = tl.program_id(0), tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        part = tl.load(x + row * columns + start + index, mask=start + index < columns, other=0.0)
        total += part
        squares += part * part
    mean = tl.sum(total, axis=0) / columns
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns - mean * mean + epsilon)
    for start in range(0, columns, BLOCK):
        inside = start + index < columns
        part = tl.load(x + row * columns + start + index, mask=inside)
        w = tl.load(weight + start + index, mask=inside)
        b = tl.load(bias + start + index, mask=inside)
        tl.store(out + row * columns + start + index, (part - mean) * scale * w + b, mask=inside)


@triton.jit
def prefix_sums(out, x, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + index, tl.cumsum(tl.load(x + index), axis=0))


@triton.jit
def transpose(out, x, rows, columns, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    inside = (r < rows) & (c < columns)
    tile = tl.load(x + r * columns + c, mask=inside)
    tl.store(out + tl.trans(c) * rows + tl.trans(r), tl.trans(tile), mask=tl.trans(inside))


@triton.jit
def histogram(counts, x, n, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < n
    tl.atomic_add(counts + tl.load(x + index, mask=inside, other=0), 1, mask=inside)


@triton.jit
def product(out, a, b, n, k, SIZE: tl.constexpr):
    """A tile of a product of matrices of f16."""
    r = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    c = tl.program_id(1) * SIZE + tl.arange(0, SIZE)
    d = tl.arange(0, SIZE)
    total = tl.zeros([SIZE, SIZE], tl.float32)
    for start in range(0, k, SIZE):
        inside = start + d < k
        x = tl.load(a + r[:, None] * k + (start + d)[None, :], mask=inside[None, :], other=0.0)
        y = tl.load(b + (start + d)[:, None] * n + c[None, :], mask=inside[:, None], other=0.0)
        total = tl.dot(x, y, total)
    tl.store(out + r[:, None] * n + c[None, :], total)


@triton.jit
def attention(out, q, k, v, n, DEPTH: tl.constexpr, SIZE: tl.constexpr):
    """Rows of a softmax times values, by parts of the keys."""
    r, d = tl.program_id(0) * SIZE + tl.arange(0, SIZE), tl.arange(0, DEPTH)
    most = tl.full([SIZE], -float("inf"), tl.float32)
    weight = tl.zeros([SIZE], tl.float32)
    total = tl.zeros([SIZE, DEPTH], tl.float32)
    query = tl.load(q + r[:, None] * DEPTH + d[None, :])
    for start in range(0, n, SIZE):
        part = start + tl.arange(0, SIZE)
        score = tl.dot(query, tl.load(k + part[None, :] * DEPTH + d[:, None]))
        now = tl.maximum(most, tl.max(score, axis=1))
        power, fade = tl.exp(score - now[:, None]), tl.exp(most - now)
        weight = weight * fade + tl.sum(power, axis=1)
        value = tl.load(v + part[:, None] * DEPTH + d[None, :])
        total = tl.dot(power.to(tl.float16), value, total * fade[:, None])
        most = now
    tl.store(out + r[:, None] * DEPTH + d[None, :], total / weight[:, None])


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

    def __init__(self, values):
        self.values, self.address, self.dtype = values, ctypes.c_uint64(), values.dtype.name
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

random = np.random.default_rng(1)
rows, columns = 5, 300
x = random.standard_normal((rows, columns), np.float32)
out = Vector(np.zeros_like(x))
softmax[(rows,)](out, Vector(x), columns, BLOCK=512)
powers = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
assert np.allclose(out.read(), powers / powers.sum(axis=1, keepdims=True), rtol=1e-5, atol=0)

weight, bias = random.standard_normal((2, columns), np.float32)
normalize[(rows,)](out, Vector(x), Vector(weight), Vector(bias), columns, 1e-5, BLOCK=128)
wide = x.astype(np.float64)
scaled = (wide - wide.mean(axis=1, keepdims=True)) / np.sqrt(wide.var(axis=1, keepdims=True) + 1e-5)
assert np.allclose(out.read(), scaled * weight + bias, rtol=1e-4, atol=1e-5)

numbers = random.integers(-100, 100, 512, dtype=np.int32)
out = Vector(np.zeros_like(numbers))
prefix_sums[(2,)](out, Vector(numbers), BLOCK=256)
assert np.array_equal(out.read(), numbers.reshape(2, 256).cumsum(axis=1).ravel())

out = Vector(np.zeros((columns, rows), np.float32))
transpose[(1, 10)](out, Vector(x), rows, columns, BLOCK=32)
assert np.array_equal(out.read(), x.T)

digits = random.integers(0, 10, n, dtype=np.int32)
counts = Vector(np.zeros(10, np.int32))
histogram[(4,)](counts, Vector(digits), n, BLOCK=256)
assert np.array_equal(counts.read(), np.bincount(digits, minlength=10))

# Small integers, whose sums are exact.
size, depth = 32, 40
a, b = random.integers(-8, 9, (size, depth)), random.integers(-8, 9, (depth, size))
out = Vector(np.zeros((size, size), np.float32))
product[(2, 2)](out, Vector(a.astype(np.float16)), Vector(b.astype(np.float16)), size, depth, SIZE=16, num_warps=1)
assert np.array_equal(out.read(), a @ b)

q, k, v = random.standard_normal((3, 32, 16)).astype(np.float16)
out = Vector(np.zeros((32, 16), np.float32))
attention[(2,)](out, Vector(q), Vector(k), Vector(v), 32, DEPTH=16, SIZE=16, num_warps=1)
scores = q.astype(np.float64) @ k.astype(np.float64).T
powers = np.exp(scores - scores.max(axis=1, keepdims=True))
assert np.allclose(out.read(), powers / powers.sum(axis=1, keepdims=True) @ v, rtol=0, atol=3e-3)

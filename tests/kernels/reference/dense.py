"""Dense linear algebra: vector_add, saxpy, matmul_tiled, matmul_blocked, transpose."""

import numpy as np

from .casefile import CaseFile, filled, written
from .fp import fma32


def vector_add():
    f = CaseFile("vector_add")
    for name, n, spare, block in [("one", 1, 0, 1), ("block", 64, 0, 64), ("odd", 100, 7, 32), ("large", 1000, 24, 128)]:
        a, b = (f.rng.normal(size=n).astype(np.float32) for _ in range(2))
        out = filled(np.float32, n + spare)
        f.add(name, -(-n // block), block, [a, b, out, np.uint32(n)], {2: written(out, a + b)})
    special = np.array([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 1e-45, -3e-39, 1.1754944e-38, 3.4028235e38], np.float32)
    a, b = (x.ravel().copy() for x in np.meshgrid(special, special))
    out = filled(np.float32, 104)
    with np.errstate(all="ignore"):
        f.add("special", 4, 32, [a, b, out, np.uint32(100)], {2: written(out, a + b)})
    f.add("nothing", 1, 32, [a, b, out, np.uint32(0)], {2: out})
    return f


def saxpy():
    f = CaseFile("saxpy")
    for name, n, spare, grid, block in [("stride", 150, 5, 2, 32), ("covering", 500, 12, 8, 64), ("idle", 3, 2, 2, 32)]:
        a = np.float32(f.rng.normal())
        x = f.rng.normal(size=n).astype(np.float32)
        y = f.rng.normal(size=n).astype(np.float32)
        y[::3] = -(a * x[::3])  # where fused and unfused results differ most
        buffer = written(filled(np.float32, n + spare), y)
        args = [a, x, buffer, np.uint32(n)]
        fused, unfused = fma32(a, x, y), a * x + y
        assert n < 10 or np.count_nonzero(fused != unfused) > n // 5
        f.add(name, grid, block, args, {2: written(buffer, fused)})
        f.add(f"{name}_unfused", grid, block, args, {2: written(buffer, unfused)}, entry="saxpy_unfused")
    return f


def product(f, m, n, k):
    """Two matrices and their product, by fma in the order of k."""
    a = f.rng.uniform(-1, 1, (m, k)).astype(np.float32)
    b = f.rng.uniform(-1, 1, (k, n)).astype(np.float32)
    c = np.zeros((m, n), np.float32)
    for i in range(k):
        c = fma32(a[:, i : i + 1], b[i : i + 1, :], c)
    assert np.allclose(c, a.astype(np.float64) @ b.astype(np.float64), atol=1e-5)
    return a, b, c


def matmul_tiled():
    f = CaseFile("matmul_tiled")
    for m, n, k in [(8, 8, 8), (5, 7, 3), (17, 9, 20), (1, 33, 1), (24, 16, 31), (4, 4, 0)]:
        # A tile's columns past k add 0 * 0, which changes nothing.
        a, b, c = product(f, m, n, k)
        out = filled(np.float32, m * n + 10)
        # An empty matrix still needs a buffer.
        a, b = (x.ravel() if x.size else np.zeros(1, np.float32) for x in (a, b))
        args = [a, b, out, np.uint32(m), np.uint32(n), np.uint32(k)]
        f.add(f"{m}x{n}x{k}", (-(-n // 8), -(-m // 8)), (8, 8), args, {2: written(out, c.ravel())})
    return f


def matmul_blocked():
    f = CaseFile("matmul_blocked")
    for m, n, k in [(128, 128, 16)]:
        a, b, c = product(f, m, n, k)
        out = filled(np.float32, m * n)
        args = [a.ravel(), b.ravel(), out, np.uint32(n), np.uint32(k)]
        f.add(f"{m}x{n}x{k}", (n // 128, m // 128), 256, args, {2: c.ravel()})
    return f


def transpose():
    f = CaseFile("transpose")
    for width, height in [(16, 16), (1, 1), (33, 17), (5, 40), (48, 64)]:
        matrix = f.rng.integers(0, 2**32, (height, width), dtype=np.uint32)
        out = filled(np.uint32, width * height + 3)
        args = [matrix.ravel(), out, np.uint32(width), np.uint32(height)]
        f.add(f"{width}x{height}", (-(-width // 16), -(-height // 16)), (16, 4), args, {1: written(out, matrix.T.ravel())})
    return f


FILES = [vector_add, saxpy, matmul_tiled, matmul_blocked, transpose]

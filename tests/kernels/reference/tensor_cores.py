"""Products of matrices by the instructions of tensor cores (tensor_cores/). All sums are exact: their terms are integers."""

import numpy as np

from .casefile import CaseFile, filled, written


def products():
    f = CaseFile("products", "tensor_cores")
    for m, n, k in ((16, 8, 32), (48, 24, 96)):
        a = f.rng.integers(-128, 128, (m, k), dtype=np.int8)
        b = f.rng.integers(-128, 128, (n, k), dtype=np.int8)
        out = filled(np.int32, m * n + 3)
        result = written(out, (a.astype(np.int32) @ b.astype(np.int32).T).ravel())
        f.add(f"bytes_{m}_{n}_{k}", (n // 8, m // 16, 1), 32, [out, a.ravel(), b.ravel(), np.int32(n), np.int32(k)], {0: result}, entry="bytes")
    for m, n, k in ((16, 16, 16), (32, 48, 64)):
        a, b = (f.rng.integers(-9, 10, shape).astype(np.float16) for shape in ((m, k), (k, n)))
        out = filled(np.float32, m * n + 3)
        result = written(out, (a.astype(np.float32) @ b.astype(np.float32) * np.float32(0.375)).ravel())
        args = [out, a.view(np.uint16).ravel(), b.view(np.uint16).ravel(), np.float32(0.375), np.int32(n), np.int32(k)]
        f.add(f"halves_{m}_{n}_{k}", (n // 16, m // 16, 1), 32, args, {0: result}, entry="halves")
    return f


FILES = [products]

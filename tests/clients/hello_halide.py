"""Halide: a function of two variables in tiles, and a blur of it."""

import halide as hl
import numpy as np

x, y, xi, yi = (hl.Var(name) for name in ("x", "y", "xi", "yi"))
ramp, blur = hl.Func("ramp"), hl.Func("blur")
ramp[x, y] = x * 3 + y * y
blur[x, y] = ramp[x, y] + 2 * ramp[x + 1, y] + ramp[x + 2, y]
ramp.compute_root().gpu_tile(x, y, xi, yi, 8, 8)
blur.gpu_tile(x, y, xi, yi, 16, 4)
result = blur.realize([50, 30], hl.Target("host-cuda-cuda_capability_80"))
result.copy_to_host()
# Halide's first dimension is the one whose elements follow each other.
values = np.array([[result[i, j] for j in range(30)] for i in range(50)])
i, j = np.mgrid[:50, :30]
assert np.array_equal(values, 4 * (i * 3 + j * j) + 12), values

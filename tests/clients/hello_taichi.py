"""Taichi: a field, atomics, and a stencil."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cuda, offline_cache=False)
assert ti.cfg.arch == ti.cuda
heat, new = ti.field(ti.f32, (32, 32)), ti.field(ti.f32, (32, 32))
total = ti.field(ti.i32, ())


@ti.kernel
def begin():
    for i, j in heat:
        heat[i, j] = i * 4 + j
        total[None] += i - j


@ti.kernel
def step():
    for i, j in heat:
        new[i, j] = heat[i, j]
        if 0 < i < 31 and 0 < j < 31:
            new[i, j] = heat[i - 1, j] + heat[i + 1, j] + heat[i, j - 1] + heat[i, j + 1] - 3 * heat[i, j]


begin()
step()
i, j = np.mgrid[:32, :32]
# The sum of neighbours is four times the middle, as the function is linear.
assert np.array_equal(new.to_numpy(), i * 4 + j)
assert total[None] == 0

"""Quadrants: a field and a sum by atomics."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cuda, offline_cache=False)
values, total = qd.field(qd.f32, 1000), qd.field(qd.i32, ())


@qd.kernel
def fill():
    for i in values:
        values[i] = i * 0.5
        qd.atomic_add(total[None], i)


fill()
assert np.array_equal(values.to_numpy(), np.arange(1000) * 0.5)
assert total[None] == 499_500

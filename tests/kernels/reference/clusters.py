"""Kernels whose blocks form clusters, of sizes that launches say."""

import numpy as np

from .casefile import CaseFile, filled, written


def clusters():
    f = CaseFile("clusters")
    for size, bins, block, count in ((1, 16, 32, 100), (4, 256, 64, 1000), (8, 40, 48, 777)):
        values = f.rng.integers(0, 256, 2 * count, dtype=np.uint8)
        out = np.full(bins + 2, 5, np.uint32)
        counts = out[:bins] + np.bincount(values.astype(np.int64) % bins, minlength=bins).astype(np.uint32)
        args = [values, np.uint32(count), out, np.uint32(bins)]
        name = f"histogram_{size}"
        f.add(name, 2 * size, block, args, {2: written(out, counts)}, entry="histogram", dynamic_shared_bytes=4 * bins // size, cluster=size)
    for size, rounds in ((2, 5), (8, 70), (3, 1)):
        cells = f.rng.integers(0, 2**32, (2, 64 * size), dtype=np.uint32)
        after = cells
        for _ in range(rounds):
            after = np.roll(after, 1, 1) + np.uint32(2) * after + np.roll(after, -1, 1)
        out = filled(np.uint32, 128 * size + 1)
        f.add(f"ring_{size}", 2 * size, 64, [cells.ravel(), out, np.uint32(rounds)], {1: written(out, after.ravel())}, entry="ring", cluster=size)
    for size, block in ((2, 64), (4, 96), (8, 32)):
        values = f.rng.integers(0, 2**32, (3, size * block), dtype=np.uint32)
        out = filled(np.uint32, 4)
        sums = values.sum(1, dtype=np.uint32)
        f.add(f"total_{size}", 3 * size, block, [values.ravel(), out], {1: written(out, sums)}, entry="total", cluster=size)
    return f


FILES = [clusters]

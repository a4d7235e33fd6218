"""Kernels whose threads work together: reductions, scans, histogram, sort, stencil, n-body."""

import numpy as np

from .casefile import CaseFile, filled, written
from .fp import fma32


def tree_sum(values):
    """The sum in the order of a halving tree: lower half plus upper half, until one is left."""
    while len(values) > 1:
        half = len(values) // 2
        values = values[:half] + values[half:]
    return values[0]


def blocks_of(values, block, count, padding):
    padded = np.full(block * count, padding, values.dtype)
    padded[: len(values)] = values
    return padded.reshape(count, block)


def block_reduce():
    f = CaseFile("block_reduce")
    for n, block, grid in [(64, 64, 1), (100, 32, 4), (1, 1, 1), (500, 128, 5), (300, 256, 2)]:
        values = f.rng.normal(size=n).astype(np.float32)
        slices = blocks_of(values, block, grid, np.float32(0))
        sums = np.array([tree_sum(s) for s in slices], np.float32)
        assert np.allclose(sums, slices.astype(np.float64).sum(axis=1), atol=1e-4)
        out = filled(np.float32, grid + 3)
        f.add(f"sum_{n}_{block}", grid, block, [values, out, np.uint32(n)], {1: written(out, sums)}, dynamic_shared_bytes=4 * block)
        values[::7] = np.nan
        values[3::11] *= np.float32(1e30)
        maxima = np.fmax.reduce(blocks_of(values, block, grid, np.float32(-np.inf)), axis=1)
        f.add(f"max_{n}_{block}", grid, block, [values, out, np.uint32(n)], {1: written(out, maxima)}, "block_max", 4 * block)
    return f


def reduce_atomic():
    f = CaseFile("reduce_atomic")
    for n, grid in [(1, 1), (1000, 3), (4000, 7), (130, 9)]:
        values = f.rng.integers(-(2**31), 2**31, n, dtype=np.int32)
        before = np.array([-5, 77], np.int32)
        total = int(values.astype(np.int64).sum()) - 5
        after = np.array([total & 0xFFFFFFFF, 77], np.uint32).view(np.int32)
        f.add(f"s32_{n}", grid, 64, [values, before, np.uint32(n)], {1: after})
    for n, block in [(50, 64), (700, 96)]:
        values = (f.rng.integers(-8000, 8000, n) / 16).astype(np.float32)
        exact = values.astype(np.float64).sum()
        args = [values, np.array([0.5, 9], np.float32), np.array([0.25, 9], np.float64), np.uint32(n)]
        expect = {1: np.array([exact + 0.5, 9], np.float32), 2: np.array([exact + 0.25, 9], np.float64)}
        f.add(f"float_{n}", -(-n // block), block, args, expect, entry="reduce_atomic_float")
    for n, block in [(64, 64), (999, 64)]:
        grid = -(-n // block)
        values = f.rng.integers(0, 2**32, n, dtype=np.uint32)
        partial = blocks_of(values, block, grid, np.uint32(0)).sum(axis=1, dtype=np.uint32)
        result = int(values.astype(object).sum()) * 3 + 1
        args = [values, filled(np.uint32, grid + 1), np.zeros(1, np.uint32), filled(np.uint32, 2), np.uint32(n)]
        expect = {1: written(args[1], partial), 2: np.zeros(1, np.uint32), 3: written(args[3], [np.uint32(result & 0xFFFFFFFF)])}
        f.add(f"last_block_{n}", grid, block, args, expect, entry="reduce_last_block")
    return f


def histogram():
    f = CaseFile("histogram")
    for n, grid, block in [(1, 1, 32), (300, 2, 64), (5000, 3, 100), (4096, 4, 256)]:
        values = (f.rng.normal(128, 30, n).clip(0, 255)).astype(np.uint8)
        before = f.rng.integers(0, 100, 256).astype(np.uint32)
        after = before.copy()
        np.add.at(after, values, 1)
        f.add(f"{n}", grid, block, [values, before, np.uint32(n)], {1: after})
    return f


def scan():
    f = CaseFile("scan")
    for n, grid, block in [(64, 1, 64), (200, 3, 96), (37, 1, 37), (700, 3, 256), (5, 2, 3)]:
        values = f.rng.integers(0, 2**32, n, dtype=np.uint32)
        sums = np.concatenate([np.cumsum(s, dtype=np.uint32) for s in np.split(values, range(block, n, block))])
        out = filled(np.uint32, n + 4)
        f.add(f"inclusive_{n}_{block}", grid, block, [values, out, np.uint32(n)], {1: written(out, sums)}, "scan_inclusive")
    for n, grid, block in [(128, 1, 64), (100, 2, 32), (1, 1, 1), (600, 2, 256)]:
        # Multiples of 1/8 below 2^17: sums are exact in any order.
        values = (f.rng.integers(-8000, 8000, n) / 8).astype(np.float32)
        parts = np.split(values.astype(np.float64), range(2 * block, n, 2 * block))
        sums = np.concatenate([np.cumsum(p) - p for p in parts]).astype(np.float32) + np.float32(0)
        out = filled(np.float32, n + 4)
        f.add(f"exclusive_{n}_{block}", grid, block, [values, out, np.uint32(n)], {1: written(out, sums)}, "scan_exclusive")
    return f


def bitonic_sort():
    f = CaseFile("bitonic_sort")
    for arrays, n, block in [(1, 64, 32), (3, 50, 32), (2, 1, 16), (1, 200, 256), (2, 256, 48)]:
        size = 1 << (n - 1).bit_length()
        keys = f.rng.integers(0, 2**32, arrays * n, dtype=np.uint32)
        keys[::5] = keys[0]
        keys[-1] = 0xFFFFFFFF
        after = np.sort(keys.reshape(arrays, n), axis=1).ravel()
        args = [np.append(keys, np.uint32(1)), np.uint32(n), np.uint32(size)]
        f.add(f"{arrays}x{n}", arrays, block, args, {0: np.append(after, np.uint32(1))}, dynamic_shared_bytes=4 * size)
    keys = f.rng.integers(-(2**31), 2**31, 128, dtype=np.int32)
    for j, k in [(1, 2), (2, 8), (64, 128)]:
        after = keys.copy()
        for i in range(128):
            if i ^ j > i:
                low, high = sorted((int(keys[i]), int(keys[i ^ j])))
                after[i], after[i ^ j] = (high, low) if i & k else (low, high)
        f.add(f"step_{j}_{k}", 4, 32, [keys, np.uint32(j), np.uint32(k)], {0: after}, entry="bitonic_step")
    return f


def stencil2d():
    f = CaseFile("stencil2d")
    for width, height in [(16, 8), (1, 1), (2, 5), (37, 19), (50, 3)]:
        field = f.rng.uniform(-10, 10, (height, width)).astype(np.float32)
        alpha = np.float32(0.1)
        result = field.copy()
        c = field[1:-1, 1:-1]
        around = (field[:-2, 1:-1] + field[2:, 1:-1]) + (field[1:-1, :-2] + field[1:-1, 2:])
        if c.size:
            result[1:-1, 1:-1] = fma32(alpha, fma32(np.float32(-4), c, around), c)
        out = filled(np.float32, width * height + 6)
        args = [field.ravel(), out, np.int32(width), np.int32(height), alpha]
        f.add(f"{width}x{height}", (-(-width // 16), -(-height // 8)), (16, 8), args, {1: written(out, result.ravel())})
    return f


def nbody():
    f = CaseFile("nbody")
    for n in [1, 32, 45, 100]:
        bodies = np.concatenate([f.rng.uniform(-1, 1, (n, 3)), f.rng.uniform(0.5, 2, (n, 1))], axis=1).astype(np.float32)
        softening = np.float32(0.01)
        wide = bodies.astype(np.float64)
        delta = wide[None, :, :3] - wide[:, None, :3]
        distance2 = (delta**2).sum(axis=2) + np.float64(softening)
        terms = delta * (wide[None, :, 3] / distance2**1.5)[:, :, None]
        result = np.zeros((n, 4), np.float32)
        result[:, :3] = terms.sum(axis=1)
        # rsqrt.approx is good to 2^-22.4, cubed; each term has about ten more roundings of 2^-24, and the sum n of them.
        bound = float(np.abs(terms).sum(axis=1).max()) * (3 * 2**-22.4 + (10 + n) * 2**-24)
        out = filled(np.float32, 4 * n + 4)
        args = [bodies.ravel(), out, np.uint32(n), softening]
        f.add(f"{n}", -(-n // 32), 32, args, {1: written(out, result.ravel())}, tolerance={1: {"abs": bound}})
    return f


FILES = [block_reduce, reduce_atomic, histogram, scan, bitonic_sort, stencil2d, nbody]

"""Kernels whose threads work on different things at the same time: copies ahead of their use, producers and consumers."""

import numpy as np

from .casefile import CaseFile, filled, written


def pipelines():
    f = CaseFile("pipelines")
    for side in (16, 48):
        a, b = (f.rng.integers(0, 2**32, side * side, dtype=np.uint32) for _ in range(2))
        product = (a.reshape(side, side) @ b.reshape(side, side)).ravel()
        out = filled(np.uint32, side * side + 2)
        args = [a, b, out, np.uint32(side)]
        f.add(f"matmul_{side}", (side // 16, side // 16), (16, 16), args, {2: written(out, product)}, entry="matmul_async")
    for chunks in (2, 3, 9):
        values = f.rng.integers(0, 2**32, 2 * chunks * 32, dtype=np.uint32)
        sums = np.zeros((2, 32), np.uint32)
        for chunk in range(chunks):
            sums = sums * np.uint32(3) + values.reshape(2, chunks, 32)[:, chunk, ::-1]
        out = filled(np.uint32, 66)
        for entry in ("named_pipeline", "mbarrier_pipeline"):
            args = [values, out, np.uint32(chunks)]
            f.add(f"{entry}_{chunks}", 2, 64, args, {1: written(out, sums.ravel())}, entry=entry)
    for threads, rounds in ((16, 5), (64, 3), (96, 7)):
        count = threads // 2 * rounds
        seen = np.zeros(count + 2, np.uint32)
        f.add(f"queue_{threads}", 1, threads, [seen, np.uint32(rounds)], {0: written(seen, np.ones(count, np.uint32))}, entry="queue")
    return f


FILES = [pipelines]

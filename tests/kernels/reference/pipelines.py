"""Kernels whose threads work on different things at the same time: copies ahead of their use, producers and consumers."""

import numpy as np

from .casefile import CaseFile, filled, written


def padded_row(row):
    chunks = -(-len(row) // 128)
    padded = np.zeros(chunks * 128, np.uint32)
    padded[: len(row)] = row
    buffers, sums, threads = np.zeros((3, 32, 4), np.uint32), np.zeros(32, np.uint32), np.arange(32)
    for chunk in range(chunks):
        pieces = padded.reshape(chunks, 32, 4)[chunk].copy()
        if chunk % 5 == 3:
            pieces[threads % 4 == 1] = 0
        copies = (threads % 2 == 1) if chunk % 3 == 1 else threads >= 0
        buffers[chunk % 3][copies] = pieces[copies]
        words = buffers[chunk % 3][(threads + chunk + 2) % 32]
        sums = sums * np.uint32(3) + words @ np.array([1, 5, 7, 11], np.uint32)
    return sums


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
    for length in (20, 384, 1000):
        values = f.rng.integers(0, 2**32, 2 * length, dtype=np.uint32)
        out = filled(np.uint32, 66)
        sums = np.concatenate([padded_row(row) for row in values.reshape(2, length)])
        f.add(f"padded_rows_{length}", 2, 32, [values, out, np.uint32(length)], {1: written(out, sums)}, entry="padded_rows")
    return f


FILES = [pipelines]

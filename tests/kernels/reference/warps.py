"""Kernels whose threads work together as warps: reductions, scans, compaction, sorting, divergent loops."""

import numpy as np

from .casefile import CaseFile, filled, written


def warps_of(values, block):
    """The elements of each warp, of blocks that are multiples of 32."""
    assert block % 32 == 0
    return [values[first : first + 32] for first in range(0, len(values), 32)]


def shuffled_sum(values):
    """A warp's sum in the order of halving distances; lanes whose partner is out of range add their own."""
    values = values.copy()
    for d in (16, 8, 4, 2, 1):
        partner = np.arange(32) + d
        values = values + values[np.where(partner < 32, partner, np.arange(32))]
    return values[0]


def warp_idioms():
    f = CaseFile("warp_idioms")
    for n, block, grid in [(32, 32, 1), (100, 64, 2), (700, 256, 3), (900, 992, 1)]:
        values = f.rng.normal(size=n).astype(np.float32)
        padded = np.zeros(block * grid, np.float32)
        padded[:n] = values
        sums = []
        for first in range(0, len(padded), block):
            partial = np.zeros(32, np.float32)
            of_warps = [shuffled_sum(warp) for warp in warps_of(padded[first : first + block], block)]
            partial[: len(of_warps)] = of_warps
            sums.append(shuffled_sum(partial))
        assert np.allclose(sums, padded.astype(np.float64).reshape(grid, block).sum(axis=1), atol=1e-3)
        out = filled(np.float32, grid + 2)
        args = [values, out, np.uint32(n)]
        f.add(f"block_sum_{n}_{block}", grid, block, args, {1: written(out, np.array(sums, np.float32))}, entry="block_sum")
    for n, block, grid in [(32, 32, 1), (150, 96, 2)]:
        values = f.rng.integers(0, 2**32, n, dtype=np.uint32)
        sums = np.concatenate([np.cumsum(warp, dtype=np.uint32) for warp in warps_of(values, block)])
        out = filled(np.uint32, n + 2)
        f.add(f"scan_{n}", grid, block, [values, out, np.uint32(n)], {1: written(out, sums)}, entry="warp_scan")
    for n, block in [(1, 32), (64, 64), (150, 96), (155, 64)]:
        values = f.rng.integers(0, 1000, n, dtype=np.uint32)
        grid, out, counts = -(-n // block), filled(np.uint32, n + 2), filled(np.uint32, n // 32 + 3)
        kept, after = [], out.copy()
        for first in range(0, n, 32):
            even = [value for value in values[first : first + 32] if value % 2 == 0]
            after[first : first + len(even)] = even
            kept.append(len(even))
        expect = {1: after, 2: written(counts, np.array(kept, np.uint32))}
        f.add(f"compact_{n}_{block}", grid, block, [values, out, counts, np.uint32(n)], expect, entry="compact")
        elected = np.full(n, 7, np.uint32)
        for first in range(0, n, 32):
            thirds = [i for i in range(first, min(first + 32, n)) if values[i] % 3 == 0]
            elected[thirds] = 0
            elected[thirds[:1]] = 1
        out = filled(np.uint32, n + 2)
        expect = {1: np.array([np.count_nonzero(values % 3 == 0)], np.uint32), 2: written(out, elected)}
        args = [values, np.zeros(1, np.uint32), out, np.uint32(n)]
        f.add(f"aggregate_{n}_{block}", grid, block, args, expect, entry="aggregate")
    for block, grid in [(32, 1), (96, 2)]:
        values = f.rng.integers(0, 50, block * grid, dtype=np.uint32)
        result = np.concatenate([np.sort(warp) for warp in warps_of(values, block)])
        f.add(f"sort_{block}", grid, block, [values, filled(np.uint32, len(values))], {1: result}, entry="warp_sort")
    for n, block in [(32, 32), (75, 64), (100, 33)]:
        rounds = f.rng.integers(0, 7, n, dtype=np.uint32)
        grid, sums = -(-n // block), np.zeros(n, np.uint32)
        for start in range(0, n, block):
            for first in range(start, min(start + block, n), 32):
                threads = range(first, min(first + 32, start + block, n))
                for turn in range(7):
                    here = [i for i in threads if rounds[i] > turn]
                    for i in here:
                        sums[i] += here[0] * 10 + int(rounds[here[0]]) - turn + len(here)
        out = filled(np.uint32, n + 2)
        f.add(f"leaving_{n}_{block}", grid, block, [rounds, out, np.uint32(n)], {1: written(out, sums)}, entry="leaving")
    for count, width, block in [(4, 8, 32), (9, 13, 64), (5, 100, 32)]:
        matrix = f.rng.integers(-1000, 1000, (count, width), dtype=np.int32)
        out = filled(np.int32, count + 2)
        args = [matrix.ravel(), out, np.uint32(count), np.uint32(width)]
        sums = matrix.sum(axis=1, dtype=np.int32)
        f.add(f"rows_{count}_{width}", -(-count * 8 // block), block, args, {1: written(out, sums)}, entry="rows")
    for block, grid in [(32, 1), (128, 2)]:
        values = f.rng.integers(0, 2**32, block * grid, dtype=np.uint32)
        result = []
        for warp in warps_of(values, block):
            own = np.array([[int(x) * (k + 1) & 0xFFFFFFFF for k in range(4)] for x in warp], np.uint32)
            v = warp[::-1]
            words = v + own[np.arange(32), v & 3]
            assert not (v == 5).any()
            result.append(words[np.arange(32) ^ 3] + own[np.arange(32), np.arange(32) & 3])
        f.add(f"exchange_{block}", grid, block, [values, filled(np.uint32, len(values))], {1: np.concatenate(result)}, entry="exchange")
    values = f.rng.integers(0, 2**32, 384, dtype=np.uint32)
    out = filled(np.uint32, 4)
    sums = values.reshape(3, 128).sum(axis=1, dtype=np.uint32)
    f.add("old_tree", 3, 128, [values, out], {1: written(out, sums)}, entry="old_tree")
    return f


def warp_synchronous():
    f = CaseFile("warp_synchronous")
    for block, grid in [(64, 2), (128, 1), (256, 3)]:
        values = f.rng.integers(0, 2**32, block * grid, dtype=np.uint32)
        out = filled(np.uint32, grid + 2)
        sums = values.reshape(grid, block).sum(axis=1, dtype=np.uint32)
        f.add(f"sum_{block}", grid, block, [values, out], {1: written(out, sums)}, entry="old_sum", dynamic_shared_bytes=4 * block)
    for block, grid in [(32, 1), (96, 2)]:
        values = f.rng.integers(0, 2**32, block * grid, dtype=np.uint32)
        sums = np.concatenate([np.cumsum(warp, dtype=np.uint32) for warp in warps_of(values, block)])
        f.add(f"scan_{block}", grid, block, [values, filled(np.uint32, len(values))], {1: sums}, entry="old_scan")
        rounds = f.rng.integers(0, 7, block * grid, dtype=np.uint32)
        result = []
        for warp, turns in zip(warps_of(values, block), warps_of(rounds, block)):
            words, last = warp.copy(), np.zeros(32, np.uint32)
            for turn in range(7):
                here = turns > turn
                last[here] = np.roll(words, -1)[here]
                words[here] = last[here] + np.uint32(turn)
            result.append(words + last)
        args = [values, rounds, filled(np.uint32, len(values))]
        f.add(f"ring_{block}", grid, block, args, {2: np.concatenate(result)}, entry="old_ring")
        sorted_warps = np.concatenate([np.sort(warp) for warp in warps_of(values, block)])
        f.add(f"sort_{block}", grid, block, [values], {0: sorted_warps}, entry="old_sort")
    return f


FILES = [warp_idioms, warp_synchronous]

"""Searches whose rounds differ by thread, before threads wait for each other: long_waits."""

import numpy as np

from .casefile import CaseFile, filled

MASK = 0xFFFFFFFF


def hashed(x):
    x ^= x >> np.uint32(16)
    x *= np.uint32(0x7FEB352D)
    x ^= x >> np.uint32(15)
    x *= np.uint32(0x846CA68B)
    return x ^ x >> np.uint32(16)


def search(start, limit, step=1 << 16):
    first = 0
    while True:
        numbers = np.arange(first, first + step, dtype=np.uint32)
        hits = np.flatnonzero(hashed(np.uint32(start & MASK) + numbers * np.uint32(0x9E3779B9)) < limit)
        if len(hits):
            return first + int(hits[0])
        first += step


def long_waits():
    f = CaseFile("long_waits")
    # Some threads take more than 65,535 rounds; with the second limit few take more than 200.
    for name, limit in [("long", 1 << 17), ("short", 1 << 27)]:
        mean = (1 << 32) // limit
        own = [search(t, limit) for t in range(320)]
        assert name == "short" or max(own) > 1 << 16
        u32 = lambda values: np.array([value & MASK for value in values], np.uint32)
        value = np.uint32(limit)
        zeros = lambda count: np.zeros(count, np.uint32)

        def add(entry, blocks, threads, args, expect, **more):
            expect = {number: u32(values) for number, values in expect.items()}
            f.add(f"{entry}_{name}", blocks, threads, args, expect, entry=entry, **more)

        found = own[:32] + [search(3 * t, limit) for t in range(32, 64)]
        add("two_barriers", 1, 64, [filled(np.uint32, 64), value], {0: [found[63 - t] + t // 32 for t in range(64)]})
        add("named_barriers", 1, 64, [filled(np.uint32, 64), value], {0: [own[t ^ 31] for t in range(64)]})

        total = sum(n for n in own[:64] if n <= mean) & MASK
        after = []
        for t, n in enumerate(own[:64]):
            at = total & 7
            kept = int(hashed(np.array([8 * t + at], np.uint32))[0]) + sum(range(at or 8, n + 1, 8))
            after.append(7 if n > mean else total + kept)
        add("returns", 1, 64, [filled(np.uint32, 64), value, np.uint32(mean)], {0: after})

        found = [search(t if t & 1 else 7 * t, limit) for t in range(64)]
        after = [found[t] * (3 if t & 1 else 5) + found[t ^ 1] for t in range(64)]
        add("two_shuffles", 1, 64, [filled(np.uint32, 64), value], {0: after})

        sums = [0] * 32
        for i in range(5):
            stay = [t for t in range(32) if i <= t % 5]
            taken = search(sums[stay[-1]] + stay[-1], limit)
            for t in stay:
                sums[t] += taken
        add("leave_one_by_one", 1, 32, [filled(np.uint32, 32), value], {0: sums})

        after = []
        for warp in (own[:32], own[32:64]):
            total = sum(search(n, limit) for n in warp if n <= mean)
            after += [7 if n > mean else total for n in warp]
        add("return_and_shuffle", 1, 64, [filled(np.uint32, 64), value, np.uint32(mean)], {0: after})

        add("locked", 2, 4, [zeros(1), zeros(1), value], {0: [sum(own[:8])], 1: [0]})
        add("in_turn", 1, 48, [filled(np.uint32, 48), value], {0: np.cumsum(own[:48]).tolist()})
        sums = [sum(own[64 * b : 64 * b + 64]) for b in range(5)]
        add("blocks_in_turn", 5, 64, [filled(np.uint32, 5), zeros(5), value], {0: np.cumsum(sums).tolist(), 1: [1] * 5})
        after = [search(sums[(b + 1) % 3] + t, limit) for b in range(3) for t in range(64)]
        args = [zeros(3), filled(np.uint32, 192), zeros(1), value]
        for entry in ["whole_grid", "whole_grid_of_warps"]:
            add(entry, 3, 64, args, {0: sums[:3], 1: after, 2: [3]}, cooperative=True)
    # More rounds than a launch may take without progress.
    f.add("count_in_turn", 2, 1, [zeros(1), np.uint32(12_000)], {0: u32([12_000])}, entry="count_in_turn", cooperative=True)
    return f


FILES = [long_waits]

"""What NVIDIA's compiler makes of cooperative groups (nvcc/): tiles of more than a warp, barriers of the grid. Results were compared
with an H200's, but that there `is_valid()` holds in ordinary launches too, once there was a cooperative one.
"""

import numpy as np

from .casefile import CaseFile, filled, written


def tiles():
    f = CaseFile("tiles", "nvcc")
    for size, blocks, block in ((64, 1, 128), (512, 1, 512), (128, 1, 256), (256, 1, 256)):
        values = f.rng.integers(-100, 101, blocks * block, dtype=np.int32)
        # Tiles in which a vote has another outcome.
        values[:size] = np.clip(values[:size], -80, 80)
        rows = []
        for tile in values.reshape(-1, size):
            number = len(rows) // size % (block // size)
            for t, value in enumerate(tile):
                votes = int((tile > 90).any()) + 2 * int((tile > -90).all())
                rows.append([tile.sum(), tile.min(), tile[:t].sum(), tile[: t + 1].max(), tile[(5 * number + 33) % size],
                             votes, 3 * value, 3 * tile[(t + 40) % size], 1000 * number + t])  # fmt: skip
        out = filled(np.int32, 9 * len(values) + 3)
        result = written(out, np.array(rows, np.int32).ravel())
        f.add(f"{size}_of_{block}", blocks, block, [values, out], {1: result}, entry=f"tiles_{size}")
    return f


def described(lanes, values):
    """What `describe` says of a group: of each of its lanes, whose numbers in the warp ascend. Ranks are the ballot's bits."""
    total, mixed = sum(values), 0
    for value in values:
        mixed ^= value
    votes = int(max(values) > 90) + 2 * int(min(values) > -90)
    ballot = sum((value & 1) << rank for rank, value in enumerate(values))
    rows, size = {}, len(lanes)
    for rank, lane in enumerate(lanes):
        rows[lane] = [
            size, rank, total, mixed, sum(values[:rank]), min(values[: rank + 1]), values[size // 2],
            values[rank + 1] if rank + 1 < size else 0, votes, ballot,
        ]  # fmt: skip
    return rows


def grouped(values, width, label, change=lambda value: value):
    """`describe` for the lanes with the same label in each `width` lanes; lanes without a label keep what was there."""
    out = filled(np.int32, 10 * len(values) + 3)
    for start in range(0, len(values), width):
        part = [int(value) for value in values[start : start + width]]
        for name in {label(value) for value in part} - {None}:
            lanes = [lane for lane, value in enumerate(part) if label(value) == name]
            for lane, row in described(lanes, [change(part[lane]) for lane in lanes]).items():
                at = 10 * (start + lane)
                out[at : at + 10] = np.array([x - 2**32 if x >= 2**31 else x for x in row], np.int64).astype(np.int32)
    return out


def groups():
    f = CaseFile("groups", "nvcc")
    values = f.rng.integers(-100, 101, 96, dtype=np.int32)
    values[5:20], values[64:96] = 17, np.arange(-16, 16) * 3
    out = filled(np.int32, 10 * len(values) + 3)

    def branch(value):
        return value & 3 if value & 3 < 2 else 2 if value > 0 else None

    factor = {0: 1, 1: 3, 2: -1}
    result = grouped(values, 32, branch, lambda value: factor[branch(value)] * value)
    f.add("coalesced", 1, 96, [values, out], {1: result}, entry="coalesced")
    result = grouped(values, 32, lambda value: (value & 2**32 - 1) % 5)
    f.add("labeled", 3, 32, [values, out], {1: result}, entry="labeled")
    result = grouped(values, 16, lambda value: value > 10)
    f.add("binary", 1, 96, [values, out], {1: result}, entry="binary")

    positive = int((values[:90] > 0).sum())
    kept = np.zeros(100, np.int32)
    f.add("filter", 3, 32, [values, np.int32(90), np.zeros(1, np.int32), kept],
          {2: np.array([positive], np.int32), 3: written(kept, [7] * positive)}, entry="filter")  # fmt: skip

    out = filled(np.int32, 4 * len(values) + 3)
    result = out.copy()
    for start in range(0, len(values), 32):
        # C's remainder is 0 for the same numbers as Python's.
        lanes = [lane for lane in range(start, start + 32) if values[lane] % 3]
        for first in range(0, len(lanes), 4):
            tile = lanes[first : first + 4]
            for rank, lane in enumerate(tile):
                result[4 * lane : 4 * lane + 4] = [len(tile), rank, max(values[tile]), start // 32 * 7 + 1]
    f.add("nested", 1, 96, [values, out], {1: result}, entry="nested")

    rows = f.rng.integers(-100, 101, (2, 5, 128), dtype=np.int32)
    sums = np.zeros((2, 128), np.int32)
    for row in range(5):
        sums = 3 * sums + rows[:, row, (np.arange(128) + 17 * row) % 128]
    out = filled(np.int32, 259)
    f.add("copied", 2, 128, [rows.ravel(), np.int32(5), out], {2: written(out, sums.ravel())}, entry="copied")

    for size, blocks in ((2, 4), (4, 4)):
        values = f.rng.integers(-100, 101, 64 * blocks, dtype=np.int32)
        own = values.reshape(blocks, 64)
        out = filled(np.int32, 8 * 64 * blocks + 3)
        words = np.zeros((blocks, 64, 8), np.int32)
        for block in range(blocks):
            rank, first = block % size, block // size * size
            following, before = first + (rank + 1) % size, first + (rank - 1) % size
            after = own[block].copy()
            for t in range(64):
                after[t % 8] += own[before][t]
            for t in range(64):
                words[block, t] = [size, rank, 64 * rank + t, 64 * size, size + 10 * rank, own[following][(t + 5) % 64],
                                   (rank + 1) % size, after[t]]  # fmt: skip
        f.add(f"cluster_{size}", blocks, 64, [values, out], {1: written(out, words.ravel())}, entry="cluster", cluster=(size, 1, 1))
    return f


def rounds(a, n, blocks, block, count):
    """The kernel of that name, thread by thread between its barriers."""
    a, b = [int(x) for x in a], [0] * n
    threads, mask = blocks * block, 2**32 - 1
    seen = [[0] * 64 for _ in range(blocks)]
    more = list(range(threads))
    history = [[i * k & mask for k in range(8)] for i in range(threads)]
    sums = [0] * threads
    for turn in range(count):
        b = [(3 * a[(i + 1) % n] + a[(i + n // 2) % n] + turn) & mask for i in range(n)]
        for i in range(threads):
            sums[i] = (sums[i] + b[(i + 7 * turn) % n]) & mask
            history[i][sums[i] & 7] = (history[i][sums[i] & 7] + sums[i]) & mask
            place = (i % block + sums[i]) & mask
            # A 32-bit unsigned sum of an int and an unsigned.
            seen[i // block][place % 64] = (seen[i // block][place % 64] + sums[i]) & mask
        a = [b[n - 1 - i] ^ more[i % threads] for i in range(n)]
        more = [(x + turn) & mask for x in more]
    out = []
    for i in range(threads):
        hashed = sums[i]
        for k in range(8):
            hashed = (31 * hashed + history[i][k]) & mask
        out += [hashed, more[i], sum(seen[i // block]) & mask]
    return [np.array(list, np.uint32) for list in (a, b, out)]


def conjugate_gradients(right, width, iterations, blocks, block):
    """In f32, in the kernel's order of operations."""
    f32, n, threads = np.float32, width * width, blocks * block
    x, r, p, ap = (np.zeros(n, f32) for _ in range(4))
    r[:], p[:] = right, right
    at = np.arange(n)

    def dot(x, y):
        sums = np.zeros(threads, f32)
        for start in range(0, n, threads):
            own = (x[start : start + threads] * y[start : start + threads]).astype(f32)
            sums[: len(own)] = sums[: len(own)] + own
        shared = sums.reshape(blocks, block).copy()
        half = block // 2
        while half:
            shared[:, :half] = shared[:, :half] + shared[:, half : 2 * half]
            half //= 2
        partial[:] = shared[:, 0]
        total = f32(0)
        for value in shared[:, 0]:
            total = f32(total + value)
        return total

    partial = np.zeros(blocks, f32)
    rr, k = dot(r, r), 0
    while k < iterations and rr > f32(1e-10):
        total = f32(4) * p
        column = at % width
        for where, other in ((column > 0, -1), (column < width - 1, 1), (at >= width, -width), (at < n - width, width)):
            total[where] = total[where] - p[at[where] + other]
        ap[:] = total
        alpha = f32(rr / dot(p, ap))
        x = x + alpha * p
        r = r - alpha * ap
        following = dot(r, r)
        beta = f32(following / rr)
        rr = following
        p = r + beta * p
        k += 1
    assert all(array.dtype == f32 for array in (x, r, p, ap))
    return x, r, p, ap, partial, np.array([rr, k], f32)


def grid_sync():
    f = CaseFile("grid_sync", "nvcc")
    for blocks, block, n, count in ((6, 64, 300, 2), (40, 32, 500, 1), (5, 40, 100, 2)):
        a = f.rng.integers(0, 2**32, n, dtype=np.uint32)
        b, out = filled(np.uint32, n), filled(np.uint32, 3 * blocks * block + 2)
        after = rounds(a, n, blocks, block, count)
        expect = {0: after[0], 1: after[1], 2: written(out, after[2])}
        args = [a, b, out, np.int32(n), np.int32(count)]
        f.add(f"rounds_{blocks}x{block}", blocks, block, args, expect, entry="rounds", dynamic_shared_bytes=4 * block, cooperative=True)
    for blocks, block in ((3, 40),):
        i = np.arange(blocks * block, dtype=np.uint64)
        own = np.zeros_like(i)
        for _ in range(10):
            own = (own * np.uint64(5) + i) % np.uint64(2**32)
        words, out = filled(np.uint32, len(i)), filled(np.uint32, len(i) + 1)
        squares = (i * i + np.uint64(1)).astype(np.uint32)
        result = written(out, squares[::-1] + own.astype(np.uint32))
        f.add(f"halves_{blocks}x{block}", blocks, block, [words, out], {0: squares, 1: result}, entry="halves", cooperative=True)
    words = 7 * np.arange(11, dtype=np.uint32) + np.uint32(1)
    f.add("leavers", 11, 96, [filled(np.uint32, 11), filled(np.uint32, 11)], {0: words, 1: np.roll(words, -1)}, entry="leavers", cooperative=True)
    for cooperative in (True, False):
        i = np.arange(4 * 6 * 32, dtype=np.uint32)
        rows = np.stack([np.full(24 * 32, cooperative, np.uint32), np.full(24 * 32, 24 * 32, np.uint32), i // 32, np.full(24 * 32, 24, np.uint32)], 1)
        out = filled(np.uint32, rows.size + 1)
        name = "group" if cooperative else "group_of_an_ordinary_launch"
        f.add(name, (4, 3, 2), (8, 4), [out], {0: written(out, rows.ravel())}, entry="group", cooperative=cooperative)
    for width, iterations, blocks, block in ((7, 60, 3, 32),):
        n = width * width
        right = f.rng.integers(-8, 9, n).astype(np.float32) / np.float32(4)
        x, r, p, ap, partial, residual = conjugate_gradients(right, width, iterations, blocks, block)
        dense = 4 * np.eye(n)
        for i in range(n):
            for other, near in ((i - 1, i % width > 0), (i + 1, i % width < width - 1), (i - width, i >= width), (i + width, i < n - width)):
                if near:
                    dense[i, other] = -1
        assert np.abs(np.linalg.solve(dense, right.astype(np.float64)) - x).max() < 1e-5 and residual[0] < 1e-9
        zeros = lambda length: filled(np.float32, length)
        args = [right, zeros(n), zeros(n), zeros(n), zeros(n), zeros(blocks), np.int32(width), np.int32(iterations), zeros(3)]
        expect = {1: x, 2: r, 3: p, 4: ap, 5: partial, 8: written(args[8], residual)}
        f.add(f"conjugate_gradients_{width}", blocks, block, args, expect, entry="conjugate_gradients", cooperative=True)
    return f


def grid_handles():
    f = CaseFile("grid_handles", "nvcc")
    blocks, block, rounds = 5, 40, 3
    n = blocks * block
    i = np.arange(n, dtype=np.uint32)
    sums = sum((i + 33 * turn) % n * (turn + 3) for turn in range(rounds)).astype(np.uint32)
    args = [filled(np.uint32, n), filled(np.uint32, n + 1), np.int32(rounds)]
    words = i * np.uint32(rounds + 2)
    f.add("by_handle", blocks, block, args, {0: words, 1: written(args[1], sums)}, entry="by_handle", cooperative=True)
    for cooperative in (True, False):
        row = lambda k: [1, 0, 6, 1, 0, k, 1, 0, 0, 999] if cooperative else [0, 999, 0, 0, 999, 0, 0, 0, 0, 999]
        out = filled(np.uint32, 62)
        rows = np.array([row(k) for k in range(6)], np.uint32).ravel()
        name = "queries" if cooperative else "queries_of_an_ordinary_launch"
        f.add(name, 3, 2, [out], {0: written(out, rows)}, entry="handle_queries", cooperative=cooperative)
    return f


FILES = [tiles, groups, grid_sync, grid_handles]

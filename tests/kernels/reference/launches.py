"""Kernels that launch kernels (nvcc/), as NVIDIA's compiler has them. All results are the same for every order that CUDA allows, and were
compared with an H200's, which sets memory to zero where a kernel has it set to another byte.
"""

import numpy as np

from .casefile import CaseFile, filled, written


def doubled(words, times=1):
    for _ in range(times):
        words = 2 * words + 1
    return words


def escapes(size, limit):
    """Counts of all points, in f32 and the kernel's order of operations."""
    f32 = np.float32
    x, y = np.meshgrid(np.arange(size, dtype=f32), np.arange(size, dtype=f32))
    a, b = f32(-2) + f32(3) * x / f32(size), f32(-1.5) + f32(3) * y / f32(size)
    u, v, count = a.copy(), b.copy(), np.zeros((size, size), np.int32)
    inside = np.ones((size, size), bool)
    for _ in range(limit):
        inside &= u * u + v * v < f32(4)
        following = u * u - v * v + a
        v = np.where(inside, f32(2) * u * v + b, v)
        u = np.where(inside, following, u)
        count += inside
    return count


def launches():
    f = CaseFile("launches", "nvcc")
    log = lambda length: np.zeros(length, np.uint32)
    words = f.rng.integers(0, 2**30, 100, dtype=np.uint32)
    first = words.copy()
    first[0] = 5
    tags = [10, 11, 12, 90, 91]
    f.add("order", 1, 1, [log(10), words, np.int32(100)], {0: written(log(10), [len(tags)] + tags), 1: doubled(first, 2)}, entry="order")
    tags = [10, 11, 12, 20, 21, 22, 30, 99, 100, 101, 102]
    f.add("nested", 1, 1, [log(20)], {0: written(log(20), [len(tags)] + tags)}, entry="nested")
    words = f.rng.integers(0, 2**30, 40, dtype=np.uint32)
    after = np.concatenate([doubled(words[:20], 2), doubled(words[20:])])
    errors = filled(np.int32, 12)
    f.add("streams", 1, 1, [words, np.int32(20), errors], {0: after, 2: np.zeros(12, np.int32)}, entry="streams")
    n, a, b = 64, filled(np.uint32, 70), filled(np.uint32, 100)
    set_ = np.full(n, 0x01010101, np.uint32)
    after_a = np.concatenate([doubled(set_[: n // 2], 2), doubled(set_[n // 2 :])])
    after_b = written(b, doubled(set_))
    after_b[n : n + n // 2 : 2] = after_a[: n : 4]
    after_b[0:n:4] = 0x07070707
    f.add("copies", 1, 1, [a, b, np.int32(n), filled(np.int32, 4)], {0: written(a, after_a), 1: after_b, 3: np.zeros(4, np.int32)}, entry="copies")
    tags = list(range(30, -1, -1))
    f.add("deeper", 1, 1, [log(40), np.uint32(30)], {0: written(log(40), [len(tags)] + tags)}, entry="deeper")
    blocks, block, each, bins = 5, 32, 8, 13
    sums = np.zeros(bins + 1, np.uint32)
    for i in range(blocks * block):
        for k in range(each):
            sums[(i + k) % bins] += np.uint32(i * each + k + 1)
    f.add("many", blocks, block, [log(bins + 1), np.uint32(bins), np.uint32(each)], {0: sums}, entry="many")
    bits = lambda value: int(np.float64(value).view(np.uint64))
    out = filled(np.uint64, 8)
    result = np.array([5, bits(6.25), 2**64 - 5, 15, bits(2.5), 35, 30204], np.uint64)
    f.add("parameters", 1, 1, [out, np.int32(5)], {0: written(out, result)}, entry="pass")
    errors = filled(np.int32, 8)
    result = {0: written(log(4), [1, 5]), 1: written(errors, [9, 9, 9, 9, 9, 0])}
    f.add("refused", 1, 1, [log(4), errors], result, entry="refused")
    bytes_ = filled(np.uint8, 200)
    after = bytes_.copy()
    after[1:51], after[64:128] = 0x85, 3
    for row in range(3):
        after[128 + 16 * row : 133 + 16 * row] = 9
    f.add("sets", 1, 1, [bytes_], {0: after}, entry="sets")
    values = f.rng.integers(-1000, 1000, 300, dtype=np.int32)
    args = [values, np.int32(0), np.int32(len(values) - 1), np.int32(0)]
    f.add("quicksort", 1, 1, args, {0: np.sort(values)}, entry="quicksort")
    size, limit = 64, 40
    image = filled(np.int32, size * size)
    args = [image, np.int32(size), np.int32(0), np.int32(0), np.int32(size // 2), np.int32(limit)]
    f.add("mandelbrot", (2, 2), 32, args, {0: squares(escapes(size, limit)).ravel()}, entry="squares")
    return f


def squares(counts):
    """What filling squares with borders of one count makes of an image."""
    image = counts.copy()

    def visit(x, y, side):
        part = counts[y : y + side, x : x + side]
        border = np.concatenate([part[0], part[-1], part[:, 0], part[:, -1]])
        if border.min() == border.max():
            image[y : y + side, x : x + side] = border[0]
        elif side > 8:
            for corner in ((0, 0), (1, 0), (0, 1), (1, 1)):
                visit(x + corner[0] * side // 2, y + corner[1] * side // 2, side // 2)

    half = len(counts) // 2
    for corner in ((0, 0), (1, 0), (0, 1), (1, 1)):
        visit(corner[0] * half, corner[1] * half, half)
    return image


def device_runtime():
    """Errors are those of an H200."""
    f = CaseFile("device_runtime", "nvcc")
    words, errors = np.zeros(100, np.uint32), filled(np.int32, 12)
    after = written(words, np.arange(95, -1, -1))
    after[0] += 1025
    result = [0, 9, 0, 9, 9, 9, 9, 9, 9, 9, 0]
    f.add("sizes", 1, 1, [words, errors], {0: after, 1: written(errors, result)}, entry="sizes")
    errors = filled(np.int32, 22)
    result = [0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1]
    f.add("handles", 1, 1, [errors], {0: written(errors, result)}, entry="handles")
    to, source, errors = filled(np.uint8, 256), np.arange(256, dtype=np.uint8), filled(np.int32, 21)
    after = written(to, source[:16])
    for row in (64, 72):
        after[row : row + 5] = 0
    after[90:94] = 0
    for k in range(2):
        for row in range(2):
            start = 100 + 12 * k + 4 * row
            after[start : start + 3] = 0
            start, first = 140 + 15 * (1 + k) + 5 * (1 + row), 1 + 24 * k + 6 * (1 + row)
            after[start : start + 3] = source[first : first + 3]
    result = [0, 0, 21, 21, 21, 0, 1, 1, 1, 12, 12, 0, 1, 0, 0, 1, 0, 0, 0, 1]
    f.add("moves", 1, 1, [to, source, errors], {0: after, 2: written(errors, result)}, entry="moves")
    out = filled(np.int32, 32)
    # An H200 says nothing of a function that is no kernel.
    result = [0, 384, 0, 96, 1, 0, 0, 1024, 1, 1, 1, 1] + [1, 0] * 6 + [0, 1]
    f.add("functions", 1, 1, [out], {0: written(out, result)}, entry="functions")
    out = filled(np.int32, 32)
    result = [0, 32, 0, 1024, 1, 1, 1024, 1, 101, 101, 0, 1, 0, 0, 0, 1, 0, 6000, 0, 8 << 20, 0, 2048, 215, -1, 0, 5, 0]
    f.add("device", 1, 1, [out], {0: written(out, result)}, entry="device")
    texts = {68: ("cudaErrorSyncDepthExceeded", "cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth"),
             69: ("cudaErrorLaunchPendingCountExceeded", "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"),
             70: ("unrecognized error code",) * 2}  # fmt: skip
    out = np.zeros(200 * len(texts), np.uint8)
    after = out.copy()
    for number, (name, text) in texts.items():
        for start, string in ((0, name), (80, text)):
            start += 200 * (number - 68)
            after[start : start + len(string)] = np.frombuffer(string.encode(), np.uint8)
    f.add("texts", len(texts), 1, [out, np.int32(68)], {0: after}, entry="texts")
    return f


def launches_before_12():
    """Kernels that wait for what they launch. No GPU that CUDA 13 knows takes them."""
    f = CaseFile("launches_before_12", "nvcc")
    for blocks, block, rounds in ((2, 3, 4), (3, 40, 2)):
        threads = blocks * block
        own, sums, seen = np.arange(threads), np.zeros(threads, np.int64), np.zeros(threads, np.int64)
        for turn in range(rounds):
            sums += 2 * (turn + own + 1) + 3 * 10 * turn
            seen = 3 * seen + sums
        args = [np.zeros(threads + 1, np.int32), filled(np.int32, threads + 1), np.int32(rounds)]
        result = {0: written(args[0], sums), 1: written(args[1], seen)}
        f.add(f"waits_{blocks}x{block}", blocks, block, args, result, entry="waits")
    counts, seen = [0], np.zeros(6, np.int32)

    def visit(depth):
        for _ in range(2 if depth > 0 else 0):
            visit(depth - 1)
        seen[depth] += counts[0] if depth > 0 else 0
        counts[0] += 1

    visit(4)
    args = [np.zeros(2, np.int32), np.zeros(6, np.int32), np.int32(4)]
    f.add("tree", 1, 1, args, {0: np.array([counts[0], 0], np.int32), 1: seen}, entry="tree")
    f.add("streams", 1, 1, [filled(np.int32, 3, 0)], {0: np.array([64, 0, 0], np.int32)}, entry="streams")
    return f


FILES = [launches, device_runtime, launches_before_12]

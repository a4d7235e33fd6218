"""Independent threads that compute something real: Mandelbrot, option prices, sparse product, hashes, index arithmetic."""

import hashlib
import math
import zlib

import numpy as np

from .casefile import CaseFile, filled, written
from .fp import fma32


def mandelbrot():
    f = CaseFile("mandelbrot")
    for width, height, block, limit in [(32, 16, (16, 8), 50), (33, 21, (8, 8), 120), (1, 1, (4, 4), 10), (40, 7, (32, 2), 1)]:
        left, top, step = np.float32(-2.1), np.float32(1.3), np.float32(3.0 / width)
        cx = (left + np.arange(width).astype(np.float32) * step)[None, :] + np.zeros((height, 1), np.float32)
        cy = (top - np.arange(height).astype(np.float32) * step)[:, None] + np.zeros((1, width), np.float32)
        x, y = np.zeros_like(cx), np.zeros_like(cx)
        count = np.zeros(cx.shape, np.uint32)
        alive = np.ones(cx.shape, bool)
        with np.errstate(all="ignore"):
            for _ in range(limit):
                xx, yy = x * x, y * y
                alive &= ~(xx + yy > np.float32(4))
                y = np.where(alive, (np.float32(2) * x) * y + cy, y)
                x = np.where(alive, xx - yy + cx, x)
                count += alive
        assert cx.dtype == x.dtype == np.float32
        out = filled(np.uint32, width * height + 5)
        args = [out, np.uint32(width), np.uint32(height), left, top, step, np.uint32(limit)]
        grid = (-(-width // block[0]), -(-height // block[1]))
        f.add(f"{width}x{height}_{limit}", grid, block, args, {0: written(out, count.ravel())})
    return f


def black_scholes():
    f = CaseFile("black_scholes")
    for n, grid, block in [(1, 1, 32), (100, 2, 32), (500, 3, 64)]:
        spot, strike = (f.rng.uniform(5, 100, n).astype(np.float32) for _ in range(2))
        years = f.rng.uniform(0.25, 5, n).astype(np.float32)
        rate, volatility = np.float32(0.02), np.float32(0.3)
        calls, puts = np.zeros(n), np.zeros(n)
        for i, (s, x, t, r, v) in enumerate(zip(*(np.broadcast_to(a, n).astype(float) for a in (spot, strike, years, rate, volatility)))):
            d1 = (math.log(s / x) + (r + v * v / 2) * t) / (v * math.sqrt(t))
            n1, n2 = (0.5 * math.erfc(-d / math.sqrt(2)) for d in (d1, d1 - v * math.sqrt(t)))
            calls[i] = s * n1 - x * math.exp(-r * t) * n2
            puts[i] = calls[i] - s + x * math.exp(-r * t)  # put-call parity
        # lg2.approx is off by 2^-22 at most, which d1 sees divided by a spread of 0.15 at least: 1e-6, times the
        # density (0.4) and the price (100) 6e-5; the polynomial adds 7.5e-8 * 200, ex2.approx and rounding less.
        tolerance = {"abs": 1e-4}
        blank = filled(np.float32, n + 2)
        args = [spot, strike, years, blank, blank, rate, volatility, np.uint32(n)]
        expect = {3: written(blank, calls), 4: written(blank, puts)}
        f.add(f"{n}", grid, block, args, expect, tolerance={3: tolerance, 4: tolerance})
    return f


def spmv_csr():
    f = CaseFile("spmv_csr")
    for rows, columns, block in [(1, 1, 32), (40, 30, 32), (333, 200, 64)]:
        counts = f.rng.integers(0, 9, rows)
        counts[rows // 2] = columns  # one full row
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint32)
        indices = np.concatenate([np.sort(f.rng.choice(columns, min(c, columns), replace=False)) for c in counts.clip(0, columns)])
        assert len(indices) == starts[-1]
        values = f.rng.normal(size=len(indices)).astype(np.float32)
        x = f.rng.normal(size=columns).astype(np.float32)
        y = np.zeros(rows, np.float32)
        dense = np.zeros((rows, columns))
        for row in range(rows):
            for k in range(starts[row], starts[row + 1]):
                y[row] = fma32(values[k], x[indices[k]], y[row])
                dense[row, indices[k]] = values[k]
        assert np.allclose(y, dense @ x, atol=1e-4)
        out = filled(np.float32, rows + 9)
        args = [starts, indices.astype(np.uint32), values, x, out, np.uint32(rows)]
        f.add(f"{rows}x{columns}", -(-rows // block), block, args, {4: written(out, y)})
    return f


def sha256():
    f = CaseFile("sha256")
    groups = {
        "known": [b"", b"abc", b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"],
        "lengths": [f.rng.bytes(n) for n in [1, 55, 56, 63, 64, 65, 119, 120, 128, 200]],
        "many": [f.rng.bytes(int(n)) for n in f.rng.integers(0, 100, 70)],
    }
    for name, messages in groups.items():
        text = np.frombuffer(b"".join(messages), np.uint8)
        starts = np.cumsum([0] + [len(m) for m in messages]).astype(np.uint32)
        digests = np.frombuffer(b"".join(hashlib.sha256(m).digest() for m in messages), ">u4").astype(np.uint32)
        out = filled(np.uint32, len(digests) + 8)
        args = [text, starts, out, np.uint32(len(messages))]
        f.add(name, -(-len(messages) // 32), 32, args, {2: written(out, digests)})
    return f


def keccak():
    f = CaseFile("keccak")
    rate = 168
    for name, messages in {"known": [b"", b"abc"], "many": [f.rng.bytes(n) for n in [*range(1, rate, 5), rate - 1]]}.items():
        blocks = np.zeros((len(messages), rate), np.uint8)
        for block, message in zip(blocks, messages):
            block[: len(message)] = np.frombuffer(message, np.uint8)
            block[len(message)] = 0x1F
            block[-1] |= 0x80
        digests = np.frombuffer(b"".join(hashlib.shake_128(m).digest(rate) for m in messages), np.uint64)
        out = filled(np.uint64, len(digests) + 4)
        args = [blocks.view(np.uint64).ravel(), out, np.uint32(len(messages))]
        f.add(name, -(-len(messages) // 32), 32, args, {1: written(out, digests)})
    return f


def crc32():
    f = CaseFile("crc32")
    for length, count, block in [(9, 1, 32), (16, 33, 32), (61, 50, 64), (0, 3, 32)]:
        data = np.frombuffer(b"123456789", np.uint8) if length == 9 else f.rng.integers(0, 256, max(length * count, 1)).astype(np.uint8)
        sums = np.array([zlib.crc32(data[i * length : (i + 1) * length].tobytes()) for i in range(count)], np.uint32)
        assert length != 9 or sums[0] == 0xCBF43926
        out = filled(np.uint32, count + 2)
        args = [data, np.uint32(length), out, np.uint32(count)]
        for entry in ["crc32", "crc32_bitwise"]:
            f.add(f"{entry}_{length}x{count}", -(-count // block), block, args, {2: written(out, sums)}, entry=entry)
    return f


def grid3d():
    f = CaseFile("grid3d")
    for size, block in [((8, 8, 8), (4, 4, 4)), ((13, 7, 5), (4, 2, 3)), ((1, 1, 9), (1, 1, 4)), ((70, 2, 2), (32, 1, 2)), ((3, 20, 1), (1, 8, 1))]:
        grid = tuple(-(-s // b) for s, b in zip(size, block))
        cells = np.zeros(size[::-1], np.uint32)
        for z, y, x in np.ndindex(cells.shape):
            b, t = zip(*(divmod(position, extent) for position, extent in zip((x, y, z), block)))
            thread = np.ravel_multi_index(t[::-1], block[::-1])
            number = np.ravel_multi_index(b[::-1], grid[::-1])
            cells[z, y, x] = number * 65536 + thread
        out, shape = filled(np.uint32, cells.size + 4), filled(np.uint32, 7)
        args = [out, shape] + [np.uint32(s) for s in size]
        name = "x".join(map(str, size))
        f.add(name, grid, block, args, {0: written(out, cells.ravel()), 1: written(shape, block + grid)})
    return f


FILES = [mandelbrot, black_scholes, spmv_csr, sha256, keccak, crc32, grid3d]

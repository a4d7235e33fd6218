"""Arithmetic kernels: f32, f64, 32- and 64-bit integers, narrow types."""

from fractions import Fraction

import numpy as np

from .casefile import CaseFile, filled, written
from .fp import fma32, fma64, round_to_f32


def signed(x, bits):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def truncated_divide(a, b):
    """Quotient towards zero, and remainder with the dividend's sign."""
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient, a - quotient * b


def interesting(rng, bits, n):
    """Random integers of all magnitudes, the edges of the range among them."""
    edges = [0, 1, 2, 7, (1 << bits) - 1, (1 << bits) - 2, 1 << (bits - 1), (1 << (bits - 1)) - 1, (1 << (bits - 1)) + 1, 1 << (bits // 2)]
    values = [int.from_bytes(rng.bytes(bits // 8), "little") >> int(rng.integers(0, bits)) for _ in range(n)]
    values[: len(edges)] = edges[:n]
    return values


def elementwise(f, name, entry, inputs, outputs, block=32, scalars=()):
    """A case of an element-wise kernel: inputs, outputs with a tail to keep, `scalars`, and the count last."""
    n = len(inputs[0])
    blanks = [filled(o.dtype, len(o) + 3) for o in outputs]
    args = [*inputs, *blanks, *scalars, np.uint32(n)]
    expect = {len(inputs) + i: written(blanks[i], o) for i, o in enumerate(outputs)}
    f.add(name, -(-n // block), block, args, expect, entry=entry)


def f32_values(rng, n):
    special = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-45, -3e-39, 1.1754944e-38, 3.4028235e38, 1 / 3, 16777217], np.float32)
    values = (rng.uniform(-2, 2, n) * 2.0 ** rng.integers(-70, 70, n)).astype(np.float32)
    values[: len(special)] = special[:n]
    return values


def f32_basic():
    f = CaseFile("f32_basic")
    with np.errstate(all="ignore"):
        for name, n in [("few", 5), ("many", 600)]:
            a, b = f32_values(f.rng, n), f.rng.permutation(f32_values(f.rng, n))
            # Products and quotients that end among the subnormals.
            a[-n // 4 :] = (f.rng.uniform(1, 2, -(-n // 4)) * 2.0**-100).astype(np.float32)
            b[-n // 4 :] = (f.rng.uniform(1, 2, -(-n // 4)) * 2.0 ** f.rng.choice([-35, -30, 28, 40], -(-n // 4))).astype(np.float32)
            results = [a + b, a - b, a * b, a / b, np.sqrt(a), fma32(a, b, -a)]
            elementwise(f, name, "f32_basic", [a, b], [np.stack(results, axis=1).ravel()])
        coefficients = np.array([1.0, -0.5, 0.33333334, -0.25, 0.2, -0.16666667, 0.14285715, -0.125], np.float32)
        x = f.rng.uniform(-3, 3, 77).astype(np.float32)
        for terms in [0, 1, 8]:
            total = np.zeros(77, np.float32)
            for k in reversed(range(terms)):
                total = fma32(total, x, coefficients[k])
            elementwise(f, f"horner_{terms}", "f32_horner", [x], [total], scalars=[np.uint32(terms)])
        ints = np.array(interesting(f.rng, 32, 70), np.uint32)
        wide = np.array(interesting(f.rng, 64, 70), np.uint64)
        s = ints.view(np.int32)
        out = [v for i in range(70) for v in (np.float32(float(s[i])), np.float32(float(ints[i])), round_to_f32(Fraction(int(wide[i]))))]
        back = ((s >> 8).astype(np.float32) * np.float32(0.37)).astype(np.int32)
        bits = s.astype(np.float32).view(np.uint32) ^ np.uint32(0x80000000)
        elementwise(f, "convert", "f32_convert", [s, wide], [np.array(out, np.float32), back, bits])
    return f


def f64_newton():
    f = CaseFile("f64_newton")
    for n, block in [(1, 32), (100, 32), (77, 64), (3, 5)]:
        a, b = f.rng.normal(size=(2, n))
        shares = []
        for t in range(block):
            share = np.float64(0)
            for i in range(t, n, block):
                share = fma64(a[i], b[i], share)
            shares.append(share)
        total = shares[0]
        for share in shares[1:]:
            total = total + share
        assert abs(total - a @ b) < 1e-12
        out = filled(np.float64, 2)
        f.add(f"dot_{n}_{block}", 1, block, [a, b, out, np.uint32(n)], {2: written(out, [total])}, entry="f64_dot")
    c = np.concatenate([[0.0, 1.0, -2.0, 1e12], f.rng.uniform(-50, 50, 41)])
    roots, steps = [], []
    for target in c:
        x, step = target, 0
        while step < 60:
            square = x * x
            following = x - fma64(square, x, x - target) / fma64(3.0, square, 1.0)
            if following == x:
                break
            x, step = following, step + 1
        assert abs(x**3 + x - target) < 1e-12 * max(1, abs(target))
        roots.append(x)
        steps.append(step)
    elementwise(f, "roots", "f64_newton", [c], [np.array(roots), np.array(steps, np.uint32)])
    with np.errstate(all="ignore"):
        special = [0, -0.0, 1, np.inf, -np.inf, np.nan, 5e-324, -1e-310, 2.2250738585072014e-308, 1.7976931348623157e308, 1 / 3]
        a = np.concatenate([special, f.rng.uniform(-2, 2, 200) * 2.0 ** f.rng.integers(-500, 500, 200)])
        b = f.rng.permutation(a)
        a[-40:] = f.rng.uniform(1, 2, 40) * 2.0**-1000
        b[-40:] = f.rng.uniform(1, 2, 40) * 2.0 ** f.rng.choice([-60, -40, 35, 70], 40)
        elementwise(f, "basic", "f64_basic", [a, b], [np.stack([a + b, a * b, a / b, np.sqrt(a)], axis=1).ravel()])
    x = np.concatenate([[0.0, -0.75, 1e-40, -2147483647.5, 2147483647.0, 0.1, 1e-46], f.rng.uniform(-1e6, 1e6, 60)])
    narrow = np.array([round_to_f32(Fraction(v)) if abs(v) > 1e-37 else np.float32(v) for v in x], np.float32)
    truncated = np.array([int(v) for v in x], np.int32)
    wide = np.array([int(v * 1e6) for v in x], np.int64)
    back = np.array([(float(t) + float(s)) + float(int(w) % 2**64) for t, s, w in zip(truncated, narrow, wide)])
    # The kernel's outputs stand in the order narrow, back, truncated, wide.
    elementwise(f, "convert", "f64_convert", [x], [narrow, back, truncated, wide])
    return f


def int64_ops():
    f = CaseFile("int64_ops")
    mask = 2**64 - 1
    for rounds in [0, 1, 20]:
        seeds, results = interesting(f.rng, 64, 45), []
        for seed in seeds:
            x = lcg = seed
            for _ in range(rounds):
                x ^= x >> 12
                x ^= x << 25 & mask
                x ^= x >> 27
                lcg = lcg * 6364136223846793005 + 1442695040888963407 & mask
            results.append((x * 2685821657736338717 & mask) ^ (lcg >> 7))
        elementwise(f, f"random_{rounds}", "int64_random", [np.array(seeds, np.uint64)], [np.array(results, np.uint64)], scalars=[np.uint32(rounds)])
    a, b = interesting(f.rng, 64, 150), [v or 3 for v in f.rng.permutation(np.array(interesting(f.rng, 64, 150), np.uint64)).tolist()]
    out = []
    for i, (x, y) in enumerate(zip(a, b)):
        sx, sy = signed(x, 64), signed(y, 64)
        if (sx, sy) == (-(2**63), -1):
            b[i] = y = sy = 5  # the one overflowing quotient
        quotient, remainder = truncated_divide(sx, sy)
        out += [x * y >> 64, (sx * sy >> 64) & mask, x // y, x % y, quotient & mask, remainder & mask]
    elementwise(f, "divide", "int64_divide", [np.array(v, np.uint64) for v in (a, b)], [np.array(out, np.uint64)])
    a = interesting(f.rng, 64, 90)
    amounts = list(range(64)) + [64, 65, 127, 2**32 - 1] + [31] * 22
    out = []
    for i, (x, amount) in enumerate(zip(a, amounts)):
        s, y = amount & 63, a[89 - i]
        rotated = (x << s | x >> (64 - s)) if s else x
        out += [x << s, signed(x, 64) >> s, x >> s, rotated, min(signed(x, 64), signed(y, 64)), max(x, y)]
        out += [signed(x, 32) * signed(y, 32), (x & 0xFFFFFFFF) * (y & 0xFFFFFFFF)]
    words = [np.array(v, np.uint64).view(np.int64) for v in (a, [o & mask for o in out])]
    elementwise(f, "shift", "int64_shift", [words[0], np.array(amounts, np.uint32)], [words[1]])
    return f


def int32_ops():
    f = CaseFile("int32_ops")
    mask = 2**32 - 1
    a, b = interesting(f.rng, 32, 150), [v or 3 for v in f.rng.permutation(np.array(interesting(f.rng, 32, 150), np.uint32)).tolist()]
    out = []
    for i, (x, y) in enumerate(zip(a, b)):
        sx, sy = signed(x, 32), signed(y, 32)
        if (sx, sy) == (-(2**31), -1):
            b[i] = y = sy = 5
        quotient, remainder = truncated_divide(sx, sy)
        out += [x // y, x % y, quotient & mask, remainder & mask, x * y >> 32, x * y & mask]
    elementwise(f, "divide", "int32_divide", [np.array(v, np.uint32) for v in (a, b)], [np.array(out, np.uint32)])
    words = np.array(a, np.uint32)
    constants = [(x // 7, x % 1000, truncated_divide(signed(x, 32), -5)[0] & mask, truncated_divide(signed(x, 32), 64)[1] & mask) for x in a]
    elementwise(f, "constants", "int32_constants", [words], [np.array(constants, np.uint32).ravel()])
    bits = []
    for x in a:
        field = signed(x >> 5, 12) & mask
        bits += [bin(x).count("1"), 32 - x.bit_length(), int(f"{x:032b}"[::-1], 2), field, int.from_bytes(x.to_bytes(4, "little"), "big")]
    elementwise(f, "bits", "int32_bits", [words], [np.array(bits, np.uint32)])
    return f


def insertion_sort():
    f = CaseFile("insertion_sort")
    for n, count, block in [(1, 1, 32), (33, 7, 32), (50, 24, 64), (4, 0, 4)]:
        keys = f.rng.integers(-300, 300, (n, count)).astype(np.int16) * np.int16(100)
        order = np.argsort(keys, axis=1, kind="stable")
        ranks = np.argsort(order, axis=1).astype(np.uint8)
        out, rank_out = filled(np.int16, n * count + 3), filled(np.uint8, n * count + 3)
        source = keys.ravel() if count else np.zeros(1, np.int16)
        args = [source, out, rank_out, np.uint32(count), np.uint32(n)]
        expect = {1: written(out, np.sort(keys, axis=1).ravel()), 2: written(rank_out, ranks.ravel())}
        f.add(f"{n}x{count}", -(-n // block), block, args, expect)
    a = f.rng.integers(0, 256, 100).astype(np.uint8)
    b = f.rng.integers(-128, 128, 100).astype(np.int8)
    a[:4], b[:4] = [0, 255, 255, 128], [0, -128, 127, -1]
    x, y, u = a.astype(np.int64), b.astype(np.int64), b.view(np.uint8).astype(np.int64)
    mixed = y * 1000 + x - (x << 8).astype(np.uint16).view(np.int16)[::1].astype(np.int64)
    results = [(x + u).astype(np.uint8), (y - x).astype(np.int8), (x * u * 3).astype(np.uint16), mixed.astype(np.int32)]
    elementwise(f, "narrow", "narrow_arithmetic", [a, b], results)
    return f


FILES = [f32_basic, f64_newton, int64_ops, int32_ops, insertion_sort]

"""Inputs: edge values and random bits for every type, as tables that the cases share.

A table is a list of bit patterns of one width. All tables are written to `data/` once; cases name the files. The random
parts come from a fixed seed, so that a second run writes the same bytes.
"""

import math
import random
import struct
from fractions import Fraction

from .exact import F32, F64, HALVES

# One element per thread. Not a multiple of a warp, so that the kernels' bound check takes part.
COUNT = 60
# The same for the tables of words, which hold bytes and half-words too.
WORDS = 128


def mask(bits):
    return (1 << bits) - 1


def f32(value):
    """Bits of the single-precision number nearest to a Python float."""
    return struct.unpack("<I", struct.pack("<f", value))[0]


def f64(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def fill(table, count, make):
    """Extends a table to `count` elements."""
    return (table + [make() for _ in range(count - len(table))])[:count]


def integer_edges(bits):
    top = 1 << (bits - 1)
    alternating = int("5" * (bits // 4), 16)
    edges = [0, 1, 2, 3, -1, -2, top - 1, top, top + 1, top - 2, alternating, ~alternating, 7, -7, 10, 100, -100]
    for power in range(3, bits - 1, max(1, bits // 8)):
        edges += [(1 << power) - 1, 1 << power, (1 << power) + 1]
    return [value & mask(bits) for value in edges]


def integer_triples(bits, rng):
    """Operands a, b, c: pairs where something happens, then edges against edges, then random bits."""
    top = 1 << (bits - 1)
    most = top - 1
    pairs = [
        (0, 0), (top, -1), (top, 1), (most, 1), (most, most), (top, top), (most, -1), (top, most), (-1, -1), (1, -1),
        (5, 0), (-5, 0), (top, 0), (0, 5), (7, 2), (-7, 2), (7, -2), (-7, -2), (6, 3), (-6, 3), (1, most), (1, top),
        (most - 1, most), (100, 7), (-100, 7), (top + 1, 3), (-1, 1), (-1, 2), (-1, most), (-1, top),
    ]
    thirds = [0, 1, -1, most, top, 1, -1, top, -1, 0, 5]
    edges = integer_edges(bits)
    triples = [(a, b, thirds[index % len(thirds)]) for index, (a, b) in enumerate(pairs)]
    while len(triples) < 46:
        triples.append((rng.choice(edges), rng.choice(edges), rng.choice(edges)))
    while len(triples) < COUNT:
        triples.append(tuple(rng.getrandbits(bits) >> rng.choice((0, 0, bits // 2)) for _ in range(3)))
    return [[value & mask(bits) for value in column] for column in zip(*triples)]


def word_triples(bits, rng):
    """Operands a, b, c of instructions that add up carries or take words apart: numbers, then half-words, then bytes."""
    columns = integer_triples(bits, rng)
    packed = {
        16: [0, 1, 2, 0x7FFE, 0x7FFF, 0x8000, 0x8001, 0xFFFE, 0xFFFF, 0x00FF, 0xFF00],
        8: [0, 1, 2, 0x7E, 0x7F, 0x80, 0x81, 0xFE, 0xFF],
    }

    def join(size):
        parts = [rng.choice([*packed[size], rng.getrandbits(size)]) for _ in range(bits // size)]
        return sum(part << (size * place) for place, part in enumerate(parts))

    sizes = [16] * ((WORDS - COUNT) // 2) + [8] * ((WORDS - COUNT + 1) // 2)
    return [column + [join(size) for size in sizes] for column in columns]


def integer_units(bits, rng):
    """Operands of unary instructions."""
    return fill(integer_edges(bits), COUNT, lambda: rng.getrandbits(bits) >> rng.choice((0, 0, bits // 2, bits // 4)))


def float_edges(fmt):
    one = fmt.bias << fmt.fraction
    infinity = fmt.infinity
    quiet = infinity | 1 << (fmt.fraction - 1)
    sign = fmt.sign
    positive = [0, 1, 2, fmt.smallest_normal - 1, fmt.smallest_normal, fmt.smallest_normal + 1, one - 1, one, one + 1,
                one + (1 << fmt.fraction), infinity - 1, infinity, quiet, quiet | 0x1234, infinity | 1,
                infinity | (1 << fmt.fraction) - 1]
    return positive + [sign | value for value in positive]


def float_value(fmt, value):
    """Bits of the number of a format nearest to a Python float."""
    return fmt.round(Fraction(value), math.copysign(1, value) < 0)


def float_triples(fmt, rng):
    """Operands a, b, c of sums, products, quotients and fused ones."""
    one = fmt.bias << fmt.fraction
    sign = fmt.sign
    infinity, nan = fmt.infinity, fmt.infinity | 1 << (fmt.fraction - 1)
    tiny, huge = fmt.smallest_normal, fmt.infinity - 1
    number = lambda value: float_value(fmt, value)
    ulp = 1 << fmt.fraction
    half_ulp = one - ((fmt.fraction + 1) << fmt.fraction)
    triples = [
        (0, 0, 0), (0, sign, sign), (sign, sign, sign), (sign, 0, 0), (one, sign | one, 0), (sign | one, one, one),
        (infinity, sign | infinity, one), (infinity, infinity, sign | infinity), (infinity, 0, one),
        (0, infinity, one), (0, 0, infinity), (infinity, one, sign | infinity), (sign | infinity, one, infinity),
        (one, infinity, one), (one, 0, one), (sign | one, 0, one), (nan, one, one), (one, nan, one), (one, one, nan),
        (infinity | 1, one, one), (one, infinity | 1, sign), (sign | nan, nan | 5, one),
        (huge, huge, sign | infinity), (huge, one, one), (huge, huge - ulp, huge), (huge, one + ulp, sign | huge),
        (huge, huge - ((fmt.fraction + 1) << fmt.fraction), 1), (sign | huge, sign | huge, huge),
        # Halfway cases of a sum, on either side of even, and just beside them.
        (one, half_ulp, half_ulp), (one + 1, half_ulp, half_ulp), (one, half_ulp + 1, one), (one, half_ulp - 1, one),
        (one, sign | half_ulp, half_ulp), (one, sign | (half_ulp - ulp), half_ulp),
        # Results that are subnormal, or round to the smallest normal number.
        (tiny, number(0.5), 0), (tiny + 1, number(0.5), 1), (tiny, sign | (tiny - 1), 1), (tiny - 1, one + 1, 0),
        (1, number(0.5), 0), (1, number(1.5), 0), (3, number(0.5), 0), (1, 1, 1), (tiny - 1, 1, sign | 1),
        (tiny, tiny + 1, sign | tiny), (tiny, one + ulp, sign | (tiny - 1)), (tiny - 1, number(2.0), sign | tiny),
        (1, huge, 0), (huge, 1, 0), (tiny, huge, sign | number(4.0)),
        # Fused results that rounding twice gets wrong, and what cancellation leaves.
        (one + 1, one - 1, sign | one), (one + 1, one + 1, sign | (one + 2)), (number(3.0), number(1 / 3), sign | one),
        (one + 1, one + 1, half_ulp), (number(0.1), number(10.0), sign | one),
        (one + (1 << (fmt.fraction // 2)), one + (1 << (fmt.fraction // 2)), sign | half_ulp),
    ]
    edges = float_edges(fmt)
    while len(triples) < COUNT:
        near = lambda: (
            rng.getrandbits(1) * sign | (one + (rng.randrange(-9, 9) << fmt.fraction)) | rng.getrandbits(fmt.fraction)
        )
        choice = lambda: rng.choice([rng.choice(edges), near(), near(), rng.getrandbits(fmt.bits)])
        triples.append((choice(), choice(), choice()))
    return [list(column) for column in zip(*triples)]


def directed_triples(fmt, rng):
    """Operands of what rounds to one side: inexact by next to nothing, close to both ends of the format, cancelling."""
    columns = float_triples(fmt, rng)
    one, sign, ulp = fmt.bias << fmt.fraction, fmt.sign, 1 << fmt.fraction
    tiny, huge = fmt.smallest_normal, fmt.infinity - 1
    # Products just below the least normal number, at either side of where they round up to it.
    low = (fmt.bias - (fmt.bias - 1) // 2) << fmt.fraction
    other = (fmt.bias - (fmt.bias - 1) + (fmt.bias - 1) // 2) << fmt.fraction
    triples = [
        (one, 1, sign | 1), (one, sign | 1, 1), (one + 1, one + 1, 1), (huge, 1, sign | 1), (huge, sign | 1, tiny),
        (huge, one + 1, sign | 1), (sign | huge, one + 1, 1), (huge, one, one), (sign | huge, one, sign | one),
        (tiny, one - 1, 0), (tiny, sign | (one - 1), 0), (tiny + 1, one - 1, sign), (tiny, tiny, 0), (tiny, tiny, sign),
        (sign | tiny, tiny, 0), (1, 1, 0), (1, sign | 1, 0), (tiny, tiny, 1), (tiny, sign | tiny, 1),
        (tiny, tiny, sign | 1), (huge, huge, one), (sign | huge, huge, one), (one, one, sign | one),
        (one, sign | one, one), (sign | one, one, one), (one + 1, one, sign | (one + 1)), (0, sign, 0), (sign, 0, sign),
        (0, one, sign), (sign, one, 0), (sign, one, sign), (one, one + ulp, one - 1), (one - 1, one - 1, tiny),
        (low | (ulp - 1), other, 0), (low | (ulp - 1), other | 1, 0), (low | (ulp - 2), other | 1, 0),
        (low | (ulp - 1), sign | other | 1, 0), (one + ulp + (ulp >> 1), one + 5, one), (3, one + ulp, tiny),
    ]
    for index in range(2 * WORDS - len(columns[0]) - len(triples)):
        near = lambda spread: (
            rng.getrandbits(1) * sign | one + (rng.randrange(-spread, spread + 1) << fmt.fraction)
        ) ^ rng.getrandbits(fmt.fraction)
        limit = min(fmt.bias - 1, 40)
        triples.append((near(3), near(3), near(3)) if index % 2 else (near(limit), near(limit), near(limit)))
    return [column + list(more) for column, more in zip(columns, zip(*triples))]


def half_tables():
    """Operands of f16 and bf16, and the same as pairs in words: two rows of a table share one of a pair's."""
    for name, fmt in HALVES.items():
        rng = random.Random(f"half {name}")
        columns = dict(zip("abc", directed_triples(fmt, rng)))
        columns |= dict(zip("xy", compare_pairs_float(fmt, rng)))
        # From every part of the format; the rest is left to a test that takes all numbers.
        columns["u"] = [place << 6 | rng.getrandbits(6) for place in range(1024)]
        for letter, column in columns.items():
            yield f"{name}_{letter}", 16, column
            turned = column[len(column) // 3 :] + column[: len(column) // 3]
            yield f"{name}x2_{letter}", 32, [low | high << 16 for low, high in zip(column, turned)]


def float_units(fmt, rng):
    """Operands of unary instructions, roots among them."""
    numbers = [
        0.25, 2.25, 3.0, 0.1, 1e10, 1e-10, 0.5, 1.5, 4.0, 9.0, 1e30, 7e-39, math.pi, -2.5, 16777217.0,
        0.7071067811865476,
    ]
    table = float_edges(fmt) + [float_value(fmt, value) for value in numbers]
    return fill(table, COUNT, lambda: rng.getrandbits(fmt.bits) & (mask(fmt.bits) >> rng.choice((0, 1, 1))))


def float_to_integer(fmt, rng):
    """Operands of conversions: around halves and around the bounds of every integer type."""
    numbers = [
        0.0, -0.0, 0.4, 0.5, 0.6, 1.5, 2.5, 3.5, -0.4, -0.5, -0.6, -1.0, -1.5, -2.5, 126.5, 127.5, 128.0, -127.5,
        -128.5, -129.0, 254.5, 255.5, 256.0, 32766.5, 32767.5, -32768.5, -32769.0, 65534.5, 65535.5, 65536.0,
        8388607.5, 4194304.5, 2147483520.0, 2147483648.0, -2147483648.0, -2147483904.0, 4294967040.0, 4294967296.0,
        9223371487098961920.0, 9223372036854775808.0, -9223372036854775808.0, 18446742974197923840.0,
        18446744073709551616.0, 1e30, -1e30,
    ]
    if fmt is F64:
        numbers += [2147483647.5, -2147483648.5, 4294967295.5]
    bits = [float_value(fmt, value) for value in numbers]
    infinity = fmt.infinity
    bits += [
        infinity, fmt.sign | infinity, infinity | 1 << (fmt.fraction - 1), fmt.sign | infinity | 1, 1, fmt.sign | 1,
        fmt.smallest_normal - 1, (fmt.bias << fmt.fraction) - 1, (fmt.bias - 1 << fmt.fraction) - 1,
    ]
    span = lambda: float_value(fmt, rng.uniform(-1, 1) * 2.0 ** rng.randrange(0, 34))
    return fill(bits, COUNT, span)


def narrowing(rng):
    """f64 operands of conversions to f32: halfway cases, f32's subnormals and bounds."""
    ulp = 2.0 ** -23
    numbers = [
        0.0, -0.0, 1.0, 1 + ulp / 2, 1 + 3 * ulp / 2, 1 + ulp / 2 + 2.0 ** -52, 1 + ulp / 2 - 2.0 ** -52,
        -1 - ulp / 2, 2.0 ** -126, 2.0 ** -126 - 2.0 ** -151, 2.0 ** -126 - 2.0 ** -150, 2.0 ** -149, 2.0 ** -150,
        2.0 ** -150 * (1 + 2.0 ** -40), 3 * 2.0 ** -150, -(2.0 ** -149), -(2.0 ** -127), 2.0 ** -151, 1e-300,
        float.fromhex("0x1.fffffep127"), float.fromhex("0x1.ffffffp127"), float.fromhex("0x1.fffffefffp127"),
        -float.fromhex("0x1.ffffffp127"), 2.0 ** 128, 1e300, -1e300, 0.1, -0.1, 0.5, 2.0, math.pi,
    ]
    table = [f64(value) for value in numbers]
    table += [f64(math.inf), f64(-math.inf), 0x7FF8000000000000, 0xFFF0000000000001, 0x7FF8123456789ABC, 1, 1 << 63 | 1]
    return fill(table, COUNT, lambda: f64(rng.uniform(-2, 2) * 2.0 ** rng.randrange(-155, 130)))


def compare_pairs_int(bits, rng):
    a, b, _ = integer_triples(bits, rng)
    for index in range(0, COUNT, 7):
        b[index] = a[index]
    return a, b


def compare_pairs_float(fmt, rng):
    """Pairs of every order: equal, neighbours, zeros of both signs, subnormals, infinities, NaNs on either side."""
    one, sign, tiny = fmt.bias << fmt.fraction, fmt.sign, fmt.smallest_normal
    infinity, nan = fmt.infinity, fmt.infinity | 1 << (fmt.fraction - 1)
    pairs = [
        (0, 0), (0, sign), (sign, 0), (sign, sign), (1, 0), (0, 1), (1, sign | 1), (sign | 1, 1), (1, 2),
        (tiny - 1, tiny), (tiny, tiny - 1), (tiny - 1, 0), (sign | (tiny - 1), 0), (sign | tiny, 0), (one, one),
        (one, one + 1), (one + 1, one), (sign | one, one), (one, sign | one), (sign | one, sign | (one + 1)),
        (infinity, infinity), (infinity, sign | infinity), (infinity, infinity - 1), (infinity - 1, infinity),
        (sign | infinity, infinity), (nan, nan), (nan, one), (one, nan), (nan, infinity), (infinity, sign | nan),
        (infinity | 1, one), (one, infinity | 1), (nan, 0), (0, nan), (sign | (infinity | 1), sign | nan), (nan, 1),
    ]
    while len(pairs) < COUNT:
        pairs.append((rng.getrandbits(fmt.bits), rng.getrandbits(fmt.bits)))
    return [list(column) for column in zip(*pairs)]


def tables():
    """All tables by name, with the width of their elements in bits."""
    result = {}

    def put(name, bits, values):
        result[name] = (bits, values)

    for bits in (8, 16, 32, 64):
        rng = random.Random(bits)
        put(f"i{bits}_u", bits, integer_units(bits, rng))
        if bits > 8:
            for name, column in zip("abc", integer_triples(bits, rng)):
                put(f"i{bits}_{name}", bits, column)
            for name, column in zip("xy", compare_pairs_int(bits, rng)):
                put(f"i{bits}_{name}", bits, column)
    for bits in (32, 64):
        for name, column in zip("abc", word_triples(bits, random.Random(f"words {bits}"))):
            put(f"w{bits}_{name}", bits, column)
    rng = random.Random("word fields")
    # Every edge of a position against every edge of a length; `offset` counts bits in either direction.
    positions = [0, 1, 2, 15, 16, 30, 31, 32, 33, 64, 256, mask(32)]
    lengths = [0, 1, 2, 16, 30, 31, 32, 33, 255, 1 << 31]
    pairs = [(position, length) for position in positions for length in lengths]
    pairs += [(rng.randrange(0, 34), rng.randrange(0, 34)) for _ in range(WORDS - len(pairs))]
    put("word_position", 32, [position for position, _ in pairs])
    put("word_length", 32, [length for _, length in pairs])
    offsets = [*range(-20, 21), 32, 33, -32, -33, mask(31), 1 << 31, (1 << 31) + 1]
    offsets = [offset & mask(32) for offset in offsets]
    put("word_offset", 32, fill(offsets, WORDS, lambda: rng.randrange(-9, 10) & mask(32)))
    for fmt, name in ((F32, "f32"), (F64, "f64")):
        rng = random.Random(name)
        put(f"{name}_u", fmt.bits, float_units(fmt, rng))
        for column_name, column in zip("abc", float_triples(fmt, rng)):
            put(f"{name}_{column_name}", fmt.bits, column)
        for column_name, column in zip("abc", directed_triples(fmt, random.Random(f"directed {name}"))):
            put(f"{name}_d{column_name}", fmt.bits, column)
        for column_name, column in zip("xy", compare_pairs_float(fmt, rng)):
            put(f"{name}_{column_name}", fmt.bits, column)
        put(f"{name}_i", fmt.bits, float_to_integer(fmt, rng))
    for name, bits, column in half_tables():
        put(name, bits, column)
    rng = random.Random("others")
    put("f64_n", 64, narrowing(rng))
    amounts = [
        0, 1, 2, 7, 8, 15, 16, 17, 30, 31, 32, 33, 47, 48, 62, 63, 64, 65, 127, 128, 255, 256, 257, 1 << 31, mask(32),
        65536,
    ]
    put("shift", 32, fill(amounts, COUNT, lambda: rng.randrange(0, 70)))
    fields = [
        (0, 0), (0, 1), (0, 32), (0, 64), (5, 0), (31, 1), (31, 2), (32, 1), (63, 1), (63, 2), (64, 1), (0, 33),
        (0, 65), (8, 8), (16, 16), (24, 8), (1, 31), (1, 63), (255, 255), (0, 255), (255, 0), (255, 1), (200, 100),
        (40, 24), (60, 10), (28, 10), (256, 8), (8, 256), (257, 264), (64, 64), (32, 32), (33, 31),
    ]
    fields += [(rng.randrange(0, 70), rng.randrange(0, 70)) for _ in range(COUNT - len(fields))]
    put("position", 32, [position for position, _ in fields])
    put("length", 32, [length for _, length in fields])
    controls = [
        0x3210, 0x7654, 0x0123, 0x4567, 0xFEDC, 0xBA98, 0x0000, 0x8888, 0x7777, 0xFFFF, 0x1111, 0x9999, 0x5410,
        0x6240, 0, 1, 2, 3,
    ]
    put("control", 32, fill(controls, COUNT, lambda: rng.getrandbits(32)))
    put("flag", 32, [(index * 5 // 3) & 1 for index in range(COUNT)])
    put("mixed", 8, [rng.getrandbits(8) for _ in range(2048)])
    return result

"""cvt.rs, which rounds by random bits, and cvt to and from exponents alone (ue8m0)."""

import random
from fractions import Fraction

from .convert_half import E4M3, E5M2, narrowing
from .exact import BF16, F16, F32
from .half import relu
from .newer import SM100, AllFinite, name, narrow_operands
from .ptx import Family
from .values import fill

PAIRS = {"f16x2": (F16, 13), "bf16x2": (BF16, 16)}
FOURS = {"e4m3x4": E4M3, "e5m2x4": E5M2, "e2m1x4": AllFinite(4, 1), "e2m3x4": AllFinite(6, 3), "e3m2x4": AllFinite(6, 2)}
WORDS = [0, 0xFFFFFFFF, 0x00010001, 0x80008000, 0x7FFF7FFF, 0x10001000, 0x0FFF0FFF, 0xE000E000] + [1 << bit for bit in range(32)]


def stochastic(fmt, bits, chance, width, modifiers):
    """The number that f32 bits become: up if the random bits and the first `width` bits of what is cut off carry."""
    if F32.is_nan(bits):
        return fmt.nan
    largest = fmt.infinity - 1
    most = largest if ".satfinite" in modifiers else fmt.infinity
    negative = F32.negative(bits)
    if F32.is_infinite(bits):
        result = most
    else:
        value = abs(F32.value(bits))
        kept = min(fmt.round(value, mode="rz"), largest)
        below = min(kept, largest - 1)
        rest = (value - fmt.value(kept)) / (fmt.value(below + 1) - fmt.value(below))
        result = min(kept + (int(rest * 2**width) + chance >= 2**width), most) if rest < 1 else most
    result |= negative * fmt.sign
    return relu(fmt, result) if ".relu" in modifiers else result


def backwards(half):
    return int(f"{half:016b}"[::-1], 2)


def pair(fmt, width, modifiers):
    mask = (1 << width) - 1

    def reference(a, b, word):
        high = stochastic(fmt, a, word >> 16 & mask, width, modifiers)
        return high << 16 | stochastic(fmt, b, word & mask, width, modifiers)

    return reference


def four(fmt, lane, modifiers):
    def reference(a, b, e, f, word):
        low, high = word & 0xFFFF, word >> 16
        if lane == 4:
            low, high = word & 0xFF | word >> 8 & 0xFF00, word >> 8 & 0xFF | word >> 16 & 0xFF00
        chances = (backwards(high), high, backwards(low), low)
        result = 0
        for bits, chance in zip((a, b, e, f), chances):
            result = result << lane | stochastic(fmt, bits, chance, 16, modifiers)
        return result

    return reference


def columns(family, label, table, count, rng):
    """Tables of the numbers, in other orders for all but the first, and of random bits."""
    orders = [table] + [rng.sample(table, len(table)) for _ in range(count - 1)]
    names = [f"{label}_{letter}" for letter in "abef"[:count]]
    for column, values in zip(names, orders):
        family.operands(column, 32, values)
    family.operands(f"{label}_word", 32, rng.sample(fill(WORDS, len(table), lambda: rng.getrandbits(32)), len(table)))
    return [("f32", column) for column in names] + [("b32", f"{label}_word")]


def rounding(family):
    rng = random.Random("stochastic rounding")
    for to, (fmt, width) in PAIRS.items():
        table = narrowing("f32", to.removesuffix("x2"))
        inputs = columns(family, to, table, 2, rng)
        for modifiers in ("", ".relu", ".satfinite", ".relu.satfinite"):
            form = f"cvt.rs{modifiers}.{to}.f32"
            reference = pair(fmt, width, modifiers)
            family.elementwise(name(form), inputs, "b32", [f"{form} %d, %a, %b, %c;"], reference, count=len(table))
        constants(family, f"cvt.rs.{to}.f32", inputs[2:], "b32", pair(fmt, width, ""), 2, table, rng)
    for to, fmt in FOURS.items():
        held, lane = ("b16", 4) if to == "e2m1x4" else ("b32", 8)
        table = narrow_operands(fmt)
        table = rng.sample(table, min(len(table), 320))
        inputs = columns(family, to, table, 4, rng)
        for modifiers in (".satfinite", ".relu.satfinite"):
            form = f"cvt.rs{modifiers}.{to}.f32"
            body = [f"{form} %d, {{%a, %b, %c, %e}}, %f;"]
            family.elementwise(name(form), inputs, held, body, four(fmt, lane, modifiers), count=len(table))
        constants(family, f"cvt.rs.satfinite.{to}.f32", inputs[4:], held, four(fmt, lane, ".satfinite"), 4, table, rng)


def constants(family, form, words, held, reference, count, table, rng):
    """The same form on numbers that stand in the program."""
    sets = [rng.sample(table, count) for _ in range(4)]
    body = []
    for place, numbers in enumerate(sets):
        operands = ", ".join(f"0f{bits:08X}" for bits in numbers)
        operands = f"{{{operands}}}" if count == 4 else operands
        body.append(f"{form} %d{place}, {operands}, %a;")
    results = lambda word: [reference(*numbers, word) for numbers in sets]
    family.elementwise(f"{name(form)}_constants", words, [held] * len(sets), body, results, count=48)


def power(bits, modifiers):
    """The biased exponent of the power of two that f32 bits are rounded to."""
    if F32.is_nan(bits):
        return 0xFF
    most = 0xFE if ".satfinite" in modifiers else 0xFF
    if F32.is_infinite(bits):
        return most
    value = abs(F32.value(bits))
    exponent = 0
    above = ".rp" in modifiers
    while exponent < most and (Fraction(2) ** (exponent - 127) < value if above else Fraction(2) ** (exponent - 126) <= value):
        exponent += 1
    return exponent


def exponents(family):
    rng = random.Random("exponents")
    table = [0, 1, 0x3FFFFF, 0x400000, 0x400001, 0x7FFFFF, 0x800000, 0x800001, F32.infinity - 1, F32.infinity, F32.infinity | 1, F32.nan]
    for exponent in (1, 2, 126, 127, 128, 253, 254):
        table += [exponent << 23, (exponent << 23) + 1, (exponent << 23) - 1, (exponent << 23) + 0x400000]
    table += [bits | F32.sign for bits in table]
    table = fill(table, 128, lambda: rng.getrandbits(32))
    family.operands("exponent_a", 32, table)
    family.operands("exponent_b", 32, rng.sample(table, len(table)))
    short = [0, 1, 0x3F, 0x40, 0x41, 0x7F, 0x80, 0x81, 0x7F00, 0x7F01, 0x7F7F, 0x7F80, 0x7F81, 0x7FFF, 0x3F80, 0x3FC0]
    short = fill(short + [bits | 0x8000 for bits in short], 128, lambda: rng.getrandbits(16))
    family.operands("exponent_pairs", 32, [high << 16 | low for high, low in zip(short, rng.sample(short, len(short)))])
    for mode in (".rz", ".rp"):
        for saturate in ("", ".satfinite"):
            modifiers = mode + saturate
            both = lambda a, b, modifiers=modifiers: power(a, modifiers) << 8 | power(b, modifiers)
            form = f"cvt{modifiers}.ue8m0x2.f32"
            inputs = [("f32", "exponent_a"), ("f32", "exponent_b")]
            family.elementwise(name(form), inputs, "b16", [f"{form} %d, %a, %b;"], both, count=len(table))
            halves = lambda bits, both=both: both(bits & 0xFFFF0000, bits << 16 & 0xFFFFFFFF)
            form = f"cvt{modifiers}.ue8m0x2.bf16x2"
            family.elementwise(name(form), [("b32", "exponent_pairs")], "b16", [f"{form} %d, %a;"], halves, count=len(short))
    family.operands("powers", 16, [code | (code * 167 + 13) % 256 << 8 for code in range(256)])
    one = lambda code: BF16.nan if code == 0xFF else BF16.round(Fraction(2) ** (code - 127))
    two = lambda bits: one(bits >> 8) << 16 | one(bits & 0xFF)
    form = "cvt.rn.bf16x2.ue8m0x2"
    family.elementwise(name(form), [("b16", "powers")], "b32", [f"{form} %d, %a;"], two, count=256)
    form = "cvt.rp.ue8m0x2.f32"
    fixed = [(0x3F800001, F32.infinity), (0x00400001, F32.infinity - 1)]
    body = [f"{form} %d{place}, 0f{a:08X}, 0f{b:08X};" for place, (a, b) in enumerate(fixed)] + [f"{form} %d2, %a, 0f00000000;"]
    results = lambda bits: [power(a, ".rp") << 8 | power(b, ".rp") for a, b in (*fixed, (bits, 0))]
    family.elementwise(f"{name(form)}_constants", [("f32", "exponent_a")], ["b16"] * 3, body, results, count=8)


def families(tables):
    family = Family("newer_stochastic", "cvt with random bits, to and from exponents alone.", tables, header=SM100)
    rounding(family)
    exponents(family)
    return [family]

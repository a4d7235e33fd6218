"""cvt from and to f16, bf16, tf32 and the packed formats, and directed rounding of all conversions to floats."""

import random
from fractions import Fraction

from . import exact
from .convert import INTEGERS, ROUNDINGS, name, to_integer
from .exact import BF16, F16, F32, F64, FORMATS, HALVES, Format, number, round_integral, width
from .floats import DIRECTED
from .half import relu, split, storage
from .ptx import Family, header
from .values import fill

MODES = ("rn", *DIRECTED)
ROWS = 256
TF32 = Format(19, 10)
E5M2 = Format(8, 2)


class Finite(Format):
    """A format without infinities: all but one of the top exponent's numbers are finite."""

    def __init__(self, bits, fraction):
        super().__init__(bits, fraction)
        self.infinity = self.nan

    def is_nan(self, bits):
        return bits & self.nan == self.nan

    def is_infinite(self, _):
        return False


E4M3 = Finite(8, 3)
ALL = FORMATS | HALVES | {"tf32": TF32, "e4m3": E4M3, "e5m2": E5M2}


def rounded(to, source, mode, modifiers=""):
    """A float in another format. `.ftz` flushes f32 operands, but not on the way to f16, as hardware does it."""
    target, origin = ALL[to], ALL[source]

    def reference(bits):
        if ".ftz" in modifiers and to != "f16" and source in ("f32", "bf16"):
            bits = origin.flush(bits)
        negative = origin.negative(bits)
        if origin.is_nan(bits):
            result = target.nan
        elif origin.is_infinite(bits):
            result = target.infinity | negative * target.sign
        else:
            value = origin.value(bits)
            if mode in ROUNDINGS:
                value = Fraction(round_integral(value, mode))
            if ".ftz" in modifiers and (to, source) == ("f32", "f64") and is_tiny(value, mode):
                value = Fraction(0)
            result = target.round(value, negative, mode if mode in (*MODES, "rna") else "rn")
        if ".satfinite" in modifiers and not origin.is_nan(bits):
            result = min(result & (target.sign - 1), target.infinity - 1) | negative * target.sign
        if ".relu" in modifiers:
            result = relu(target, result)
        return exact.saturate(target, result) if ".sat" in modifiers and ".satfinite" not in modifiers else result

    return reference


def is_tiny(value, mode):
    """Whether a number is below f32's least normal one when rounded to 24 bits of any exponent."""
    return abs(F64.value(Format(64, 52).round(value, mode=mode))) < 1 and unbounded(value, mode) < Fraction(2) ** -126


def unbounded(value, mode):
    """The magnitude rounded to 24 bits of any exponent, for numbers that are tiny in f32."""
    return abs(F32.value(F32.round(value * 2**100, mode=mode))) / 2**100


def narrowing(source, to):
    """Operands of a conversion: numbers of the narrower format, halfway between two, beside these; both its ends."""
    origin, target = ALL[source], ALL[to]
    rng = random.Random(f"{source} to {to}")
    ulp = lambda bits: target.value(min(bits, target.infinity - 2) + 1) - target.value(min(bits, target.infinity - 2))
    beside = lambda value: [origin.round(value) + step for step in (-1, 0, 1)]
    ends = [0, 1, 2, target.smallest_normal - 1, target.smallest_normal, target.infinity - 2, target.infinity - 1]
    one = target.bias << target.fraction
    table = []
    for bits in [*ends, one, one + 1]:
        value, unit = target.value(bits), ulp(bits)
        for part in (Fraction(0), Fraction(1, 2), Fraction(1, 4), Fraction(3, 4), Fraction(1)):
            if value + part * unit:
                table += beside(value + part * unit)[:: 1 if part < 1 else 2]
    table += [0, origin.smallest_normal, origin.smallest_normal - 1, 1, origin.infinity - 1, origin.infinity]
    table += [origin.infinity | origin.quiet, origin.infinity | 1, origin.sign - 1]
    table = [bits ^ (origin.sign if place % 3 == 2 else 0) for place, bits in enumerate(table)]
    table += [origin.sign, origin.sign | 1, origin.sign | origin.infinity, origin.sign | origin.infinity | 1]

    def near():
        bits = rng.randrange(target.infinity)
        value = target.value(bits) + rng.choice((Fraction(1, 2), Fraction(rng.getrandbits(20), 1 << 20))) * ulp(bits)
        return rng.getrandbits(1) * origin.sign | (origin.round(value) + rng.choice((-1, 0, 0, 1))) % origin.infinity

    return fill(table, ROWS, near)


def integers(bits):
    """Integers of all lengths, halfway between floats, beside that, and at the ends."""
    rng = random.Random(f"integers {bits}")
    top = 1 << (bits - 1)
    table = [0, 1, -1, top, top - 1, top + 1, -2, 65519, 65520, 65521, 65535, 65536, -65520, -65519]

    def near():
        length = rng.randrange(1, bits + 1)
        cut = rng.choice((0, length - 8, length - 11, length - 24, length - 53))
        value = 1 << (length - 1) | rng.getrandbits(length)
        if cut > 1:
            tie = (value >> cut << cut) + (1 << (cut - 1))
            value = rng.choice((value, tie, tie - 1, tie + 1, value >> cut << cut, (value >> cut << cut) + 1))
        return rng.choice((value, -value))

    return [value & ((1 << bits) - 1) for value in fill(table, ROWS, near)]


def operands(family, ty, to):
    """A type's table for a conversion to another one."""
    if ty in HALVES:
        return f"{ty}_u"
    table = f"{ty}_to_{to}"
    if table not in family.tables:
        family.operands(table, width(ty), narrowing(ty, to))
    return table


def convert(family, to, source, mode, modifiers, reference, table):
    form = f"cvt{'.' + mode if mode else ''}{modifiers}.{to}.{source}"
    held = {"tf32": "b32"}.get(to, storage(to) if to in HALVES else to)
    taken = storage(source) if source in HALVES else source
    compare = {"tf32": "f32"}.get(to, to)
    family.elementwise(
        name(form),
        [(taken, table)],
        held,
        [f"{form} %d, %a;"],
        reference,
        count=len(family.tables[table][1]),
        compare=compare if held != compare else None,
    )


def floats(tables):
    family = Family(
        "convert_half", "cvt between f16, bf16, f32, f64 where one side has 16 bits.", tables
    )
    form = lambda to, source, mode="", modifiers="": convert(
        family, to, source, mode, modifiers, rounded(to, source, mode, modifiers), operands(family, source, to)
    )
    for mode in MODES:
        for modifiers in ("", ".ftz", ".sat", ".ftz.sat"):
            form("f16", "f32", mode, modifiers)
        for modifiers in ("", ".sat"):
            form("f16", "f64", mode, modifiers)
        form("bf16", "f32", mode)
        form("bf16", "f64", mode)
        form("f16", "bf16", mode)
        form("bf16", "f16", mode)
        form("f64", "bf16", mode)
        form("f32", "bf16", mode)
    for modifiers in ("", ".ftz", ".sat", ".ftz.sat"):
        form("f32", "f16", "", modifiers)
    for modifiers in ("", ".sat"):
        form("f64", "f16", "", modifiers)
    for to in ("f32", "f64", "f16"):
        form(to, "bf16")
    form("bf16", "f16")
    for mode in ("", *ROUNDINGS):
        form("f16", "f16", mode)
        form("f16", "f16", mode, ".sat")
        form("bf16", "bf16", mode)
    return family


def flushed(tables):
    family = Family("convert_half_flush", "cvt.ftz between f32 and bf16.", tables)
    for mode in MODES:
        table = operands(family, "f32", "bf16")
        convert(family, "bf16", "f32", mode, ".ftz", rounded("bf16", "f32", mode, ".ftz"), table)
    for mode in ("", *MODES):
        convert(family, "f32", "bf16", mode, ".ftz", rounded("f32", "bf16", mode, ".ftz"), "bf16_u")
    return family


def finite(tables):
    family = Family(
        "convert_half_finite",
        "cvt.relu and .satfinite to f16 and bf16, cvt to tf32.",
        tables,
        header=header("8.1"),
    )
    for mode in ("rn", "rz"):
        for to in HALVES:
            for modifiers in (".relu", ".satfinite", ".relu.satfinite"):
                reference = rounded(to, "f32", mode, modifiers)
                convert(family, to, "f32", mode, modifiers, reference, operands(family, "f32", to))
        for modifiers in ("", ".relu"):
            reference = lambda bits, function=rounded("tf32", "f32", mode, modifiers): function(bits) << 13
            convert(family, "tf32", "f32", mode, modifiers, reference, operands(family, "f32", "tf32"))
    for modifiers in ("", ".satfinite"):
        reference = to_nearest_away(bool(modifiers))
        convert(family, "tf32", "f32", "rna", modifiers, reference, operands(family, "f32", "tf32"))
    return family


def to_nearest_away(saturate):
    """cvt.rna.tf32 as hardware has it: NaNs lose their lowest bits, which may leave an infinity."""
    plain = rounded("tf32", "f32", "rna")

    def reference(bits):
        result = bits & ~0x1FFF if F32.is_nan(bits) else plain(bits) << 13
        return result - (1 << 13) if saturate and result & 0x7FFFFFFF >= F32.infinity else result

    return reference


def pairs(tables):
    family = Family(
        "convert_packed",
        "cvt to and from pairs of f16, bf16, e4m3, e5m2.",
        tables,
        header=header("8.1"),
    )
    for to, formats in (("f16x2", ""), ("bf16x2", ""), ("e4m3x2", ".satfinite"), ("e5m2x2", ".satfinite")):
        half = to.removesuffix("x2")
        size = ALL[half].bits
        for mode in ("rn", "rz") if not formats else ("rn",):
            for relu_ in ("", ".relu"):
                for finite_ in ("", ".satfinite") if not formats else (formats,):
                    modifiers = relu_ + finite_
                    function = rounded(half, "f32", mode, modifiers)
                    high = operands(family, "f32", half)
                    low = f"{high}_low"
                    if low not in family.tables:
                        column = family.tables[high][1]
                        family.operands(low, 32, column[70:] + column[:70])
                    form = f"cvt.{mode}{modifiers}.{to}.f32"
                    family.elementwise(
                        name(form),
                        [("f32", high), ("f32", low)],
                        "b32" if size == 16 else "b16",
                        [f"{form} %d, %a, %b;"],
                        lambda a, b, function=function, size=size: function(a) << size | function(b),
                        count=ROWS,
                        compare=half if size == 16 else None,
                    )
    for to in ("e4m3", "e5m2"):
        for modifiers in ("", ".relu"):
            function = rounded(to, "f16", "rn", f".satfinite{modifiers}")
            form = f"cvt.rn.satfinite{modifiers}.{to}x2.f16x2"
            table = f"f16x2_to_{to}"
            if table not in family.tables:
                column = narrowing("f16", to) + [place * 85 & 0xFFFF for place in range(ROWS)]
                family.operands(table, 32, [low | high << 16 for low, high in zip(column, reversed(column))])
            family.elementwise(
                name(form),
                [("b32", table)],
                "b16",
                [f"{form} %d, %a;"],
                lambda a, function=function: function(a >> 16) << 8 | function(a & 0xFFFF),
                count=2 * ROWS,
            )
            back = rounded("f16", to, "rn", modifiers)
            form = f"cvt.rn{modifiers}.f16x2.{to}x2"
            if "bytes" not in family.tables:
                family.operands("bytes", 16, [byte | (byte * 7 + 3) % 256 << 8 for byte in range(256)])
            family.elementwise(
                name(form),
                [("b16", "bytes")],
                "b32",
                [f"{form} %d, %a;"],
                lambda a, back=back: back(a >> 8) << 16 | back(a & 0xFF),
                count=256,
                compare="f16",
            )
    return family


def from_integer(to, source, mode, modifiers):
    def reference(a):
        bits = ALL[to].round(Fraction(number(a, source)), mode=mode)
        return exact.saturate(ALL[to], bits) if ".sat" in modifiers else bits

    return reference


def from_integers(tables):
    family = Family(
        "convert_from_integer_directed",
        "cvt from integers to f16 and bf16, and to f32 and f64 where it rounds to one side.",
        tables,
    )
    for source in INTEGERS:
        bits = width(source)
        table = f"i{bits}_u"
        if bits > 16:
            table = f"i{bits}_lengths"
            if table not in family.tables:
                family.operands(table, bits, integers(bits))
        for mode in MODES:
            forms = [("f16", ""), ("f16", ".sat")]
            if mode != "rn":
                forms += [("f32", modifiers) for modifiers in ("", ".ftz", ".sat", ".ftz.sat")]
                forms += [("f64", ""), ("f64", ".sat")]
            if bits > 8:
                forms.append(("bf16", ""))
            for to, modifiers in forms:
                convert(family, to, source, mode, modifiers, from_integer(to, source, mode, modifiers), table)
            if bits == 8:
                # These want registers of exactly their types.
                family.elementwise(
                    f"cvt_{mode}_bf16_{source}",
                    [(source, table)],
                    "b16",
                    [f"cvt.{source}.{source} %x, %a;", f"cvt.{mode}.bf16.{source} %d, %x;"],
                    from_integer("bf16", source, mode, ""),
                    ".reg .b8 %x;",
                    compare="bf16",
                )
    return family


def to_integers(tables):
    family = Family("convert_half_to_integer", "cvt from f16 and bf16 to integers.", tables)
    for to in INTEGERS:
        for mode in ROUNDINGS:
            for modifiers in ("", ".sat"):
                convert(family, to, "f16", mode, modifiers, half_to_integer("f16", to, mode), "f16_u")
            if width(to) > 8:
                convert(family, to, "bf16", mode, "", half_to_integer("bf16", to, mode), "bf16_u")
            else:
                function = half_to_integer("bf16", to, mode)
                family.elementwise(
                    f"cvt_{mode}_{to}_bf16",
                    [("b16", "bf16_u")],
                    "u32",
                    [f"cvt.{mode}.{to}.bf16 %x, %a;", f"cvt.u32.{to} %d, %x;"],
                    lambda a, to=to, function=function: number(function(a), to) & 0xFFFFFFFF,
                    ".reg .b8 %x;",
                    count=1024,
                )
    return family


def half_to_integer(source, to, mode):
    return to_integer(source, to, mode, False)


def singles(tables):
    family = Family("convert_float_directed", "cvt from f64 to f32 where it rounds to one side.", tables)
    for mode in DIRECTED:
        for modifiers in ("", ".ftz", ".sat", ".ftz.sat"):
            reference = rounded("f32", "f64", mode, modifiers)
            convert(family, "f32", "f64", mode, modifiers, reference, operands(family, "f64", "f32"))
    return family


def families(tables):
    return [
        floats(tables), flushed(tables), finite(tables), pairs(tables), from_integers(tables), to_integers(tables),
        singles(tables),
    ]

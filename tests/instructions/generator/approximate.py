"""Approximate instructions, against correctly rounded values and within the error that the PTX manual documents.

Without .ftz, hardware keeps subnormals where the manual's tables show them flushed. Sines and cosines are those of as many
turns as hardware makes of an angle: its product with a constant, rounded towards zero.
"""

import math
import random
from fractions import Fraction

from .exact import F32, F64, HALVES, div, mul, sqrt
from .half import split
from .ptx import Family
from .values import COUNT, f32, f64, fill

INFINITY, NEGATIVE_INFINITY, NAN = 0x7F800000, 0xFF800000, 0x7FC00000


def value(bits):
    return float(F32.value(bits))


def on_numbers(function, specials):
    """A reference from a function of floats, and the results for zeros, infinities and NaN by their bits."""

    def reference(bits):
        if F32.is_nan(bits):
            return NAN
        return specials[bits] if bits in specials else f32(function(value(bits)))

    return reference


def operand_tables():
    rng = random.Random("approximate")
    ends = [0, 0x80000000, INFINITY, NEGATIVE_INFINITY, NAN]
    scaled = lambda low, high: math.ldexp(rng.uniform(1, 2), rng.randrange(low, high))
    positive = [
        f32(number) for number in (1.0, 2.0, 3.0, 4.0, 0.5, 0.25, 0.1, 10.0, 2.0**-126, 2.0**126, 1.9999999, 1.0000001)
    ]
    put = lambda start, make: (32, fill(start, COUNT, lambda: f32(make())))
    sign = lambda number: rng.choice((-1, 1)) * number
    return {
        "approx_rcp": put(ends + positive, lambda: sign(scaled(-125, 125))),
        "approx_root": put(ends + positive, lambda: scaled(-125, 127)),
        "approx_angle": put(
            [0, 0x80000000, INFINITY, NAN, f32(1e-3), f32(0.5), f32(1.0)], lambda: rng.uniform(0, math.pi / 2 - 1e-6)
        ),
        "approx_turn": put(
            [f32(3.1415925), f32(-3.1415925), f32(-1.0), f32(2.0)], lambda: rng.uniform(-math.pi + 1e-6, math.pi - 1e-6)
        ),
        "approx_mantissa": put([f32(1.0), f32(1.5), f32(1.9999999), f32(1.0000001)], lambda: rng.uniform(1, 2)),
        "approx_log": put(
            ends[:3] + ends[4:] + [f32(1.0), f32(2.0), f32(2.0**-126), f32(2.0**127)],
            lambda: scaled(*rng.choice(((-125, -1), (1, 127)))),
        ),
        "approx_fraction": put([0, f32(0.5), f32(0.99999994), f32(1e-5)], lambda: rng.uniform(0, 1)),
        "approx_exponent": put(
            ends + [f32(1.0), f32(-1.0), f32(127.0), f32(-126.0), f32(200.0), f32(-200.0)],
            lambda: sign(rng.uniform(0, 125)),
        ),
        "approx_dividend": put(
            [0, 0x80000000, f32(1.0), f32(-3.0), f32(1.0), INFINITY, f32(5.0), NAN], lambda: sign(scaled(-40, 40))
        ),
        "approx_divisor": put(
            [f32(3.0), f32(-7.0), 0, f32(3.0), INFINITY, f32(2.0), NAN, f32(1.0)], lambda: sign(scaled(-60, 60))
        ),
        "approx_root_f64": (
            64,
            fill(
                [f64(1.0), f64(2.0), f64(4.0), f64(0.1), 0, 1 << 63, f64(math.inf), f64(math.nan), f64(-1.0)],
                COUNT,
                lambda: f64(math.ldexp(rng.uniform(1, 2), rng.randrange(-1000, 1000))),
            ),
        ),
        "approx_tiny": put(
            [1, 2, 3, 0x7FFFFF, 0x800000, 0x800001, 0x400000, 0x80000001, 0x807FFFFF, f32(2.0**-127), f32(2.0**-140)],
            lambda: math.ldexp(rng.uniform(1, 2), rng.randrange(-149, -120)),
        ),
        "approx_huge": put(
            [0x7E800000, 0x7E7FFFFF, 0x7E800001, 0x7F000000, 0x7F7FFFFF, 0xFE800001, 0xFF7FFFFF, INFINITY],
            lambda: sign(scaled(124, 128)),
        ),
        "approx_any": (
            32,
            fill([0x7F7FFFFF, 1, 0x00800000, INFINITY, NAN, 0, 0x80000000, NEGATIVE_INFINITY], COUNT, lambda: rng.getrandbits(32)),
        ),
        "approx_wide": put(
            [f32(math.pi), f32(-100.0), f32(1e3), f32(1e5), f32(-1e6), f32(1e10), f32(1e30), f32(2.0**23)],
            lambda: sign(scaled(-3, 24)),
        ),
        "approx_power": put(
            ends + [f32(-126.5), f32(-149.0), f32(-149.4), f32(-151.0), f32(127.99), f32(128.0), f32(-126.0)],
            lambda: rng.uniform(-150, -120),
        ),
        "approx_tanh": put(
            ends + [1, 0x80000001, 0x7FFFFF, f32(0.625), f32(1e-5), f32(9.0), f32(20.0), f32(1e30)],
            lambda: sign(scaled(-12, 5)),
        ),
        "approx_double": (
            64,
            fill(
                [f64(1.0), f64(2.0), f64(-4.0), f64(0.1), 0, 1 << 63, f64(math.inf), f64(-math.inf), f64(math.nan), 1,
                 0x7FF0000000000001, 0x7FF8000000000000, F64.infinity - 1, 0x7FD0000000000000, 0x7FE0000000000000,
                 0x0010000000000000, 0x000FFFFFFFFFFFFF],
                COUNT,
                lambda: f64(sign(math.ldexp(rng.uniform(1, 2), rng.randrange(-1022, 1022)))),
            ),
        ),
        "approx_positive": (
            64,
            fill(
                [f64(1.0), f64(2.0), f64(4.0), f64(0.1), 0, 1 << 63, f64(math.inf), f64(math.nan), f64(-1.0), 1, 2, 3,
                 0x000FFFFFFFFFFFFF, 0x0010000000000000, F64.infinity - 1, 1 << 63 | 1, 0xFFF0000000000000, 1 << 51],
                COUNT,
                lambda: f64(math.ldexp(rng.uniform(1, 2), rng.randrange(-1074, 1023))),
            ),
        ),
    }


def flushing(ftz, function):
    """A function of bits with its operands and result flushed with .ftz."""
    flush = F32.flush if ftz else lambda bits: bits
    return lambda *operands: flush(function(*map(flush, operands)))


def turns(bits):
    """The fraction of a turn that hardware takes an angle for."""
    product = F32.value(bits) * F32.value(0x3E22F983)
    return F32.value(F32.round(product, mode="rz")) % 1


def on_turns(function):
    return lambda bits: NAN if F32.is_nan(bits) or F32.is_infinite(bits) else f32(function(math.tau * turns(bits)))


def short(function, fmt, ftz=False):
    """A function of floats on a format of 16 bits, given as its value at numbers and by limits."""

    def reference(bits):
        if fmt.is_nan(bits):
            return fmt.nan
        bits = fmt.flush(bits) if ftz else bits
        number = -math.inf if fmt.negative(bits) else math.inf
        number = number if fmt.is_infinite(bits) else float(fmt.value(bits))
        try:
            result = function(number)
        except OverflowError:
            result = math.inf
        if math.isinf(result):
            return fmt.infinity | (fmt.sign if result < 0 else 0)
        rounded = fmt.round(Fraction(result), math.copysign(1, result) < 0)
        return fmt.flush(rounded) if ftz else rounded

    return reference


def upper(function):
    """A function of doubles on their upper words: the lower ones are taken and given as zeros."""

    def reference(bits):
        bits &= 0xFFFFFFFF << 32
        if F64.is_nan(bits):
            return 0x7FFFFFFF << 32
        result = function(F64.flush(bits))
        return F64.flush(result) & 0xFFFFFFFF << 32

    return reference


def root(bits):
    """1/sqrt in double precision, to within half a unit in the last place and a bit."""
    if F64.is_nan(bits) or (F64.negative(bits) and bits != F64.sign):
        return F64.nan
    if bits & (F64.sign - 1) == 0:
        return bits | F64.infinity
    if F64.is_infinite(bits):
        return 0
    number = F64.value(bits)
    shift = 1200
    scaled = 4**shift * number.denominator // number.numerator
    return F64.round(Fraction(math.isqrt(scaled), 2**shift))


def plans():
    """Functions with their values, those at zeros and infinities, and tables of operands with the error allowed there."""
    zero, one = 0, 0x3F800000
    inverse = {0: INFINITY, 0x80000000: NEGATIVE_INFINITY}
    negative = lambda function: lambda x: math.nan if x < 0 else function(x)
    # The bounds are the manual's. An absolute bound over a binade is a number of units in the last place.
    return [
        (
            "rcp",
            lambda x: 1 / x,
            inverse | {INFINITY: zero, NEGATIVE_INFINITY: 0x80000000},
            [("approx_rcp", {"ulp": 2})],
        ),
        (
            "sqrt",
            negative(math.sqrt),
            {0: 0, 0x80000000: 0x80000000, INFINITY: INFINITY, NEGATIVE_INFINITY: NAN},
            [("approx_root", {"ulp": 2})],
        ),
        (
            "rsqrt",
            negative(lambda x: 1 / math.sqrt(x)),
            inverse | {INFINITY: zero, NEGATIVE_INFINITY: NAN},
            [("approx_root", {"ulp": 3})],
        ),
        ("sin", math.sin, {INFINITY: NAN}, [("approx_angle", {"abs": 2**-20.9}), ("approx_turn", {"abs": 2**-20.5})]),
        ("cos", math.cos, {INFINITY: NAN}, [("approx_angle", {"abs": 2**-20.9}), ("approx_turn", {"abs": 2**-20.5})]),
        (
            "lg2",
            negative(math.log2),
            {0: NEGATIVE_INFINITY, 0x80000000: NEGATIVE_INFINITY, INFINITY: INFINITY},
            [("approx_log", {"rel": 2**-22}), ("approx_mantissa", {"abs": 2**-22.6 + 2**-25})],
        ),
        (
            "ex2",
            lambda x: math.inf if x >= 128 else 0.0 if x < -150 else 2.0**x,
            {0: one, 0x80000000: one, INFINITY: INFINITY, NEGATIVE_INFINITY: zero},
            [("approx_exponent", {"rel": 2**-22}), ("approx_fraction", {"abs": 2**-22.5 + 2**-24})],
        ),
    ]


def families(tables):
    family = Family("approximate", __doc__.strip(), tables)
    for opcode, function, specials, cases in plans():
        for ftz in ("", ".ftz"):
            entry = f"{opcode}_approx{ftz.replace('.', '_')}_f32"
            (table, check), *others = cases
            family.elementwise(
                entry,
                [("f32", table)],
                "f32",
                [f"{opcode}.approx{ftz}.f32 %d, %a;"],
                on_numbers(function, specials),
                check=check,
            )
            for table, check in others:
                family.apply(
                    f"{entry}_{table.removeprefix('approx_')}",
                    entry,
                    [("f32", table)],
                    "f32",
                    on_numbers(function, specials),
                    check=check,
                )
    for kind in ("approx", "full"):
        for ftz in ("", ".ftz"):
            family.elementwise(
                f"div_{kind}{ftz.replace('.', '_')}_f32",
                [("f32", "approx_dividend"), ("f32", "approx_divisor")],
                "f32",
                [f"div.{kind}{ftz}.f32 %d, %a, %b;"],
                lambda a, b: div(F32, a, b),
                check={"ulp": 2},
            )
    family.elementwise(
        "rsqrt_approx_f64", [("f64", "approx_root_f64")], "f64", ["rsqrt.approx.f64 %d, %a;"], root, check={"ulp": 2}
    )
    return [family, whole_range(tables), halves(tables), upper_words(tables)]


def whole_range(tables):
    family = Family(
        "approximate_range", "Approximate instructions at the ends of their ranges, and tanh.approx.", tables
    )

    def case(opcode, table, reference, check, ftz, kind=""):
        entry = f"{opcode}_approx{ftz.replace('.', '_')}_f32_{table.removeprefix('approx_')}{kind}"
        family.elementwise(
            entry, [("f32", table)], "f32", [f"{opcode}.approx{ftz}.f32 %d, %a;"], flushing(ftz, reference), check=check
        )

    log = lambda bits: special_log(bits)
    for ftz in ("", ".ftz"):
        for table in ("approx_tiny", "approx_huge", "approx_any"):
            case("rcp", table, lambda a: div(F32, 0x3F800000, a), {"ulp": 2}, ftz)
            case("sqrt", table, lambda a: sqrt(F32, a), {"ulp": 2}, ftz)
            case("rsqrt", table, inverse_root, {"ulp": 3}, ftz)
            case("lg2", table, log, {"rel": 2**-22}, ftz)
        case("sin", "approx_wide", on_turns(math.sin), {"abs": 2**-20.5}, ftz)
        case("cos", "approx_wide", on_turns(math.cos), {"abs": 2**-20.5}, ftz)
        case("ex2", "approx_power", exponential, {"rel": 2**-22, "ulp": 2}, ftz)
        for kind, function in (("approx", by_reciprocal), ("full", lambda a, b: div(F32, a, b))):
            # Operands in every combination of their ends.
            for first, second in (("any", "huge"), ("any", "tiny"), ("huge", "huge"), ("tiny", "tiny"), ("huge", "tiny")):
                family.elementwise(
                    f"div_{kind}{ftz.replace('.', '_')}_f32_{first}_{second}",
                    [("f32", f"approx_{first}"), ("f32", f"approx_{second}")],
                    "f32",
                    [f"div.{kind}{ftz}.f32 %d, %a, %b;"],
                    flushing(ftz, function),
                    check={"ulp": 2},
                )
    case("tanh", "approx_tanh", hyperbolic_tangent, {"rel": 2**-10.9}, "")
    return family


def inverse_root(bits):
    if F32.is_nan(bits) or (F32.negative(bits) and bits != F32.sign):
        return NAN
    if bits & (F32.sign - 1) == 0:
        return bits | INFINITY
    if F32.is_infinite(bits):
        return 0
    number = F32.value(bits)
    return F32.round(Fraction(math.isqrt(4**600 * number.denominator // number.numerator), 2**600))


def special_log(bits):
    if F32.is_nan(bits) or (F32.negative(bits) and bits != F32.sign):
        return NAN
    if bits & (F32.sign - 1) == 0:
        return NEGATIVE_INFINITY
    return bits if F32.is_infinite(bits) else f32(math.log2(value(bits)))


def exponential(bits):
    if F32.is_nan(bits):
        return NAN
    if F32.is_infinite(bits):
        return 0 if F32.negative(bits) else INFINITY
    exponent = value(bits)
    return INFINITY if exponent >= 128 else F32.round(Fraction(2.0 ** max(exponent, -200.0)))


def by_reciprocal(a, b):
    """div.approx: the product with a reciprocal, which is zero for divisors above 2^126."""
    if F32.value(0x7E800000) < abs(F32.value(b & 0x7FFFFFFF)) and b & 0x7FFFFFFF < INFINITY:
        return mul(F32, a, b & F32.sign)
    return div(F32, a, b)


def hyperbolic_tangent(bits):
    if F32.is_nan(bits):
        return NAN
    if F32.is_infinite(bits):
        return bits & F32.sign | 0x3F800000
    # Subnormals are what they are.
    return bits if bits & 0x7FFFFFFF < F32.smallest_normal else f32(math.tanh(value(bits)))


def halves(tables):
    family = Family("approximate_half", "ex2.approx and tanh.approx on f16, bf16 and pairs.", tables)
    power = lambda x: 2.0**x
    for opcode, function, ftz, checks in (
        ("ex2", power, ".ftz", {"f16": {"rel": 2**-9.9, "ulp": 1}, "bf16": {"rel": 2**-7}}),
        ("tanh", math.tanh, "", {"f16": {"abs": 2**-10.987}, "bf16": {"abs": 2**-8}}),
    ):
        for ty, check in checks.items():
            flush = ftz if ty == "bf16" else ""
            reference = short(function, HALVES[ty], bool(flush))
            for form, storage, apply in ((ty, "b16", reference), (f"{ty}x2", "b32", split(reference))):
                table = f"{form}_u"
                family.elementwise(
                    f"{opcode}_approx{flush.replace('.', '_')}_{form}",
                    [(storage, table)],
                    storage,
                    [f"{opcode}.approx{flush}.{form} %d, %a;"],
                    apply,
                    count=len(tables[table][1]),
                    check=check,
                    compare=ty,
                )
    return family


def upper_words(tables):
    family = Family(
        "approximate_double", "rcp.approx.ftz.f64 and rsqrt.approx on f64, ends of the range included.", tables
    )
    one = F64.bias << F64.fraction
    for opcode, table, function in (("rcp", "approx_double", lambda a: div(F64, one, a)), ("rsqrt", "approx_positive", root)):
        family.elementwise(
            f"{opcode}_approx_ftz_f64",
            [("f64", table)],
            "f64",
            [f"{opcode}.approx.ftz.f64 %d, %a;"],
            upper(function),
            # A gross approximation, says the manual.
            check={"rel": 2**-18},
        )
    family.elementwise(
        "rsqrt_approx_f64", [("f64", "approx_positive")], "f64", ["rsqrt.approx.f64 %d, %a;"], root, check={"ulp": 2}
    )
    return family

"""Approximate instructions, against correctly rounded values and within the error that the PTX manual documents.

Operands stay where the manual and Vulkan both promise something: normal numbers with normal results, zeros, infinities
and NaN. Left to an exact version, whose values must be recorded from hardware: subnormal operands and results (hardware
keeps them without .ftz, where the manual's tables show them flushed), divisors above 2^126 for div.approx, and angles
outside of [-pi, pi].
"""

import math
import random
from fractions import Fraction

from .exact import F32, F64, div
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
    }


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


def families(tables):
    family = Family("approximate", __doc__.strip(), tables)
    zero, one = 0, 0x3F800000
    inverse = {0: INFINITY, 0x80000000: NEGATIVE_INFINITY}
    negative = lambda function: lambda x: math.nan if x < 0 else function(x)
    # The bounds are the manual's. Where it gives an absolute one over a binade, that is so many units in the last
    # place.
    plans = [
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
    for opcode, function, specials, cases in plans:
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
    return [family]

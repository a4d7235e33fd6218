"""IEEE arithmetic on f32 and f64, and what works on their bits: signs, tests, minimum and maximum."""

from . import exact
from .exact import F32, F64, FORMATS
from .ptx import Family


DIRECTED = ("rz", "rm", "rp")


def operands(ty, count, kind=""):
    return [(ty, f"{ty}_{kind}{letter}") for letter in "abc"[:count]]


def finished(fmt, function, modifiers):
    """An operation that rounds, with its operands and result flushed, and its result saturated, as modifiers ask for."""
    ftz, sat = ".ftz" in modifiers, ".sat" in modifiers
    directed = [mode for mode in DIRECTED if f".{mode}" in modifiers]
    mode = {"mode": directed[0]} if directed else {}

    def reference(*values):
        if ftz:
            values = [fmt.flush(value) for value in values]
        result = function(fmt, *values, **mode)
        if ftz and function in (exact.mul, exact.fma):
            result = exact.flush_product(fmt, function, values, result, **mode)
        elif ftz and function in (exact.div, reciprocal) and fmt.flush(function(fmt, *values, mode="rz")) & (fmt.sign - 1) == 0:
            # What is tiny is so however it is rounded.
            result &= fmt.sign
        elif ftz and not fmt.is_nan(result):
            result = fmt.flush(result)
        return exact.saturate(fmt, result) if sat else result

    return reference


def choices(*modifiers):
    """All ways to take or leave modifiers."""
    return [""] if not modifiers else [first + rest for first in ("", modifiers[0]) for rest in choices(*modifiers[1:])]


def ieee(family, opcode, ty, modifiers, function, count, letter=None, kind=""):
    """One form of an operation that rounds."""
    inputs = [(ty, f"{ty}_{letter}")] if letter else operands(ty, count, kind)
    registers = ", ".join(["%d", "%a", "%b", "%c"][: count + 1])
    form = f"{opcode}{modifiers}.{ty}"
    count = len(family.tables[inputs[0][1]][1])
    reference = finished(FORMATS[ty], function, modifiers)
    family.elementwise(form.replace(".", "_"), inputs, ty, [f"{form} {registers};"], reference, count=count)


def subtract(fmt, a, b, mode="rn"):
    return exact.add(fmt, a, b if fmt.is_nan(b) else b ^ fmt.sign, mode)


def sums(tables):
    family = Family("float_arithmetic", "add, sub, mul on f32 and f64.", tables)
    for opcode, function in (("add", exact.add), ("sub", subtract), ("mul", exact.mul)):
        for modifiers in choices(".rn", ".ftz", ".sat"):
            ieee(family, opcode, "f32", modifiers, function, 2)
        for modifiers in choices(".rn"):
            ieee(family, opcode, "f64", modifiers, function, 2)
    return family


def fused(tables):
    family = Family("float_fused", "fma and mad on f32 and f64.", tables)
    for opcode in ("fma", "mad"):
        for modifiers in choices(".ftz", ".sat"):
            ieee(family, opcode, "f32", f".rn{modifiers}", exact.fma, 3)
        ieee(family, opcode, "f64", ".rn", exact.fma, 3)
    return family


def reciprocal(fmt, a, mode="rn"):
    return exact.div(fmt, fmt.bias << fmt.fraction, a, mode)


def directed(tables):
    family = Family(
        "float_directed", "add, sub, mul, fma, mad on f32 and f64, rounded to one side.", tables
    )
    for mode in DIRECTED:
        for opcode, function, count in (
            ("add", exact.add, 2),
            ("sub", subtract, 2),
            ("mul", exact.mul, 2),
            ("fma", exact.fma, 3),
            ("mad", exact.fma, 3),
        ):
            for modifiers in choices(".ftz", ".sat"):
                ieee(family, opcode, "f32", f".{mode}{modifiers}", function, count, kind="d")
            ieee(family, opcode, "f64", f".{mode}", function, count, kind="d")
    return family


def directed_quotients(tables):
    family = Family(
        "float_directed_quotients", "div, rcp, sqrt on f32 and f64, rounded to one side.", tables
    )
    for mode in DIRECTED:
        for opcode, function, count, letter in (
            ("div", exact.div, 2, None),
            ("rcp", reciprocal, 1, "da"),
            ("sqrt", exact.sqrt, 1, "da"),
        ):
            for ty, ftz in (("f32", ""), ("f32", ".ftz"), ("f64", "")):
                ieee(family, opcode, ty, f".{mode}{ftz}", function, count, letter, kind="d")
    return family


def quotients(tables):
    family = Family("float_quotients", "div.rn, rcp.rn, sqrt.rn on f32 and f64.", tables)
    for opcode, function, count, letter in (
        ("div", exact.div, 2, None),
        ("rcp", reciprocal, 1, "u"),
        ("sqrt", exact.sqrt, 1, "u"),
    ):
        for ty, modifiers in (("f32", ".rn"), ("f32", ".rn.ftz"), ("f64", ".rn")):
            ieee(family, opcode, ty, modifiers, function, count, letter)
    return family


def extremum(fmt, largest, ftz, propagate):
    def reference(a, b):
        if ftz:
            a, b = fmt.flush(a), fmt.flush(b)
        nans = fmt.is_nan(a), fmt.is_nan(b)
        if all(nans) and fmt is F64:
            return b | fmt.quiet
        if all(nans) or (any(nans) and propagate):
            return fmt.nan
        if any(nans):
            return b if nans[0] else a
        # Negative zero is less than positive zero.
        key = lambda bits: -(bits & (fmt.sign - 1)) - 1 if fmt.negative(bits) else bits
        return (max if largest else min)(a, b, key=key)

    return reference


def classify(fmt, kind):
    def reference(bits):
        magnitude = bits & (fmt.sign - 1)
        return int(
            {
                "finite": magnitude < fmt.infinity,
                "infinite": magnitude == fmt.infinity,
                "number": magnitude <= fmt.infinity,
                "notanumber": magnitude > fmt.infinity,
                # Zeros count as normal.
                "normal": magnitude == 0 or fmt.smallest_normal <= magnitude < fmt.infinity,
                "subnormal": 0 < magnitude < fmt.smallest_normal,
            }[kind]
        )

    return reference


def signed_nan(fmt, bits):
    """What abs and neg make of a NaN on hardware: f32's one NaN, or f64's own made quiet, its sign kept. None for numbers."""
    if not fmt.is_nan(bits):
        return None
    return fmt.nan if fmt is F32 else bits | fmt.quiet


def signs(tables):
    family = Family("float_bits", "abs, neg, copysign, testp, min, max on f32 and f64, compared bit by bit.", tables)
    bits = {"nan": "bits"}
    for ty, fmt in FORMATS.items():
        flushing = ("", ".ftz") if fmt is F32 else ("",)
        unit = [(ty, f"{ty}_u")]
        for ftz in flushing:
            suffix = ftz.replace(".", "_") + f"_{ty}"
            prepare = fmt.flush if ftz else lambda a: a
            family.elementwise(
                f"abs{suffix}",
                unit,
                ty,
                [f"abs{ftz}.{ty} %d, %a;"],
                lambda a, fmt=fmt, prepare=prepare: signed_nan(fmt, a) or prepare(a) & (fmt.sign - 1),
                check=bits,
            )
            family.elementwise(
                f"neg{suffix}",
                unit,
                ty,
                [f"neg{ftz}.{ty} %d, %a;"],
                lambda a, fmt=fmt, prepare=prepare: signed_nan(fmt, a) or prepare(a) ^ fmt.sign,
                check=bits,
            )
        for opcode in ("min", "max"):
            for modifiers in choices(".ftz", ".NaN") if fmt is F32 else ("",):
                form = f"{opcode}{modifiers}.{ty}"
                reference = extremum(fmt, opcode == "max", ".ftz" in modifiers, ".NaN" in modifiers)
                pairs = [(ty, f"{ty}_x"), (ty, f"{ty}_y")]
                family.elementwise(form.replace(".", "_"), pairs, ty, [f"{form} %d, %a, %b;"], reference, check=bits)
        family.elementwise(
            f"copysign_{ty}",
            operands(ty, 2),
            ty,
            [f"copysign.{ty} %d, %a, %b;"],
            lambda a, b, fmt=fmt: a & fmt.sign | b & (fmt.sign - 1),
            check=bits,
        )
        for kind in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
            family.elementwise(
                f"testp_{kind}_{ty}",
                unit,
                "u32",
                [f"testp.{kind}.{ty} %q, %a;", "selp.b32 %d, 1, 0, %q;"],
                classify(fmt, kind),
                ".reg .pred %q;",
            )
    return family


def families(tables):
    return [
        sums(tables), fused(tables), quotients(tables), directed(tables), directed_quotients(tables), signs(tables)
    ]

"""Comparisons, extremes, roots, reciprocals, signs and conversions of constants, and sums, products and quotients of constants alone.

Any NaN is right here: NVIDIA's assembler computes with constant NaNs as its instructions don't (docs/numerics.md)."""

from fractions import Fraction

from . import exact
from .compare import FLOAT_OPERATORS, predicate
from .constants import literal, numbers, operands
from .convert import ROUNDINGS, between_floats, to_integer
from .exact import FORMATS, bounds, number, width
from .floats import extremum, reciprocal, signed_nan, subtract
from .ptx import Family
from .values import float_value

# Integers that a conversion rounds, and those at the ends of their types.
INTEGERS = (0, 1, -1, 2, 3, 255, 256, 2**24 + 1, 2**31 - 1, -(2**31), 2**32 - 1, 2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1)


def constants(fmt):
    """Those of sums and products, and what lies at the ends of a format's range and of integers'."""
    more = [float_value(fmt, value) for value in (0.25, 2.5, -0.75, 2.0**31, -(2.0**31), 2.0**32, 2.0**63)]
    return numbers(fmt) + more + [1, fmt.sign | 1, fmt.smallest_normal, fmt.infinity - 1]


def compared(tables):
    """Every operator with constants on either side, and one value on both. A result has a bit for each."""
    family = Family("float_constants_compared", "Comparisons of floats with constants, and of one value with itself.", tables)
    for ty, fmt in FORMATS.items():
        places = [place for bits in constants(fmt) for place in ((bits, "a"), ("a", bits))] + [("a", "a")]
        for operator in FLOAT_OPERATORS:
            form = f"setp.{operator}.{ty}"
            body = ["mov.b64 %d, 0;"]
            for index, place in enumerate(places):
                written = ", ".join("%a" if value == "a" else literal(ty, value) for value in place)
                body += [f"{form} %q, {written};", f"selp.b64 %s, {1 << index}, 0, %q;", "or.b64 %d, %d, %s;"]

            def reference(a, test=predicate(operator, ty, False), places=places):
                holds = (test(*(a if value == "a" else value for value in place)) for place in places)
                return sum(bit << index for index, bit in enumerate(holds))

            inputs = operands(family, ty)[:1]
            family.elementwise(
                form.replace(".", "_"), inputs, "b64", body, reference, ".reg .pred %q; .reg .b64 %s;",
                count=len(family.tables[inputs[0][1]][1]),
            )  # fmt: skip
    return family


def extremes(tables):
    family = Family("float_constants_extremes", "The lesser and the greater of a number and a constant.", tables)
    for ty, fmt in FORMATS.items():
        places = [place for bits in constants(fmt) for place in ((bits, "a"), ("a", bits))] + [("a", "a")]
        for opcode in ("min", "max"):
            for modifier in ("", ".NaN") if ty == "f32" else ("",):
                form = f"{opcode}{modifier}.{ty}"
                body = [
                    f"{form} %d{index}, {', '.join('%a' if value == 'a' else literal(ty, value) for value in place)};"
                    for index, place in enumerate(places)
                ]
                extreme = extremum(fmt, opcode == "max", False, bool(modifier))

                def reference(a, extreme=extreme, places=places):
                    return [extreme(*(a if value == "a" else value for value in place)) for place in places]

                inputs = operands(family, ty)[:1]
                family.elementwise(
                    form.replace(".", "_"), inputs, [ty] * len(places), body, reference,
                    count=len(family.tables[inputs[0][1]][1]),
                )  # fmt: skip
    return family


def alone(family, name, to, form, source, values, function):
    """A kernel of one thread that applies a form to constants alone. Its register is as wide as `source`, whose literals are `values`."""
    size = width(source)
    body = []
    for index, value in enumerate(values):
        arguments = value if isinstance(value, tuple) else (value,)
        names = []
        for place, argument in enumerate(arguments):
            body.append(f"mov.b{size} %k{place}, {argument:#x};")
            names.append(f"%k{place}")
        body.append(f"{form} %d{index}, {', '.join(names)};")
    inputs = operands(family, "f32")[:1]
    family.elementwise(
        name, inputs, [to] * len(values), body, lambda a: list(map(function, values)), f".reg .b{size} %k0, %k1;",
        count=1,
    )  # fmt: skip


def folded(tables):
    family = Family("float_constants_folded", "Operations whose operands are all constants.", tables)
    for ty, fmt in FORMATS.items():
        values = constants(fmt)
        for opcode, function in (("add", exact.add), ("sub", subtract), ("mul", exact.mul), ("div", exact.div)):
            some = numbers(fmt) + values[-2:]
            pairs = [(x, y) for x in some for y in some]
            alone(family, f"{opcode}_{ty}", ty, f"{opcode}.rn.{ty}", ty, pairs, lambda pair, f=function, fmt=fmt: f(fmt, *pair))
        for opcode, function in (("sqrt.rn", exact.sqrt), ("rcp.rn", reciprocal)):
            name = f"{opcode}.{ty}".replace(".", "_")
            alone(family, name, ty, f"{opcode}.{ty}", ty, values, lambda bits, f=function, fmt=fmt: f(fmt, bits))
        alone(
            family, f"abs_{ty}", ty, f"abs.{ty}", ty, values, lambda a, fmt=fmt: signed_nan(fmt, a) or a & (fmt.sign - 1)
        )  # fmt: skip
        alone(family, f"neg_{ty}", ty, f"neg.{ty}", ty, values, lambda a, fmt=fmt: signed_nan(fmt, a) or a ^ fmt.sign)
        for to in ("s32", "u32", "s64", "u64"):
            for mode in ROUNDINGS:
                name = f"{mode}_{to}_{ty}"
                alone(family, name, to, f"cvt.{mode}.{to}.{ty}", ty, values, to_integer(ty, to, mode, False))
            low, high = bounds(to)
            integers = [value & (1 << width(to)) - 1 for value in INTEGERS if low <= value <= high]
            alone(
                family, f"rn_{ty}_{to}", ty, f"cvt.rn.{ty}.{to}", to, integers,
                lambda a, fmt=fmt, to=to: fmt.round(Fraction(number(a, to))),
            )  # fmt: skip
        for mode in ROUNDINGS:
            alone(family, f"{mode}_{ty}", ty, f"cvt.{mode}.{ty}.{ty}", ty, values, between_floats(ty, ty, mode, ""))
    alone(family, "f32_to_f64", "f64", "cvt.f64.f32", "f32", constants(FORMATS["f32"]), between_floats("f64", "f32", None, ""))
    alone(family, "f64_to_f32", "f32", "cvt.rn.f32.f64", "f64", constants(FORMATS["f64"]), between_floats("f32", "f64", None, ""))
    return family


def families(tables):
    return [compared(tables), extremes(tables), folded(tables)]

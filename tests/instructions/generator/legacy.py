"""Old modules: what PTX before 1.4 means by forms without modifiers, and targets that flush subnormal numbers everywhere."""

from . import approximate, exact
from .compare import predicate
from .convert import between_floats, name, to_integer
from .exact import F32, F64
from .floats import extremum, finished, operands, reciprocal, signed_nan, subtract
from .ptx import Family

COUNT = 48


class Old(Family):
    """A family of a version in which places in the grid have 16 bits, and kernels may declare parameters in their bodies."""

    def __init__(self, name, purpose, tables, version, target="sm_13"):
        super().__init__(name, purpose, tables, header=f".version {version}\n.target {target}\n")
        self.in_body = version < "1.4"

    def kernel(self, name, params, registers, body, directives=""):
        body = [line.replace("mov.u32 %t, %tid.x;", "cvt.u32.u16 %t, %tid.x;") for line in body]
        if self.in_body:
            params, registers = [], [*(f"{param};" for param in params), *registers]
        super().kernel(name, params, registers, body, directives)


def defaults(tables):
    family = Old(
        "legacy_defaults", "PTX before 1.4: quotients, roots, sums of products and functions without modifiers; parameters in bodies.",
        tables, "1.3",
    )
    for opcode, function, specials, cases in approximate.plans():
        table, check = cases[0]
        reference = approximate.flushing(True, approximate.on_numbers(function, specials))
        family.elementwise(f"{opcode}_f32", [("f32", table)], "f32", [f"{opcode}.f32 %d, %a;"], reference, check=check)
    family.elementwise(
        "div_f32", [("f32", "approx_dividend"), ("f32", "approx_divisor")], "f32", ["div.f32 %d, %a, %b;"],
        approximate.flushing(True, lambda a, b: exact.div(F32, a, b)), check={"ulp": 2},
    )
    # A subnormal operand is zero, so that the quotient is infinite.
    family.elementwise(
        "rcp_f32_tiny", [("f32", "approx_tiny")], "f32", ["rcp.f32 %d, %a;"],
        approximate.flushing(True, lambda a: reciprocal(F32, a)), check={"ulp": 2},
    )
    for opcode, function, inputs in (
        ("div", exact.div, operands("f64", 2)), ("mad", exact.fma, operands("f64", 3)),
        ("rcp", reciprocal, [("f64", "f64_u")]), ("sqrt", exact.sqrt, [("f64", "f64_u")]),
    ):
        registers = ", ".join(["%d", "%a", "%b", "%c"][: len(inputs) + 1])
        reference = finished(F64, function, "")
        family.elementwise(f"{opcode}_f64", inputs, "f64", [f"{opcode}.f64 {registers};"], reference, count=COUNT)
    family.elementwise(
        "rsqrt_f64", [("f64", "approx_root_f64")], "f64", ["rsqrt.f64 %d, %a;"], approximate.root, check={"ulp": 2}
    )
    return family


def arithmetic(family):
    for opcode, function, count in (("add", exact.add, 2), ("sub", subtract, 2), ("mul", exact.mul, 2), ("mad", exact.fma, 3)):
        for modifiers in ("", ".sat") if opcode == "mad" else ("", ".rz", ".sat"):
            form = f"{opcode}{modifiers}.f32"
            registers = ", ".join(["%d", "%a", "%b", "%c"][: count + 1])
            reference = finished(F32, function, f"{modifiers}.ftz")
            family.elementwise(name(form), operands("f32", count), "f32", [f"{form} {registers};"], reference, count=COUNT)
    for opcode in ("min", "max"):
        reference = extremum(F32, opcode == "max", True, False)
        pair = [("f32", "f32_x"), ("f32", "f32_y")]
        family.elementwise(f"{opcode}_f32", pair, "f32", [f"{opcode}.f32 %d, %a, %b;"], reference, check={"nan": "bits"})
    unit = [("f32", "f32_u")]
    for opcode, change in (("abs", lambda a: a & ~F32.sign), ("neg", lambda a: a ^ F32.sign)):
        reference = lambda a, change=change: signed_nan(F32, a) or change(F32.flush(a))
        family.elementwise(f"{opcode}_f32", unit, "f32", [f"{opcode}.f32 %d, %a;"], reference, check={"nan": "bits"})
    family.elementwise(
        "rcp_approx_f32_tiny", [("f32", "approx_tiny")], "f32", ["rcp.approx.f32 %d, %a;"],
        approximate.flushing(True, lambda a: reciprocal(F32, a)), check={"ulp": 2},
    )


def comparisons(family):
    pair = [("f32", "f32_x"), ("f32", "f32_y")]
    for operator in ("eq", "ne", "lt", "ge", "leu", "gtu"):
        test = predicate(operator, "f32", True)
        body = [f"setp.{operator}.f32 %p, %a, %b;", "selp.u32 %d, 1, 0, %p;"]
        family.elementwise(f"setp_{operator}_f32", pair, "u32", body, test, ".reg .pred %p;")
        family.elementwise(
            f"set_{operator}_f32", pair, "u32", [f"set.{operator}.u32.f32 %d, %a, %b;"],
            lambda a, b, test=test: test(a, b) * 0xFFFFFFFF,
        )
    test = predicate("ge", "f32", True)
    family.elementwise(
        "slct_u32_f32", [("u32", "i32_a"), ("u32", "i32_b"), ("f32", "f32_u")], "u32", ["slct.u32.f32 %d, %a, %b, %c;"],
        lambda a, b, c: a if test(c, 0) else b,
    )


def conversions(family, wide):
    """`wide`: whether conversions from or to 64 bits flush too."""
    kept = ".ftz" if wide else ""
    for to, source, modifiers, table in (
        ("f32", "f32", ".ftz", "f32_u"), ("f64", "f32", kept, "f32_u"), ("f32", "f64", kept, "f64_n"),
    ):
        form = f"cvt{'.rn' if source == 'f64' else ''}.{to}.{source}"
        family.elementwise(name(form), [(source, table)], to, [f"{form} %d, %a;"], between_floats(to, source, None, modifiers))
    for mode in ("rpi", "rmi"):
        reference = between_floats("f32", "f32", mode, ".ftz")
        form = f"cvt.{mode}.f32.f32"
        family.elementwise(name(form), [("f32", "f32_i")], "f32", [f"{form} %d, %a;"], reference)
        for to, flushes in (("s32", True), ("u32", True), ("s64", wide)):
            form = f"cvt.{mode}.{to}.f32"
            reference = to_integer("f32", to, mode, flushes)
            family.elementwise(name(form), [("f32", "f32_u")], to, [f"{form} %d, %a;"], reference)


def flushed(tables):
    family = Old("legacy_flushed", "Targets before sm_20: f32 is flushed in every instruction.", tables, "2.0")
    arithmetic(family)
    comparisons(family)
    conversions(family, True)
    return family


def old_conversions(tables):
    family = Old(
        "legacy_conversions", "PTX up to 1.4 for targets before sm_20: conversions from or to 64 bits flush nothing.",
        tables, "1.4",
    )
    conversions(family, False)
    return family


def fused(tables):
    family = Old("legacy_fused", "PTX up to 3.1: mad on floats without a rounding.", tables, "3.1", "sm_20")
    for modifiers in ("", ".ftz", ".sat"):
        form = f"mad{modifiers}.f32"
        reference = finished(F32, exact.fma, modifiers)
        family.elementwise(name(form), operands("f32", 3), "f32", [f"{form} %d, %a, %b, %c;"], reference, count=COUNT)
    return family


def families(tables):
    return [defaults(tables), flushed(tables), old_conversions(tables), fused(tables)]

"""cvt between all integer and floating-point types."""

from fractions import Fraction

from . import exact
from .exact import F32, FORMATS, HALVES, bounds, clamp, number, round_integral, width, wrap
from .ptx import Family

INTEGERS = ["u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"]
ROUNDINGS = ["rni", "rzi", "rmi", "rpi"]
COUNT = 40


def name(form):
    return form.replace(".", "_")


def saturates(to, source):
    """`.sat` is legal only where the destination can't hold every source value."""
    low, high = bounds(to)
    source_low, source_high = bounds(source)
    return source_low < low or source_high > high


def extend(bits, ty, size):
    """What a register of `size` bits holds after a result of a narrower type."""
    return number(bits, ty) & ((1 << size) - 1)


def integers(tables):
    family = Family("convert_integer", "cvt between integers, with and without .sat.", tables)
    for to in INTEGERS:
        for source in INTEGERS:
            operand = [(source, f"i{width(source)}_u")]
            family.elementwise(
                f"cvt_{to}_{source}",
                operand,
                to,
                [f"cvt.{to}.{source} %d, %a;"],
                lambda a, to=to, source=source: wrap(number(a, source), to),
                count=COUNT,
            )
            if saturates(to, source):
                family.elementwise(
                    f"cvt_sat_{to}_{source}",
                    operand,
                    to,
                    [f"cvt.sat.{to}.{source} %d, %a;"],
                    lambda a, to=to, source=source: wrap(clamp(number(a, source), to), to),
                    count=COUNT,
                )
    return family


def from_integer(to, source, saturate):
    def reference(a):
        bits = FORMATS[to].round(Fraction(number(a, source)))
        return exact.saturate(FORMATS[to], bits) if saturate else bits

    return reference


def integers_to_floats(tables):
    family = Family("convert_from_integer", "cvt.rn from integers to floats.", tables)
    for to in FORMATS:
        for source in INTEGERS:
            family.elementwise(
                f"cvt_rn_{to}_{source}",
                [(source, f"i{width(source)}_u")],
                to,
                [f"cvt.rn.{to}.{source} %d, %a;"],
                from_integer(to, source, False),
                count=COUNT,
            )
    return family


def integers_to_floats_modified(tables):
    family = Family(
        "convert_from_integer_modified",
        "cvt.rn from integers to floats with .sat, and with .ftz, which changes nothing.",
        tables,
    )
    for to, modifiers in (("f32", ".sat"), ("f32", ".ftz"), ("f32", ".ftz.sat"), ("f64", ".sat")):
        for source in INTEGERS:
            form = f"cvt.rn{modifiers}.{to}.{source}"
            family.elementwise(
                name(form),
                [(source, f"i{width(source)}_u")],
                to,
                [f"{form} %d, %a;"],
                from_integer(to, source, ".sat" in modifiers),
                count=16,
            )
    return family


def to_integer(source, to, mode, ftz):
    fmt = (FORMATS | HALVES)[source]

    def reference(bits):
        if ftz:
            bits = fmt.flush(bits)
        if fmt.is_nan(bits):
            # What hardware gives; the manual says zero for all.
            return 1 << (width(to) - 1) if width(to) == 64 or source == "f64" else 0
        if fmt.is_infinite(bits):
            return wrap(bounds(to)[0 if fmt.negative(bits) else 1], to)
        return wrap(clamp(round_integral(fmt.value(bits), mode), to), to)

    return reference


def floats_to_integers(tables, source, flushing):
    family = Family(
        f"convert_{source}_to_integer{flushing.replace('.', '_')}",
        f"cvt{flushing} from {source} to integers in every rounding.",
        tables,
    )
    for to in INTEGERS:
        for mode in ROUNDINGS:
            form = f"cvt.{mode}{flushing}.{to}.{source}"
            family.elementwise(
                name(form),
                [(source, f"{source}_i")],
                to,
                [f"{form} %d, %a;"],
                to_integer(source, to, mode, bool(flushing)),
            )
    return family


def floats_to_integers_saturating(tables):
    family = Family("convert_to_integer_sat", "cvt.sat from floats to integers, where .sat changes nothing.", tables)
    for place, to in enumerate(INTEGERS):
        for source, modifiers in (("f32", ".sat"), ("f32", ".ftz.sat"), ("f64", ".sat")):
            mode = ROUNDINGS[place % 4]
            form = f"cvt.{mode}{modifiers}.{to}.{source}"
            family.elementwise(
                name(form),
                [(source, f"{source}_i")],
                to,
                [f"{form} %d, %a;"],
                to_integer(source, to, mode, ".ftz" in modifiers),
            )
    return family


def between_floats(to, source, mode, modifiers):
    """Rounds to an integral value if asked to, converts, flushes single precision on either side, saturates."""
    source_format, format_ = FORMATS[source], FORMATS[to]

    def reference(bits):
        if ".ftz" in modifiers and source == "f32":
            bits = source_format.flush(bits)
        negative = source_format.negative(bits)
        if source_format.is_nan(bits):
            result = format_.nan
        elif source_format.is_infinite(bits):
            result = format_.infinity | negative * format_.sign
        else:
            value = source_format.value(bits)
            value = Fraction(round_integral(value, mode)) if mode else value
            # Hardware flushes what is below the least normal number when rounded to full precision, as if the exponent
            # went on. Half a unit of the last place below it is a quarter of that above it.
            least = format_.value(format_.smallest_normal) * (1 - Fraction(2) ** -(format_.fraction + 2))
            if ".ftz" in modifiers and to == "f32" and abs(value) < least:
                value = Fraction(0)
            result = format_.round(value, negative)
        if ".ftz" in modifiers and to == "f32" and not format_.is_nan(result):
            result = format_.flush(result)
        return exact.saturate(format_, result) if ".sat" in modifiers else result

    return reference


def float_form(family, to, source, mode, modifiers, table):
    form = f"cvt{'.' + mode if mode else ''}{modifiers}.{to}.{source}"
    integral = mode if mode in ROUNDINGS else None
    family.elementwise(
        name(form), [(source, table)], to, [f"{form} %d, %a;"], between_floats(to, source, integral, modifiers)
    )


def floats(tables):
    family = Family("convert_float", "cvt between f32 and f64.", tables)
    for modifiers in ("", ".ftz", ".sat", ".ftz.sat"):
        float_form(family, "f32", "f32", "", modifiers, "f32_u")
        float_form(family, "f32", "f64", "rn", modifiers, "f64_n")
    for mode in ROUNDINGS:
        for modifiers in ("", ".ftz"):
            float_form(family, "f32", "f32", mode, modifiers, "f32_i")
        float_form(family, "f64", "f64", mode, "", "f64_i")
    for modifiers in ("", ".ftz"):
        float_form(family, "f64", "f32", "", modifiers, "f32_u")
    float_form(family, "f64", "f64", "", "", "f64_u")
    return family


def floats_saturating(tables):
    family = Family("convert_float_sat", "cvt.sat between floats in the forms that compilers don't emit.", tables)
    for mode in ROUNDINGS:
        for modifiers in (".sat", ".ftz.sat"):
            float_form(family, "f32", "f32", mode, modifiers, "f32_i")
        float_form(family, "f64", "f64", mode, ".sat", "f64_i")
    for modifiers in (".sat", ".ftz.sat"):
        float_form(family, "f64", "f32", "", modifiers, "f32_u")
    float_form(family, "f64", "f64", "", ".sat", "f64_u")
    return family


def wide_registers(tables):
    family = Family(
        "convert_wide_registers", "cvt with registers wider than its types: results are extended, operands cut.", tables
    )
    for to in INTEGERS:
        if width(to) == 64:
            continue
        for size in (size for size in (16, 32, 64) if size > width(to)):
            family.elementwise(
                f"cvt_{to}_s64_into_b{size}",
                [("s64", "i64_u")],
                f"b{size}",
                [f"cvt.{to}.s64 %d, %a;"],
                lambda a, to=to, size=size: extend(wrap(a, to), to, size),
                count=COUNT,
            )
            family.elementwise(
                f"cvt_rzi_{to}_f32_into_b{size}",
                [("f32", "f32_i")],
                f"b{size}",
                [f"cvt.rzi.{to}.f32 %d, %a;"],
                lambda a, to=to, size=size: extend(to_integer("f32", to, "rzi", False)(a), to, size),
                count=COUNT,
            )
            family.elementwise(
                f"cvt_s64_{to}_from_b{size}",
                [(f"b{size}", f"i{size}_a")],
                "s64",
                [f"cvt.s64.{to} %d, %a;"],
                lambda a, to=to: number(wrap(a, to), to) & ((1 << 64) - 1),
                count=COUNT,
            )
            family.elementwise(
                f"cvt_rn_f32_{to}_from_b{size}",
                [(f"b{size}", f"i{size}_a")],
                "f32",
                [f"cvt.rn.f32.{to} %d, %a;"],
                lambda a, to=to: F32.round(Fraction(number(wrap(a, to), to))),
                count=COUNT,
            )
    return family


def families(tables):
    return [
        integers(tables),
        integers_to_floats(tables),
        integers_to_floats_modified(tables),
        floats_to_integers(tables, "f32", ""),
        floats_to_integers(tables, "f32", ".ftz"),
        floats_to_integers(tables, "f64", ""),
        floats_to_integers_saturating(tables),
        floats(tables),
        floats_saturating(tables),
        wide_registers(tables),
    ]

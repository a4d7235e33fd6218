"""f16, bf16 and pairs of them: arithmetic, signs, minimum and maximum, comparisons."""

from . import exact
from .compare import COMBINE, FLOAT_OPERATORS, collect, integer_operators, predicate
from .exact import HALVES, width
from .floats import choices, extremum, finished, subtract
from .ptx import Family

TYPES = ["f16", "f16x2", "bf16", "bf16x2"]


def single(ty):
    """The type of the halves of a pair; others as they are."""
    return ty.removesuffix("x2")


def storage(ty):
    return "b32" if ty.endswith("x2") else "b16"


def split(function):
    """A function of halves, applied to both halves of words."""

    def on_pairs(*words):
        low = function(*(word & 0xFFFF for word in words))
        return low | function(*(word >> 16 for word in words)) << 16

    return on_pairs


def apply(family, form, ty, letters, reference, bits=False, count=None):
    """A form on the tables of its type."""
    inputs = [(storage(ty), f"{ty}_{letter}") for letter in letters]
    registers = ", ".join(["%d", "%a", "%b", "%c"][: len(letters) + 1])
    family.elementwise(
        form.replace(".", "_"),
        inputs,
        storage(ty),
        [f"{form} {registers};"],
        split(reference) if ty.endswith("x2") else reference,
        count=count or len(family.tables[inputs[0][1]][1]),
        check={"nan": "bits"} if bits else None,
        compare=single(ty),
    )


def relu(fmt, bits):
    """+0.0 for what has a sign, the one NaN for any."""
    if fmt.is_nan(bits):
        return fmt.nan
    return 0 if fmt.negative(bits) else bits


def rectified(reference, fmt):
    return lambda *values: relu(fmt, reference(*values))


def arithmetic(tables):
    family = Family("half_arithmetic", "add, sub, mul, fma on f16, bf16 and pairs.", tables)
    for ty in TYPES:
        fmt = HALVES[single(ty)]
        flushing = fmt is exact.F16
        for opcode, function in (("add", exact.add), ("sub", subtract), ("mul", exact.mul)):
            for modifiers in choices(".rn", ".ftz", ".sat") if flushing else choices(".rn"):
                form = f"{opcode}{modifiers}.{ty}"
                apply(family, form, ty, "ab", finished(fmt, function, modifiers))
        for modifiers in choices(".ftz", ".sat") if flushing else [""]:
            apply(family, f"fma.rn{modifiers}.{ty}", ty, "abc", finished(fmt, exact.fma, modifiers))
        for modifiers in choices(".ftz") if flushing else [""]:
            reference = rectified(finished(fmt, exact.fma, modifiers), fmt)
            apply(family, f"fma.rn{modifiers}.relu.{ty}", ty, "abc", reference)
    return family


def signs(tables):
    family = Family(
        "half_bits", "abs, neg, min, max on f16, bf16 and pairs, and .xorsign.abs on f32, bit by bit.", tables
    )
    for ty in TYPES:
        fmt = HALVES[single(ty)]
        flushing = (".ftz",) if fmt is exact.F16 else ()
        for modifiers in choices(*flushing):
            prepare = fmt.flush if modifiers else lambda a: a
            changes = {"abs": lambda a, fmt=fmt: a & (fmt.sign - 1), "neg": lambda a, fmt=fmt: a ^ fmt.sign}
            for opcode, change in changes.items():
                reference = lambda a, fmt=fmt, prepare=prepare, change=change: (
                    fmt.nan if fmt.is_nan(a) else change(prepare(a))
                )
                apply(family, f"{opcode}{modifiers}.{ty}", ty, "u", reference, bits=True)
        for opcode in ("min", "max"):
            for modifiers in choices(*flushing, ".NaN", ".xorsign.abs"):
                apply(family, f"{opcode}{modifiers}.{ty}", ty, "xy", signed_extremum(fmt, opcode, modifiers), bits=True)
    for opcode in ("min", "max"):
        for modifiers in choices(".ftz", ".NaN"):
            form = f"{opcode}{modifiers}.xorsign.abs.f32"
            reference = signed_extremum(exact.F32, opcode, f"{modifiers}.xorsign.abs")
            pair = [("f32", "f32_x"), ("f32", "f32_y")]
            check = {"nan": "bits"}
            family.elementwise(form.replace(".", "_"), pair, "f32", [f"{form} %d, %a, %b;"], reference, check=check)
    return family


def signed_extremum(fmt, opcode, modifiers):
    choose = extremum(fmt, opcode == "max", ".ftz" in modifiers, ".NaN" in modifiers)
    if ".xorsign" not in modifiers:
        return choose

    def reference(a, b):
        result = choose(a & (fmt.sign - 1), b & (fmt.sign - 1))
        return result if fmt.is_nan(result) else result & (fmt.sign - 1) | (a ^ b) & fmt.sign

    return reference


def flushings(ty):
    return ("", ".ftz") if single(ty) == "f16" else ("",)


def half_predicate(operator, ty, ftz):
    return predicate(operator, single(ty), ftz)


def setp(tables):
    family = Family(
        "half_setp",
        "setp on f16, bf16 and pairs. The result has a bit for every predicate: those of the plain form, then those\n"
        "combined with c, and with !c, by and, or, xor.",
        tables,
    )
    for ty in TYPES:
        paired = ty.endswith("x2")
        for operator in FLOAT_OPERATORS:
            for ftz in flushings(ty):
                destination = "%p|%q" if paired else "%p"
                collected = lambda bit, first=False: collect(bit, first)[: None if paired else 1 if first else 2]
                step = 2 if paired else 1
                body = ["setp.ne.u32 %k, %c, 0;", f"setp.{operator}{ftz}.{ty} {destination}, %a, %b;"]
                body += collected(0, True)
                bit = step
                for combination in COMBINE:
                    for third in ("%k", "!%k"):
                        body.append(f"setp.{operator}.{combination}{ftz}.{ty} {destination}, %a, %b, {third};")
                        body += collected(bit)
                        bit += step

                def reference(a, b, c, test=half_predicate(operator, ty, bool(ftz)), paired=paired):
                    holds = [test(a & 0xFFFF, b & 0xFFFF)] + ([test(a >> 16, b >> 16)] if paired else [])
                    bits = list(holds)
                    for combine in COMBINE.values():
                        for third in (c, 1 - c):
                            bits += [combine(lane, third) for lane in holds]
                    return sum(value << index for index, value in enumerate(bits))

                family.elementwise(
                    f"setp_{operator}{ftz.replace('.', '_')}_{ty}",
                    [(storage(ty), f"{ty}_x"), (storage(ty), f"{ty}_y"), ("u32", "flag")],
                    "u32",
                    body,
                    reference,
                    ".reg .pred %p, %q, %k; .reg .b32 %s;",
                )
    return family


def set_forms():
    """Destination type, source type, operator and flush modifier of `set` where either type has 16 bits."""
    for ty in TYPES:
        for operator in FLOAT_OPERATORS:
            for ftz in flushings(ty):
                to_integers = ("u32", "s32") if ty.endswith("x2") else ("u16", "s16", "u32", "s32")
                yield from ((to, ty, operator, ftz) for to in (*to_integers, ty))
    for to in HALVES:
        for ty in ("f32", "f64", "f16"):
            for operator in FLOAT_OPERATORS:
                if (to, ty) != ("f16", "f16"):
                    yield to, ty, operator, ""
                if (to, ty) == ("f16", "f32"):
                    yield to, ty, operator, ".ftz"
        for ty in ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64"):
            for operator in integer_operators(ty):
                yield to, ty, operator, ""


def set_(tables):
    """One family for each kind of operand: every case reads its whole file."""
    families = {}

    def family_of(ty):
        operands = ty if ty in TYPES else "float" if ty.startswith("f") else "integer"
        about = f"set on {operands}, to integers and 16-bit floats. Two results: plain, and combined with a predicate."
        return families.setdefault(operands, Family(f"half_set_{operands}", about, tables))

    combinations = [(combination, third) for combination in COMBINE for third in ("%k", "!%k")]
    for index, (to, ty, operator, ftz) in enumerate(set_forms()):
        combination, third = combinations[index % len(combinations)]
        name = f"{ftz}.{to}.{ty}"
        body = [
            "setp.ne.u32 %k, %c, 0;",
            f"set.{operator}{name} %d0, %a, %b;",
            f"set.{operator}.{combination}{name} %d1, %a, %b, {third};",
        ]
        paired = ty.endswith("x2")
        fmt = HALVES.get(single(to))
        size = 16 if paired else width(to)
        yes = fmt.bias << fmt.fraction if fmt else (1 << size) - 1
        test = half_predicate(operator, ty, bool(ftz)) if ty in TYPES else predicate(operator, ty, bool(ftz))

        def reference(a, b, c, test=test, combine=COMBINE[combination], flip=third[0] == "!", yes=yes, paired=paired):
            lanes = [(a & 0xFFFF, b & 0xFFFF), (a >> 16, b >> 16)] if paired else [(a, b)]
            third = 1 - c if flip else c
            plain = [yes * test(*lane) for lane in lanes]
            combined = [yes * combine(test(*lane), third) for lane in lanes]
            return [sum(value << 16 * place for place, value in enumerate(result)) for result in (plain, combined)]

        table = ty if ty in (*TYPES, "f32", "f64") else f"i{width(ty)}"
        source = storage(ty) if ty in TYPES else ty
        destination = storage(to) if to in TYPES else to
        family_of(ty).elementwise(
            f"set_{operator}{name.replace('.', '_')}",
            [(source, f"{table}_x"), (source, f"{table}_y"), ("u32", "flag")],
            [destination, destination],
            body,
            reference,
            ".reg .pred %k;",
        )
    return list(families.values())


def families(tables):
    return [arithmetic(tables), signs(tables), setp(tables), *set_(tables)]

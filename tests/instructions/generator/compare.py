"""setp, set, selp, slct."""

from .exact import FORMATS, HALVES, number, width, wrap
from .ptx import Family

ORDER = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
COMBINE = {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b}
# Enough for `set`, whose kernels have six results.
SET_COUNT = 40


def integer_operators(ty):
    if ty[0] == "b":
        return ["eq", "ne"]
    return list(ORDER) + (list(UNSIGNED) if ty[0] == "u" else [])


FLOAT_OPERATORS = [*ORDER, *(f"{operator}u" for operator in ORDER), "num", "nan"]


def predicate(operator, ty, ftz):
    """The comparison as a function of the operands' bits."""
    fmt = FORMATS.get(ty) or HALVES.get(ty)
    if fmt is None:
        function = ORDER[UNSIGNED.get(operator, operator)]
        return lambda a, b: int(function(number(a, ty), number(b, ty)))

    def compare(a, b):
        nan = fmt.is_nan(a) or fmt.is_nan(b)
        if operator in ("num", "nan"):
            return int(nan == (operator == "nan"))
        if nan:
            return int(operator not in ORDER)
        if ftz:
            a, b = fmt.flush(a), fmt.flush(b)
        # Infinities order as their bits do; zeros of either sign are the same number.
        key = lambda bits: -(bits & (fmt.sign - 1)) if fmt.negative(bits) else bits
        return int(ORDER[operator if operator in ORDER else operator[:-1]](key(a), key(b)))

    return compare


def forms():
    """Every legal operator, flush modifier and type."""
    for ty in ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64"):
        yield from ((operator, "", ty) for operator in integer_operators(ty))
    for ty, flushing in (("f32", ("", ".ftz")), ("f64", ("",))):
        yield from ((operator, ftz, ty) for ftz in flushing for operator in FLOAT_OPERATORS)


def operands(ty):
    table = ty if ty in FORMATS else f"i{width(ty)}"
    return [(ty, f"{table}_x"), (ty, f"{table}_y"), ("u32", "flag")]


def setp(tables, integers):
    name = "integer" if integers else "float"
    family = Family(
        f"compare_setp_{name}",
        f"setp on {name}s. The result has a bit for every predicate: p and q of the plain form, then p and q\n"
        "combined with c, and with !c, by and, or, xor.",
        tables,
    )
    for operator, ftz, ty in forms():
        if (ty not in FORMATS) != integers:
            continue
        body = ["setp.ne.u32 %k, %c, 0;", f"setp.{operator}{ftz}.{ty} %p|%q, %a, %b;", *collect(0, True)]
        bit = 2
        for combination in COMBINE:
            for third in ("%k", "!%k"):
                body += [f"setp.{operator}.{combination}{ftz}.{ty} %p|%q, %a, %b, {third};", *collect(bit)]
                bit += 2

        def reference(a, b, c, test=predicate(operator, ty, ftz)):
            holds = test(a, b)
            bits = [holds, 1 - holds]
            for combine in COMBINE.values():
                for third in (c, 1 - c):
                    bits += [combine(holds, third), combine(1 - holds, third)]
            return sum(value << index for index, value in enumerate(bits))

        family.elementwise(
            f"setp_{operator}{ftz.replace('.', '_')}_{ty}",
            operands(ty),
            "u32",
            body,
            reference,
            ".reg .pred %p, %q, %k; .reg .b32 %s;",
        )
    return family


def collect(bit, first=False):
    """Puts %p and %q into two bits of %d."""
    start = ["selp.b32 %d, 1, 0, %p;"] if first else [f"selp.b32 %s, {1 << bit}, 0, %p;", "or.b32 %d, %d, %s;"]
    return start + [f"selp.b32 %s, {2 << bit}, 0, %q;", "or.b32 %d, %d, %s;"]


def set_(tables, integers):
    name = "integer" if integers else "float"
    family = Family(
        f"compare_set_{name}", f"set on {name}s. Six results: u32, s32, f32, each plain and combined.", tables
    )
    combinations = [f"{combination}{third}" for combination in COMBINE for third in (" %k", " !%k")]
    for index, (operator, ftz, ty) in enumerate(form for form in forms() if (form[2] not in FORMATS) == integers):
        body = ["setp.ne.u32 %k, %c, 0;"]
        plan = []
        for place, to in enumerate(("u32", "s32", "f32")):
            # Each operator meets three of the six combinations; the next operator the others.
            combination, third = combinations[(2 * place + index) % 6].split()
            body.append(f"set.{operator}{ftz}.{to}.{ty} %d{2 * place}, %a, %b;")
            body.append(f"set.{operator}.{combination}{ftz}.{to}.{ty} %d{2 * place + 1}, %a, %b, {third};")
            plan.append((COMBINE[combination], third[0] == "!", 0x3F800000 if to == "f32" else 0xFFFFFFFF))

        def reference(a, b, c, test=predicate(operator, ty, ftz), plan=plan):
            holds = test(a, b)
            return [
                yes * value
                for combine, negated, yes in plan
                for value in (holds, combine(holds, 1 - c if negated else c))
            ]

        family.elementwise(
            f"set_{operator}{ftz.replace('.', '_')}_{ty}",
            operands(ty),
            ["u32", "u32", "s32", "s32", "f32", "f32"],
            body,
            reference,
            ".reg .pred %k;",
            SET_COUNT,
            compare="s32",
        )
    return family


def selection(tables):
    family = Family("compare_select", "selp and slct.", tables)
    for ty in ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"):
        table = ty if ty in FORMATS else f"i{width(ty)}"
        pair = [(ty, f"{table}_a"), (ty, f"{table}_b")]
        bits = {"check": {"nan": "bits"}} if ty in FORMATS else {}
        family.elementwise(
            f"selp_{ty}",
            [*pair, ("u32", "flag")],
            ty,
            ["setp.ne.u32 %k, %c, 0;", f"selp.{ty} %d, %a, %b, %k;"],
            lambda a, b, c: a if c else b,
            ".reg .pred %k;",
            SET_COUNT,
            **bits,
        )
        family.elementwise(
            f"slct_{ty}_s32",
            [*pair, ("s32", "i32_u")],
            ty,
            [f"slct.{ty}.s32 %d, %a, %b, %c;"],
            lambda a, b, c: b if c >> 31 else a,
            count=SET_COUNT,
            **bits,
        )
        for ftz in ("", ".ftz"):
            test = predicate("ge", "f32", bool(ftz))
            family.elementwise(
                f"slct{ftz.replace('.', '_')}_{ty}_f32",
                [*pair, ("f32", "f32_u")],
                ty,
                [f"slct{ftz}.{ty}.f32 %d, %a, %b, %c;"],
                lambda a, b, c, test=test: a if test(c, 0) else b,
                count=SET_COUNT,
                **bits,
            )
    return family


def extended(tables):
    family = Family(
        "compare_extended",
        "setp on 64 bits that were extended from 32, against constants. A bit of the result for each comparison.",
        tables,
    )
    constants = [0, 5, -1, -5, (1 << 31) - 1, -(1 << 31), 5000000000, -5000000000]
    tests = [(operator, constant) for operator in ("lt", "le", "gt", "ge") for constant in constants]
    for sign in "us":
        for order in "us":
            body = [f"cvt.{sign}64.{sign}32 %y, %a;", "mov.b32 %d, 0;"]
            for bit, (operator, constant) in enumerate(tests):
                body += [f"setp.{operator}.{order}64 %p, %y, {wrap(constant, 'u64') if order == 'u' else constant};"]
                body += [f"selp.b32 %s, {1 << bit}, 0, %p;", "or.b32 %d, %d, %s;"]

            def reference(a, sign=sign, order=order):
                value = number(wrap(number(a, f"{sign}32"), "u64"), f"{order}64")
                holds = [ORDER[operator](value, number(wrap(other, "u64"), f"{order}64")) for operator, other in tests]
                return sum(int(each) << bit for bit, each in enumerate(holds))

            family.elementwise(
                f"{sign}32_as_{order}64",
                [(f"{sign}32", "i32_u")],
                "u32",
                body,
                reference,
                ".reg .b64 %y; .reg .pred %p; .reg .b32 %s;",
            )
    return family


def families(tables):
    return [extended(tables), setp(tables, True), setp(tables, False), set_(tables, True), set_(tables, False), selection(tables)]

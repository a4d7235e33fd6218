"""Float arithmetic with operands that a driver's compiler knows: constants, what it computes from them, and one value twice."""

from . import exact
from .exact import F16, FORMATS
from .floats import subtract
from .ptx import Family
from .values import float_edges, float_value

OPERATIONS = (
    ("add", exact.add, 2),
    ("sub", subtract, 2),
    ("mul", exact.mul, 2),
    ("div", exact.div, 2),
    ("fma", exact.fma, 3),
)
ALL = FORMATS | {"f16": F16}


def numbers(fmt):
    """Constants that compilers treat in ways of their own."""
    values = [float_value(fmt, value) for value in (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 4.0, 1.5)]
    return values + [fmt.infinity, fmt.sign | fmt.infinity, fmt.nan]


def operands(family, ty):
    """The corners of a format, and as many others in another order."""
    edges = float_edges(ALL[ty])
    family.operands(f"{ty}_known", ALL[ty].bits, edges)
    family.operands(f"{ty}_other", ALL[ty].bits, edges[7:] + edges[:7])
    storage = "b16" if ty == "f16" else ty
    return [(storage, f"{ty}_known"), (storage, f"{ty}_other")]


def forms():
    """Operations by their instruction, function and number of operands; f16 has no quotient."""
    for opcode, function, count in OPERATIONS:
        for ty, fmt in ALL.items():
            if ty != "f16" or opcode != "div":
                yield f"{opcode}.rn.{ty}", ty, fmt, function, count


def literal(ty, bits):
    prefix = {"f16": "0x", "f32": "0f", "f64": "0d"}[ty]
    return f"{prefix}{bits:0{ALL[ty].bits // 4}x}"


def written(tables):
    """Every constant at every place, pairs of them, and one value at several places."""
    family = Family("float_constants", "Float arithmetic with constants for operands, and one value twice.", tables)
    for form, ty, fmt, function, count in forms():
        constants = numbers(fmt)
        # A fused operation becomes long where it is emulated.
        constants = constants if count == 2 else constants[:4] + constants[-3:]
        # Numbers stand for themselves, letters for what comes from memory.
        places = []
        for bits in constants:
            places += [(bits, "a", "b"), ("a", bits, "b"), ("a", "b", bits), (bits, bits, "a"), ("a", bits, bits)]
        places += [(zero, other, "a") for zero in constants[:2] for other in constants]
        places += [("a", "a", "b"), ("a", "b", "a"), ("b", "a", "a")]
        wanted = []
        for place in (place[:count] for place in places):
            known = any(operand not in ("a", "b") for operand in place) or place.count("a") > 1
            if known and place not in wanted:
                wanted.append(place)
        # f16 has no literals.
        moves = [f"mov.b16 %k{index}, {literal(ty, bits)};" for index, bits in enumerate(constants)] if ty == "f16" else []

        def operand(value):
            if value in ("a", "b"):
                return f"%{value}"
            return f"%k{constants.index(value)}" if ty == "f16" else literal(ty, value)

        lines = [f"{form} %d{index}, {', '.join(map(operand, place))};" for index, place in enumerate(wanted)]

        def reference(a, b, function=function, fmt=fmt, wanted=wanted):
            given = {"a": a, "b": b}
            return [function(fmt, *(given.get(value, value) for value in place)) for place in wanted]

        inputs = operands(family, ty)
        family.elementwise(
            form.replace(".", "_"),
            inputs,
            [inputs[0][0]] * len(wanted),
            moves + lines,
            reference,
            f".reg .b16 %k<{len(constants)}>;" if ty == "f16" else "",
            count=len(family.tables[inputs[0][1]][1]),
            compare=ty,
        )
    return family


# Zeros, of the sign that is asked for, that no text calls a constant: lines that leave them in %k.
HIDDEN = {
    # The block has one row.
    "thread": lambda ty, size, sign: ["mov.u32 %i, %tid.y;", f"cvt.rn.{ty}.u32 %k, %i;", *negated(ty, sign)],
    "loop": lambda ty, size, sign: [
        "mov.u32 %i, 0;", f"mov.b{size} %z, 0;", "again:", f"cvt.rn.{ty}.u32 %k, %i;", *negated(ty, sign),
        "setp.eq.u32 %q, %i, 0;", f"@%q mov.b{size} %z, %k;", "add.u32 %i, %i, 1;", "setp.lt.u32 %q, %i, 4;",
        "@%q bra again;", f"mov.b{size} %k, %z;",
    ],
    "shared": lambda ty, size, sign: [
        "mad.lo.u32 %i, %t, 8, 0;", "mov.u32 %j, cells;", "add.u32 %i, %i, %j;",
        f"st.shared.b{size} [%i], {sign};", f"ld.shared.b{size} %k, [%i];",
    ],
    "local": lambda ty, size, sign: [f"st.local.b{size} [own], {sign};", f"ld.local.b{size} %k, [own];"],
    "global": lambda ty, size, sign: [f"st.global.b{size} [%po], {sign};", f"ld.global.b{size} %k, [%po];"],
    "choice": lambda ty, size, sign: [
        "and.b32 %i, %t, 1;", "setp.eq.u32 %q, %i, 0;", f"selp.b{size} %k, {sign}, 0, %q;", f"@!%q mov.b{size} %k, {sign};",
    ],
    "product": lambda ty, size, sign: [
        f"mov.b{size} %k, {sign};", f"mul.rn.{ty} %k, %k, {literal(ty, float_value(ALL[ty], 3.0))};",
    ],
}  # fmt: skip


def negated(ty, sign):
    return [f"neg.{ty} %k, %k;"] if sign else []


def computed(tables):
    """Zeros that a compiler finds out, in sums, differences, products and quotients."""
    shared = ".shared .align 8 .b8 cells[1024];\n"
    family = Family(
        "float_known", "Float arithmetic with zeros that a compiler can find out.", tables, shared
    )
    for ty, fmt in FORMATS.items():
        size = fmt.bits
        for name, lines in HIDDEN.items():
            for sign in (0, fmt.sign):
                pairs = [("k", "a"), ("a", "k")]
                body = lines(ty, size, sign)
                applied = [
                    (f"{opcode}.rn.{ty}", function, pair)
                    for opcode, function, count in OPERATIONS
                    if count == 2
                    for pair in pairs
                ]
                body = body + [
                    f"{form} %d{index}, {', '.join(f'%{letter}' for letter in pair)};"
                    for index, (form, _, pair) in enumerate(applied)
                ]

                def reference(a, b, applied=applied, fmt=fmt, sign=sign):
                    given = {"a": a, "k": sign}
                    return [function(fmt, *(given[letter] for letter in pair)) for _, function, pair in applied]

                inputs = operands(family, ty)
                family.elementwise(
                    f"{name}_{'negative' if sign else 'positive'}_{ty}",
                    inputs,
                    [ty] * len(applied),
                    body,
                    reference,
                    f".reg .pred %q; .reg .b32 %i, %j; .reg .b{size} %k, %z; .local .align 8 .b8 own[8];",
                    count=len(family.tables[inputs[0][1]][1]),
                )
        # A sum that begins with zero, of a number four times; the difference of a number and the same loaded again; atomics.
        inputs = operands(family, ty)
        body = [
            f"mov.b{size} %d0, 0;", "mov.u32 %i, 0;", "again:", f"add.rn.{ty} %d0, %d0, %a;", "add.u32 %i, %i, 1;",
            "setp.lt.u32 %q, %i, 4;", "@%q bra again;",
            f"ld.global.nc.b{size} %k, [%pa];", f"ld.global.nc.b{size} %z, [%pa];", f"sub.rn.{ty} %d1, %k, %z;",
            "mov.u32 %j, cells;", "mad.lo.u32 %j, %t, 8, %j;", f"st.shared.b{size} [%j], %a;",
            f"red.shared.add.{ty} [%j], {literal(ty, 0)};", f"ld.shared.b{size} %d2, [%j];",
        ]  # fmt: skip

        def several(a, b, fmt=fmt):
            total = 0
            for _ in range(4):
                total = exact.add(fmt, total, a)
            return [total, subtract(fmt, a, a), exact.add(fmt, a, 0)]

        family.elementwise(
            f"several_{ty}",
            inputs,
            [ty] * 3,
            body,
            several,
            f".reg .pred %q; .reg .b32 %i, %j; .reg .b{size} %k, %z;",
            count=len(family.tables[inputs[0][1]][1]),
        )
    return family


def families(tables):
    return [written(tables), computed(tables)]

"""Where floats end: results that `.ftz` flushes only because of how they were rounded, NaNs bit by bit, `fma.oob`."""

import random

from . import exact
from .exact import F16, F32, F64, HALVES
from .floats import DIRECTED, choices, finished, ieee, reciprocal, subtract
from .half import apply, rectified, relu
from .ptx import Family, header


def least_products(fmt, rng, count):
    """Pairs whose products are just below the least normal number, or that."""
    bits = fmt.fraction + 1
    top = 1 << bits - 1
    found = [[] for _ in range(6)]
    if fmt is F32:
        # 2^47 - 1 has factors of 24 bits.
        found[5].append((13264529, 10610063))
    while any(len(group) < count for group in found[: 5 if fmt is F32 else 3]):
        a = rng.randrange(top, 2 * top)
        b = (2 * top * top) // a + rng.choice((-1, 0, 0, 1))
        distance = 2 * top * top - a * b
        if not top <= b < 2 * top or distance < 0:
            continue
        # By how far it is below, in powers of two of the last place.
        place = (top // distance if distance else 0).bit_length() if distance else 5
        if len(found[min(place, 5)]) < count:
            found[min(place, 5)].append((a, b))
    low = fmt.bias - (fmt.bias - 1) // 2 - 1
    other = fmt.bias - (fmt.bias - 1) - 1 - (low - fmt.bias)
    encode = lambda significand, exponent: (exponent << fmt.fraction) | significand - top
    for group in found:
        for a, b in group:
            yield encode(a, low), encode(b, other)


def least_sums(fmt):
    """Factors and addends whose sums are a fraction of the last place below the least normal number, or above."""
    tiny = fmt.smallest_normal
    for places in range(-2, 6):
        for wiggle in (-1, 0, 1, 1 << fmt.fraction - 1):
            # tiny - 2^-places units of what subnormals are multiples of.
            exponent = 1 - fmt.bias - fmt.fraction - places
            half = exponent // 2
            a = (half + fmt.bias) << fmt.fraction
            b = ((exponent - half + fmt.bias) << fmt.fraction) + wiggle
            if min(a, b) < tiny:
                continue
            yield a, b | fmt.sign, tiny
            yield a, b, tiny | fmt.sign
            yield a, b, tiny


def flush_tables(fmt, name, tables):
    rng = random.Random(f"least {name}")
    triples = [(a, b, index % 2 * fmt.sign) for index, (a, b) in enumerate(least_products(fmt, rng, 12))]
    triples += least_sums(fmt)
    triples += [(fmt.sign | a, b, fmt.sign ^ c) for a, b, c in triples]
    for letter, column in zip("abc", zip(*triples)):
        tables[f"{name}_l{letter}"] = (fmt.bits, list(column))


def flushed(tables):
    family = Family(
        "float_flush", "Products with .ftz on f32 that round to the least normal number, or almost.", tables
    )
    flush_tables(F32, "f32", tables)
    for opcode, function, count in (("mul", exact.mul, 2), ("fma", exact.fma, 3), ("mad", exact.fma, 3)):
        for mode in ("rn", *DIRECTED):
            for sat in ("", ".sat"):
                ieee(family, opcode, "f32", f".{mode}.ftz{sat}", function, count, kind="l")
    return family


def flushed_quotients(tables):
    family = Family(
        "float_flush_quotients", "Quotients with .ftz that are almost the least normal number.", tables
    )
    top, tiny = 1 << 23, F32.smallest_normal
    rng = random.Random("least quotients")
    pairs = []
    for distance in (1, 1, 1, 1, 2, 0, -1):
        for b in (top + 1, 2 * top - 1, rng.randrange(top + 2, 2 * top - 2)):
            a = b - distance
            pairs.append((tiny + (a - top) if a < 2 * top else 2 * tiny, F32.bias << 23 | b - top))
    pairs += [(a | F32.sign, b) for a, b in pairs]
    for letter, column in zip("ab", zip(*pairs)):
        tables[f"f32_q{letter}"] = (32, list(column))
    most = F32.infinity - tiny
    tables["f32_qr"] = (32, [most + (sign << 31) + step - (1 << 23) for sign in (0, 1) for step in range(-2, 6)])
    for mode in ("rn", *DIRECTED):
        for opcode, function, letters in (("div", exact.div, ("qa", "qb")), ("rcp", reciprocal, ("qr",))):
            ieee(family, opcode, "f32", f".{mode}.ftz", function, len(letters), letter=None if opcode == "div" else "qr", kind="q")
    return family


def half_flushed(tables):
    family = Family(
        "half_flush", "Products with .ftz on f16 and its pairs; many round to the least normal number.", tables
    )
    flush_tables(F16, "f16", tables)
    for letter in "abc":
        column = tables[f"f16_l{letter}"][1]
        turned = column[len(column) // 3 :] + column[: len(column) // 3]
        tables[f"f16x2_l{letter}"] = (32, [low | high << 16 for low, high in zip(column, turned)])
    for ty in ("f16", "f16x2"):
        forms = [("mul", modifiers, exact.mul, 2) for modifiers in (".ftz", ".ftz.sat", ".rn.ftz", ".rn.ftz.sat")]
        forms += [("fma", f".rn{modifiers}", exact.fma, 3) for modifiers in (".ftz", ".ftz.sat", ".ftz.relu")]
        for opcode, modifiers, function, count in forms:
            reference = finished(F16, function, modifiers)
            if ".relu" in modifiers:
                reference = rectified(reference, F16)
            apply(family, f"{opcode}{modifiers}.{ty}", ty, [f"l{letter}" for letter in "abc"[:count]], reference)
    return family


def nan_operands(fmt):
    one, quiet, sign = fmt.bias << fmt.fraction, fmt.infinity | fmt.quiet, fmt.sign
    few = [one, 0, fmt.infinity, sign | fmt.infinity, quiet | 5, sign | quiet | 9, fmt.infinity | 3]
    more = [sign | one, sign, quiet, sign | quiet, sign | fmt.infinity | 6, sign - 1, 2 * sign - 1, one + 1]
    return few, few + more


def propagated(fmt, order, values):
    """The NaN that hardware gives: one in f32; in f64 the first operand in this order that is NaN, made quiet."""
    nans = [values[index] | fmt.quiet for index in order if fmt.is_nan(values[index])]
    return nans[0] if nans and fmt is F64 else fmt.nan


def with_nan(fmt, order, reference):
    def function(*values):
        result = reference(*values)
        return propagated(fmt, order, values) if fmt.is_nan(result) else result

    return function


def nans(tables):
    family = Family("float_nans", "Arithmetic on f32 and f64 that gives NaN, bit by bit.", tables)
    for name, fmt in exact.FORMATS.items():
        few, more = nan_operands(fmt)
        tables[f"{name}_nu"] = (fmt.bits, more)
        pairs = [(a, b) for a in more for b in more]
        triples = [(a, b, c) for a in few for b in few for c in few]
        for letter, column in zip("ab", zip(*pairs)):
            tables[f"{name}_n{letter}"] = (fmt.bits, list(column))
        for letter, column in zip("xyz", zip(*triples)):
            tables[f"{name}_n{letter}"] = (fmt.bits, list(column))
        forms = []
        for opcode, function, letters, order in (
            ("add", exact.add, "ab", (1, 0)),
            ("sub", subtract, "ab", (1, 0)),
            ("mul", exact.mul, "ab", (1, 0)),
            ("fma", exact.fma, "xyz", (1, 2, 0)),
            ("div", exact.div, "ab", (0, 1)),
            ("rcp", reciprocal, "u", (0,)),
            ("sqrt", exact.sqrt, "u", (0,)),
        ):
            modifiers = [".rn", ".rm"] + ([".rn.ftz"] if fmt is F32 else [])
            forms += [(opcode, function, letters, modifier, order) for modifier in modifiers]
        for opcode, function, letters, modifiers, order in forms:
            form = f"{opcode}{modifiers}.{name}"
            registers = ", ".join(["%d", "%a", "%b", "%c"][: len(letters) + 1])
            family.elementwise(
                form.replace(".", "_"),
                [(name, f"{name}_n{letter}") for letter in letters],
                name,
                [f"{form} {registers};"],
                with_nan(fmt, order, finished(fmt, function, modifiers)),
                count=len(tables[f"{name}_n{letters[0]}"][1]),
                check={"nan": "bits"},
            )
    # Drivers fold constants, each in its own way. Hardware's assembler moves those of commutative operations to another place.
    for name, prefix, literals in (
        ("f32", "0f", (0x7FC00000, 0xFF800123)), ("f64", "0d", (0x7FF8000000000000, 0xFFF0000000000123)),
    ):
        fmt = exact.FORMATS[name]
        quotient = with_nan(fmt, (0, 1), finished(fmt, exact.div, ".rn"))
        for number, literal in enumerate(literals):
            text = f"{prefix}{literal:0{fmt.bits // 4}x}"
            for place, operands, reference in (
                ("of", f"{text}, %a", lambda a, quotient=quotient, literal=literal: quotient(literal, a)),
                ("by", f"%a, {text}", lambda a, quotient=quotient, literal=literal: quotient(a, literal)),
            ):
                family.elementwise(
                    f"div_{place}_literal_{name}_{number}", [(name, f"{name}_nu")], name,
                    [f"div.rn.{name} %d, {operands};"], reference,
                    count=len(tables[f"{name}_nu"][1]), check={"nan": "bits"},
                )
    for form, to, ty, reference in (
        ("cvt.rn.f32.f64", "f32", "f64", lambda a: changed_format(F64, F32, a)),
        ("cvt.f64.f32", "f64", "f32", lambda a: changed_format(F32, F64, a)),
        ("cvt.rni.f32.f32", "f32", "f32", lambda a: made_integral(F32, a)),
        ("cvt.rni.f64.f64", "f64", "f64", lambda a: made_integral(F64, a)),
        ("cvt.f32.f32", "f32", "f32", lambda a: a),
        ("cvt.f64.f64", "f64", "f64", lambda a: a),
    ):
        family.elementwise(
            form.replace(".", "_"), [(ty, f"{ty}_nu")], to, [f"{form} %d, %a;"], reference,
            count=len(tables[f"{ty}_nu"][1]), check={"nan": "bits"},
        )
    return family


def atomic_nans(tables):
    family = Family("atom_nans", "Sums by atom and red on f32 that are NaN, bit by bit.", tables)
    for space, pointer in (("global", "mov.u64 %cell, %po;"), ("shared", "mov.u64 %cell, everyone;")):
        for operation in ("atom", "red"):
            lines = [pointer] + (["mad.wide.u32 %cell, %t, 4, %cell;"] if space == "shared" else [])
            dropped = "%d, " if operation == "atom" else ""
            lines += [
                f"st.{space}.f32 [%cell], %a;",
                f"{operation}.{space}.add.f32 {dropped}[%cell], %b;",
                f"ld.{space}.f32 %d, [%cell];",
            ]
            family.elementwise(
                f"{operation}_{space}_add_f32", [("f32", "f32_na"), ("f32", "f32_nb")], "f32", lines,
                with_nan(F32, (1, 0), lambda a, b: exact.add(F32, a, b)), registers=".reg .b64 %cell;\n\t.shared .align 4 .b8 everyone[1024];",
                count=len(tables["f32_na"][1]), check={"nan": "bits"},
            )
    return family


def changed_format(fmt, to, bits):
    """A number in another format. A NaN keeps its sign and what fits of its fraction."""
    sign = to.sign if fmt.negative(bits) else 0
    if fmt.is_nan(bits):
        fraction = bits & (fmt.smallest_normal - 1)
        places = to.fraction - fmt.fraction
        fraction = fraction << places if places > 0 else fraction >> -places
        return sign | to.infinity | to.quiet | fraction
    return sign | to.infinity if fmt.is_infinite(bits) else to.round(fmt.value(bits), bool(sign))


def made_integral(fmt, bits):
    if fmt.is_nan(bits):
        return propagated(fmt, (0,), (bits,))
    return bits if fmt.is_infinite(bits) else fmt.round(exact.round_integral(fmt.value(bits), "rni"), fmt.negative(bits))


def half_nans(tables):
    family = Family("half_nans", "Arithmetic on f16, bf16 and pairs that gives NaN, bit by bit.", tables)
    for name, fmt in HALVES.items():
        few, _ = nan_operands(fmt)
        for letter, column in zip("xyz", zip(*((a, b, c) for a in few for b in few for c in few))):
            turned = column[len(column) // 3 :] + column[: len(column) // 3]
            tables[f"{name}_n{letter}"] = (16, list(column))
            tables[f"{name}x2_n{letter}"] = (32, [low | high << 16 for low, high in zip(column, turned)])
        for ty in (name, f"{name}x2"):
            for opcode, function, count in (("add", exact.add, 2), ("sub", subtract, 2), ("mul", exact.mul, 2), ("fma", exact.fma, 3)):
                letters = ["nx", "ny", "nz"][:count]
                reference = lambda *values, fmt=fmt, function=function: function(fmt, *values)
                apply(family, f"{opcode}.rn.{ty}", ty, letters, reference, bits=True)
    return family


def approximate_nans(tables):
    family = Family("approximate_nans", "Approximations that give NaN, bit by bit.", tables)
    sign = F32.sign
    nan = [bits for bits in tables["f32_nu"][1] if F32.is_nan(bits)]
    negative = [F32.bias << 23 | sign, F32.infinity | sign]
    infinite = [F32.infinity, F32.infinity | sign]
    for opcode, more in (
        ("rcp", []), ("sqrt", negative), ("rsqrt", negative), ("lg2", negative), ("ex2", []), ("sin", infinite),
        ("cos", infinite), ("tanh", []),
    ):
        table = f"f32_nan_{opcode}"
        tables[table] = (32, nan + more)
        for ftz in choices(".ftz") if opcode != "tanh" else [""]:
            form = f"{opcode}.approx{ftz}.f32"
            family.elementwise(
                form.replace(".", "_"), [("f32", table)], "f32", [f"{form} %d, %a;"], lambda a: F32.nan,
                count=len(tables[table][1]), check={"nan": "bits"},
            )
    pairs = [(a, b) for a, b in zip(tables["f32_na"][1], tables["f32_nb"][1]) if F32.is_nan(exact.div(F32, a, b))]
    for letter, column in zip("ab", zip(*pairs)):
        tables[f"f32_nan_{letter}"] = (32, list(column))
    for kind in ("approx", "approx.ftz", "full", "full.ftz"):
        form = f"div.{kind}.f32"
        family.elementwise(
            form.replace(".", "_"), [("f32", "f32_nan_a"), ("f32", "f32_nan_b")], "f32", [f"{form} %d, %a, %b;"],
            lambda a, b: F32.nan, count=len(pairs), check={"nan": "bits"},
        )
    nan = [bits for bits in tables["f64_nu"][1] if F64.is_nan(bits)]
    negative = [F64.bias << 52 | F64.sign, F64.infinity | F64.sign]
    # Two of them see the upper word alone, where a NaN can look like infinity.
    seen = [bits for bits in nan if F64.is_nan(bits >> 32 << 32)]
    one = lambda a: 0x7FFFFFFF << 32
    for form, operands, reference in (
        ("rcp.approx.ftz.f64", seen, one),
        ("rsqrt.approx.ftz.f64", seen + negative, one),
        ("rsqrt.approx.f64", nan + negative, lambda a: propagated(F64, (0,), (a,))),
    ):
        table = f"f64_nan_{form.replace('.', '_')}"
        tables[table] = (64, operands)
        family.elementwise(
            form.replace(".", "_"), [("f64", table)], "f64", [f"{form} %d, %a;"], reference,
            count=len(operands), check={"nan": "bits"},
        )
    return family


def conversions(tables):
    family = Family("convert_nans", "Conversions of NaNs, bit by bit.", tables)
    formats = exact.FORMATS | HALVES
    kept = lambda fmt, to: lambda a: changed_format(fmt, to, a)
    one = lambda fmt, to: lambda a: to.nan
    for form, to, ty, reference in (
        ("cvt.f32.f16", "f32", "f16", one),
        ("cvt.ftz.f32.f16", "f32", "f16", one),
        ("cvt.f64.f16", "f64", "f16", kept),
        ("cvt.f32.bf16", "f32", "bf16", lambda fmt, to: lambda a: a << 16),
        ("cvt.f64.bf16", "f64", "bf16", kept),
        ("cvt.rn.f16.bf16", "f16", "bf16", one),
        ("cvt.rn.bf16.f16", "bf16", "f16", one),
        ("cvt.rn.f16.f32", "f16", "f32", one),
        ("cvt.rz.bf16.f32", "bf16", "f32", one),
        ("cvt.rn.f16.f64", "f16", "f64", kept),
        ("cvt.rn.bf16.f64", "bf16", "f64", kept),
        ("cvt.f16.f16", "f16", "f16", one),
        ("cvt.rni.f16.f16", "f16", "f16", one),
        ("cvt.bf16.bf16", "bf16", "bf16", one),
        ("cvt.rni.bf16.bf16", "bf16", "bf16", one),
        ("cvt.rmi.f32.f32", "f32", "f32", one),
        ("cvt.ftz.f32.f32", "f32", "f32", one),
        ("cvt.rni.ftz.f32.f32", "f32", "f32", one),
        ("cvt.rzi.f64.f64", "f64", "f64", kept),
        ("cvt.ftz.f64.f32", "f64", "f32", lambda fmt, to: lambda a: changed_format(fmt, to, fmt.nan)),
        ("cvt.rz.f32.f64", "f32", "f64", kept),
    ):
        fmt, target = formats[ty], formats[to]
        operands = [bits for bits in nan_operands(fmt)[1] if fmt.is_nan(bits)]
        tables[f"{ty}_nan"] = (fmt.bits, operands)
        storage = {"f16": "b16", "bf16": "b16"}
        # A comparison of integers where f16 and bf16 are, which is one of bits.
        family.elementwise(
            form.replace(".", "_"), [(storage.get(ty, ty), f"{ty}_nan")], storage.get(to, to), [f"{form} %d, %a;"],
            reference(fmt, target), count=len(operands), check=None if to in storage else {"nan": "bits"},
        )
    return family


def out_of_bounds(tables):
    family = Family(
        "half_out_of_bounds", "fma.oob, which takes one NaN for a number out of bounds.", tables,
        header=header("8.1"),
    )
    for name, fmt in HALVES.items():
        one = fmt.bias << fmt.fraction
        others = [one, fmt.sign | one, 0, 0x7FF7, 0xFFF7, 0x7FFF, 0x7FF6, 0x7FF8, 0xFFF8, fmt.infinity, 0x77F7]
        triples = [(a, b, c) for a in others for b in others[:6] for c in others[:6]]
        for letter, column in zip("abc", zip(*triples)):
            turned = column[len(column) // 3 :] + column[: len(column) // 3]
            tables[f"{name}_o{letter}"] = (16, list(column))
            tables[f"{name}x2_o{letter}"] = (32, [low | high << 16 for low, high in zip(column, turned)])
        for ty in (name, f"{name}x2"):
            for modifier in choices(".relu"):

                def reference(a, b, c, fmt=fmt, rectify=bool(modifier)):
                    if 0x7FF7 in (a & 0x7FFF, b & 0x7FFF):
                        return 0
                    result = exact.fma(fmt, a, b, c)
                    return relu(fmt, result) if rectify else result

                apply(family, f"fma.rn.oob{modifier}.{ty}", ty, ["oa", "ob", "oc"], reference, bits=True)
    return family


def families(tables):
    return [
        flushed(tables), flushed_quotients(tables), half_flushed(tables), nans(tables), atomic_nans(tables), half_nans(tables),
        approximate_nans(tables), conversions(tables), out_of_bounds(tables),
    ]

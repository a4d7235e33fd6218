"""Integers packed in words: pairs of half-words, dot products, cvt.pack."""

from .exact import clamp, number, wrap
from .ptx import Family, header
from .values import WORDS


def parts(word, ty):
    """The numbers of a type that a word holds, the lowest first."""
    bits = int(ty[1:])
    return [number(word >> place & ((1 << bits) - 1), ty) for place in range(0, 32, bits)]


def join(values, ty):
    bits = int(ty[1:])
    return sum(wrap(value, ty) << (bits * place) for place, value in enumerate(values))


def words(ty, count):
    return [(ty, f"w32_{letter}") for letter in "abc"[:count]]


def halves(tables):
    family = Family(
        "integer_pairs",
        "add, min, max on pairs of half-words, and .relu, there and on s32.",
        tables,
        header=header("8.0"),
    )
    relu = lambda value: max(value, 0)
    plain = lambda value: value
    forms = [("add", f"{sign}16x2", "", plain) for sign in "us"]
    for opcode in ("min", "max"):
        forms += [(opcode, "u16x2", "", plain), (opcode, "s16x2", "", plain), (opcode, "s16x2", ".relu", relu)]
        forms += [(opcode, "s32", ".relu", relu)]
    operations = {"add": lambda a, b: a + b, "min": min, "max": max}
    for opcode, ty, modifier, then in forms:
        part = ty.removesuffix("x2")

        def reference(a, b, do=operations[opcode], part=part, then=then):
            return join([then(do(x, y)) for x, y in zip(parts(a, part), parts(b, part))], part)

        family.elementwise(
            f"{opcode}{modifier.replace('.', '_')}_{ty}",
            words("b32", 2),
            "b32",
            [f"{opcode}{modifier}.{ty} %d, %a, %b;"],
            reference,
            count=WORDS,
        )
    return family


def dot_products(tables):
    family = Family("integer_dot_products", "dp4a, dp2a.", tables)
    for first in "us":
        for second in "us":
            ty = "s32" if "s" in first + second else "u32"
            types = f"{first}32.{second}32"
            lines = [f"dp4a.{types} %d0, %a, %b, %c;", f"dp4a.{types} %d1, %b, %a, %c;"]
            lines += [f"dp2a.{mode}.{types} %d{place}, %a, %b, %c;" for place, mode in ((2, "lo"), (3, "hi"))]

            def reference(a, b, c, first=first, second=second):
                dot = lambda x, y: wrap(c + sum(p * q for p, q in zip(x, y)), "u32")
                bytes_ = parts(b, f"{second}8")
                return [
                    dot(parts(a, f"{first}8"), bytes_),
                    dot(parts(b, f"{first}8"), parts(a, f"{second}8")),
                    dot(parts(a, f"{first}16"), bytes_[:2]),
                    dot(parts(a, f"{first}16"), bytes_[2:]),
                ]

            family.elementwise(
                f"dp_{types.replace('.', '_')}", words(ty, 3), [ty] * 4, lines, reference, count=WORDS
            )
    return family


def packing(tables):
    family = Family("convert_pack", "cvt.pack. The operands are large, then within a few bits.", tables)
    for bits in (16, 8, 4, 2):
        for sign in "us":
            ty = f"{sign}{bits}"
            form, third = (f"{ty}.s32", "") if bits == 16 else (f"{ty}.s32.b32", ", %c")
            lines = [f"cvt.pack.sat.{form} %d0, %a, %b{third};"]
            # Shifted down, the operands fall around the bounds of the narrow type.
            for place, amount in ((1, 32 - bits - 1), (2, 32 - bits + 1), (3, 15)):
                lines += [f"shr.s32 %x, %a, {amount};", f"shr.s32 %y, %c, {amount};"]
                lines += [f"cvt.pack.sat.{form} %d{place}, %x, %y{third};"]

            def reference(a, b, c, ty=ty, bits=bits):
                def pack(x, y):
                    low = wrap(clamp(y, ty), ty) | wrap(clamp(x, ty), ty) << bits
                    return wrap(low | c << (2 * bits), "u32")

                a, b, signed_c = (number(value, "s32") for value in (a, b, c))
                return [pack(a, b)] + [
                    pack(a >> amount, signed_c >> amount) for amount in (32 - bits - 1, 32 - bits + 1, 15)
                ]

            family.elementwise(
                f"cvt_pack_{ty}", words("s32", 3), ["u32"] * 4, lines, reference, ".reg .s32 %x, %y;", WORDS
            )
    return family


def families(tables):
    return [halves(tables), dot_products(tables), packing(tables)]

"""Integer arithmetic, bit fields and counts."""

from .exact import clamp, number, width, wrap
from .ptx import Family
from .values import WORDS

ALL = ["u16", "u32", "u64", "s16", "s32", "s64"]
SIGNED = ["s16", "s32", "s64"]


def table(ty, letter):
    return (ty, f"i{width(ty)}_{letter}")


def triple(ty, count):
    return [table(ty, letter) for letter in "abc"[:count]]


def over(ty, function):
    """A reference on numbers instead of bits; the result wraps."""
    return lambda *operands: wrap(function(*(number(bits, ty) for bits in operands)), ty)


def quotient(a, b):
    # By zero: what hardware gives; the manual leaves it open.
    return -1 if b == 0 else (abs(a) // abs(b)) * (-1 if (a < 0) != (b < 0) else 1)


def remainder(a, b):
    # By zero: what hardware gives; the manual leaves it open.
    return -1 if b == 0 else a - quotient(a, b) * b


def arithmetic(tables):
    family = Family("integer_arithmetic", "Integer add, sub, sad, div, rem, abs, neg, min, max.", tables)
    simple = {
        "add": (2, lambda a, b: a + b),
        "sub": (2, lambda a, b: a - b),
        "div": (2, quotient),
        "rem": (2, remainder),
        "min": (2, min),
        "max": (2, max),
        "sad": (3, lambda a, b, c: c + abs(a - b)),
    }
    for opcode, (count, function) in simple.items():
        for ty in ALL:
            operands = ", ".join(["%d", "%a", "%b", "%c"][: count + 1])
            family.elementwise(
                f"{opcode}_{ty}", triple(ty, count), ty, [f"{opcode}.{ty} {operands};"], over(ty, function)
            )
    for opcode, function in (("abs", abs), ("neg", lambda a: -a)):
        for ty in SIGNED:
            family.elementwise(f"{opcode}_{ty}", [table(ty, "u")], ty, [f"{opcode}.{ty} %d, %a;"], over(ty, function))
    for opcode, function in (("add", lambda a, b: a + b), ("sub", lambda a, b: a - b)):
        reference = over("s32", lambda a, b, function=function: clamp(function(a, b), "s32"))
        family.elementwise(f"{opcode}_sat_s32", triple("s32", 2), "s32", [f"{opcode}.sat.s32 %d, %a, %b;"], reference)
    return family


def products(tables):
    family = Family("integer_products", "Integer mul, mad, mul24, mad24.", tables)
    for ty in ALL:
        bits = width(ty)
        for part, shift in (("lo", 0), ("hi", bits)):
            family.elementwise(
                f"mul_{part}_{ty}",
                triple(ty, 2),
                ty,
                [f"mul.{part}.{ty} %d, %a, %b;"],
                over(ty, lambda a, b, shift=shift: a * b >> shift),
            )
            family.elementwise(
                f"mad_{part}_{ty}",
                triple(ty, 3),
                ty,
                [f"mad.{part}.{ty} %d, %a, %b, %c;"],
                over(ty, lambda a, b, c, shift=shift: (a * b >> shift) + c),
            )
        if bits < 64:
            wide = f"{ty[0]}{2 * bits}"
            family.elementwise(
                f"mul_wide_{ty}",
                triple(ty, 2),
                wide,
                [f"mul.wide.{ty} %d, %a, %b;"],
                lambda a, b, ty=ty, wide=wide: wrap(number(a, ty) * number(b, ty), wide),
            )
            family.elementwise(
                f"mad_wide_{ty}",
                [*triple(ty, 2), table(wide, "c")],
                wide,
                [f"mad.wide.{ty} %d, %a, %b, %c;"],
                lambda a, b, c, ty=ty, wide=wide: wrap(number(a, ty) * number(b, ty) + c, wide),
            )
    high = lambda a, b, c: clamp((a * b >> 32) + c, "s32")
    family.elementwise("mad_hi_sat_s32", triple("s32", 3), "s32", ["mad.hi.sat.s32 %d, %a, %b, %c;"], over("s32", high))
    for ty in ("u32", "s32"):
        # The factors are the low 24 bits; the high part is bits 16 to 47 of the product.
        factor = lambda a, ty=ty: (a & 0xFFFFFF) - ((a & 0x800000) << 1 if ty == "s32" else 0)
        for part, shift in (("lo", 0), ("hi", 16)):
            product = lambda a, b, factor=factor, shift=shift: factor(a) * factor(b) >> shift
            family.elementwise(
                f"mul24_{part}_{ty}",
                triple(ty, 2),
                ty,
                [f"mul24.{part}.{ty} %d, %a, %b;"],
                lambda a, b, product=product, ty=ty: wrap(product(a, b), ty),
            )
            family.elementwise(
                f"mad24_{part}_{ty}",
                triple(ty, 3),
                ty,
                [f"mad24.{part}.{ty} %d, %a, %b, %c;"],
                lambda a, b, c, product=product, ty=ty: wrap(product(a, b) + c, ty),
            )
    factor = lambda a: (a & 0xFFFFFF) - ((a & 0x800000) << 1)
    family.elementwise(
        "mad24_hi_sat_s32",
        triple("s32", 3),
        "s32",
        ["mad24.hi.sat.s32 %d, %a, %b, %c;"],
        over("s32", lambda a, b, c: clamp((factor(a) * factor(b) >> 16) + c, "s32")),
    )
    return family


def highest(value):
    return value.bit_length() - 1


def find(ty, shift):
    def reference(a):
        value = number(a, ty)
        found = highest(~value if value < 0 else value)
        if shift and found >= 0:
            found = width(ty) - 1 - found
        return wrap(found, "u32")

    return reference


def extract(ty):
    """`bfe` as the manual has it, with hardware's one difference: 64-bit forms take position and length whole."""
    bits = width(ty)

    def reference(a, position, length):
        if bits == 32:
            position, length = position & 255, length & 255
        sign = 0
        if ty[0] == "s" and length:
            sign = a >> min(position + length - 1, bits - 1) & 1
        result = 0
        for index in range(bits):
            inside = index < length and position + index < bits
            result |= (a >> (position + index) & 1 if inside else sign) << index
        return result

    return reference


def insert(bits):
    def reference(a, b, position, length):
        if bits == 32:
            position, length = position & 255, length & 255
        for index in range(min(length, bits)):
            if position + index < bits:
                place = 1 << (position + index)
                b = b & ~place | ((a >> index & 1) * place)
        return b

    return reference


def bits(tables):
    family = Family("integer_bits", "popc, clz, bfind, brev, bfe, bfi.", tables)
    for size in (32, 64):
        ty = f"b{size}"
        operand = [(ty, f"i{size}_u")]
        family.elementwise(f"popc_{ty}", operand, "u32", [f"popc.{ty} %d, %a;"], lambda a: a.bit_count())
        family.elementwise(
            f"clz_{ty}", operand, "u32", [f"clz.{ty} %d, %a;"], lambda a, size=size: size - a.bit_length()
        )
        family.elementwise(
            f"brev_{ty}", operand, ty, [f"brev.{ty} %d, %a;"], lambda a, size=size: int(f"{a:0{size}b}"[::-1], 2)
        )
        fields = [("u32", "position"), ("u32", "length")]
        family.elementwise(
            f"bfi_{ty}",
            [(ty, f"i{size}_a"), (ty, f"i{size}_b"), *fields],
            ty,
            [f"bfi.{ty} %d, %a, %b, %c, %e;"],
            insert(size),
        )
        for sign in "us":
            ty = f"{sign}{size}"
            family.elementwise(
                f"bfe_{ty}", [(ty, f"i{size}_u"), *fields], ty, [f"bfe.{ty} %d, %a, %b, %c;"], extract(ty)
            )
            for shift in ("", ".shiftamt"):
                family.elementwise(
                    f"bfind{shift.replace('.', '_')}_{ty}",
                    [(ty, f"i{size}_u")],
                    "u32",
                    [f"bfind{shift}.{ty} %d, %a;"],
                    find(ty, bool(shift)),
                )
    return family


def mask(mode):
    """`bmsk` by the manual's pseudo code."""

    def reference(a, b):
        position, length = a & 31, b & 31
        first = wrap(-1 << position, "b32")
        last = wrap(-1 << (position + length), "b32") if position + length < 32 else 0
        if mode == "clamp" and a >= 32:
            first = 0
        if position + length >= 32 or (mode == "clamp" and (a >= 32 or b >= 32)):
            last = 0
        elif length == 0:
            last = wrap(-1, "b32")
        return first & ~last

    return reference


def extend(mode, ty):
    """`szext` by the manual's description."""

    def reference(a, length):
        length = min(length, 32) if mode == "clamp" else length & 31
        field = a & ((1 << length) - 1)
        negative = ty == "s32" and length and field >> (length - 1)
        return wrap(field - (1 << length), ty) if negative else field

    return reference


def numbered(mask, base, offset):
    """`fns` by the manual's pseudo code, but for the least offset."""
    offset = number(offset, "s32")
    if offset == 0:
        return base if mask >> base & 1 else wrap(-1, "b32")
    # The magnitude of the least offset is taken for a negative number, which is found at the end.
    if offset == -1 << 31:
        return 0
    step = 1 if offset > 0 else -1
    found = [place for place in range(base, 32 if step > 0 else -1, step) if mask >> place & 1]
    return found[abs(offset) - 1] if abs(offset) <= len(found) else wrap(-1, "b32")


def masks(tables):
    family = Family("integer_masks", "bmsk, szext, fns.", tables)
    for mode in ("clamp", "wrap"):
        fields = [("u32", "word_position"), ("u32", "word_length")]
        family.elementwise(
            f"bmsk_{mode}", fields, "b32", [f"bmsk.{mode}.b32 %d, %a, %b;"], mask(mode), count=WORDS
        )
        for ty in ("u32", "s32"):
            lines = [f"szext.{mode}.{ty} %d0, %a, %c;", f"szext.{mode}.{ty} %d1, %b, %c;"]
            family.elementwise(
                f"szext_{mode}_{ty}",
                [(ty, "w32_a"), (ty, "w32_b"), ("u32", "word_length")],
                [ty] * 2,
                lines,
                lambda a, b, c, extend=extend(mode, ty): [extend(a, c), extend(b, c)],
                count=WORDS,
            )
    # A base above 31 is undefined.
    lines = ["and.b32 %b, %b, 31;", "fns.b32 %d0, %a, %b, %c;", "fns.b32 %d1, %e, %b, %c;", "fns.b32 %d2, -1, %b, %c;"]
    family.elementwise(
        "fns",
        [("b32", "w32_a"), ("b32", "word_position"), ("b32", "word_offset"), ("b32", "w32_c")],
        ["b32"] * 3,
        lines,
        lambda a, b, c, e: [numbered(mask, b & 31, c) for mask in (a, e, wrap(-1, "b32"))],
        count=WORDS,
    )
    return family


def constants(ty):
    """Constants that compilers treat each in its own way, none of them zero."""
    bits = width(ty)
    powers = [1, 2, 4, 16, 256, 1 << bits // 2, 1 << bits - 2]
    others = [3, 6, 7, 10, 100, 641, (1 << bits - 1) - 1]
    if bits == 64:
        others += [(1 << 32) - 1, (1 << 33) + 3]
    if ty[0] == "u":
        return powers + others + [1 << bits - 1, (1 << bits) - 1, (1 << bits) - 3]
    return powers + others + [-1, -2, -7, -(1 << bits // 2), -(1 << bits - 1)]


def with_constants(tables):
    """What an operation gives with many constants, which drivers fold in each other's company, summed up in two ways."""
    family = Family("integer_constants", "Integer instructions with constant operands.", tables)
    operations = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "div": quotient,
        "rem": remainder,
        "min": min,
        "max": max,
        "mul.lo": lambda a, b: a * b,
    }
    for ty in ALL:
        bits = width(ty)
        high = lambda a, b, bits=bits: a * b >> bits
        chosen = constants(ty)
        for opcode, function in (operations | {"mul.hi": high}).items():
            for order in ("after", "before") if opcode in ("sub", "div", "rem") else ("after",):
                body, sums = [f"mov.b{bits} %d0, 0;", f"mov.b{bits} %d1, 0;"], []
                for constant in chosen:
                    operands = f"%a, {constant}" if order == "after" else f"{constant}, %a"
                    body.append(f"{opcode}.{ty} %x, {operands};")
                    body.append(f"add.{ty} %d0, %d0, %x;")
                    body.append(f"mad.lo.{ty} %d1, %d1, 31, %x;")

                def reference(a, function=function, order=order, chosen=chosen, ty=ty):
                    plain, weighted = 0, 0
                    for constant in chosen:
                        pair = (number(a, ty), constant)
                        result = function(*(pair if order == "after" else pair[::-1]))
                        plain, weighted = plain + result, weighted * 31 + result
                    return [wrap(plain, ty), wrap(weighted, ty)]

                name = f"{opcode.replace('.', '_')}_{ty}_{order}"
                family.elementwise(name, [table(ty, "a")], [ty] * 2, body, reference, registers=f".reg .{ty} %x;")
    # The sign of the least number's magnitude. On fewer bits the assembler gets that wrong.
    body = ["abs.s64 %x, %a;", "rem.s64 %d0, %x, %b;", "div.s64 %d1, %x, %b;"]
    magnitude = lambda a: number(wrap(abs(number(a, "s64")), "s64"), "s64")
    reference = lambda a, b: [wrap(function(magnitude(a), number(b, "s64")), "s64") for function in (remainder, quotient)]
    family.elementwise("abs_rem_s64", triple("s64", 2), ["s64"] * 2, body, reference, registers=".reg .s64 %x;")
    return family


def families(tables):
    return [arithmetic(tables), products(tables), with_constants(tables), bits(tables), masks(tables)]

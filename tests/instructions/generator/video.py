"""Scalar video instructions, as NVIDIA hardware of sm_50 and above gives them.

That hardware has no such instructions; what the compiler puts in their place computes on 64 bits and departs from the
manual here and there (docs/numerics.md). Every form was recorded on hardware.
"""

from dataclasses import dataclass
from itertools import count, product

from .compare import ORDER
from .exact import clamp, number, wrap
from .ptx import Family
from .values import WORDS

TYPES = ["u32", "s32"]
SELECTORS = [None, "b0", "b1", "b2", "b3", "h0", "h1"]
WORD = 0xFFFFFFFF


def bits_of(selector):
    return {"b": 8, "h": 16}[selector[0]] if selector else 32


def position_of(selector):
    return bits_of(selector) * int(selector[1]) if selector else 0


def select(word, ty, selector):
    """partSelectSignExtend"""
    bits = bits_of(selector)
    return number(word >> position_of(selector) & ((1 << bits) - 1), f"{ty[0]}{bits}")


def low(value, bits):
    """The low bits of a number, as a signed one."""
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


OPERATIONS = {
    "vadd": lambda a, b: a + b,
    "vsub": lambda a, b: a - b,
    "vabsdiff": lambda a, b: abs(a - b),
    "vmin": min,
    "vmax": max,
}
SHIFTS = {"vshl": lambda a, b: a << b, "vshr": lambda a, b: a >> b}
SECOND = {"min": min, "max": max}


@dataclass
class Scalar:
    """One instruction."""

    opcode: str
    types: list
    mode: str = ""
    sat: bool = False
    second: str = ""
    d: str = None
    a: str = None
    b: str = None

    def text(self, result):
        modifiers = [*self.types, *(["sat"] if self.sat else []), *filter(None, (self.mode, self.second))]
        dot = lambda register, selector: f"{register}.{selector}" if selector else register
        third = ", %c" if self.second or self.d else ""
        operands = f"{dot(result, self.d)}, {dot('%a', self.a)}, {dot('%b', self.b)}{third}"
        return f"{'.'.join([self.opcode, *modifiers])} {operands};"

    def value(self, a, b, c):
        *first, a_type, b_type = self.types
        # The operand c of vset has the signedness of a.
        signed = (first or self.types)[0][0] == "s"
        a, b = select(a, a_type, self.a), select(b, b_type, self.b)
        if self.opcode in SHIFTS:
            b = min(b, 32) if self.mode == "clamp" else b & 31
        operations = OPERATIONS | SHIFTS
        result = operations[self.opcode](a, b) if self.opcode in operations else int(ORDER[self.mode](a, b))
        if self.sat:
            result = self.saturate(result, signed)
        if self.second:
            result = self.combine(result, c, signed)
        if self.d == "h1":
            result = result & 0xFFFF0000 | c & 0xFFFF
        elif self.d:
            mask = ((1 << bits_of(self.d)) - 1) << position_of(self.d)
            result = result << position_of(self.d) & mask | c & ~mask
        return wrap(result, "u32")

    def saturate(self, result, signed):
        if self.opcode in SHIFTS:
            # What was shifted beyond 34 bits is lost; parts get their low bits of the saturated word.
            return clamp(low(result, 34), "s32" if signed else "u32")
        if self.d:
            most = (1 << bits_of(self.d) - signed) - 1
            return most if result < 0 else min(result, most)
        return clamp(result, "s32") if signed else max(result, 0)

    def combine(self, result, c, signed):
        if self.second == "add":
            return result + c
        if self.opcode in ("vadd", "vsub") or self.opcode in SHIFTS and self.sat:
            result = low(result, 32)
        # An unsigned comparison takes negative results for large ones.
        return SECOND[self.second](*((result, low(c, 32)) if signed else (result % (1 << 64), c)))


def selections():
    """Pairs of source selectors: 49 calls give each once."""
    pairs = list(product(SELECTORS, repeat=2))
    for index in count():
        yield pairs[index * 20 % len(pairs)]


def put(family, name, forms):
    family.elementwise(
        name,
        [("b32", f"w32_{letter}") for letter in "abc"],
        ["b32"] * len(forms),
        [form.text(f"%d{place}") for place, form in enumerate(forms)],
        lambda a, b, c: [form.value(a, b, c) for form in forms],
        count=WORDS,
    )


def groups(family, opcode, types, modes, sats, pairs):
    """Kernels of one opcode: plain forms, those with a second operation, and those that merge, each saturating or not."""
    heads = [(list(each), mode) for each in types for mode in modes]
    for sat in sats:
        suffix = "_sat" if sat else ""

        def make(repeat=1, **more):
            forms = []
            for each, mode in heads * repeat:
                a, b = next(pairs)
                forms.append(Scalar(opcode, each, mode, sat, a=a, b=b, **more))
            return forms

        put(family, f"{opcode}{suffix}", make(3))
        put(family, f"{opcode}_add{suffix}", make(second="add"))
        put(family, f"{opcode}_min_max{suffix}", make(second="min") + make(second="max"))
        put(family, f"{opcode}_merge{suffix}", [form for d in ("h0", "b0", "b1", "b2", "b3") for form in make(d=d)])
        put(family, f"{opcode}_merge_h1{suffix}", make(d="h1"))


def scalar(tables):
    family = Family(
        "video", "vadd, vsub, vabsdiff, vmin, vmax with all selectors.", tables
    )
    pairs = selections()
    for opcode in OPERATIONS:
        groups(family, opcode, product(TYPES, repeat=3), [""], [False, True], pairs)
    return family


def shifts(tables):
    family = Family("video_shifts", "vshl, vshr with all selectors.", tables)
    pairs = selections()
    types = [[ty, a_type, "u32"] for ty in TYPES for a_type in TYPES]
    for opcode in SHIFTS:
        groups(family, opcode, types, ["clamp", "wrap"], [False, True], pairs)
        # Random words are large amounts: here they are around the width.
        forms = [Scalar(opcode, each, mode, sat) for each in types for mode in ("clamp", "wrap") for sat in (False, True)]
        family.elementwise(
            f"{opcode}_amounts",
            [("b32", "w32_a"), ("b32", "word_length")],
            ["b32"] * len(forms),
            [form.text(f"%d{place}") for place, form in enumerate(forms)],
            lambda a, b, forms=forms: [form.value(a, b, 0) for form in forms],
            count=WORDS,
        )
    return family


def comparisons(tables):
    family = Family("video_comparisons", "vset with all selectors.", tables)
    groups(family, "vset", product(TYPES, repeat=2), list(ORDER), [False], selections())
    return family


@dataclass
class Mad:
    """One vmad; `signs` are those of a, b, c."""

    types: list
    signs: tuple = ("", "", "")
    po: bool = False
    sat: bool = False
    scale: int = 0
    a: str = None
    b: str = None

    def text(self, result):
        modifiers = [*self.types, *(["po"] if self.po else []), *(["sat"] if self.sat else [])]
        modifiers += [f"shr{self.scale}"] if self.scale else []
        names = [f"%a.{self.a}" if self.a else "%a", f"%b.{self.b}" if self.b else "%b", "%c"]
        operands = ", ".join(sign + name for sign, name in zip(self.signs, names))
        return f"vmad.{'.'.join(modifiers)} {result}, {operands};"

    def value(self, a, b, c):
        _, a_type, b_type = self.types
        # The factors and c count as signed words, whatever their types.
        product = low(select(a, a_type, self.a), 32) * low(select(b, b_type, self.b), 32)
        minus_product, minus_c = self.signs[0] != self.signs[1], self.signs[2] == "-"
        signed = "s" in a_type[0] + b_type[0] or minus_product or minus_c
        total = (-product if minus_product else product) + (-1 - low(c, 32) if minus_c else low(c, 32))
        total += int(self.po or minus_c)
        # Without a signed operand the shift and the bound are unsigned.
        result = (total if signed or not self.scale else total % (1 << 64)) >> self.scale
        return wrap(clamp(result, "s32" if signed else "u32") if self.sat else result, "u32")


def multiply_add(tables):
    family = Family(
        "video_mad", "vmad with all selectors, negations, .po, scales and .sat.", tables
    )
    pairs = selections()
    signs = [("", "", ""), ("-", "", ""), ("", "-", ""), ("-", "-", ""), ("", "", "-"), ("-", "-", "-"), None]
    for scale in (0, 7, 15):
        for sat in (False, True):
            for name, chosen in (("", signs[:1]), ("_minus_product", signs[1:3]), ("_minus_c", signs[4:5]), ("_po", signs[6:]), ("_both", (signs[3], signs[5]))):
                forms = []
                for ty, a_type, b_type in product(TYPES, repeat=3):
                    for each in chosen:
                        a, b = next(pairs)
                        # Full words give the largest products.
                        a, b = (None, None) if ty == "u32" and each is chosen[0] else (a, b)
                        forms.append(Mad([ty, a_type, b_type], each or ("", "", ""), each is None, sat, scale, a, b))
                put(family, f"vmad{name}{f'_shr{scale}' if scale else ''}{'_sat' if sat else ''}", forms)
    return family


def constants(tables):
    family = Family("video_constants", "Scalar video instructions with constants.", tables)
    a = [("b32", "w32_a")]
    signed = lambda word: number(word, "s32")
    forms = [
        ("vadd.s32.s32.s32 %d0, -7, %a.h1;", lambda a: select(a, "s32", "h1") - 7),
        ("vsub.u32.u32.s32.sat %d1, %a.b2, 200;", lambda a: max(select(a, "u32", "b2") - 200, 0)),
        ("vmax.s32.s32.s32.add %d2, %a, -1, 77;", lambda a: max(signed(a), -1) + 77),
        ("vabsdiff.u32.u32.u32 %d3.h0, %a.b0, 128, 0x12345678;", lambda a: 0x12340000 | abs((a & 255) - 128)),
        ("vshl.u32.u32.u32.wrap %d4, %a.h0, 35;", lambda a: (a & 0xFFFF) << 3),
        ("vset.s32.u32.lt.max %d5, -1, %a, 0;", lambda a: 1),
        ("vmad.s32.s32.s32 %d6, -3, %a.h0, 5;", lambda a: -3 * select(a, "s32", "h0") + 5),
        ("vmad.u32.u32.u32.po.shr7 %d7, %a, 4294967295, 4294967295;", lambda a: (-signed(a) - 1 + 1) % (1 << 64) >> 7),
    ]
    family.elementwise(
        "constants",
        a,
        ["b32"] * len(forms),
        [text for text, _ in forms],
        lambda a: [wrap(value(a), "u32") for _, value in forms],
        count=WORDS,
    )
    return family


def families(tables):
    return [scalar(tables), shifts(tables), comparisons(tables), multiply_add(tables), constants(tables)]

"""Extended precision: add.cc, addc, sub.cc, subc, mad.cc, madc."""

from .exact import number, width, wrap
from .ptx import Family
from .values import WORDS

TYPES = ["u32", "s32", "u64", "s64"]


class Flag:
    """The arithmetic of one type with the carry flag, as hardware has it: of the adder.

    A difference is a sum with the inverse and one, so that the flag of a subtraction is one where nothing was borrowed.
    """

    def __init__(self, ty):
        self.ty, self.bits, self.carry = ty, width(ty), 0

    def add(self, a, b, carry_in=False, cc=False):
        total = a + b + (self.carry if carry_in else 0)
        if cc:
            self.carry = total >> self.bits
        return wrap(total, self.ty)

    def sub(self, a, b, carry_in=False, cc=False):
        total = a + ((1 << self.bits) - 1 - b) + (self.carry if carry_in else 1)
        if cc:
            self.carry = total >> self.bits
        return wrap(total, self.ty)

    def mad(self, part, a, b, c, carry_in=False, cc=False):
        product = number(a, self.ty) * number(b, self.ty) >> (self.bits if part == "hi" else 0)
        return self.add(wrap(product, self.ty), c, carry_in, cc)


def inputs(ty, count=3):
    return [(ty, f"w{width(ty)}_{letter}") for letter in "abc"[:count]]


def put(family, name, ty, lines, steps, registers=""):
    """A kernel of these lines, and what `steps` computes with a flag that starts as zero."""
    count = sum(f"%d{index}," in "".join(lines) for index in range(10))
    family.elementwise(
        f"{name}_{ty}",
        inputs(ty),
        [ty] * count,
        lines,
        lambda a, b, c: steps(Flag(ty), a, b, c),
        registers,
        count=WORDS,
    )


def chains(tables):
    family = Family(
        "extended",
        "add.cc, addc, sub.cc, subc, mad.cc, madc. The last results show the flag, and that it stays where .cc is missing.",
        tables,
    )
    for ty in TYPES:
        for opcode, function in (("add", Flag.add), ("sub", Flag.sub)):
            lines = [
                f"{opcode}.cc.{ty} %d0, %a, %b;",
                f"{opcode}c.cc.{ty} %d1, %b, %c;",
                f"{opcode}c.cc.{ty} %d2, %c, %a;",
                f"{opcode}c.{ty} %d3, %a, %c;",
                f"{opcode}c.{ty} %d4, 0, 0;",
            ]

            def steps(flag, a, b, c, do=function):
                return [
                    do(flag, a, b, cc=True),
                    do(flag, b, c, carry_in=True, cc=True),
                    do(flag, c, a, carry_in=True, cc=True),
                    do(flag, a, c, carry_in=True),
                    do(flag, 0, 0, carry_in=True),
                ]

            put(family, opcode, ty, lines, steps)
        for first, second in (("lo", "hi"), ("hi", "lo")):
            lines = [
                f"mad.{first}.cc.{ty} %d0, %a, %b, %c;",
                f"madc.{second}.cc.{ty} %d1, %b, %c, %a;",
                f"madc.{first}.cc.{ty} %d2, %c, %a, %b;",
                f"madc.{second}.{ty} %d3, %a, %b, %c;",
                f"addc.{ty} %d4, 0, 0;",
            ]

            def steps(flag, a, b, c, first=first, second=second):
                return [
                    flag.mad(first, a, b, c, cc=True),
                    flag.mad(second, b, c, a, carry_in=True, cc=True),
                    flag.mad(first, c, a, b, carry_in=True, cc=True),
                    flag.mad(second, a, b, c, carry_in=True),
                    flag.add(0, 0, carry_in=True),
                ]

            put(family, f"mad_{first}", ty, lines, steps)
    # The manual's example: [r3,r2,r1,r0] = [r5,r4] * [r7,r6], here on [b,a] * [a,c].
    for ty in ("u32", "u64"):
        bits = width(ty)
        lines = [
            f"mul.lo.{ty} %d0, %a, %c;",
            f"mul.hi.{ty} %d1, %a, %c;",
            f"mad.lo.cc.{ty} %d1, %b, %c, %d1;",
            f"madc.hi.{ty} %d2, %b, %c, 0;",
            f"mad.lo.cc.{ty} %d1, %a, %a, %d1;",
            f"madc.hi.cc.{ty} %d2, %a, %a, %d2;",
            f"addc.{ty} %d3, 0, 0;",
            f"mad.lo.cc.{ty} %d2, %b, %a, %d2;",
            f"madc.hi.{ty} %d3, %b, %a, %d3;",
        ]

        def product(_, a, b, c, bits=bits, ty=ty):
            whole = (b << bits | a) * (a << bits | c)
            return [wrap(whole >> (bits * place), ty) for place in range(4)]

        put(family, "multiword_product", ty, lines, product)
    return family


def guarded(tables):
    family = Family(
        "extended_flow",
        "The carry flag under guards and through branches, and mixed chains: add.cc before subc and the other way.",
        tables,
    )
    for ty in ("u32", "s64"):
        zero = f"setp.lt.s{width(ty)} %p, %c, 0;"
        put(
            family,
            "guard",
            ty,
            [
                zero,
                f"add.cc.{ty} %d0, %a, %b;",
                f"@%p addc.cc.{ty} %d0, %b, %c;",
                f"addc.{ty} %d1, %b, %c;",
                f"@!%p sub.cc.{ty} %d1, %c, %a;",
                f"subc.{ty} %d2, %a, 0;",
            ],
            lambda flag, a, b, c, ty=ty: guards(flag, a, b, c, number(c, ty.replace("u", "s")) < 0),
            ".reg .pred %p;",
        )
        put(
            family,
            "mixed",
            ty,
            [
                f"add.cc.{ty} %d0, %a, %b;",
                f"subc.cc.{ty} %d1, %b, %c;",
                f"addc.cc.{ty} %d2, %c, %a;",
                f"madc.lo.cc.{ty} %d3, %a, %b, %c;",
                f"subc.{ty} %d4, 0, 0;",
            ],
            lambda flag, a, b, c: [
                flag.add(a, b, cc=True),
                flag.sub(b, c, carry_in=True, cc=True),
                flag.add(c, a, carry_in=True, cc=True),
                flag.mad("lo", a, b, c, carry_in=True, cc=True),
                flag.sub(0, 0, carry_in=True),
            ],
        )
        put(
            family,
            "branch",
            ty,
            [
                zero,
                "@%p bra other;",
                f"add.cc.{ty} %d0, %a, %b;",
                "bra.uni join;",
                "other:",
                f"sub.cc.{ty} %d0, %a, %b;",
                "join:",
                f"addc.{ty} %d1, %c, 0;",
            ],
            lambda flag, a, b, c, ty=ty: [
                (flag.sub if number(c, ty.replace("u", "s")) < 0 else flag.add)(a, b, cc=True),
                flag.add(c, 0, carry_in=True),
            ],
            ".reg .pred %p;",
        )
    return family


def guards(flag, a, b, c, negative):
    first = flag.add(a, b, cc=True)
    if negative:
        first = flag.add(b, c, carry_in=True, cc=True)
    second = flag.add(b, c, carry_in=True)
    if not negative:
        second = flag.sub(c, a, cc=True)
    return [first, second, flag.sub(a, 0, carry_in=True)]


def families(tables):
    return [chains(tables), guarded(tables)]

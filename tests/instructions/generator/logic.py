"""Bitwise logic, shifts, lop3, shf, prmt."""

from .exact import number, width, wrap
from .ptx import Family, header

BITWISE = {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b}
# Every table of one and two variables that compilers emit, majority, choice, and some that look like nothing.
TABLES = [
    0x00,
    0xFF,
    0x80,
    0xFE,
    0x96,
    0xE8,
    0xCA,
    0xD8,
    0x0F,
    0x33,
    0x55,
    0xF0,
    0xCC,
    0xAA,
    0x3C,
    0x5A,
    0x66,
    0xC0,
    0xA0,
    0x88,
    0xFC,
    0xFA,
    0xEE,
    0x01,
    0x7F,
    0x69,
    0x6A,
    0xB8,
    0x1B,
    0x9D,
    0x27,
    0x42,
    0xF8,
    0x78,
    0x28,
    0x60,
]


def bitwise(tables):
    family = Family("logic", "and, or, xor, not, cnot, lop3.", tables)
    predicates = ".reg .pred %p, %q;"
    load = ["and.b32 %a, %a, 1;", "setp.ne.u32 %p, %a, 0;", "and.b32 %b, %b, 1;", "setp.ne.u32 %q, %b, 0;"]
    for opcode, function in BITWISE.items():
        for size in (16, 32, 64):
            pair = [(f"b{size}", f"i{size}_a"), (f"b{size}", f"i{size}_b")]
            family.elementwise(f"{opcode}_b{size}", pair, f"b{size}", [f"{opcode}.b{size} %d, %a, %b;"], function)
        pair = [("b32", "i32_a"), ("b32", "i32_b")]
        family.elementwise(
            f"{opcode}_pred",
            pair,
            "u32",
            [*load, f"{opcode}.pred %p, %p, %q;", "selp.u32 %d, 1, 0, %p;"],
            lambda a, b, function=function: function(a & 1, b & 1),
            predicates,
        )
    for size in (16, 32, 64):
        operand = [(f"b{size}", f"i{size}_u")]
        family.elementwise(
            f"not_b{size}", operand, f"b{size}", [f"not.b{size} %d, %a;"], lambda a, size=size: wrap(~a, f"b{size}")
        )
        family.elementwise(f"cnot_b{size}", operand, f"b{size}", [f"cnot.b{size} %d, %a;"], lambda a: int(a == 0))
    family.elementwise(
        "not_pred",
        [("b32", "i32_u")],
        "u32",
        [*load[:2], "not.pred %q, %p;", "selp.u32 %d, 1, 0, %q;"],
        lambda a: 1 - (a & 1),
        predicates,
    )
    triple = [("b32", f"i32_{letter}") for letter in "abc"]
    for table in TABLES:
        family.elementwise(
            f"lop3_{table:02x}", triple, "b32", [f"lop3.b32 %d, %a, %b, %c, 0x{table:02x};"], truth(table), count=32
        )
    return family


def truth(table):
    def reference(a, b, c):
        place = lambda bit: (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | c >> bit & 1
        return sum((table >> place(bit) & 1) << bit for bit in range(32))

    return reference


def lop3_predicates(tables):
    family = Family(
        "lop3_predicate", "lop3 with a predicate: whether the result is zero, and, or.", tables, header=header("8.2")
    )
    inputs = [("b32", "i32_a"), ("b32", "i32_b"), ("b32", "i32_c"), ("b32", "flag")]
    # In these tables a good part of the operands gives zero.
    for table in (0x00, 0x80, 0x24, 0x40, 0x7F):
        lines = [
            "setp.ne.u32 %q, %e, 0;",
            f"lop3.and.b32 %d0|%p, %a, %b, %c, {table}, %q;",
            "selp.b32 %d1, 1, 0, %p;",
            f"lop3.or.b32 %d2|%p, %a, %b, %c, {table}, %q;",
            "selp.b32 %d3, 1, 0, %p;",
            f"lop3.or.b32 _|%p, %a, %b, %c, {table}, !%q;",
            "selp.b32 %d4, 1, 0, %p;",
        ]

        def reference(a, b, c, e, function=truth(table)):
            value = function(a, b, c)
            any_ = int(value != 0)
            return [value, any_ & e, value, any_ | e, any_ | (1 - e)]

        family.elementwise(
            f"lop3_predicate_{table:02x}", inputs, ["b32"] * 5, lines, reference, ".reg .pred %p, %q;", count=40
        )
    return family


def shifts(tables):
    family = Family("shifts", "shl, shr, shf. Amounts reach beyond the width.", tables)
    for size in (16, 32, 64):
        family.elementwise(
            f"shl_b{size}",
            [(f"b{size}", f"i{size}_u"), ("u32", "shift")],
            f"b{size}",
            [f"shl.b{size} %d, %a, %b;"],
            lambda a, b, size=size: wrap(a << min(b, size), f"b{size}"),
        )
        for sign in "bus":
            ty = f"{sign}{size}"
            family.elementwise(
                f"shr_{ty}",
                [(ty, f"i{size}_u"), ("u32", "shift")],
                ty,
                [f"shr.{ty} %d, %a, %b;"],
                lambda a, b, ty=ty: wrap(number(a, ty) >> min(b, width(ty)), ty),
            )
    for direction in "lr":
        for mode in ("clamp", "wrap"):

            def reference(a, b, c, direction=direction, mode=mode):
                amount = min(c, 32) if mode == "clamp" else c & 31
                both = b << 32 | a
                return (both << amount >> 32 if direction == "l" else both >> amount) & 0xFFFFFFFF

            family.elementwise(
                f"shf_{direction}_{mode}",
                [("b32", "i32_a"), ("b32", "i32_b"), ("u32", "shift")],
                "b32",
                [f"shf.{direction}.{mode}.b32 %d, %a, %b, %c;"],
                reference,
            )
    return family


# Source bytes by mode and the two low bits of the control, from the lowest byte of the result up (PTX manual, `prmt`).
BYTES = {
    "f4e": [(0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)],
    "b4e": [(0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)],
    "rc8": [(0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)],
    "ecl": [(0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)],
    "ecr": [(0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)],
    "rc16": [(0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)],
}


def permutations(tables):
    family = Family("permutations", "prmt in all modes.", tables)
    operands = [("b32", "i32_a"), ("b32", "i32_b"), ("b32", "control")]

    def generic(a, b, c):
        both, result = b << 32 | a, 0
        for place in range(4):
            selector = c >> (4 * place) & 15
            byte = both >> (8 * (selector & 7)) & 255
            result |= (255 * (byte >> 7) if selector & 8 else byte) << (8 * place)
        return result

    family.elementwise("prmt_default", operands, "b32", ["prmt.b32 %d, %a, %b, %c;"], generic)
    for mode, rows in BYTES.items():

        def reference(a, b, c, rows=rows):
            both = b << 32 | a
            return sum((both >> (8 * number) & 255) << (8 * place) for place, number in enumerate(rows[c & 3]))

        family.elementwise(f"prmt_{mode}", operands, "b32", [f"prmt.b32.{mode} %d, %a, %b, %c;"], reference)
    return family


def families(tables):
    return [bitwise(tables), lop3_predicates(tables), shifts(tables), permutations(tables)]

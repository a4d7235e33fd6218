"""SIMD video instructions, by the manual's pseudo code on exact integers."""

import random
from dataclasses import dataclass, field
from itertools import combinations, product

from .compare import ORDER
from .exact import clamp, number, wrap
from .ptx import Family
from .values import WORDS
from .video import TYPES, put


def average(a, b):
    return (a + b + 1) >> 1 if a + b >= 0 else (a + b) >> 1


OPERATIONS = {
    "vadd": lambda a, b: a + b,
    "vsub": lambda a, b: a - b,
    "vavrg": average,
    "vabsdiff": lambda a, b: abs(a - b),
    "vmin": min,
    "vmax": max,
}


@dataclass
class Simd:
    """One instruction on `lanes` parts; selectors are lists of numbers, the lowest place first, or empty."""

    opcode: str
    lanes: int
    types: list
    mode: str = ""
    then: str = ""
    mask: list = field(default_factory=list)
    a: list = field(default_factory=list)
    b: list = field(default_factory=list)

    def text(self, result):
        letter = {2: "h", 4: "b"}[self.lanes]
        dot = lambda name, numbers: f"{name}.{letter}{''.join(map(str, reversed(numbers)))}" if numbers else name
        modifiers = [*self.types, *filter(None, (self.mode, self.then))]
        operands = f"{dot(result, self.mask)}, {dot('%a', self.a)}, {dot('%b', self.b)}, %c"
        return f"{self.opcode}{self.lanes}.{'.'.join(modifiers)} {operands};"

    def value(self, a, b, c):
        lanes, bits = self.lanes, 32 // self.lanes
        *first, a_type, b_type = self.types
        ty = first[0] if first else "u32"
        parts = [word >> place & ((1 << bits) - 1) for word in (a, b) for place in range(0, 32, bits)]
        own = list(range(lanes))
        choose = lambda numbers, ty: [number(parts[n], f"{ty[0]}{bits}") for n in numbers]
        pairs = zip(choose(self.a or own, a_type), choose(self.b or [lanes + n for n in own], b_type))
        operation = OPERATIONS.get(self.opcode) or (lambda a, b: int(ORDER[self.mode](a, b)))
        results = [operation(x, y) for x, y in pairs]
        if self.then == "sat":
            results = [clamp(result, f"{ty[0]}{bits}") for result in results]
        mask = self.mask or own
        if self.then == "add":
            return wrap(c + sum(results[lane] for lane in mask), "u32")
        for lane in mask:
            place = ((1 << bits) - 1) << bits * lane
            c = c & ~place | results[lane] << bits * lane & place
        return c


def masks(lanes):
    """All masks of an instruction, none among them."""
    return [list(mask) for size in range(lanes + 1) for mask in combinations(range(lanes), size)]


def put_all(family, opcode, lanes, heads, thens, repeat, rng):
    """Kernels of one opcode; masks and selectors are drawn, so that over the opcodes all are met."""
    draw = lambda: [] if rng.random() < 0.2 else [rng.randrange(2 * lanes) for _ in range(lanes)]
    for then in thens:
        forms = [
            Simd(opcode, lanes, list(types), mode, then, rng.choice(masks(lanes)), draw(), draw())
            for types, mode in heads * repeat
        ]
        put(family, f"{opcode}{lanes}{f'_{then}' if then else ''}", forms)


def arithmetic(tables, lanes):
    words = {2: "half-words", 4: "bytes"}[lanes]
    family = Family(
        f"video_simd{lanes}",
        f"vadd{lanes}, vsub{lanes}, vavrg{lanes}, vabsdiff{lanes}, vmin{lanes}, vmax{lanes}, vset{lanes} on {words}.",
        tables,
    )
    rng = random.Random(f"simd {lanes}")
    for opcode in OPERATIONS:
        heads = [(types, "") for types in product(TYPES, repeat=3)]
        put_all(family, opcode, lanes, heads, ["", "sat", "add"], 2, rng)
    heads = [(types, mode) for types in product(TYPES, repeat=2) for mode in ORDER]
    put_all(family, "vset", lanes, heads, ["", "add"], 1, rng)
    return family


def beside_division(tables):
    """Saturation in kernels that divide 64-bit numbers, where NVIDIA's Vulkan driver has left it out."""
    family = Family("video_simd_division", "SIMD video instructions beside 64-bit divisions.", tables)
    for opcode, lanes, ty in product(("vadd", "vsub"), (2, 4), TYPES):
        form = Simd(opcode, lanes, [ty] * 3, then="sat")
        body = ["cvt.u64.u32 %x, %a;", "cvt.u64.u32 %y, %b;", "or.b64 %y, %y, 1;", "rem.u64 %x, %x, %y;"]
        body += ["cvt.u32.u64 %d0, %x;", form.text("%d1")]
        family.elementwise(
            f"{opcode}{lanes}_{ty}",
            [("u32", "w32_a"), ("u32", "w32_b"), ("u32", "w32_c")],
            ["u32"] * 2,
            body,
            lambda a, b, c, form=form: [a % (b | 1), form.value(a, b, c)],
            registers=".reg .b64 %x, %y;",
            count=WORDS,
        )
    return family


def families(tables):
    return [arithmetic(tables, 2), arithmetic(tables, 4), beside_division(tables)]

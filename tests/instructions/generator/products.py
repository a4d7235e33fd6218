"""Products of matrices in the registers of a warp: `mma`, `mma.sp`, `wmma`.

Sums of products follow the model that docs/numerics.md describes. All forms of `mma` and `mma.sp`, and those of `wmma` on floats, were compared with an
H200 on 30,000 sums each: 240 warps whose operands are of the categories of `matrices.element`.
"""

import random
import re
import struct

from .matrices import FORMATS, KEPT, decode, element, encode, fused, hexadecimal
from .ptx import Family, header

BITS = {"s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "s32": 32} | {name: form[0] for name, form in FORMATS.items()}
CATEGORIES = 10
WMMA = ("m16n16k16", "m32n8k16", "m8n32k16")


def rounded(ty, total, unit, mode="rn", zero=0):
    """The bits of `total * 2**unit`, rounded as IEEE 754 says."""
    width, exponent, fraction = FORMATS[ty]
    bias, top = (1 << exponent - 1) - 1, (1 << exponent) - 1
    if total == 0:
        return zero
    negative, magnitude = total < 0, abs(total)
    lowest = max(unit + magnitude.bit_length() - 1 - fraction, 1 - bias - fraction)
    if lowest > unit:
        rest, half = magnitude & (1 << lowest - unit) - 1, 1 << lowest - unit - 1
        significand = magnitude >> lowest - unit
        up = {"rn": rest > half or rest == half and significand & 1, "rz": 0, "rm": rest and negative, "rp": rest and not negative}[mode]
        significand += 1 if up else 0
    else:
        significand = magnitude << unit - lowest
    bits = (max(lowest + fraction + bias - 1, 0) << fraction) + significand
    infinite = {"rn": True, "rz": False, "rm": negative, "rp": not negative}[mode]
    if bits >= top << fraction:
        bits = (top << fraction) - (not infinite)
    return negative << width - 1 | bits


def converted(to, ty, bits):
    """A float in another format, rounded to nearest even."""
    kind, sign, significand, scale, _ = decode(ty, bits)
    width, exponent, fraction = FORMATS[to]
    if kind == "nan":
        return (1 << width - 1) - 1
    magnitude = (1 << exponent) - 1 << fraction if kind == "inf" else rounded(to, significand, scale)
    return sign << width - 1 | magnitude


def fma(ty, a, b, c, mode):
    """`a * b + c` on bits. NaNs are those of hardware: of f64, the quiet one of the first operand that is NaN, in the order b, c, a."""
    width, exponent, fraction = FORMATS[ty]
    parts = [decode(ty, bits) for bits in (a, b, c)]
    (ak, asign, am, ascale, _), (bk, bsign, bm, bscale, _), (ck, csign, cm, cscale, _) = parts
    sign, infinity = asign ^ bsign, (1 << exponent) - 1 << fraction
    default = 0xFFF8 << 48 if ty == "f64" else (1 << width - 1) - 1
    for kind, bits in ((bk, b), (ck, c), (ak, a)):
        if kind == "nan":
            return bits | 1 << fraction - 1 if ty == "f64" else default
    if "inf" in (ak, bk):
        undefined = ("number", 0) in ((ak, am), (bk, bm)) or ck == "inf" and csign != sign
        return default if undefined else sign << width - 1 | infinity
    if ck == "inf":
        return c
    unit = min(ascale + bscale, cscale)
    total = ((-1) ** sign * am * bm << ascale + bscale - unit) + ((-1) ** csign * cm << cscale - unit)
    zero = sign << width - 1 if sign == csign else (mode == "rm") << width - 1
    return rounded(ty, total, unit, mode, zero)


def number(ty, bits):
    """An integer by its bits."""
    return bits - (1 << BITS[ty]) if ty[0] == "s" and bits >> BITS[ty] - 1 else bits


def added(a, b, ty="f32"):
    """The bits of a sum of two floats, rounded to nearest even."""
    return fma(ty, {"f32": 127 << 23, "f16": 15 << 10}[ty], a, b, "rn")


class Form:
    """A form of a product: its shape, types of D, A, B and C, and what else its modifiers say."""

    # What sums of floats are like in each generation: bits that are kept below the largest exponent, and bytes of a line that are taken at once.
    GENERATIONS = {"volta": (23, 8), "turing": (24, 16), "ampere": (24, 16), "ada": (24, 16), "hopper": (KEPT, 32)}
    # Sums of whole numbers, in any order.
    GENERATIONS["fast"] = GENERATIONS["hopper"]

    def __init__(self, shape, d, a, b, c, **more):
        self.shape, self.types = shape, dict(d=d, a=a, b=b, c=c)
        self.rows, self.columns, self.depth = map(int, re.match(r"m(\d+)n(\d+)k(\d+)", shape).groups())
        self.sparse, self.wmma, self.mode, self.saturates, self.operator, self.selector = (
            more.get(key) for key in ("sparse", "wmma", "mode", "saturates", "operator", "selector")
        )
        self.layouts = more.get("layouts", ("row", "col"))
        self.generation = more.get("generation", "hopper")
        # Lines of B are held as those of A are otherwise.
        self.turned = self.columns == 32
        # Four products at once; they are blocks on the diagonal here.
        self.quads = (shape, a) == ("m8n8k4", "f16")

    def text(self):
        d, a, b, c = self.types.values()
        types = f"{d}.{c}" if self.wmma and a == "f16" else f"{d}.{a}.{b}.{c}"
        mode = (f".{self.mode}" if self.mode else "") + (".satfinite" if self.saturates else "")
        layouts, operator = ".".join(self.layouts), f".{self.operator}.popc" if self.operator else ""
        if self.wmma:
            return f"wmma.mma{operator}.sync.aligned.{layouts}.{self.shape}{mode}.{types}"
        return f"mma{f'.{self.sparse}' if self.sparse else ''}.sync.aligned.{self.shape}.{layouts}{mode}.{types}{operator}"

    def name(self):
        name = self.text().replace("sync.aligned.", "").replace("sp::ordered_metadata", "spo")
        return re.sub(r"[^a-z0-9]+", "_", name) + (f"_s{self.selector}" if self.sparse else "")

    def case_name(self):
        """The kernel's name, and whose arithmetic is meant unless it is the latest generation's."""
        return self.name() + ("" if self.generation == "hopper" else f"_{self.generation}")

    def places(self, matrix, lane):
        """Row and column of the elements of a fragment in a lane, in their order."""
        if self.quads:
            return self.places_of_quads(matrix, lane)
        group, thread = lane >> 2, lane & 3
        tall = {"a": not self.turned, "b": self.turned}.get(matrix)
        per = max(1, 32 // BITS[self.types[matrix]])
        if matrix in "ab":
            lines = self.rows if matrix == "a" else self.columns
            depth = self.depth // 2 if self.sparse and matrix == "a" else self.depth
            pair = 2 if tall and lines > 8 else 1
            found = [
                (first + 8 * half + group, start + per * thread + index)
                for first in range(0, lines, 8 * pair) for start in range(0, depth, 4 * per) for half in range(pair) for index in range(per)
            ]
            return found if matrix == "a" else [(k, line) for line, k in found]
        lines, across = (self.columns, self.rows) if self.turned else (self.rows, self.columns)
        pair = 2 if lines > 8 else 1
        found = [
            (first + 8 * half + group, second + 2 * thread + index)
            for first in range(0, lines, 8 * pair) for second in range(0, across, 8) for half in range(pair) for index in range(2)
        ]
        return [(row, column) for column, row in found] if self.turned else found

    def places_of_quads(self, matrix, lane):
        upper, quad, own = lane >> 4, 8 * (lane >> 2 & 3), lane & 3
        if matrix in "ab":
            along = self.layouts["ab".index(matrix)] == ("row" if matrix == "a" else "col")
            found = [(quad + 4 * upper + own, k) if along else (quad + 4 * upper + k, own) for k in range(4)]
            return found if matrix == "a" else [(k, line) for line, k in found]
        if self.types[matrix] == "f16":
            return [(quad + 4 * upper + own, quad + column) for column in range(8)]
        return [(quad + (lane & 1) + (i & 2) + 4 * upper, quad + (i & 4) + (lane & 2) + (i & 1)) for i in range(8)]

    def counts(self):
        """Registers of each fragment."""
        counts = {}
        for matrix, ty in self.types.items():
            counts[matrix] = len(self.places(matrix, 0)) // max(1, 32 // BITS[ty])
            if self.wmma and ty == "f16" and matrix in "ab":
                counts[matrix] = 8
        return counts

    def register(self, matrix):
        ty = self.types[matrix]
        return ty if ty in ("f32", "f64", "s32") else "b32"

    def kept(self, metadata, row):
        """The place in the direction of the sum of each element of a row."""
        if not self.sparse:
            return range(self.depth)
        ty = self.types["a"]
        quad, half = metadata[row % 8 * 4:][:4], row // 8
        narrow = BITS[ty] <= 8
        fours = self.depth // 2 * BITS[ty] // (16 if narrow else 32)
        lanes = fours // 4
        words = quad[self.selector * lanes:][:lanes]
        if narrow:
            words = words[half::2]
            found = [word >> 4 * i & 15 for word in words for i in range(8)]
        else:
            found = [word >> 16 * half + 4 * i & 15 for word in words for i in range(4)]
        indices = [4 * number + (four >> 2 * i & 3) for number, four in enumerate(found) for i in range(2)]
        if ty == "tf32":
            return [index // 2 for index in indices[::2]]
        if BITS[ty] == 4:
            return [2 * index + i for index in indices for i in range(2)]
        return indices

    def sum(self, row, column, addend):
        """The bits of a sum of products of two lists of bits."""
        d, a, b, c = self.types.values()
        if a == "f64":
            for x, y in zip(row, column):
                addend = fma("f64", x, y, addend, self.mode or "rn")
            return addend
        if a == "b1":
            return addend + sum((x & y) if self.operator == "and" else (x ^ y) for x, y in zip(row, column)) & 0xFFFFFFFF
        if d == "s32":
            total = number("s32", addend) + sum(number(a, x) * number(b, y) for x, y in zip(row, column))
            return (max(-1 << 31, min((1 << 31) - 1, total)) if self.saturates else total) & 0xFFFFFFFF
        kept, at_once = self.GENERATIONS[self.generation]
        if BITS[a] == 8 and self.generation not in ("hopper", "fast"):
            # Sums of their own, with fewer bits.
            terms = [(decode(a, x), decode(b, y)) for x, y in zip(row, column)]
            for start in range(0, len(terms), at_once):
                addend = fused(d, decode(c, addend), terms[start:][:at_once], 13)
                if d == "f32" and addend & 0x7FFFFFFF < 0x7F800000:
                    addend &= ~0x3FF
            return addend
        if BITS[a] == 8:
            # As f16, in two instructions, and the addend at last.
            terms = [tuple(decode("f16", converted("f16", ty, bits)) for ty, bits in ((a, x), (b, y))) for x, y in zip(row, column)]
            total = 0
            for part in (0, 2):
                total = fused(d, decode(d, total), [term for k, term in enumerate(terms) if k & 2 == part])
            return added(total, addend, d)
        if self.quads and self.generation not in ("volta", "turing"):
            x, y, z, w = (fma("f32", converted("f32", a, x), converted("f32", b, y), 1 << 31, "rn") for x, y in zip(row, column))
            addend = converted("f32", c, addend)
            if d == "f32":
                return added(added(added(added(added(0, x), y), z), w), addend)
            return converted("f16", "f32", added(added(added(x, y), addend), added(z, w)))
        terms = [(decode(a, x), decode(b, y)) for x, y in zip(row, column)]
        if (d, c) == ("f32", "f16"):
            addend, c = converted("f32", "f16", addend), "f32"
        result = c if (d, c) == ("f16", "f32") else d
        step = 4 if self.wmma and a == "tf32" else len(terms)
        step = min(step, 8 * at_once // BITS[a])
        for start in range(0, len(terms), step):
            addend = fused(result, decode(c, addend), terms[start:][:step], kept)
        return converted(d, result, addend) if result != d else addend


def word(rng, ty, category, is_addend):
    """A word of a fragment."""
    bits = BITS[ty]
    if ty not in FORMATS:
        edges = [0, 0xFFFFFFFF, 0x80808080, 0x7F7F7F7F, 0x88888888, 0x77777777, 0x7FFFFFFF, 0x80000000]
        return rng.choice(edges) if category == 0 else rng.getrandbits(32)
    if bits >= 32:
        return element(rng, ty, category, is_addend)
    return sum(element(rng, ty, category, is_addend) << bits * i for i in range(32 // bits))


def whole_number(rng, ty):
    """A whole number, of which sums of products are exact in any order."""
    return converted("f32" if ty == "tf32" else ty, "f32", struct.unpack("<I", struct.pack("<f", rng.randint(-4, 4)))[0])


def metadata(rng, ty):
    """Pairs of ascending indices; of tf32 whole words."""
    choices = [0b1110, 0b0100] if ty == "tf32" else [0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110]
    return sum(rng.choice(choices) << 4 * i for i in range(8))


def elements(ty, words):
    width = BITS[ty]
    return [word >> width * i & (1 << width) - 1 for word in words for i in range(max(1, 32 // width))]


def joined(ty, values):
    """Elements as words."""
    per = max(1, 32 // BITS[ty])
    return [sum(value << BITS[ty] * i for i, value in enumerate(values[start:][:per])) for start in range(0, len(values), per)]


class Pools:
    """Operands that cases have in common: for each type and use, `most` words for each lane of each warp."""

    def __init__(self, family):
        self.family, self.known = family, {}

    def get(self, ty, use, warps, most, whole=False):
        # One of integers for all types.
        ty = ty if ty in FORMATS or use == "m" else "s32"
        key = f"{ty}_{use}_{warps}_{most}" + ("_whole" if whole else "")
        if key not in self.known:
            rng = random.Random(key)
            make = (lambda category: metadata(rng, ty)) if use == "m" else lambda category: word(rng, ty, category, use == "c")
            if whole and use != "m":
                make = lambda _: joined(ty, [whole_number(rng, ty) for _ in range(max(1, 32 // BITS[ty]))])[0]
            self.known[key] = [make(warp * CATEGORIES // warps) for warp in range(warps) for _ in range(32 * most)]
            self.family.operands(key, 64 if ty == "f64" else 32, self.known[key])
        return key, self.known[key]


def product(family, pools, form, warps):
    counts = form.counts()
    size = 8 if form.types["a"] == "f64" else 4
    uses = ["a", "b", "c"] + (["m"] if form.sparse else [])
    most = {"a": 8, "b": 8, "c": 8, "m": 1}
    body = ["mov.u32 %t, %tid.x;", "mov.u32 %w, %ctaid.x;", "mad.lo.u32 %t, %w, 32, %t;"]
    for use in uses:
        count, kind = (1, "b32") if use == "m" else (counts[use], form.register(use))
        body += [f"ld.param.u64 %p, [{use}];", f"mad.wide.u32 %p, %t, {most[use] * size}, %p;"]
        body += [f"ld.global.{kind} %{use}{i}, [%p+{i * size}];" for i in range(count)]
    vectors = {use: "{" + ", ".join(f"%{use}{i}" for i in range(count)) + "}" for use, count in counts.items()}
    tail = f", %m0, {form.selector}" if form.sparse else ""
    body.append(f"{form.text()} {vectors['d']}, {vectors['a']}, {vectors['b']}, {vectors['c']}{tail};")
    body += ["ld.param.u64 %p, [out];", f"mad.wide.u32 %p, %t, {counts['d'] * size}, %p;"]
    body += [f"st.global.{form.register('d')} [%p+{i * size}], %d{i};" for i in range(counts["d"])]
    registers = [".reg .b32 %t, %w;", ".reg .b64 %p;"] + ([".reg .b32 %m0;"] if form.sparse else [])
    registers += [f".reg .{form.register(use)} %{use}<{count}>;" for use, count in counts.items()]
    name = form.name()
    if all(case["entry"] != name for case in family.cases):
        family.kernel(name, [".param .u64 out"] + [f".param .u64 {use}" for use in uses], registers, body)
    args, data = [], {}
    for use in uses:
        ty = form.types["a" if use == "m" else use]
        kind = use if use in "cm" else "ab" if ty in FORMATS else use
        table, values = pools.get(ty, kind, warps, most[use], whole=form.generation == "fast")
        args.append({"type": "u64" if size == 8 else "u32", "table": table})
        data[use] = values
    expected = []
    for warp in range(warps):
        lanes = [{use: data[use][(32 * warp + lane) * most[use]:][:most[use]] for use in uses} for lane in range(32)]
        given = {}
        for use in "abc":
            given[use] = {
                place: bits for lane, own in enumerate(lanes) for place, bits in zip(form.places(use, lane), elements(form.types[use], own[use][:counts[use]]))
            }
        indices = [own["m"][0] for own in lanes] if form.sparse else None
        for lane in range(32):
            sums = []
            for row, column in form.places("d", lane):
                kept = form.kept(indices, row)
                ks = range(len(kept))
                line = [given["a"][row, k] for k in ks]
                sums.append(form.sum(line, [given["b"][k, column] for k in kept], given["c"][row, column]))
            expected += joined(form.types["d"], sums)
    args.insert(0, {"type": "u64" if size == 8 else "u32", "zeros": len(expected)})
    bits = " ".join(f"{value:016x}" for value in expected) if size == 8 else hexadecimal(expected)
    more = {} if form.generation == "hopper" else {"math": f"matrix={form.generation}"}
    family.case(form.case_name(), name, args, [{"arg": 0, "bits": bits}], block=32, grid=warps, **more)


def plain_forms():
    """Forms of `mma` and how many warps' operands they get."""
    for shapes, *types in (
        (("m16n8k8", "m16n8k16"), "f32", "f16", "f32"), (("m16n8k8", "m16n8k16"), "f16", "f16", "f16"),
        (("m16n8k8", "m16n8k16"), "f32", "bf16", "f32"), (("m16n8k4", "m16n8k8"), "f32", "tf32", "f32"),
    ):
        for shape in shapes:
            d, ab, c = types
            yield Form(shape, d, ab, ab, c), CATEGORIES
    for number, layouts in enumerate((a, b) for a in ("row", "col") for b in ("row", "col")):
        for d, c in (("f32", "f32"), ("f16", "f16"), ("f32", "f16")):
            yield Form("m8n8k4", d, "f16", "f16", c, layouts=layouts), CATEGORIES if number == 0 else 3
    for a in ("e4m3", "e5m2"):
        for b in ("e4m3", "e5m2"):
            yield Form("m16n8k32", "f32", a, b, "f32"), CATEGORIES if a == b else 3
            yield Form("m16n8k32", "f16", a, b, "f16"), CATEGORIES if a == b else 3
            yield Form("m16n8k16", "f32", a, b, "f32"), 5 if a != b else 3
            yield Form("m16n8k16", "f16", a, b, "f16"), 5 if a != b else 3
    for shapes, types in ((("m8n8k16", "m16n8k16", "m16n8k32"), ("s8", "u8")), (("m8n8k32", "m16n8k32", "m16n8k64"), ("s4", "u4"))):
        for shape in shapes:
            for a in types:
                for b in types:
                    yield Form(shape, "s32", a, b, "s32", saturates=a == b), 2
                    if a != b:
                        yield Form(shape, "s32", a, b, "s32", saturates=True), 2
    for shape in ("m8n8k16", "m16n8k16"):
        yield Form(shape, "s32", "s8", "s8", "s32"), 2
    for shape in ("m8n8k128", "m16n8k128", "m16n8k256"):
        for operator in ("xor", "and"):
            yield Form(shape, "s32", "b1", "b1", "s32", operator=operator), 2
    for shape in ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"):
        for mode in (None, "rn", "rz", "rm", "rp") if shape == "m8n8k4" else ("rz",) if shape == "m16n8k4" else (None,):
            yield Form(shape, "f64", "f64", "f64", "f64", mode=mode), 5


def sparse_forms():
    halves = [("f32", "f16", "f32"), ("f16", "f16", "f16"), ("f32", "bf16", "f32")]
    groups = [(d, ab, ab, c, shape, lanes) for d, ab, c in halves for shape, lanes in (("m16n8k16", 4), ("m16n8k32", 2))]
    groups += [("f32", "tf32", "tf32", "f32", "m16n8k8", 4), ("f32", "tf32", "tf32", "f32", "m16n8k16", 2)]
    groups += [("f32", "e4m3", "e5m2", "f32", "m16n8k64", 1), ("f32", "e5m2", "e4m3", "f32", "m16n8k64", 1)]
    groups += [("s32", "s8", "u8", "s32", "m16n8k32", 2), ("s32", "u8", "s8", "s32", "m16n8k64", 1)]
    groups += [("s32", "s4", "u4", "s32", "m16n8k64", 2), ("s32", "s4", "s4", "s32", "m16n8k128", 1)]
    for d, a, b, c, shape, selectors in groups:
        for selector in range(selectors):
            sparse = "sp::ordered_metadata" if selector == selectors - 1 else "sp"
            yield Form(shape, d, a, b, c, sparse=sparse, selector=selector, saturates=d == "s32" and selector == 1), 3


def wmma_forms():
    layouts = [(a, b) for a in ("row", "col") for b in ("row", "col")]
    for number, shape in enumerate(WMMA):
        few = 3 if number else CATEGORIES
        for index, (d, c) in enumerate((d, c) for d in ("f32", "f16") for c in ("f32", "f16")):
            yield Form(shape, d, "f16", "f16", c, wmma=True, layouts=layouts[index]), few
        yield Form(shape, "f32", "bf16", "bf16", "f32", wmma=True, layouts=layouts[number]), few
        for ty in ("s8", "u8"):
            yield Form(shape, "s32", ty, ty, "s32", wmma=True, layouts=layouts[number + 1], saturates=number == 1), 1
    yield Form("m16n16k8", "f32", "tf32", "tf32", "f32", wmma=True), CATEGORIES
    for mode in (None, "rm"):
        yield Form("m8n8k4", "f64", "f64", "f64", "f64", wmma=True, mode=mode, layouts=layouts[0]), 3
    for ty in ("s4", "u4"):
        for saturates in (False, True):
            yield Form("m8n8k32", "s32", ty, ty, "s32", wmma=True, saturates=saturates), 1
    for operator in ("xor", "and"):
        yield Form("m8n8k128", "s32", "b1", "b1", "s32", wmma=True, operator=operator), 1


def older_forms():
    """Forms as earlier generations compute them, each with those of its instructions that differ; and forms that are left to the device."""
    for generation in ("volta", "turing"):
        for d, c in (("f32", "f32"), ("f16", "f16"), ("f32", "f16")):
            yield Form("m8n8k4", d, "f16", "f16", c, generation=generation), CATEGORIES
        for d, c in (("f32", "f32"), ("f16", "f16"), ("f16", "f32")):
            yield Form("m16n16k16", d, "f16", "f16", c, wmma=True, generation=generation), CATEGORIES
    yield Form("m16n8k8", "f32", "f16", "f16", "f32", generation="turing"), CATEGORIES
    for d, ab, shape in (("f32", "f16", "m16n8k16"), ("f16", "f16", "m16n8k16"), ("f32", "bf16", "m16n8k16"), ("f32", "tf32", "m16n8k8")):
        yield Form(shape, d, ab, ab, d, generation="ampere"), CATEGORIES
    yield Form("m16n8k32", "f32", "f16", "f16", "f32", sparse="sp", selector=1, generation="ampere"), CATEGORIES
    yield Form("m16n8k16", "f32", "tf32", "tf32", "f32", sparse="sp", selector=0, generation="ampere"), CATEGORIES
    for d in ("f32", "f16"):
        yield Form("m16n8k32", d, "e4m3", "e5m2", d, generation="ada"), CATEGORIES
    yield Form("m16n8k64", "f32", "e5m2", "e4m3", "f32", sparse="sp", selector=0, generation="ada"), CATEGORIES
    for shape, d, ab in (("m16n8k16", "f32", "f16"), ("m16n8k16", "f16", "f16"), ("m16n8k16", "f32", "bf16"), ("m16n8k8", "f32", "tf32"), ("m16n8k32", "f32", "e4m3")):
        yield Form(shape, d, ab, ab, d, generation="fast"), 2
    yield Form("m16n8k32", "f32", "f16", "f16", "f32", sparse="sp", selector=1, generation="fast"), 2
    yield Form("m8n8k4", "f32", "f16", "f16", "f32", generation="fast"), 2
    yield Form("m16n16k8", "f32", "tf32", "tf32", "f32", wmma=True, generation="fast"), 2


def overwritten(family, pools):
    """A product of floats that a product of matrices replaces: the sum before that is fused with it, the one after it is not."""
    form = Form("m16n8k8", "f32", "f16", "f16", "f32")
    lines = ["ld.param.u64 %p, [c];", "mov.u32 %t, %tid.x;", "mad.wide.u32 %p, %t, 8, %p;", "ld.global.v2.f32 {%x, %y}, [%p];"]
    lines += ["mov.b32 %o, 0x3c003c00;", "mov.f32 %n, 0f00000000;", "mul.f32 %d0, %x, %y;", "add.f32 %s, %d0, %y;"]
    lines += [f"{form.text()} {{%d0, %d1, %d2, %d3}}, {{%o, %o}}, {{%o}}, {{%n, %n, %n, %n}};", "add.f32 %d0, %d0, %y;"]
    lines += ["ld.param.u64 %p, [out];", "mad.wide.u32 %p, %t, 8, %p;", "st.global.v2.f32 [%p], {%s, %d0};"]
    registers = [".reg .b32 %t, %o;", ".reg .b64 %p;", ".reg .f32 %x, %y, %n, %s, %d<4>;"]
    family.kernel("overwritten", [".param .u64 out", ".param .u64 c"], registers, lines)
    table, values = pools.get("f32", "c", CATEGORIES, 8)
    expected = []
    for lane in range(32):
        x, y = values[2 * lane : 2 * lane + 2]
        # Each element of the product of matrices is 8.
        expected += [fma("f32", x, y, y, "rn"), added(130 << 23, y)]
    args = [{"type": "u32", "zeros": 64}, {"type": "u32", "table": table}]
    family.case("overwritten", "overwritten", args, [{"arg": 0, "bits": hexadecimal(expected)}], block=32)


def many(family):
    """Many products of a kind: in a loop and outside, with barriers between them, under guards, and by one of two warps. Each adds 32 times its
    factor to all elements of one of three matrices, which begin with the number of the thread."""
    form = Form("m16n8k32", "s32", "s8", "s8", "s32")
    factors = iter(range(1, 100))
    totals = [0, 0, 0]

    def product(times=1, guard=""):
        factor = next(factors)
        matrix = factor % 3
        totals[matrix] += 32 * factor * times
        elements = ", ".join(f"%d{4 * matrix + number}" for number in range(4))
        return [f"mov.b32 %b, {factor * 0x01010101:#x};", f"{guard}{form.text()} {{{elements}}}, {{%o, %o, %o, %o}}, {{%b, %b}}, {{{elements}}};"]

    lines = ["mov.u32 %t, %tid.x;", "ld.param.u32 %n, [n];", "mov.b32 %o, 0x01010101;", "setp.ne.u32 %p, %n, 0;"]
    lines += [f"mov.b32 %d{number}, %t;" for number in range(12)] + product() + product() + ["mov.u32 %i, 0;", "next:"]
    for number in range(19):
        lines += product(2) + (["bar.sync 0;"] if number % 8 == 5 else [])
    lines += product(2, "@%p ") + product(0, "@!%p ") + ["add.u32 %i, %i, 1;", "setp.lt.u32 %q, %i, %n;", "@%q bra next;"] + product()
    both = list(totals)
    lines += ["setp.lt.u32 %q, %t, 32;", "@%q bra done;"] + product() + product() + product() + ["done:", "bar.sync 0;"]
    lines += ["ld.param.u64 %a, [out];", "mad.wide.u32 %a, %t, 48, %a;"]
    lines += [f"st.global.b32 [%a+{4 * number}], %d{number};" for number in range(12)]
    registers = [".reg .b32 %t, %n, %o, %b, %i, %d<12>;", ".reg .b64 %a;", ".reg .pred %p, %q;"]
    family.kernel("many", [".param .u64 out", ".param .u32 n"], registers, lines)
    expected = [thread + (both, totals)[thread // 32][matrix] for thread in range(64) for matrix in range(3) for _ in range(4)]
    args = [{"type": "u32", "zeros": len(expected)}, {"type": "u32", "value": 2}]
    family.case("many", "many", args, [{"arg": 0, "bits": hexadecimal(expected)}], block=64)


def family_of(tables, name, purpose, forms):
    family = Family(name, purpose, tables, header=header("8.7"))
    pools = Pools(family)
    for form, warps in forms:
        product(family, pools, form, warps)
    if name == "matrix_products":
        overwritten(family, pools)
        many(family)
    return family


def families(tables):
    return [
        family_of(tables, "matrix_products", "Products of matrices in the registers of a warp.", plain_forms()),
        family_of(tables, "matrix_products_sparse", "Products of matrices of which one has half of its elements.", sparse_forms()),
        family_of(tables, "matrix_products_wmma", "Products of matrices in fragments of wmma.", wmma_forms()),
        family_of(tables, "matrix_generations", "Products of matrices as earlier generations of matrix units compute them, and as the device does.", older_forms()),
        transfers(tables),
    ]


def transfers(tables):
    """Fragments of `wmma` loaded and stored: in each layout, with a given stride and without, in all state spaces."""
    family = Family("matrix_fragments", "Fragments of wmma, loaded and stored.", tables, header=header("7.8"))
    forms = [Form(shape, c, ab, ab, c, wmma=True) for shape in WMMA for ab, c in (("f16", "f16"), ("bf16", "f32"), ("s8", "s32"), ("u8", "s32"))]
    forms += [Form("m16n16k8", "f32", "tf32", "tf32", "f32", wmma=True), Form("m8n8k4", "f64", "f64", "f64", "f64", wmma=True)]
    forms += [Form("m8n8k32", "s32", ty, ty, "s32", wmma=True) for ty in ("s4", "u4")] + [Form("m8n8k128", "s32", "b1", "b1", "s32", wmma=True)]
    for form in forms:
        counts = form.counts()
        for number, matrix in enumerate("abc"):
            ty = form.types[matrix]
            layouts = ("row", "col") if BITS[ty] >= 8 else ("row",) if matrix == "a" else ("col",)
            for layout in layouts:
                stride = (layout == "row") != (matrix == "b")
                load(family, form, matrix, layout, ("global", "shared", "")[(number + (layout == "row")) % 3], stride, counts[matrix])
    for form in forms:
        if form.types["a"] in ("u8", "u4"):
            continue
        for layout in ("row", "col"):
            store(family, form, layout, ("global", "", "shared")[len(family.cases) % 3], layout == "row", form.counts()["d"])
    return family


def memory_place(form, matrix, layout, stride, row, column):
    """The bit at which an element lies, and the length of a line."""
    rows = form.depth if matrix == "b" else form.rows
    columns = form.depth if matrix == "a" else form.columns
    bits = BITS[form.types[matrix]]
    length = columns if layout == "row" else rows
    # Lines are a whole number of 16 bytes longer than needed.
    length += 128 * 3 // bits if stride else 0
    far, near = (row, column) if layout == "row" else (column, row)
    return (far * length + near) * bits, length, (rows if layout == "row" else columns) * length * bits // 32


def transfer_parts(form, matrix, layout, space, given, count):
    """Lines that begin a kernel: the address of the matrix in %p or %s, and the tail of the operands."""
    ty = form.types[matrix]
    _, length, words = memory_place(form, matrix, layout, given, 0, 0)
    wide = BITS[ty] == 64
    register = form.register(matrix)
    declared = [".reg .b32 %t, %s, %w, %n;", ".reg .b64 %p, %q, %x;", ".reg .pred %e;", f".reg .{register} %r<{count}>;", f".shared .align 32 .b8 memory[{4 * words}];"]
    body = ["mov.u32 %t, %tid.x;", "mov.u32 %s, memory;", f"mov.u32 %n, {length};"]
    copy = lambda load: [
        "mov.u32 %w, %t;", f"$copy: setp.ge.u32 %e, %w, {words};", "@%e bra $copied;", "mul.wide.u32 %x, %w, 4;", "add.u64 %x, %x, %q;", "shl.b32 %w, %w, 2;",
        "add.u32 %w, %w, %s;", *(["ld.global.u32 %t, [%x];", "st.shared.u32 [%w], %t;"] if load else ["ld.shared.u32 %t, [%w];", "st.global.u32 [%x], %t;"]),
        "sub.u32 %w, %w, %s;", "shr.u32 %w, %w, 2;", "add.u32 %w, %w, 32;", "bra $copy;", "$copied:", "bar.sync 0;", "mov.u32 %t, %tid.x;",
    ]
    address = "[%s]" if space == "shared" else "[%p]"
    dot = f".{space}" if space else ""
    layout_words = f"sync.aligned.{layout}.{form.shape}{dot}.{ty}"
    vector = "{" + ", ".join(f"%r{i}" for i in range(count)) + "}"
    tail = ", %n" if given else ""
    return declared, body, copy, address, layout_words, vector, tail, words, wide


def load(family, form, matrix, layout, space, given, count):
    ty = form.types[matrix]
    if (matrix, ty) == ("c", "s32") and form.types["a"] in ("u8", "u4"):
        return
    declared, body, copy, address, words_of, vector, tail, words, wide = transfer_parts(form, matrix, layout, space, given, count)
    name = f"load_{matrix}_{form.shape}_{form.types['a']}_{layout}"
    body += ["ld.param.u64 %q, [in];"]
    if space == "shared":
        body += copy(True)
    else:
        body += ["mov.u64 %p, %q;"]
    size = 8 if wide else 4
    body += [f"wmma.load.{matrix}.{words_of} {vector}, {address}{tail};", "ld.param.u64 %q, [out];", f"mad.wide.u32 %q, %t, {count * size}, %q;"]
    body += [f"st.global.{form.register(matrix)} [%q+{i * size}], %r{i};" for i in range(count)]
    family.kernel(name, [".param .u64 out", ".param .u64 in"], declared, body)
    rng = random.Random(name)
    content = [rng.getrandbits(32) for _ in range(words)]
    memory = sum(word << 32 * i for i, word in enumerate(content))
    expected = []
    for lane in range(32):
        bits = BITS[ty]
        own = [memory >> memory_place(form, matrix, layout, given, row, column)[0] & (1 << bits) - 1 for row, column in form.places(matrix, lane)]
        own = joined(ty, own)
        expected += [own[i % len(own)] for i in range(count)]
    result = " ".join(f"{value:0{2 * size}x}" for value in expected)
    args = [{"type": "u64" if wide else "u32", "zeros": len(expected)}, {"type": "u32", "bits": hexadecimal(content)}]
    family.case(name, name, args, [{"arg": 0, "bits": result}], block=32)


def store(family, form, layout, space, given, count):
    ty = form.types["d"]
    declared, body, copy, address, words_of, vector, tail, words, wide = transfer_parts(form, "d", layout, space, given, count)
    name = f"store_d_{form.shape}_{form.types['a']}_{layout}"
    size = 8 if wide else 4
    body += ["ld.param.u64 %q, [in];", f"mad.wide.u32 %q, %t, {count * size}, %q;"]
    body += [f"ld.global.{form.register('d')} %r{i}, [%q+{i * size}];" for i in range(count)]
    body += ["ld.param.u64 %q, [out];"]
    if space == "shared":
        # Zeros first, as the buffer has them.
        body += copy(True)
    else:
        body += ["mov.u64 %p, %q;"]
    body += [f"wmma.store.d.{words_of} {address}, {vector}{tail};"]
    if space == "shared":
        body += ["bar.sync 0;"] + [line.replace("$cop", "$back") for line in copy(False)]
    family.kernel(name, [".param .u64 out", ".param .u64 in"], declared, body)
    rng = random.Random(name)
    content = [rng.getrandbits(8 * size) for _ in range(32 * count)]
    memory = 0
    for lane in range(32):
        own = elements(ty, content[lane * count:][:count])
        for (row, column), bits in zip(form.places("d", lane), own):
            memory |= bits << memory_place(form, "d", layout, given, row, column)[0]
    expected = [memory >> 32 * i & 0xFFFFFFFF for i in range(words)]
    given_bits = " ".join(f"{value:0{2 * size}x}" for value in content)
    args = [{"type": "u32", "zeros": words}, {"type": "u64" if wide else "u32", "bits": given_bits}]
    family.case(name, name, args, [{"arg": 0, "bits": hexadecimal(expected)}], block=32)

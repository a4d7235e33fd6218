"""Matrices of half-words in the registers of a warp, loaded, stored and transposed; and the sums that matrix units compute, for `products.py`."""

import random

from .ptx import Family

# Bits, bits of the exponent, bits of the fraction.
FORMATS = {
    "f16": (16, 5, 10), "bf16": (16, 8, 7), "tf32": (32, 8, 23), "f32": (32, 8, 23), "f64": (64, 11, 52), "e4m3": (8, 4, 3), "e5m2": (8, 5, 2),
}
# Bits that are kept below the largest exponent.
KEPT = 25


def decode(ty, bits):
    """Class, sign, significand, exponent of its lowest bit, exponent as the format has it."""
    width, exponent, fraction = FORMATS[ty]
    if ty == "tf32":
        bits &= ~0x1FFF
    sign, field, rest = bits >> width - 1 & 1, bits >> fraction & (1 << exponent) - 1, bits & (1 << fraction) - 1
    if ty == "e4m3" and field == 15 and rest < 7:
        return "number", sign, rest | 8, 5, 8
    if field == (1 << exponent) - 1:
        return "nan" if rest else "inf", sign, 0, 0, 0
    scale = max(field, 1) - ((1 << exponent - 1) - 1)
    return "number", sign, rest | (field > 0) << fraction, scale - fraction, scale


def encode(ty, negative, magnitude, scale):
    """`magnitude * 2**scale`: truncated to f32, rounded to nearest even to f16; what rounds to zero has no sign."""
    width, exponent, fraction = FORMATS[ty]
    bias = (1 << exponent - 1) - 1
    lowest = max(scale + magnitude.bit_length() - 1 - fraction, 1 - bias - fraction)
    if lowest > scale:
        rest, half = magnitude & (1 << lowest - scale) - 1, 1 << lowest - scale - 1
        significand = magnitude >> lowest - scale
        significand += ty == "f16" and (rest > half or rest == half and significand & 1)
    else:
        significand = magnitude << scale - lowest
    if significand == 0:
        return 0
    field = max(lowest + fraction + bias - 1, 0)
    infinity = (1 << exponent) - 1 << fraction
    return negative << width - 1 | min((field << fraction) + significand, infinity)


def fused(result, addend, terms, kept=KEPT):
    """The sum of an addend and products, all decoded."""
    width, exponent, fraction = FORMATS[result]
    nan, infinity = (1 << width - 1) - 1, (1 << exponent) - 1 << fraction
    signs, parts = set(), []
    for a, b in terms:
        if "nan" in (a[0], b[0]):
            return nan
        if "inf" in (a[0], b[0]):
            if ("number", 0) in ((a[0], a[2]), (b[0], b[2])):
                return nan
            signs.add(a[1] ^ b[1])
        else:
            parts.append((a[1] ^ b[1], a[2] * b[2], a[3] + b[3], a[4] + b[4]))
    if addend[0] == "nan":
        return nan
    if addend[0] == "inf":
        signs.add(addend[1])
    else:
        parts.append(addend[1:])
    if signs:
        return nan if len(signs) == 2 else signs.pop() << width - 1 | infinity
    parts = [part for part in parts if part[1]]
    if not parts:
        return 0
    # Of sums that keep 13 bits no least exponent is known.
    least = [{"f32": -108, "f16": 4}[result] - kept] if kept > 13 else []
    unit = max([part[3] for part in parts] + least) - kept
    total = 0
    for negative, magnitude, scale, _ in parts:
        term = magnitude << scale - unit if scale >= unit else magnitude >> unit - scale
        total += -term if negative else term
    return encode(result, int(total < 0), abs(total), unit) if total else 0


def element(rng, ty, category, is_addend):
    """A float of a category: any bits, near one, wide, specials, near the last kept bit, tiny, zero by large, large, zeros, cancelling."""
    width, exponent, fraction = FORMATS[ty]
    bias, top = (1 << exponent - 1) - 1, (1 << exponent) - 1
    sign, rest = rng.getrandbits(1) << width - 1, rng.getrandbits(fraction)

    def number(scale, rest=rest):
        return sign | max(0, min(top - 1, scale + bias)) << fraction | rest

    near = number(rng.randint(-3, 3))
    special = [sign, sign | top << fraction, sign | top << fraction | 1 << fraction - 1, sign | 1, sign | rest, number(bias)]
    if category == 4:
        few = sign if rng.random() < 0.7 else number(rng.randint(-15, -9), rng.choice([0, rest]))
        return rng.choice([number(0, 0), number(0), number(1, 0), 0]) if is_addend else few
    if category == 7:
        return number(rng.randint(bias - 2, bias)) if is_addend else number(rng.randint(bias // 2 - 2, bias // 2 + 1))
    if category == 9:
        return number(rng.choice([0, 8, -8]) if is_addend else rng.choice([0, 0, 4, -8, -12]), rng.choice([0, 1, rest]))
    return {
        0: rng.getrandbits(width),
        1: near,
        2: number(rng.randint(-14, 14) if exponent == 5 else rng.randint(-30, 30)),
        3: rng.choice(special) if rng.random() < 0.3 else near,
        5: sign | (rest if rng.random() < 0.5 else rng.randint(0, 3) << fraction | rest),
        6: rng.choice([sign, number(bias), number(bias - 1, 0), number(0, 0), number(0), number(bias // 2)]),
        8: sign if rng.random() < 0.8 else number(0, 0),
    }[category]


def hexadecimal(bits):
    return " ".join(f"{word:08x}" for word in bits)


def moves(tables):
    """A block of four matrices in shared memory, rows of 16 bytes in an order of their own, and what lanes load of them and store back."""
    family = Family("matrix_moves", "Matrices of half-words: loaded, transposed in registers, stored.", tables)
    for count in (1, 2, 4):
        for transposed in (False, True):
            for generic in (False, True):
                move(family, count, transposed, generic)
    return family


def move(family, count, transposed, generic):
    suffix = ".trans" if transposed else ""
    space = "" if generic else ".shared"
    address = "%g" if generic else "%s"
    name = f"x{count}{'_trans' if transposed else ''}{'_generic' if generic else ''}"
    body = ["ld.param.u64 %po, [out];", "ld.param.u64 %pi, [in];", "mov.u32 %t, %tid.x;", "and.b32 %l, %t, 31;"]
    # Each warp has a part of its own; rows lie in the order of 5 n modulo 32.
    body += ["shr.u32 %w, %t, 5;", "mul.wide.u32 %x, %t, 16;", "add.u64 %pi, %pi, %x;", "ld.global.v4.u32 {%a, %b, %c, %d}, [%pi];"]
    body += ["mov.u32 %s, rows;", "mad.lo.u32 %s, %w, 512, %s;", "mul.lo.u32 %n, %l, 5;", "and.b32 %n, %n, 31;"]
    body += ["mad.lo.u32 %s, %n, 16, %s;", "st.shared.v4.u32 [%s], {%a, %b, %c, %d};", "bar.sync 0;"]
    body += ["cvt.u64.u32 %g, %s;", "cvta.shared.u64 %g, %g;"]
    registers = ", ".join(f"%m{i}" for i in range(count))
    body += [f"ldmatrix.sync.aligned.m8n8.x{count}{suffix}{space}.b16 {{{registers}}}, [{address}];", "bar.sync 0;"]
    body += [f"mul.wide.u32 %x, %t, {8 * count};", "add.u64 %po, %po, %x;"]
    for i in range(count):
        body += [f"st.global.u32 [%po+{8 * i}], %m{i};", f"movmatrix.sync.aligned.m8n8.trans.b16 %m{i}, %m{i};"]
    # Back to the rows, which are read as they lie.
    body += [f"stmatrix.sync.aligned.m8n8.x{count}{suffix}{space}.b16 [{address}], {{{registers}}};", "bar.sync 0;"]
    body += ["mov.u32 %s, rows;", "mad.lo.u32 %s, %w, 512, %s;"]
    body += ["shr.u32 %a, %l, 3;"]
    for i in range(count):
        # Lane 8 q + r reads word q of row r.
        body += [f"add.u32 %b, %l, {8 * i};", "and.b32 %b, %b, 7;", f"or.b32 %b, %b, {8 * i};", "mul.lo.u32 %b, %b, 5;", "and.b32 %b, %b, 31;"]
        body += ["mad.lo.u32 %b, %b, 16, %s;", "mad.lo.u32 %b, %a, 4, %b;", "ld.shared.u32 %c, [%b];", f"st.global.u32 [%po+{8 * i + 4}], %c;"]
    declared = [".reg .b32 %t, %l, %w, %s, %n, %a, %b, %c, %d, %m<4>;", ".reg .b64 %po, %pi, %x, %g;", ".shared .align 16 .b8 rows[1024];"]
    family.kernel(name, [".param .u64 out", ".param .u64 in"], declared, body)
    rng = random.Random(name)
    given = [rng.getrandbits(32) for _ in range(2 * 32 * 4)]
    expected = [[0] * (2 * count) for _ in range(64)]
    for warp in range(2):
        for matrix in range(count):
            rows = []
            for row in range(8):
                first = 4 * (32 * warp + 8 * matrix + row)
                rows.append([given[first + column // 2] >> 16 * (column & 1) & 0xFFFF for column in range(8)])
            turned = [list(column) for column in zip(*rows)]
            loaded = turned if transposed else rows
            # Transposed in registers, and stored as it was loaded.
            stored = turned
            for lane in range(32):
                row, column = lane >> 2, 2 * (lane & 3)
                expected[32 * warp + lane][2 * matrix] = loaded[row][column] | loaded[row][column + 1] << 16
                row, column = lane & 7, 2 * (lane >> 3)
                expected[32 * warp + lane][2 * matrix + 1] = stored[row][column] | stored[row][column + 1] << 16
    args = [{"type": "u32", "zeros": 128 * count}, {"type": "u32", "bits": hexadecimal(given)}]
    family.case(name, name, args, [{"arg": 0, "bits": hexadecimal([word for lane in expected for word in lane])}], block=64)


def families(tables):
    return [moves(tables)]

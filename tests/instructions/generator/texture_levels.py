"""Which levels of a mip map a fetch reads, as an H200 chooses them (docs/numerics.md).

Sizes of steps are numbers of ten significant bits. Their products are rounded, their sums are cut off.
"""

import struct
from fractions import Fraction

# A large step, and the coordinates from which on all steps are large.
FAR = Fraction(1 << 60)
HUGE = Fraction(1 << 97)
INFINITY = Fraction(1 << 128)

# 256ths of the base-2 logarithm of a significand, by its eight bits behind the point.
LOGARITHMS = [
    0, 2, 4, 5, 6, 8, 9, 11, 12, 13, 15, 16, 18, 19, 20, 22,
    23, 24, 26, 27, 28, 30, 31, 32, 34, 35, 36, 38, 39, 40, 42, 43,
    44, 45, 47, 48, 49, 50, 52, 53, 54, 55, 57, 58, 59, 60, 62, 63,
    64, 65, 66, 68, 69, 70, 71, 72, 74, 75, 76, 77, 78, 79, 81, 82,
    83, 84, 85, 86, 88, 89, 90, 91, 92, 93, 94, 95, 97, 98, 99, 100,
    101, 102, 103, 104, 105, 106, 107, 109, 110, 111, 112, 113, 114, 115, 116, 117,
    118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133,
    135, 136, 137, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149,
    150, 151, 152, 153, 154, 155, 156, 157, 158, 159, 160, 161, 162, 162, 163, 164,
    165, 166, 167, 168, 169, 170, 171, 172, 173, 173, 174, 175, 176, 177, 178, 179,
    180, 181, 181, 182, 183, 184, 185, 186, 187, 188, 188, 189, 190, 191, 192, 193,
    194, 195, 195, 196, 197, 198, 199, 200, 200, 201, 202, 203, 204, 205, 205, 206,
    207, 208, 209, 210, 210, 211, 212, 213, 214, 214, 215, 216, 217, 218, 218, 219,
    220, 221, 222, 222, 223, 224, 225, 226, 226, 227, 228, 229, 229, 230, 231, 232,
    233, 233, 234, 235, 236, 236, 237, 238, 239, 239, 240, 241, 242, 242, 243, 244,
    245, 245, 246, 247, 248, 248, 249, 250, 251, 251, 252, 253, 253, 254, 255, 255,
]

# Of a step along two dimensions the longer counts wholly, of the shorter one 11/32; of a third, the shortest, a quarter.
SIDES = (Fraction(1), Fraction(11, 32), Fraction(1, 4))
# The diagonals of two steps count by 11/16 of that.
DIAGONALS = (Fraction(11, 16), Fraction(121, 512), Fraction(11, 64))


def real(bits):
    """A single as a Python float."""
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def rounded(value):
    """The bits of the single that is nearest to a number."""
    try:
        return struct.unpack("<I", struct.pack("<f", float(value)))[0]
    except OverflowError:
        return 0xFF800000 if value < 0 else 0x7F800000


def added(first, second):
    """The bits of the sum of two singles."""
    return rounded(real(first) + real(second))


def number(bits):
    """What a coordinate or step counts: NaN and subnormals are 0, infinities are beyond everything."""
    exponent, sign = bits >> 23 & 255, -1 if bits >> 31 else 1
    if exponent == 255:
        return Fraction(0) if bits & 0x7FFFFF else INFINITY * sign
    return sign * Fraction(bits & 0x7FFFFF | 0x800000) * Fraction(2) ** (exponent - 150) if exponent else Fraction(0)


def exponent(value):
    """The base-2 logarithm of a size, rounded down."""
    value = abs(value)
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if Fraction(2) ** guess <= value else guess - 1


def cut(value, unit):
    """A value without what is less than a unit."""
    return abs(value) // unit * unit * (-1 if value < 0 else 1)


def kept(value):
    """Ten significant bits."""
    return cut(value, Fraction(2) ** (exponent(value) - 9)) if value else value


def plus(first, second, bits=10):
    """A sum of numbers of so many bits, kept to ten; both are cut to one bit more than the greater has."""
    if not first or not second:
        return kept(first or second)
    unit = Fraction(2) ** (max(exponent(first), exponent(second)) - bits)
    return kept(cut(first, unit) + cut(second, unit))


def difference(to, origin):
    """The step between neighbouring coordinates."""
    return FAR if max(abs(to), abs(origin)) >= HUGE else plus(to, -origin, 24)


def times(value, factor):
    """The product with a factor of at most ten bits."""
    if not value:
        return value
    unit = Fraction(2) ** (exponent(value) + exponent(factor) - 9)
    return kept(cut(abs(value) * factor + unit / 2, unit))


def stretched(step, extent):
    """A step by texels. The unit leaves out the six lowest columns of the product's bits, and adds 7/8."""
    step = kept(step)
    if not step:
        return step
    unit, scale = Fraction(2) ** (exponent(step) - 9), Fraction(2) ** (exponent(Fraction(extent)) - 9)
    digits, places = int(abs(step) / unit), int(extent / scale)
    total = sum((digits << place) >> 6 << 6 for place in range(10) if places >> place & 1)
    return kept((total + 448 >> 9) * 512 * unit * scale) * (-1 if step < 0 else 1)


def length(step, factors):
    """About that of a vector."""
    first, *others = sorted(map(abs, step), reverse=True)
    rest = Fraction(0)
    for part, factor in reversed(list(zip(others, factors[1:]))):
        rest = plus(times(part, factor), rest)
    return plus(first if factors[0] == 1 else times(first, factors[0]), rest)


def footprint(across, down, is_apart=False):
    """How many texels a pixel spans, by its two steps and, unless they lie on several faces, their diagonals."""
    sizes = [length(step, SIDES) for step in (across, down)]
    if not is_apart:
        for sign in (1, -1):
            sizes.append(length([plus(a, sign * b) for a, b in zip(across, down)], DIAGONALS))
    return max(sizes)


def logarithm(size):
    """By 256ths."""
    if not size:
        return -(1 << 20)
    whole = exponent(size)
    return 256 * whole + LOGARITHMS[int(size / Fraction(2) ** whole * 256) - 256]


def steps_of(point, gradient, dimensions):
    """The gradient of a point. In three dimensions the unit has it from neighbours' coordinates."""
    if dimensions < 3:
        return [number(bits) for bits in gradient]
    return [difference(number(added(at, step)), number(at)) for at, step in zip(point, gradient)]


def gradient_level(point, gradients, extents, dimensions):
    """The level for two gradients by bits."""
    across, down = [[stretched(step, extent) for step, extent in zip(steps_of(point, gradient, dimensions), extents)] for gradient in gradients]
    return logarithm(footprint(across, down))


def fixed(bits, least=-128, most=127):
    """A level by 256ths, cut off."""
    return int(min(max(number(bits), Fraction(least)), Fraction(most)) * 256)


def chosen(level, count, bias, least, most, is_linear):
    """Levels and their weights, by 256ths; bias and clamps are floats."""
    scaled = lambda value: int(Fraction(value) * 256)
    level = max(min(level + scaled(min(max(bias, -15), 15)), scaled(most)), scaled(least))
    level = min(max(level, 0), (count - 1) * 256)
    if not is_linear:
        return [(level + 128 >> 8, 256)]
    lower, upper = level >> 8, level & 255
    return [(lower, 256 - upper)] + ([(lower + 1, upper)] if upper else [])

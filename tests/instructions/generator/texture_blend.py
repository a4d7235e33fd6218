"""What a filter makes of texels (docs/numerics.md). Weights are 256ths."""

import struct
from fractions import Fraction

# What a channel of sRGB becomes, in units of 2^-14, as the hardware was seen to do.
INTENSITIES = [
    0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 66, 72, 78,
    85, 92, 99, 107, 115, 123, 131, 140, 150, 159, 169, 180, 190, 201, 213, 224,
    236, 250, 262, 276, 290, 304, 318, 332, 348, 364, 380, 396, 412, 430, 448, 466,
    484, 504, 524, 544, 564, 584, 604, 624, 648, 672, 692, 716, 740, 764, 788, 816,
    840, 864, 896, 920, 944, 976, 1000, 1032, 1064, 1088, 1120, 1152, 1184, 1216, 1248, 1280,
    1312, 1352, 1384, 1416, 1456, 1488, 1528, 1560, 1600, 1640, 1672, 1712, 1752, 1792, 1832, 1872,
    1920, 1952, 2000, 2048, 2080, 2128, 2176, 2224, 2272, 2320, 2368, 2416, 2464, 2512, 2560, 2608,
    2656, 2704, 2752, 2816, 2864, 2912, 2976, 3024, 3072, 3136, 3184, 3248, 3296, 3360, 3424, 3472,
    3536, 3600, 3664, 3712, 3776, 3840, 3904, 3968, 4032, 4096, 4160, 4224, 4288, 4352, 4416, 4512,
    4576, 4640, 4704, 4768, 4864, 4928, 4992, 5056, 5152, 5216, 5280, 5376, 5440, 5536, 5600, 5696,
    5760, 5824, 5920, 6016, 6080, 6176, 6240, 6336, 6400, 6496, 6592, 6688, 6752, 6848, 6944, 7008,
    7104, 7200, 7296, 7392, 7488, 7584, 7680, 7744, 7872, 7936, 8064, 8128, 8256, 8320, 8448, 8512,
    8640, 8768, 8832, 8960, 9024, 9152, 9280, 9344, 9472, 9600, 9664, 9792, 9920, 9984, 10112, 10240,
    10304, 10432, 10560, 10688, 10816, 10880, 11008, 11136, 11264, 11392, 11456, 11584, 11712, 11840, 11968, 12096,
    12224, 12352, 12480, 12608, 12736, 12864, 12992, 13120, 13248, 13376, 13504, 13632, 13760, 13888, 14016, 14144,
    14272, 14400, 14528, 14656, 14848, 14976, 15104, 15232, 15360, 15488, 15616, 15744, 16000, 16128, 16256, 16384,
]


def single(fraction):
    """The nearest single to a fraction below 2, which is no tie."""
    return struct.unpack("<I", struct.pack("<f", float(fraction)))[0]


def rounded(value):
    """A product of weights by 256ths."""
    return value + 128 >> 8


def weights(x, y, whole):
    """Those of four texels, x faster than y, by how near the upper ones are; all have a weight together."""
    right = rounded(x * whole)
    left = whole - right
    first, last = rounded(left * (256 - y)), rounded(right * y)
    return [first, right - last, left - first, last]


def depths(z, whole):
    """What two slices weigh, by how near the second is."""
    near = rounded((256 - z) * whole)
    return near, whole - near


def blend_fractions(texels, factors):
    """Fractions by 65535ths or 32767ths."""
    return rounded(sum(texel * factor for texel, factor in zip(texels, factors)))


def blend_bytes(texels, factors):
    """Integers of 8 bits with a sign, as 32767ths: what 127 256ths are becomes 32767."""
    total = sum(texel * factor for texel, factor in zip(texels, factors))
    return total + (total + 64 + (total >> 12 << 4) >> 7)


def blend_srgb(texels, factors):
    """Intensities have eight bits, with exponents by their index. Those of a slice are aligned to the greatest, cut off; slices are added
    with four bits more, and the sum is rounded to 11 bits."""
    exponent = lambda index: sum(index >= first for first in (32, 48, 64, 96, 136, 184, 248))
    slices = []
    for start in range(0, len(texels), 4):
        parts = [(index, factor) for index, factor in zip(texels[start : start + 4], factors[start : start + 4]) if factor]
        greatest = max((exponent(index) for index, _ in parts), default=0)
        slices.append((greatest, sum((INTENSITIES[index] >> greatest) * factor for index, factor in parts)))
    greatest = max(own for own, _ in slices)
    total = sum(number << 4 >> greatest - own for own, number in slices)
    goes = max(total.bit_length() - 11, 0)
    total = (total + (1 << goes >> 1) >> goes) << goes
    return single(Fraction(total << greatest, 1 << 26))


def decode(bits):
    """Sign, exponent and significand of a single; subnormals are zero."""
    exponent = bits >> 23 & 255
    return (-1 if bits >> 31 else 1), exponent, (bits & 0x7FFFFF | 0x800000 if exponent else 0)


def blend_floats(texels, factors, counts, half):
    """Singles, or halves as such: aligned with four bits more, cut off, added, rounded half away from zero."""
    seen = [texel for texel, count in zip(texels, counts) if count]
    infinities = {texel for texel in seen if texel & 0x7FFFFFFF == 0x7F800000}
    if any(texel & 0x7FFFFFFF > 0x7F800000 for texel in seen) or len(infinities) == 2:
        return 0x7FFFE000 if half else 0x7FFFFFFF
    if infinities:
        return infinities.pop()
    lost = 13 if half else 0
    slices = []
    for start in range(0, len(texels), 4):
        parts = [(*decode(texel), factor) for texel, factor in zip(texels[start : start + 4], factors[start : start + 4])]
        exponent = max((exponent for _, exponent, _, factor in parts if factor), default=0)
        exponent = max(exponent, 113) if half else exponent
        slices.append((exponent, sum(sign * (significand << 4 >> exponent - own + lost) * factor for sign, own, significand, factor in parts if factor)))
    exponent = max(own for own, _ in slices)
    total = sum(number << 4 >> exponent - own for own, number in slices)
    scale = exponent - 166 + lost
    if total == 0:
        return 0x80000000 if all(texel >> 31 for texel in seen) else 0
    sign, magnitude = (0x80000000 if total < 0 else 0), abs(total)
    goes = magnitude.bit_length() - (11 if half else 24)
    goes = max(goes, -24 - scale) if half else goes
    if goes > 0:
        magnitude = magnitude + (1 << goes - 1) >> goes
        scale += goes
    if not magnitude:
        return sign
    shift = 24 - magnitude.bit_length()
    place = scale - shift + 150
    if place >= (143 if half else 255):
        return sign | 0x7F800000
    return sign | (magnitude << shift if shift >= 0 else magnitude >> -shift) + (place - 1 << 23) if place > 0 else sign

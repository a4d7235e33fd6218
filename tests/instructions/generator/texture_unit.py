"""A reference of textures and surfaces, as an H200 reads and writes them (docs/numerics.md).

Texels and results are bits. `Image` is what a case's `images` describes; `Texture` reads it.
"""

import struct
from fractions import Fraction

# Bytes and struct codes of the channels' formats.
CHANNELS = {"u8": "B", "s8": "b", "u16": "H", "s16": "h", "u32": "I", "s32": "i", "f16": "H", "f32": "I"}


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


def half_to_single(bits):
    value = struct.unpack("<e", struct.pack("<H", bits))[0]
    return struct.unpack("<I", struct.pack("<f", value))[0]


def single_to_half(bits):
    """To nearest even, as the result of a fetch."""
    value = struct.unpack("<f", struct.pack("<I", bits))[0]
    if value != value:
        return 0x7FFF
    try:
        return struct.unpack("<H", struct.pack("<e", value))[0]
    except OverflowError:
        return 0x7C00 | bits >> 16 & 0x8000


def single_to_half_down(bits):
    """Towards zero, as formatted stores."""
    sign, magnitude = bits >> 16 & 0x8000, bits & 0x7FFFFFFF
    if magnitude > 0x7F800000:
        return 0x7FFF
    if magnitude == 0x7F800000:
        return sign | 0x7C00
    if magnitude >= 0x47800000:
        return sign | 0x7BFF
    exponent = magnitude >> 23
    if exponent >= 113:
        return sign | (magnitude - (112 << 23)) >> 13
    return sign | ((magnitude & 0x7FFFFF | 0x800000) >> 126 - exponent if 102 <= exponent else 0)


def single(fraction):
    """The nearest single to a fraction below 2, which is no tie."""
    return struct.unpack("<I", struct.pack("<f", float(fraction)))[0]


class Image:
    """Memory for a texture or surface: levels of layers or slices of rows of texels of channels, row by row."""

    def __init__(self, shape, size, format, channels=1, levels=0, surface=False, pitch=None):
        self.shape, self.size, self.format, self.channels = shape, size, format, channels
        self.levels, self.surface, self.pitch = levels, surface, pitch
        layered = shape.endswith("layered")
        self.layers = size[-1] * (6 if shape.startswith("cube") else 1) if layered else 6 if shape == "cube" else 1
        extent = list(size[:-1] if layered else size)
        if shape.startswith("cube"):
            extent = [size[0], size[0]]
        self.extents = []
        for level in range(max(levels, 1)):
            sizes = [max(1, n >> level) for n in extent] + [1] * (3 - len(extent))
            self.extents.append(sizes)
        self.texels = []

    def count(self, level=0):
        width, height, depth = self.extents[level]
        return width * height * depth * self.layers

    def fill(self, make):
        """Channels by `make`, level after level."""
        self.texels = [[[make() for _ in range(self.channels)] for _ in range(self.count(level))] for level in range(len(self.extents))]
        return self

    def texel(self, level, x, y, z):
        width, height, _ = self.extents[level]
        return self.texels[level][(z * height + y) * width + x]

    def flat(self):
        return [channel for level in self.texels for texel in level for channel in texel]

    def spec(self):
        spec = {"format": self.format, "channels": self.channels, "shape": self.shape, "size": list(self.size)}
        spec |= {"levels": self.levels} if self.levels else {}
        spec |= {"surface": True} if self.surface else {}
        spec |= {"pitch": self.pitch} if self.pitch else {}
        digits = 2 * struct.calcsize(CHANNELS[self.format])
        is_float = self.format[0] == "f"
        return spec | {"data": [f"0x{value:0{digits}x}" if is_float else value for value in self.flat()]}


class Texture:
    """How an image is read."""

    def __init__(self, image, normalized_read=False, srgb=False):
        self.image, self.normalized_read, self.srgb = image, normalized_read, srgb

    def spec(self, name, sampler=None):
        spec = {"image": name} | (sampler.spec() if sampler else {"address": ["border"]})
        spec |= {"read": "normalized"} if self.normalized_read else {}
        spec |= {"srgb": True} if self.srgb else {}
        spec |= {"normalized": True, "mip_levels": [0, self.image.levels - 1]} if self.image.levels else {}
        return {"texture": spec}

    def value(self, channel, number=3):
        """The 32 bits of a channel; its number tells that of sRGB that is none of it."""
        form = self.image.format
        if self.srgb and number < 3:
            return single(Fraction(INTENSITIES[channel], 16384))
        if form == "f16":
            return half_to_single(channel)
        if form in ("f32", "u32", "s32"):
            return channel & 0xFFFFFFFF
        if not self.normalized_read:
            return channel & 0xFFFFFFFF
        bits = 8 if form.endswith("8") else 16
        most = (1 << bits) - 1 if form[0] == "u" else (1 << bits - 1) - 1
        return single(max(Fraction(channel, most), Fraction(-1)))

    def weighed(self, channel):
        """What a filter adds: integers as they are, those of sRGB too, else the 32 bits."""
        return channel if self.normalized_read and self.image.format[0] in "us" else self.value(channel)

    def edge_weighed(self, colour):
        """The same of a border's colour."""
        bits = self.edge(colour)
        if not self.normalized_read or self.image.format[0] not in "us":
            return bits
        most = {"u8": 255, "s8": 127, "u16": 65535, "s16": 32767}[self.image.format]
        return round(Fraction(struct.unpack("<f", struct.pack("<I", bits))[0]) * most)

    def edge(self, colour):
        """The 32 bits of a border's colour."""
        bits = single(Fraction(colour))
        form = self.image.format
        if form == "f32":
            return bits
        if form == "f16":
            return half_to_single(single_to_half_down(bits))
        most = {"u8": 255, "s8": 127, "u16": 65535, "s16": 32767}[form]
        value = min(max(Fraction(struct.unpack("<f", struct.pack("<I", bits))[0]), -1 if form[0] == "s" else 0), 1) * most
        return single(Fraction(int(value), most))

    def fetch(self, dimensions, layered, point, layer=0, level=None):
        """The four channels at whole numbers; `dimensions` of the instruction."""
        image, zero = self.image, [0, 0, 0, 0]
        point = list(point[:dimensions]) + [0] * (3 - dimensions)
        line = dimensions == 1 and not layered
        if line and image.shape != "linear":
            return zero
        if level is None:
            level = 0
            extents = image.extents[0]
            if not all(0 <= x < n for x, n in zip(point, extents)) or not 0 <= layer < image.layers:
                return zero
        else:
            # Linear memory has no levels, whichever is asked for.
            level = 0 if line else level
            if not 0 <= level < len(image.extents):
                return zero
            extents = image.extents[level]
            point = [min(max(x, 0), n - 1) for x, n in zip(point, extents)]
            layer = min(layer & 0xFFFFFFFF, image.layers - 1)
        values = [self.value(channel) for channel in image.texel(level, point[0], point[1], layer if layered else point[2])]
        return values + [0] * (4 - len(values))


def convert(bits, ty):
    """A channel as a type of destination has it."""
    return single_to_half(bits) if ty in ("f16", "f16x2") else bits


class Surface:
    """Bytes of a surface, and what accesses do to them."""

    def __init__(self, image):
        self.image = image
        self.width = struct.calcsize("<" + CHANNELS[image.format]) * image.channels
        code = CHANNELS[image.format]
        self.bytes = bytearray(b"".join(struct.pack("<" + code, value) for value in image.flat()))

    def place(self, x, y, z, size, rule, dimensions, layered):
        """The offset of an access, or nothing."""
        width, height, depth = self.image.extents[0]
        row = width * self.width
        y, z = (y if dimensions > 1 else 0), (z if dimensions > 2 or layered else 0)
        slices = self.image.layers if layered else depth
        if rule == "clamp":
            if row < size:
                return None
            x = min(max(x, 0), (row - size) // size * size)
            y = min(max(y, 0), height - 1)
            z = min(z & 0xFFFFFFFF, slices - 1) if layered else min(max(z, 0), slices - 1)
        elif not (0 <= x <= row - size and 0 <= y < height and 0 <= z < slices):
            return None
        return (z * height + y) * row + x

    def channels(self):
        code = CHANNELS[self.image.format]
        return [value for (value,) in struct.iter_unpack("<" + code, self.bytes)]

    def element(self, values):
        """What a formatted store of these words writes."""
        form, out = self.image.format, b""
        for value in values[: self.image.channels]:
            if form == "f16":
                out += struct.pack("<H", single_to_half_down(value))
            elif form in ("f32", "u32", "s32"):
                out += struct.pack("<I", value)
            else:
                bits = 8 if form.endswith("8") else 16
                if form[0] == "u":
                    value = min(value, (1 << bits) - 1)
                else:
                    value = value - (1 << 32) if value >> 31 else value
                    value = min(max(value, -(1 << bits - 1)), (1 << bits - 1) - 1)
                out += struct.pack("<" + CHANNELS[form], value)
        return out


def rounded(value):
    """A product of weights by 256ths."""
    return value + 128 >> 8


def weights(x, y, z):
    """Those of eight texels, x fastest, z slowest, by how near the upper ones are."""
    found = []
    for depth in (256 - z, z):
        right = rounded(x * depth)
        left = depth - right
        first, last = rounded(left * (256 - y)), rounded(right * y)
        found += [first, right - last, left - first, last]
    return found


class Sampler:
    """Address modes, filter and kind of coordinates."""

    def __init__(self, modes, linear=False, normalized=False, border=(0, 0, 0, 0)):
        self.modes, self.linear, self.normalized, self.border = modes, linear, normalized, border

    def spec(self):
        spec = {"address": list(self.modes)} | ({"filter": "linear"} if self.linear else {})
        spec |= {"normalized": True} if self.normalized else {}
        return spec | ({"border": list(self.border)} if any(self.border) else {})

    def position(self, bits, extent, mode, offset=0):
        """Texels, nothing for the border, and the weight of the upper one."""
        exponent = bits >> 23 & 255
        value = Fraction(0)
        if exponent == 255 and not bits & 0x7FFFFF and mode in ("clamp", "border"):
            value = Fraction(10**9 if not bits >> 31 else -(10**9))
        elif 0 < exponent < 255:
            value = Fraction(bits & 0x7FFFFF | 0x800000) * Fraction(2) ** (exponent - 150) * (-1 if bits >> 31 else 1)
        if self.normalized:
            places = 21 if extent <= 8192 else 22 if extent <= 65536 else 23
            value = Fraction(value * 2**places // 1, 2**places) * extent
        fixed = (value * 512) // 1
        lower, weight = fixed >> 9, 0
        if self.linear:
            half = fixed - 255 >> 1
            lower, weight = half >> 8, half & 255
        lower += offset
        if mode == "clamp" and (lower < 0 or lower >= extent - 1):
            weight = 0
        return [resolve(texel, extent, mode) for texel in (lower, lower + 1)], weight


def resolve(texel, extent, mode):
    if mode == "clamp":
        return min(max(texel, 0), extent - 1)
    if mode == "border":
        return texel if 0 <= texel < extent else None
    if mode == "wrap":
        return texel % extent
    place = texel % (2 * extent)
    return min(place, 2 * extent - 1 - place)


def blend_fractions(texels, factors):
    """Fractions by 65535ths or 32767ths."""
    return rounded(sum(texel * factor for texel, factor in zip(texels, factors)))


def blend_bytes(texels, factors):
    """Integers of 8 bits with a sign, as 32767ths: what 127 256ths are becomes 32767."""
    total = sum(texel * factor for texel, factor in zip(texels, factors))
    return total + (total + 64 + (total >> 12 << 4) >> 7)


def blend_srgb(texels, factors):
    """Intensities have eight bits, with exponents by their index. They are aligned to the greatest, cut off, and the sum is rounded to 11 bits."""
    exponent = lambda index: sum(index >= first for first in (32, 48, 64, 96, 136, 184, 248))
    greatest = max((exponent(index) for index, factor in zip(texels, factors) if factor), default=0)
    total = sum((INTENSITIES[index] >> greatest) * factor for index, factor in zip(texels, factors) if factor)
    goes = max(total.bit_length() - 11, 0)
    total = (total + (1 << goes >> 1) >> goes) << goes
    return single(Fraction(total << greatest, 1 << 22))


def decode(bits):
    """Sign, exponent and significand of a single; subnormals are zero."""
    exponent = bits >> 23 & 255
    return (-1 if bits >> 31 else 1), exponent, (bits & 0x7FFFFF | 0x800000 if exponent else 0)


def blend_floats(texels, factors, counts, half):
    """Singles, or halves as such: aligned with four bits more, cut off, added, rounded half away from zero."""
    seen = [texel for texel, count in zip(texels, counts) if count]
    infinities = {texel for texel in seen if texel & 0x7FFFFFFF == 0x7F800000}
    if any(texel & 0x7FFFFFFF > 0x7F800000 for texel in seen) or len(infinities) == 2:
        return 0x7FFFFFFF
    if infinities:
        return infinities.pop()
    lost = 13 if half else 0
    slices = []
    for start in (0, 4):
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


def sample(texture, sampler, dimensions, layered, point, layer=0, offset=(0, 0, 0)):
    """The four channels at floats, given by their bits."""
    image = texture.image
    if image.shape == "linear":
        return [0] * 4
    point = list(point[:dimensions]) + ([0] if dimensions == 1 and not layered else [])
    extents = image.extents[0]
    modes = [sampler.modes[min(number, len(sampler.modes) - 1)] for number in range(3)]
    places = [sampler.position(bits, extents[number], modes[number], offset[number]) for number, bits in enumerate(point)]
    places += [([0, 0], 0)] * (3 - len(places))
    layer = min(layer & 0xFFFFFFFF, image.layers - 1)
    texels, wholes, counts = [], [], []
    for number in range(8):
        at = [place[number >> axis & 1] for axis, (place, _) in enumerate(places)]
        counts.append(all(weight or not number >> axis & 1 for axis, (_, weight) in enumerate(places)))
        if None in at:
            bits, whole = [[edge(value) for value in sampler.border][: image.channels] for edge in (texture.edge, texture.edge_weighed)]
        else:
            texel = image.texel(0, at[0], at[1], layer if layered else at[2])
            bits, whole = [texture.value(value, number) for number, value in enumerate(texel)], [texture.weighed(value) for value in texel]
        texels.append(bits)
        wholes.append(whole)
    channels = []
    factors = weights(*(weight for _, weight in places))
    for channel in range(image.channels):
        values = [texel[channel] for texel in texels]
        if not sampler.linear:
            channels.append(values[0])
        elif texture.srgb and channel < 3:
            channels.append(blend_srgb([texel[channel] for texel in wholes], factors))
        elif texture.normalized_read and image.format[0] in "us":
            most = 65535 if image.format[0] == "u" else 32767
            whole = [texel[channel] * (257 if image.format == "u8" else 1) for texel in wholes]
            blended = blend_bytes(whole, factors) if image.format == "s8" else blend_fractions(whole, factors)
            channels.append(single(max(Fraction(blended, most), Fraction(-1))))
        else:
            channels.append(blend_floats(values, factors, counts, image.format == "f16"))
    return channels + [0] * (4 - len(channels))

"""A reference of textures and surfaces, as an H200 reads and writes them (docs/numerics.md).

Texels and results are bits. `Image` is what a case's `images` describes; `Texture` reads it.
"""

import struct
from fractions import Fraction

from .texture_blend import INTENSITIES, single

# Bytes and struct codes of the channels' formats.
CHANNELS = {"u8": "B", "s8": "b", "u16": "H", "s16": "h", "u32": "I", "s32": "i", "f16": "H", "f32": "I", "unorm8": "B", "unorm16": "H", "snorm8": "b", "snorm16": "h"}


def encoded(intensity):
    """The byte of sRGB that is nearest to a border's colour."""
    intensity = min(max(intensity, 0), 1)
    curve = 12.92 * intensity if intensity <= 0.0031308 else 1.055 * intensity ** (1 / 2.4) - 0.055
    return int(255 * curve + 0.5)


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
    """Towards zero, as formatted stores. A NaN keeps its sign and upper bits."""
    sign, magnitude = bits >> 16 & 0x8000, bits & 0x7FFFFFFF
    if magnitude > 0x7F800000:
        return sign | 0x7C00 | (bits >> 13 & 0x3FF or 1)
    if magnitude == 0x7F800000:
        return sign | 0x7C00
    if magnitude >= 0x47800000:
        return sign | 0x7BFF
    exponent = magnitude >> 23
    if exponent >= 113:
        return sign | (magnitude - (112 << 23)) >> 13
    return sign | ((magnitude & 0x7FFFFF | 0x800000) >> 126 - exponent if 102 <= exponent else 0)


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
        if self.image.levels and not sampler:
            spec |= {"normalized": True, "mip_levels": [0, self.image.levels - 1]}
        return {"texture": spec}

    def encodes(self, number):
        """Whether a channel is sRGB: the first three of four, or the first alone."""
        is_byte = self.image.format == "u8" and self.normalized_read
        return self.srgb and is_byte and number < (1 if self.image.channels == 2 else 3)

    def value(self, channel, number=3):
        """The 32 bits of a channel; its number tells that of sRGB that is none of it."""
        form = self.image.format
        if self.encodes(number):
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
        return channel if self.image.format[0] in "us" else self.value(channel)

    def edge_weighed(self, colour, number=3):
        """The same of a border's colour."""
        if self.encodes(number):
            return encoded(colour)
        bits = self.edge(colour, number)
        if not self.normalized_read or self.image.format[0] not in "us":
            return bits
        most = {"u8": 255, "s8": 127, "u16": 65535, "s16": 32767}[self.image.format]
        return round(Fraction(struct.unpack("<f", struct.pack("<I", bits))[0]) * most)

    def edge(self, colour, number=3):
        """The 32 bits of a border's colour."""
        if self.encodes(number):
            return self.value(encoded(colour), number)
        bits = single(Fraction(colour))
        form = self.image.format
        if form == "f32":
            return bits
        if form == "f16":
            return half_to_single(single_to_half_down(bits))
        most = {"u8": 255, "s8": 127, "u16": 65535, "s16": 32767}[form]
        return single(Fraction(fraction_stored(bits, f"{form[0]}norm{form[1:]}"), most))

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


def fraction_stored(bits, form):
    """The integer for a float: four bits more than the format has, what is below cut off, then rounded half down."""
    signed = form[0] == "s"
    width = int(form[5:]) - signed
    value = struct.unpack("<f", struct.pack("<I", bits))[0]
    value = 0 if value != value else min(max(value, -1 if signed else 0), 1)
    fixed = int(abs(Fraction(value)) * (1 << width + 4))
    number = fixed * ((1 << width) - 1) + (1 << width + 3) - 1 >> width + 4
    return -number if value < 0 else number


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
            elif "norm" in form:
                out += struct.pack("<" + CHANNELS[form], fraction_stored(value, form))
            else:
                bits = 8 if form.endswith("8") else 16
                if form[0] == "u":
                    value = min(value, (1 << bits) - 1)
                else:
                    value = value - (1 << 32) if value >> 31 else value
                    value = min(max(value, -(1 << bits - 1)), (1 << bits - 1) - 1)
                out += struct.pack("<" + CHANNELS[form], value)
        return out

"""What a texture unit makes of a point between texels (docs/numerics.md): `tex` with floats for coordinates, and `tld4`."""

from fractions import Fraction

from . import texture_cube
from .texture_blend import blend_bytes, blend_floats, blend_fractions, blend_srgb, depths, rounded, single, weights
from .texture_levels import chosen, number


class Sampler:
    """Address modes, filters, kind of coordinates, and which levels are read."""

    def __init__(self, modes, linear=False, normalized=False, border=(0, 0, 0, 0), between=False, bias=0.0, least=0.0, most=0.0, seamless=False):
        self.modes, self.linear, self.normalized, self.border = modes, linear, normalized, border
        self.between, self.bias, self.least, self.most, self.seamless = between, bias, least, most, seamless

    def spec(self):
        spec = {"address": list(self.modes)} | ({"filter": "linear"} if self.linear else {})
        spec |= {"normalized": True} if self.normalized else {}
        spec |= {"mip_filter": "linear"} if self.between else {}
        spec |= {"mip_bias": self.bias} if self.bias else {}
        spec |= {"mip_levels": [self.least, self.most]} if self.least or self.most else {}
        spec |= {"seamless": True} if self.seamless else {}
        return spec | ({"border": list(self.border)} if any(self.border) else {})

    def mode(self, axis):
        return self.modes[min(axis, len(self.modes) - 1)]

    def position(self, bits, extent, axis, offset=0, finds_two=False):
        """The lower texel, and the weight of the upper one."""
        mode = self.mode(axis)
        exponent = bits >> 23 & 255
        value = number(bits)
        if exponent == 255 and mode in ("wrap", "mirror"):
            value = Fraction(0)
        if self.normalized:
            places = 21 if extent <= 8192 else 22 if extent <= 65536 else 23
            value = Fraction(value * 2**places // 1, 2**places) * extent
        return self.between_texels(value, extent, mode, offset, finds_two)

    def on_face(self, coordinate, extent, axis, finds_two=False):
        """The same of a coordinate on a cube's face."""
        value = (Fraction(coordinate * 2**20 // 1, 2**20) + 1) / 2 * extent
        lower, weight = self.between_texels(value, extent, None if self.seamless else self.mode(axis), 0, finds_two)
        # Only filters go on behind an edge.
        is_alone = self.seamless and not self.linear and not finds_two
        return (min(lower, extent - 1) if is_alone else lower), weight

    def between_texels(self, value, extent, mode, offset, finds_two):
        fixed = (value * 512) // 1
        lower, weight = fixed >> 9, 0
        if self.linear or finds_two:
            half = fixed - 255 >> 1
            lower, weight = half >> 8, half & 255
        lower += offset
        if mode == "clamp" and (lower < 0 or lower >= extent - 1):
            weight = 0
        return lower, weight


def resolve(texel, extent, mode):
    """The texel within the texture, nothing for the border."""
    if mode == "clamp":
        return min(max(texel, 0), extent - 1)
    if mode == "border":
        return texel if 0 <= texel < extent else None
    if mode == "wrap":
        return texel % extent
    place = texel % (2 * extent)
    return min(place, 2 * extent - 1 - place)


class Reader:
    """A texture and how it is sampled at one point, whatever its level."""

    def __init__(self, texture, sampler, geometry, point, layer, offset=(0, 0, 0)):
        self.texture, self.sampler, self.offset = texture, sampler, offset
        self.image = texture.image
        self.cube, self.layered = "cube" in geometry, geometry.startswith("a")
        self.point = list(point) if self.cube else list(point[: int(geometry[-2])])
        if geometry == "1d":
            self.point.append(0)
        self.face = 0
        slices = self.image.layers // 6 if self.cube else self.image.layers
        self.layer = min(layer & 0xFFFFFFFF, slices - 1) if self.layered else 0
        if self.cube:
            self.face, *self.point = texture_cube.located(point[:3])

    def places(self, level, finds_two=False):
        """Of each dimension the lower texel and the weight of the upper one."""
        extents = self.image.extents[level]
        if self.cube:
            return [self.sampler.on_face(value, extents[0], axis, finds_two) for axis, value in enumerate(self.point)]
        return [self.sampler.position(bits, extents[axis], axis, self.offset[axis], finds_two) for axis, bits in enumerate(self.point)]

    def texel(self, level, x, y, z):
        """The channels, nothing behind a cube's corner: as bits, and as filters add them."""
        extents, sampler = self.image.extents[level], self.sampler
        slice_number = self.layer
        if self.cube and sampler.seamless:
            found = texture_cube.neighbour(self.face, x, y, extents[0])
            if not found:
                return None
            face, x, y = found
            slice_number = 6 * self.layer + face
        else:
            x, y = resolve(x, extents[0], sampler.mode(0)), resolve(y, extents[1], sampler.mode(1))
            if self.cube:
                slice_number = 6 * self.layer + self.face
            elif not self.layered:
                slice_number = resolve(z, extents[2], sampler.mode(2)) if len(self.point) > 2 else 0
        if None in (x, y, slice_number):
            return [[edge(value, channel) for channel, value in enumerate(sampler.border)][: self.image.channels] for edge in (self.texture.edge, self.texture.edge_weighed)]
        texel = self.image.texel(level, x, y, slice_number)
        return [self.texture.value(value, channel) for channel, value in enumerate(texel)], [self.texture.weighed(value) for value in texel]

    def four(self, level, whole, second=False):
        """Four texels of a slice, which weigh so much together: texels, weights, whether they count."""
        (x, right), (y, below), *deep = self.places(level) + ([(0, 0)] if len(self.point) == 1 else [])
        z = deep[0][0] + second if deep else 0
        taps = [(k & 1, k >> 1) for k in range(4)]
        texels = [self.texel(level, x + i, y + j, z) for i, j in taps]
        shares = weights(right, below, whole)
        counts = [(not i or right > 0) and (not j or below > 0) for i, j in taps]
        if None in texels:
            missing = texels.index(None)
            shares = texture_cube.corner_weights(shares, missing)
            counts = [place != missing and (count or shares[place] > 0) for place, count in enumerate(counts)]
            texels[missing] = texels[3 - missing]
        return texels, shares, counts

    def sum_of(self, slices):
        """Blends slices into the image's channels."""
        texels, factors, counts = (sum(parts, []) for parts in zip(*slices))
        channels = []
        for channel in range(self.image.channels):
            values = [bits[channel] for bits, _ in texels]
            wholes = [whole[channel] for _, whole in texels]
            form = self.image.format
            if self.texture.encodes(channel):
                channels.append(blend_srgb(wholes, factors))
            elif form[0] in "us" and not self.texture.normalized_read:
                total = sum(value * factor for value, factor in zip(wholes, factors))
                channels.append((total >> 8 if form.endswith("32") else rounded(total)) & 0xFFFFFFFF)
            elif self.texture.normalized_read and form[0] in "us":
                most = 65535 if form[0] == "u" else 32767
                wholes = [whole * (257 if form == "u8" else 1) for whole in wholes]
                blended = blend_bytes(wholes, factors) if form == "s8" else blend_fractions(wholes, factors)
                channels.append(single(max(Fraction(blended, most), Fraction(-1))))
            else:
                channels.append(blend_floats(values, factors, counts, form == "f16"))
        return channels


def filled(channels):
    return channels + [0] * (4 - len(channels))


# Of a fetch that names no level: below every clamp.
NO_LEVEL = -32 * 256


def sample(texture, sampler, geometry, point, layer=0, offset=(0, 0, 0), level=NO_LEVEL):
    """The four channels at floats, given by their bits, in a level by 256ths."""
    if texture.image.shape == "linear":
        return [0] * 4
    reader = Reader(texture, sampler, geometry, point, layer, offset)
    levels = [(0, 256)]
    if texture.image.levels:
        levels = chosen(level, texture.image.levels, sampler.bias, sampler.least, sampler.most, sampler.between)
    slices = []
    for number, whole in levels:
        places = reader.places(number)
        near, far = depths(places[2][1] if len(places) > 2 else 0, whole)
        slices.append(reader.four(number, near))
        if far:
            slices.append(reader.four(number, far, True))
    if not sampler.linear and not (texture.image.levels and sampler.between):
        return filled(slices[0][0][0][0])
    return filled(reader.sum_of(slices))


def gather(texture, sampler, geometry, point, component, layer=0, offset=(0, 0, 0)):
    """One channel of the four texels that a linear filter would blend in level 0: lower left, lower right, upper right, upper left."""
    reader = Reader(texture, sampler, geometry, point, layer, offset)
    image = texture.image
    if component >= image.channels:
        return [0] * 4
    (x, _), (y, _) = reader.places(0, True)
    order = [(0, 1), (1, 1), (1, 0), (0, 0)]
    texels = [reader.texel(0, x + i, y + j, 0) for i, j in order]
    # Behind a cube's corner lies what a filter makes of the others. Filters take part in bytes with a sign and in floats too.
    is_filtered = image.format == "s8" and texture.normalized_read or image.format[0] == "f"
    known = [texel or texels[place ^ 2] for place, texel in enumerate(texels)]
    results = []
    for place, texel in enumerate(texels):
        shares = [256 * (k == place) for k in range(4)]
        if not texel:
            shares = [85, 85, 85, 85]
            shares[place], shares[place ^ 2] = 0, 86
        if texel and not is_filtered:
            results.append(texel[0][component])
        else:
            results.append(reader.sum_of([(known, shares, [share > 0 for share in shares])])[component])
    return results

"""Textures at floats beyond one level of a plane: mip maps, gradients, cubes, gathers."""

import random
from fractions import Fraction

from . import texture_cube, texture_levels
from .ptx import Family
from .texture_levels import rounded
from .texture_sample import Sampler, gather, sample
from .texture_unit import Image, Texture, convert
from .textures import random_image
from .values import f32

POINTS = 40
GEOMETRIES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2, "cube": 3, "acube": 3}
SHAPES = {
    "1d": ("1d", [21]), "2d": ("2d", [20, 13]), "3d": ("3d", [9, 7, 6]), "a1d": ("1d_layered", [17, 3]),
    "a2d": ("2d_layered", [12, 10, 3]), "cube": ("cube", [6]), "acube": ("cube_layered", [5, 2]),
}
FLOATS = "{%r0, %r1, %r2, %r3}"


def vector(geometry, first=0):
    """Coordinates or a gradient from a register on; the layer is the fourth."""
    names = [f"%c{first + k}" for k in range(GEOMETRIES[geometry])]
    if geometry.startswith("a") and first == 0:
        names = ["%c3", *names]
    padding = [names[-1]] * (4 - len(names)) if len(names) == 3 else []
    return "{" + ", ".join(names + padding) + "}"


def reader(family, name, lines):
    """A kernel whose threads read at twelve words each, coordinates and two gradients, and store four."""
    registers = [[f"%c{first + k}" for k in range(4)] for first in (0, 4, 8)]
    loads = [f"ld.global.v4.u32 {{{', '.join(four)}}}, [%p+{16 * k}];" for k, four in enumerate(registers)]
    family.kernel(
        name,
        [".param .u64 out", ".param .u64 t", ".param .u64 points", ".param .u32 n"],
        [".reg .pred %end;", ".reg .b32 %i, %n, %r<4>, %c<12>;", ".reg .b16 %h<4>;", ".reg .b64 %t, %p, %q;"],
        [
            "mov.u32 %i, %tid.x;", "ld.param.u32 %n, [n];", "setp.ge.u32 %end, %i, %n;", "@%end exit;", "ld.param.u64 %t, [t];",
            "ld.param.u64 %p, [points];", "mad.wide.u32 %p, %i, 48, %p;", *loads,
            *lines,
            "ld.param.u64 %q, [out];", "mad.wide.u32 %q, %i, 16, %q;", "st.global.v4.u32 [%q], {%r0, %r1, %r2, %r3};",
        ],
    )


def floats(rng, low, high):
    """A single by its bits, evenly."""
    return f32(rng.uniform(low, high))


def small(rng, low, high):
    """A single of either sign, with sizes over powers of two."""
    return f32(rng.choice([-1, 1]) * 2.0 ** rng.uniform(low, high))


def direction(rng):
    """One whose face and place don't depend on the last bit of a reciprocal; every other one near an edge or corner."""
    while True:
        near = rng.random() < 0.5
        size = 2.0 ** rng.randrange(-3, 4)
        point = [f32(size * rng.choice([-1, 1]) * (rng.uniform(0.85, 1) if near else rng.uniform(0, 1))) for _ in range(3)]
        if near and rng.random() < 0.5:
            point[rng.randrange(3)] = floats(rng, -size, size)
        if steady(point):
            return point


def steady(point):
    numbers = [texture_levels.number(bits) for bits in point]
    greatest = max(map(abs, numbers))
    if not greatest:
        return False
    places = set()
    reciprocal = texture_levels.number(rounded(1 / greatest))
    for step in (-1, 0, 1):
        near = reciprocal * (1 + Fraction(step, 1 << 23))
        scaled = [rounded(value * near) for value in numbers]
        face = texture_cube.face_of(scaled)
        s, t, _ = texture_cube.on_face(face, [texture_levels.number(bits) for bits in scaled])
        places.add((face, s * 2**20 // 1, t * 2**20 // 1))
    return len(places) == 1


def point_of(rng, geometry, image, reach):
    point = direction(rng) if "cube" in geometry else [floats(rng, *reach) for _ in range(3)]
    layers = image.layers // (6 if "cube" in geometry else 1)
    layer = rng.randrange(-1, layers + 1) & 0xFFFFFFFF if geometry.startswith("a") else rng.getrandbits(32)
    return [*point, layer]


def image_of(rng, geometry, format="f32", channels=1, levels=0):
    """Floats of like size, which filters add without surprises."""
    shape, size = SHAPES[geometry]
    if format not in ("f16", "f32"):
        return random_image(rng, shape, size, format, channels, levels)
    make = (lambda: floats(rng, -4, 4)) if format == "f32" else (lambda: rng.randrange(0x3000, 0x4400) | rng.choice([0, 0x8000]))
    return Image(shape, size, format, channels, levels).fill(make)


class Cases:
    """Cases of a family, each with points and a way to compute what is read there."""

    def __init__(self, family, rng):
        self.family, self.rng = family, rng

    def add(self, name, entry, texture, sampler, geometry, more, expect, ty="f32", reach=(-1, 2), places=(), place=None):
        """`more` gives the other words of a point, `expect` the channels for a point and these words; coordinates reach so far, one is of the
        `places` if there are any, or `place` gives all."""
        where, expected = [], []
        for _ in range(POINTS):
            point, words = point_of(self.rng, geometry, texture.image, reach), more(self.rng)
            if place:
                point[:3] = place(self.rng)
            if places:
                point[self.rng.randrange(GEOMETRIES[geometry])] = self.rng.choice(places)
            values = [convert(value, ty) for value in expect(point, words)]
            expected += [values[0] | values[1] << 16, values[2] | values[3] << 16, 0, 0] if ty == "f16x2" else values
            where += [*point, *words, *[0] * (8 - len(words))]
        args = [
            {"type": "u32", "zeros": 4 * POINTS}, texture.spec("image", sampler), {"type": "u32", "data": where}, {"type": "u32", "value": POINTS},
        ]
        data = {"type": "f32", "data": [f"0x{value:08x}" for value in expected]} if ty == "f32" else {"data": expected}
        self.family.case(name, entry, args, [{"arg": 0, **data}], images={"image": texture.image.spec()})

    def level(self, name, entry, texture, sampler, geometry, ty="f32"):
        """With a level in the fifth word."""
        count = texture.image.levels
        expect = lambda point, words: sample(texture, sampler, geometry, point[:3], point[3], level=texture_levels.fixed(words[0]))
        self.add(name, entry, texture, sampler, geometry, lambda rng: [floats(rng, -1, count + 1)], expect, ty)

    def gradient(self, name, entry, texture, sampler, geometry, ty="f32", odd=(), places=()):
        """With two gradients; every fourth word is one of the odd numbers, and a coordinate one of the places, if there are any."""
        dimensions = GEOMETRIES[geometry]
        cube = "cube" in geometry

        def more(rng):
            step = lambda: small(rng, -6, 1) if rng.random() < 0.9 else 0
            return [rng.choice(odd) if odd and rng.random() < 0.25 else step() for _ in range(8)]

        def expect(point, words):
            gradients = [words[:dimensions], words[4 : 4 + dimensions]]
            extents = texture.image.extents[0]
            level = texture_cube.gradient_level(point[:3], gradients, extents[0]) if cube else texture_levels.gradient_level(point[:3], gradients, extents, dimensions)
            return sample(texture, sampler, geometry, point[:3], point[3], level=level)

        self.add(name, entry, texture, sampler, geometry, more, expect, ty, places=places)


def levels(tables):
    family = Family("texture_levels", "tex with floats for coordinates, and levels or gradients.", tables)
    rng = random.Random(1806)
    cases = Cases(family, rng)
    # Drivers compile these kernels long, so that there are few.
    for geometry in ("1d", "2d", "3d", "a2d"):
        entry = f"level_{geometry}"
        reader(family, entry, [f"tex.level.{geometry}.v4.f32.f32 {FLOATS}, [%t, {vector(geometry)}], %c4;"])
        reader(family, f"gradient_{geometry}", [f"tex.grad.{geometry}.v4.f32.f32 {FLOATS}, [%t, {vector(geometry)}], {vector(geometry, 4)}, {vector(geometry, 8)};"])
        for linear, between in ((True, True), (False, True), (True, False), (False, False)) if geometry in ("2d", "3d") else ((True, True),):
            sampler = Sampler(("wrap", "clamp", "mirror"), linear, True, between=between, most=9)
            cases.level(f"{entry}/{'linear' if linear else 'point'}_{'linear' if between else 'point'}", entry, Texture(image_of(rng, geometry, levels=3)), sampler, geometry)
        sampler = Sampler(("clamp",), False, True, between=True, most=9)
        cases.gradient(f"gradient_{geometry}", f"gradient_{geometry}", Texture(image_of(rng, geometry, levels=4 if geometry != "3d" else 3)), sampler, geometry)
    for format, channels in (("u8", 4), ("s8", 2), ("u16", 1), ("s16", 2), ("f16", 4), ("f32", 4)):
        sampler = Sampler(("mirror",), True, True, between=True, most=9)
        cases.level(f"level_2d/{format}x{channels}", "level_2d", Texture(image_of(rng, "2d", format, channels, 4), format[0] in "us"), sampler, "2d")
    cases.level("level_2d/s8x1_point", "level_2d", Texture(image_of(rng, "2d", "s8", 1, 4), True), Sampler(("clamp",), False, True, between=True, most=9), "2d")
    for name, clamps in {
        "bias": {"bias": 0.7, "most": 9}, "much_bias": {"bias": 40.0, "most": 2.6}, "less_bias": {"bias": -1.3, "most": 9}, "clamped": {"least": 0.8, "most": 2.3},
        "crossed": {"least": 2.5, "most": 1.0},
    }.items():
        for between in (False, True):
            sampler = Sampler(("clamp",), True, True, between=between, **clamps)
            cases.level(f"level_2d/{name}_{'linear' if between else 'point'}", "level_2d", Texture(image_of(rng, "2d", levels=4)), sampler, "2d")
    cases.gradient("gradient_2d/bias", "gradient_2d", Texture(image_of(rng, "2d", levels=5)), Sampler(("wrap",), True, True, between=True, bias=2.2, most=3.4), "2d")
    cases.level("level_2d/array", "level_2d", Texture(image_of(rng, "2d")), Sampler(("clamp",), True, True), "2d")
    srgb = Texture(random_image(rng, "2d", [12, 9], "u8", 4, 3), True, True)
    cases.level("level_2d/srgb", "level_2d", srgb, Sampler(("border",), True, True, (0.3, 0.7, 0.1, 0.8), between=True, most=9), "2d")
    # Without a level in the instruction the lowest counts.
    reader(family, "lowest", [f"tex.2d.v4.f32.f32 {FLOATS}, [%t, {vector('2d')}];"])
    for between in (False, True):
        texture, sampler = Texture(image_of(rng, "2d", levels=4)), Sampler(("clamp",), True, True, between=between, bias=3.0, least=1.6, most=9)
        expect = lambda point, words: sample(texture, sampler, "2d", point[:3])
        cases.add(f"lowest/{'linear' if between else 'point'}", "lowest", texture, sampler, "2d", lambda rng: [], expect)
    # Whole numbers count by their bits, as floats.
    reader(family, "gradient_s32", [f"tex.grad.2d.v4.f32.s32 {FLOATS}, [%t, {vector('2d')}], {vector('2d', 4)}, {vector('2d', 8)};"])
    cases.gradient("gradient_s32", "gradient_s32", Texture(image_of(rng, "2d", levels=4)), Sampler(("clamp",), True, True, between=True, most=9), "2d")
    reader(family, "gradient_s32_f16x2", [f"tex.grad.2d.v2.f16x2.s32 {{%r0, %r1}}, [%t, {vector('2d')}], {vector('2d', 4)}, {vector('2d', 8)};", "mov.u32 %r2, 0;", "mov.u32 %r3, 0;"])
    cases.gradient("gradient_s32_f16x2", "gradient_s32_f16x2", Texture(image_of(rng, "2d", "f32", 4, 4)), Sampler(("clamp",), True, True, between=True, most=9), "2d", "f16x2")
    # Numbers that are no ordinary steps.
    for geometry in ("2d", "3d"):
        sampler = Sampler(("clamp",), False, True, between=True, most=9)
        cases.gradient(f"gradient_{geometry}/odd", f"gradient_{geometry}", Texture(image_of(rng, geometry, levels=3)), sampler, geometry, odd=STEPS)
    # Coordinates so large that steps from them count as large, or as none.
    texture, sampler = Texture(image_of(rng, "3d", levels=3)), Sampler(("wrap",), False, True, between=True, most=9)
    far = [f32(sign * 2.0**power) for power in (23, 60, 96, 97, 126) for sign in (1, -1)]
    cases.gradient("gradient_3d/far", "gradient_3d", texture, sampler, "3d", odd=STEPS, places=far)
    # A depth to compare with changes nothing.
    reader(family, "compared", [f"tex.level.2d.v4.f32.f32 {FLOATS}, [%t, {vector('2d')}], %c4, {{1, -2}}, %c5;"])
    texture, sampler = Texture(image_of(rng, "2d", levels=3)), Sampler(("clamp",), True, True, between=True, most=9)
    expect = lambda point, words: sample(texture, sampler, "2d", point[:3], 0, (1, -2, 0), texture_levels.fixed(words[0]))
    cases.add("compared", "compared", texture, sampler, "2d", lambda rng: [floats(rng, -1, 4), floats(rng, 0, 1)], expect)
    return family


def cubes(tables):
    family = Family("texture_cubes", "tex on cubes: faces, seams, levels, gradients.", tables)
    rng = random.Random(1807)
    cases = Cases(family, rng)
    for geometry in ("cube", "acube"):
        reader(family, geometry, [f"tex.{geometry}.v4.f32.f32 {FLOATS}, [%t, {vector(geometry)}];"])
        for name, sampler in {
            "point": Sampler(("clamp",), False, True), "linear": Sampler(("clamp",), True, True), "seamless": Sampler(("clamp",), True, True, seamless=True),
        }.items():
            texture = Texture(image_of(rng, geometry))
            expect = lambda point, words: sample(texture, sampler, geometry, point[:3], point[3])
            cases.add(f"{geometry}/{name}", geometry, texture, sampler, geometry, lambda rng: [], expect)
    reader(family, "level_cube", [f"tex.level.cube.v4.f32.f32 {FLOATS}, [%t, {vector('cube')}], %c4;"])
    seamless = Sampler(("clamp",), True, True, between=True, most=9, seamless=True)
    cases.level("level_cube", "level_cube", Texture(image_of(rng, "cube", levels=3)), seamless, "cube")
    reader(family, "gradient_acube", [f"tex.grad.acube.v4.f32.f32 {FLOATS}, [%t, {vector('acube')}], {vector('acube', 4)}, {vector('acube', 8)};"])
    sampler = Sampler(("clamp",), False, True, between=True, most=9)
    cases.gradient("gradient_acube", "gradient_acube", Texture(image_of(rng, "acube", levels=3)), sampler, "acube")
    # Steps to the end of everything lead to no direction, which lies on the face of z.
    for geometry in ("cube", "acube"):
        if geometry == "cube":
            reader(family, "gradient_cube", [f"tex.grad.cube.v4.f32.f32 {FLOATS}, [%t, {vector('cube')}], {vector('cube', 4)}, {vector('cube', 8)};"])
        cases.gradient(f"gradient_{geometry}/odd", f"gradient_{geometry}", Texture(image_of(rng, geometry, levels=3)), sampler, geometry, odd=STEPS)
    for name, sampler in {
        "wrap": Sampler(("wrap",), True, True), "border": Sampler(("border",), True, True, (0.25, 0, 0, 0)), "unnormalized": Sampler(("clamp",), True, False),
    }.items():
        texture = Texture(image_of(rng, "cube"))
        cases.add(f"cube/{name}", "cube", texture, sampler, "cube", lambda rng: [], lambda point, words: sample(texture, sampler, "cube", point[:3]))
    for format, channels in (("u8", 4), ("s8", 1), ("f16", 2)):
        texture, sampler = Texture(image_of(rng, "cube", format, channels), format[0] in "us"), Sampler(("clamp",), True, True, seamless=True)
        cases.add(f"cube/{format}x{channels}", "cube", texture, sampler, "cube", lambda rng: [], lambda point, words: sample(texture, sampler, "cube", point[:3]))
    # Exactly at edges. Without a filter, reads stay on the face, whatever the address mode.
    for geometry in ("cube", "acube"):
        for modes in (("wrap",), ("clamp",), ("mirror",), ("border",)):
            for seamless in (False, True):
                texture, sampler = Texture(image_of(rng, geometry)), Sampler(modes, False, True, (0.25, 0, 0, 0) if modes[0] == "border" else (0,) * 4, seamless=seamless)
                expect = lambda point, words: sample(texture, sampler, geometry, point[:3], point[3])
                cases.add(f"{geometry}/edges_{modes[0]}{'_seamless' if seamless else ''}", geometry, texture, sampler, geometry, lambda rng: [], expect, place=edges)
    cases.level("level_cube/point", "level_cube", Texture(image_of(rng, "cube", levels=3)), Sampler(("clamp",), False, True, between=True, most=9, seamless=True), "cube")
    return family


def edges(rng):
    """A direction at the edge of a face, or a few units in the last place within. Its greatest coordinate has an exact reciprocal."""
    size = 2.0 ** rng.randrange(-3, 4)
    sizes = [1, 1 - rng.choice([0, 1, 2, 3, 8, 16, 4096]) / (1 << 24), rng.choice([rng.random(), 0, 0.25, 0.5, 1])]
    rng.shuffle(sizes)
    return [f32(size * part * rng.choice([-1, 1])) for part in sizes]


def gathers(tables):
    family = Family("texture_gather", "tld4: one channel of four texels.", tables)
    rng = random.Random(1808)
    cases = Cases(family, rng)
    offset = lambda value: (value + 32) % 64 - 32
    for component, geometry in enumerate(("2d", "a2d", "cube", "acube")):
        letter = "rgba"[component]
        reader(family, f"gather_{geometry}", [f"tld4.{letter}.{geometry}.v4.f32.f32 {FLOATS}, [%t, {vector(geometry)}];"])
        for name, sampler in {"point": Sampler(("mirror",), False, True), "linear": Sampler(("clamp",), True, True, seamless="cube" in geometry)}.items():
            texture = Texture(image_of(rng, geometry, "f32", 4))
            expect = lambda point, words: gather(texture, sampler, geometry, point[:3], component, point[3])
            cases.add(f"gather_{geometry}/{name}", f"gather_{geometry}", texture, sampler, geometry, lambda rng: [], expect)
    reader(family, "offset", [f"tld4.g.2d.v4.u32.f32 {FLOATS}, [%t, {vector('2d')}], {{%c4, %c5}};"])
    for name, texture, sampler, reach in (
        ("wrap", Texture(image_of(rng, "2d", "f32", 2)), Sampler(("wrap", "clamp"), False, True), (-3, 4)),
        ("mirror", Texture(Image("2d", [1, 3], "f32", 2).fill(lambda: floats(rng, -4, 4))), Sampler(("mirror", "border"), False, True), (-3, 4)),
        ("unnormalized", Texture(image_of(rng, "2d", "f32", 2)), Sampler(("clamp", "border"), False, False), (-60, 60)),
    ):
        expect = lambda point, words: gather(texture, sampler, "2d", point[:3], 1, 0, [offset(word) for word in words])
        cases.add(f"offset/{name}", "offset", texture, sampler, "2d", lambda rng: [rng.randrange(-40, 41) & 0xFFFFFFFF for _ in range(2)], expect, "u32", reach)
    reader(family, "compared", [f"tld4.a.2d.v4.s32.f32 {FLOATS}, [%t, {vector('2d')}], %c4;"])
    texture, sampler = Texture(image_of(rng, "2d", "f32", 4)), Sampler(("border",), False, False, (0.5, 1, 2, 3))
    cases.add("compared", "compared", texture, sampler, "2d", lambda rng: [floats(rng, 0, 1)], lambda point, words: gather(texture, sampler, "2d", point[:3], 3), "s32")
    # A channel that there isn't, levels that don't count, and formats.
    missing = Texture(image_of(rng, "a2d", "f32", 1, 3)), Sampler(("clamp",), True, True, least=1, most=2)
    cases.add("gather_a2d/missing", "gather_a2d", *missing, "a2d", lambda rng: [], lambda point, words: gather(*missing, "a2d", point[:3], 1, point[3]))
    for format, channels, normalized in (("u8", 4, True), ("s8", 4, True), ("s8", 4, False), ("u16", 4, False), ("s32", 4, False), ("u32", 4, False), ("f16", 4, False)):
        texture, sampler = Texture(image_of(rng, "cube", format, channels), normalized), Sampler(("clamp",), False, True, seamless=True)
        expect = lambda point, words: gather(texture, sampler, "cube", point[:3], 2)
        cases.add(f"gather_cube/{format}{'_normalized' if normalized else ''}", "gather_cube", texture, sampler, "cube", lambda rng: [], expect, "f32" if normalized or format == "f16" else "u32")
    # Numbers that filters change, even alone. As bits, since NaNs count as equal otherwise.
    for format, numbers in (("f16", HALVES), ("f32", SINGLES)):
        for name, sampler in {"point": Sampler(("mirror",), False, True), "linear": Sampler(("clamp",), True, True)}.items():
            texture = Texture(Image("2d", [9, 7], format, 2).fill(lambda: rng.choice(numbers)))
            expect = lambda point, words: gather(texture, sampler, "2d", point[:3], 0)
            cases.add(f"gather_2d/{format}_odd_{name}", "gather_2d", texture, sampler, "2d", lambda rng: [], expect, "u32")
    two, linear = Texture(random_image(rng, "2d", [9, 7], "u8", 2), True, True), Sampler(("clamp",), True, True)
    reader(family, "gather_g", [f"tld4.g.2d.v4.f32.f32 {FLOATS}, [%t, {vector('2d')}];"])
    for component, entry in ((0, "gather_2d"), (1, "gather_g")):
        cases.add(f"{entry}/srgb_two", entry, two, linear, "2d", lambda rng: [], lambda point, words: gather(two, linear, "2d", point[:3], component))
    return family


# Steps that are no ordinary numbers, and such that make coordinates round.
STEPS = [
    0x7FC00000, 0xFFFFFFFF, 0x7F800000, 0xFF800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7E800001, 0xFE812345, 0x5F000000, 0x5D800000, 0xDE123456, 0x21800000, 0xA1812345,
    1, 0x80800001, 0, 0x80000000, 0x3F800000, 0xBF800000, 0x40000000, 0xC0000000, 0x4B000000, 0xCB000001,
]
# NaNs, infinities, zeros and subnormal numbers.
HALVES = [0x7E00, 0xFE01, 0x7FFF, 0x7C01, 0x7C00, 0xFC00, 0x3C00, 0, 0x8000, 1, 0x83FF, 0x7BFF]
SINGLES = [0x7FC00000, 0xFF800001, 0x7FFFFFFF, 0x7F800000, 0xFF800000, 0x3F800000, 0, 0x80000000, 1, 0x807FFFFF, 0x00800000, 0x7F7FFFFF]


def families(tables):
    return [levels(tables), cubes(tables), gathers(tables)]

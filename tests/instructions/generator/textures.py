"""Textures and surfaces: texels by whole numbers, accesses by bytes, formatted stores, queries."""

import random

from .ptx import Family, header
from .texture_sample import Sampler, sample
from .texture_unit import CHANNELS, Image, Surface, Texture, convert
from .values import f32

GEOMETRIES = {"1d": (1, False), "2d": (2, False), "3d": (3, False), "a1d": (1, True), "a2d": (2, True)}
# How many points a case reads.
POINTS = 48
FAR = [-(1 << 31), (1 << 31) - 1, 65535, 65536, -65536]


def coordinates(geometry, names):
    """A vector of coordinates, the layer from the fourth."""
    dimensions, layered = GEOMETRIES[geometry]
    x, y, z, layer = names
    return {"1d": f"{{{x}}}", "2d": f"{{{x}, {y}}}", "3d": f"{{{x}, {y}, {z}, {z}}}", "a1d": f"{{{layer}, {x}}}", "a2d": f"{{{layer}, {x}, {y}, {y}}}"}[geometry]


def reader(family, name, lines, handle=".u64"):
    """A kernel that reads at four words per thread, and stores four."""
    handles = {".u64": ["ld.param.u64 %t, [t];"]}.get(handle, [])
    family.kernel(
        name,
        [".param .u64 out", f".param {handle} t", ".param .u64 points", ".param .u32 n"],
        [".reg .pred %end;", ".reg .b32 %i, %n, %r<4>, %c<5>, %o<4>;", ".reg .b16 %h<4>;", ".reg .b64 %t, %p, %q;"],
        [
            "mov.u32 %i, %tid.x;", "ld.param.u32 %n, [n];", "setp.ge.u32 %end, %i, %n;", "@%end exit;", *handles,
            "ld.param.u64 %p, [points];", "mad.wide.u32 %p, %i, 16, %p;", "ld.global.v4.u32 {%c0, %c1, %c2, %c3}, [%p];",
            *lines,
            "ld.param.u64 %q, [out];", "mad.wide.u32 %q, %i, 16, %q;", "st.global.v4.u32 [%q], {%r0, %r1, %r2, %r3};",
        ],
    )


def arguments(where, handle):
    """Those of a reader."""
    return [
        {"type": "u32", "zeros": 4 * len(where)}, handle, {"type": "s32", "data": [c for point in where for c in point]},
        {"type": "u32", "value": len(where)},
    ]


def points(rng, image, dimensions, layered, leveled):
    """Inside, a little outside, far away; the fourth is the layer, and the third the level where there are layers."""
    extents = image.extents[0]
    found = []
    for _ in range(POINTS):
        point = [rng.randrange(-2, n + 2) if rng.random() < 0.9 else rng.choice(FAR) for n in extents]
        last = rng.randrange(-1, image.layers + 1) if rng.random() < 0.9 else rng.choice(FAR)
        level = rng.randrange(-1, len(image.extents) + 1)
        if layered:
            found.append([point[0], point[1], level, last])
        else:
            found.append([point[0], point[1], point[2], level])
    return found


def random_image(rng, shape, size, format, channels=1, levels=0, surface=False):
    code = CHANNELS[format]
    bits = {"B": 8, "H": 16, "I": 32}[code.upper()]
    def make():
        value = rng.getrandbits(bits)
        if format == "f16" and value & 0x7C00 == 0x7C00 or format == "f32" and value & 0x7F800000 == 0x7F800000:
            value &= 0x83FF if bits == 16 else 0x807FFFFF
        return value - (1 << bits) if code.islower() and value >> bits - 1 else value
    return Image(shape, size, format, channels, levels, surface).fill(make)


SHAPES = {"1d": ("linear", [29]), "2d": ("2d", [7, 5]), "3d": ("3d", [5, 4, 3]), "a1d": ("1d_layered", [9, 4]), "a2d": ("2d_layered", [5, 4, 3])}
FORMATS = [("u8", 1), ("u8", 4), ("s8", 2), ("u16", 1), ("s16", 4), ("u32", 2), ("s32", 1), ("f16", 1), ("f16", 4), ("f32", 1), ("f32", 2), ("f32", 4)]
PROMOTED = [("u8", 1), ("u8", 4), ("s8", 1), ("u16", 2), ("s16", 1)]


def fetch(tables):
    family = Family("texture_fetch", "tex with whole numbers for coordinates.", tables)
    rng = random.Random(1801)

    def case(name, entry, image, texture, geometry, leveled, ty="u32", offset=(0, 0, 0), level=None):
        dimensions, layered = GEOMETRIES[geometry]
        where = points(rng, image, dimensions, layered, leveled)
        expected = []
        for x, y, z, w in where:
            layer, asked = (w, z) if layered else (0, w)
            asked = asked if level is None else level
            at = [a + b for a, b in zip((x, y, z), offset)]
            values = texture.fetch(dimensions, layered, at, layer & 0xFFFFFFFF if layered else 0, asked if leveled else None)
            values = [convert(value, ty) for value in values]
            expected += [values[0] | values[1] << 16, values[2] | values[3] << 16, 0, 0] if ty == "f16x2" else values
        args = arguments(where, texture.spec("image"))
        nan = {"type": "f32"} if ty == "f32" else {}
        data = [f"0x{value:08x}" for value in expected] if nan else expected
        family.case(name, entry, args, [{"arg": 0, **nan, "data": data}], images={"image": image.spec()})

    for geometry, (dimensions, layered) in GEOMETRIES.items():
        shape, size = SHAPES[geometry]
        vector = coordinates(geometry, ["%c0", "%c1", "%c2", "%c3"])
        level = "%c2" if layered else "%c3"
        for leveled in (False, True):
            name = f"fetch_{'level_' if leveled else ''}{geometry}"
            more = f", {level}" if leveled else ""
            reader(family, name, [f"tex.{'level.' if leveled else ''}{geometry}.v4.u32.s32 {{%r0, %r1, %r2, %r3}}, [%t, {vector}]{more};"])
            formats = FORMATS if geometry == "2d" and not leveled else [("u8", 4), ("f16", 2), ("f32", 1)]
            for format, channels in formats:
                image = random_image(rng, shape, size, format, channels)
                case(f"{name}/{format}x{channels}", name, image, Texture(image), geometry, leveled)
            if leveled and shape != "linear":
                image = random_image(rng, shape, [8, *size[1:]], "f32", 1, levels=3)
                case(f"{name}/mip", name, image, Texture(image), geometry, leveled)
            if not leveled:
                for format, channels in PROMOTED if geometry == "2d" else PROMOTED[:1]:
                    image = random_image(rng, shape, size, format, channels)
                    case(f"{name}/{format}x{channels}_normalized", name, image, Texture(image, True), geometry, leveled)
    image = random_image(rng, "2d", [7, 5], "f32", 4)
    destinations = {
        "f32": (".v4.f32.s32 {%r0, %r1, %r2, %r3}", []),
        "s32": (".v4.s32.s32 {%r0, %r1, %r2, %r3}", []),
        "f16": (".v4.f16.s32 {%h0, %h1, %h2, %h3}", [f"cvt.u32.u16 %r{k}, %h{k};" for k in range(4)]),
        "f16x2": (".v2.f16x2.s32 {%r0, %r1}", ["mov.u32 %r2, 0;", "mov.u32 %r3, 0;"]),
    }
    small = Image("2d", [7, 5], "f32", 4).fill(lambda: rng.choice([0x3F800000, 0x33800001, 0x477FF000, 0x387FFFFF, 0xB8000001]) + rng.randrange(1 << 20))
    for ty, (form, after) in destinations.items():
        for leveled in ("", ".level"):
            name = f"fetch{leveled.replace('.', '_')}_{ty}"
            source = small if ty.startswith("f16") else image
            reader(family, name, [f"tex{leveled}.2d{form}, [%t, {{%c0, %c1}}]{', 0' if leveled else ''};", *after])
            case(name, name, source, Texture(source), "2d", bool(leveled), ty, level=0)
    reader(family, "fetch_base", ["tex.base.2d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [%t, {%c0, %c1}];"])
    case("fetch_base", "fetch_base", image, Texture(image), "2d", False)
    reader(family, "fetch_offset", ["tex.2d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [%t, {%c0, %c1}], {3, -8};"])
    case("fetch_offset", "fetch_offset", image, Texture(image), "2d", False, offset=(3, -8, 0))
    # Linear memory knows no offsets.
    row = random_image(random.Random(1811), "1d", [29], "f32", 4)
    row.shape = "linear"
    reader(family, "fetch_offset_1d", ["tex.1d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [%t, {%c0}], {%c1};"])
    case("fetch_offset_1d", "fetch_offset_1d", row, Texture(row), "1d", False)
    # Textures of several samples aren't to be made; of others all samples but the first are zero.
    for geometry, registers, place in (("2d", "{%c3, %c0, %c1, %c1}", 3), ("a2d", "{%c2, %c3, %c0, %c1}", 2)):
        name = f"fetch_{geometry}ms"
        reader(family, name, [f"tex.{geometry}ms.v4.u32.s32 {{%r0, %r1, %r2, %r3}}, [%t, {registers}];"])
        dimensions, layered = GEOMETRIES[geometry]
        picture = random_image(rng, *SHAPES[geometry], "u16", 2)
        texture, where, expected = Texture(picture), points(rng, picture, dimensions, layered, False), []
        for point in where:
            values = texture.fetch(dimensions, layered, point, point[3] & 0xFFFFFFFF if layered else 0)
            expected += [0] * 4 if point[place] else values
        args = arguments(where, texture.spec("image"))
        family.case(name, name, args, [{"arg": 0, "data": expected}], images={"image": picture.spec()})
    reader(family, "fetch_2dms_f16x2", ["tex.2dms.v2.f16x2.s32 {%r0, %r1}, [%t, {0, %c0, %c1, %c1}];", "mov.u32 %r2, 0;", "mov.u32 %r3, 0;"])
    case("fetch_2dms_f16x2", "fetch_2dms_f16x2", small, Texture(small), "2d", False, "f16x2")
    reader(family, "fetch_resident", [".reg .pred %p0;", "tex.2d.v4.u32.s32 {%r0, %r1, _, _}|%p0, [%t, {%c0, %c1}];", "selp.u32 %r2, 7, 8, %p0;", "mov.u32 %r3, 0;"])
    where = points(rng, image, 2, False, False)
    texture = Texture(image)
    expected = []
    for x, y, _, _ in where:
        expected += texture.fetch(2, False, (x, y, 0))[:2] + [7, 0]
    args = arguments(where, texture.spec("image"))
    family.case("fetch_resident", "fetch_resident", args, [{"arg": 0, "data": expected}], images={"image": image.spec()})
    return family


# What filters read: shapes for the instructions' dimensions.
SAMPLED = {"1d": ("1d", [13]), "2d": ("2d", [9, 7]), "3d": ("3d", [6, 5, 4]), "a1d": ("1d_layered", [11, 3]), "a2d": ("2d_layered", [6, 5, 3])}
MODES = {False: [("clamp",), ("border",), ("clamp", "border", "clamp")], True: [("wrap",), ("mirror",), ("clamp",), ("border",), ("wrap", "mirror", "border")]}
ODD = [0x7FC00000, 0x7F800000, 0xFF800000, 0x80000001, 0x80000000, 0x7F7FFFFF, 0xCF000000]


def smooth_image(rng, shape, size, format, channels):
    """Texels that filters add without surprises: floats of like size."""
    if format not in ("f16", "f32"):
        return random_image(rng, shape, size, format, channels)
    make = (lambda: f32(rng.uniform(-4, 4))) if format == "f32" else (lambda: rng.randrange(0x3000, 0x4800) | rng.choice([0, 0x8000]))
    if shape == "3d":
        make = (lambda: f32(rng.uniform(1, 2))) if format == "f32" else (lambda: rng.randrange(0x3C00, 0x4000))
    return Image(shape, size, format, channels).fill(make)


def sampled(tables):
    family = Family("texture_sample", "tex with floats for coordinates: nearest texels and linear filters.", tables)
    rng = random.Random(1805)
    border = (0.3, -0.7, 1.75, 0.5)

    def case(name, entry, texture, sampler, geometry, ty="f32", offset=(0, 0, 0)):
        dimensions, layered = GEOMETRIES[geometry]
        extents = texture.image.extents[0]
        where, expected = [], []
        for number in range(POINTS):
            ends = [(-1.5, 2.5) if sampler.normalized else (-2, n + 2) for n in extents]
            point = [f32(rng.uniform(*end)) for end in ends]
            if number % 4 == 0:
                steps = [rng.randrange(-512 * n, 1024 * n) for n in extents]
                point = [f32(step / 512 / (n if sampler.normalized else 1)) for step, n in zip(steps, extents)]
            if number >= POINTS - len(ODD):
                point[number % dimensions] = ODD[POINTS - 1 - number]
            layer = rng.randrange(-1, texture.image.layers + 1) & 0xFFFFFFFF if layered else rng.getrandbits(32)
            values = [convert(value, ty) for value in sample(texture, sampler, geometry, point, layer, offset)]
            expected += [values[0] | values[1] << 16, values[2] | values[3] << 16, 0, 0] if ty == "f16x2" else values
            where.append([*point, layer])
        args = arguments(where, texture.spec("image", sampler))
        args[2]["type"] = "u32"
        expect = {"type": "f32", "data": [f"0x{value:08x}" for value in expected]} if ty == "f32" else {"data": expected}
        family.case(name, entry, args, [{"arg": 0, **expect}], images={"image": texture.image.spec()})

    for geometry, (dimensions, layered) in GEOMETRIES.items():
        shape, size = SAMPLED[geometry]
        vector = coordinates(geometry, ["%c0", "%c1", "%c2", "%c3"])
        name = f"sample_{geometry}"
        reader(family, name, [f"tex.{geometry}.v4.f32.f32 {{%r0, %r1, %r2, %r3}}, [%t, {vector}];"])
        for normalized, all_modes in MODES.items():
            # All modes on planes, where each dimension has its own; elsewhere that there are any.
            for modes in all_modes if geometry == "2d" else all_modes[-2:-1] if not normalized else all_modes[-1:]:
                for linear in (False, True):
                    sampler = Sampler(modes, linear, normalized, border if "border" in modes else (0,) * 4)
                    texture = Texture(smooth_image(rng, shape, size, "f32", 1))
                    case(f"{name}/{'_'.join(modes)}{'_normalized' if normalized else ''}{'_linear' if linear else ''}", name, texture, sampler, geometry)
        formats = [("u8", 1), ("u8", 4), ("s8", 2), ("s16", 1), ("u16", 2), ("f16", 4), ("f32", 4)] if geometry == "2d" else [("u8", 4), ("f16", 1)]
        for format, channels in formats:
            modes = ("border",) if channels == 4 and format != "f16" else ("clamp",)
            texture = Texture(smooth_image(rng, shape, size, format, channels), format[0] in "us")
            case(f"{name}/{format}x{channels}_linear", name, texture, Sampler(modes, True, False, border if modes[0] == "border" else (0,) * 4), geometry)
    for geometry, size in (("1d", [40]), ("2d", [9, 7])):
        bright = random_image(rng, geometry, size, "u8", 4)
        for linear in (False, True):
            case(f"sample_{geometry}/srgb{'_linear' if linear else ''}", f"sample_{geometry}", Texture(bright, True, True), Sampler(("clamp",), linear), geometry)
    image = smooth_image(rng, "2d", [9, 7], "f32", 4)
    destinations = {
        "u32": (".v4.u32.f32 {%r0, %r1, %r2, %r3}", []),
        "s32": (".v4.s32.f32 {%r0, %r1, %r2, %r3}", []),
        "f16": (".v4.f16.f32 {%h0, %h1, %h2, %h3}", [f"cvt.u32.u16 %r{k}, %h{k};" for k in range(4)]),
        "f16x2": (".v2.f16x2.f32 {%r0, %r1}", ["mov.u32 %r2, 0;", "mov.u32 %r3, 0;"]),
    }
    for ty, (form, after) in destinations.items():
        reader(family, f"sample_{ty}", [f"tex.2d{form}, [%t, {{%c0, %c1}}];", *after])
        case(f"sample_{ty}", f"sample_{ty}", Texture(image), Sampler(("clamp",), True), "2d", ty)
    integers = random_image(rng, "2d", [9, 7], "s8", 4)
    case("sample_s32/s8x4", "sample_s32", Texture(integers), Sampler(("clamp",)), "2d", "s32")
    reader(family, "sample_base", ["tex.base.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%t, {%c0, %c1}];"])
    case("sample_base", "sample_base", Texture(image), Sampler(("wrap",), True, True), "2d")
    reader(family, "sample_offset", ["tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%t, {%c0, %c1}], {-5, 7};"])
    case("sample_offset", "sample_offset", Texture(image), Sampler(("mirror", "clamp"), True, True), "2d", offset=(-5, 7, 0))
    # Large textures have more places behind the point.
    wide = Image("1d", [20000], "u16", 1).fill(lambda: rng.getrandbits(16))
    case("sample_1d/wide", "sample_1d", Texture(wide, True), Sampler(("wrap",), True, True), "1d")
    numbers = Image("2d", [9, 7], "f32", 1).fill(lambda: rng.choice([0, 0x80000000, 1, 0x7F800000, 0xFF800000, 0x7FC00000, 0x3F800000, 0x3F800001, 0x7F7FFFFF, 0x00800000, 0x4B000000, 0xB4000000]))
    case("sample_2d/odd_numbers", "sample_2d", Texture(numbers), Sampler(("clamp",), True), "2d")
    # Channels of whole words without a filter, which loads read in a way of their own.
    for geometry, (shape, size) in SAMPLED.items():
        for channels in (1, 2, 4):
            words = Texture(random_image(rng, shape, size, "f32", channels))
            case(f"sample_{geometry}/words_{channels}", f"sample_{geometry}", words, Sampler(("clamp",)), geometry)
    integers = Texture(random_image(rng, "2d", [9, 7], "u32", 4))
    case("sample_u32/words", "sample_u32", integers, Sampler(("clamp",)), "2d", "u32")
    # A border's colour as the format has it: between two numbers, near the middle, and out of range.
    for format, most in (("u8", 255), ("s8", 127), ("u16", 65535), ("s16", 32767)):
        for linear in (False, True):
            middles = [(rng.randrange(most) + 0.5 + off) / most for off in (0.125, -0.03125)]
            sampler = Sampler(("border",), linear, False, (0.25, middles[0], -1.5 if linear else -middles[1], 0.75 if linear else 7))
            texture = Texture(random_image(rng, "2d", [9, 7], format, 4), True)
            case(f"sample_2d/{format}_border{'_linear' if linear else ''}", "sample_2d", texture, sampler, "2d")
    # As bits, since NaNs count as equal otherwise.
    for format, numbers in (("f16", [0x7E00, 0xFE01, 0x7FFF, 0x7C00, 0xFC00, 0x3C00, 0]), ("f32", [0x7FC00000, 0xFF800001, 0x7F800000, 0xFF800000, 0x3F800000, 0])):
        image = Image("2d", [9, 7], format, 2).fill(lambda: rng.choice(numbers))
        case(f"sample_u32/{format}_nan", "sample_u32", Texture(image), Sampler(("clamp",), True), "2d", "u32")
    # sRGB has one of two channels, three of four, and no others than bytes that are read as floats.
    for format, channels, promoted in (("u8", 1, True), ("u8", 2, True), ("u8", 4, True), ("s8", 2, True), ("u16", 1, True), ("f32", 2, False)):
        for linear in (False, True):
            texture = Texture(smooth_image(rng, "2d", [9, 7], format, channels), promoted, True)
            case(f"sample_2d/srgb_{format}x{channels}{'_linear' if linear else ''}", "sample_2d", texture, Sampler(("border",), linear, False, (0.25, 0.625, 0.125, 0.75)), "2d")
    case("sample_u32/srgb", "sample_u32", Texture(smooth_image(rng, "2d", [9, 7], "u8", 2), False, True), Sampler(("clamp",)), "2d", "u32")
    # Slices of bytes in different powers of two.
    bytes_of = lambda channels: Image("3d", [6, 5, 4], "u8", channels).fill(lambda: rng.choice([40, 60, 90, 130, 180, 255]))
    case("sample_3d/srgb_linear", "sample_3d", Texture(bytes_of(4), True, True), Sampler(("clamp",), True), "3d")
    case("sample_3d/srgb_two_linear", "sample_3d", Texture(bytes_of(2), True, True), Sampler(("wrap",), True, True), "3d")
    # Of an offset of rows, the next four bits count for the second coordinate.
    reader(family, "sample_offset_1d", ["tex.1d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%t, {%c0}], {%c3};"])
    reader(family, "sample_offset_a1d", ["tex.a1d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%t, {1, %c0}], {%c3};"])
    nibble = lambda word: (word + 8) % 16 - 8
    for geometry, shape, size in (("1d", "1d", [13]), ("1d", "2d", [9, 7]), ("a1d", "1d_layered", [11, 3])):
        for modes in (("border",), ("mirror",)):
            for linear in (False, True):
                sampler = Sampler(modes, linear, True, border if modes[0] == "border" else (0,) * 4)
                texture = Texture(smooth_image(rng, shape, size, "f32", 1))
                where, expected = [], []
                for _ in range(POINTS):
                    x, offset = f32(rng.uniform(-0.5, 1.5)), rng.choice([rng.randrange(-9, 10), rng.getrandbits(32), 1 << rng.randrange(32)]) & 0xFFFFFFFF
                    parts = (nibble(offset), nibble(offset >> 4) if geometry == "1d" else 0, 0)
                    expected += sample(texture, sampler, geometry, [x, 0, 0], 1, parts)
                    where.append([x, 0, 0, offset])
                args = arguments(where, texture.spec("image", sampler))
                args[2]["type"] = "u32"
                data = [f"0x{value:08x}" for value in expected]
                name = f"sample_offset_{geometry}/{shape}_{modes[0]}{'_linear' if linear else ''}"
                family.case(name, f"sample_offset_{geometry}", args, [{"arg": 0, "type": "f32", "data": data}], images={"image": texture.image.spec()})
    return family


def references(tables):
    directives = ".global .texref first;\n.global .texref second = { addr_mode_0 = clamp_to_edge, filter_mode = nearest, normalized_coords = 0 };\n.global .surfref picture;\n"
    family = Family("texture_references", "References: module variables, their addresses, parameters of such a type.", tables, directives)
    rng = random.Random(1802)
    images = {"a": random_image(rng, "2d", [6, 4], "u32", 1), "b": random_image(rng, "2d", [6, 4], "u32", 1), "c": random_image(rng, "2d", [6, 4], "u32", 1, surface=True)}
    where = [[x, y, 0, 0] for y in range(4) for x in range(6)]
    count = len(where)
    bound = {"first": {"texture": {"image": "a"}}, "second": {"texture": {"image": "b"}}, "picture": {"surface": "c"}}
    read = lambda name, x, y: images[name].texel(0, x, y, 0)[0]
    forms = {
        "named": ["tex.2d.v4.u32.s32 {%r0, _, _, _}, [first, {%c0, %c1}];", "tex.2d.v4.u32.s32 {%r1, _, _, _}, [second, {%c0, %c1}];"],
        "by_address": [
            ".reg .pred %odd;", ".reg .b64 %other;", "mov.u64 %t, first;", "mov.u64 %other, second;", "and.b32 %r2, %i, 1;", "setp.eq.u32 %odd, %r2, 1;",
            "selp.b64 %t, %other, %t, %odd;", "tex.2d.v4.u32.s32 {%r0, _, _, _}, [%t, {%c0, %c1}];", "mov.u32 %r1, 0;",
        ],
        "surface": ["shl.b32 %r2, %c0, 2;", "suld.b.2d.b32.zero %r0, [picture, {%r2, %c1}];", "mov.u32 %r1, 0;"],
        "kinds": [
            ".reg .pred %is0, %is1, %is2;", "mov.u64 %t, first;", "istypep.texref %is0, %t;", "istypep.samplerref %is1, %t;", "istypep.surfref %is2, %t;",
            "selp.u32 %r0, 1, 0, %is0;", "selp.u32 %r1, 1, 0, %is1;", "@%is2 or.b32 %r1, %r1, 2;",
            "mov.u64 %t, picture;", "istypep.surfref %is0, %t;", "selp.u32 %r2, 4, 0, %is0;", "or.b32 %r0, %r0, %r2;",
        ],
    }
    results = {
        "named": lambda k, x, y: [read("a", x, y), read("b", x, y)],
        "by_address": lambda k, x, y: [read("b" if k & 1 else "a", x, y), 0],
        "surface": lambda k, x, y: [read("c", x, y), 0],
        "kinds": lambda k, x, y: [5, 0],
    }
    for name, lines in forms.items():
        reader(family, name, [*lines, "mov.u32 %r2, 0;", "mov.u32 %r3, 0;"])
        expected = [value for k, (x, y, _, _) in enumerate(where) for value in results[name](k, x, y) + [0, 0]]
        args = arguments(where, {"null": True})
        family.case(name, name, args, [{"arg": 0, "data": expected}], images={key: image.spec() for key, image in images.items()}, references=bound)
    # NVIDIA's compiler of CUDA 13 crashes on a module that has this and a reference by its name.
    alone = Family("texture_parameters", "References as parameters, which CUDA's driver refuses: not for recording.", tables, directives)
    reader(alone, "parameter", ["tex.2d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [t, {%c0, %c1}];"], ".texref")
    args = arguments(where, {"texture": {"image": "b"}})
    expected = [value for x, y, _, _ in where for value in [read("b", x, y), 0, 0, 0]]
    alone.case("parameter", "parameter", args, [{"arg": 0, "data": expected}], images={key: image.spec() for key, image in images.items()}, references=bound)
    return [family, alone]


def bindings(tables):
    """What a texture may be: any handle, in memory or another in each thread; other memory and formats; with a sampler of its own."""
    family = Family("texture_handles", "Handles in memory, normalised formats, rows with padding, a wide texture.", tables)
    rng = random.Random(1808)
    images = [random_image(rng, "2d", [6, 5], "f32", 1), random_image(rng, "2d", [4, 7], "u8", 4), random_image(rng, "2d", [5, 5], "s16", 2)]
    textures = [Texture(images[0]), Texture(images[1], True), Texture(images[2], True)]
    where = points(rng, images[0], 2, False, False)
    named = {f"image{number}": image.spec() for number, image in enumerate(images)}
    for name, choice, other in (("in_memory", lambda i: 1, "mov.u32 %r0, 1;"), ("divergent", lambda i: i % 3, "rem.u32 %r0, %i, 3;")):
        reader(family, name, [other, "mad.wide.u32 %t, %r0, 8, %t;", "ld.global.u64 %t, [%t];", "tex.2d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%t, {%c0, %c1}];"])
        expected = [value for i, point in enumerate(where) for value in textures[choice(i)].fetch(2, False, point)]
        args = arguments(where, {"handles": [texture.spec(f"image{number}") for number, texture in enumerate(textures)]})
        data = [f"0x{value:08x}" for value in expected]
        family.case(name, name, args, [{"arg": 0, "type": "f32", "data": data}], images=named)
    reader(family, "fetch", ["tex.2d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%t, {%c0, %c1}];"])
    for format, channels in (("unorm8", 4), ("unorm16", 1), ("snorm8", 2), ("snorm16", 4)):
        image = random_image(rng, "2d", [7, 5], format, channels)
        where = points(rng, image, 2, False, False)
        # Whichever way they are read, they are floats.
        expected = [f"0x{value:08x}" for point in where for value in Texture(image, True).fetch(2, False, point)]
        for read in (False, True):
            args = arguments(where, Texture(image, read).spec("image"))
            family.case(f"{format}x{channels}{'_normalized' if read else ''}", "fetch", args, [{"arg": 0, "type": "f32", "data": expected}], images={"image": image.spec()})
    padded = random_image(rng, "pitched", [7, 6], "f32", 1)
    padded.pitch = 64
    where = points(rng, padded, 2, False, False)
    expected = [f"0x{value:08x}" for point in where for value in Texture(padded).fetch(2, False, point)]
    family.case("pitched", "fetch", arguments(where, Texture(padded).spec("image")), [{"arg": 0, "type": "f32", "data": expected}], images={"image": padded.spec()})
    smooth = smooth_image(rng, "pitched", [9, 7], "f32", 1)
    smooth.pitch = 96
    reader(family, "sample", ["tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%t, {%c0, %c1}];"])
    sampler = Sampler(("clamp",), True)
    where = [[f32(rng.uniform(-2, 11)), f32(rng.uniform(-2, 9)), 0, 0] for _ in range(POINTS)]
    expected = [f"0x{value:08x}" for point in where for value in sample(Texture(smooth), sampler, "2d", point[:2], 0)]
    args = arguments(where, Texture(smooth).spec("image", sampler))
    args[2]["type"] = "u32"
    family.case("pitched_linear", "sample", args, [{"arg": 0, "type": "f32", "data": expected}], images={"image": smooth.spec()})
    # As wide as CUDA allows: beyond the last texel there is the border.
    wide = {"format": "u8", "shape": "1d", "size": [131072], "fill": 7, "len": 131072}
    reader(family, "wide", ["cvt.rn.f32.s32 %r0, %c0;", "tex.1d.v4.u32.f32 {%r0, %r1, %r2, %r3}, [%t, {%r0}];"])
    places = [0, 1, 32767, 32768, 65535, 65536, 131070, 131071, 131072, 131073, 200000, -1]
    expected = [value for x in places for value in ([7 if 0 <= x < 131072 else 0] + [0] * 3)]
    args = arguments([[x, 0, 0, 0] for x in places], {"texture": {"image": "image", "address": ["border"]}})
    family.case("wide", "wide", args, [{"arg": 0, "data": expected}], images={"image": wide})

    # CUDA has no samplers of their own: OpenCL had.
    target = header("7.8").replace("sm_90", "sm_90, texmode_independent")
    alone = Family("texture_independent", "Textures with samplers of their own.", tables, header=target)
    alone.kernel(
        "chosen", [".param .u64 out", ".param .u64 t", ".param .u64 s", ".param .u64 points", ".param .u32 n"],
        [".reg .pred %end;", ".reg .b32 %i, %n, %r<4>, %c<4>;", ".reg .b64 %t, %s, %p, %q;"],
        [
            "mov.u32 %i, %tid.x;", "ld.param.u32 %n, [n];", "setp.ge.u32 %end, %i, %n;", "@%end exit;", "ld.param.u64 %t, [t];", "ld.param.u64 %s, [s];",
            "and.b32 %r0, %i, 1;", "mad.wide.u32 %s, %r0, 8, %s;", "ld.global.u64 %s, [%s];",
            "ld.param.u64 %p, [points];", "mad.wide.u32 %p, %i, 16, %p;", "ld.global.v4.u32 {%c0, %c1, %c2, %c3}, [%p];",
            "tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%t, %s, {%c0, %c1}];",
            "ld.param.u64 %q, [out];", "mad.wide.u32 %q, %i, 16, %q;", "st.global.v4.u32 [%q], {%r0, %r1, %r2, %r3};",
        ],
    )
    image = smooth_image(rng, "2d", [9, 7], "f32", 2)
    # Whether coordinates are normalised is the texture's affair.
    samplers = [Sampler(("clamp",), True, True), Sampler(("wrap", "mirror"), False, True)]
    where = [[f32(rng.uniform(-1.5, 2.5)), f32(rng.uniform(-1.5, 2.5)), 0, 0] for _ in range(POINTS)]
    expected = [f"0x{value:08x}" for i, point in enumerate(where) for value in sample(Texture(image), samplers[i % 2], "2d", point[:2], 0)]
    own = arguments(where, Texture(image).spec("image", Sampler(("border",), False, True)))
    own[2]["type"] = "u32"
    own.insert(2, {"handles": [{"sampler": sampler.spec()} for sampler in samplers]})
    alone.case("chosen", "chosen", own, [{"arg": 0, "type": "f32", "data": expected}], images={"image": image.spec()})
    return [family, alone]


SURFACES = {"1d": ("1d", [13]), "2d": ("2d", [13, 5]), "3d": ("3d", [6, 5, 4]), "a1d": ("1d_layered", [11, 3]), "a2d": ("2d_layered", [6, 5, 4])}
SIZES = {"b8": 1, "b16": 2, "b32": 4, "b64": 8}


def surface_points(rng, image, width, size, count, by_element=False):
    row = image.extents[0][0] * (1 if by_element else width)
    found = []
    for _ in range(count):
        x = rng.randrange(-3 * size, row + 3 * size) // size * size if not by_element else rng.randrange(-3, row + 3)
        point = [x] + [rng.randrange(-2, n + 2) for n in image.extents[0][1:]]
        layer = rng.randrange(-2, image.layers + 2)
        if rng.random() < 0.1:
            point[0] = rng.choice([-(1 << 31), 1 << 30])
        found.append([*point, layer])
    return found


def surfaces(tables):
    family = Family("surface_access", "suld, sust and sured.", tables)
    rng = random.Random(1803)
    for geometry, (dimensions, layered) in GEOMETRIES.items():
        shape, size = SURFACES[geometry]
        vector = coordinates(geometry, ["%c0", "%c1", "%c2", "%c3"])
        third = 3 if layered else 2
        forms = [("b8", 1), ("b8", 4), ("b16", 2), ("b32", 1), ("b32", 4), ("b64", 1), ("b64", 2)] if geometry == "2d" else [("b32", 1), ("b16", 4)]
        for rule in ("clamp", "zero"):
            for ty, count in forms:
                step = SIZES[ty] * count
                register = {"b8": "%h", "b16": "%h", "b32": "%r", "b64": "%d"}[ty]
                names = [f"{register}{k}" for k in range(count)]
                operand = "{" + ", ".join(names) + "}" if count > 1 else names[0]
                suffix = (f".v{count}" if count > 1 else "") + f".{ty}.{rule}"
                unpack = []
                if register == "%h":
                    unpack = [f"cvt.u32.u16 %r{k}, %h{k};" for k in range(count)] + [f"mov.u32 %r{k}, 0;" for k in range(count, 4)]
                elif register == "%d":
                    unpack = [f"mov.b64 {{%r{2 * k}, %r{2 * k + 1}}}, %d{k};" for k in range(count)] + [f"mov.u32 %r{k}, 0;" for k in range(2 * count, 4)]
                else:
                    unpack = [f"mov.u32 %r{k}, 0;" for k in range(count, 4)]
                label = f"{geometry}_{'v%d_' % count if count > 1 else ''}{ty}_{rule}"
                reader(family, f"load_{label}", [".reg .b64 %d<2>;", f"suld.b.{geometry}{suffix} {operand}, [%t, {vector}];", *unpack])
                image = random_image(rng, shape, size, *rng.choice([("u8", 4), ("f32", 1), ("u16", 2)]), surface=True)
                memory = Surface(image)
                where = surface_points(rng, image, memory.width, step, POINTS)
                expected = []
                for point in where:
                    at = memory.place(point[0], point[1], point[third], step, rule, dimensions, layered)
                    data = bytes(memory.bytes[at : at + step]) if at is not None else bytes(step)
                    words = [int.from_bytes(data[k * SIZES[ty] : (k + 1) * SIZES[ty]], "little") for k in range(count)]
                    if ty == "b64":
                        words = [half for word in words for half in (word & 0xFFFFFFFF, word >> 32)]
                    expected += words + [0] * (4 - len(words))
                args = arguments(where, {"surface": "image"})
                family.case(f"load_{label}", f"load_{label}", args, [{"arg": 0, "data": expected}], images={"image": image.spec()})
                # One thread stores one place after the other, the last of which counts.
                pack = {"%h": [f"cvt.u16.u32 %h{k}, %o{k};" for k in range(count)], "%d": [f"mov.b64 %d{k}, {{%o{2 * k % 4}, %o{(2 * k + 1) % 4}}};" for k in range(count)], "%r": [f"mov.b32 %r{k}, %o{k};" for k in range(count)]}[register]
                store(family, rng, f"store_{label}", [*pack, f"sust.b.{geometry}{suffix} [%t, {vector}], {operand};"], image, step, rule, dimensions, layered, third, lambda memory, at, values: memory.bytes.__setitem__(slice(at, at + step), packed(values, ty, count)))
    return family


def packed(values, ty, count):
    if ty == "b64":
        values = [values[2 * k % 4] | values[(2 * k + 1) % 4] << 32 for k in range(count)]
    return b"".join((value & (1 << 8 * SIZES[ty]) - 1).to_bytes(SIZES[ty], "little") for value in values[:count])


def store(family, rng, name, lines, image, step, rule, dimensions, layered, third, write, by_element=0, count=24, make=None):
    """A kernel in which one thread runs the lines for each point in turn."""
    family.kernel(
        name,
        [".param .u64 t", ".param .u64 points", ".param .u64 values", ".param .u32 n"],
        [".reg .pred %more;", ".reg .b32 %i, %n, %r<4>, %c<5>, %o<4>;", ".reg .b16 %h<4>;", ".reg .b64 %t, %p, %q, %d<2>;"],
        [
            "ld.param.u64 %t, [t];", "ld.param.u64 %p, [points];", "ld.param.u64 %q, [values];", "ld.param.u32 %n, [n];", "mov.u32 %i, 0;",
            "next:", "ld.global.v4.u32 {%c0, %c1, %c2, %c3}, [%p];", "ld.global.v4.u32 {%o0, %o1, %o2, %o3}, [%q];",
            *lines,
            "add.u64 %p, %p, 16;", "add.u64 %q, %q, 16;", "add.u32 %i, %i, 1;", "setp.lt.u32 %more, %i, %n;", "@%more bra next;",
        ],
    )
    memory = Surface(image)
    where = surface_points(rng, image, memory.width, step, count, by_element)
    make = make or (lambda: rng.getrandbits(32) >> rng.choice([0, 0, 16, 24]))
    values = [[make() for _ in range(4)] for _ in where]
    for point, given in zip(where, values):
        at = memory.place(point[0] * (by_element or 1), point[1], point[third], step, rule, dimensions, layered)
        if at is not None:
            write(memory, at, given)
    args = [{"surface": "image"}, {"type": "s32", "data": [c for point in where for c in point]}, {"type": "u32", "data": [v for four in values for v in four]}, {"type": "u32", "value": count}]
    bits = 8 * memory.width // image.channels
    expected = [value & (1 << bits) - 1 for value in memory.channels()]
    family.case(name, name, args, [{"image": "image", "type": f"b{bits}", "data": expected}], block=1, images={"image": image.spec()})


def formatted(tables):
    family = Family("surface_formats", "sust.p, and sured.", tables, header=header("8.1"))
    rng = random.Random(1804)
    numbers = [("u8", 1), ("u8", 4), ("s8", 2), ("u16", 4), ("s16", 1), ("u32", 2), ("s32", 4), ("f16", 1), ("f16", 4), ("f32", 1), ("f32", 2)]
    fractions = [("unorm8", 4), ("snorm8", 1), ("unorm16", 2), ("snorm16", 4)]
    words = lambda: rng.getrandbits(32) >> rng.choice([0, 0, 16, 24])
    floats = lambda: f32(rng.choice([rng.uniform(-1.3, 1.3), rng.randrange(512) / 512]))

    def formatted_store(index, format, channels, make, suffix=""):
        geometry = ["2d", "1d", "3d", "a1d", "a2d"][index % 5]
        dimensions, layered = GEOMETRIES[geometry]
        shape, size = SURFACES[geometry]
        count = [4, 1, 2][index % 3]
        rule = ["zero", "clamp"][index % 2]
        image = random_image(rng, shape, size, format, channels, surface=True)
        width = Surface(image).width
        operand = "{" + ", ".join(f"%o{k}" for k in range(count)) + "}" if count > 1 else "%o0"
        vector = coordinates(geometry, ["%c0", "%c1", "%c2", "%c3"])
        line = f"sust.p.{geometry}{'.v%d' % count if count > 1 else ''}.b32.{rule} [%t, {vector}], {operand};"
        write = lambda memory, at, values, count=count, width=width: memory.bytes.__setitem__(slice(at, at + width), memory.element((values[:count] + [0] * 4)[:4]))
        store(family, rng, f"formatted_{format}x{channels}{suffix}", [line], image, width, rule, dimensions, layered, 3 if layered else 2, write, by_element=width, make=make)
    for index, (format, channels) in enumerate(numbers):
        formatted_store(index, format, channels, words)
    operations = {
        "add": lambda a, b, n, s: a + b, "and": lambda a, b, n, s: a & b, "or": lambda a, b, n, s: a | b,
        "min": lambda a, b, n, s: min(a, b, key=s), "max": lambda a, b, n, s: max(a, b, key=s),
    }
    forms = [(op, ty, False) for op, types in [("add", ["u32", "s32", "u64"]), ("min", ["u32", "s32", "u64", "s64"]), ("max", ["u32", "s32", "u64", "s64"]), ("and", ["b32"]), ("or", ["b32"])] for ty in types]
    forms += [(op, "b32", True) for op in ("add", "min", "max", "and", "or")] + [(op, "b64", True) for op in ("min", "max")]
    for index, (op, ty, by_element) in enumerate(forms):
        geometry = ["2d", "1d", "3d"][index % 3]
        dimensions, layered = GEOMETRIES[geometry]
        shape, size = SURFACES[geometry]
        rule = ["clamp", "zero"][index % 2]
        step = int(ty[1:]) // 8
        format = ["s32", "u32"][index // 2 % 2]
        image = random_image(rng, shape, [8, *size[1:]], format, 2 if step == 8 else 1, surface=True)
        value = "%o0" if step == 4 else "%d0"
        vector = coordinates(geometry, ["%c0", "%c1", "%c2", "%c3"])
        signed = ty[0] == "s" or ty[0] == "b" and by_element and format == "s32"
        key = (lambda bits: lambda v: v - (1 << bits) if signed_and_top(v, bits) else v)(8 * step) if signed else (lambda v: v)
        def write(memory, at, values, op=op, step=step, key=key):
            old = int.from_bytes(memory.bytes[at : at + step], "little")
            given = values[0] if step == 4 else values[0] | values[1] << 32
            new = operations[op](old, given, step, key) & (1 << 8 * step) - 1
            memory.bytes[at : at + step] = new.to_bytes(step, "little")
        name = f"reduce_{'p' if by_element else 'b'}_{op}_{ty}"
        line = f"sured.{'p' if by_element else 'b'}.{op}.{geometry}.{ty}.{rule} [%t, {vector}], {value};"
        store(family, rng, name, ["mov.b64 %d0, {%o0, %o1};", line], image, step, rule, dimensions, layered, 2, write, by_element=step if by_element else 0)
    for index, (format, channels) in enumerate(fractions):
        formatted_store(index, format, channels, floats)
    # NaNs, of which some have no upper bits.
    nans = lambda: 0x7F800000 | rng.getrandbits(1) << 31 | rng.choice([rng.getrandbits(23) | 1, 1 << rng.randrange(23), 0x7FFFFF])
    for index, (format, channels) in enumerate([("f16", 4), ("f32", 1), ("unorm8", 4), ("snorm16", 2)]):
        formatted_store(index, format, channels, nans, "_nan")
    return family


def signed_and_top(value, bits):
    return value >> bits - 1 & 1


def queries(tables):
    sizes = Family("texture_sizes", "txq and suq of what CUDA lets a program ask.", tables)
    rest = Family("texture_attributes", "txq and suq of attributes that the CUDA driver refuses to load.", tables)
    ask = lambda word, level="": f"txq{'.level' if level else ''}.{word}.b32 {{}}, [%t]{level};"
    def query(family, name, lines):
        family.kernel(name, [".param .u64 out", ".param .u64 t"], [".reg .b32 %r<8>;", ".reg .b64 %o, %t;"], ["ld.param.u64 %t, [t];", "ld.param.u64 %o, [out];", *[line.format(f"%r{k}") for k, line in enumerate(lines)], *[f"st.global.u32 [%o+{4 * k}], %r{k};" for k in range(len(lines))]])
    query(sizes, "texture", [ask("width"), ask("height"), ask("depth"), ask("width", ", 1"), ask("height", ", 1"), ask("depth", ", 1"), ask("width", ", -1")])
    query(sizes, "surface", ["suq.width.b32 {}, [%t];", "suq.height.b32 {}, [%t];", "suq.depth.b32 {}, [%t];"])
    query(rest, "texture", [ask("channel_data_type"), ask("channel_order"), ask("array_size"), ask("num_mipmap_levels"), ask("num_samples"), ask("normalized_coords")])
    query(rest, "sampler", [ask("filter_mode"), ask("addr_mode_0"), ask("addr_mode_1"), ask("addr_mode_2"), ask("force_unnormalized_coords")])
    query(rest, "surface", ["suq.channel_data_type.b32 {}, [%t];", "suq.channel_order.b32 {}, [%t];", "suq.array_size.b32 {}, [%t];", "suq.memory_layout.b32 {}, [%t];"])
    # Width, height and depth of level 0, and of level 1 if there is one; then the same of a surface.
    shapes = [
        ("1d", [50], 0, [50, 1, 0], [50, 0, 0], 0), ("2d", [50, 30], 0, [50, 30, 0], [50, 30, 0], 0), ("3d", [50, 30, 20], 0, [50, 30, 20], [50, 30, 20], 0),
        ("1d_layered", [50, 7], 0, [50, 7, 0], [50, 7, 0], 7), ("2d_layered", [50, 30, 7], 0, [50, 30, 7], [50, 30, 7], 7),
        ("cube", [50], 0, [50, 50, 0], [50, 50, 6], 6), ("cube_layered", [50, 3], 0, [50, 50, 3], [50, 50, 18], 18),
        ("linear", [50], 0, [50, 0, 0], None, 0), ("2d", [64, 32], 3, [64, 32, 0, 32, 16, 0], None, 0), ("2d_layered", [64, 32, 5], 3, [64, 32, 5, 32, 16, 5], None, 5),
        ("3d", [64, 64, 64], 3, [64, 64, 64, 32, 32, 32], None, 0),
    ]
    for shape, size, levels, texture, surface, layers in shapes:
        name = f"{shape}{'_mip' if levels else ''}"
        spec = {"format": "u8", "channels": 4, "shape": shape, "size": size} | ({"levels": levels} if levels else {}) | ({"surface": True} if surface else {})
        described = {"image": "image", "address": ["clamp"]} | ({"normalized": True} if levels else {})
        expected = (texture + [0] * 3)[:6] + [0]
        sizes.case(f"texture/{name}", "texture", [{"type": "u32", "zeros": 7}, {"texture": described}], [{"arg": 0, "data": expected}], block=1, images={"image": spec})
        cubes = layers if shape not in ("cube", "cube_layered") else {"cube": 0, "cube_layered": 3}[shape]
        rest.case(f"texture/{name}", "texture", [{"type": "u32", "zeros": 6}, {"texture": described}], [{"arg": 0, "data": [1, 4, cubes, levels, 0, 1 if levels else 0]}], block=1, images={"image": spec})
        if surface:
            sizes.case(f"surface/{name}", "surface", [{"type": "u32", "zeros": 3}, {"surface": "image"}], [{"arg": 0, "data": surface}], block=1, images={"image": spec})
            rest.case(f"surface/{name}", "surface", [{"type": "u32", "zeros": 4}, {"surface": "image"}], [{"arg": 0, "data": [1, 4, layers, 0]}], block=1, images={"image": spec})
    for index, modes in enumerate([("wrap", "mirror", "clamp"), ("border", "wrap", "mirror")]):
        numbers = {"wrap": 0, "mirror": 1, "clamp": 3, "border": 4}
        spec = {"format": "f32", "channels": 1, "shape": "3d", "size": [4, 4, 4]}
        described = {"image": "image", "address": list(modes), "normalized": True, "filter": ["point", "linear"][index]}
        rest.case(f"sampler/{index}", "sampler", [{"type": "u32", "zeros": 5}, {"texture": described}], [{"arg": 0, "data": [index, *[numbers[mode] for mode in modes], 0]}], block=1, images={"image": spec})
    return [sizes, rest]


def families(tables):
    return [fetch(tables), sampled(tables), *references(tables), *bindings(tables), surfaces(tables), formatted(tables), *queries(tables)]

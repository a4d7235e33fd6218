"""Several reads of textures in straight-line code: some independent of each other, some not."""

import random

from .ptx import Family
from .texture_sample import Sampler, gather, sample
from .texture_unit import Texture
from .textures import POINTS, arguments, random_image, reader, smooth_image
from .values import f32

# The bits of 0.5, 1.25 and -0.75, and what they are.
HALF, MORE, LESS = (f32(value) for value in (0.5, 1.25, -0.75))
READ = "tex.2d.v4.f32.f32"
# Numbers of reads.
FEW, MANY = 2, 37


def families(tables):
    family = Family("texture_batches", "Several reads of textures in straight-line code.", tables)
    rng = random.Random(1809)
    image = smooth_image(rng, "2d", [9, 7], "f32", 1)
    other = random_image(rng, "2d", [5, 6], "u8", 4)
    where = [[f32(rng.uniform(-2, 11)), f32(rng.uniform(-2, 9)), rng.getrandbits(2), 0] for _ in range(POINTS)]
    texture = Texture(image)

    def case(name, entry, handle, images, result):
        args = arguments(where, handle)
        args[2]["type"] = "u32"
        expected = [value for point in where for value in result(*point[:3])]
        family.case(name, entry, args, [{"arg": 0, "data": expected}], images=images)

    # Registers that are used again, so that no read can change its place.
    reader(family, "again", [
        ".reg .b32 %s<4>;", *(f"mov.b32 %r{k}, 0;" for k in range(4)),
        *(line for number in range(FEW) for line in (
            f"mov.b32 %o0, 0x{f32(number / 4 - 3):08x};",
            "mov.b32 %o1, %c1;" if number % 3 else "mov.b32 %o1, %c0;",
            f"{READ} {{%s0, %s1, %s2, %s3}}, [%t, {{%o0, %o1}}];" if number % 2 else f"{READ} {{%s0, %s1, %s2, %s3}}, [%t, {{%o1, %o0}}];",
            f"xor.b32 %r{number % 4}, %r{number % 4}, %s0;", f"shf.l.wrap.b32 %r{number % 4}, %r{number % 4}, %r{number % 4}, 5;",
        )),
    ])  # fmt: skip
    # Each read has registers of its own; enough reads for two batches.
    reader(family, "own", [
        f".reg .b32 %x<{MANY}>, %a<{4 * MANY}>, %s;", *(f"mov.b32 %r{k}, 0;" for k in range(4)),
        *(line for number in range(MANY) for line in (
            f"mov.b32 %x{number}, 0x{f32(number / 4 - 3):08x};",
            f"{READ} {{{', '.join(f'%a{4 * number + k}' for k in range(4))}}}, [%t, {{{', '.join(places(number))}}}];",
            f"xor.b32 %s, %r{number % 4}, %a{4 * number};", f"shf.l.wrap.b32 %r{number % 4}, %s, %s, 5;",
        )),
    ])  # fmt: skip
    # Results that coordinates need; registers that are read and then overwritten, and the other way; a guard; a store between reads.
    reader(family, "dependent", [
        ".reg .b32 %a<4>, %b<4>, %d<4>, %e<4>;", ".reg .pred %odd, %all;",
        f"{READ} {{%a0, %a1, %a2, %a3}}, [%t, {{%c0, %c1}}];",
        f"mov.b32 %c0, 0x{HALF:08x};",
        f"{READ} {{%b0, %b1, %b2, %b3}}|%all, [%t, {{%c0, %c1}}];",
        f"mov.b32 %c0, 0x{MORE:08x};",
        f"{READ} {{%d0, %d1, %d2, %d3}}, [%t, {{%c0, %a0}}];",
        "mov.b32 %r0, %a0;",
        f"mov.b32 %a0, 0x{LESS:08x};",
        f"{READ} {{%a0, %a1, %a2, %a3}}, [%t, {{%a0, %c0}}];",
        "setp.gt.u32 %odd, %c2, 1;", "mov.b32 %e0, 77;",
        f"@%odd {READ} {{%e0, %e1, %e2, %e3}}, [%t, {{%c1, %c0}}];",
        "ld.param.u64 %q, [out];", "mad.wide.u32 %q, %i, 16, %q;", "st.global.u32 [%q], %c2;",
        f"{READ} {{%b1, %b2, %b3, %a1}}, [%t, {{%b0, %b0}}];",
        "ld.global.u32 %b2, [%q];",
        "xor.b32 %r0, %r0, %b0;", "selp.b32 %b2, %b2, 99, %all;", "xor.b32 %r1, %d0, %b2;", "xor.b32 %r2, %a0, %b1;", "mov.b32 %r3, %e0;",
    ])  # fmt: skip
    # Handles that differ, with filters that differ.
    reader(family, "handles", [
        ".reg .b32 %a<2>, %z;", ".reg .b64 %u<2>;", "ld.global.v2.u64 {%u0, %u1}, [%t];",
        f"{READ} {{%r0, %z, %z, %z}}, [%u0, {{%c0, %c1}}];", f"{READ} {{%z, %r1, %z, %z}}, [%u1, {{%c0, %c1}}];",
        f"tex.level.2d.v4.f32.f32 {{%a0, %z, %z, %z}}, [%u0, {{%c1, %c0}}], %c0;", f"tex.level.2d.v4.f32.f32 {{%z, %z, %a1, %z}}, [%u1, {{%c1, %c0}}], 0f3F800000;",
        "mov.b32 %r2, %a0;", "mov.b32 %r3, %a1;",
    ])  # fmt: skip
    # A depth to compare with, which has no effect, in some of the reads.
    reader(family, "compared", [
        f"{READ} {{%r0, _, _, _}}, [%t, {{%c0, %c1}}];", f"{READ} {{%r1, _, _, _}}, [%t, {{%c1, %c0}}], %c1;",
        f"{READ} {{%r2, _, _, _}}, [%t, {{%c0, %c0}}], {{1, -2}}, %c0;", f"{READ} {{%r3, _, _, _}}, [%t, {{%c1, %c1}}], {{%c2, 3}};",
    ])  # fmt: skip
    # Four texels at a time.
    reader(family, "gathers", [
        ".reg .b32 %a<4>, %b<4>;", "tld4.r.2d.v4.f32.f32 {%a0, %a1, %a2, %a3}, [%t, {%c0, %c1}];",
        "tld4.r.2d.v4.f32.f32 {%b0, %b1, %b2, %b3}, [%t, {%c1, %c0}];",
        *(f"shf.l.wrap.b32 %r{k}, %b{k}, %b{k}, 7;" for k in range(4)), *(f"xor.b32 %r{k}, %r{k}, %a{k};" for k in range(4)),
    ])  # fmt: skip

    named = {"image": image.spec()}
    for modes, linear in ((("border", "clamp"), True), (("clamp",), False)):
        sampler = Sampler(modes, linear)
        read = lambda x, y, sampler=sampler: sample(texture, sampler, "2d", [x, y])[0]

        def summed(x, y, count, read=read):
            sums = [0] * 4
            for number in range(count):
                first, second = f32(number / 4 - 3), y if number % 3 else x
                value = sums[number % 4] ^ (read(first, second) if number % 2 else read(second, first))
                sums[number % 4] = (value << 5 | value >> 27) & 0xFFFFFFFF
            return sums

        def dependent(x, y, word, read=read):
            a = read(x, y)
            b = read(HALF, y)
            return [a ^ b, read(MORE, a) ^ word, read(LESS, MORE) ^ read(b, b), read(y, MORE) if word > 1 else 77]

        def gathers(x, y, _, sampler=sampler):
            pairs = zip(gather(texture, sampler, "2d", [x, y], 0), gather(texture, sampler, "2d", [y, x], 0))
            return [a ^ ((b << 7 | b >> 25) & 0xFFFFFFFF) for a, b in pairs]

        def compared(x, y, word, sampler=sampler):
            all = [([x, y], (0, 0, 0)), ([y, x], (0, 0, 0)), ([x, x], (1, -2, 0)), ([y, y], (word, 3, 0))]
            return [sample(texture, sampler, "2d", place, 0, offset)[0] for place, offset in all]

        label = f"{modes[0]}_{'linear' if linear else 'point'}"
        for entry, result in (("again", lambda x, y, _: summed(x, y, FEW)), ("own", lambda x, y, _: summed(x, y, MANY)), ("dependent", dependent), ("gathers", gathers), ("compared", compared)):
            case(f"{entry}/{label}", entry, texture.spec("image", sampler), named, result)

    samplers = [Sampler(("border",), True), Sampler(("clamp",), False)]
    textures = [texture, Texture(other, True)]

    def handles(x, y, _):
        both = list(zip(textures, samplers))
        reads = [sample(*both[number], "2d", place) for place in ([x, y], [y, x]) for number in (0, 1)]
        return [reads[0][0], reads[1][1], reads[2][0], reads[3][2]]

    both = {"handles": [texture.spec(f"image{number}", sampler) for number, (texture, sampler) in enumerate(zip(textures, samplers))]}
    case("handles", "handles", both, {"image0": image.spec(), "image1": other.spec()}, handles)
    return [family]


def places(number):
    """The coordinates of a read of `own`."""
    pair = [f"%x{number}", "%c1" if number % 3 else "%c0"]
    return pair if number % 2 else pair[::-1]

"""Dozens of reads of textures in one kernel that can't be done at one place: each needs another's result, has a guard, or a block of its own."""

import random

from .ptx import Family
from .texture_sample import Sampler, gather, sample
from .texture_unit import Texture
from .textures import POINTS, arguments, reader, smooth_image
from .values import f32

READ = "tex.2d.v4.f32.f32"
LEVEL = "tex.level.2d.v4.f32.f32"
MANY = 40


def places(number):
    """The first coordinate of a read."""
    return f32(number / 4 - 3)


def turned(value, by):
    return (value << by | value >> 32 - by) & 0xFFFFFFFF


def families(tables):
    family = Family("texture_many", "Dozens of reads of textures in a kernel: dependent, guarded, in blocks of their own.", tables)
    rng = random.Random(1810)
    texture = Texture(smooth_image(rng, "2d", [9, 7], "f32", 2))
    where = [[f32(rng.uniform(-2, 11)), f32(rng.uniform(-2, 9)), rng.getrandbits(6), rng.getrandbits(2)] for _ in range(POINTS)]

    # Registers that are used again.
    reader(family, "again", [
        ".reg .b32 %s<4>;", *(f"mov.b32 %r{k}, 0;" for k in range(4)),
        *(line for number in range(MANY) for line in (
            f"mov.b32 %o0, 0x{places(number):08x};", f"{READ} {{%s0, %s1, %s2, %s3}}, [%t, {{%o0, %c{number % 2}}}];",
            f"xor.b32 %r{number % 4}, %r{number % 4}, %s{number % 3};", f"shf.l.wrap.b32 %r{number % 4}, %r{number % 4}, %r{number % 4}, 5;",
        )),
    ])  # fmt: skip

    def again(x, y, *_):
        sums = [0] * 4
        for number in range(MANY):
            read = sample(texture, sampler, "2d", [places(number), [x, y][number % 2]])
            sums[number % 4] = turned(sums[number % 4] ^ read[number % 3], 5)
        return sums

    # Guards, some of which never hold; results that stay what they were; three kinds of reads.
    kinds = [
        lambda number: f"{READ} {{%r{number % 4}, %s, _, _}}|%all, [%t, {{%o0, %c1}}];",
        lambda number: f"{LEVEL} {{_, %r{number % 4}, _, _}}, [%t, {{%o0, %c1}}], %c0;",
        lambda number: f"tld4.g.2d.v4.f32.f32 {{%s, _, _, %r{number % 4}}}, [%t, {{%c0, %o0}}];",
    ]
    reader(family, "guarded", [
        ".reg .b32 %s, %bit;", ".reg .pred %odd, %all;", "mov.b32 %s, 5;", *(f"mov.b32 %r{k}, {k};" for k in range(4)),
        *(line for number in range(MANY) for line in (
            f"and.b32 %bit, %c2, {1 << number % 7};", "setp.ne.u32 %odd, %bit, 0;", f"mov.b32 %o0, 0x{places(number):08x};",
            f"@{'!' if number % 5 == 0 else ''}%odd {kinds[number % 3](number)}",
            f"xor.b32 %r{(number + 1) % 4}, %r{(number + 1) % 4}, %s;",
        )),
    ])  # fmt: skip

    def guarded(x, y, word, _):
        results, s = [0, 1, 2, 3], 5
        for number in range(MANY):
            if (word >> number % 7 & 1 != 0) != (number % 5 == 0):
                place = places(number)
                if number % 3 == 0:
                    results[number % 4], s = sample(texture, sampler, "2d", [place, y])[:2]
                elif number % 3 == 1:
                    results[number % 4] = sample(texture, sampler, "2d", [place, y])[1]
                else:
                    four = gather(texture, sampler, "2d", [x, place], 1)
                    s, results[number % 4] = four[0], four[3]
            results[(number + 1) % 4] ^= s
        return results

    # Blocks that threads reach at different times, in a loop, before a barrier at which they meet.
    reader(family, "blocks", [
        ".shared .b32 row[64];", ".reg .b32 %s, %bit, %round, %place;", ".reg .pred %odd, %more;", *(f"mov.b32 %r{k}, 0;" for k in range(4)), "mov.b32 %round, 0;",
        "round:",
        *(line for number in range(MANY // 2) for line in (
            f"shr.u32 %bit, %c2, {number % 6};", "add.u32 %bit, %bit, %round;", "and.b32 %bit, %bit, 1;", "setp.ne.u32 %odd, %bit, 0;", f"@%odd bra over{number};",
            f"mov.b32 %o0, 0x{places(number):08x};", f"{READ} {{%s, _, _, _}}, [%t, {{%o0, %c0}}];", f"xor.b32 %r{number % 4}, %r{number % 4}, %s;",
            f"over{number}:", f"shf.l.wrap.b32 %r{number % 4}, %r{number % 4}, %r{number % 4}, 3;",
        )),
        "add.u32 %round, %round, 1;", "setp.le.u32 %more, %round, %c3;", "@%more bra round;",
        "mov.b32 %place, row;", "mad.lo.u32 %bit, %i, 4, %place;", "st.shared.u32 [%bit], %r0;", "bar.sync 0;",
        "xor.b32 %bit, %i, 1;", "mad.lo.u32 %bit, %bit, 4, %place;", "ld.shared.u32 %r3, [%bit];",
    ])  # fmt: skip

    def alone(x, y, word, last):
        sums = [0] * 4
        for turn in range(last + 1):
            for number in range(MANY // 2):
                if not (word >> number % 6) + turn & 1:
                    sums[number % 4] ^= sample(texture, sampler, "2d", [places(number), x])[0]
                sums[number % 4] = turned(sums[number % 4], 3)
        return sums

    for modes, linear in ((("border", "clamp"), True), (("clamp",), False)):
        sampler = Sampler(modes, linear)
        label = f"{modes[0]}_{'linear' if linear else 'point'}"
        blocks = [alone(*point) for point in where]
        results = {
            "again": [again(*point) for point in where], "guarded": [guarded(*point) for point in where],
            "blocks": [[*own[:3], blocks[number ^ 1][0]] for number, own in enumerate(blocks)],
        }  # fmt: skip
        # CPU devices take long to compile these: the other filter with one of them.
        for entry, expected in results.items() if linear else [("guarded", results["guarded"])]:
            args = arguments(where, texture.spec("image", sampler))
            args[2]["type"] = "u32"
            flat = [value for values in expected for value in values]
            family.case(f"{entry}/{label}", entry, args, [{"arg": 0, "data": flat}], images={"image": texture.image.spec()})
    return [family]

"""Numbers of less than 32 bits that threads write side by side in one word, and numbers of 64 bits that nobody may see half of."""

from .ptx import Family

PARAMS = [".param .u64 out"]
REGISTERS = [".reg .b16 %h, %g;", ".reg .b32 %t, %v, %u, %i, %n, %b, %c;", ".reg .b64 %po, %x, %y, %z;", ".reg .pred %p, %q;"]
START = ["ld.param.u64 %po, [out];", "mov.u32 %t, %tid.x;", "mov.u32 %n, %ntid.x;", "mov.u32 %b, %ctaid.x;"]
WORDS = 32
ROUNDS = 6


def count(space, load, store, ty):
    """Counts a number at %x up by one more than the part's number, round by round."""
    return [
        "mov.u32 %i, 0;",
        f"round_{ty}:",
        f"{load}.{space}.{ty} %h, [%x];",
        "add.u16 %h, %h, %g;",
        f"{store}.{space}.{ty} [%x], %h;",
        "add.u32 %i, %i, 1;",
        f"setp.lt.u32 %p, %i, {ROUNDS};",
        f"@%p bra round_{ty};",
    ]


def narrow(tables):
    family = Family(
        "narrow_neighbours",
        "Bytes and halves of one word, each counted up by another block or another warp.",
        tables,
        f".shared .align 4 .b8 words[{4 * WORDS}];\n",
    )
    for name, load, store in (("weak", "ld", "st"), ("volatile", "ld.volatile", "st.volatile")):
        for ty, size in (("u8", 1), ("u16", 2)):
            parts = 4 // size
            expected = [ROUNDS * (part + 1) for _ in range(WORDS) for part in range(parts)]
            place = [f"mul.lo.u32 %v, %b, {size};", "mad.lo.u32 %v, %t, 4, %v;", "cvt.u64.u32 %x, %v;", "cvt.u16.u32 %g, %b;"]
            body = [*place, "add.u64 %x, %po, %x;", "add.u16 %g, %g, 1;", *count("global", load, store, ty)]
            entry = f"{name}_{ty}_global"
            family.kernel(entry, PARAMS, REGISTERS, START + body)
            args = [{"type": ty, "zeros": len(expected)}]
            family.case(entry, entry, args, [{"arg": 0, "data": expected}], block=WORDS, grid=parts)

            # A warp takes a block's place.
            body = ["mov.u64 %y, words;", "shr.u32 %b, %t, 5;", "and.b32 %t, %t, 31;", *place, "add.u64 %x, %y, %x;", "add.u16 %g, %g, 1;"]
            word = ["mad.wide.u32 %y, %t, 4, %y;", "mad.wide.u32 %po, %t, 4, %po;", "setp.ne.u32 %q, %b, 0;"]
            body += [*word, "@!%q st.shared.u32 [%y], 0;", "bar.sync 0;", *count("shared", load, store, ty), "bar.sync 0;"]
            body += ["ld.shared.u32 %v, [%y];", "@!%q st.global.u32 [%po], %v;"]
            entry = f"{name}_{ty}_shared"
            family.kernel(entry, PARAMS, REGISTERS, START + body)
            family.case(entry, entry, args, [{"arg": 0, "data": expected}], block=WORDS * parts)
    # Two bytes and a half, which is a pair of bytes too.
    for name, operations in (
        ("bytes_and_half", ["ld.global.u16 %h, [%x];", "add.u16 %h, %h, 259;", "st.global.u16 [%x], %h;"]),
        ("bytes_and_pair", ["ld.global.v2.u8 {%h, %g}, [%x];", "add.u16 %h, %h, 3;", "add.u16 %g, %g, 1;", "st.global.v2.u8 [%x], {%h, %g};"]),
    ):
        body = ["mad.wide.u32 %x, %t, 4, %po;", "cvt.u64.u32 %y, %b;", "add.u64 %x, %x, %y;", "cvt.u16.u32 %g, %b;", "add.u16 %g, %g, 1;"]
        body += ["setp.eq.u32 %q, %b, 2;", "@%q bra half;", *count("global", "ld", "st", "u8"), "bra done;", "half:", "mov.u32 %i, 0;"]
        body += ["again:", *operations, "add.u32 %i, %i, 1;", f"setp.lt.u32 %p, %i, {ROUNDS};", "@%p bra again;", "done:"]
        family.kernel(name, PARAMS, REGISTERS, START + body)
        expected = [ROUNDS, 2 * ROUNDS, 3 * ROUNDS, ROUNDS] * WORDS
        family.case(name, name, [{"type": "u8", "zeros": 4 * WORDS}], [{"arg": 0, "data": expected}], block=WORDS, grid=3)
    return family


def whole(tables):
    family = Family(
        "memory_whole",
        "Numbers of 64 bits with equal halves, exchanged, stored and loaded by many threads: nobody sees two halves that differ.",
        tables,
        ".shared .align 16 .b8 longs[16];\n",
    )
    same = lambda: ["mov.b64 {%v, %u}, %x;", "setp.ne.u32 %p, %v, %u;", "@%p add.u32 %c, %c, 1;"]
    for space in ("global", "shared"):
        for name, load, store in (
            ("volatile", f"ld.volatile.{space}", f"st.volatile.{space}"),
            ("relaxed", f"ld.relaxed.gpu.{space}", f"st.relaxed.gpu.{space}"),
            ("ordered", f"ld.acquire.gpu.{space}", f"st.release.gpu.{space}"),
        ):
            # out: differing halves, rounds, unused, unused, two longs.
            body = ["add.u64 %y, %po, 16;"] if space == "global" else ["mov.u64 %y, longs;"]
            body += ["mad.lo.u32 %v, %b, %n, %t;", "add.u32 %v, %v, 1;", "mov.b64 %z, {%v, %v};", "mov.u32 %c, 0;", "mov.u32 %i, 0;"]
            if space == "shared":
                body += ["setp.ne.u32 %q, %t, 0;", "@%q bra ready;", "st.shared.v2.u64 [%y], {0, 0};", "ready:", "bar.sync 0;"]
            body += ["again:"]
            body += [f"atom.{space}.exch.b64 %x, [%y], %z;", *same(), f"{load}.u64 %x, [%y+8];", *same(), f"{store}.u64 [%y+8], %z;"]
            body += [f"{load}.u64 %x, [%y];", *same(), f"atom.{space}.max.u64 %x, [%y], %z;", *same()]
            body += ["mov.b64 %z, {%i, %i};", "add.u32 %i, %i, 1;", "setp.lt.u32 %p, %i, 2;", "@%p bra again;"]
            body += ["red.global.add.u32 [%po], %c;", "red.global.add.u32 [%po+4], %i;"]
            entry = f"{name}_{space}"
            family.kernel(entry, PARAMS, REGISTERS, START + body)
            for block, grid in ((64, 1), (9, 3)):
                expect = [{"arg": 0, "data": [0, 2 * block * grid]}]
                family.case(f"{entry}/{block}x{grid}", entry, [{"type": "u32", "zeros": 8}], expect, block=block, grid=grid)
    return family


def families(tables):
    return [narrow(tables), whole(tables)]

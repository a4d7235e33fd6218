"""mov with packing, special registers and addresses; cvta and isspacep; predicated execution."""

from .exact import FORMATS, signed, width
from .memory import expectation
from .ptx import Family, header

TYPES = ["b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"]


def table(ty):
    return ty if ty in FORMATS else f"i{width(ty)}"


def moves(tables):
    family = Family("move", "mov between registers, of constants, and of packed values.", tables)
    constants = {
        "b16": "0xfedc",
        "u16": "65535",
        "s16": "-2",
        "b32": "0x89abcdef",
        "u32": "4294967295",
        "s32": "-2147483647",
        "b64": "0x8123456789abcdef",
        "u64": "18446744073709551615",
        "s64": "-9223372036854775807",
        "f32": "0f3fc00001",
        "f64": "0d3ff8000000000001",
    }
    for ty in TYPES:
        bits = {"check": {"nan": "bits"}} if ty in FORMATS else {}
        family.elementwise(f"mov_{ty}", [(ty, f"{table(ty)}_u")], ty, [f"mov.{ty} %d, %a;"], lambda a: a, **bits)
        text = constants[ty]
        value = int(text[2:], 16) if text[:2] in ("0f", "0d") else int(text, 0)
        constant(family, ty, text, value)
    predicate = ["setp.ne.u32 %p, %a, 0;", "mov.pred %q, %p;", "selp.b32 %d, 5, 3, %q;"]
    family.elementwise("mov_pred", [("u32", "flag")], "u32", predicate, lambda a: 5 if a else 3, ".reg .pred %p, %q;")
    parts = [(32, 16, 2), (64, 16, 4), (64, 32, 2)]
    for whole, part, count in parts:
        names = [f"%e{index}" for index in range(count)]
        backward = ", ".join(reversed(names))
        mask = (1 << part) - 1

        def reverse(a, part=part, count=count, mask=mask):
            return sum((a >> (part * index) & mask) << (part * (count - 1 - index)) for index in range(count))

        family.elementwise(
            f"mov_b{whole}_{count}x{part}",
            [(f"b{whole}", f"i{whole}_u")],
            f"b{whole}",
            [f"mov.b{whole} {{{', '.join(names)}}}, %a;", f"mov.b{whole} %d, {{{backward}}};"],
            reverse,
            f".reg .b{part} %e<{count}>;",
        )
        sink = ", ".join(["_"] * (count - 1) + [names[-1]])
        family.elementwise(
            f"mov_b{whole}_{count}x{part}_sink",
            [(f"b{whole}", f"i{whole}_u")],
            f"b{part}",
            [f"mov.b{whole} {{{sink}}}, %a;", f"mov.b{part} %d, {names[-1]};"],
            lambda a, whole=whole, part=part: a >> (whole - part),
            f".reg .b{part} %e<{count}>;",
        )
    return family


def constant(family, ty, text, value):
    entry = f"mov_{ty}_constant"
    family.kernel(
        entry,
        [".param .u64 out"],
        [".reg .b64 %po;", f".reg .{ty} %d;"],
        ["ld.param.u64 %po, [out];", f"mov.{ty} %d, {text};", f"st.global.{ty} [%po], %d;"],
    )
    family.case(entry, entry, [{"type": ty, "zeros": 1}], [expectation(ty, [value])], block=1)


def wide(tables):
    family = Family("move128", "mov of 128 bits, with packing and unpacking.", tables, header=header("8.3"))
    pair = [("b64", "i64_a"), ("b64", "i64_b")]
    halves = lambda value: [value & (1 << 64) - 1, value >> 64]
    family.elementwise(
        "mov_b128",
        pair,
        ["b64"] * 3,
        ["mov.b128 %q, {%a, %b};", "mov.b128 %r, %q;", "mov.b128 {%d1, %d0}, %r;", "mov.b128 {_, %d2}, %q;"],
        lambda a, b: [b, a, b],
        ".reg .b128 %q, %r;",
    )
    family.elementwise(
        "mov_b128_4x32",
        pair,
        ["b64"] * 2,
        [
            "mov.b128 %q, {%a, %b};",
            "mov.b128 {%x, %y, %z, %w}, %q;",
            "mov.b128 %q, {%w, %x, %y, %z};",
            "mov.b128 {%d0, %d1}, %q;",
        ],
        lambda a, b: halves((b << 64 | a) << 32 & (1 << 128) - 1 | b >> 32),
        ".reg .b128 %q; .reg .b32 %x, %y, %z, %w;",
    )
    family.elementwise(
        "mov_b128_guarded",
        pair,
        ["b64"] * 2,
        [
            "setp.lt.s64 %p, %a, %b;",
            "mov.b128 %q, {%a, %b};",
            "mov.b128 %r, {%b, %a};",
            "@%p mov.b128 %r, %q;",
            "mov.b128 {%d0, %d1}, %r;",
        ],
        lambda a, b: [a, b] if signed(a, 64) < signed(b, 64) else [b, a],
        ".reg .b128 %q, %r; .reg .pred %p;",
    )
    return family


def wider_registers(tables):
    family = Family(
        "move128_wider", "128-bit registers where narrower types are loaded and stored.", tables, header=header("8.3")
    )
    family.elementwise(
        "loads",
        [("b64", "i64_u")],
        ["b64"] * 5,
        [
            "ld.global.u64 %q, [%pa];",
            "mov.b128 {%d0, %d1}, %q;",
            "ld.global.u32 %q, [%pa];",
            "mov.b128 {%d2, %d3}, %q;",
            "cvt.u64.u16 %d4, %q;",
        ],
        lambda a: [a, 0, a & 0xFFFFFFFF, 0, a & 0xFFFF],
        ".reg .b128 %q;",
    )
    return family


def bytes_(tables):
    family = Family("move_bytes", "mov that packs and unpacks bytes, which needs 8-bit registers.", tables)
    for whole in (16, 32):
        count = whole // 8
        names = [f"%e{index}" for index in range(count)]
        reverse = lambda a, count=count: int.from_bytes(a.to_bytes(count, "little"), "big")
        family.elementwise(
            f"mov_b{whole}_{count}x8",
            [(f"b{whole}", f"i{whole}_u")],
            f"b{whole}",
            [f"mov.b{whole} {{{', '.join(names)}}}, %a;", f"mov.b{whole} %d, {{{', '.join(reversed(names))}}};"],
            reverse,
            f".reg .b8 %e<{count}>;",
        )
    return family


def vectors(tables):
    family = Family("move_vectors", "Vectors of registers: as a whole, by element, and in ranges.", tables)
    for ty in TYPES:
        count = 2 if width(ty) == 64 else 4
        letters = "xyzw"[:count]
        swapped = letters[1::-1] + letters[2:]
        body = [
            *(f"mov.{ty} %v2.{letter}, %a;" for letter in letters[::2]),
            *(f"mov.{ty} %v2.{letter}, %b;" for letter in letters[1::2]),
            f"mov.v{count}.{ty} %w, %v2;",
            # All elements are read before one is written.
            f"mov.v{count}.{ty} {{{', '.join(f'%w.{letter}' for letter in letters)}}}, "
            f"{{{', '.join(f'%w.{letter}' for letter in swapped)}}};",
            f"mov.{ty} %d0, %w.r;",
            f"mov.{ty} %d1, %w.g;",
        ]
        inputs = [(ty, f"{table(ty)}_a"), (ty, f"{table(ty)}_b")]
        registers = f".reg .v{count} .{ty} %v<3>, %w;"
        bits = {"check": {"nan": "bits"}} if ty in FORMATS else {}
        family.elementwise(f"mov_v{count}_{ty}", inputs, [ty] * 2, body, lambda a, b: [b, a], registers, **bits)
    pair = [("u32", "i32_a"), ("u32", "i32_b")]
    wrapped = lambda value: value & 0xFFFFFFFF
    family.elementwise(
        "arithmetic",
        pair,
        ["u32"] * 2,
        [
            "mov.u32 %v.x, %a;",
            "mov.u32 %v.y, %b;",
            "setp.lt.u32 %p, %v.r, %v.g;",
            "add.u32 %v.z, %v.x, %v.y;",
            "sub.u32 %v.w, %v.x, %v.y;",
            # No guarded write of an element: ptxas 12.9 has others change with it.
            "selp.u32 %v.z, %v.w, %v.z, %p;",
            "mad.lo.u32 %v.w, %v.x, %v.y, 7;",
            "mov.u32 %d0, %v.b;",
            "mov.u32 %d1, %v.a;",
        ],
        lambda a, b: [wrapped(a - b if a < b else a + b), wrapped(a * b + 7)],
        ".reg .v4 .u32 %v; .reg .pred %p;",
    )
    family.elementwise(
        "memory",
        pair,
        ["u32"] * 4,
        [
            "mov.b32 %v.x, %a;",
            "mov.b32 %v.y, %b;",
            "mov.b32 %v.z, 3;",
            "mov.b32 %v.w, %v.x;",
            "mov.b64 %q, {%v.y, %v.z};",
            "st.global.v4.b32 [%po], %v;",
            "ld.global.v4.u32 %v, [%po];",
            "ld.global.v2.u32 {_, %v.w}, [%po];",
            "mov.b64 %h, %q;",
            "mov.u32 %d0, %v.x;",
            "mov.u32 %d1, %v.w;",
            "mov.u32 %d2, %h.x;",
            "mov.u32 %d3, %h.y;",
        ],
        lambda a, b: [a, b, b, 3],
        ".reg .v4 .b32 %v; .reg .v2 .b32 %h; .reg .b64 %q;",
    )
    family.elementwise(
        "packing",
        [("b64", "i64_u")],
        ["b64"] * 2,
        ["mov.b64 %v, %a;", "mov.b64 %d0, %v;", "mov.b64 %d1, {%v.w, %v.z, %v.y, %v.x};"],
        lambda a: [a, sum((a >> 16 * index & 0xFFFF) << 16 * (3 - index) for index in range(4))],
        ".reg .v4 .b16 %v;",
    )
    return family


def special(tables):
    family = Family("move_special", "mov from the special registers for the place of a thread.", tables)
    names = [f"%{register}.{axis}" for register in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"] + ["%laneid"]
    grid, block = (2, 3, 2), (4, 3, 6)
    threads = block[0] * block[1] * block[2]
    # The number of the thread in the grid, blocks and threads counted with x running fastest.
    body = [
        "ld.param.u64 %po, [out];",
        "mov.u32 %t, %ctaid.z;",
        "mov.u32 %v, %ctaid.y;",
        f"mad.lo.u32 %t, %t, {grid[1]}, %v;",
        "mov.u32 %v, %ctaid.x;",
        f"mad.lo.u32 %t, %t, {grid[0]}, %v;",
        "mov.u32 %v, %tid.z;",
        f"mad.lo.u32 %t, %t, {block[2]}, %v;",
        "mov.u32 %v, %tid.y;",
        f"mad.lo.u32 %t, %t, {block[1]}, %v;",
        "mov.u32 %v, %tid.x;",
        f"mad.lo.u32 %t, %t, {block[0]}, %v;",
        f"mad.wide.u32 %po, %t, {4 * len(names)}, %po;",
    ]
    for place, name in enumerate(names):
        body += [f"mov.u32 %v, {name};", f"st.global.u32 [%po+{4 * place}], %v;"]
    family.kernel("places", [".param .u64 out"], [".reg .b64 %po;", ".reg .u32 %t, %v;"], body)
    expected = []
    for z, y, x in ((z, y, x) for z in range(grid[2]) for y in range(grid[1]) for x in range(grid[0])):
        for number in range(threads):
            place = (number % block[0], number // block[0] % block[1], number // block[0] // block[1])
            expected += [*place, *block, x, y, z, *grid, number % 32]
    # The first and the last block are enough.
    size = threads * len(names)
    args = [{"type": "u32", "zeros": len(expected)}]
    expect = [{"arg": 0, "data": expected[:size]}, {"arg": 0, "offset": len(expected) - size, "data": expected[-size:]}]
    family.case("places", "places", args, expect, block=block, grid=grid)
    return family


def addresses(tables):
    directives = (
        ".global .align 4 .u32 numbers[4] = {10, 11, 12, 13};\n.const .align 4 .u32 constants[4] = {20, 21, 22, 23};\n"
    )
    family = Family("move_addresses", "Addresses by mov and cvta, back by cvta.to, and isspacep.", tables, directives)
    declared = [
        ".reg .b64 %po, %x, %y;",
        ".reg .u32 %v;",
        ".reg .pred %p;",
        ".shared .align 4 .b8 everyone[16];",
        ".local .align 4 .b8 own[16];",
    ]
    body, expected = ["ld.param.u64 %po, [out];"], []

    def put(lines, value):
        body.extend([*lines, f"st.global.u32 [%po+{4 * len(expected)}], %v;"])
        expected.append(value)

    equal = ["setp.eq.u64 %p, %x, %y;", "selp.u32 %v, 1, 0, %p;"]
    put(["mov.u64 %x, numbers;", "ld.global.u32 %v, [%x+4];"], 11)
    put(["mov.u64 %x, numbers+8;", "ld.global.u32 %v, [%x];"], 12)
    put(["mov.u64 %x, constants+4;", "ld.const.u32 %v, [%x];"], 21)
    put(
        ["mov.u32 %v, 77;", "st.shared.u32 [everyone+4], %v;", "mov.u64 %x, everyone+4;", "ld.shared.u32 %v, [%x];"], 77
    )
    put(["mov.u32 %v, 88;", "st.local.u32 [own+8], %v;", "mov.u64 %x, own+8;", "ld.local.u32 %v, [%x];"], 88)
    for space, variable in (("global", "numbers"), ("const", "constants"), ("shared", "everyone"), ("local", "own")):
        put(
            [f"mov.u64 %x, {variable};", f"cvta.{space}.u64 %y, {variable};", f"cvta.to.{space}.u64 %y, %y;", *equal], 1
        )
        put(
            [
                f"mov.u64 %x, {variable}+4;",
                f"cvta.{space}.u64 %x, %x;",
                f"cvta.{space}.u64 %y, {variable};",
                "add.u64 %y, %y, 4;",
                *equal,
            ],
            1,
        )
        for asked in ("global", "shared", "local"):
            put([f"isspacep.{asked} %p, %y;", "selp.u32 %v, 1, 0, %p;"], int(asked == space))
    put(["ld.param.u64 %y, [out];", "isspacep.global %p, %y;", "selp.u32 %v, 1, 0, %p;"], 1)
    put(["isspacep.shared %p, %y;", "selp.u32 %v, 1, 0, %p;"], 0)
    put(["isspacep.local %p, %y;", "selp.u32 %v, 1, 0, %p;"], 0)
    family.kernel("addresses", [".param .u64 out"], declared, body)
    family.case(
        "addresses", "addresses", [{"type": "u32", "zeros": len(expected)}], [{"arg": 0, "data": expected}], block=1
    )
    return family


def null_addresses(tables):
    """What CUDA gives for null and for the ends of the windows of shared and local memory; recorded on an H100."""
    directives = ".extern .shared .align 16 .b8 dynamic[];\n" + RECURSIVE
    family = Family("move_null", "No variable is at null in its space, and generic null is in no window.", tables, directives)
    declared = [
        ".reg .b64 %po, %x, %y, %z;",
        ".reg .u32 %v, %w;",
        ".reg .pred %p;",
        ".shared .align 4 .b8 everyone[16];",
        ".local .align 4 .b8 own[16];",
    ]
    # A null that the compiler doesn't know.
    body, expected = ["ld.param.u64 %po, [out];", "ld.param.u64 %z, [null];"], []

    def put(lines, value):
        body.extend([*lines, f"st.global.u32 [%po+{4 * len(expected)}], %v;"])
        expected.append(value)

    truth = "selp.u32 %v, 1, 0, %p;"
    for space, variable in (("shared", "everyone"), ("shared", "dynamic"), ("local", "own")):
        body.append(f"mov.u64 %x, {variable};")
        for null in ("0", "%z"):
            put([f"setp.eq.u64 %p, %x, {null};", truth], 0)
            put([f"mov.u64 %y, {null};", f"cvta.to.{space}.u64 %y, %y;", "setp.eq.u64 %p, %x, %y;", truth], 0)
            put([f"cvta.{space}.u64 %y, %x;", f"setp.eq.u64 %p, %y, {null};", truth], 0)
        put(["cvt.u32.u64 %v, %x;", f"cvta.to.{space}.u64 %y, %z;", "cvt.u32.u64 %w, %y;", "setp.eq.u32 %p, %v, %w;", truth], 0)
        if space == "shared":
            # Hardware of sm_90 has 1 KiB of its own before the first variable, and a window that begins at a multiple of 4 GiB.
            put([f"mov.u32 %v, {variable};", "setp.eq.u32 %p, %v, 0;", truth], 0)
            put(["setp.ge.u64 %p, %x, 1024;", truth], 1)
            put(["cvta.to.shared.u64 %y, %z;", "setp.eq.u64 %p, %y, 0;", truth], 1)
            put(["cvta.shared.u64 %y, %x;", "cvta.to.shared.u64 %y, %y;", "setp.eq.u64 %p, %x, %y;", truth], 1)
    put(["cvta.to.local.u64 %y, %z;", "cvta.local.u64 %y, %y;", "setp.eq.u64 %p, %y, 0;", truth], 1)
    put(["cvta.to.local.u64 %y, %po;", "cvta.local.u64 %y, %y;", "setp.eq.u64 %p, %y, %po;", truth], 1)
    put(["alloca.u64 %x, 8;", "setp.eq.u64 %p, %x, 0;", truth], 0)
    put(["cvta.to.local.u64 %y, %z;", "setp.eq.u64 %p, %x, %y;", truth], 0)
    put(["call (%v), frames_at_null, (2);"], 0)
    spaces = ("global", "shared", "local", "const", "shared::cta", "shared::cluster")
    in_spaces = {"nothing": (1, 0, 0, 0, 0, 0), "shared": (0, 1, 0, 0, 1, 1), "local": (0, 0, 1, 0, 0, 0)}
    in_spaces["cluster"] = (0, 0, 0, 0, 0, 1)
    begin, end = 0, (1 << 24) - 1
    for space, distance, where in [
        (None, 0, "nothing"),
        ("shared", begin - 1, "nothing"), ("shared", begin, "shared"), ("shared", end, "shared"), ("shared", end + 1, "cluster"),
        ("shared", (1 << 32) - 1, "cluster"), ("shared", 1 << 32, "nothing"),
        ("local", begin - 1, "nothing"), ("local", begin, "local"), ("local", end, "local"), ("local", end + 1, "nothing"),
    ]:
        body += ["mov.u64 %x, %z;", *([f"cvta.{space}.u64 %x, %z;"] if space else []), f"add.s64 %x, %x, {distance};"]
        for asked, value in zip(spaces, in_spaces[where]):
            put([f"isspacep.{asked} %p, %x;", truth], value)
    family.kernel("null", [".param .u64 out", ".param .u64 null"], declared, body)
    args = [{"type": "u32", "zeros": len(expected)}, {"type": "u64", "value": 0}]
    family.case("null", "null", args, [{"arg": 0, "data": expected}], block=1, dynamic_shared_bytes=64)
    return family


def shared_places(tables):
    """Static and dynamic shared memory alone, and as much as may be static. A module of its own: CUDA 13's assembler crashes on the
    modules of both this and a recursive function."""
    directives = ".extern .shared .align 16 .b8 dynamic[];"
    family = Family("move_shared_places", "Each thread stores its number at its place, counted from the end.", tables, directives)
    static = ".shared .align 8 .b8 own[{}];"
    for name, declared, count in [
        ("static_alone", [static.format(1024)], 256), ("dynamic_alone", [], 64), ("whole", [static.format(48 << 10)], 256),
    ]:
        first = "own" if declared else "dynamic"
        last = (48 << 10) - 1024 if name == "whole" else 0
        places_of_shared_memory(family, name, declared, first, last, count)
    return family


def places_of_shared_memory(family, name, declared, first, last, count):
    """Stores by addresses, and reads by names, generic addresses, and pointers that advance until they are null or at an end."""
    size = 0 if declared else 4 * count
    body = [
        "ld.param.u64 %po, [out];",
        "mov.u32 %t, %tid.x;",
        f"mov.u32 %a, {first};",
        f"add.u32 %a, %a, {last};",
        "mad.lo.u32 %b, %t, 4, %a;",
        "st.shared.u32 [%b], %t;",
        "bar.sync 0;",
        f"mov.u64 %x, {first};",
        "cvta.shared.u64 %x, %x;",
        f"mov.u32 %n, {count - 1};",
        "sub.u32 %n, %n, %t;",
        "mul.wide.u32 %y, %n, 4;",
        "add.u64 %x, %x, %y;",
        f"ld.u32 %v, [%x+{last}];",
        # The sum of all, by a pointer that goes down to the first and ends there.
        f"add.u32 %b, %a, {4 * count};",
        "mov.u32 %n, 0;",
        "loop:",
        "sub.u32 %b, %b, 4;",
        "ld.shared.u32 %w, [%b];",
        "add.u32 %n, %n, %w;",
        "setp.ne.u32 %p, %b, %a;",
        "@%p bra loop;",
        # A pointer that is null in odd threads, as a compiler chooses between objects.
        "and.b32 %w, %t, 1;",
        "setp.eq.u32 %p, %w, 0;",
        f"mov.u32 %b, {first};",
        "selp.u32 %b, %b, 0, %p;",
        "setp.ne.u32 %p, %b, 0;",
        f"@%p ld.shared.u32 %w, [{first}+{last}];",
        "add.u32 %n, %n, %w;",
        "mad.wide.u32 %po, %t, 8, %po;",
        "st.global.u32 [%po], %v;",
        "st.global.u32 [%po+4], %n;",
    ]
    registers = [".reg .b64 %po, %x, %y;", ".reg .b32 %t, %a, %b, %v, %w, %n;", ".reg .pred %p;"]
    family.kernel(name, [".param .u64 out"], registers + declared, body)
    total = count * (count - 1) // 2
    expected = [value for t in range(count) for value in (count - 1 - t, total + t % 2)]
    args = [{"type": "u32", "zeros": 2 * count}]
    family.case(name, name, args, [{"arg": 0, "data": expected}], block=count, dynamic_shared_bytes=size)


# Counts the calls whose local variable is at null.
RECURSIVE = """.func (.reg .b32 found) frames_at_null(.reg .b32 depth)
{
	.local .align 4 .b8 own[16];
	.reg .b64 %x, %y;
	.reg .b32 %v, %n;
	.reg .pred %p;
	mov.u64 %x, own;
	mov.u64 %y, 0;
	cvta.to.local.u64 %y, %y;
	setp.eq.u64 %p, %x, %y;
	selp.u32 found, 1, 0, %p;
	setp.eq.u64 %p, %x, 0;
	@%p add.u32 found, found, 1;
	setp.eq.u32 %p, depth, 0;
	@%p ret;
	sub.u32 %n, depth, 1;
	call (%v), frames_at_null, (%n);
	add.u32 found, found, %v;
	ret;
}
"""


def qualified_addresses(tables):
    family = Family("move_addresses_cta", "cvta and isspacep with .shared::cta.", tables)
    body = [
        "ld.param.u64 %po, [out];",
        "mov.u64 %x, everyone;",
        "cvta.shared::cta.u64 %y, everyone;",
        "isspacep.shared::cta %p, %y;",
        "selp.u32 %v, 1, 0, %p;",
        "st.global.u32 [%po], %v;",
        "isspacep.shared::cta %p, %po;",
        "selp.u32 %v, 1, 0, %p;",
        "st.global.u32 [%po+4], %v;",
        "cvta.to.shared::cta.u64 %y, %y;",
        "setp.eq.u64 %p, %x, %y;",
        "selp.u32 %v, 1, 0, %p;",
        "st.global.u32 [%po+8], %v;",
    ]
    family.kernel(
        "addresses",
        [".param .u64 out"],
        [".reg .b64 %po, %x, %y;", ".reg .u32 %v;", ".reg .pred %p;", ".shared .align 4 .b8 everyone[16];"],
        body,
    )
    family.case("addresses", "addresses", [{"type": "u32", "zeros": 3}], [{"arg": 0, "data": [1, 0, 1]}], block=1)
    return family


def parameter_addresses(tables):
    family = Family("move_addresses_param", "The generic address of a kernel's parameter.", tables)
    body = [
        "ld.param.u64 %po, [out];",
        "cvta.param.u64 %x, p;",
        "ld.u32 %v, [%x+4];",
        "st.global.u32 [%po], %v;",
        "cvta.to.param.u64 %x, %x;",
        "ld.param.u32 %v, [%x+8];",
        "st.global.u32 [%po+4], %v;",
    ]
    params = [".param .u64 out", ".param .align 4 .b8 p[12]"]
    family.kernel("addresses", params, [".reg .b64 %po, %x;", ".reg .u32 %v;"], body)
    args = [{"type": "u32", "zeros": 2}, {"type": "bytes", "value": "0100000002000000fffffffe"}]
    family.case("addresses", "addresses", args, [{"arg": 0, "data": [2, 0xFEFFFFFF]}], block=1)
    return family


def windows(tables):
    """Which windows generic addresses of constants and parameters lie in, among those of everything else."""
    directives = (
        ".global .align 4 .u32 numbers[4] = {10, 11, 12, 13};\n.const .align 4 .u32 constants[4] = {20, 21, 22, 23};\n"
    )
    family = Family(
        "move_windows", "isspacep for constants and parameters; their generic addresses.", tables, directives,
        header=header("8.3"),
    )
    declared = [
        ".reg .b64 %po, %x, %y;", ".reg .u32 %v;", ".reg .pred %p;", ".shared .align 4 .b8 everyone[16];",
        ".local .align 4 .b8 own[16];",
    ]
    body, expected = ["ld.param.u64 %po, [out];"], []

    def put(lines, value):
        body.extend([*lines, f"st.global.u32 [%po+{4 * len(expected)}], %v;"])
        expected.append(value)

    places = {
        "const": "cvta.const.u64 %x, constants;", "param": "cvta.param.u64 %x, p;", "global": "cvta.global.u64 %x, numbers;",
        "shared": "cvta.shared.u64 %x, everyone;", "local": "cvta.local.u64 %x, own;",
    }
    for space, line in places.items():
        for asked in ("const", "param", "param::entry", "shared", "local"):
            put([line, f"isspacep.{asked} %p, %x;", "selp.u32 %v, 1, 0, %p;"], int(asked.split(":")[0] == space))
    # The window of parameters is contained in that of global memory.
    put([places["param"], "isspacep.global %p, %x;", "selp.u32 %v, 1, 0, %p;"], 1)
    put([places["const"], "add.u64 %x, %x, 12;", "isspacep.const %p, %x;", "selp.u32 %v, 1, 0, %p;"], 1)
    put([places["const"], "ld.u32 %v, [%x+8];"], 22)
    put([places["const"], "cvta.to.const.u64 %y, %x;", "ld.const.u32 %v, [%y+4];"], 21)
    put(["mov.u64 %y, p;", "ld.param.u32 %v, [%y+4];"], 2)
    put(["cvta.param::entry.u64 %x, p;", "ld.u32 %v, [%x+8];"], 3)
    put(["cvta.param.u64 %x, p;", "cvta.to.param::entry.u64 %y, %x;", "ld.param::entry.u32 %v, [%y];"], 1)
    put(["mov.u64 %x, out;", "isspacep.const %p, %po;", "selp.u32 %v, 1, 0, %p;"], 0)
    put(["isspacep.param %p, %po;", "selp.u32 %v, 1, 0, %p;"], 0)
    family.kernel("windows", [".param .u64 out", ".param .align 4 .b8 p[12]"], declared, body)
    args = [{"type": "u32", "zeros": len(expected)}, {"type": "bytes", "value": "010000000200000003000000"}]
    family.case("windows", "windows", args, [{"arg": 0, "data": expected}], block=1)
    return family


def predicated(tables):
    family = Family("predicated", "Instructions under a predicate and its negation.", tables)
    pair = [("u32", "i32_a"), ("u32", "flag")]
    test = "setp.ne.u32 %p, %b, 0;"
    declared = ".reg .pred %p, %q; .reg .b16 %h, %g; .reg .u64 %w;"

    def put(name, lines, reference, inputs=pair):
        family.elementwise(name, inputs, "u32", [test, *lines], reference, declared)

    wrap = lambda value: value & 0xFFFFFFFF
    put(
        "arithmetic",
        ["mov.u32 %d, 9;", "@%p add.u32 %d, %a, 1;", "@!%p sub.u32 %d, %a, 1;"],
        lambda a, b: wrap(a + 1 if b else a - 1),
    )
    put("one_side", ["mov.u32 %d, 9;", "@%p mul.lo.u32 %d, %a, 3;"], lambda a, b: wrap(a * 3) if b else 9)
    put(
        "destination_of_predicate",
        ["setp.eq.u32 %q, %a, %a;", "@%p setp.ne.u32 %q, %a, %a;", "selp.u32 %d, 1, 0, %q;"],
        lambda a, b: 1 - b,
    )
    put("own_predicate", ["@%p setp.eq.u32 %p, %a, 0;", "selp.u32 %d, 1, 0, %p;"], lambda a, b: int(a == 0) if b else 0)
    put(
        "unpacking",
        ["mov.b32 {%h, %g}, %a;", "@%p mov.b32 {%g, %h}, %a;", "mov.b32 %d, {%g, %h};"],
        lambda a, b: a if b else wrap(a >> 16 | a << 16),
    )
    put("division", ["mov.u32 %d, 9;", "@%p div.u32 %d, %a, %b;"], lambda a, b: a if b else 9)
    put("load", ["mov.u32 %d, 9;", "@!%p mov.u64 %pa, 0;", "@%p ld.global.u32 %d, [%pa];"], lambda a, b: a if b else 9)
    put(
        "store",
        [
            "mov.u32 %d, 9;",
            "mov.u64 %w, %po;",
            "@!%p mov.u64 %w, 0;",
            "@%p st.global.u32 [%w], %a;",
            "@%p ld.global.u32 %d, [%po];",
        ],
        lambda a, b: a if b else 9,
    )
    put(
        "atomic",
        [
            "st.global.u32 [%po], %a;",
            "mov.u32 %d, 0;",
            "@%p atom.global.add.u32 %d, [%po], 5;",
            "ld.global.u32 %b, [%po];",
            "sub.u32 %d, %b, %d;",
        ],
        lambda a, b: 5 if b else a,
    )
    put("leaving", ["st.global.u32 [%po], %a;", "@%p exit;", "not.b32 %d, %a;"], lambda a, b: a if b else wrap(~a))
    put("returning", ["st.global.u32 [%po], %a;", "@!%p ret;", "not.b32 %d, %a;"], lambda a, b: wrap(~a) if b else a)
    return family


def families(tables):
    return [
        moves(tables),
        bytes_(tables),
        vectors(tables),
        wide(tables),
        wider_registers(tables),
        special(tables),
        addresses(tables),
        qualified_addresses(tables),
        null_addresses(tables),
        shared_places(tables),
        parameter_addresses(tables),
        windows(tables),
        predicated(tables),
    ]

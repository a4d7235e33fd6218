"""ld and st in every space, type, vector and width of register; cache hints; ordered and volatile accesses."""

from .exact import FORMATS, number, width
from .ptx import Family, guard, literals, register_type

TYPES = ["b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f32", "f64"]
# Of the rarer forms: one type of every width and kind.
SOME_TYPES = ["u8", "s16", "b32", "f32", "f64", "s64"]
THREADS = 8
POINTERS = [".param .u64 out", ".param .u64 a", ".param .u32 n"]


def vectors(ty):
    """Vector lengths of a type: no access has more than 16 bytes."""
    return [count for count in (1, 2, 4) if count * width(ty) <= 128]


def pack(registers):
    return registers[0] if len(registers) == 1 else "{" + ", ".join(registers) + "}"


def suffix(count):
    return "" if count == 1 else f".v{count}"


def contents(tables, ty, count, start=0):
    """The first elements of the buffer of mixed bytes, as a type."""
    size = width(ty) // 8
    data = bytes(tables["mixed"][1])
    return [int.from_bytes(data[place * size :][:size], "little") for place in range(start, start + count)]


def expectation(ty, values):
    return {"arg": 0, "data": literals(ty, values)} | ({"nan": "bits"} if ty in FORMATS else {})


def registers(ty):
    return [f".reg {register_type(ty)} %v<4>;"]


def advance(pointer, to, count, size):
    """Moves from the start of a section, of `count` elements for each thread, to the thread's own."""
    return f"mad.wide.u32 {to}, %t, {count * size}, {pointer};"


def copy(family, tables, ty, load, store, single=False, lengths=None):
    """A kernel that copies sections of a buffer, one for each vector length, straight from `ld` to `st`."""
    entry = f"{load}_{ty}".replace(".", "_").replace("::", "_")
    size, start = width(ty) // 8, 0
    body = guard() + ["ld.param.u64 %pa, [a];", "ld.param.u64 %po, [out];"]
    if single:
        body = ["mov.u32 %t, %ctaid.x;", *body[4:]]
    for count in lengths or vectors(ty):
        names = [f"%v{index}" for index in range(count)]
        offset = f"+{start * size}" if start else ""
        body += [advance("%pa", "%x", count, size), advance("%po", "%y", count, size)]
        body += [
            f"{load}{suffix(count)}.{ty} {pack(names)}, [%x{offset}];",
            f"{store}{suffix(count)}.{ty} [%y{offset}], {pack(names)};",
        ]
        start += count * THREADS
    declared = [".reg .pred %end;", ".reg .b32 %t, %n;", ".reg .b64 %pa, %po, %x, %y;", *registers(ty)]
    family.kernel(entry, POINTERS, declared, body)
    shape = {"grid": THREADS, "block": 1} if single else {"block": 32}
    args = [{"type": ty, "zeros": start}, {"type": "u8", "table": "mixed"}, {"type": "u32", "value": THREADS}]
    family.case(entry, entry, args, [expectation(ty, contents(tables, ty, start))], **shape)


def exchange(family, tables, ty, entry, declared, store_place, load_place, store, load, neighbour):
    """As `copy`, by way of another space: `store_place` and `load_place` give the addresses there for a size."""
    size, start, expected = width(ty) // 8, 0, []
    body = guard() + ["ld.param.u64 %pa, [a];", "ld.param.u64 %po, [out];"]
    for count in vectors(ty):
        names = [f"%v{index}" for index in range(count)]
        offset = f"+{start * size}" if start else ""
        body += [advance("%pa", "%x", count, size), advance("%po", "%y", count, size)]
        body += [f"ld.global{suffix(count)}.{ty} {pack(names)}, [%x{offset}];"]
        body += store_place(count * size) + [f"{store}{suffix(count)}.{ty} [%s], {pack(names)};"]
        body += ["bar.sync 0;"] if neighbour else []
        body += load_place(count * size) + [f"{load}{suffix(count)}.{ty} {pack(names)}, [%s];"]
        body += ["bar.sync 0;"] if neighbour else []
        body += [f"st.global{suffix(count)}.{ty} [%y{offset}], {pack(names)};"]
        values = contents(tables, ty, count * THREADS, start)
        for thread in range(THREADS):
            source = thread ^ 1 if neighbour else thread
            expected += values[source * count :][:count]
        start += count * THREADS
    common = [".reg .pred %end;", ".reg .b32 %t, %n, %u;", ".reg .b64 %pa, %po, %x, %y, %s;", *registers(ty)]
    family.kernel(entry, POINTERS, common + declared, body)
    args = [{"type": ty, "zeros": start}, {"type": "u8", "table": "mixed"}, {"type": "u32", "value": THREADS}]
    family.case(entry, entry, args, [expectation(ty, expected)], block=THREADS)


def plain(tables):
    family = Family("memory_global", "ld.global and st.global of every type and vector.", tables)
    for ty in TYPES:
        copy(family, tables, ty, "ld.global", "st.global")
    return family


def variants(tables):
    """Forms of global accesses that differ in caching and order."""
    forms = [
        ("memory_nc", "ld.global.nc, st.global.wt.", "ld.global.nc", "st.global.wt", False),
        (
            "memory_ldu",
            "ldu, by one thread of each block since it needs uniform addresses.",
            "ldu.global",
            "st.global.cs",
            True,
        ),
        ("memory_volatile", "Volatile accesses of global memory.", "ld.volatile.global", "st.volatile.global", False),
        (
            "memory_relaxed",
            "Relaxed accesses of global memory.",
            "ld.relaxed.gpu.global",
            "st.relaxed.sys.global",
            False,
        ),
        (
            "memory_acquire",
            "Acquiring and releasing accesses of global memory.",
            "ld.acquire.cta.global",
            "st.release.gpu.global",
            False,
        ),
        (
            "memory_generic_relaxed",
            "Relaxed and releasing accesses by generic addresses.",
            "ld.relaxed.cta",
            "st.release.sys",
            False,
        ),
    ]
    for name, purpose, load, store, single in forms:
        family = Family(name, purpose, tables)
        for ty in TYPES:
            copy(family, tables, ty, load, store, single)
        yield family


def shared(tables):
    family = Family(
        "memory_shared", "st.shared and ld.shared of every type and vector, between neighbouring threads.", tables
    )
    place = lambda thread: (
        lambda size: ["mov.u64 %s, memory;", f"xor.b32 %u, %t, {thread};", f"mad.wide.u32 %s, %u, {size}, %s;"]
    )
    for ty in TYPES:
        exchange(
            family,
            tables,
            ty,
            f"shared_{ty}",
            [".shared .align 16 .b8 memory[128];"],
            place(0),
            place(1),
            "st.shared",
            "ld.shared",
            True,
        )
    for ty in SOME_TYPES:
        exchange(
            family,
            tables,
            ty,
            f"shared_volatile_{ty}",
            [".shared .align 16 .b8 memory[128];"],
            place(0),
            place(1),
            "st.volatile.shared",
            "ld.volatile.shared",
            True,
        )
    return family


def shared_qualified(tables):
    family = Family("memory_shared_cta", "Accesses of .shared::cta, weak, relaxed, acquiring and releasing.", tables)
    place = lambda thread: (
        lambda size: ["mov.u64 %s, memory;", f"xor.b32 %u, %t, {thread};", f"mad.wide.u32 %s, %u, {size}, %s;"]
    )
    for ty in SOME_TYPES:
        for name, store, load in (
            ("weak", "st.weak.shared::cta", "ld.weak.shared::cta"),
            ("relaxed", "st.relaxed.cta.shared::cta", "ld.acquire.cta.shared::cta"),
            ("release", "st.release.cta.shared", "ld.relaxed.cta.shared"),
        ):
            exchange(
                family,
                tables,
                ty,
                f"shared_{name}_{ty}",
                [".shared .align 16 .b8 memory[128];"],
                place(0),
                place(1),
                store,
                load,
                True,
            )
    return family


def local(tables):
    family = Family(
        "memory_local",
        "st.local and ld.local of every type and vector, at an index that depends on the thread.",
        tables,
    )
    place = lambda size: ["mov.u64 %s, memory;", "and.b32 %u, %t, 3;", f"mad.wide.u32 %s, %u, {size}, %s;"]
    for ty in TYPES:
        exchange(
            family,
            tables,
            ty,
            f"local_{ty}",
            [".local .align 16 .b8 memory[64];"],
            place,
            place,
            "st.local",
            "ld.local",
            False,
        )
    return family


def generic(tables):
    family = Family(
        "memory_generic",
        "Generic ld and st: odd threads go through local memory, even ones through shared memory.",
        tables,
    )
    declared = [
        ".shared .align 16 .b8 everyone[128];",
        ".local .align 16 .b8 own[16];",
        ".reg .pred %odd;",
        ".reg .b64 %l;",
    ]

    # Sixteen bytes for each thread, whatever the vector: nothing keeps a thread from being ahead of another.
    def place(_):
        return [
            "mov.u64 %s, everyone;",
            "mad.wide.u32 %s, %t, 16, %s;",
            "cvta.shared.u64 %s, %s;",
            "cvta.local.u64 %l, own;",
            "and.b32 %u, %t, 1;",
            "setp.eq.u32 %odd, %u, 1;",
            "selp.b64 %s, %l, %s, %odd;",
        ]

    for ty in TYPES:
        exchange(family, tables, ty, f"generic_{ty}", declared, place, place, "st", "ld", False)
    for ty in TYPES:
        copy(family, tables, ty, "ld", "st")
    return family


def constant(tables):
    content = ", ".join(str(byte) for byte in tables["mixed"][1][:512])
    family = Family(
        "memory_const",
        "ld.const of every type and vector.",
        tables,
        f".const .align 16 .b8 table[512] = {{{content}}};\n",
    )
    for ty in TYPES:
        size, start = width(ty) // 8, 0
        body = guard() + ["ld.param.u64 %po, [out];"]
        for count in vectors(ty):
            names = [f"%v{index}" for index in range(count)]
            offset = f"+{start * size}" if start else ""
            body += ["mov.u64 %x, table;", advance("%x", "%x", count, size), advance("%po", "%y", count, size)]
            body += [
                f"ld.const{suffix(count)}.{ty} {pack(names)}, [%x{offset}];",
                f"st.global{suffix(count)}.{ty} [%y{offset}], {pack(names)};",
            ]
            start += count * THREADS
        body += [
            "ld.param.u64 %y, [out];",
            f"ld.const.{ty} %v0, [table+{3 * size}];",
            "setp.eq.u32 %end, %t, 0;",
            f"@%end st.global.{ty} [%y+{start * size}], %v0;",
        ]
        declared = [".reg .pred %end;", ".reg .b32 %t, %n;", ".reg .b64 %po, %x, %y;", *registers(ty)]
        family.kernel(f"const_{ty}", [POINTERS[0], POINTERS[2]], declared, body)
        args = [{"type": ty, "zeros": start + 1}, {"type": "u32", "value": THREADS}]
        values = contents(tables, ty, start) + contents(tables, ty, 1, 3)
        family.case(f"const_{ty}", f"const_{ty}", args, [expectation(ty, values)], block=32)
    return family


def parameters(tables):
    family = Family(
        "memory_param",
        "ld.param of every type and vector: from a struct by value, and from a parameter of the type.",
        tables,
    )
    for ty in TYPES:
        size, start = width(ty) // 8, 0
        body = ["ld.param.u64 %po, [out];"]
        for count in vectors(ty):
            names = [f"%v{index}" for index in range(count)]
            body += [
                f"ld.param{suffix(count)}.{ty} {pack(names)}, [p+{start * size}];",
                f"st.global{suffix(count)}.{ty} [%po+{start * size}], {pack(names)};",
            ]
            # The next, longer vector starts where it is aligned.
            start += max(count, 2)
        body += [f"ld.param.{ty} %v0, [x];", f"st.global.{ty} [%po+{start * size}], %v0;"]
        wanted = [place for count, first in zip(vectors(ty), (0, 2, 4)) for place in range(first, first + count)]
        values = contents(tables, ty, start)
        expected = [value if place in wanted else 0 for place, value in enumerate(values)]
        scalar = contents(tables, ty, 1, 40 // size)[0]
        bytes_ = bytes(tables["mixed"][1][: start * size])
        params = [POINTERS[0], f".param .align 16 .b8 p[{len(bytes_)}]", f".param .{ty} x"]
        family.kernel(f"param_{ty}", params, [".reg .b64 %po;", *registers(ty)], body)
        value = literals(ty, [scalar])[0]
        args = [
            {"type": ty, "zeros": start + 1},
            {"type": "bytes", "value": bytes_.hex()},
            {"type": ty, "value": value},
        ]
        family.case(f"param_{ty}", f"param_{ty}", args, [expectation(ty, expected + [scalar])], block=1)
    return family


NARROW = [
    (ty, size)
    for ty in ("u8", "s8", "b8", "u16", "s16", "b16", "u32", "s32", "b32")
    for size in (16, 32, 64)
    if size > width(ty)
]


def wide_registers(tables):
    """Loads into registers wider than the type, which extend, and stores from such registers, which cut."""
    content = ", ".join(str(byte) for byte in tables["mixed"][1][:64])
    family = Family(
        "memory_wide_registers",
        "Loads into wider registers from every space, and stores from wider registers.",
        tables,
        f".const .align 16 .b8 table[64] = {{{content}}};\n",
    )
    prepare = {
        "global": ["ld.param.u64 %s, [a];", "mad.wide.u32 %s, %t, 8, %s;"],
        "const": ["mov.u64 %s, table;", "mad.wide.u32 %s, %t, 8, %s;"],
        "shared": ["mov.u64 %s, memory;", "mad.wide.u32 %s, %t, 8, %s;", "st.shared.u64 [%s], %x;"],
        "local": ["mov.u64 %s, own;", "and.b32 %u, %t, 1;", "mad.wide.u32 %s, %u, 8, %s;", "st.local.u64 [%s], %x;"],
    }
    start = ["ld.param.u64 %pa, [a];", "mad.wide.u32 %pa, %t, 8, %pa;", "ld.global.u64 %x, [%pa];"]
    declared = [
        ".reg .pred %end;",
        ".reg .b32 %t, %n, %u;",
        ".reg .b64 %pa, %po, %s, %x, %ones;",
        ".reg .b16 %w16;",
        ".reg .b32 %w32;",
        ".reg .b64 %w64;",
        ".shared .align 8 .b8 memory[64];",
        ".local .align 8 .b8 own[16];",
    ]
    args = [
        {"type": "u64", "zeros": THREADS * len(NARROW)},
        {"type": "u8", "table": "mixed"},
        {"type": "u32", "value": THREADS},
    ]
    words = contents(tables, "u64", THREADS)
    expected = [number(word & ((1 << width(ty)) - 1), ty) & ((1 << size) - 1) for word in words for ty, size in NARROW]
    widen = {16: ["cvt.u64.u16 %w64, %w16;"], 32: ["cvt.u64.u32 %w64, %w32;"], 64: []}
    result = ["ld.param.u64 %po, [out];", f"mad.wide.u32 %po, %t, {8 * len(NARROW)}, %po;"]
    for space, lines in prepare.items():
        body = guard() + start + lines + result
        for place, (ty, size) in enumerate(NARROW):
            body += [f"ld.{space}.{ty} %w{size}, [%s];", *widen[size], f"st.global.u64 [%po+{8 * place}], %w64;"]
        family.kernel(f"load_{space}", POINTERS, declared, body)
        family.case(f"load_{space}", f"load_{space}", args, [expectation("u64", expected)], block=32)
    body = guard() + result
    for place, (ty, size) in enumerate(NARROW):
        body += [f"ld.param.{ty} %w{size}, [p];", *widen[size], f"st.global.u64 [%po+{8 * place}], %w64;"]
    family.kernel("load_param", [POINTERS[0], ".param .u64 p", POINTERS[2]], declared, body)
    family.case(
        "load_param",
        "load_param",
        [args[0], {"type": "u64", "value": words[0]}, args[2]],
        [expectation("u64", expected[: len(NARROW)] * THREADS)],
        block=32,
    )
    # Stores: every form into a word of ones of its own, read back whole.
    spaces = {
        "global": ("ld.param.u64 %s, [out];", 8 * len(NARROW)),
        "shared": ("mov.u64 %s, memory;", 8),
        "local": ("mov.u64 %s, own;", 0),
    }
    kept = [word & ((1 << width(ty)) - 1) | (-1 << width(ty)) & ((1 << 64) - 1) for word in words for ty, _ in NARROW]
    for space, (line, step) in spaces.items():
        body = (
            guard()
            + start
            + result
            + [
                line,
                f"mad.wide.u32 %s, %t, {step}, %s;",
                "cvt.u16.u64 %w16, %x;",
                "cvt.u32.u64 %w32, %x;",
                "mov.b64 %w64, %x;",
                "mov.b64 %ones, -1;",
            ]
        )
        for place, (ty, size) in enumerate(NARROW):
            at = f"%s+{8 * place}" if space == "global" else "%s"
            body += [
                f"st.{space}.b64 [{at}], %ones;",
                f"st.{space}.{ty} [{at}], %w{size};",
                f"ld.{space}.b64 %x, [{at}];",
                f"st.global.b64 [%po+{8 * place}], %x;",
            ]
        family.kernel(f"store_{space}", POINTERS, declared, body)
        family.case(f"store_{space}", f"store_{space}", args, [expectation("u64", kept)], block=32)
    return family


def hints(tables):
    """Forms that only ask for caching. Each kernel copies a word by each of them."""
    operators = [".ca", ".cg", ".cs", ".lu", ".cv"]
    evictions = [
        f".L1::{policy}" for policy in ("evict_normal", "evict_unchanged", "evict_first", "evict_last", "no_allocate")
    ]
    prefetches = [f".L2::{size}B" for size in (64, 128, 256)]
    loads = {
        "operators": [f"ld.global{operator}" for operator in operators]
        + ["ld.weak.global", "ld.weak.global.ca", "ld.ca", "ld.volatile"],
        "evictions": [f"ld.global{policy}" for policy in evictions]
        + [f"ld.relaxed.gpu.global{policy}" for policy in evictions],
        "prefetches": [f"ld.global{size}" for size in prefetches]
        + ["ld.global.ca.L2::128B", "ld.global.L1::evict_last.L2::256B", "ld.acquire.sys.global.L2::64B"],
        "nc": ["ld.global.nc", "ld.global.ca.nc", "ld.global.cg.nc", "ld.global.cs.nc"]
        + [f"ld.global.nc{policy}" for policy in evictions + prefetches],
    }
    stores = {
        "operators": [f"st.global{operator}" for operator in (".wb", ".cg", ".cs", ".wt")]
        + ["st.weak.global", "st.weak", "st.volatile", "st.cg"],
        "evictions": [f"st.global{policy}" for policy in evictions]
        + [f"st.relaxed.gpu.global{policy}" for policy in evictions],
    }
    for kind, forms in [("load", forms) for forms in loads.items()] + [("store", forms) for forms in stores.items()]:
        name, forms = forms
        family = Family(f"memory_{kind}_{name}", f"{kind.capitalize()}s with hints to the caches: {name}.", tables)
        body = ["ld.param.u64 %pa, [a];", "ld.param.u64 %po, [out];"]
        for place, form in enumerate(forms):
            load, store = (form, "st.global") if kind == "load" else ("ld.global", form)
            body += [f"{load}.u32 %w, [%pa+{4 * place}];", f"{store}.u32 [%po+{4 * place}], %w;"]
        entry = f"{kind}_{name}"
        family.kernel(entry, POINTERS[:2], [".reg .b64 %pa, %po;", ".reg .u32 %w;"], body)
        args = [{"type": "u32", "zeros": len(forms)}, {"type": "u8", "table": "mixed"}]
        family.case(entry, entry, args, [expectation("u32", contents(tables, "u32", len(forms)))], block=1)
        yield family
    family = Family("memory_prefetch", "prefetch and prefetchu, which have no effect to see.", tables)
    body = [
        "ld.param.u64 %pa, [a];",
        "ld.param.u64 %po, [out];",
        "mov.u64 %s, own;",
        "mov.u32 %w, 7;",
        "st.local.u32 [%s], %w;",
    ]
    body += [
        "prefetch.global.L1 [%pa];",
        "prefetch.global.L2 [%pa+4];",
        "prefetch.L1 [%pa];",
        "prefetch.L2 [%pa];",
        "prefetch.local.L1 [%s];",
        "prefetch.local.L2 [%s];",
        "prefetchu.L1 [%pa];",
        "ld.local.u32 %w, [%s];",
        "ld.global.u32 %v, [%pa];",
        "add.u32 %w, %w, %v;",
        "st.global.u32 [%po], %w;",
    ]
    family.kernel(
        "prefetches",
        POINTERS[:2],
        [".reg .b64 %pa, %po, %s;", ".reg .u32 %w, %v;", ".local .align 4 .b8 own[4];"],
        body,
    )
    family.case(
        "prefetches",
        "prefetches",
        [{"type": "u32", "zeros": 1}, {"type": "u32", "data": [35]}],
        [expectation("u32", [42])],
        block=1,
    )
    yield family


def families(tables):
    return [
        plain(tables),
        *variants(tables),
        shared(tables),
        shared_qualified(tables),
        local(tables),
        generic(tables),
        constant(tables),
        parameters(tables),
        wide_registers(tables),
        *hints(tables),
    ]

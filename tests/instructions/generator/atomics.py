"""atom and red: every operation, type and space, alone and contended; orders and scopes."""

from . import exact
from .exact import F32, FORMATS, HALVES, number, width, wrap
from .floats import extremum
from .half import single, split
from .ptx import Family, element, guard, header, literals

COUNT = 32
EVERYONE = ".shared .align 8 .b8 everyone[512];"


def operations():
    """Every operation and type with its new content, from the old one and the operands."""
    for size in (32, 64):
        ty = f"b{size}"
        yield "and", ty, lambda old, b: old & b
        yield "or", ty, lambda old, b: old | b
        yield "xor", ty, lambda old, b: old ^ b
        yield "exch", ty, lambda old, b: b
        yield "cas", ty, lambda old, b, c: c if old == b else old
    yield "inc", "u32", lambda old, b: 0 if old >= b else old + 1
    yield "dec", "u32", lambda old, b: b if old == 0 or old > b else old - 1
    for ty in ("u32", "s32", "u64"):
        yield "add", ty, lambda old, b, ty=ty: wrap(old + b, ty)
    for ty, fmt in FORMATS.items():
        yield "add", ty, lambda old, b, fmt=fmt: exact.add(fmt, old, b)
    for ty in ("u32", "s32", "u64", "s64"):
        yield "min", ty, lambda old, b, ty=ty: min(old, b, key=lambda bits: number(bits, ty))
        yield "max", ty, lambda old, b, ty=ty: max(old, b, key=lambda bits: number(bits, ty))


def flushed(function):
    """Single-precision sums in global memory flush operands and results."""

    def reference(old, b):
        result = function(F32.flush(old), F32.flush(b))
        return result if F32.is_nan(result) else F32.flush(result)

    return reference


def cells(tables, ty, count):
    """Tables of the cells and of the operands."""
    if ty in FORMATS:
        names = [f"{ty}_a", f"{ty}_b"]
    else:
        # Pairs that are often equal or close, so that comparing operations go either way.
        names = [f"i{width(ty)}_x", f"i{width(ty)}_y", f"i{width(ty)}_c"]
    return names[:count], COUNT * 2 - 4 if ty in FORMATS else COUNT


PLACES = {
    "global": ["mov.u64 %x, %pa;"],
    "shared": ["mov.u64 %x, everyone;", "mad.wide.u32 %x, %t, {size}, %x;"],
    # Odd threads use shared memory, even ones global memory.
    "generic": [
        "and.b32 %u, %t, 1;",
        "setp.eq.u32 %odd, %u, 1;",
        "mov.u64 %x, everyone;",
        "mad.wide.u32 %x, %t, {size}, %x;",
        "cvta.shared.u64 %x, %x;",
        "selp.b64 %x, %x, %pa, %odd;",
    ],
}


def separate(family, tables, opcode, operation, ty, space, function):
    """A kernel in which each thread has a cell of its own."""
    operands = 2 if operation == "cas" else 1
    names, count = cells(tables, ty, 1 + operands)
    size = width(ty) // 8
    qualifier = "" if space == "generic" else f".{space}"
    params = [
        ".param .u64 a",
        ".param .u64 out",
        *(f".param .u64 {letter}" for letter in "bc"[:operands]),
        ".param .u32 n",
    ]
    body = guard() + element("a", "a", size) + element("out", "o", size)
    for letter in "bc"[:operands]:
        body += element(letter, letter, size) + [f"ld.global.{ty} %{letter}, [%p{letter}];"]
    body += [line.format(size=size) for line in PLACES[space]] + [
        f"ld.global.{ty} %v, [%pa];",
        f"st{qualifier}.{ty} [%x], %v;",
    ]
    sources = ", ".join(f"%{letter}" for letter in "bc"[:operands])
    if opcode == "atom":
        body += [f"atom{qualifier}.{operation}.{ty} %d, [%x], {sources};", f"st.global.{ty} [%po], %d;"]
    else:
        body += [f"red{qualifier}.{operation}.{ty} [%x], {sources};"]
    body += [f"ld{qualifier}.{ty} %v, [%x];", f"st.global.{ty} [%pa], %v;"]
    declared = [
        ".reg .pred %end, %odd;",
        ".reg .b32 %t, %n, %u;",
        ".reg .b64 %pa, %pb, %pc, %po, %x;",
        f".reg .{ty} %b, %c, %d, %v;",
        EVERYONE,
    ]
    entry = f"{opcode}_{space}_{operation}_{ty}"
    family.kernel(entry, params, declared, body)
    columns = [tables[name][1][:count] for name in names]
    after = []
    for thread, values in enumerate(zip(*columns)):
        in_global = space == "global" or (space == "generic" and thread % 2 == 0)
        after.append((flushed(function) if ty == "f32" and in_global and operation == "add" else function)(*values))
    # The cells' table may hold more elements than there are threads: those stay.
    expect = [{"arg": 0, "data": literals(ty, after)}]
    args = [{"type": ty, "table": names[0]}, {"type": ty, "zeros": count}]
    if opcode == "atom":
        expect.append({"arg": 1, "data": literals(ty, columns[0])} | ({"nan": "bits"} if ty in FORMATS else {}))
    args += [{"type": ty, "table": name} for name in names[1:]] + [{"type": "u32", "value": count}]
    family.case(entry, entry, args, expect)


def alone(tables, opcode, space):
    family = Family(
        f"{opcode}_{space}",
        f"{opcode} on {space} memory: a cell for each thread, what it held, and what it holds after.",
        tables,
    )
    for operation, ty, function in operations():
        if opcode == "atom" or operation not in ("exch", "cas"):
            separate(family, tables, opcode, operation, ty, space, function)
    return family


def contended(tables):
    family = Family(
        "red_contended", "red by many threads on one cell. The operations' results don't depend on the order.", tables
    )
    for operation, ty, function in operations():
        if operation in ("exch", "cas") or ty in FORMATS:
            continue
        for space in ("global", "shared"):
            # inc and dec only commute with equal operands.
            count_up = operation in ("inc", "dec")
            size = width(ty) // 8
            body = guard() + ["ld.param.u64 %pa, [a];"] + element("b", "b", size) + [f"ld.global.{ty} %b, [%pb];"]
            body += [f"mov.{ty} %b, 20;"] if count_up else []
            if space == "shared":
                # One thread writes for all of them.
                body += [
                    "setp.eq.u32 %end, %t, 0;",
                    f"@%end ld.global.{ty} %v, [%pa];",
                    f"@%end st.shared.{ty} [everyone], %v;",
                    "bar.sync 0;",
                    f"red.shared.{operation}.{ty} [everyone], %b;",
                    "bar.sync 0;",
                    f"@%end ld.shared.{ty} %v, [everyone];",
                    f"@%end st.global.{ty} [%pa], %v;",
                ]
            else:
                body += [f"red.global.{operation}.{ty} [%pa], %b;"]
            declared = [".reg .pred %end;", ".reg .b32 %t, %n;", ".reg .b64 %pa, %pb;", f".reg .{ty} %b, %v;", EVERYONE]
            entry = f"{space}_{operation}_{ty}"
            family.kernel(entry, [".param .u64 a", ".param .u64 b", ".param .u32 n"], declared, body)
            value = start = {"and": wrap(-1, ty), "min": 1000}.get(operation, 3)
            for operand in tables[f"i{width(ty)}_u"][1]:
                value = function(value, 20 if count_up else operand)
            count = len(tables[f"i{width(ty)}_u"][1])
            args = [
                {"type": ty, "data": literals(ty, [start])},
                {"type": ty, "table": f"i{width(ty)}_u"},
                {"type": "u32", "value": count},
            ]
            # Every thread takes part in the barriers, so that the block is as large as the table.
            family.case(entry, entry, args, [{"arg": 0, "data": literals(ty, [value])}], block=count)
    return family


def halves():
    """Sums of 16-bit floats, which keep subnormals everywhere, and compare-and-swap of 16 bits."""
    for ty in ("f16", "f16x2", "bf16", "bf16x2"):
        function = lambda old, b, fmt=HALVES[single(ty)]: exact.add(fmt, old, b)
        yield "add.noftz", ty, f"{ty}_a", f"{ty}_b", split(function) if ty.endswith("x2") else function
    yield "cas", "b16", "i16_x", "i16_y", lambda old, b, c: c if old == b else old


def packed(tables, opcode, space):
    """Each thread has a cell of its own; cells of 16 bits share words with their neighbours."""
    family = Family(
        f"{opcode}_half_{space}", f"{opcode} on 16-bit floats and their pairs, and 16 bits, in {space} memory.", tables
    )
    qualifier = "" if space == "generic" else f".{space}"
    count = 128
    for operation, ty, first, second, function in halves():
        if opcode == "red" and operation == "cas":
            continue
        bits = 32 if ty.endswith("x2") else 16
        size = bits // 8
        letters = "abc" if operation == "cas" else "ab"
        names = [first, second, "i16_c"][: len(letters)]
        entry = f"{opcode}_{operation}_{ty}".replace(".", "_")
        params = [".param .u64 cells", ".param .u64 out", *(f".param .u64 {letter}" for letter in letters[1:])]
        body = guard() + element("cells", "a", size) + element("out", "o", size)
        for letter in letters[1:]:
            body += element(letter, letter, size) + [f"ld.global.b{bits} %{letter}, [%p{letter}];"]
        body += [line.format(size=size) for line in PLACES[space]]
        sources = ", ".join(f"%{letter}" for letter in letters[1:])
        body += [f"ld.global.b{bits} %v, [%pa];", f"st{qualifier}.b{bits} [%x], %v;"]
        if opcode == "atom":
            body += [f"atom{qualifier}.{operation}.{ty} %d, [%x], {sources};", f"st.global.b{bits} [%po], %d;"]
        else:
            body += [f"red{qualifier}.{operation}.{ty} [%x], {sources};"]
        body += [f"ld{qualifier}.b{bits} %v, [%x];", f"st.global.b{bits} [%pa], %v;"]
        declared = [
            ".reg .pred %end, %odd;", ".reg .b32 %t, %n, %u;", ".reg .b64 %pa, %pb, %pc, %po, %x;",
            f".reg .b{bits} %b, %c, %d, %v;", EVERYONE,
        ]
        family.kernel(entry, [*params, ".param .u32 n"], declared, body)
        rows = min([count, *(len(tables[name][1]) for name in names)])
        columns = [tables[name][1][:rows] for name in names]
        after = [function(*values) for values in zip(*columns)]
        element_type = single(ty) if ty != "b16" else "u16"
        parts = lambda words: [half for word in words for half in ([word & 0xFFFF, word >> 16] if bits == 32 else [word])]
        shown = lambda words: [f"0x{half:04x}" for half in parts(words)]
        expect = [{"arg": 0, "type": element_type, "data": shown(after)}]
        if opcode == "atom":
            expect.append({"arg": 1, "type": element_type, "data": shown(columns[0])} | ({} if ty == "b16" else {"nan": "bits"}))
        args = [{"type": f"b{bits}", "table": first}, {"type": f"b{bits}", "zeros": rows}]
        args += [{"type": f"b{bits}", "table": name} for name in names[1:]] + [{"type": "u32", "value": rows}]
        family.case(entry, entry, args, expect, block=rows)
    return family


def vectors(tables, opcode, qualifier):
    """Vectors of floats in global memory: each thread has one of its own."""
    space = qualifier.strip(".") or "generic"
    family = Family(
        f"{opcode}_vector_{space}",
        f"{opcode} on vectors by {space} addresses: sums of f32, and sums, minima and maxima of 16-bit floats.",
        tables,
        header=header("8.1"),
    )
    forms = [("add", "f32", (2, 4))]
    forms += [(f"{operation}.noftz", ty, (2, 4, 8)) for operation in ("add", "min", "max") for ty in ("f16", "bf16")]
    forms += [(f"{operation}.noftz", ty, (2, 4)) for operation in ("add", "min", "max") for ty in ("f16x2", "bf16x2")]
    for operation, ty, lengths in forms:
        pair = ty.endswith("x2")
        bits = 32 if pair or ty == "f32" else 16
        fmt = F32 if ty == "f32" else HALVES[single(ty)]
        if operation.startswith("add"):
            function = flushed(lambda old, b: exact.add(F32, old, b)) if ty == "f32" else (
                lambda old, b, fmt=fmt: exact.add(fmt, old, b)
            )
            letters = "ab"
        else:
            function = extremum(fmt, operation.startswith("max"), False, False)
            letters = "xy"
        function = split(function) if pair else function
        names = [f"{ty}_{letter}" for letter in letters]
        for length in lengths:
            size = length * bits // 8
            threads = len(tables[names[0]][1]) // length
            count = threads * length
            entry = f"{opcode}_{operation}_v{length}_{ty}".replace(".", "_")
            registers = lambda letter: [f"%{letter}{index}" for index in range(length)]
            vector = lambda names: "{" + ", ".join(names) + "}"
            body = guard() + element("cells", "a", size) + element("b", "b", size) + element("out", "o", size)
            for index, register in enumerate(registers("b")):
                body.append(f"ld.global.b{bits} {register}, [%pb+{index * bits // 8}];")
            form = f"{opcode}{qualifier}.{operation}.v{length}.{ty}"
            if opcode == "atom":
                body.append(f"{form} {vector(registers('d'))}, [%pa], {vector(registers('b'))};")
                for index, register in enumerate(registers("d")):
                    body.append(f"st.global.b{bits} [%po+{index * bits // 8}], {register};")
            else:
                body.append(f"{form} [%pa], {vector(registers('b'))};")
            declared = [
                ".reg .pred %end;", ".reg .b32 %t, %n;", ".reg .b64 %pa, %pb, %po;", f".reg .b{bits} %b<8>, %d<8>;",
            ]
            params = [".param .u64 cells", ".param .u64 out", ".param .u64 b", ".param .u32 n"]
            family.kernel(entry, params, declared, body)
            old, operand = (tables[name][1][:count] for name in names)
            after = [function(*values) for values in zip(old, operand)]
            element_type = single(ty)
            digits = 8 if ty == "f32" else 4
            parts = lambda words: [half for word in words for half in ([word & 0xFFFF, word >> 16] if pair else [word])]
            shown = lambda words: [f"0x{part:0{digits}x}" for part in parts(words)]
            expect = [{"arg": 0, "type": element_type, "data": shown(after)}]
            if opcode == "atom":
                expect.append({"arg": 1, "type": element_type, "data": shown(old), "nan": "bits"})
            args = [{"type": f"b{bits}", "table": names[0]}, {"type": f"b{bits}", "zeros": count}]
            args += [{"type": f"b{bits}", "table": names[1]}, {"type": "u32", "value": threads}]
            family.case(entry, entry, args, expect, block=threads)
    return family


def hinted(tables):
    """atom and red with cache policies, which change no result; shared memory by its name in a cluster."""
    family = Family("atom_hints", "atom and red with cache policies, and on .shared::cluster.", tables, header=header("8.1"))
    forms = [
        ("add.L2::cache_hint.u32", 7), ("inc.L2::cache_hint.u32", 1000), ("max.L2::cache_hint.u32", 90),
        ("xor.L2::cache_hint.b32", 0xFF),
    ]
    steps = {"add": lambda old, b: old + b, "inc": lambda old, b: 0 if old >= b else old + 1, "max": max, "xor": lambda old, b: old ^ b}
    for opcode in ("atom", "red"):
        for space in ("global", "shared::cluster"):
            body = ["ld.param.u64 %po, [out];", "ld.param.u64 %x, [cell];"]
            if space != "global":
                body += ["mov.u64 %x, everyone;", "st.shared.u32 [%x], 100;"]
            body.append("createpolicy.fractional.L2::evict_last.b64 %p, 0.5;")
            value, expected = 100, []
            for place, (form, operand) in enumerate(forms):
                hint = space == "global"
                form = form if hint else form.replace(".L2::cache_hint", "")
                line = f"{opcode}.{space}.{form} " + ("%d, " if opcode == "atom" else "") + f"[%x], {operand}" + (", %p;" if hint else ";")
                after = steps[form.split(".")[0]](value, operand)
                body.append(line)
                if opcode == "red":
                    body.append(f"ld.{space}.u32 %d, [%x];")
                body.append(f"st.global.u32 [%po+{4 * place}], %d;")
                expected.append(value if opcode == "atom" else after)
                value = after
            if space == "global":
                more, policies = (["add.noftz.L2::cache_hint.f16x2", "add.L2::cache_hint.v2.f32", "add.noftz.L2::cache_hint.v2.f16", "max.noftz.L2::cache_hint.v2.bf16x2"], ", %p;")
                for form in more:
                    wide = ".v2." in form
                    narrow = "v2.f16" in form
                    operand = "{%h, %h}" if narrow else "{%z, %z}" if wide else "%z"
                    into = ("{%g, %h1}" if narrow else "{%d, %d1}" if wide else "%d") + ", " if opcode == "atom" else ""
                    body.append(f"{opcode}.{space}.{form} {into}[%x+8], {operand}{policies}")
            entry = f"{opcode}_{space.replace('::', '_')}"
            declared = [".reg .b64 %po, %x, %p;", ".reg .b32 %d, %d1, %z;", ".reg .b16 %h, %g, %h1;", EVERYONE]
            family.kernel(entry, [".param .u64 out", ".param .u64 cell"], declared, ["mov.b32 %z, 0;", "mov.b16 %h, 0;", *body])
            args = [{"type": "u32", "zeros": len(expected)}, {"type": "u32", "data": [100, 0, 0, 0]}]
            family.case(entry, entry, args, [{"arg": 0, "data": expected}], block=1)
    return family


# Blocks and threads of each that meet in a few cells.
CROWD = 32, 128


def crowded(tables):
    """Thousands of threads of many blocks on a few cells; sums are of small integers, exact in any order."""
    family = Family(
        "atom_crowded",
        "Many blocks on a few cells: sums, minima and maxima of 16-bit floats, compare-and-swap of 16 bits, vectors,\n"
        "and bytes and half-words that neighbours store.",
        tables,
        header=header("8.1"),
    )
    blocks, threads = CROWD
    total = blocks * threads
    start = [
        "ld.param.u64 %x, [cells];", "mov.u32 %t, %tid.x;", "mov.u32 %u, %ctaid.x;", f"mad.lo.u32 %u, %u, {threads}, %t;",
    ]
    declared = [
        ".reg .pred %again;", ".reg .b32 %t, %u, %v, %w;", ".reg .b64 %x, %y;", ".reg .b16 %h, %g, %f;",
        ".shared .align 8 .b8 everyone[512];",
    ]

    def put(name, lines, cell_type, cells, expected):
        family.kernel(name, [".param .u64 cells"], declared, start + lines)
        args = [{"type": cell_type, "data": cells}]
        family.case(name, name, args, [{"arg": 0, "data": expected}], block=threads, grid=blocks)

    def spread(cells, size):
        return [f"and.b32 %v, %u, {cells - 1};", f"mad.wide.u32 %x, %v, {size}, %x;"]

    number = lambda ty, value: f"0x{HALVES[ty].round(exact.Fraction(value)):04x}"
    # As many cells as keep every sum exact.
    for ty, cells in (("f16", 4), ("bf16", 32)):
        one, each = number(ty, 1), total // cells
        for opcode in ("atom", "red"):
            into = "%g, " if opcode == "atom" else ""
            lines = [*spread(cells, 2), f"mov.b16 %h, {one};", f"{opcode}.global.add.noftz.{ty} {into}[%x], %h;"]
            put(f"{opcode}_add_{ty}", lines, ty, [0] * cells, [each] * cells)
            into = "%w, " if opcode == "atom" else ""
            word = f"0x{int(number(ty, 2), 16) << 16 | int(one, 16):08x}"
            lines = [*spread(cells, 4), f"mov.b32 %v, {word};", f"{opcode}.add.noftz.{ty}x2 {into}[%x], %v;"]
            put(f"{opcode}_add_{ty}x2", lines, ty, [0] * cells * 2, [each, 2 * each] * cells)
        lines = [*spread(cells, 16), f"mov.b16 %h, {one};"]
        lines += [f"red.global.add.noftz.v8.{ty} [%x], " + "{" + ", ".join(["%h"] * 8) + "};"]
        put(f"red_add_v8_{ty}", lines, ty, [0] * cells * 8, [each] * cells * 8)
        # Every number from 0 to 255, on both sides of its neighbour.
        lines = ["and.b32 %v, %u, 255;", f"cvt.rn.f32.u32 %w, %v;", f"cvt.rn.{ty}.f32 %h, %w;"]
        for operation, first, last in (("min", 9000, 0), ("max", -9000, 255)):
            initial = number(ty, first)
            form = f"red.global.{operation}.noftz.v2.{ty} [%x], " + "{%h, %h};"
            put(f"red_{operation}_{ty}", [*lines, form], ty, [initial] * 3, [last, last, initial])
    lines = [*spread(4, 2), "ld.relaxed.gpu.global.u16 %h, [%x];"]
    swap = ["again:", "add.u16 %g, %h, 1;", "atom{}.cas.b16 %f, [%x], %h, %g;", "setp.ne.u16 %again, %f, %h;"]
    swap += ["mov.b16 %h, %f;", "@%again bra again;"]
    fill = lambda qualifier: [line.format(qualifier) if line.startswith("atom") else line for line in swap]
    put("cas_b16", lines + fill(".global"), "u16", [100, 200, 65535, 0], [100 + 1024, 200 + 1024, 1023, 1024])
    for shared_type, one in (("f16", 0x3C00), ("u16", 1)):
        # Each block counts in its own memory, then one thread of each adds what came out to everyone's.
        lines = [
            "mov.u64 %y, everyone;", "setp.lt.u32 %again, %t, 4;", "mov.b32 %v, 0;", "shl.b32 %w, %t, 2;",
            "cvt.u64.u32 %x, %w;", "add.u64 %x, %x, %y;", "@%again st.shared.b32 [%x], %v;", "bar.sync 0;",
            "and.b32 %v, %t, 7;", "mad.wide.u32 %x, %v, 2, %y;", f"mov.b16 %h, {one};",
        ]
        if shared_type == "f16":
            lines.append("red.shared.add.noftz.f16 [%x], %h;")
        else:
            lines += ["ld.volatile.shared.u16 %h, [%x];", *fill(".shared")]
        lines += [
            "bar.sync 0;", "setp.lt.u32 %again, %t, 4;", "mad.wide.u32 %x, %t, 4, %y;", "@!%again exit;",
            "ld.shared.b32 %v, [%x];", "ld.param.u64 %x, [cells];", "mad.wide.u32 %x, %t, 4, %x;",
            "mov.u32 %u, %ctaid.x;", "mad.wide.u32 %x, %u, 16, %x;", "st.global.b32 [%x], %v;",
        ]
        put(f"shared_{shared_type}", lines, shared_type, [0] * blocks * 8, [threads // 8] * blocks * 8)
    for ty, cells in (("f32", 2), ("f32", 4)):
        values = ", ".join(f"0f{0x3F800000 + (place << 23):08x}" for place in range(cells))
        lines = [*spread(2, 4 * cells), f"red.global.add.v{cells}.f32 [%x], {{{values}}};"]
        expected = [total // 2 << place for place in range(cells)] * 2
        put(f"red_add_v{cells}_f32", lines, "f32", [0] * cells * 2, expected)
    # Neighbours' stores of less than a word, straight and from wherever a generic address leads.
    for ty, size in (("u8", 1), ("u16", 2)):
        lines = [f"mad.wide.u32 %y, %u, {size}, %x;", "mul.lo.u32 %v, %u, 7;", f"st.{ty} [%y], %v;"]
        put(f"neighbours_{ty}", lines, ty, [0] * total, [place * 7 & (256**size - 1) for place in range(total)])
    return family


def orders(tables):
    """One thread applies every order and scope to one cell."""
    for name, spaces, scopes in (
        ("orders", ("global", "shared"), ("", ".cta", ".gpu", ".sys")),
        ("cluster", ("global", "shared::cta"), (".cluster",)),
    ):
        family = Family(f"atom_{name}", "atom and red in every order and scope.", tables)
        for space in spaces:
            for opcode, kinds in (
                ("atom", ("", ".relaxed", ".acquire", ".release", ".acq_rel")),
                ("red", ("", ".relaxed", ".release")),
            ):
                lines = [
                    "ld.param.u64 %po, [out];",
                    "mov.u64 %x, everyone;" if space != "global" else "ld.param.u64 %x, [a];",
                ]
                lines += ["mov.u32 %d, 100;", f"st.{space}.u32 [%x], %d;"]
                total, expected = 100, []
                for step, (order, scope) in enumerate((order, scope) for order in kinds for scope in scopes):
                    form = f"{opcode}{order}{scope}.{space}.add.u32"
                    lines.append(f"{form} %d, [%x], {step + 1};" if opcode == "atom" else f"{form} [%x], {step + 1};")
                    lines.append(f"ld.{space}.u32 %d, [%x];" if opcode == "red" else "")
                    lines.append(f"st.global.u32 [%po+{4 * step}], %d;")
                    expected.append(total if opcode == "atom" else total + step + 1)
                    total += step + 1
                entry = f"{opcode}_{space.replace('::', '_')}"
                family.kernel(
                    entry,
                    [".param .u64 out", ".param .u64 a"],
                    [".reg .b64 %po, %x;", ".reg .u32 %d;", EVERYONE],
                    [line for line in lines if line],
                )
                args = [{"type": "u32", "zeros": len(expected)}, {"type": "u32", "zeros": 1}]
                family.case(entry, entry, args, [{"arg": 0, "data": expected}], block=1)
        yield family


def families(tables):
    result = [alone(tables, opcode, space) for opcode in ("atom", "red") for space in ("global", "shared", "generic")]
    result += [packed(tables, opcode, space) for opcode in ("atom", "red") for space in ("global", "shared", "generic")]
    result += [vectors(tables, opcode, space) for opcode in ("atom", "red") for space in (".global", "")]
    return [*result, hinted(tables), contended(tables), crowded(tables), *orders(tables)]

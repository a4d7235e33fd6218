"""atom and red: every operation, type and space, alone and contended; orders and scopes."""

from . import exact
from .exact import F32, FORMATS, number, width, wrap
from .ptx import Family, element, guard, literals

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
    args = [{"type": ty, "file": f"data/{names[0]}.bin"}, {"type": ty, "zeros": count}]
    if opcode == "atom":
        expect.append({"arg": 1, "data": literals(ty, columns[0])} | ({"nan": "bits"} if ty in FORMATS else {}))
    args += [{"type": ty, "file": f"data/{name}.bin"} for name in names[1:]] + [{"type": "u32", "value": count}]
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
                {"type": ty, "file": f"data/i{width(ty)}_u.bin"},
                {"type": "u32", "value": count},
            ]
            # Every thread takes part in the barriers, so that the block is as large as the table.
            family.case(entry, entry, args, [{"arg": 0, "data": literals(ty, [value])}], block=count)
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
    return [*result, contended(tables), *orders(tables)]

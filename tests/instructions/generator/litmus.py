"""Litmus tests: short programs whose threads run side by side many times, and outcomes that PTX's memory model forbids.

To the memory model, an access to a vector is one to each element, in no order among them."""

from .exact import width
from .ptx import Family

TIMES = 200
LANES = 32
TRIALS = TIMES * LANES


def load(register, cell, order="relaxed"):
    return lambda scope: [f"ld.{order}.{scope}.global.u32 %{register}, [%{cell}];"]


def store(cell, value, order="relaxed"):
    return lambda scope: [f"st.{order}.{scope}.global.u32 [%{cell}], {value};"]


def fence(kind):
    return lambda scope: [f"fence.{kind}.{scope};"]


def both(first, second):
    """Leaves in %p whether r0 and r1 hold these."""
    return [f"setp.eq.u32 %p, %r0, {first};", f"setp.eq.and.u32 %p, %r1, {second}, %p;"]


# Each thread's program, and lines that leave in %p whether the outcome is forbidden.
TESTS = {
    "message_passing": (
        [[store("x", 1), store("y", 1, "release")], [load("r0", "y", "acquire"), load("r1", "x")]],
        both(1, 0),
    ),
    "message_passing_fences": (
        [[store("x", 1), fence("acq_rel"), store("y", 1)], [load("r0", "y"), fence("acq_rel"), load("r1", "x")]],
        both(1, 0),
    ),
    "store_buffering": (
        [[store("x", 1), fence("sc"), load("r0", "y")], [store("y", 1), fence("sc"), load("r1", "x")]],
        both(0, 0),
    ),
    "load_buffering": (
        [[load("r0", "x"), fence("acq_rel"), store("y", 1)], [load("r1", "y"), fence("acq_rel"), store("x", 1)]],
        both(1, 1),
    ),
    "independent_reads": (
        [
            [store("x", 1)],
            [store("y", 1)],
            [load("r0", "x"), fence("sc"), load("r1", "y")],
            [load("r2", "y"), fence("sc"), load("r3", "x")],
        ],
        [*both(1, 0), "setp.eq.and.u32 %p, %r2, 1, %p;", "setp.eq.and.u32 %p, %r3, 0, %p;"],
    ),
    "coherence": (
        [[store("x", 1), store("x", 2)], [load("r0", "x"), load("r1", "x")]],
        ["setp.gt.u32 %p, %r0, %r1;"],
    ),
}


def litmus(family, name, between):
    programs, forbidden = TESTS[name]
    scope = "gpu" if between else "cta"
    width = 4 * TRIALS
    # The thread's cell of the first time, in every array: x, y, and what was read.
    body = ["ld.param.u64 %po, [out];", "ld.param.u64 %m, [memory];", "mov.u32 %t, %tid.x;", "and.b32 %l, %t, 31;"]
    body += ["mov.u32 %k, %ctaid.x;"] if between else ["shr.u32 %k, %t, 5;"]
    body += ["mad.wide.u32 %x, %l, 4, %m;", "mov.u64 %first, %x;", "mov.u32 %i, 0;"]
    for role in range(1, len(programs)):
        body += [f"setp.eq.u32 %p, %k, {role};", f"@%p bra role{role};"]
    for role, program in enumerate(programs):
        body += [f"role{role}:", f"add.u64 %y, %x, {width};", f"add.u64 %z, %x, {2 * width};"]
        lines = [line for step in program for line in step(scope)]
        body += lines
        for register in range(4):
            if any(f"%r{register}," in line for line in lines):
                body.append(f"st.global.u32 [%z+{register * width}], %r{register};")
        body += [f"add.u64 %x, %x, {4 * LANES};", "add.u32 %i, %i, 1;", f"setp.lt.u32 %p, %i, {TIMES};", f"@%p bra role{role};"]
        body.append("bra done;")
    # The last of the threads that share cells looks at them.
    body += ["done:", f"mad.wide.u32 %y, %l, 4, %m;", f"add.u64 %y, %y, {6 * width};"]
    body += ["atom.acq_rel.gpu.global.add.u32 %k, [%y], 1;", f"setp.ne.u32 %p, %k, {len(programs) - 1};", "@%p bra end;"]
    body += [f"add.u64 %z, %first, {2 * width};", "mov.u32 %i, 0;", "mov.u32 %c, 0;", "look:"]
    for register in range(4):
        body.append(f"ld.global.u32 %r{register}, [%z+{register * width}];")
    body += [*forbidden, "@%p add.u32 %c, %c, 1;", f"add.u64 %z, %z, {4 * LANES};", "add.u32 %i, %i, 1;"]
    body += [f"setp.lt.u32 %p, %i, {TIMES};", "@%p bra look;", "red.global.add.u32 [%po], %c;", "red.global.add.u32 [%po+4], %i;"]
    body += ["end:"]
    registers = [".reg .b32 %t, %l, %k, %i, %c, %r<4>;", ".reg .b64 %po, %m, %x, %y, %z, %first;", ".reg .pred %p;"]
    entry = f"{name}_{'blocks' if between else 'block'}"
    family.kernel(entry, [".param .u64 out", ".param .u64 memory"], registers, body)
    args = [{"type": "u32", "zeros": 2}, {"type": "u32", "zeros": 6 * TRIALS + LANES}]
    roles = len(programs)
    shape = {"block": LANES, "grid": roles} if between else {"block": LANES * roles}
    family.case(entry, entry, args, [{"arg": 0, "data": [0, TRIALS]}], **shape)


VECTORS = ("v2.u32", "v4.u32", "v2.u64", "v4.u16", "v4.u8")


def vector_lines(form):
    """The registers of a form as an operand, and one by one."""
    names = [f"%{'w' if width(form[3:]) == 64 else 'h' if width(form[3:]) < 32 else 'r'}{index}" for index in range(int(form[1]))]
    return "{" + ", ".join(names) + "}", names


def roles(between):
    """Leaves the lane in %l, and in %p whether the thread is a reader."""
    role = ["mov.u32 %k, %ctaid.x;"] if between else ["shr.u32 %k, %t, 5;"]
    return ["ld.param.u64 %po, [out];", "mov.u32 %t, %tid.x;", "and.b32 %l, %t, 31;", *role, "setp.ne.u32 %p, %k, 0;"]


def coherent_vectors(family, form, order, between):
    """One thread stores 1, 2, 3 … in each element; another never sees an element fall, nor halves of two numbers."""
    ty, (operand, names) = form[3:], vector_lines(form)
    space, times = ("global" if between else "shared"), 100
    body = roles(between)
    if between:
        body += ["ld.param.u64 %m, [memory];", "mad.wide.u32 %x, %l, 16, %m;"]
    else:
        body += ["mov.u64 %m, cells;", "mad.wide.u32 %x, %l, 16, %m;", "@!%p st.shared.v2.u64 [%x], {0, 0};", "bar.sync 0;"]
    body += ["mov.u32 %i, 0;", "mov.u32 %c, 0;", "@%p bra readers;", "writers:", "add.u32 %i, %i, 1;"]
    value = {64: "mov.b64 {}, {{%i, %i}};", 32: "mov.u32 {}, %i;"}.get(width(ty), "cvt.u16.u32 {}, %i;")
    body += [value.format(name) for name in names]
    body += [f"st.{order}.{space}.{form} [%x], {operand};", f"setp.lt.u32 %p, %i, {times};", "@%p bra writers;", "bra done;"]
    body += ["readers:", *(f"mov.u32 %s{index}, 0;" for index in range(len(names))), "next:"]
    body += [f"ld.{order}.{space}.{form} {operand}, [%x];"]
    for index, name in enumerate(names):
        if width(ty) == 64:
            body += [f"mov.b64 {{%v, %u}}, {name};", "setp.ne.u32 %p, %v, %u;", "@%p add.u32 %c, %c, 1;"]
        else:
            body += [f"mov.u32 %v, {name};" if width(ty) == 32 else f"cvt.u32.u16 %v, {name};"]
        body += [f"setp.lt.u32 %p, %v, %s{index};", "@%p add.u32 %c, %c, 1;", f"mov.u32 %s{index}, %v;"]
    body += ["add.u32 %i, %i, 1;", f"setp.lt.u32 %p, %i, {times};", "@%p bra next;"]
    body += ["done:", "red.global.add.u32 [%po], %c;", "red.global.add.u32 [%po+4], %i;"]
    registers = [
        ".reg .b32 %t, %l, %k, %i, %c, %u, %v, %r<4>, %s<4>;", ".reg .b64 %po, %m, %x, %w<2>;", ".reg .b16 %h<4>;",
        ".reg .pred %p;", *([] if between else [".shared .align 16 .b8 cells[512];"]),
    ]  # fmt: skip
    entry = f"{order}_{space}_{form}".replace(".", "_")
    family.kernel(entry, [".param .u64 out", ".param .u64 memory"], registers, body)
    args = [{"type": "u32", "zeros": 2}, {"type": "u32", "zeros": 128}]
    shape = {"block": LANES, "grid": 2} if between else {"block": 2 * LANES}
    family.case(entry, entry, args, [{"arg": 0, "data": [0, 64 * times]}], **shape)


def vector_messages(family, form, between):
    """Message passing with a vector as the flag: each of its elements, seen set, says that the message is there."""
    ty, (operand, names) = form[3:], vector_lines(form)
    scope, times = ("gpu" if between else "cta"), 100
    body = [*roles(between), "ld.param.u64 %m, [memory];", "mad.wide.u32 %x, %l, 32, %m;", "mov.u32 %i, 0;", "mov.u32 %c, 0;"]
    body += [f"mov.u{width(ty)} {name}, 1;" for name in names]
    body += ["@%p bra readers;", "writers:", "st.global.u32 [%x+16], 1;", f"st.release.{scope}.global.{form} [%x], {operand};"]
    advance = [f"add.u64 %x, %x, {32 * LANES};", "add.u32 %i, %i, 1;", f"setp.lt.u32 %p, %i, {times};"]
    body += [*advance, "@%p bra writers;", "bra done;", "readers:", f"ld.acquire.{scope}.global.{form} {operand}, [%x];"]
    body += [f"or.b{width(ty)} {names[0]}, {names[0]}, {name};" for name in names[1:]]
    body += [f"setp.ne.u{width(ty)} %p, {names[0]}, 0;", "mov.u32 %v, 1;", "@%p ld.global.u32 %v, [%x+16];"]
    body += ["sub.u32 %v, 1, %v;", "add.u32 %c, %c, %v;", *advance, "@%p bra readers;"]
    body += ["done:", "red.global.add.u32 [%po], %c;", "red.global.add.u32 [%po+4], %i;"]
    registers = [".reg .b32 %t, %l, %k, %i, %c, %v, %r<4>;", ".reg .b64 %po, %m, %x, %w<2>;", ".reg .pred %p;"]
    entry = f"message_{scope}_{form}".replace(".", "_")
    family.kernel(entry, [".param .u64 out", ".param .u64 memory"], registers, body)
    args = [{"type": "u32", "zeros": 2}, {"type": "u32", "zeros": 8 * LANES * times}]
    shape = {"block": LANES, "grid": 2} if between else {"block": 2 * LANES}
    family.case(entry, entry, args, [{"arg": 0, "data": [0, 64 * times]}], **shape)


def vectors(tables):
    family = Family("litmus_vectors", "Litmus tests of strong accesses to vectors.", tables)
    for form in VECTORS:
        for order in ("relaxed.gpu", "volatile"):
            for between in (False, True):
                coherent_vectors(family, form, order, between)
    for form in ("v2.u64", "v4.u32"):
        for between in (False, True):
            vector_messages(family, form, between)
    return family


def families(tables):
    family = Family("litmus", "Litmus tests within a block and between blocks.", tables)
    for name in TESTS:
        for between in (False, True):
            litmus(family, name, between)
    return [family, vectors(tables)]

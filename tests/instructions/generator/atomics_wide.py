"""atom on 128 bits, and ld and st of 128 bits with an order: alone, contended, and from one thread to another."""

from .ptx import Family, header, literals

MASK = (1 << 128) - 1
COUNT = 32
# Where threads have their cells: how the address comes about, and what accesses name.
PLACES = {
    "global": ([], ".global"),
    "shared": (["mov.u64 %x, cells;", "mad.wide.u32 %x, %t, 16, %x;"], ".shared"),
    # Odd threads use shared memory, even ones global memory.
    "generic": (
        [
            "and.b32 %u, %t, 1;", "setp.eq.u32 %odd, %u, 1;", "mov.u64 %s, cells;", "mad.wide.u32 %s, %t, 16, %s;",
            "cvta.shared.u64 %s, %s;", "selp.b64 %x, %s, %x, %odd;",
        ],
        "",
    ),
}


def halves(values):
    """Both halves of each number, as they lie in memory."""
    return [half for value in values for half in (value & (1 << 64) - 1, value >> 64)]


def pattern(seed):
    """Numbers of 128 bits whose halves are sometimes equal to those of other seeds."""
    low = [(thread * 0x9E3779B97F4A7C15 + seed * (thread % 3)) & (1 << 64) - 1 for thread in range(COUNT)]
    high = [(thread * 0xD1B54A32D192ED03 + seed * (thread % 5 // 2)) & (1 << 64) - 1 for thread in range(COUNT)]
    return [h << 64 | l for l, h in zip(low, high)]


def alone(family, place):
    """A cell for each thread: what it held after each step, and what it holds in the end."""
    lines, space = PLACES[place]
    first, expected, new, last = pattern(1), pattern(2), pattern(3), pattern(4)
    operands = ["%f", "%e", "%w", "%l"]
    body = ["mov.u32 %t, %tid.x;"]
    for parameter, register in zip("abcd", operands):
        body += [
            f"ld.param.u64 %x, [{parameter}];", "mad.wide.u32 %x, %t, 16, %x;", f"ld.global.b128 {register}, [%x];",
        ]
    body += [
        "ld.param.u64 %po, [out];", "mad.wide.u32 %po, %t, 64, %po;",
        "ld.param.u64 %x, [a];", "mad.wide.u32 %x, %t, 16, %x;", *lines,
        f"st.relaxed.gpu{space}.b128 [%x], %f;",
        f"atom.acq_rel.gpu{space}.cas.b128 %v, [%x], %e, %w;", "st.global.b128 [%po], %v;",
        f"ld.acquire.gpu{space}.b128 %v, [%x];", "st.global.b128 [%po+16], %v;",
        f"atom{space}.exch.b128 %v, [%x], %l;", "st.global.b128 [%po+32], %v;",
        f"atom.relaxed.sys{space}.exch.b128 _, [%x], %f;",
        f"atom.cta{space}.cas.b128 _, [%x], %f, %l;",
        f"st.volatile{space}.b128 [%x], %l;" if place != "global" else f"st.release.sys{space}.b128 [%x], %l;",
        f"ld.volatile{space}.b128 %v, [%x];", "st.global.b128 [%po+48], %v;",
    ]
    declared = [
        ".reg .pred %odd;", ".reg .b32 %t, %u;", ".reg .b64 %po, %x, %s;", ".reg .b128 %f, %e, %w, %l, %v;",
        f".shared .align 16 .b8 cells[{16 * COUNT}];",
    ]
    swapped = [w if f == e else f for f, e, w in zip(first, expected, new)]
    assert 0 < sum(f == e for f, e in zip(first, expected)) < COUNT
    out = [value for steps in zip(first, swapped, swapped, last) for value in steps]
    name = f"alone_{place}"
    params = [f".param .u64 {letter}" for letter in ["a", "b", "c", "d", "out"]]
    family.kernel(name, params, declared, body)
    args = [{"type": "u64", "data": literals("u64", halves(values))} for values in (first, expected, new, last)]
    args.append({"type": "u64", "zeros": 8 * COUNT})
    family.case(name, name, args, [{"arg": 4, "data": literals("u64", halves(out))}], block=COUNT)


def contended(family, place):
    """All threads add to one number, by compare-and-swap until nobody came between."""
    space = "" if place == "generic" else f".{place}"
    step = (1 << 96) + (1 << 63) + 5
    start = 7 if place != "shared" else 0
    params = [".param .u64 sum"]
    body = ["mov.u32 %t, %tid.x;", "ld.param.u64 %x, [sum];"]
    if place == "shared":
        body = ["mov.u32 %t, %tid.x;", "mov.u64 %x, cell;", "mov.u64 %z, 0;", "mov.b128 %v, {%z, %z};"]
        body += ["setp.eq.u32 %p, %t, 0;", "@%p st.shared.b128 [%x], %v;", "bar.sync 0;"]
    body += [
        f"ld.relaxed.gpu{space}.b128 %v, [%x];",
        "again:",
        "mov.b128 {%l, %h}, %v;",
        f"add.cc.u64 %l, %l, {step & (1 << 64) - 1};", f"addc.u64 %h, %h, {step >> 64};",
        "mov.b128 %n, {%l, %h};",
        f"atom.acq_rel.gpu{space}.cas.b128 %w, [%x], %v, %n;",
        "mov.b128 {%l, %h}, %v;", "mov.b128 {%a, %b}, %w;", "mov.b128 %v, %w;",
        "setp.ne.u64 %p, %l, %a;", "setp.ne.or.u64 %p, %h, %b, %p;",
        "@%p bra again;",
    ]
    if place == "shared":
        body += [
            "bar.sync 0;", "setp.ne.u32 %p, %t, 0;", "@%p ret;", "ld.shared.b128 %v, [%x];",
            "ld.param.u64 %x, [sum];", "mov.u32 %t, %ctaid.x;", "mad.wide.u32 %x, %t, 16, %x;", "st.global.b128 [%x], %v;",
        ]
    declared = [
        ".reg .pred %p;", ".reg .b32 %t;", ".reg .b64 %x, %z, %l, %h, %a, %b;", ".reg .b128 %v, %w, %n;",
        ".shared .align 16 .b8 cell[16];",
    ]
    name = f"contended_{place}"
    family.kernel(name, params, declared, body)
    grid, block = 3, 40
    sums = [block * step] * grid if place == "shared" else [start + grid * block * step]
    given = [0] * grid if place == "shared" else [start]
    args = [{"type": "u64", "data": literals("u64", halves(given))}]
    expect = [{"arg": 0, "data": literals("u64", halves([value & MASK for value in sums]))}]
    family.case(name, name, args, expect, grid=grid, block=block)


def passed(family):
    """The second block waits until the first has stored a number that is right as a whole."""
    value = 0x0123456789ABCDEF_FEDCBA9876543210
    body = [
        "ld.param.u64 %x, [cell];", "mov.u32 %t, %ctaid.x;", "setp.ne.u32 %p, %t, 0;", "@%p bra wait;",
        f"mov.u64 %l, {value & (1 << 64) - 1};", f"mov.u64 %h, {value >> 64};", "mov.b128 %v, {%l, %h};",
        "st.release.gpu.global.b128 [%x], %v;", "ret;",
        "wait:",
        "ld.acquire.gpu.global.b128 %v, [%x];", "mov.b128 {%l, %h}, %v;",
        "or.b64 %a, %l, %h;", "setp.eq.u64 %p, %a, 0;", "@%p bra wait;",
        "st.global.b128 [%x+16], %v;",
    ]
    declared = [".reg .pred %p;", ".reg .b32 %t;", ".reg .b64 %x, %l, %h, %a;", ".reg .b128 %v;"]
    family.kernel("passed", [".param .u64 cell"], declared, body)
    args = [{"type": "u64", "zeros": 4}]
    family.case("passed", "passed", args, [{"arg": 0, "data": literals("u64", halves([value, value]))}], grid=2, block=1)


def families(tables):
    family = Family("atomics_b128", "atom, ld and st that access 128 bits as one.", tables, header=header("8.4"))
    for place in PLACES:
        alone(family, place)
    for place in PLACES:
        contended(family, place)
    yield family


def between_blocks(tables):
    family = Family("atomics_b128_passed", "128 bits from one block to another.", tables, header=header("8.4"))
    passed(family)
    yield family

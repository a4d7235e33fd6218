"""Control flow nested deeper than some drivers take: conditions in conditions with a loop half-way and another inside of all, and
chains of conditions, each in the other arm of the one before."""

from .exact import wrap
from .ptx import Family

DEPTHS = (70, 100, 200)
THREADS = 64
ROUNDS = 3


def start():
    return [
        "ld.param.u64 %po, [out];",
        "ld.param.u64 %pi, [in];",
        "mov.u32 %t, %tid.x;",
        "mad.wide.u32 %po, %t, 4, %po;",
        "mad.wide.u32 %pi, %t, 4, %pi;",
        "ld.global.u32 %x, [%pi];",
        "mov.u32 %acc, %t;",
    ]


DECLARED = [".reg .pred %p, %q<256>;", ".reg .b32 %t, %x, %acc, %v, %round, %count;", ".reg .b64 %po, %pi;"]


def conditions(depth):
    """Each level is left early where the operand is small; what a level's condition was is used behind the levels inside."""
    body = start()
    for level in range(depth):
        if level == depth // 2:
            body += ["mov.u32 %round, 0;", "again:"]
        body += [
            f"mad.lo.u32 %acc, %acc, 5, {level};",
            f"setp.le.u32 %q{level}, %x, {level};",
            f"@%q{level} bra behind_{level};",
        ]
    body += ["mov.u32 %count, 0;", "counting:", "mad.lo.u32 %acc, %acc, 3, %count;", "add.u32 %count, %count, 1;"]
    body += ["and.b32 %v, %x, 7;", "setp.lt.u32 %p, %count, %v;", "@%p bra counting;"]
    for level in reversed(range(depth)):
        body += [
            f"behind_{level}:",
            "shr.u32 %v, %acc, 3;",
            "xor.b32 %acc, %acc, %v;",
            f"selp.u32 %v, {level}, 1, %q{level};",
            "add.u32 %acc, %acc, %v;",
        ]
        if level == depth // 2:
            body += ["add.u32 %round, %round, 1;", f"setp.lt.u32 %p, %round, {ROUNDS};", "@%p bra again;"]
    return body + ["st.global.u32 [%po], %acc;"]


def conditions_result(depth, thread, operand):
    def inside(level, acc):
        if level == depth:
            count = 0
            while True:
                acc = wrap(acc * 3 + count, "u32")
                count += 1
                if count >= operand & 7:
                    return acc
        for _ in range(ROUNDS if level == depth // 2 else 1):
            acc = wrap(acc * 5 + level, "u32")
            if operand > level:
                acc = inside(level + 1, acc)
            acc = wrap((acc ^ acc >> 3) + (level if operand <= level else 1), "u32")
        return acc

    return inside(0, thread)


def chain(depth):
    """The operand chooses one of many arms; arms of odd numbers read what the condition before has computed."""
    body = start()
    for level in range(depth):
        body += [
            f"mad.lo.u32 %v, %acc, 7, {level};",
            f"setp.ne.u32 %p, %x, {level};",
            f"@%p bra next_{level};",
            f"add.u32 %acc, %acc, {level * level};" if level % 2 == 0 else "xor.b32 %acc, %v, %acc;",
            "bra end;",
            f"next_{level}:",
        ]
    return body + ["mov.u32 %acc, 77;", "end:", "st.global.u32 [%po], %acc;"]


def chain_result(depth, thread, operand):
    if operand >= depth:
        return 77
    return wrap(thread + operand * operand if operand % 2 == 0 else (thread * 7 + operand) ^ thread, "u32")


def operands(depth):
    return [thread * (depth + 8) // (THREADS - 1) for thread in range(THREADS)]


def families(tables):
    family = Family("nesting", __doc__, tables)
    for depth in DEPTHS:
        for shape, body, result in (
            ("conditions", conditions, conditions_result),
            ("chain", chain, chain_result),
        ):
            name = f"{shape}_{depth}"
            family.kernel(name, [".param .u64 out", ".param .u64 in"], DECLARED, body(depth))
            given = operands(depth)
            expected = [result(depth, thread, operand) for thread, operand in enumerate(given)]
            args = [{"type": "u32", "zeros": THREADS}, {"type": "u32", "data": given}]
            family.case(name, name, args, [{"arg": 0, "data": expected}], block=THREADS)
    yield family

"""Barriers with numbers, counts and reductions. Results are what the manual says of each kernel, thread by thread."""

from .ptx import Family

OUT = [".param .u64 out"]
REGISTERS = [".reg .b32 %t, %w, %v, %u, %i, %n, %k, %c;", ".reg .b64 %po, %x, %y;", ".reg .pred %p, %q, %r, %s;"]
# The thread's number, its warp's number, and the address of its first result; `width` results a thread.
START = lambda width: [
    "ld.param.u64 %po, [out];",
    "mov.u32 %t, %tid.x;",
    "shr.u32 %w, %t, 5;",
    f"mad.wide.u32 %po, %t, {4 * width}, %po;",
]
SHARED = ".shared .align 4 .b8 everyone[512];"
# The address of the thread's word in shared memory in %x, and of another thread's in %y.
OWN = ["mov.u64 %x, everyone;", "mad.wide.u32 %x, %t, 4, %x;"]


def other(expression):
    """Leaves in %y the address of the word of the thread whose number the lines of `expression` leave in %u."""
    return [*expression, "mov.u64 %y, everyone;", "mad.wide.u32 %y, %u, 4, %y;"]


def launch(family, name, declared, body, block, values, width=1):
    """A kernel and its case; `values` gives a thread's results, or nothing for one that has none."""
    if not any(case["entry"] == name for case in family.cases):
        family.kernel(name, OUT, REGISTERS + declared, START(width) + body)
    expected = []
    for thread in range(block):
        expected += values(thread) or [0] * width
    title = name if all(case["name"] != name for case in family.cases) else f"{name}/{block}"
    args = [{"type": "u32", "zeros": block * width}]
    family.case(title, name, args, [{"arg": 0, "data": expected}], block=block)


PREDICATES = [
    ("rem.u32 %u, %t, 3; setp.eq.u32 %p, %u, 0;", lambda t: t % 3 == 0),
    ("setp.lt.u32 %p, %t, 2000;", lambda t: True),
    ("setp.ge.u32 %p, %t, 2000;", lambda t: False),
    ("setp.eq.u32 %p, %t, 33;", lambda t: t == 33),
    ("setp.ne.u32 %p, %t, 33;", lambda t: t != 33),
]
REDUCTIONS = [
    ("popc", "u32", sum),
    ("and", "pred", all),
    ("or", "pred", any),
]


def reductions(tables):
    """Every form of `red`, one right after the other."""
    family = Family("barriers_red", "Barriers that reduce predicates.", tables)
    for opcode in ("bar", "bar.cta", "barrier", "barrier.cta"):
        aligned = ("",) if opcode.startswith("bar.") or opcode == "bar" else ("", ".aligned")
        for suffix in aligned:
            for counted in (False, True):
                body, functions = [], []
                for word, ty, reduce in REDUCTIONS:
                    for index, (lines, predicate) in enumerate(PREDICATES):
                        negated = index % 2
                        count = " 96," if counted else ""
                        target = "%v" if word == "popc" else "%q"
                        source = "!%p" if negated else "%p"
                        body += [lines, f"{opcode}.red.{word}{suffix}.{ty} {target}, {index},{count} {source};"]
                        body += [] if word == "popc" else ["selp.u32 %v, 1, 0, %q;"]
                        body.append(f"st.global.u32 [%po+{4 * len(functions)}], %v;")
                        functions.append((reduce, predicate, negated))
                name = f"{opcode}{suffix}".replace(".", "_") + ("_counted" if counted else "")
                width = len(functions)

                def values(block):
                    row = [int(f([p(t) != bool(n) for t in range(block)])) for f, p, n in functions]
                    return lambda thread: row

                for block in (96,) if counted else (96, 80, 1):
                    launch(family, name, [], body, block, values(block), width)
    return family


def loops(tables):
    """Reductions that decide how a loop goes on."""
    family = Family("barriers_vote", "Loops that end by a barrier's reduction.", tables)
    # Each round the highest number is taken away from those that are left: rounds as many as the threads.
    body = ["mov.u32 %i, 0;", "again:", "add.u32 %i, %i, 1;", "setp.lt.u32 %p, %i, %t;"]
    body += ["bar.red.or.pred %q, 0, %p;", "@%q bra again;", "st.global.u32 [%po], %i;"]
    for block in (64, 70):
        launch(family, "until_none", [], body, block, lambda t, block=block: [block - 1])
    # The same where half of the threads have left, and a barrier follows in divergent code.
    body = ["setp.ge.u32 %s, %t, 40;", "@%s exit;", *body]
    body += ["barrier.red.popc.u32 %v, 1, !%s;", "add.u32 %v, %v, %i;"]
    body += ["st.global.u32 [%po], %v;"]
    launch(family, "some_left", [], body, 64, lambda t: [39 + 40] if t < 40 else None)
    return family


def named(tables):
    """Barriers that a part of the block's threads use."""
    family = Family("barriers_named", "Barriers with numbers and counts, for a part of the block.", tables, SHARED + "\n")
    # Pairs of warps, each at its own barrier; number and count from registers. Values go round in each pair.
    pair = ["xor.b32 %u, %t, 32;"]
    body = OWN + other(pair) + ["shr.u32 %n, %w, 1;", "add.u32 %n, %n, 3;", "mov.u32 %c, 64;", "mov.u32 %v, %t;"]
    body += ["mov.u32 %k, 0;", "shl.b32 %i, %n, 1;"]
    body += ["again:", "st.shared.u32 [%x], %v;", "barrier.sync %n, %c;", "ld.shared.u32 %v, [%y];"]
    body += ["add.u32 %v, %v, 100;", "barrier.sync %n, %c;", "add.u32 %k, %k, 1;", "setp.lt.u32 %p, %k, %i;"]
    body += ["@%p bra again;", "st.global.u32 [%po], %v;"]

    def pairs(thread):
        rounds = 2 * (thread // 64 + 3)
        return [thread + 100 * rounds]  # an even number of rounds leads back to the thread itself

    launch(family, "pairs", [], body, 128, pairs)
    launch(family, "pairs", [], body, 64, pairs)

    # Every warp for itself, also the last one, which lacks threads.
    body = OWN + other(["xor.b32 %u, %t, 7;"]) + ["st.shared.u32 [%x], %t;", "barrier.sync %w, 32;"]
    body += ["ld.shared.u32 %v, [%y];", "st.global.u32 [%po], %v;"]
    launch(family, "each_warp", [], body, 96, lambda t: [t ^ 7])
    launch(family, "each_warp", [], body, 72, lambda t: [t ^ 7])

    # A warp that lacks threads, or has lost some, counts in full.
    body = ["setp.ge.u32 %p, %t, 40;", "@%p exit;"] + OWN + other(["xor.b32 %u, %t, 7;"])
    body += ["st.shared.u32 [%x], %t;", "barrier.sync 5, 64;", "ld.shared.u32 %v, [%y];"]
    body += ["setp.gt.u32 %q, %v, 19;", "barrier.red.popc.u32 %i, 6, 64, %q;", "add.u32 %v, %v, 1000;"]
    body += ["mad.lo.u32 %v, %i, 10000, %v;", "st.global.u32 [%po], %v;"]
    for block in (40, 64):
        launch(family, "lost_some", [], body, block, lambda t: [(t ^ 7) + 1000 + 200000] if t < 40 else None)

    # One half of the block at one barrier, the other at another, and all at a third.
    body = OWN + ["st.shared.u32 [%x], %t;", "setp.lt.u32 %p, %t, 64;", "mov.u32 %n, 0;"]
    body += ["rem.u32 %u, %t, 5;", "setp.eq.u32 %q, %u, 0;", "@%p bra low;"]
    body += ["barrier.red.popc.u32 %n, 1, 64, %q;", "barrier.sync 2;", "bra.uni done;"]
    body += ["low:", "barrier.red.or.pred %r, 15, 64, !%q;", "selp.u32 %n, 500, 400, %r;", "barrier.sync 2;", "done:"]
    body += other(["mov.u32 %u, 127;", "sub.u32 %u, %u, %t;"]) + ["ld.shared.u32 %v, [%y];"]
    body += ["mad.lo.u32 %v, %n, 1000, %v;", "st.global.u32 [%po], %v;"]
    high = sum(1 for t in range(64, 128) if t % 5 == 0)
    launch(family, "halves", [], body, 128, lambda t: [(500 if t < 64 else high) * 1000 + 127 - t])
    return family


def producers(tables):
    """Threads that arrive without waiting."""
    family = Family("barriers_arrive", "Producers and consumers.", tables, SHARED + "\n")
    for opcode, suffix in (("bar", ""), ("bar.cta", ""), ("barrier", ""), ("barrier", ".aligned"), ("barrier.cta", "")):
        for registers in (False, True):
            full, empty, count = ("%n", "%k", "%c") if registers else ("1", "2", "128")
            arrive = f"{opcode}.arrive{suffix}"
            sync = f"{opcode}.sync{suffix}"
            body = ["mov.u32 %n, 1;", "mov.u32 %k, 2;", "mov.u32 %c, 128;", "mov.u32 %i, 0;", "mov.u32 %v, 0;"]
            body += other(["and.b32 %u, %t, 63;"]) + ["setp.ge.u32 %p, %t, 64;", "@%p bra consume;"]
            body += ["produce:", "setp.eq.u32 %q, %i, 0;", "@%q bra fill;", f"{sync} {empty}, {count};", "fill:"]
            body += ["mad.lo.u32 %u, %i, 1000, %t;", "st.shared.u32 [%y], %u;", f"{arrive} {full}, {count};"]
            body += ["add.u32 %i, %i, 1;", "setp.lt.u32 %q, %i, 5;", "@%q bra produce;", "bra.uni done;"]
            body += ["consume:", f"{sync} {full}, {count};", "ld.shared.u32 %u, [%y];", "add.u32 %v, %v, %u;"]
            body += ["add.u32 %i, %i, 1;", "setp.eq.u32 %q, %i, 5;", "@%q bra done;", f"{arrive} {empty}, {count};"]
            body += ["bra.uni consume;", "done:", "st.global.u32 [%po], %v;"]
            name = f"{opcode}{suffix}".replace(".", "_") + ("_registers" if registers else "")
            launch(family, name, [], body, 128, lambda t: [10000 + 5 * (t - 64)] if t >= 64 else None)
    return family


def divergent(tables):
    """Barriers that threads of a warp reach by different ways."""
    family = Family("barriers_divergent", "Barriers in divergent code.", tables, SHARED + "\n")
    # Two barrier instructions for one barrier.
    body = OWN + other(["xor.b32 %u, %t, 1;"]) + ["and.b32 %i, %t, 1;", "setp.eq.u32 %p, %i, 0;", "@%p bra even;"]
    body += ["add.u32 %v, %t, 100;", "st.shared.u32 [%x], %v;", "barrier.sync 4;", "bra.uni done;"]
    body += ["even:", "add.u32 %v, %t, 200;", "st.shared.u32 [%x], %v;", "barrier.sync 4;", "done:"]
    body += ["ld.shared.u32 %v, [%y];", "st.global.u32 [%po], %v;"]
    launch(family, "two_ways", [], body, 64, lambda t: [(t ^ 1) + (200 if t % 2 else 100)])
    # Threads leave one after the other, the others count who is left.
    body = ["mov.u32 %i, 0;", "mov.u32 %v, 0;", "setp.eq.u32 %q, 0, 0;", "again:", "setp.ge.u32 %p, %i, %t;"]
    body += ["@%p bra done;", "barrier.red.popc.u32 %u, 7, %q;", "add.u32 %v, %v, %u;", "add.u32 %i, %i, 1;"]
    body += ["bra.uni again;", "done:", "st.global.u32 [%po], %v;"]
    # In round i those above i are there.
    launch(family, "leaving", [], body, 48, lambda t: [sum(47 - i for i in range(t))])
    # A barrier under a guard that is the same for whole warps.
    body = OWN + other(["xor.b32 %u, %t, 9;"]) + ["setp.lt.u32 %p, %t, 64;", "mov.u32 %v, 0;", "st.shared.u32 [%x], %t;"]
    body += ["@%p bar.sync 3, 64;", "@%p ld.shared.u32 %v, [%y];", "@!%p bar.arrive 8, 96;", "@%p bar.sync 8, 96;"]
    body += ["mov.u64 %y, everyone;", "@%p ld.shared.u32 %u, [%y+256];", "@%p mad.lo.u32 %v, %u, 100, %v;"]
    body += ["st.global.u32 [%po], %v;"]
    launch(family, "guarded", [], body, 96, lambda t: [(t ^ 9) + 6400] if t < 64 else [0])
    return family


def dynamic(tables):
    """Barriers in divergent code beside shared memory whose size the launch says."""
    family = Family("barriers_dynamic", "Barriers and dynamic shared memory.", tables, ".extern .shared .align 16 .b8 dynamic[];\n")
    body = ["mov.u64 %x, dynamic;", "mad.wide.u32 %x, %t, 4, %x;", "st.shared.u32 [%x], %t;", "xor.b32 %u, %t, 63;"]
    body += ["mov.u64 %y, dynamic;", "mad.wide.u32 %y, %u, 4, %y;", "and.b32 %i, %t, 1;", "setp.eq.u32 %p, %i, 0;"]
    for name, barrier in (("plain", "barrier.sync 0"), ("named", "barrier.sync 4, 64")):
        wait = [f"@%p bra even{name};", f"{barrier};", f"bra.uni done{name};", f"even{name}:", f"{barrier};", f"done{name}:"]
        lines = [*body, *wait, "ld.shared.u32 %v, [%y];", "mov.u32 %k, %dynamic_smem_size;", "add.u32 %v, %v, %k;"]
        family.kernel(name, OUT, REGISTERS, START(1) + lines + ["st.global.u32 [%po], %v;"])
        expected = [(t ^ 63) + 256 for t in range(64)]
        args = [{"type": "u32", "zeros": 64}]
        family.case(name, name, args, [{"arg": 0, "data": expected}], dynamic_shared_bytes=256)
    # Reductions that all threads reach together.
    lines = [*body, "setp.lt.u32 %q, %t, 10;", "bar.red.popc.u32 %n, 0, %q;", "ld.shared.u32 %v, [%y];"]
    lines += ["bar.red.or.pred %r, 0, %q;", "@%r add.u32 %v, %v, 1000;", "mad.lo.u32 %v, %n, 10000, %v;"]
    family.kernel("reduces", OUT, REGISTERS, START(1) + lines + ["st.global.u32 [%po], %v;"])
    expected = [(t ^ 63) + 101000 for t in range(64)]
    args = [{"type": "u32", "zeros": 64}]
    family.case("reduces", "reduces", args, [{"arg": 0, "data": expected}], dynamic_shared_bytes=256)
    return family


def families(tables):
    return [dynamic(tables), reductions(tables), loops(tables), named(tables), producers(tables), divergent(tables)]

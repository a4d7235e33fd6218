"""Threads that wait for each other through memory: locks, flags, queues, scans across blocks."""

from .ptx import Family

REGISTERS = [".reg .b32 %t, %v, %u, %i, %n, %k, %b, %c;", ".reg .b64 %po, %pl, %x, %y, %z;", ".reg .pred %p, %q, %r;"]
START = ["ld.param.u64 %po, [out];", "ld.param.u64 %pl, [lock];", "mov.u32 %t, %tid.x;", "mov.u32 %n, %ntid.x;", "mov.u32 %b, %ctaid.x;"]
PARAMS = [".param .u64 out", ".param .u64 lock"]


def launch(family, name, body, block, grid, expected, locks=1, declared=()):
    if (grid > 1) != family.between:
        return
    if not any(case["entry"] == name for case in family.cases):
        family.kernel(name, PARAMS, [*REGISTERS, *declared], START + body)
    args = [{"type": "u32", "zeros": len(expected)}, {"type": "u32", "zeros": locks}]
    title = f"{name}/{block}x{grid}"
    family.case(title, name, args, [{"arg": 0, "data": expected}], block=block, grid=grid)


# Adds one to a word without an atomic; only a lock makes that right.
COUNT = ["ld.global.u32 %v, [%po];", "add.u32 %v, %v, 1;", "st.global.u32 [%po], %v;"]


def family_of(name, purpose, tables, between, directives=""):
    """Cases of one block, or those of several, which a device may leave to wait for each other without end."""
    family = Family(f"{name}_between" if between else name, purpose, tables, directives)
    family.between = between
    return family


def locks(tables, between):
    family = family_of("spin_locks", "Spin locks that every thread takes, or one thread for its block.", tables, between)
    shapes = ((64, 1), (33, 3), (1, 8))
    # The critical section lies after the loop that waits: threads of a warp must not wait for it together.
    releases = (
        ("exchange", "atom.acquire.gpu.global.exch.b32 %u, [%pl], 1;", "atom.release.gpu.global.exch.b32 %u, [%pl], 0;"),
        ("compare", "atom.acquire.gpu.global.cas.b32 %u, [%pl], 0, 1;", "st.release.gpu.global.u32 [%pl], 0;"),
        ("fences", "atom.global.cas.b32 %u, [%pl], 0, 1;", "membar.gl; st.volatile.global.u32 [%pl], 0;"),
    )
    for name, take, release in releases:
        fence = ["membar.gl;"] if name == "fences" else []
        body = ["wait:", take, "setp.ne.u32 %p, %u, 0;", "@%p bra wait;", *fence, *COUNT, release]
        for block, grid in shapes:
            launch(family, name, body, block, grid, [block * grid])
    # The same several times, and while other threads wait at a barrier.
    _, take, release = releases[1]
    body = ["mov.u32 %i, 0;", "again:", "wait:", take, "setp.ne.u32 %p, %u, 0;", "@%p bra wait;", *COUNT, release]
    body += ["add.u32 %i, %i, 1;", "setp.lt.u32 %p, %i, 3;", "@%p bra again;"]
    for block, grid in shapes:
        launch(family, "several", body, block, grid, [3 * block * grid])
    body = ["and.b32 %u, %t, 1;", "setp.ne.u32 %q, %u, 0;", "@%q bra meet;", *body, "meet:", "barrier.sync 0;"]
    body += ["setp.eq.u32 %q, %b, 0;", "@!%q bra done;", "mad.wide.u32 %po, %t, 4, %po;", "st.global.u32 [%po+4], %t;", "done:"]
    launch(family, "beside_barrier", body, 64, 1, [3 * 32, *range(64)])
    # A flag instead of a jump, as compilers write it.
    body = ["setp.ne.u32 %r, 0, 0;", "again:", take, "setp.eq.u32 %p, %u, 0;", "@!%p bra next;", *COUNT, release]
    body += ["setp.eq.u32 %r, 0, 0;", "next:", "@!%r bra again;"]
    for block, grid in shapes:
        launch(family, "flagged", body, block, grid, [block * grid])
    # One thread takes the lock for its block, whose threads all count.
    body = ["setp.ne.u32 %q, %t, 0;", "mad.wide.u32 %po, %t, 4, %po;", "@%q bra taken;", "wait:", take]
    body += ["setp.ne.u32 %p, %u, 0;", "@%p bra wait;", "taken:", "bar.sync 0;", "membar.gl;", *COUNT, "membar.gl;", "bar.sync 0;"]
    body += [f"@!%q {release}"]
    for block, grid in shapes:
        launch(family, "for_block", body, block, grid, [grid] * block)
    return family


def flags(tables):
    shared = ".shared .align 4 .b8 flags[512];\n"
    family = family_of("spin_flags", "Threads that wait for what others of their block write.", tables, False, shared)
    # Each thread waits for the one above it, the last for none.
    for name, load, store in (
        ("volatile", "ld.volatile.shared.u32", "membar.cta; st.volatile.shared.u32"),
        ("acquire", "ld.acquire.cta.shared.u32", "st.release.cta.shared.u32"),
        ("atomic", "atom.acquire.cta.shared.add.u32", "red.release.cta.shared.add.u32"),
    ):
        operand = ", 0" if name == "atomic" else ""
        fence = ["membar.cta;"] if name == "volatile" else []
        body = ["mov.u64 %x, flags;", "mad.wide.u32 %x, %t, 4, %x;", "st.shared.u32 [%x], 0;", "bar.sync 0;"]
        body += ["add.u32 %i, %t, 1;", "mov.u32 %u, 1000;", "setp.eq.u32 %q, %i, %n;", "@%q bra last;"]
        body += ["wait:", f"{load} %u, [%x+4]{operand};", "setp.eq.u32 %p, %u, 0;", "@%p bra wait;", *fence, "last:"]
        body += ["add.u32 %u, %u, 1;", f"{store} [%x], %u;", "mad.wide.u32 %po, %t, 4, %po;", "st.global.u32 [%po], %u;"]
        for block in (64, 40):
            launch(family, name, body, block, 1, [1000 + block - t for t in range(block)])
    # A queue of eight places: half of the threads put four numbers in, half take four out.
    take = lambda counter: [f"atom.shared.add.u32 %k, [flags+{counter}], 1;", "and.b32 %c, %k, 7;", "mov.u64 %x, flags;", "mad.wide.u32 %x, %c, 8, %x;"]
    body = ["setp.lt.u32 %p, %t, 8;", "mov.u64 %x, flags;", "mad.wide.u32 %x, %t, 8, %x;", "@%p st.shared.u32 [%x], %t;"]
    body += ["@%p st.shared.u32 [%x+64], 0;", "@%p st.shared.u32 [%x+68], 0;", "bar.sync 0;", "mov.u32 %i, 0;", "mov.u32 %n, 0;", "and.b32 %u, %t, 1;"]
    body += ["setp.ne.u32 %q, %u, 0;", "@%q bra take;"]
    body += ["put:", *take(64), "free:", "ld.acquire.cta.shared.u32 %u, [%x];", "setp.ne.u32 %p, %u, %k;", "@%p bra free;"]
    body += ["mad.lo.u32 %v, %t, 4, %i;", "st.shared.u32 [%x+4], %v;", "add.u32 %u, %k, 1;", "st.release.cta.shared.u32 [%x], %u;"]
    body += ["add.u32 %i, %i, 1;", "setp.lt.u32 %p, %i, 4;", "@%p bra put;", "bra done;"]
    body += ["take:", *take(68), "add.u32 %b, %k, 1;", "full:", "ld.acquire.cta.shared.u32 %u, [%x];", "setp.ne.u32 %p, %u, %b;"]
    body += ["@%p bra full;", "ld.shared.u32 %v, [%x+4];", "add.u32 %u, %k, 8;", "st.release.cta.shared.u32 [%x], %u;"]
    body += ["mad.wide.u32 %y, %v, 4, %po;", "red.global.add.u32 [%y], 1;", "add.u32 %i, %i, 1;", "setp.lt.u32 %p, %i, 4;"]
    body += ["@%p bra take;", "done:"]
    expected = [1 if (number // 4) % 2 == 0 else 0 for number in range(256)]
    launch(family, "queue", body, 64, 1, expected)
    return family


def scan(tables, between):
    """Each block waits for the sum of those before it; blocks number themselves as they start."""
    shared = ".shared .align 4 .b8 sums[256];\n"
    family = family_of("spin_scan", "A scan across blocks by looking back.", tables, between, shared)
    body = ["setp.ne.u32 %q, %t, 0;", "@%q bra numbered;", "atom.global.add.u32 %b, [%pl], 1;", "st.shared.u32 [sums], %b;"]
    body += ["numbered:", "bar.sync 0;", "ld.shared.u32 %b, [sums];", "bar.sync 0;"]
    # The block's own sum, by one thread; thread t of block b holds 32 b + t + 1.
    body += ["mad.lo.u32 %v, %b, %n, %t;", "add.u32 %v, %v, 1;", "mov.u64 %x, sums;", "mad.wide.u32 %y, %t, 4, %x;"]
    body += ["st.shared.u32 [%y], %v;", "bar.sync 0;", "@%q bra summed;", "mov.u32 %i, 0;", "mov.u32 %c, 0;", "add:"]
    body += ["mad.wide.u32 %y, %i, 4, %x;", "ld.shared.u32 %u, [%y];", "st.shared.u32 [%y], %c;", "add.u32 %c, %c, %u;"]
    body += ["add.u32 %i, %i, 1;", "setp.lt.u32 %p, %i, %n;", "@%p bra add;"]
    # Word b + 1 of the status is twice the sum before block b + 1, plus one once it is there.
    body += ["mov.u32 %k, 1;", "mad.wide.u32 %z, %b, 4, %pl;", "setp.eq.u32 %p, %b, 0;", "@%p bra known;"]
    body += ["wait:", "ld.acquire.gpu.global.u32 %k, [%z];", "and.b32 %u, %k, 1;", "setp.eq.u32 %p, %u, 0;", "@%p bra wait;"]
    body += ["known:", "shr.u32 %k, %k, 1;", "add.u32 %u, %k, %c;", "mad.lo.u32 %u, %u, 2, 1;"]
    body += ["st.release.gpu.global.u32 [%z+4], %u;", "st.shared.u32 [sums+252], %k;", "summed:", "bar.sync 0;"]
    body += ["mad.wide.u32 %y, %t, 4, %x;", "ld.shared.u32 %u, [%y];", "ld.shared.u32 %k, [sums+252];", "add.u32 %u, %u, %k;"]
    body += ["mad.lo.u32 %i, %b, %n, %t;", "mad.wide.u32 %po, %i, 4, %po;", "st.global.u32 [%po], %u;"]
    for grid in (1, 24):
        launch(family, "scan", body, 32, grid, [i * (i + 1) // 2 for i in range(32 * grid)], locks=grid + 2)
    return family


def families(tables):
    return [locks(tables, False), flags(tables), scan(tables, False)]


def between_blocks(tables):
    return [locks(tables, True), scan(tables, True)]

"""Operations of a warp that lanes execute together at different places of the program.

Expected values come from a model of the manual's words: each lane is a Python generator that yields the operations it
comes to, and goes on when all lanes of its mask that have not exited wait at the same operation with the same mask.
"""

import random

from .ptx import Family, header
from .warps import FULL, PARAMS, PLACE, REGISTERS, SHAPES, Warps, bits, every_form, forms, launch, load, shape_name, store


def converge(lanes):
    """Runs the lanes of a warp, generators by lane, to their ends; gives what each returns.

    A lane yields (operation, mask, value) and receives the values of all that took part, by lane.
    """
    results, waiting, ready = {}, {}, {lane: None for lane in lanes}
    while ready or waiting:
        for lane, received in ready.items():
            try:
                waiting[lane] = lanes[lane].send(received)
            except StopIteration as end:
                results[lane] = end.value
        ready = {}
        for lane, (operation, mask, _) in list(waiting.items()):
            members = [other for other in lanes if mask >> other & 1 and other not in results]
            if lane in waiting and all(waiting.get(other, (0, 0))[:2] == (operation, mask) for other in members):
                values = {other: waiting.pop(other)[2] for other in members}
                ready |= {other: values for other in members}
        assert ready or not waiting, "lanes wait for each other"
    return results


def run(warps, lane_of):
    """What every thread returns; `lane_of` makes the generator of a lane, its thread and the warp's threads."""
    results = [None] * warps.count
    for threads in warps.warps():
        returned = converge({lane: lane_of(lane, thread, threads) for lane, thread in enumerate(threads)})
        for lane, thread in enumerate(threads):
            results[thread] = returned[lane]
    return results


def classes(rng, warps, number=2):
    return [rng.randrange(number) for _ in range(warps.count)]


def arms(family, rng):
    """Every operation in both arms of a condition, each with operands of its own."""
    whole, count = every_form("-1", elect=False)
    body = PLACE + load("ac") + ["ld.param.u64 %po, [out];", f"mad.wide.u32 %po, %t, {4 * count}, %po;"]
    body += ["setp.eq.u32 %go, %c, 1;", "@%go bra other;"] + whole + ["bra done;", "other:", "mad.lo.u32 %a, %a, 5, 1;"]
    family.kernel("arms", PARAMS, REGISTERS, body + whole + ["done:"])
    for block, grid in SHAPES:
        warps = Warps(block, grid)
        sides = classes(rng, warps)
        rows, results = [], []
        for threads in warps.warps():
            values = [rng.getrandbits(32) >> rng.choice([0, 0, 24]) for _ in threads]
            rows += [[value, sides[thread]] for value, thread in zip(values, threads)]
            brought = {lane: value * 5 + 1 & FULL if sides[thread] else value for lane, (value, thread) in enumerate(zip(values, threads))}
            results += [forms(brought, lane, elect=False) for lane in range(len(threads))]
        launch(family, f"arms_{shape_name(block, grid)}", "arms", warps, rows, results)


def elections(family, rng):
    body = PLACE + load("c") + ["setp.eq.u32 %go, %c, 1;", "@%go bra other;", "elect.sync %d|%p, -1;", "bra done;"]
    body += ["other:", "elect.sync %d|%p, -1;", "done:", "selp.u32 %e, 1, 0, %p;"]
    family.kernel("elections", PARAMS, REGISTERS, body + store("de"))
    for block, grid in SHAPES:
        warps = Warps(block, grid)
        sides = classes(rng, warps)
        results = warps.each(lambda lane, thread, threads: [0, int(lane == 0)])
        launch(family, f"elections_{shape_name(block, grid)}", "elections", warps, [[side] for side in sides], results)


def shuffles(family, rng):
    """Shuffles of every mode; a lane's source may be in the other arm."""
    first, second = [], []
    for index, (mode, clamp) in enumerate((("up", 0), ("down", 31), ("bfly", 31), ("idx", 31), ("idx", 0x181F))):
        for lines, offered in ((first, "%a"), (second, "%e")):
            by = "%x" if mode == "idx" else "%b"
            lines += [f"shfl.sync.{mode}.b32 %d|%q, {offered}, {by}, {clamp}, %m;", "selp.u32 %f, 1, 0, %q;"]
            lines += [f"st.global.u32 [%po+{8 * index}], %d;", f"st.global.u32 [%po+{8 * index + 4}], %f;"]
    body = PLACE + load("abcm") + ["ld.param.u64 %po, [out];", "mad.wide.u32 %po, %t, 40, %po;", "xor.b32 %x, %l, %b;"]
    body += ["setp.eq.u32 %go, %c, 1;", "@%go bra other;"] + first + ["bra done;", "other:", "not.b32 %e, %a;"] + second
    family.kernel("shuffled", PARAMS, REGISTERS, body + ["done:"])
    for name, mask_of in (("whole", lambda lane: FULL), ("halves", lambda lane: 0xFFFF << (lane & 16)), ("odd", lambda lane: 0x55555555 << (lane & 1))):
        warps = Warps((64, 1, 1), 2)
        sides = classes(rng, warps)
        rows, results = [], []
        for threads in warps.warps():
            values = [rng.getrandbits(32) for _ in threads]
            for lane, thread in enumerate(threads):
                mask, offered = mask_of(lane), [value ^ FULL if sides[t] else value for value, t in zip(values, threads)]
                while True:
                    b = rng.choice([0, 1, 2, 4, 6, 8, 16, 31, rng.randrange(32)])
                    steps = [
                        (lane - b, lane - b >= 0), (lane + b, lane + b <= 31), (lane ^ b, True), (lane ^ b, True),
                        (lane ^ b & 7, True),
                    ]
                    steps = [(j if reached else lane, reached) for j, reached in steps]
                    if all(mask >> j & 1 for j, _ in steps):
                        break
                rows.append([values[lane], b, sides[thread], mask & FULL])
                results.append([word for j, reached in steps for word in (offered[j], int(reached))])
        launch(family, f"shuffled_{name}", "shuffled", warps, rows, results)


# The address of the thread's word in shared memory in %y, that of its neighbour's, lane ^ 16, in %b.
WORDS = ["mov.u32 %c, words;", "shl.b32 %y, %t, 2;", "add.u32 %y, %y, %c;", "xor.b32 %b, %y, 64;"]


def handing(family):
    """The lower half writes what the upper half reads, each in a loop of its own, one waiting for the other."""
    body = PLACE + WORDS + ["mov.u32 %i, 0;", "mov.u32 %d, 7;", "setp.ge.u32 %p, %l, 16;", "@%p bra upper;"]
    body += ["write:", "mad.lo.u32 %d, %d, 3, %l;", "st.shared.u32 [%y], %d;", "bar.warp.sync -1;", "bar.warp.sync -1;"]
    body += ["add.u32 %i, %i, 1;", "setp.lt.u32 %q, %i, 5;", "@%q bra write;", "bra done;"]
    body += ["upper:", "bar.warp.sync -1;", "ld.shared.u32 %x, [%b];", "mad.lo.u32 %d, %d, 5, %x;", "bar.warp.sync -1;"]
    body += ["add.u32 %i, %i, 1;", "setp.lt.u32 %q, %i, 5;", "@%q bra upper;", "done:"]
    family.kernel("handing_over", PARAMS[:1], REGISTERS, body + store("d"))

    def work(lane, thread, threads):
        written = 7
        read = 7
        for _ in range(5):
            written = written * 3 + (lane & 15) & FULL
            read = read * 5 + written & FULL
        return written if lane < 16 else read

    results = Warps((64, 1, 1), 1).each(work)
    family.case("handing_over", "handing_over", [{"type": "u32", "zeros": 64}], [{"arg": 0, "data": results}], block=64)


def ladder(family):
    """Lanes leave a loop one by one and go on with the same operation at another place."""
    body = PLACE + ["mul.lo.u32 %d, %t, 2654435761;", "mov.u32 %i, 0;", "stay:", "setp.ge.u32 %p, %i, %l;", "@%p bra left;"]
    body += ["add.u32 %x, %i, %l;", "shfl.sync.idx.b32 %y, %d, %x, 31, -1;", "mad.lo.u32 %d, %d, 3, %y;", "add.u32 %i, %i, 1;", "bra stay;"]
    body += ["left:", "shfl.sync.idx.b32 %y, %d, %i, 31, -1;", "xor.b32 %d, %d, %y;", "add.u32 %i, %i, 1;", "setp.lt.u32 %p, %i, 32;", "@%p bra left;"]
    family.kernel("ladder", PARAMS[:1], REGISTERS, body + store("d"))

    def work(lane, thread, threads):
        value = thread * 2654435761 & FULL
        for i in range(32):
            values = yield "shfl.idx", FULL, value
            value = value * 3 + values[i + lane & 31] & FULL if i < lane else value ^ values[i]
        return value

    results = run(Warps((96, 1, 1), 1), work)
    family.case("ladder", "ladder", [{"type": "u32", "zeros": 96}], [{"arg": 0, "data": results}], block=96)


def rounds(family, rng):
    """One operation in a loop within a loop: lanes are in different iterations of the outer one when they execute it together."""
    body = PLACE + load("abe") + ["mov.u32 %d, %a;", "mov.u32 %i, 0;", "outer:", "and.b32 %n, %b, 15;", "shr.u32 %b, %b, 4;"]
    body += ["inner:", "setp.eq.u32 %p, %n, 0;", "@%p bra next;", "shfl.sync.bfly.b32 %x, %d, %e, 31, -1;", "mad.lo.u32 %d, %d, 7, %x;"]
    body += ["sub.u32 %n, %n, 1;", "bra inner;", "next:", "xor.b32 %d, %d, %i;", "add.u32 %i, %i, 1;", "setp.lt.u32 %p, %i, 3;", "@%p bra outer;"]
    family.kernel("rounds", PARAMS, REGISTERS, body + store("d"))
    warps = Warps((64, 1, 1), 1)
    rows = []
    for _ in range(warps.count):
        one, two = sorted((rng.randrange(7), rng.randrange(7)))
        rows.append([rng.getrandbits(32), one | two - one << 4 | 6 - two << 8, rng.randrange(32)])

    def work(lane, thread, threads):
        value, counts, distance = rows[thread]
        for i in range(3):
            for _ in range(counts >> 4 * i & 15):
                values = yield "shfl.bfly", FULL, value
                value = value * 7 + values[lane ^ distance] & FULL
            value ^= i
        return [value]

    launch(family, "rounds", "rounds", warps, rows, run(warps, work))


def teams(family, rng):
    """The lanes of a ballot part again and wait for each other; the others go on alone."""
    body = PLACE + load("ac") + ["mov.u32 %d, %a;", "setp.lt.u32 %go, %c, 2;", "vote.sync.ballot.b32 %m, %go, -1;", "@!%go bra alone;"]
    body += ["setp.eq.u32 %p, %c, 0;", "@%p bra other;", "redux.sync.add.u32 %d, %a, %m;", "bra together;"]
    body += ["other:", "add.u32 %x, %a, 1;", "redux.sync.add.u32 %d, %x, %m;", "add.u32 %d, %d, 9;"]
    body += ["together:", "add.u32 %x, %a, 3;", "match.any.sync.b32 %e, %c, %m;", "xor.b32 %d, %d, %e;", "alone:"]
    family.kernel("teams", PARAMS, REGISTERS, body + store("d"))
    for block, grid in SHAPES:
        warps = Warps(block, grid)
        sides = classes(rng, warps, 3)
        rows = [[rng.getrandbits(32), side] for side in sides]

        def work(lane, thread, threads):
            value, side = rows[thread]
            members = yield "ballot", FULL, side < 2
            if side == 2:
                return [value]
            mask = bits(other for other, holds in members.items() if holds)
            values = yield "redux", mask, value + (side == 0)
            values = sum(values.values()) + 9 * (side == 0)
            alike = yield "match", mask, side
            return [values & FULL ^ bits(other for other, brought in alike.items() if brought == side)]

        launch(family, f"teams_{shape_name(block, grid)}", "teams", warps, rows, run(warps, work))


FUNCTION = """
.func (.param .b32 result) exchanged(.param .b32 given)
{
\t.reg .b32 %a, %b;
\tld.param.b32 %a, [given];
\tbar.warp.sync -1;
\tshfl.sync.bfly.b32 %b, %a, 5, 31, -1;
\tst.param.b32 [result], %b;
\tret;
}
"""


def called(family, rng):
    """A function with operations of a warp, called from both arms."""
    call = ["{", ".param .b32 given;", ".param .b32 result;", "st.param.b32 [given], %a;", "call (result), exchanged, (given);", "ld.param.b32 %d, [result];", "}"]
    body = PLACE + load("ac") + ["setp.eq.u32 %go, %c, 1;", "@%go bra other;", *call, "bra done;", "other:", "not.b32 %a, %a;", *call]
    family.kernel("called", PARAMS, REGISTERS, body + ["done:"] + store("d"))
    warps = Warps((64, 1, 1), 2)
    rows = [[rng.getrandbits(32), side] for side in classes(rng, warps)]

    def work(lane, thread, threads):
        other = threads[lane ^ 5]
        return [rows[other][0] ^ (FULL if rows[other][1] else 0)]

    launch(family, "called", "called", warps, rows, warps.each(work))


def leaving(family, rng):
    """Some lanes end in one arm, and are not waited for in the other."""
    body = PLACE + load("ac") + ["setp.ne.u32 %go, %a, 0;", "setp.eq.u32 %p, %c, 2;", "setp.eq.u32 %q, %c, 1;", "@%p bra gone;", "@%q bra other;"]
    body += ["vote.sync.ballot.b32 %d, %go, -1;", "bra done;", "gone:", "bar.warp.sync -1;", "exit;", "other:", "bar.warp.sync -1;"]
    body += ["vote.sync.ballot.b32 %d, %go, -1;", "bra done;"]
    # The first class waits too, but elsewhere.
    body = [line if line != "@%q bra other;" else "@%q bra other; bar.warp.sync -1;" for line in body]
    family.kernel("ended", PARAMS, REGISTERS, body + ["done:"] + store("d"))
    for block, grid in SHAPES:
        warps = Warps(block, grid)
        rows = [[rng.randrange(2), side] for side in classes(rng, warps, 3)]

        def work(lane, thread, threads):
            value, side = rows[thread]
            yield "sync", FULL, 0
            if side == 2:
                return [0]
            said = yield "ballot", FULL, value
            return [bits(other for other, holds in said.items() if holds)]

        launch(family, f"ended_{shape_name(block, grid)}", "ended", warps, rows, run(warps, work))


def guards(family, rng):
    """An instruction for those for whom a predicate holds, and one for the others."""
    body = PLACE + load("ac") + ["setp.eq.u32 %go, %c, 1;", "@%go shfl.sync.bfly.b32 %d, %a, 1, 31, -1;", "@!%go shfl.sync.bfly.b32 %d, %t, 3, 31, -1;"]
    body += ["@%go redux.sync.max.u32 %e, %d, -1;", "@!%go redux.sync.max.u32 %e, %t, -1;"]
    family.kernel("guards", PARAMS, REGISTERS, body + store("de"))
    warps = Warps((64, 1, 1), 2)
    rows = [[rng.getrandbits(32), side] for side in classes(rng, warps)]

    def work(lane, thread, threads):
        value, side = rows[thread]
        values = yield "shfl.bfly", FULL, value if side else thread
        got = values[lane ^ (1 if side else 3)]
        values = yield "redux", FULL, got if side else thread
        return [got, max(values.values())]

    launch(family, "guards", "guards", warps, rows, run(warps, work))


def beyond(family, rng):
    """Some lanes wait twice in an arm, where the others have gone on past it."""
    body = PLACE + load("ac") + ["mov.u32 %d, %a;", "setp.eq.u32 %go, %c, 1;", "@!%go bra on;"]
    body += ["redux.sync.xor.b32 %d, %d, -1;", "add.u32 %d, %d, 1;", "redux.sync.xor.b32 %d, %d, -1;", "add.u32 %d, %d, 5;", "on:"]
    body += ["@%go bra done;", "redux.sync.xor.b32 %x, %d, -1;", "mad.lo.u32 %d, %x, 3, %d;", "redux.sync.xor.b32 %x, %d, -1;", "mad.lo.u32 %d, %x, 5, %d;", "done:"]
    family.kernel("beyond", PARAMS, REGISTERS, body + store("d"))
    for block, grid in SHAPES:
        warps = Warps(block, grid)
        rows = [[rng.getrandbits(32), side] for side in classes(rng, warps)]

        def work(lane, thread, threads):
            value, side = rows[thread]
            for step in range(2):
                values = yield "redux", FULL, value
                joined = 0
                for other in values.values():
                    joined ^= other
                value = (joined + (1, 5)[step] if side else joined * (3, 5)[step] + value) & FULL
            return [value]

        launch(family, f"beyond_{shape_name(block, grid)}", "beyond", warps, rows, run(warps, work))


def with_barriers(family, rng):
    """Barriers of the block after and between the operations, at places of their own too."""
    first = ["redux.sync.add.u32 %d, %a, -1;", "st.shared.u32 [%y], %d;", "barrier.sync 0;", "ld.shared.u32 %x, [%b];"]
    second = ["not.b32 %a, %a;", *first, "mul.lo.u32 %x, %x, 3;"]
    body = PLACE + load("ac") + ["setp.eq.u32 %go, %c, 1;", *WORDS, "sub.u32 %n, 4220, %y;", "add.u32 %b, %c, %c;", "sub.u32 %b, %b, %y;", "add.u32 %b, %b, 380;"]
    body = [line for line in body if not line.startswith("sub.u32 %n")]
    body += ["@%go bra other;", *first, "bra done;", "other:", *second, "done:", "barrier.sync 0;", "add.u32 %x, %x, %d;", "st.shared.u32 [%y], %x;"]
    body += ["barrier.sync 0;", "ld.shared.u32 %e, [%b];"]
    family.kernel("with_barriers", PARAMS, REGISTERS, body + store("xe"))
    warps = Warps((96, 1, 1), 1)
    rows = [[rng.getrandbits(32), side] for side in classes(rng, warps)]
    brought = [value ^ (FULL if side else 0) for value, side in rows]
    sums = [sum(brought[thread & ~31 : (thread & ~31) + 32]) & FULL for thread in range(96)]
    values = [sums[95 - thread] * (3 if rows[thread][1] else 1) + sums[thread] & FULL for thread in range(96)]
    launch(family, "with_barriers", "with_barriers", warps, rows, [[values[thread], values[95 - thread]] for thread in range(96)])


def spinning(family):
    """One lane waits for a word that another lane writes; the others wait for both, at places of their own."""
    body = PLACE + WORDS + ["mov.u32 %d, 0;", "setp.eq.u32 %p, %l, 3;", "setp.eq.u32 %q, %l, 9;", "mov.u32 %x, 0;"]
    body += ["sub.u32 %n, %t, %l;", "shl.b32 %n, %n, 2;", "add.u32 %n, %n, %c;"]
    body += ["setp.eq.u32 %r, %l, 0;", "@%r st.volatile.shared.u32 [%n], %x;", "bar.warp.sync -1;", "@%p bra three;", "@%q bra nine;"]
    body += ["bar.warp.sync -1;", "ld.shared.u32 %d, [%n];", "bra done;"]
    body += ["three:", "wait:", "ld.acquire.cta.shared.u32 %d, [%n];", "setp.eq.u32 %go, %d, 0;", "@%go bra wait;", "bar.warp.sync -1;", "add.u32 %d, %d, 1;", "bra done;"]
    body += ["nine:", "add.u32 %x, %t, 1;", "st.release.cta.shared.u32 [%n], %x;", "bar.warp.sync -1;", "ld.shared.u32 %d, [%n];", "done:"]
    family.kernel("spinning", PARAMS[:1], REGISTERS, body + store("d"))
    results = Warps((64, 1, 1), 1).each(lambda lane, thread, threads: threads[9] + 1 + (lane == 3))
    family.case("spinning", "spinning", [{"type": "u32", "zeros": 64}], [{"arg": 0, "data": results}], block=64)


def families(tables):
    directives = ".shared .align 4 .b8 words[4096];\n" + FUNCTION
    purpose = "Operations of a warp that lanes execute together at different places of the program."
    family = Family("warp_convergence", purpose, tables, directives, header=header("8.0"))
    # A seed stays as it is, so that results compared with hardware stay valid.
    rng = random.Random("warp_meetings")
    arms(family, rng)
    elections(family, rng)
    shuffles(family, rng)
    handing(family)
    ladder(family)
    teams(family, rng)
    called(family, rng)
    leaving(family, rng)
    guards(family, rng)
    beyond(family, rng)
    with_barriers(family, rng)
    spinning(family)
    rounds(family, rng)
    return [family]

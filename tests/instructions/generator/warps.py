"""Operations between the threads of a warp: every form, with masks, clamps and segments, in converged and diverged code.

Each thread has its own operands in tables. Where a thread would read a lane that doesn't take part, which is undefined,
the table has another operand for it.
"""

import random

from .ptx import Family, header

LEGACY = header("6.0").replace("sm_90", "sm_60")
FULL = 0xFFFFFFFF
# Blocks and numbers of them: partial warps, several dimensions.
SHAPES = [((1, 1, 1), 1), ((31, 1, 1), 2), ((32, 1, 1), 1), ((33, 1, 1), 2), ((96, 1, 1), 2), ((8, 4, 2), 1), ((5, 3, 3), 2)]

# Leaves the thread's number in the grid in %t, and its lane in %l.
PLACE = [
    "mov.u32 %t, %tid.z;",
    "mov.u32 %x, %ntid.y;",
    "mov.u32 %y, %tid.y;",
    "mad.lo.u32 %t, %t, %x, %y;",
    "mov.u32 %x, %ntid.x;",
    "mov.u32 %y, %tid.x;",
    "mad.lo.u32 %t, %t, %x, %y;",
    "mov.u32 %y, %ntid.y;",
    "mul.lo.u32 %x, %x, %y;",
    "mov.u32 %y, %ntid.z;",
    "mul.lo.u32 %x, %x, %y;",
    "mov.u32 %y, %ctaid.x;",
    "mad.lo.u32 %t, %x, %y, %t;",
    "mov.u32 %l, %laneid;",
]
REGISTERS = [
    ".reg .b32 %t, %x, %y, %l, %a, %b, %c, %d, %e, %f, %m, %i, %n;",
    ".reg .b64 %po, %pi, %wide;",
    ".reg .pred %p, %q, %r, %go;",
]


class Warps:
    """The threads of a launch, and what an operation gives each of them."""

    def __init__(self, block, grid):
        self.block, self.grid = block, grid
        self.threads = block[0] * block[1] * block[2]
        self.count = self.threads * grid

    def warps(self):
        """The threads of each warp, as numbers in the grid, by lane."""
        for first in range(0, self.count, self.threads):
            for warp in range(first, first + self.threads, 32):
                yield list(range(warp, min(warp + 32, first + self.threads)))

    def each(self, work):
        """What `work` gives for the lane, the operands and the warp's threads."""
        results = [None] * self.count
        for threads in self.warps():
            for lane, thread in enumerate(threads):
                results[thread] = work(lane, thread, threads)
        return results


def bits(lanes):
    return sum(1 << lane for lane in lanes)


def members(mask, threads):
    return [lane for lane in range(len(threads)) if mask >> lane & 1]


def source(mode, lane, b, c):
    """The lane that a lane asks for, and whether it is in range (the manual's semantics)."""
    b, bound, segment = b & 31, c & 31, c >> 8 & 31
    most = (lane & segment) | (bound & ~segment)
    least = lane & segment
    j = {"up": lane - b, "down": lane + b, "bfly": lane ^ b, "idx": least | (b & ~segment)}[mode]
    return j, (j >= most if mode == "up" else j <= most)


def load(inputs):
    """Loads the thread's row of `inputs` registers from the table."""
    lines = ["ld.param.u64 %pi, [in];", f"mad.wide.u32 %pi, %t, {4 * len(inputs)}, %pi;"]
    return lines + [f"ld.global.u32 %{name}, [%pi+{4 * index}];" for index, name in enumerate(inputs)]


def store(outputs):
    lines = ["ld.param.u64 %po, [out];", f"mad.wide.u32 %po, %t, {4 * len(outputs)}, %po;"]
    return lines + [f"st.global.u32 [%po+{4 * index}], %{name};" for index, name in enumerate(outputs)]


PARAMS = [".param .u64 out", ".param .u64 in"]


def launch(family, name, entry, warps, rows, results):
    """A case: a row of operands and a row of results for each thread."""
    width = len(results[0])
    family.case(
        name,
        entry,
        [{"type": "u32", "zeros": warps.count * width}, {"type": "u32", "data": [value for row in rows for value in row]}],
        [{"arg": 0, "data": [value & FULL for row in results for value in row]}],
        block=warps.block,
        grid=warps.grid,
    )


def shape_name(block, grid):
    return "x".join(str(size) for size in block if size > 1 or size == block[0]) + f"_{grid}"


CLAMPS = {"up": [0, 0x1800, 0x1C00, 0x1005, 7], "other": [31, 0x181F, 0x1C1F, 0x1003, 9, 0x101F, 0x150B]}


def shuffles(tables, legacy):
    name = "warp_shuffle_legacy" if legacy else "warp_shuffle"
    family = Family(name, "Shuffles with operands of every thread's own, by all lanes and by some.", tables, "", **({"header": LEGACY} if legacy else {}))
    rng = random.Random(name)
    for mode in ("up", "down", "bfly", "idx"):
        form = f"shfl.{mode}.b32 %d|%q, %a, %b, %c;" if legacy else f"shfl.sync.{mode}.b32 %d|%q, %a, %b, %c, %m;"
        body = PLACE + load("abcmi") + ["mov.u32 %d, 0;", "setp.ne.u32 %q, 0, 0;", "setp.ne.u32 %go, %i, 0;"]
        # Some threads take part, under a branch.
        body += ["@!%go bra skip;", form, "skip:", "selp.u32 %e, 1, 0, %q;"] + store("de")
        family.kernel(f"{name}_{mode}", PARAMS, REGISTERS, body)
        for index, (block, grid) in enumerate(SHAPES):
            warps = Warps(block, grid)
            rows, results = [], []
            for threads in warps.warps():
                active = members(FULL if index % 2 == 0 else rng.getrandbits(32) | 1, threads)
                for lane, thread in enumerate(threads):
                    a = (thread * 0x9E3779B1 + 12345) & FULL
                    while True:
                        b = rng.choice([rng.getrandbits(5), rng.getrandbits(5), rng.getrandbits(32), 0, 1, 2, 16, 31, 33])
                        c = rng.choice(CLAMPS.get(mode, CLAMPS["other"]) + [rng.getrandbits(32)])
                        j, reached = source(mode, lane, b, c)
                        if not reached or j in active:
                            break
                    rows.append([a, b, c, bits(active), int(lane in active)])
                    j = j if reached else lane
                    value = (threads[j] * 0x9E3779B1 + 12345) & FULL if lane in active else 0
                    results.append([value, int(reached and lane in active)])
            launch(family, f"{mode}_{shape_name(block, grid)}", f"{name}_{mode}", warps, rows, results)
    return family


def constant_shuffles(tables):
    """Distances and bounds in the instruction, where what reads what is known beforehand."""
    family = Family("warp_shuffle_constant", "Shuffles by constants, and broadcasts.", tables)
    for mode in ("up", "down", "bfly", "idx"):
        clamps = CLAMPS.get(mode, CLAMPS["other"])[:3]
        forms = [(b, c) for c in clamps for b in (0, 1, 2, 3, 4, 5, 8, 12, 16, 17, 31)]
        body = PLACE + ["mul.lo.u32 %a, %t, 2654435761;", "ld.param.u64 %po, [out];"]
        body += [f"mad.wide.u32 %po, %t, {8 * len(forms)}, %po;"]
        for index, (b, c) in enumerate(forms):
            body += [f"shfl.sync.{mode}.b32 %d|%q, %a, {b}, {c}, -1;", "selp.u32 %e, 1, 0, %q;"]
            body += [f"st.global.u32 [%po+{8 * index}], %d;", f"st.global.u32 [%po+{8 * index + 4}], %e;"]
        family.kernel(f"constant_{mode}", PARAMS[:1], REGISTERS, body)
        for block, grid in [((64, 1, 1), 1), ((8, 4, 2), 2)]:
            warps = Warps(block, grid)

            def work(lane, thread, threads):
                row = []
                for b, c in forms:
                    j, reached = source(mode, lane, b, c)
                    row += [threads[j if reached else lane] * 2654435761 & FULL, int(reached)]
                return row

            results = warps.each(work)
            family.case(
                f"{mode}_{shape_name(block, grid)}",
                f"constant_{mode}",
                [{"type": "u32", "zeros": warps.count * 2 * len(forms)}],
                [{"arg": 0, "data": [value for row in results for value in row]}],
                block=block,
                grid=grid,
            )
    # The lane is a parameter: the same for all threads, and not known before.
    body = PLACE + ["ld.param.u32 %b, [lane];", "mul.lo.u32 %a, %t, 2654435761;"]
    body += ["shfl.sync.idx.b32 %d, %a, %b, 31, -1;", "shfl.sync.bfly.b32 %e, %a, %b, 31, -1;"]
    body += ["shfl.sync.idx.b32 %f, %a, %b, 0x1c1f, -1;"] + store("def")
    family.kernel("broadcast", [PARAMS[0], ".param .u32 lane"], REGISTERS, body)
    for number in (0, 5, 19, 31, 40):
        warps = Warps((64, 1, 1), 1)

        def work(lane, thread, threads):
            from_lane = [number & 31, lane ^ number & 31, lane & 28 | number & 3]
            return [threads[j] * 2654435761 & FULL for j in from_lane]

        results = [value for row in warps.each(work) for value in row]
        args = [{"type": "u32", "zeros": len(results)}, {"type": "u32", "value": number}]
        family.case(f"broadcast_{number}", "broadcast", args, [{"arg": 0, "data": results}], block=64)
    return family


def signed(value):
    return value - (1 << 32) if value >> 31 else value


REDUCTIONS = {
    "add.u32": sum, "add.s32": sum, "min.u32": min, "max.u32": max,
    "min.s32": lambda values: min(map(signed, values)), "max.s32": lambda values: max(map(signed, values)),
    "and.b32": lambda values: fold(values, lambda x, y: x & y), "or.b32": lambda values: fold(values, lambda x, y: x | y),
    "xor.b32": lambda values: fold(values, lambda x, y: x ^ y),
}


def fold(values, join):
    result = values[0]
    for value in values[1:]:
        result = join(result, value)
    return result


def votes(values):
    """ballot, all, any, uni of truth values by lane."""
    ballot = bits(lane for lane, value in values.items() if value)
    said = set(map(bool, values.values()))
    return [ballot, int(False not in said), int(True in said), int(len(said) == 1)]


def forms(values, lane, elect=True):
    """What every `.sync` operation but shuffles gives a lane, for the values of the lanes that take part."""
    own = values[lane]
    odd = {other: value & 1 for other, value in values.items()}
    row = votes(odd) + votes({other: not value for other, value in odd.items()})
    row += [bits(other for other, value in values.items() if value & 3 == own & 3)]
    row += [bits(other for other, value in values.items() if value & 7 == own & 7)]
    for part in (1, 5):
        alike = len({value // 16 % part for value in values.values()}) == 1
        row += [bits(values) if alike else 0, int(alike)]
    row += [reduction(list(values.values())) for reduction in REDUCTIONS.values()]
    return row + ([int(lane == min(values)), min(values)] if elect else [])


def every_form(members, elect=True):
    """Lines that compute what `forms` says from %a, and store it one after another to %po."""
    lines = ["and.b32 %x, %a, 1;", "setp.ne.u32 %p, %x, 0;"]
    results = []

    def result(*code, predicate=False):
        lines.extend(code)
        if predicate:
            lines.append("selp.u32 %d, 1, 0, %q;")
        lines.append(f"st.global.u32 [%po+{4 * len(results)}], %d;")
        results.append(code)

    for sign in ("", "!"):
        result(f"vote.sync.ballot.b32 %d, {sign}%p, {members};")
        for mode in ("all", "any", "uni"):
            result(f"vote.sync.{mode}.pred %q, {sign}%p, {members};", predicate=True)
    result("and.b32 %x, %a, 3;", f"match.any.sync.b32 %d, %x, {members};")
    # Differs in the upper half only.
    result("and.b32 %x, %a, 7;", "cvt.u64.u32 %wide, %x;", "shl.b64 %wide, %wide, 40;", f"match.any.sync.b64 %d, %wide, {members};")
    result("shr.u32 %x, %a, 4;", "rem.u32 %x, %x, 1;", f"match.all.sync.b32 %d|%q, %x, {members};")
    result("", predicate=True)
    result("shr.u32 %x, %a, 4;", "rem.u32 %x, %x, 5;", "cvt.u64.u32 %wide, %x;", "shl.b64 %wide, %wide, 33;", f"match.all.sync.b64 %d|%q, %wide, {members};")
    result("", predicate=True)
    for form in REDUCTIONS:
        result(f"redux.sync.{form} %d, %a, {members};")
    if elect:
        result(f"elect.sync %e|%q, {members};", predicate=True)
        result("mov.u32 %d, %e;")
    return [line for line in lines if line], len(results)


def operations(tables):
    family = Family("warp_operations", "Votes, matches, reductions and elections by all lanes, by some, and diverged.", tables, header=header("8.0"))
    rng = random.Random("warp_operations")
    whole, count = every_form("-1")
    partial, _ = every_form("%m")
    start = PLACE + load("amc") + ["ld.param.u64 %po, [out];", f"mad.wide.u32 %po, %t, {4 * count}, %po;"]
    # All lanes that there are, by a constant mask.
    family.kernel("converged", PARAMS, REGISTERS, start + whole)
    # Threads of two classes go separate ways, each with its own members; a third class does nothing.
    body = start + ["setp.eq.u32 %go, %c, 2;", "@%go bra done;", "setp.eq.u32 %go, %c, 1;", "@%go bra other;"]
    body += partial + ["bra done;", "other:"] + partial + ["done:"]
    family.kernel("diverged", PARAMS, REGISTERS, body)
    # The others have exited, and don't count.
    body = start + ["setp.ne.u32 %go, %c, 0;", "@%go exit;"] + whole
    family.kernel("exited", PARAMS, REGISTERS, body)
    for block, grid in SHAPES:
        warps = Warps(block, grid)
        for entry in ("converged", "diverged", "exited"):
            rows = [None] * warps.count
            results = [None] * warps.count
            for threads in warps.warps():
                shift = rng.choice([0, 0, 4, 20, 32])
                classes = [0 if entry == "converged" else rng.choice([0, 0, 1, 2]) for _ in threads]
                values = [rng.getrandbits(32) >> shift if shift < 32 else 0xFFFFFFF5 for _ in threads]
                for lane, thread in enumerate(threads):
                    together = [other for other in range(len(threads)) if classes[other] == classes[lane]]
                    rows[thread] = [values[lane], bits(together), classes[lane]]
                    idle = classes[lane] == 2 or entry == "exited" and classes[lane] != 0
                    results[thread] = [0] * count if idle else forms({other: values[other] for other in together}, lane)
            launch(family, f"{entry}_{shape_name(block, grid)}", entry, warps, rows, results)
    return family


def legacy_votes(tables):
    """The forms without .sync: those that execute together take part."""
    family = Family("warp_votes_legacy", "Votes without .sync, by all lanes and under a branch.", tables, header=LEGACY)
    rng = random.Random("warp_votes_legacy")
    lines = []
    for index, form in enumerate(f"{mode}{sign}" for sign in ("", "!") for mode in ("ballot", "all", "any", "uni")):
        mode, sign = form.rstrip("!"), "!" if form.endswith("!") else ""
        if mode == "ballot":
            lines += [f"vote.ballot.b32 %d, {sign}%p;"]
        else:
            lines += [f"vote.{mode}.pred %q, {sign}%p;", "selp.u32 %d, 1, 0, %q;"]
        lines += [f"st.global.u32 [%po+{4 * index}], %d;"]
    body = PLACE + load("ac") + ["ld.param.u64 %po, [out];", "mad.wide.u32 %po, %t, 32, %po;", "setp.ne.u32 %p, %a, 0;"]
    body += ["setp.ne.u32 %go, %c, 0;", "@%go bra done;"] + lines + ["done:"]
    family.kernel("legacy_votes", PARAMS, REGISTERS, body)
    for block, grid in SHAPES:
        warps = Warps(block, grid)
        rows, results = [], []
        for threads in warps.warps():
            idle = [rng.choice([0, 0, 1]) for _ in threads]
            likely = rng.choice([0.0, 0.5, 1.0])
            values = [int(rng.random() < likely) for _ in threads]
            active = {lane: values[lane] for lane in range(len(threads)) if not idle[lane]}
            negated = {lane: not value for lane, value in active.items()}
            for lane in range(len(threads)):
                rows.append([values[lane], idle[lane]])
                results.append([0] * 8 if idle[lane] else votes(active) + votes(negated))
        launch(family, f"votes_{shape_name(block, grid)}", "legacy_votes", warps, rows, results)
    return family


def flow(tables):
    """Loops that lanes leave one by one, memory exchanged between lanes, and the registers that tell a lane's place."""
    shared = ".shared .align 4 .b8 words[4096];\n"
    family = Family("warp_flow", "Warp operations in divergent loops, waiting for lanes, places in the warp.", tables, shared)
    rng = random.Random("warp_flow")
    # Each thread runs %n iterations. The remaining threads add up the value of the next remaining lane.
    body = PLACE + load("an") + ["mov.u32 %m, -1;", "mov.u32 %i, 0;", "mov.u32 %d, 0;", "again:"]
    body += ["setp.lt.u32 %p, %i, %n;", "vote.sync.ballot.b32 %m, %p, %m;", "@!%p bra done;"]
    # The lowest of the lanes above, or the lowest of all.
    body += ["mov.u32 %x, %lanemask_gt;", "and.b32 %x, %x, %m;", "setp.eq.u32 %q, %x, 0;", "selp.u32 %x, %m, %x, %q;"]
    body += ["brev.b32 %x, %x;", "clz.b32 %x, %x;", "shfl.sync.idx.b32 %y, %a, %x, 31, %m;", "mad.lo.u32 %d, %d, 3, %y;"]
    body += ["add.u32 %i, %i, 1;", "bra again;", "done:", "bar.warp.sync -1;", "activemask.b32 %e;"]
    family.kernel("leaving", PARAMS, REGISTERS, body + store("de"))
    for block, grid in SHAPES:
        warps = Warps(block, grid)
        rows, results = [], []
        for threads in warps.warps():
            rounds = [rng.randrange(6) for _ in threads]
            values = [rng.getrandbits(32) for _ in threads]
            sums = [0] * len(threads)
            for turn in range(6):
                here = [lane for lane in range(len(threads)) if rounds[lane] > turn]
                for lane in here:
                    above = [other for other in here if other > lane]
                    sums[lane] = (sums[lane] * 3 + values[(above or here)[0]]) & FULL
            rows += [list(row) for row in zip(values, rounds)]
            results += [[total, bits(range(len(threads)))] for total in sums]
        launch(family, f"leaving_{shape_name(block, grid)}", "leaving", warps, rows, results)
    # Lanes hand words on through shared memory, with nothing but the warp waiting.
    body = PLACE + ["sub.u32 %x, %t, %l;", "mov.u32 %y, %t;", "shl.b32 %y, %y, 2;"]
    body += ["mov.u32 %c, words;", "add.u32 %y, %y, %c;", "add.u32 %b, %l, 1;", "and.b32 %b, %b, 31;", "add.u32 %b, %x, %b;"]
    body += ["shl.b32 %b, %b, 2;", "add.u32 %b, %b, %c;", "mov.u32 %a, %t;"]
    for _ in range(4):
        body += ["st.shared.u32 [%y], %a;", "bar.warp.sync -1;", "ld.shared.u32 %a, [%b];", "bar.warp.sync -1;", "add.u32 %a, %a, 100;"]
    family.kernel("handing", PARAMS[:1], REGISTERS, body + store("a"))
    warps = Warps((128, 1, 1), 1)
    results = warps.each(lambda lane, thread, threads: threads[(lane + 4) % 32] + 400)
    family.case("handing", "handing", [{"type": "u32", "zeros": 128}], [{"arg": 0, "data": results}], block=128)
    # The last warp alone goes on, after a barrier in a loop of all.
    body = PLACE + ["mov.u32 %d, %t;", "mov.u32 %i, 0;", "mov.u32 %c, words;", "shl.b32 %y, %t, 2;", "add.u32 %y, %y, %c;", "again:"]
    body += ["shfl.sync.bfly.b32 %x, %d, 1, 31, -1;", "add.u32 %d, %d, %x;", "st.shared.u32 [%y], %d;", "bar.sync 0;"]
    body += ["ld.shared.u32 %x, [words];", "add.u32 %d, %d, %x;", "bar.sync 0;", "add.u32 %i, %i, 1;", "setp.lt.u32 %p, %i, 3;", "@%p bra again;"]
    body += ["setp.lt.u32 %p, %t, 64;", "@%p bra done;", "redux.sync.add.u32 %d, %d, -1;", "done:"]
    family.kernel("some_warps", PARAMS[:1], REGISTERS, body + store("d"))
    values = list(range(96))
    for _ in range(3):
        values = [(value + values[thread ^ 1]) & FULL for thread, value in enumerate(values)]
        values = [(value + values[0]) & FULL for value in values]
    values[64:] = [sum(values[64:]) & FULL] * 32
    family.case("some_warps", "some_warps", [{"type": "u32", "zeros": 96}], [{"arg": 0, "data": values}], block=96)
    masks = ("eq", "le", "lt", "ge", "gt")
    body = PLACE + ["ld.param.u64 %po, [out];", "mad.wide.u32 %po, %t, 24, %po;"]
    for index, mask in enumerate(masks):
        body += [f"mov.u32 %d, %lanemask_{mask};", f"st.global.u32 [%po+{4 * index}], %d;"]
    # Not %warpid: hardware numbers its own slots.
    body += ["st.global.u32 [%po+20], %l;"]
    for name, more in (("places", []), ("places_alone", ["setp.eq.u32 %p, %l, %l;", "vote.sync.all.pred %p, %p, -1;", "@%p st.global.u32 [%po+20], %l;"])):
        family.kernel(name, PARAMS[:1], REGISTERS, body + more)
        for block, grid in SHAPES:
            warps = Warps(block, grid)

            def place(lane, thread, threads):
                own, below = 1 << lane, (1 << lane) - 1
                return [own, below | own, below, FULL ^ below, FULL ^ below ^ own, lane]

            results = [value for row in warps.each(place) for value in row]
            case = f"{name}_{shape_name(block, grid)}"
            family.case(case, name, [{"type": "u32", "zeros": len(results)}], [{"arg": 0, "data": results}], block=block, grid=grid)
    return family


def families(tables):
    return [
        shuffles(tables, False),
        shuffles(tables, True),
        constant_shuffles(tables),
        operations(tables),
        legacy_votes(tables),
        flow(tables),
    ]

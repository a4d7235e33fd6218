"""Control flow in which lanes diverge and reconverge for a vote: loops with one header, loops with several entries, indexed branches.
Votes and shuffles without .sync stand in structured loops only, where it is plain which lanes execute them together.

A kernel is a list of blocks. Each lane's state decides its way; a counter of steps keeps it from going on for ever: once it is used up, a
lane takes the last of a block's targets, which leads on. The vote's mask names exactly the lanes that stay in the loop.
"""

from .convergence import run
from .ptx import Family, header
from .warps import FULL, LEGACY, Warps

LOOPS = {
    # Two loops have one header.
    "one_header": [("branch", 0, 0, 1), ("vote", 0, 2)],
    # The same with an arm that has a loop of its own, and an indexed branch to all of that.
    "arm_with_loop": [("branch", 3, 1, 4), ("branch", 7, 1, 2), ("goto", 3), ("index", 11, 0, 2, 1, 4), ("vote", 0, 5)],
    # The loop is entered where lanes vote and elsewhere.
    "two_entries": [("branch", 2, 1, 2), ("goto", 2), ("vote", 1, 3)],
    # A loop of two blocks, each an entry, in a loop that ends with the vote.
    "irreducible": [("branch", 5, 2, 1), ("index", 9, 2, 2, 3), ("branch", 1, 1, 3), ("vote", 0, 4)],
    # Lanes come back from anywhere.
    "many_ways_back": [("index", 4, 1, 2, 0, 3), ("branch", 8, 0, 2), ("index", 13, 1, 0, 3), ("vote", 0, 4)],
}
STRUCTURED = {
    # A condition with a loop in it.
    "arm_with_loop": [("branch", 3, 1, 2), ("branch", 7, 1, 2), ("vote", 0, 3)],
    # Two arms, each with a loop.
    "two_arms": [("branch", 3, 1, 2), ("branch", 7, 1, 3), ("branch", 11, 2, 3), ("vote", 0, 4)],
    # A loop in a loop, with a condition in the inner one.
    "nested": [("branch", 5, 1, 4), ("branch", 9, 2, 3), ("goto", 3), ("branch", 13, 1, 4), ("vote", 0, 5)],
    # An indexed branch whose arms are of several lengths, one with a loop.
    "switch": [("index", 4, 1, 2, 3, 4), ("goto", 4), ("branch", 8, 2, 4), ("branch", 13, 1, 4), ("vote", 0, 5)],
}
STEPS = 12
FACTOR, ADDEND, MIX = 1664525, 1013904223, 0x9E3779B1


def kernel(family, name, blocks, legacy):
    params = [".param .u64 out"]
    registers = [".reg .b32 %t, %x, %m, %steps, %b, %i, %h;", ".reg .b64 %po;", ".reg .pred %go, %c" + (", %all;" if legacy else ";")]
    body = ["ld.param.u64 %po, [out];", "mov.u32 %t, %tid.x;", "mad.wide.u32 %po, %t, 8, %po;", f"mul.lo.u32 %x, %t, {MIX};"]
    body += ["mov.u32 %m, -1;", f"mov.u32 %steps, {STEPS};", "mov.u32 %h, 0;"]
    for number, (kind, *rest) in enumerate(blocks):
        body += [f"at{number}:", f"mad.lo.u32 %x, %x, {FACTOR}, {ADDEND + number};", "sub.u32 %steps, %steps, 1;"]
        body += ["setp.gt.s32 %go, %steps, 0;"]
        if kind == "goto":
            body.append(f"bra at{rest[0]};")
        elif kind == "index":
            bit, *targets = rest
            body += [f"bfe.u32 %i, %x, {bit}, 8;", f"rem.u32 %i, %i, {len(targets)};", f"selp.b32 %i, %i, {len(targets) - 1}, %go;"]
            body += [f"from{number}: .branchtargets {', '.join(f'at{target}' for target in targets)};", f"brx.idx %i, from{number};"]
        elif kind == "branch":
            bit, then, otherwise = rest
            body += [f"bfe.u32 %i, %x, {bit}, 1;", "setp.ne.and.u32 %c, %i, 0, %go;", f"@%c bra at{then};", f"bra at{otherwise};"]
        else:
            again, on = rest
            body += ["and.b32 %i, %x, 96;", "setp.ne.and.u32 %c, %i, 0, %go;"]
            if legacy:
                # The state of the lowest lane that is here, too.
                body += ["vote.ballot.b32 %m, %c;", "setp.eq.u32 %all, %t, %t;", "vote.ballot.b32 %b, %all;"]
                body += ["brev.b32 %b, %b;", "clz.b32 %b, %b;", "shfl.idx.b32 %b, %x, %b, 31;", "mad.lo.u32 %x, %b, 5, %x;"]
            else:
                body.append("vote.sync.ballot.b32 %m, %c, %m;")
            body += ["mad.lo.u32 %h, %h, 31, %m;", f"mad.lo.u32 %x, %m, {MIX}, %x;", f"@%c bra at{again};", f"bra at{on};"]
    body += [f"at{len(blocks)}:", "st.global.u32 [%po], %x;", "st.global.u32 [%po+4], %h;"]
    family.kernel(name, params, registers, body)


def lane_of(blocks, legacy):
    def walk(lane, thread, _):
        state, mask, steps, heard, number = thread * MIX & FULL, FULL, STEPS, 0, 0
        while number < len(blocks):
            kind, *rest = blocks[number]
            state = state * FACTOR + ADDEND + number & FULL
            steps -= 1
            if kind == "goto":
                number = rest[0]
            elif kind == "index":
                bit, *targets = rest
                number = targets[(state >> bit & 0xFF) % len(targets) if steps > 0 else -1]
            elif kind == "branch":
                bit, then, otherwise = rest
                number = then if state >> bit & 1 and steps > 0 else otherwise
            else:
                stays = steps > 0 and state & 96 != 0
                votes = yield "vote", mask, stays
                if legacy:
                    states = yield "shuffle", mask, state
                    state = states[min(states)] * 5 + state & FULL
                mask = sum(1 << other for other, vote in votes.items() if vote)
                heard, state = heard * 31 + mask & FULL, state + mask * MIX & FULL
                number = rest[0] if stays else rest[1]
        return state, heard

    return walk


def loops(tables, legacy):
    purpose = "Loops in which lanes diverge and reconverge for a vote of those that stay."
    name, graphs, version = "warp_loops", LOOPS, header("7.0").replace("sm_90", "sm_70")
    if legacy:
        purpose = "Loops in which lanes diverge and reconverge for votes and shuffles without .sync."
        name, graphs, version = "warp_loops_legacy", STRUCTURED, LEGACY
    family = Family(name, purpose, tables, header=version)
    for name, blocks in graphs.items():
        kernel(family, name, blocks, legacy)
        warps = Warps((64, 1, 1), 1)
        results = run(warps, lane_of(blocks, legacy))
        family.case(name, name, [{"type": "u32", "zeros": 128}], [{"arg": 0, "data": [word for row in results for word in row]}])
    return family


def families(tables):
    return [loops(tables, legacy) for legacy in (False, True)]

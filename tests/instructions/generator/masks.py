"""Loops that lanes leave one by one, with a mask of those that stay: `vote.sync.ballot m, q, m; @q bra` at the end.

In their bodies is control flow that lanes take differently, as in programs: conditions, loops, indexed branches, calls.
Expected values come from the model of a warp in `convergence`.
"""

import random

from .convergence import run
from .ptx import Family, header
from .warps import FULL, PARAMS, PLACE, REGISTERS, SHAPES, Warps, bits, launch, load, shape_name, store

FUNCTION = """
.func (.param .b32 result) mixed(.param .b32 given, .param .b32 often)
{
\t.reg .b32 %a, %n;
\t.reg .pred %p;
\tld.param.b32 %a, [given];
\tld.param.b32 %n, [often];
\tsetp.eq.u32 %p, %n, 0;
\t@%p bra done;
again:
\tmad.lo.u32 %a, %a, 5, %n;
\tsub.u32 %n, %n, 1;
\tsetp.ne.u32 %p, %n, 0;
\t@%p bra again;
done:
\tst.param.b32 [result], %a;
\tret;
}
"""
CALL = ["{", ".param .b32 given;", ".param .b32 often;", ".param .b32 result;", "st.param.b32 [given], %d;", "st.param.b32 [often], %n;",
        "call (result), mixed, (given, often);", "ld.param.b32 %d, [result];", "}"]  # fmt: skip


def inner(value, often):
    for n in range(often, 0, -1):
        value = value * 5 + n & FULL
    return value


def jump(label):
    """A jump to one of three places by %e."""
    arms = [f"{label}_a: add.u32 %d, %d, 3; bra {label}_out;", f"{label}_b: xor.b32 %d, %d, 0x55aa; bra {label}_out;", f"{label}_c: mul.lo.u32 %d, %d, 7;"]
    return [f"{label}: .branchtargets {label}_a, {label}_b, {label}_c;", f"brx.idx %e, {label};", *arms, f"{label}_out:"]


def jumped(value, e):
    return [value + 3, value ^ 0x55AA, value * 7][e] & FULL


# Each: what stands in the body, and what it does with a lane's value: `often` turns of an inner loop, place `e` of a jump.
def bodies():
    loop = ["setp.eq.u32 %p, %n, 0;", "@%p bra none;", "turn: mad.lo.u32 %d, %d, 5, %n;", "sub.u32 %n, %n, 1;", "setp.ne.u32 %p, %n, 0;", "@%p bra turn;", "none:"]
    both = lambda value, often, e: jumped(inner(value, often), e)
    odd = ["and.b32 %x, %d, 1;", "setp.eq.u32 %p, %x, 0;", "@%p bra even;"]
    yield "plain", [], lambda value, often, e: value
    yield "loop", loop, lambda value, often, e: inner(value, often)
    yield "jump", jump("table"), lambda value, often, e: jumped(value, e)
    yield "loop_and_jump", odd + loop + jump("table") + ["even:"], lambda value, often, e: both(value, often, e) if value & 1 else value
    yield "call", odd + CALL + ["even:"], lambda value, often, e: inner(value, often) if value & 1 else value
    early = ["setp.gt.u32 %p, %n, 2;", "@%p bra even;"] + loop + jump("table")
    yield "loop_left", odd + early + ["even:"], lambda value, often, e: both(value, often, e) if value & 1 and often <= 2 else value


# What the lanes that are left do together in each turn, and what each gets.
def exchanges():
    yield "none", [], lambda mask, lane, value: None, lambda value, _: value
    shuffle = ["shfl.sync.idx.b32 %x, %d, %y, 31, %m;", "add.u32 %d, %d, %x;"]
    yield "shuffle", ["brev.b32 %y, %m;", "clz.b32 %y, %y;"] + shuffle, "shfl", lambda value, got: value + got[min(got)] & FULL
    match = ["and.b32 %x, %d, 3;", "match.any.sync.b32 %x, %x, %m;", "xor.b32 %d, %d, %x;"]
    alike = lambda value, got: value ^ bits(lane for lane, other in got.items() if other & 3 == value & 3)
    yield "match", match, "match", alike
    yield "redux", ["redux.sync.add.u32 %x, %d, %m;", "mad.lo.u32 %d, %d, 3, %x;"], "redux", lambda value, got: value * 3 + sum(got.values()) & FULL


def kernel(family, rng, body_name, body, work, exchange_name, exchange, operation, combine, last):
    name = f"{body_name}_{exchange_name}" + ("_none_left" if last else "")
    lines = PLACE + load("abce") + ["mov.u32 %d, %a;", "activemask.b32 %m;", "vote.sync.ballot.b32 %m, 1, %m;", "mov.u32 %i, 0;", "stay:"]
    lines += ["xor.b32 %n, %i, %c;", "and.b32 %n, %n, 3;"] + body + exchange
    lines += ["add.u32 %i, %i, 1;", "setp.lt.u32 %q, %i, %b;", "vote.sync.ballot.b32 %m, %q, %m;"]
    # The same with the way out in front, and the ballot's own word as the condition.
    lines += ["@!%q bra gone;", "bra stay;", "gone:"] if last else ["@%q bra stay;"]
    family.kernel(name, PARAMS, REGISTERS, lines + store("di"))
    for block, grid in SHAPES[2:5]:
        warps = Warps(block, grid)
        rows = [[rng.getrandbits(32), rng.randrange(1, 7), rng.randrange(4), rng.randrange(3)] for _ in range(warps.count)]

        def lane_of(lane, thread, threads):
            value, turns, c, e = rows[thread]
            mask = bits(range(len(threads)))
            i = 0
            while True:
                value = work(value, (i ^ c) & 3, e)
                if exchange:
                    value = combine(value, (yield operation, mask, value))
                i += 1
                stays = yield "ballot", mask, i < turns
                mask = bits(other for other, stay in stays.items() if stay)
                if i >= turns:
                    return [value, i]

        launch(family, f"{name}_{shape_name(block, grid)}", name, warps, rows, run(warps, lane_of))


def families(tables):
    purpose = "Loops that lanes leave one by one, with a mask of those that stay."
    family = Family("warp_masks", purpose, tables, FUNCTION, header=header("8.0"))
    rng = random.Random("warp_masks")
    for body_name, body, work in bodies():
        for exchange_name, exchange, operation, combine in exchanges():
            for last in (False, True) if exchange_name in ("none", "shuffle") else (False,):
                kernel(family, rng, body_name, body, work, exchange_name, exchange, operation, combine, last)
    return [family]

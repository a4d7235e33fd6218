"""Clusters of several blocks: registers, barriers, shared memory of other blocks, and what is asynchronous there."""

import struct

from .ptx import Family, header

REGISTERS = [
    ".reg .pred %p, %q, %r;",
    ".reg .b16 %h;",
    ".reg .b32 %t, %n, %rank, %size, %cluster, %a, %b, %c, %i, %u, %v, %w;",
    ".reg .b64 %po, %src, %x, %y, %s;",
]
# Where the thread is, and its number among all of a grid of one dimension.
THREAD = [
    "ld.param.u64 %po, [out];",
    "mov.u32 %t, %tid.x;",
    "mov.u32 %n, %ntid.x;",
    "mov.u32 %rank, %cluster_ctarank;",
    "mov.u32 %size, %cluster_nctarank;",
    "mov.u32 %cluster, %clusterid.x;",
    "mov.u32 %u, %ctaid.x;",
    "mad.lo.u32 %i, %u, %n, %t;",
]
MEET = ["barrier.cluster.arrive;", "barrier.cluster.wait;"]
PARAMS = [".param .u64 out"]


def family_of(name, purpose, tables, directives=""):
    return Family(name, purpose, tables, directives, header=header("8.1"))


def required(*size):
    return f" .reqnctapercluster {', '.join(map(str, size))}"


def store(register, words=1, place=0, bits=32):
    """Stores a result of the thread's."""
    return [f"mad.wide.u32 %y, %i, {bits // 8 * words}, %po;", f"st.global.u{bits} [%y+{bits // 8 * place}], {register};"]


def zeros(ty, count):
    return [{"type": ty, "zeros": count}]


def registers(tables):
    family = family_of("cluster_registers", "Where a block is in its cluster, and a thread in its block.", tables)
    launched = family_of("cluster_launch", "The same in clusters that the launch asks for.", tables)
    names = [f"%{name}.{d}" for name in ("tid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid") for d in "xyz"]
    names += ["%cluster_ctarank", "%cluster_nctarank", "%laneid", "%nwarpid"]
    count = len(names) + 2
    body = ["ld.param.u64 %po, [out];", "mov.u32 %u, %ctaid.z;", "mov.u32 %v, %nctaid.y;", "mov.u32 %w, %ctaid.y;"]
    body += ["mad.lo.u32 %u, %u, %v, %w;", "mov.u32 %v, %nctaid.x;", "mov.u32 %w, %ctaid.x;", "mad.lo.u32 %i, %u, %v, %w;"]
    body += ["mov.u32 %u, %tid.z;", "mov.u32 %v, %ntid.y;", "mov.u32 %w, %tid.y;", "mad.lo.u32 %u, %u, %v, %w;"]
    body += ["mov.u32 %v, %ntid.x;", "mov.u32 %w, %tid.x;", "mad.lo.u32 %t, %u, %v, %w;", "mov.u32 %w, %ntid.y;"]
    body += ["mul.lo.u32 %v, %v, %w;", "mov.u32 %w, %ntid.z;", "mul.lo.u32 %v, %v, %w;", "mad.lo.u32 %i, %i, %v, %t;"]
    body += [f"mad.wide.u32 %po, %i, {4 * count}, %po;"]
    for place, name in enumerate(names):
        body += [f"mov.u32 %v, {name};", f"st.global.u32 [%po+{4 * place}], %v;"]
    body += ["mov.pred %p, %is_explicit_cluster;", "selp.u32 %v, 1, 0, %p;", f"st.global.u32 [%po+{4 * len(names)}], %v;"]
    # The first thread of the warp, or the thread itself.
    warps = ["activemask.b32 %u;", "shfl.sync.idx.b32 %v, %t, 0, 31, %u;"]
    plain = ["mov.u32 %v, %t;"]
    last = [f"st.global.u32 [%po+{4 * len(names) + 4}], %v;"]

    def expected(grid, block, cluster, explicit, with_warps):
        threads = block[0] * block[1] * block[2]
        data = []
        for z in range(grid[2]):
            for y in range(grid[1]):
                for x in range(grid[0]):
                    at = (x, y, z)
                    own = [a % c for a, c in zip(at, cluster)]
                    for t in range(threads):
                        tid = [t % block[0], t // block[0] % block[1], t // block[0] // block[1]]
                        data += [*tid, *at, *grid, *(a // c for a, c in zip(at, cluster)), *(g // c for g, c in zip(grid, cluster))]
                        data += [*own, *cluster, own[0] + cluster[0] * (own[1] + cluster[1] * own[2])]
                        data += [cluster[0] * cluster[1] * cluster[2], t % 32, 64, int(explicit)]
                        data.append(t // 32 * 32 if with_warps else t)
        return data

    for with_warps, middle in ((False, plain), (True, warps)):
        suffix = "_warps" if with_warps else ""
        for cluster, grid, block in (((2, 1, 1), (4, 1, 1), (33, 1, 1)), ((2, 2, 2), (4, 2, 2), (5, 3, 2)), ((1, 4, 1), (2, 4, 1), (4, 8, 1))):
            name = "demanded_" + "_".join(map(str, cluster)) + suffix
            family.kernel(name, PARAMS, REGISTERS, body + middle + last, required(*cluster))
            data = expected(grid, block, cluster, True, with_warps)
            family.case(name, name, zeros("u32", len(data)), [{"arg": 0, "data": data}], block=block, grid=grid)
        name = "launched" + suffix
        launched.kernel(name, PARAMS, REGISTERS, body + middle + last, " .maxclusterrank 8")
        for cluster, grid, block in (((1, 1, 1), (2, 1, 1), (3, 1, 1)), ((4, 1, 1), (4, 1, 1), (20, 1, 1)), ((1, 2, 3), (2, 2, 3), (8, 2, 1))):
            data = expected(grid, block, cluster, True, with_warps)
            label = f"{name}/" + "_".join(map(str, cluster))
            launched.case(label, name, zeros("u32", len(data)), [{"arg": 0, "data": data}], block=block, grid=grid, cluster=list(cluster))
        data = expected((3, 1, 1), (4, 1, 1), (1, 1, 1), False, with_warps)
        launched.case(f"{name}/alone", name, zeros("u32", len(data)), [{"arg": 0, "data": data}], block=4, grid=3)
    return [family, launched]


def word(cluster, rank, thread):
    return 1000 * cluster + 100 * rank + thread + 7


WORD = ["mad.lo.u32 %w, %cluster, 1000, 7;", "mad.lo.u32 %w, %rank, 100, %w;", "add.u32 %w, %w, %t;"]


def shared(tables):
    """Each thread reads what its fellows in the other blocks have written."""
    directives = ".shared .align 4 .b8 few[12];\n.shared .align 128 .b32 data[96];\n.extern .shared .align 16 .b32 dynamic[];\n"
    family = family_of("cluster_shared", "Shared memory of the cluster's other blocks.", tables, directives)
    # %b: the rank of another block, by %v places further on.
    other = ["add.u32 %b, %rank, %v;", "rem.u32 %b, %b, %size;"]
    own = {"static": "data", "dynamic": "dynamic"}
    ways = {
        "narrow": ["mapa.shared::cluster.u32 %c, %a, %b;", "ld.shared::cluster.u32 %w, [%c];"],
        "wide": ["cvt.u64.u32 %x, %a;", "mapa.shared::cluster.u64 %x, %x, %b;", "ld.shared::cluster.u32 %w, [%x];"],
        "generic": ["cvt.u64.u32 %x, %a;", "cvta.shared.u64 %x, %x;", "mapa.u64 %x, %x, %b;", "ld.u32 %w, [%x];"],
        "generic_cluster": [
            "mapa.shared::cluster.u32 %c, %a, %b;", "cvt.u64.u32 %x, %c;", "cvta.shared::cluster.u64 %x, %x;", "ld.u32 %w, [%x];",
            "cvta.to.shared::cluster.u64 %x, %x;", "cvt.u32.u64 %c, %x;", "ld.shared::cluster.u32 %w, [%c];",
        ],
    }
    warps = ["activemask.b32 %u;", "shfl.sync.idx.b32 %w, %w, 0, 31, %u;", "sub.u32 %w, %w, %t;"]
    for where, variable in own.items():
        for way, lines in ways.items():
            for with_warps in (False, True):
                if with_warps and way not in ("narrow", "generic"):
                    continue
                body = THREAD + WORD + [f"mov.u32 %a, {variable};", "mad.lo.u32 %a, %t, 4, %a;", "st.shared.u32 [%a], %w;"] + MEET
                for step in range(4):
                    body += [f"mov.u32 %v, {step};"] + other + lines + (warps if with_warps else []) + store("%w", 4, step)
                body += MEET
                name = f"{where}_{way}" + ("_warps" if with_warps else "")
                family.kernel(name, PARAMS, REGISTERS, body, required(4))
                for block in (64, 37) if with_warps or way == "narrow" else (37,):
                    data = []
                    for cluster in range(2):
                        for rank in range(4):
                            for t in range(block):
                                for step in range(4):
                                    from_rank = (rank + step) % 4
                                    source = t // 32 * 32 if with_warps else t
                                    data.append(word(cluster, from_rank, source) - (t if with_warps else 0))
                    more = {"dynamic_shared_bytes": 4 * block} if where == "dynamic" else {}
                    data = [value & 0xFFFFFFFF for value in data]
                    family.case(f"{name}/{block}", name, zeros("u32", len(data)), [{"arg": 0, "data": data}], block=block, grid=8, **more)
    # What is known of addresses. Both variables are used, so that neither begins a block's memory.
    body = THREAD + ["setp.eq.u32 %q, %t, 0;", "@%q st.shared.u32 [few+4], %t;", "add.u32 %b, %rank, 1;", "rem.u32 %b, %b, %size;", "mov.u32 %a, data;"]
    results = []

    def truth(lines, value):
        body.extend(lines + ["selp.u32 %v, 1, 0, %p;"] + store("%v", 16, len(results)))
        results.append(value)

    def number(lines, value):
        body.extend(lines + store("%v", 16, len(results)))
        results.append(value)

    body += ["cvt.u64.u32 %x, %a;", "cvta.shared.u64 %x, %x;", "mapa.u64 %s, %x, %b;"]
    truth(["isspacep.shared %p, %x;"], lambda r, n: 1)
    truth(["isspacep.shared::cta %p, %x;"], lambda r, n: 1)
    truth(["isspacep.shared::cluster %p, %x;"], lambda r, n: 1)
    truth(["isspacep.shared %p, %s;"], lambda r, n: 0)
    truth(["isspacep.shared::cta %p, %s;"], lambda r, n: 0)
    truth(["isspacep.shared::cluster %p, %s;"], lambda r, n: 1)
    truth(["isspacep.global %p, %s;"], lambda r, n: 0)
    truth(["isspacep.shared::cluster %p, %po;"], lambda r, n: 0)
    number(["getctarank.u64 %v, %x;"], lambda r, n: r)
    number(["getctarank.u64 %v, %s;"], lambda r, n: (r + 1) % n)
    number(["getctarank.shared::cluster.u32 %v, %a;"], lambda r, n: r)
    number(["mapa.shared::cluster.u32 %c, data, %b;", "getctarank.shared::cluster.u32 %v, %c;"], lambda r, n: (r + 1) % n)
    number(["cvt.u64.u32 %x, %c;", "getctarank.shared::cluster.u64 %v, %x;"], lambda r, n: (r + 1) % n)
    # There and back again.
    number(["mapa.shared::cluster.u32 %c, %c, %rank;", "sub.u32 %v, %c, %a;"], lambda r, n: 0)
    number(["mapa.shared::cluster.u32 %c, data+8, %b;", "mapa.shared::cluster.u32 %c, %c, %rank;", "sub.u32 %v, %c, %a;"], lambda r, n: 8)
    number(["and.b32 %v, %a, 127;"], lambda r, n: 0)
    family.kernel("addresses", PARAMS, REGISTERS, body, required(3))
    data = [value(rank, 3) for rank in range(3) for _ in range(5) for value in results]
    family.case("addresses", "addresses", zeros("u32", len(data)), [{"arg": 0, "data": data}], block=5, grid=3)
    return family


def sums(tables):
    """Atomics on the first block's memory, by all threads of the cluster."""
    directives = ".shared .align 16 .b64 data[32];\n"
    family = family_of("cluster_atomics", "Atomics on the shared memory of other blocks.", tables, directives)
    purpose = (
        "Atomics on 64 bits of the shared memory of other blocks. The values follow the manual: not for recording.\n"
        "CUDA's compiler makes loops of compare-and-swap of these, which lose updates (driver 580.159 on an H200)."
    )
    long = family_of("cluster_atomics_long", purpose, tables, directives)
    # The operand is the thread's number in the cluster plus one, in each type.
    operands = range(1, 3 * 40 + 1)
    total = sum(operands)
    f32, f64 = (int.from_bytes(struct.pack(form, total), "big") for form in (">f", ">d"))
    xor = 0
    for value in operands:
        xor ^= value
    # Type, operation, operand, the start, and what comes out.
    rows = [
        ("u32", "add", "%w", 5, 5 + total), ("s32", "add", "%w", 0, total), ("u64", "add", "%x", 1 << 33, (1 << 33) + total),
        ("u32", "min", "%w", 99, 1), ("s32", "max", "%w", 3, 120),
        ("b32", "or", "%w", 0x1000, 0x107F), ("b32", "and", "%w", 0xFFFF, 0),
        ("f32", "add", "%f", 0, f32), ("f64", "add", "%d", 0, f64),
    ]
    sums_of(family, rows)
    sums_of(long, [("u64", "max", "%x", 3, 120), ("s64", "min", "%x", 99, 1), ("b64", "xor", "%x", 0, xor)])
    return [family, long]


def sums_of(family, rows):
    body = THREAD + ["mad.lo.u32 %w, %rank, %n, %t;", "add.u32 %w, %w, 1;", "cvt.u64.u32 %x, %w;", "cvt.rn.f32.u32 %f, %w;", "cvt.rn.f64.u32 %d, %w;"]
    body += ["mov.u32 %a, data;", "setp.eq.u32 %p, %t, 0;"]
    for place, (ty, _, _, start, _) in enumerate(rows):
        bits = ty[1:]
        body += [f"mov.b64 %s, {start};", f"@%p st.shared.b64 [%a+{8 * place}], %s;"]
    body += MEET + ["mov.u32 %b, 0;", "mapa.shared::cluster.u32 %c, %a, %b;", "cvt.u64.u32 %y, %c;", "cvta.shared::cluster.u64 %y, %y;"]
    old = {"u32": "%u", "s32": "%u", "b32": "%u", "u64": "%s", "s64": "%s", "b64": "%s", "f32": "%g", "f64": "%e"}
    for place, (ty, operation, operand, _, _) in enumerate(rows):
        reduction = f"red.relaxed.cluster.shared::cluster.{operation}.{ty} [%c+{8 * place}], {operand};"
        exchange = f"atom.cluster.shared::cluster.{operation}.{ty} {old[ty]}, [%c+{8 * place}], {operand};"
        generic = f"atom.{operation}.{ty} {old[ty]}, [%y+{8 * place}], {operand};"
        body.append((reduction, exchange, generic)[place % 3])
    body += MEET + ["setp.eq.u32 %p, %rank, 0;", "setp.lt.and.u32 %p, %t, " + str(len(rows)) + ", %p;", "@!%p bra done;"]
    body += ["mad.lo.u32 %a, %t, 8, %a;", "ld.shared.u64 %x, [%a];", "mad.lo.u32 %u, %cluster, " + str(len(rows)) + ", %t;"]
    body += ["mad.wide.u32 %po, %u, 8, %po;", "st.global.u64 [%po], %x;", "done:"]
    family.kernel("sums", PARAMS, REGISTERS + [".reg .f32 %f, %g;", ".reg .f64 %d, %e;"], body, required(3))
    data = [row[4] for row in rows] * 2
    family.case("sums", "sums", zeros("u64", len(data)), [{"arg": 0, "data": data}], block=40, grid=6)


def barriers(tables):
    """Barriers of blocks and of the cluster, wherever blocks and threads are."""
    directives = ".shared .align 4 .b32 data[128];\n.shared .align 4 .b32 flag;\n"
    family = family_of("cluster_barriers", "Barriers of the blocks of a cluster, and of all of it.", tables, directives)
    mine = ["mov.u32 %a, data;", "mad.lo.u32 %c, %t, 4, %a;"]
    # The neighbour's word, next round's by one more: after k rounds it is t + k's start plus k.
    turn = ["st.shared.u32 [%c], %w;", "bar.sync {id};", "add.u32 %u, %t, 1;", "rem.u32 %u, %u, %n;", "mad.lo.u32 %u, %u, 4, %a;"]
    turn += ["ld.shared.u32 %w, [%u];", "add.u32 %w, %w, 1;", "bar.sync {id};"]

    def rounds(label, count, barrier=0):
        """`count` rounds, a register or number."""
        lines = ["mov.u32 %v, 0;", f"{label}:", f"setp.ge.u32 %p, %v, {count};", f"@%p bra {label}_end;"]
        lines += [line.format(id=barrier) for line in turn]
        return lines + ["add.u32 %v, %v, 1;", f"bra {label};", f"{label}_end:"]

    def turned(cluster, rank, t, count, block):
        return word(cluster, rank, (t + count) % block) + count

    other = ["add.u32 %b, %rank, 1;", "rem.u32 %b, %b, %size;", "mapa.shared::cluster.u32 %u, %c, %b;", "ld.shared::cluster.u32 %w, [%u];"]
    every = [(cluster, rank) for cluster in range(2) for rank in range(4)]

    def add(name, body, value, blocks=(64, 45), cluster=4):
        family.kernel(name, PARAMS, REGISTERS, body, required(cluster))
        for block in blocks:
            data = [value(c, r, t, block) & 0xFFFFFFFF for c, r in every for t in range(block)]
            family.case(f"{name}/{block}", name, zeros("u32", len(data)), [{"arg": 0, "data": data}], block=block, grid=8)

    # All blocks turn as often.
    body = THREAD + WORD + mine + rounds("turn", 3) + ["st.shared.u32 [%c], %w;"] + MEET + other + MEET + store("%w")
    add("alike", body, lambda c, r, t, n: turned(c, (r + 1) % 4, t, 3, n))
    # Each block turns another number of times.
    body = THREAD + WORD + mine + rounds("turn", "%rank") + ["st.shared.u32 [%c], %w;"] + MEET + other + MEET + store("%w")
    add("unlike", body, lambda c, r, t, n: turned(c, (r + 1) % 4, t, (r + 1) % 4, n))
    # No barrier of the cluster at all.
    body = THREAD + WORD + mine + rounds("turn", "%rank") + store("%w")
    add("apart", body, lambda c, r, t, n: turned(c, r, t, r, n))
    # Between arriving and waiting.
    body = THREAD + WORD + mine + ["barrier.cluster.arrive.release;"] + rounds("turn", "%rank") + ["barrier.cluster.wait.acquire;"]
    body += ["st.shared.u32 [%c], %w;", "barrier.cluster.arrive;", "setp.eq.u32 %q, %rank, 1;", "@!%q bra on;"]
    body += rounds("more", 2, 5) + ["on:", "barrier.cluster.wait;"] + MEET + other + MEET + store("%w")

    def between(cluster, rank, t, block):
        # The block that goes on turning stores what it had before its last turn.
        from_rank = (rank + 1) % 4
        return turned(cluster, from_rank, t, 2 if from_rank == 1 else from_rank, block)

    add("between", body, between)
    # Threads leave, and a whole block does, before the others meet.
    body = THREAD + WORD + mine + ["st.shared.u32 [%c], %w;"] + MEET + ["setp.eq.u32 %p, %rank, 2;", "@%p exit;"]
    body += ["setp.ge.u32 %p, %t, 40;", "@%p exit;"] + ["setp.lt.u32 %p, %t, 3;", "@%p exit;", "bar.sync 0;"]
    body += ["add.u32 %w, %w, 10;", "st.shared.u32 [%c], %w;", "barrier.cluster.arrive;", "barrier.cluster.wait;"]
    body += ["xor.b32 %b, %rank, 1;", "setp.eq.u32 %p, %rank, 3;", "selp.b32 %b, 0, %b, %p;"]
    body += ["mapa.shared::cluster.u32 %u, %c, %b;", "ld.shared::cluster.u32 %w, [%u];"] + store("%w")
    # What is read from has not left: those that may be read wait for the readers.
    body += ["barrier.cluster.arrive;", "barrier.cluster.wait;"]
    partner = lambda r: 0 if r == 3 else r ^ 1
    add("exits", body, lambda c, r, t, n: 0 if r == 2 or t >= 40 or t < 3 else word(c, partner(r), t) + 10)
    # A thread goes on when others have arrived, who wait for what it does then.
    body = THREAD + WORD + ["mov.u32 %a, flag;", "mov.u32 %v, 0;", "setp.eq.u32 %q, %t, 0;", "@%q st.volatile.shared.u32 [%a], %v;"] + MEET
    body += ["setp.eq.u32 %p, %rank, 0;", "barrier.cluster.arrive;", "@%p bra first;", "barrier.cluster.wait;"]
    body += ["setp.eq.u32 %p, %rank, 1;", "and.pred %p, %p, %q;", "mov.u32 %b, 0;", "mapa.shared::cluster.u32 %c, %a, %b;"]
    body += ["@%p st.release.cluster.shared::cluster.u32 [%c], %w;", "bra on;"]
    body += ["first:", "ld.acquire.cluster.shared.u32 %v, [%a];", "setp.eq.u32 %p, %v, 0;", "@%p bra first;", "barrier.cluster.wait;"]
    body += ["on:", "add.u32 %v, %v, %w;"] + MEET + store("%v")
    add("split", body, lambda c, r, t, n: word(c, r, t) + (word(c, 1, 0) if r == 0 else 0))
    # One warp of a block hands words to another, in some blocks one way, in the others the other way.
    body = THREAD + WORD + mine + ["shr.u32 %u, %t, 5;", "xor.b32 %v, %u, %rank;", "and.b32 %v, %v, 1;", "setp.eq.u32 %p, %v, 0;", "mov.u32 %v, 0;"]
    body += ["mov.u32 %b, 0;", "round:", "@%p bra give;", "bar.sync 1, 64;", "xor.b32 %u, %t, 32;", "mad.lo.u32 %u, %u, 4, %a;"]
    body += ["ld.shared.u32 %i, [%u];", "add.u32 %v, %v, %i;", "bar.arrive 2, 64;", "bra next;"]
    body += ["give:", "st.shared.u32 [%c], %w;", "bar.arrive 1, 64;", "add.u32 %w, %w, 1;", "bar.sync 2, 64;"]
    body += ["next:", "add.u32 %b, %b, 1;", "setp.le.u32 %q, %b, %rank;", "@%q bra round;", "mov.u32 %u, %ctaid.x;", "mad.lo.u32 %i, %u, %n, %t;"]
    body += ["st.shared.u32 [%c], %v;"] + MEET + other + MEET + store("%w")

    def handed(cluster, rank, t):
        if (t // 32 ^ rank) & 1 == 0:
            return 0
        return sum(word(cluster, rank, t ^ 32) + turn for turn in range(rank + 1))

    add("named", body, lambda c, r, t, n: handed(c, (r + 1) % 4, t), blocks=(64,))
    # Reductions: each block has its own, also where only some blocks do.
    for name, guard in (("votes", []), ("some_votes", ["setp.eq.u32 %r, %rank, 1;", "@%r bra on;"])):
        body = THREAD + WORD + mine + ["mov.u32 %v, 0;"] + guard + ["mad.lo.u32 %u, %rank, 8, 3;", "setp.lt.u32 %p, %t, %u;", "bar.red.popc.u32 %v, 0, %p;"]
        body += ["setp.ne.u32 %p, %rank, 2;", "bar.red.and.pred %q, 0, %p;", "selp.u32 %u, 1000, 0, %q;", "add.u32 %v, %v, %u;"]
        body += ["setp.eq.u32 %p, %rank, 3;", "setp.eq.and.u32 %p, %t, 5, %p;", "bar.red.or.pred %q, 0, %p;", "selp.u32 %u, 5000, 0, %q;"]
        body += ["add.u32 %v, %v, %u;", "on:", "st.shared.u32 [%c], %v;"] + MEET + other + MEET + store("%w")
        votes = lambda r: 8 * r + 3 + (1000 if r != 2 else 0) + (5000 if r == 3 else 0)
        add(name, body, lambda c, r, t, n, some=bool(guard): 0 if some and (r + 1) % 4 == 1 else votes((r + 1) % 4))
    # A different way through for each warp, with operations of the warp.
    body = THREAD + WORD + mine + ["mov.u32 %v, 0;", "shr.u32 %u, %t, 5;", "setp.ne.u32 %p, %u, 0;", "@%p bra on;"]
    body += ["mov.u32 %i, 0;", "again:", "activemask.b32 %b;", "shfl.sync.idx.b32 %u, %w, 3, 31, %b;", "add.u32 %v, %v, %u;", "add.u32 %i, %i, 1;"]
    body += ["setp.le.u32 %q, %i, %rank;", "@%q bra again;", "on:", "bar.sync 0;", "mov.u32 %u, %ctaid.x;", "mad.lo.u32 %i, %u, %n, %t;"]
    body += ["st.shared.u32 [%c], %v;"] + MEET + other + MEET + store("%w")
    add("warps", body, lambda c, r, t, n: 0 if t >= 32 else ((r + 1) % 4 + 1) * word(c, (r + 1) % 4, 3))
    return family


FUNCTIONS = {
    "inc": lambda a, b: 0 if a >= b else a + 1,
    "dec": lambda a, b: b if a == 0 or a > b else a - 1,
    "min": min,
    "max": max,
    "add": lambda a, b: a + b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}
# What asynchronous reductions in shared memory there are.
REDUCTIONS = [("inc", "u32"), ("dec", "u32"), ("and", "b32"), ("or", "b32"), ("xor", "b32")]
REDUCTIONS += [(operation, ty) for operation in ("min", "max") for ty in ("u32", "s32")] + [("add", ty) for ty in ("u32", "s32", "u64")]
BARRIERS = ".shared .align 16 .b8 data[1024];\n.shared .align 8 .b64 barriers[2];\n"
INITIALISE = ["mov.u32 %a, data;", "mov.u32 %b, barriers;", "setp.eq.u32 %q, %t, 0;"]


def initialised(*counts):
    lines = list(INITIALISE)
    for place, count in enumerate(counts):
        lines.append(f"@%q mbarrier.init.shared.b64 [%b+{8 * place}], {count};")
    return lines + ["@%q fence.mbarrier_init.release.cluster;"] + MEET


def wait(label, parity, place=0):
    form = "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64"
    return [f"{label}:", f"{form} %p, [%b+{8 * place}], {parity};", f"@!%p bra {label};"]


def mapped(rank):
    """Addresses of the same places in another block: %c of `data`, %v of `barriers`."""
    return [f"mapa.shared::cluster.u32 %c, %a, {rank};", f"mapa.shared::cluster.u32 %v, %b, {rank};"]


NEXT = ["add.u32 %w, %rank, 1;", "rem.u32 %w, %w, %size;"]


def arrivals(tables):
    """Barriers in the memory of other blocks."""
    family = family_of("cluster_mbarrier", "mbarriers in the shared memory of other blocks.", tables, BARRIERS)
    forms = {
        "plain": ["mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%v];"],
        "counted": ["mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%v], 1;"],
        "expecting": [
            "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%v], 8;",
            "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%v], 8;",
        ],
        "apart": [
            "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%v], 24;",
            "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%v], 24;",
            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%v];",
        ],
        "generic": ["cvt.u64.u32 %x, %v;", "cvta.shared::cluster.u64 %x, %x;", "mbarrier.arrive.release.cluster.b64 _, [%x];"],
    }
    for name, lines in forms.items():
        # Each thread writes to the next block and arrives there; then it waits for the one before.
        body = THREAD + WORD + ["mov.u32 %i, %w;"] + initialised("%n") + NEXT + mapped("%w") + ["mov.u32 %u, 0;", "round:", "and.b32 %w, %u, 1;"]
        body += ["shl.b32 %n, %t, 2;", "add.u32 %n, %n, %c;", "st.shared::cluster.u32 [%n], %i;"] + lines + wait("wait", "%w")
        body += ["shl.b32 %n, %t, 2;", "add.u32 %n, %n, %a;", "ld.shared.u32 %i, [%n];", "add.u32 %i, %i, 1;"] + MEET
        body += ["add.u32 %u, %u, 1;", "setp.lt.u32 %r, %u, 3;", "@%r bra round;", "mov.u32 %w, %i;", "mov.u32 %n, %ntid.x;"]
        body += ["mov.u32 %u, %ctaid.x;", "mad.lo.u32 %i, %u, %n, %t;"] + store("%w")
        family.kernel(name, PARAMS, REGISTERS, body, required(4))
        data = [word(c, (r - 3) % 4, t) + 3 for c in range(2) for r in range(4) for t in range(48)]
        family.case(name, name, zeros("u32", len(data)), [{"arg": 0, "data": data}], block=48, grid=8)
    return family


def stores(tables):
    """st.async and red.async to the next block."""
    family = family_of("cluster_async", "Asynchronous stores and reductions in other blocks' memory.", tables, BARRIERS)
    sources = {32: ["%u0", "%u1", "%u2", "%u3"], 64: ["%d0", "%d1", "%d2", "%d3"]}
    more = [".reg .b32 %u0, %u1, %u2, %u3;", ".reg .b64 %d0, %d1, %d2, %d3;"]
    operands = WORD + ["mov.u32 %u0, %w;"]
    for k in range(1, 4):
        operands += [f"add.u32 %u{k}, %w, {10000 * k};"]
    for k in range(4):
        operands += [f"cvt.u64.u32 %d{k}, %u{k};", f"add.u64 %d{k}, %d{k}, {k + 1 << 40};"]
    for ty in ("b32", "b64", "u32", "u64", "s32", "s64", "f32", "f64"):
        bits = int(ty[1:])
        for count, vector in ((1, ""), (2, ".v2"), (4, ".v4")):
            if bits * count > 128:
                continue
            for generic in (False, True):
                if generic and ty not in ("b32", "u64"):
                    continue
                size = bits // 8 * count
                chosen = sources[bits][:count]
                operand = "{" + ", ".join(chosen) + "}" if vector else chosen[0]
                body = THREAD + operands + initialised("1") + [f"mul.lo.u32 %i, %n, {size};", "@%q mbarrier.arrive.expect_tx.shared.b64 _, [%b], %i;"]
                body += NEXT + mapped("%w") + [f"mad.lo.u32 %c, %t, {size}, %c;"]
                if generic:
                    body += ["cvt.u64.u32 %x, %c;", "cvta.shared::cluster.u64 %x, %x;", "cvt.u64.u32 %s, %v;", "cvta.shared::cluster.u64 %s, %s;"]
                space, to, barrier = ("", "%x", "%s") if generic else (".shared::cluster", "%c", "%v")
                weak = ".weak" if ty == "u32" else ""
                body += [f"st.async{weak}{space}.mbarrier::complete_tx::bytes{vector}.{ty} [{to}], {operand}, [{barrier}];"] + wait("wait", 0)
                body += [f"mad.lo.u32 %a, %t, {size}, %a;", "mov.u32 %u, %ctaid.x;", "mov.u32 %n, %ntid.x;", "mad.lo.u32 %i, %u, %n, %t;"]
                for k in range(count):
                    register = "%v" if bits == 32 else "%x"
                    body += [f"ld.shared.b{bits} {register}, [%a+{bits // 8 * k}];"] + store(register, count, k, bits)
                body += MEET
                name = f"store_{ty}" + (f"_v{count}" if vector else "") + ("_generic" if generic else "")
                family.kernel(name, PARAMS, REGISTERS + more, body, required(3))
                data = []
                for r in range(3):
                    for t in range(33):
                        for k in range(count):
                            value = word(0, (r - 1) % 3, t) + 10000 * k
                            data.append(value + (k + 1 << 40) if bits == 64 else value)
                family.case(name, name, zeros(f"u{bits}", len(data)), [{"arg": 0, "data": data}], block=33, grid=3)
    for operation, ty in REDUCTIONS:
        bits = int(ty[1:])
        mask = (1 << bits) - 1
        size = bits // 8
        # The old content is 30 less than the thread's number of the block that has it; the operand is %u0 or %d0.
        register, old, operand = ("%v", "%i", "%u0") if bits == 32 else ("%x", "%x", "%d0")
        body = THREAD + operands + ["sub.u32 %u0, %u0, 1010;", "cvt.s64.s32 %d0, %u0;", "add.u32 %i, %rank, %t;", "sub.u32 %i, %i, 10;", "cvt.s64.s32 %x, %i;"]
        body += ["mov.u32 %a, data;", f"mad.lo.u32 %u, %t, {size}, %a;", f"st.shared.b{bits} [%u], {old};"]
        body += initialised("1") + [f"mul.lo.u32 %i, %n, {size};", "@%q mbarrier.arrive.expect_tx.shared.b64 _, [%b], %i;"]
        body += NEXT + mapped("%w") + [f"mad.lo.u32 %c, %t, {size}, %c;"]
        body += [f"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{operation}.{ty} [%c], {operand}, [%v];"] + wait("wait", 0)
        body += [f"mad.lo.u32 %a, %t, {size}, %a;", "mov.u32 %u, %ctaid.x;", "mov.u32 %n, %ntid.x;", "mad.lo.u32 %i, %u, %n, %t;"]
        body += [f"ld.shared.b{bits} {register}, [%a];"] + store(register, 1, 0, bits) + MEET
        name = f"{operation}_{ty}"
        family.kernel(name, PARAMS, REGISTERS + more, body, required(3))
        signed = lambda value: value - (1 << bits) if ty[0] == "s" and value >> (bits - 1) else value
        data = []
        for r in range(3):
            for t in range(33):
                before = signed(r + t - 10 & mask)
                value = signed(word(0, (r - 1) % 3, t) - 1010 & mask)
                data.append(FUNCTIONS[operation](before, value) & mask)
        family.case(name, name, zeros(f"u{bits}", len(data)), [{"arg": 0, "data": data}], block=33, grid=3)
    return family


def copies(tables):
    """Bulk copies to other blocks, one or several, and bulk reductions there."""
    family = family_of("cluster_copies", "Bulk copies and reductions between the blocks of a cluster.", tables, BARRIERS)
    source = [value * 2654435761 & 0xFFFFFFFF for value in range(64)]
    params = [".param .u64 out", ".param .u64 source"]
    # Each block sends 16 of its words to the blocks of its mask, at another place for each.
    masks = [0b1010, 0b0001, 0b1111, 0b0110]
    fill = ["add.u32 %i, %t, 500;", "mad.lo.u32 %u, %t, 4, %a;", "st.shared.u32 [%u], %i;"]
    show = ["mov.u32 %n, %ntid.x;", "mov.u32 %u, %ctaid.x;", "mad.lo.u32 %i, %u, %n, %t;", "mad.lo.u32 %u, %t, 4, %a;", "ld.shared.u32 %v, [%u];"]
    show += store("%v") + MEET
    table = sum(mask << 4 * rank for rank, mask in enumerate(masks))
    for hint, policy in (("", ""), (".L2::cache_hint", ", %s")):
        body = THREAD + ["ld.param.u64 %src, [source];", "mov.u64 %s, 0x14f0000000000000;", "mov.u32 %a, data;"] + fill + initialised("1")
        # As many blocks as send here.
        received = [sum(mask >> rank & 1 for mask in masks) for rank in range(4)]
        body += [f"mov.u32 %i, {sum(count << 8 * rank for rank, count in enumerate(received))};", "mul.lo.u32 %u, %rank, 8;", "shr.u32 %i, %i, %u;"]
        body += ["and.b32 %i, %i, 255;", "shl.b32 %i, %i, 6;", "@!%q bra wait;", "mbarrier.arrive.expect_tx.shared.b64 _, [%b], %i;"]
        body += [f"mov.u32 %i, {table};", "mul.lo.u32 %u, %rank, 4;", "shr.u32 %i, %i, %u;", "and.b32 %i, %i, 15;", "cvt.u16.u32 %h, %i;"]
        body += ["mad.wide.u32 %src, %rank, 64, %src;", "mad.lo.u32 %c, %rank, 64, %a;"]
        body += [f"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster{hint} [%c], [%src], 64, [%b], %h{policy};"]
        body += wait("wait", 0) + show
        name = "multicast" + ("_hint" if hint else "")
        family.kernel(name, params, REGISTERS, body, required(4))
        data = []
        for rank in range(4):
            for t in range(64):
                data.append(source[t] if masks[t // 16] >> rank & 1 else t + 500)
        args = zeros("u32", 256) + [{"type": "u32", "data": source}]
        family.case(name, name, args, [{"arg": 0, "data": data}], block=64, grid=4)
    # To the next block.
    body = THREAD + ["mov.u32 %a, data;", "mad.lo.u32 %i, %rank, 1000, %t;", "mad.lo.u32 %u, %t, 4, %a;", "st.shared.u32 [%u], %i;", "mov.u32 %i, 0;"]
    body += ["st.shared.u32 [%u+512], %i;", "fence.proxy.async;"] + initialised("1") + ["@!%q bra wait;"]
    body += ["mbarrier.arrive.expect_tx.shared.b64 _, [%b], 240;"] + NEXT + mapped("%w") + ["mov.u32 %u, 224;"]
    copy = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
    body += [f"{copy} [%c+512], [%a], %u, [%v];", f"{copy} [%c+736], [%a+224], 16, [%v];"] + wait("wait", 0)
    body += ["add.u32 %a, %a, 512;"] + show
    family.kernel("exchange", PARAMS, REGISTERS, body, required(4))
    data = [1000 * ((rank - 1) % 4) + t if t < 60 else 0 for rank in range(4) for t in range(64)]
    family.case("exchange", "exchange", zeros("u32", 256), [{"arg": 0, "data": data}], block=64, grid=4)
    for operation, ty in REDUCTIONS:
        bits = int(ty[1:])
        size, mask = bits // 8, (1 << int(ty[1:])) - 1
        register = "%i" if bits == 32 else "%x"
        wide = [] if bits == 32 else ["cvt.s64.s32 %x, %i;"]
        body = THREAD + ["mov.u32 %a, data;", f"mad.lo.u32 %u, %t, {size}, %a;", "mad.lo.u32 %i, %rank, 7, %t;", "sub.u32 %i, %i, 20;"] + wide
        body += [f"st.shared.b{bits} [%u], {register};", "mul.lo.u32 %i, %t, 3;", "sub.u32 %i, %i, %rank;", "sub.u32 %i, %i, 40;"] + wide
        body += [f"st.shared.b{bits} [%u+512], {register};", "fence.proxy.async;"] + initialised("1") + ["@!%q bra wait;"]
        body += [f"mbarrier.arrive.expect_tx.shared.b64 _, [%b], {32 * size};"] + NEXT + mapped("%w")
        body += [f"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{operation}.{ty} [%c+512], [%a], {32 * size}, [%v];"]
        body += wait("wait", 0) + [f"mad.lo.u32 %u, %t, {size}, %a;", f"ld.shared.b{bits} {register}, [%u+512];"]
        body += ["mov.u32 %w, %i;", "mov.u32 %u, %ctaid.x;", "mad.lo.u32 %i, %u, %n, %t;"]
        body += store("%w" if bits == 32 else "%x", 1, 0, bits) + MEET
        name = f"{operation}_{ty}"
        family.kernel(name, PARAMS, REGISTERS, body, required(3))
        signed = lambda value: value - (1 << bits) if ty[0] == "s" and value >> (bits - 1) else value
        data = []
        for r in range(3):
            for t in range(32):
                before = signed(3 * t - r - 40 & mask)
                value = signed(7 * ((r - 1) % 3) + t - 20 & mask)
                data.append(FUNCTIONS[operation](before, value) & mask)
        family.case(name, name, zeros(f"u{bits}", len(data)), [{"arg": 0, "data": data}], block=32, grid=3)
    return family


def families(tables):
    return [*registers(tables), shared(tables), *sums(tables), barriers(tables), arrivals(tables), stores(tables), copies(tables)]

"""Blocks of up to 1,024 threads in all shapes, more than many devices hold in a workgroup."""

from .ptx import Family

SHAPES = [(1024, 1, 1), (32, 32, 1), (1, 1024, 1), (8, 2, 64), (513, 1, 1), (27, 19, 1)]
OUT = [".param .u64 out"]
REGISTERS = [
    ".reg .b32 %t, %n, %u, %v, %w, %i, %x, %y, %z, %nx, %ny, %nz;",
    ".reg .b64 %po, %a, %b;",
    ".reg .pred %p, %q, %r;",
]
# The thread's number in %t, the block's threads in %n, and the address of the thread's first result in %po; `width` words each.
START = lambda width: [
    "ld.param.u64 %po, [out];",
    "mov.u32 %x, %tid.x;", "mov.u32 %y, %tid.y;", "mov.u32 %z, %tid.z;",
    "mov.u32 %nx, %ntid.x;", "mov.u32 %ny, %ntid.y;", "mov.u32 %nz, %ntid.z;",
    "mad.lo.u32 %t, %z, %ny, %y;", "mad.lo.u32 %t, %t, %nx, %x;",
    "mul.lo.u32 %n, %nx, %ny;", "mul.lo.u32 %n, %n, %nz;",
    "mov.u32 %u, %ctaid.x;", "mad.lo.u32 %u, %u, %n, %t;",
    f"mad.wide.u32 %po, %u, {4 * width}, %po;",
]
SHARED = ".shared .align 4 .b8 words[4096];\n.shared .align 4 .b8 total[8];\n"
# The addresses of the words in shared memory of threads %t and %u.
OWN = ["mov.u64 %a, words;", "mad.wide.u32 %a, %t, 4, %a;"]
OTHER = ["mov.u64 %b, words;", "mad.wide.u32 %b, %u, 4, %b;"]


def threads_of(shape):
    return shape[0] * shape[1] * shape[2]


def launch(family, name, body, values, shapes=SHAPES, width=1, grid=1, declared=(), directives=""):
    """A kernel and a case for each shape; `values` gives the results of a thread of such a block."""
    family.kernel(name, OUT, REGISTERS + list(declared), START(width) + body, directives)
    for shape in shapes:
        count = threads_of(shape)
        expected = [value for block in range(grid) for thread in range(count) for value in values(thread, shape, block)]
        args = [{"type": "u32", "zeros": count * grid * width}]
        title = f"{name}/{'x'.join(map(str, shape))}"
        family.case(title, name, args, [{"arg": 0, "data": expected}], block=shape, grid=grid)


def place(thread, shape):
    x, y = thread % shape[0], thread // shape[0] % shape[1]
    return [x, y, thread // (shape[0] * shape[1])]


def alone(tables):
    """Threads that never meet."""
    family = Family("blocks_alone", "Large blocks whose threads don't meet.", tables)
    # Which number a warp has, only the device knows.
    body = ["mov.u32 %v, %laneid;", "mov.u32 %w, %warpid;", "mov.u32 %u, %nwarpid;", "set.lt.u32.u32 %w, %w, %u;"]
    body += [f"st.global.u32 [%po+{4 * i}], %{r};" for i, r in enumerate(["x", "y", "z", "v", "w"])]
    values = lambda t, shape, block: [*place(t, shape), t % 32, 0xFFFFFFFF]
    launch(family, "places", body, values, width=5, shapes=[(1024, 1, 1), (8, 2, 64), (27, 19, 1)])
    # Loops of different lengths, early exits, and a call, in several blocks.
    family.text.append(
        ".func (.reg .b32 %result) odd_sum(.reg .b32 %limit)\n{\n\t.reg .b32 %i;\n\t.reg .pred %p;\n"
        "\tmov.u32 %result, 0;\n\tmov.u32 %i, 1;\nagain:\n\tsetp.ge.u32 %p, %i, %limit;\n\t@%p ret;\n"
        "\tadd.u32 %result, %result, %i;\n\tadd.u32 %i, %i, 2;\n\tbra.uni again;\n}\n\n"
    )
    body = ["rem.u32 %v, %t, 5;", "setp.eq.u32 %p, %v, 3;", "@%p exit;", "and.b32 %v, %t, 31;"]
    body += ["call (%w), odd_sum, (%v);", "setp.gt.u32 %q, %w, 100;", "@%q bra large;"]
    body += ["st.global.u32 [%po], %w;", "bra.uni done;", "large:", "add.u32 %w, %w, %u;", "st.global.u32 [%po], %w;", "done:"]

    def branches(t, shape, block):
        if t % 5 == 3:
            return [0]
        total = sum(range(1, t % 32, 2))
        return [total + block * threads_of(shape) + t if total > 100 else total]

    launch(family, "ways", body, branches, shapes=[(1024, 1, 1), (1, 16, 48)], grid=3)
    # Arrays of each thread's own.
    body = ["mov.u32 %i, 0;", "mov.u64 %b, own;", "fill:", "mad.wide.u32 %a, %i, 4, %b;", "mad.lo.u32 %v, %i, 1000, %t;"]
    body += ["st.local.u32 [%a], %v;", "add.u32 %i, %i, 1;", "setp.lt.u32 %p, %i, 8;", "@%p bra fill;"]
    body += ["rem.u32 %i, %t, 8;", "mad.wide.u32 %a, %i, 4, %b;", "ld.local.u32 %v, [%a];", "st.global.u32 [%po], %v;"]
    launch(
        family, "own_arrays", body, lambda t, shape, block: [t % 8 * 1000 + t],
        shapes=[(1024, 1, 1), (600, 1, 1)], declared=[".local .align 4 .b8 own[32];"],
    )
    # The block's size is known beforehand.
    body = ["mad.lo.u32 %v, %y, 100, %x;", "st.global.u32 [%po], %v;"]
    plain = lambda t, shape, block: [place(t, shape)[1] * 100 + place(t, shape)[0]]
    launch(family, "required", body, plain, shapes=[(16, 64, 1)], directives=" .reqntid 16, 64, 1")
    launch(family, "most", body, plain, shapes=[(16, 64, 1), (16, 2, 1)], directives=" .maxntid 1024, 1, 1")
    # All add to the same words.
    body = ["ld.param.u64 %a, [out];", "and.b32 %v, %t, 3;", "mad.wide.u32 %a, %v, 4, %a;", "red.global.add.u32 [%a], %t;"]
    family.kernel("additions", OUT, REGISTERS, START(1) + body)
    for shape in SHAPES:
        count = threads_of(shape)
        expected = [2 * sum(range(first, count, 4)) for first in range(4)]
        args = [{"type": "u32", "zeros": 4}]
        title = f"additions/{'x'.join(map(str, shape))}"
        family.case(title, "additions", args, [{"arg": 0, "data": expected}], block=shape, grid=2)
    return family


def together(tables):
    """Threads that meet at barriers."""
    family = Family("blocks_together", "Large blocks with barriers and shared memory.", tables, SHARED)
    body = OWN + ["mad.lo.u32 %v, %t, 3, 1;", "st.shared.u32 [%a], %v;", "bar.sync 0;", "sub.u32 %u, %n, %t;", "sub.u32 %u, %u, 1;"]
    body += OTHER + ["ld.shared.u32 %v, [%b];", "st.global.u32 [%po], %v;"]
    launch(family, "reverse", body, lambda t, shape, block: [(threads_of(shape) - 1 - t) * 3 + 1], grid=2)
    # The sum of all threads up to the own one, in rounds with two barriers each.
    body = OWN + ["mov.u32 %v, %t;", "mov.u32 %i, 1;", "again:", "st.shared.u32 [%a], %v;", "bar.sync 0;", "setp.lt.u32 %p, %t, %i;"]
    body += ["@%p bra first;", "sub.u32 %u, %t, %i;", *OTHER, "ld.shared.u32 %w, [%b];", "add.u32 %v, %v, %w;", "first:", "bar.sync 0;"]
    body += ["shl.b32 %i, %i, 1;", "setp.lt.u32 %q, %i, %n;", "@%q bra again;", "st.global.u32 [%po], %v;"]
    launch(family, "prefix_sums", body, lambda t, shape, block: [t * (t + 1) // 2], shapes=[(1024, 1, 1), (8, 2, 64), (27, 19, 1)])
    # A third of the threads exits; the others count themselves and go on.
    body = OWN + ["rem.u32 %v, %t, 3;", "setp.eq.u32 %p, %v, 0;", "@%p exit;", "setp.lt.u32 %q, %t, 400;"]
    body += ["barrier.red.popc.u32 %w, 0, %q;", "st.shared.u32 [%a], %w;", "barrier.sync 1;", "xor.b32 %u, %t, 1;"]
    body += ["rem.u32 %v, %u, 3;", "setp.eq.u32 %r, %v, 0;", "setp.ge.or.u32 %r, %u, %n, %r;", "@%r bra done;"]
    body += [*OTHER, "ld.shared.u32 %w, [%b];", "done:", "st.global.u32 [%po], %w;"]
    counted = lambda shape: sum(1 for t in range(threads_of(shape)) if t % 3 and t < 400)
    launch(
        family, "third_exits", body, lambda t, shape, block: [counted(shape) if t % 3 else 0],
        shapes=[(1024, 1, 1), (32, 32, 1), (513, 1, 1)],
    )
    # Atomics in shared memory between barriers; the last thread tells.
    body = ["mov.u64 %a, total;", "setp.eq.u32 %p, %t, 0;", "@%p st.shared.u32 [%a], 0;", "@%p st.shared.u32 [%a+4], 0;", "bar.sync 0;"]
    body += ["red.shared.add.u32 [%a], %t;", "red.shared.max.u32 [%a+4], %t;", "bar.sync 0;"]
    body += ["ld.shared.u32 %v, [%a];", "ld.shared.u32 %w, [%a+4];", "st.global.u32 [%po], %v;", "st.global.u32 [%po+4], %w;"]
    launch(family, "totals", body, lambda t, shape, block: [sum(range(threads_of(shape))), threads_of(shape) - 1], width=2)
    # Each half of the block has its own barrier, then all have one.
    body = OWN + ["st.shared.u32 [%a], %t;", "shr.u32 %w, %t, 9;", "add.u32 %i, %w, 1;", "barrier.sync %i, 512;"]
    body += ["xor.b32 %u, %t, 511;", *OTHER, "ld.shared.u32 %v, [%b];", "barrier.sync 0;", "xor.b32 %u, %t, 512;"]
    body += ["st.shared.u32 [%a], %v;", "barrier.sync 0;", *OTHER, "ld.shared.u32 %w, [%b];"]
    body += ["st.global.u32 [%po], %v;", "st.global.u32 [%po+4], %w;"]
    launch(family, "halves", body, lambda t, shape, block: [t ^ 511, t ^ 512 ^ 511], shapes=[(1024, 1, 1), (64, 16, 1)], width=2)
    # Arrays of each thread's own across a barrier.
    body = OWN + ["mov.u64 %b, own;", "and.b32 %i, %t, 3;", "mad.wide.u32 %b, %i, 4, %b;", "st.local.u32 [%b], %t;", "st.shared.u32 [%a], %i;"]
    body += ["bar.sync 0;", "ld.local.u32 %v, [%b];", "xor.b32 %u, %t, 3;", *OTHER, "ld.shared.u32 %w, [%b];"]
    body += ["mad.lo.u32 %v, %v, 10, %w;", "st.global.u32 [%po], %v;"]
    launch(
        family, "own_arrays", body, lambda t, shape, block: [t * 10 + ((t ^ 3) & 3)],
        shapes=[(1024, 1, 1)], declared=[".local .align 4 .b8 own[16];"],
    )
    return family


def warps(tables):
    """Threads that meet in warps too."""
    family = Family("blocks_warps", "Large blocks with operations of warps.", tables, SHARED)
    # The sum of the block: of each warp by shuffles, then of the warps by the first one.
    body = ["mov.u32 %v, %t;", "mov.u32 %i, 16;", "warp:", "shfl.sync.down.b32 %w, %v, %i, 31, 0xffffffff;", "add.u32 %v, %v, %w;"]
    body += ["shr.u32 %i, %i, 1;", "setp.ne.u32 %p, %i, 0;", "@%p bra warp;", "shr.u32 %u, %t, 5;", *OTHER]
    body += ["and.b32 %w, %t, 31;", "setp.eq.u32 %q, %w, 0;", "@%q st.shared.u32 [%b], %v;", "bar.sync 0;", "setp.ge.u32 %p, %t, 32;"]
    body += ["@%p bra wait;", *OWN, "shr.u32 %w, %n, 5;", "mov.u32 %v, 0;", "setp.lt.u32 %q, %t, %w;", "@%q ld.shared.u32 %v, [%a];"]
    body += ["mov.u32 %i, 16;", "first:", "shfl.sync.bfly.b32 %w, %v, %i, 31, 0xffffffff;", "add.u32 %v, %v, %w;", "shr.u32 %i, %i, 1;"]
    body += ["setp.ne.u32 %p, %i, 0;", "@%p bra first;", "setp.eq.u32 %r, %t, 0;", "@%r st.shared.u32 [total], %v;", "wait:", "bar.sync 0;", "ld.shared.u32 %v, [total];"]
    body += ["st.global.u32 [%po], %v;"]
    whole = [(1024, 1, 1), (32, 32, 1), (1, 1024, 1), (8, 2, 64), (160, 1, 1)]
    launch(family, "sum", body, lambda t, shape, block: [sum(range(threads_of(shape)))], shapes=whole, grid=2)
    # Ballots of warps of which the last one lacks threads.
    body = ["rem.u32 %v, %t, 7;", "setp.eq.u32 %p, %v, 2;", "activemask.b32 %u;", "vote.sync.ballot.b32 %w, %p, %u;", "st.global.u32 [%po], %w;"]

    def ballot(t, shape, block):
        warp = range(t & ~31, min((t & ~31) + 32, threads_of(shape)))
        return [sum(1 << (other & 31) for other in warp if other % 7 == 2)]

    launch(family, "ballots", body, ballot, shapes=[(1024, 1, 1), (27, 19, 1), (1, 1, 33)])
    return family


def families(tables):
    return [alone(tables), together(tables), warps(tables)]

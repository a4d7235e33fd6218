"""Tiles of more than a warp, as cooperative groups build them from the shared memory that CUDA reserves: warps of a tile
wait for each other by bits of a word there, and hand each other values behind that. Kernels' own variables stay as they are. The values of a cluster follow the manual: not for recording, since hardware mixes up its blocks.
"""

from .ptx import Family

REGISTERS = [
    ".reg .b32 %t, %r, %w, %v, %s, %b, %m, %a, %i, %n;",
    ".reg .b64 %po, %base, %word, %slot, %x;",
    ".reg .pred %p, %q;",
]
# Where the words of tiles of 64, 128, 256, 512 and 1,024 threads lie, and the slots of the block's warps after them.
SLOTS = 32


def sync(number, tile):
    """The warps of a tile wait for each other: the last one to come takes back the bits of all."""
    warps = tile // 32
    return [
        "bar.warp.sync -1;",
        "and.b32 %i, %t, 31;",
        "setp.ne.u32 %p, %i, 0;",
        f"@%p bra met{number};",
        "atom.or.acq_rel.cta.b32 %a, [%word], %b;",
        "or.b32 %a, %a, %b;",
        "and.b32 %a, %a, %m;",
        "setp.ne.u32 %q, %a, %m;",
        f"@%q bra wait{number};",
        "not.b32 %a, %m;",
        "red.and.release.cta.b32 [%word], %a;",
        f"bra met{number};",
        f"wait{number}:",
        "ld.acquire.cta.b32 %a, [%word];",
        "and.b32 %a, %a, %b;",
        "setp.ne.u32 %q, %a, 0;",
        f"@%q bra wait{number};",
        f"met{number}:",
        "bar.warp.sync -1;",
    ] if warps > 1 else ["bar.warp.sync -1;"]  # fmt: skip


def kernel(family, tile, cluster):
    """Two sums over tiles: of the threads' numbers in the grid, and of these multiplied by the block's own words."""
    warps = tile // 32
    body = ["ld.param.u64 %po, [out];", "mov.u32 %t, %tid.x;", "mov.u32 %r, %ctaid.x;", "mov.u32 %n, %ntid.x;"]
    body += ["mad.lo.u32 %r, %r, %n, %t;", "mad.wide.u32 %po, %r, 12, %po;"]
    body += ["mov.u32 %i, own;", "mad.lo.u32 %i, %t, 4, %i;", "mad.lo.u32 %v, %t, 3, 1;", "st.shared.u32 [%i], %v;"]
    body += ["mov.u32 %i, %reserved_smem_offset_1;", "cvt.u64.u32 %base, %i;", "cvta.shared.u64 %base, %base;"]
    body += ["setp.ne.u32 %p, %t, 0;", "@%p bra ready;"] + [f"st.u32 [%base+{4 * word}], 0;" for word in range(5)]
    body += ["ready:", "barrier.sync 0;", "shr.u32 %w, %t, 5;", "mov.u32 %b, 1;", "shl.b32 %b, %b, %w;"]
    body += [f"and.b32 %i, %w, {-warps & 0xFFFFFFFF};", f"mov.u32 %m, {(1 << warps) - 1};", "shl.b32 %m, %m, %i;"]
    body += [f"add.u64 %word, %base, {4 * (warps.bit_length() - 2)};", f"mad.wide.u32 %slot, %i, 8, %base;"]
    body += ["mov.u32 %v, %r;"]
    for step in range(2):
        body += ["mov.u32 %s, %v;"]
        for distance in (16, 8, 4, 2, 1):
            body += [f"shfl.sync.bfly.b32 %i, %s, {distance}, 31, -1;", "add.u32 %s, %s, %i;"]
        body += ["and.b32 %i, %t, 31;", "setp.ne.u32 %p, %i, 0;", "mad.wide.u32 %x, %w, 8, %base;"]
        body += [f"@!%p st.u32 [%x+{SLOTS}], %s;"] + sync(2 * step, tile) + ["mov.u32 %s, 0;"]
        for warp in range(warps):
            body += [f"ld.u32 %i, [%slot+{SLOTS + 8 * warp}];", "add.u32 %s, %s, %i;"]
        # Before the slots are used again.
        body += sync(2 * step + 1, tile) + [f"st.global.u32 [%po+{4 * step}], %s;"]
        body += ["mov.u32 %i, own;", "mad.lo.u32 %i, %t, 4, %i;", "ld.shared.u32 %v, [%i];"]
        body += ["st.global.u32 [%po+8], %v;", "mul.lo.u32 %v, %v, %r;"]
    name = f"tile{tile}" + ("_cluster" if cluster > 1 else "")
    directives = f" .explicitcluster .reqnctapercluster {cluster}" if cluster > 1 else ""
    family.kernel(name, [".param .u64 out"], [*REGISTERS, ".shared .align 4 .b32 own[1024];"], body, directives)
    return name


def families(tables):
    family = Family("tiles", __doc__.strip().replace("\n", " "), tables)
    for tile, blocks, cluster in ((64, (64, 256), 1), (128, (128, 256), 1), (256, (256,), 1), (512, (512,), 1), (64, (128,), 2)):
        name = kernel(family, tile, cluster)
        for block in blocks:
            grid = 2
            data = []
            for first in range(0, block * grid, tile):
                numbers = range(first, first + tile)
                own = {number: number % block * 3 + 1 for number in numbers}
                sums = [sum(numbers), sum(number * own[number] for number in numbers)]
                data += [word & 0xFFFFFFFF for number in numbers for word in (*sums, own[number])]
            args = [{"type": "u32", "zeros": len(data)}]
            family.case(f"{name}/{block}", name, args, [{"arg": 0, "data": data}], block=block, grid=grid)
    return [family]

"""Tensor maps: boxes of tensors to shared memory and back, reductions, and instructions that change maps.

What happens is modelled on bytes. The model was held against hundreds of random maps and boxes on an H200, whose rules
the manual does not all have: what is filled in, that boxes begin at multiples of 16 bytes, that pieces of 16 bytes are
written as a whole, how rows lie that are shorter than what is swizzled, and all of interleaved tensors: a coordinate in
their first dimension stands for a slice of 16 or 32 bytes, and the last dimension but one counts the slices that are not beside each
other, of which a box has one.
"""

import random
from itertools import product

from .exact import BF16, F16, F32, F64, add
from .ptx import Family, header

TYPES = ["u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32.ftz", "tf32", "tf32.ftz"]
SIZES = [1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4]
# Numbers that a map has for types, and a bit for tf32.
CODES = [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 7 | 512, 8 | 512]
FORMATS = {"f16": F16, "bf16": BF16, "f32": F32, "f32.ftz": F32, "f64": F64, "tf32": F32, "tf32.ftz": F32}
SHARED = 4096
# Where shared memory is filled from a buffer, these bytes repeat.
SOURCE = 1024
HEADER = header("8.6").replace("sm_90", "sm_90a")
BLACKWELL = header("8.6").replace("sm_90", "sm_100a")
DECLARED = [
    ".reg .pred %p, %first;", ".reg .b16 %h<4>;", ".reg .b32 %t, %n, %v, %i, %base, %at, %bar, %c<5>, %bytes;",
    ".reg .b64 %x, %y, %z, %map, %policy;",
]
ALIGNED = f".extern .shared .align 1024 .b8 behind[];\n.shared .align 1024 .b8 data[{SHARED}];\n.shared .align 8 .b64 barrier;\n"


class Map:
    """A tensor map's arguments, as cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col take them."""

    def __init__(self, ty, dims, box=None, strides=None, steps=None, swizzle=0, nan=False, corners=None, pixels=None, atom=0, interleave=0):
        self.ty, self.dims, self.swizzle, self.nan = TYPES.index(ty), dims, swizzle, nan
        # What swizzling of 128 bytes keeps together: 16, 32 or 64 bytes as 0, 1 or 3.
        self.atom = atom
        self.size, self.rank = SIZES[self.ty], len(dims)
        # 0, or slices of 16 or 32 bytes as 1 or 2.
        self.interleave = interleave
        # Bytes from coordinate to coordinate in the first dimension.
        self.unit = 16 * interleave or self.size
        self.box, self.corners, self.pixels = box, corners, pixels
        self.steps = steps or [1] * self.rank
        self.strides = strides
        if strides is None:
            row = -(-dims[0] * self.unit // 16) * 16
            self.strides = []
            for extent in dims[1:]:
                self.strides.append(row)
                row *= extent

    def bytes(self):
        """Bytes of the tensor's memory."""
        return self.strides[-1] * self.dims[-1] if self.rank > 1 else -(-self.dims[0] * self.size // 16) * 16

    def words(self, address=0):
        """Its 128 bytes, as words."""
        content = address | (self.corners is not None) << 64 | self.rank - 1 << 68 | CODES[self.ty] << 71
        content |= self.interleave << 75 | self.swizzle << 77 | self.nan << 79 | self.atom << 83
        for place, stride in enumerate(self.strides):
            content |= (stride >> 4 & 0xFFFFFFFF) << 96 + 32 * place | stride >> 36 << 224 + 4 * place
        for place, (extent, step) in enumerate(zip(self.dims, self.steps)):
            content |= extent - 1 << 256 + 32 * place | step - 1 << 416 + 3 * place
        if self.corners is None:
            for place, extent in enumerate(self.box):
                content |= extent - 1 << 440 + 8 * place
            total = 1
            for extent, step in zip(self.box, self.steps):
                total *= extent // step
        else:
            content |= self.box[0] - 1 << 440 | self.pixels - 1 << 480
            width = {3: 16, 4: 8, 5: 5}[self.rank]
            for place, (lower, upper) in enumerate(zip(*self.corners)):
                content |= lower % (1 << width) << 448 + width * place | upper % (1 << width) << 464 + width * place
            total = self.box[0] * self.pixels
        content |= total * self.size << 512 | [16, 256, 512, 1024][self.swizzle] << 576
        return [content >> 32 * place & 0xFFFFFFFF for place in range(32)]

    def extents(self):
        """How far boxes extend, and by which steps, in all dimensions but the first."""
        extents = list(zip(self.box, self.steps))
        if self.interleave:
            extents[-2] = (1, 1)
        return extents[1:]

    def columns(self, at, offsets):
        """The coordinates of a column's pixels, without the channels."""
        sides = slice(0, -2) if self.interleave else slice(1, -1)
        pixel, picture = list(at[sides]), at[-1]
        lasts = [extent - 1 + upper for extent, upper in zip(self.dims[sides], self.corners[1])]
        for _ in range(self.pixels):
            yield [place + offset for place, offset in zip(pixel, offsets)], picture
            for side, step in enumerate(self.steps[sides]):
                pixel[side] += step
                if pixel[side] <= lasts[side]:
                    break
                pixel[side] = self.corners[0][side]
            else:
                picture += self.steps[-1]

    def elements(self, at, offsets):
        """Where each element of a box is in it, its coordinates, and its place in the slice that these are of.

        Of five coordinates in a matrix, four are rows' numbers.
        """
        first = range(0, self.box[0], self.steps[0] if self.interleave else 1)
        if self.rank == 2 and len(at) == 5:
            rows = [[row] for row in at[1:]]
        elif self.corners is None:
            counts = [range(0, extent, step) for extent, step in self.extents()]
            rows = [[start + move for start, move in zip(at[1:], moves[::-1])] for moves in product(*counts[::-1])]
        elif self.interleave:
            rows, first = [pixel[1:] + [at[-2], picture] for pixel, picture in self.columns(at, offsets)], None
            firsts = [pixel[0] for pixel, _ in self.columns(at, offsets)]
        else:
            rows = [pixel + [picture] for pixel, picture in self.columns(at, offsets)]
        if self.interleave:
            if first is None:
                slices = [[start] + row for start, row in zip(firsts, rows)]
            else:
                slices = [[at[0] + place] + row for row in rows for place in first]
            for number, coordinates in enumerate(slices):
                for within in range(0, self.unit, self.size):
                    yield self.swizzled(number * self.unit + within), coordinates, within
            return
        pitch = 16 << self.swizzle if self.swizzle else self.box[0] * self.size
        for number, row in enumerate(rows):
            for place in first:
                yield self.swizzled(number * pitch + place * self.size), [at[0] + place] + row, 0

    def swizzled(self, plain):
        """The place in shared memory of a byte that would be at `plain`."""
        if self.atom:
            kept = {1: 32, 3: 64}[self.atom]
            line, within = divmod(plain, 128)
            piece, rest = divmod(within, kept)
            return line * 128 + (piece ^ line % (128 // kept)) * kept + rest
        return plain ^ (plain >> 7 & (1 << self.swizzle) - 1) << 4

    def transferred(self, listed=False):
        rows = 4 if listed else self.pixels
        if self.corners is None and not listed:
            rows = 1
            for extent, step in self.extents():
                rows *= -(-extent // step)
        if self.interleave:
            return rows * (1 if self.pixels else -(-self.box[0] // self.steps[0])) * self.unit
        return rows * self.box[0] * self.size

    def address(self, at):
        return at[0] * self.unit + sum(place * stride for place, stride in zip(at[1:], self.strides))

    def inside(self, at, whole):
        """Whether an element is there; of pieces of 16 bytes that are written as a whole the first one counts."""
        first = at[0] // (16 // self.unit) * (16 // self.unit) if whole and self.unit < 16 else at[0]
        return all(0 <= place < extent for place, extent in zip([first] + at[1:], self.dims))


def read(tensor, content, at, offsets):
    """Shared memory after a load."""
    shared = bytearray(b"\xEE" * SHARED)
    for place, coordinates, within in tensor.elements(at, offsets):
        element = b"\xF7\x7F" * 4 if tensor.nan else bytes(8)
        if tensor.inside(coordinates, False):
            start = tensor.address(coordinates) + within
            element = content[start : start + tensor.size]
            if TYPES[tensor.ty].startswith("tf32"):
                element = as_tf32(element)
        shared[place : place + tensor.size] = element[: tensor.size]
    return bytes(shared)


def as_tf32(element):
    bits = int.from_bytes(element, "little")
    if F32.is_nan(bits):
        bits = 0x7FFFE000
    elif not F32.is_infinite(bits):
        bits = bits + 0xFFF + (bits >> 13 & 1) & 0xFFFFE000
    return bits.to_bytes(4, "little")


def written(tensor, content, shared, at, combine=None):
    """The tensor after a store or reduction."""
    content = bytearray(content)
    for place, coordinates, within in tensor.elements(at, [0] * tensor.rank):
        if tensor.inside(coordinates, True):
            start = tensor.address(coordinates) + within
            piece = slice(start, start + tensor.size)
            new = shared[place : place + tensor.size]
            content[piece] = combine(content[piece], new) if combine else new
    return bytes(content)


def reduction(op, ty):
    size = SIZES[TYPES.index(ty)]
    mask = (1 << 8 * size) - 1
    fmt = FORMATS.get(ty)

    def number(bits):
        if fmt:
            return -(bits & fmt.sign - 1) - 1 if bits & fmt.sign else bits
        return bits - mask - 1 if ty[0] == "s" and bits >> 8 * size - 1 else bits

    def total(a, b):
        if fmt is None:
            return a + b & mask
        flush = fmt.flush if ty.endswith(".ftz") else lambda bits: bits
        result = add(fmt, flush(a), flush(b))
        return result if fmt.is_nan(result) else flush(result)

    def extremum(least, a, b):
        if fmt and (fmt.is_nan(a) or fmt.is_nan(b)):
            return fmt.nan if fmt.is_nan(a) and fmt.is_nan(b) else b if fmt.is_nan(a) else a
        return (min if least else max)((a, b), key=number)

    functions = {
        "add": total, "min": lambda a, b: extremum(True, a, b), "max": lambda a, b: extremum(False, a, b),
        "inc": lambda a, b: 0 if a >= b else a + 1, "dec": lambda a, b: b if a == 0 or a > b else a - 1,
        "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
    }

    def combine(old, new):
        result = functions[op](int.from_bytes(old, "little"), int.from_bytes(new, "little"))
        return result.to_bytes(size, "little")

    return combine


def numbers(ty, count, rng):
    """Bytes of elements: of floats small numbers, subnormal ones, any bits."""
    size = SIZES[TYPES.index(ty)]
    fmt = FORMATS.get(ty)
    if fmt is None:
        return rng.randbytes(count)
    content = b""
    while len(content) < count:
        kind = rng.random()
        bits = rng.getrandbits(8 * size)
        if kind < 0.6:
            bits = fmt.round(rng.randrange(-64, 64))
        elif kind < 0.75:
            bits = bits & fmt.sign | rng.randrange(fmt.smallest_normal)
        content += bits.to_bytes(size, "little")
    return content[:count]


def as_words(content):
    return [int.from_bytes(content[place : place + 4], "little") for place in range(0, len(content), 4)]


def begin():
    """The map gets the tensor's address; %map, coordinates in %c0 to %c4, offsets in %h0 to %h2, the block's shared memory."""
    lines = ["mov.u32 %t, %tid.x;", "setp.eq.u32 %first, %t, 0;", "ld.param.u64 %map, [map];", "ld.param.u64 %x, [tensor];"]
    lines += ["ld.param.u64 %y, [place];", "mov.u64 %policy, 0x14f0000000000000;", "mov.u32 %base, data;", "mov.u32 %bar, barrier;"]
    lines += [f"ld.global.u32 %c{place}, [%y+{4 * place}];" for place in range(5)]
    lines += [f"ld.global.u16 %h{place}, [%y+{20 + 4 * place}];" for place in range(3)] + ["ld.global.u32 %bytes, [%y+32];"]
    lines += ["mov.u32 %v, %cluster_ctarank;", "setp.eq.and.u32 %p, %v, 0, %first;", "@!%p bra mapped;", "st.global.u64 [%map], %x;", "fence.proxy.tensormap::generic.release.gpu;"]
    return lines + ["fence.proxy.tensormap::generic.acquire.gpu [%map], 128;", "mapped:"]


def fill(source):
    """Shared memory is filled with 0xEE, or from a buffer."""
    lines = ["shl.b32 %i, %t, 2;", "filling:"]
    if source:
        lines += [f"and.b32 %v, %i, {SOURCE - 1};", "cvt.u64.u32 %z, %v;", "ld.param.u64 %y, [in];", "add.u64 %z, %y, %z;", "ld.global.u32 %v, [%z];"]
    else:
        lines += ["mov.u32 %v, 0xEEEEEEEE;"]
    lines += ["add.u32 %at, %base, %i;", "st.shared.u32 [%at], %v;", "add.u32 %i, %i, 256;"]
    return lines + [f"setp.lt.u32 %p, %i, {SHARED};", "@%p bra filling;"]


def dump():
    lines = ["ld.param.u64 %y, [out];", "mov.u32 %v, %cluster_ctarank;", f"mul.wide.u32 %z, %v, {SHARED};", "add.u64 %y, %y, %z;"]
    lines += ["shl.b32 %i, %t, 2;", "dumping:", "add.u32 %at, %base, %i;", "ld.shared.u32 %v, [%at];", "cvt.u64.u32 %z, %i;"]
    lines += ["add.u64 %z, %y, %z;", "st.global.u32 [%z], %v;", "add.u32 %i, %i, 256;", f"setp.lt.u32 %p, %i, {SHARED};"]
    return lines + ["@%p bra dumping;"]


def vector(letter, count):
    return "{" + ", ".join(f"%{letter}{place}" for place in range(count)) + "}"


def load_kernel(family, rank, mode, hint="", multicast=False, space="shared::cluster", group=""):
    form = f"cp.async.bulk.tensor.{rank}d.{space}.global{mode}.mbarrier::complete_tx::bytes"
    form += ".multicast::cluster" * multicast + group + hint
    offsets = f", {vector('h', rank - 2)}" if mode == ".im2col" else ""
    more = offsets + ", %h3" * multicast + ", %policy" * bool(hint)
    entry = "_".join(["load", f"{rank}d", mode[1:].replace("::", "_") or "plain"] + ["multicast"] * multicast + [group[-1:]] * bool(group) + ["hint"] * bool(hint))
    if space == "shared::cta" and (group or "gather4" in mode):
        entry += "_own"
    counted = 5 if "gather4" in mode else rank
    body = begin() + fill(None) + ["@%first mbarrier.init.shared.b64 [%bar], 1;", "@%first fence.mbarrier_init.release.cluster;"]
    body += ["fence.proxy.async;", "bar.sync 0;"]
    if multicast:
        body += ["@%first mbarrier.arrive.expect_tx.shared.b64 _, [%bar], %bytes;", "barrier.cluster.arrive;", "barrier.cluster.wait;"]
        body += ["mov.u32 %v, %cluster_ctarank;", "setp.eq.and.u32 %p, %v, 0, %first;", "mov.u16 %h3, 3;", "@!%p bra waiting;"]
    else:
        body += ["@!%first bra waiting;", "mbarrier.arrive.expect_tx.shared.b64 _, [%bar], %bytes;"]
    prefetch = f"cp.async.bulk.prefetch.tensor.{rank}d.L2.global{mode}{hint}"
    body += [f"{prefetch} [%map, {vector('c', counted)}]{offsets}{', %policy' * bool(hint)};", "prefetch.tensormap [%map];"]
    to, barrier = ("[%base]", "[%bar]") if rank % 2 else ("[data]", "[barrier]")
    body += [f"{form} {to}, [%map, {vector('c', counted)}], {barrier}{more};", "waiting:"]
    body += ["mbarrier.try_wait.parity.shared.b64 %p, [%bar], 0;", "@!%p bra waiting;"] + dump()
    body += ["barrier.cluster.arrive;", "barrier.cluster.wait;"] * multicast
    family.kernel(entry, [f".param .u64 {name}" for name in ("out", "tensor", "map", "place")], DECLARED, body)
    return entry


def pair_kernel(family, rank, mode, mask, hint=""):
    """The first of four blocks loads, to itself or to those of a mask, and names the second one's mbarrier: the odd block of each pair counts."""
    form = f"cp.async.bulk.tensor.{rank}d.shared::cluster.global{mode}.mbarrier::complete_tx::bytes"
    form += ".multicast::cluster" * bool(mask) + ".cta_group::2" + hint
    entry = "_".join(["pair", f"{rank}d", mode[1:].replace("::", "_") or "plain"] + [f"{mask:b}"] * bool(mask) + ["hint"] * bool(hint))
    body = begin() + fill(None) + ["@%first mbarrier.init.shared.b64 [%bar], 1;", "@%first fence.mbarrier_init.release.cluster;", "fence.proxy.async;"]
    body += ["mov.u32 %n, %cluster_ctarank;"]
    for block in (1, 3):
        copies = sum(1 for to in (block - 1, block) if (mask or 1) >> to & 1)
        body += [f"setp.eq.and.u32 %p, %n, {block}, %first;", f"mul.lo.u32 %v, %bytes, {copies};"]
        body += ["@%p mbarrier.arrive.expect_tx.shared.b64 _, [%bar], %v;"]
    body += ["barrier.cluster.arrive;", "barrier.cluster.wait;", "setp.eq.and.u32 %p, %n, 0, %first;", "@!%p bra loaded;"]
    body += ["mapa.shared::cluster.u32 %at, %bar, 1;", f"mov.u16 %h3, {mask};"]
    offsets = f", {vector('h', rank - 2)}" if mode == ".im2col" else ""
    more = offsets + ", %h3" * bool(mask) + ", %policy" * bool(hint)
    body += [f"{form} [%base], [%map, {vector('c', 5 if 'gather4' in mode else rank)}], [%at]{more};", "loaded:"]
    # Even blocks have nobody who counts: they wait for the odd ones.
    body += ["and.b32 %v, %n, 1;", "setp.eq.u32 %p, %v, 0;", "@%p bra counted;", "waiting:"]
    body += ["mbarrier.try_wait.parity.shared.b64 %p, [%bar], 0;", "@!%p bra waiting;", "counted:", "barrier.cluster.arrive;", "barrier.cluster.wait;"]
    family.kernel(entry, [f".param .u64 {name}" for name in ("out", "tensor", "map", "place")], DECLARED, body + dump())
    return entry


def store_kernel(family, rank, mode, op=None, hint=""):
    form = f"cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{op}" if op else f"cp.async.bulk.tensor.{rank}d.global.shared::cta"
    form += f"{mode}.bulk_group{hint}"
    entry = "_".join([op or "store", f"{rank}d", mode[1:].replace("::", "_") or "plain"] + ["hint"] * bool(hint))
    body = begin() + fill("in") + ["fence.proxy.async;", "bar.sync 0;", "@!%first bra end;"]
    source = "[%base]" if rank % 2 else "[data]"
    counted = 5 if "scatter4" in mode else rank
    body += [f"{form} [%map, {vector('c', counted)}], {source}{', %policy' * bool(hint)};", "cp.async.bulk.commit_group;"]
    body += ["cp.async.bulk.wait_group 0;", "end:"]
    family.kernel(entry, [f".param .u64 {name}" for name in ("tensor", "in", "map", "place")], DECLARED, body)
    return entry


def place(tensor, at, offsets):
    listed = tensor.rank == 2 and len(at) == 5
    return {"type": "s32", "data": (at + [0] * 5)[:5] + (offsets + [0] * 3)[:3] + [tensor.transferred(listed)]}


def load_case(family, entry, name, tensor, at, offsets=(), blocks=1, content=None, mask=None):
    rng = random.Random(name)
    content = content or numbers(TYPES[tensor.ty], tensor.bytes(), rng)
    expected = as_words(read(tensor, content, at, offsets))
    untouched = [0xEEEEEEEE] * (SHARED // 4)
    expected = sum((expected if mask is None or mask >> block & 1 else untouched for block in range(blocks)), [])
    args = [{"type": "u32", "zeros": len(expected)}, {"type": "u32", "data": as_words(content)}]
    args += [{"type": "u32", "data": tensor.words()}, place(tensor, at, list(offsets))]
    more = {"cluster": [blocks, 1, 1]} if blocks > 1 else {}
    family.case(name, entry, args, [{"arg": 0, "data": expected}], block=64, grid=blocks, **more)


def store_case(family, entry, name, tensor, at, op=None):
    rng = random.Random(name)
    ty = TYPES[tensor.ty]
    content, source = numbers(ty, tensor.bytes(), rng), numbers(ty, SOURCE, rng)
    expected = written(tensor, content, source * (SHARED // SOURCE), at, op and reduction(op, ty))
    args = [{"type": "u32", "data": as_words(content)}, {"type": "u32", "data": as_words(source)}]
    args += [{"type": "u32", "data": tensor.words()}, place(tensor, at, [])]
    family.case(name, entry, args, [{"arg": 0, "data": as_words(expected)}], block=64)


def tiles(family):
    load = {rank: load_kernel(family, rank, ".tile" if rank % 2 else "") for rank in range(1, 6)}
    store = {rank: store_kernel(family, rank, ".tile" if rank % 2 else "") for rank in range(1, 6)}
    shapes = {
        1: (lambda size: [240 // size + 3], lambda size: [64 // size], [1], [0, 1, 3, -1]),
        2: (lambda size: [80 // size + 1, 9], lambda size: [32 // size, 6], [1, 2], [0, 1, 4, -1]),
        3: (lambda size: [48 // size, 5, 4], lambda size: [32 // size, 3, 3], [1, 1, 2], [0, 1, 2, -1]),
        4: (lambda size: [32 // size, 3, 3, 2], lambda size: [16 // size, 2, 3, 2], [1, 1, 3, 1], [0, 1, 0, -1]),
        5: (lambda size: [32 // size, 2, 3, 2, 3], lambda size: [32 // size, 2, 1, 2, 3], [1, 1, 1, 1, 2], [0, 1, 1, 1]),
    }
    for index, ty in enumerate(TYPES):
        size = SIZES[index]
        for turn in range(2):
            rank = (index + 2 * turn) % 5 + 1
            dims, box, steps, starts = shapes[rank]
            box = box(size)
            # A row has no more bytes than are swizzled.
            swizzle = (index + turn) % 4
            swizzle = 3 if swizzle and box[0] * size > 16 << swizzle else swizzle
            tensor = Map(ty, dims(size), box, steps=steps, swizzle=swizzle, nan=turn == 1 and index >= 6)
            first = 16 // size * (starts[(index + turn) % 4])
            at = [first] + [starts[(index + turn + place) % 4] for place in range(1, rank)]
            label = f"{ty.replace('.', '_')}_{rank}d"
            load_case(family, load[rank], f"load_{label}", tensor, at)
            at = [abs(coordinate) for coordinate in at]
            store_case(family, store[rank], f"store_{label}", tensor, at)
    for swizzle, inner in ((1, 16), (2, 48), (3, 128), (3, 32), (2, 64)):
        tensor = Map("u16", [inner // 2 + 8, 12], [inner // 2, 10], swizzle=swizzle)
        load_case(family, load[2], f"swizzled_{swizzle}_{inner}", tensor, [8, 2])
        store_case(family, store[2], f"swizzled_store_{swizzle}_{inner}", tensor, [8, 2])
    ties = [0x3F800FFF, 0x3F801000, 0x3F801001, 0x3F803000, 0x7F7FFFFF, 0x7F7FEFFF, 0x7F800000, 0x7F800001, 0xFFC00001, 1, 0x1000, 0x1001]
    ties += [0x3000, 0x7FFFFF, 0x80001000, 0xBF803000]
    content = b"".join(bits.to_bytes(4, "little") for bits in ties)
    for ty in ("tf32", "tf32.ftz", "f32.ftz"):
        tensor = Map(ty, [len(ties)], [len(ties)])
        load_case(family, load[1], f"rounded_{ty.replace('.', '_')}", tensor, [0], content=content)
    hint = ".L2::cache_hint"
    tensor = Map("u8", [70, 9], [48, 5])
    load_case(family, load_kernel(family, 2, "", hint, space="shared::cta"), "load_hint", tensor, [32, 2])
    store_case(family, store_kernel(family, 2, "", hint=hint), "store_hint", tensor, [32, 2])
    for more in ("", hint):
        load_case(family, load_kernel(family, 2, ".tile", more, True), f"multicast{'_hint' * bool(more)}", tensor, [32, 2], blocks=2)


def columns(family):
    hint = ".L2::cache_hint"
    shapes = {
        3: ([36, 7, 3], [[-1], [-1]], [1, 1, 1], [0, -1, 0], [2]),
        4: ([20, 6, 5, 2], [[-1, -2], [0, 1]], [1, 2, 1, 1], [8, 3, -1, 1], [1, 3]),
        5: ([24, 4, 3, 3, 2], [[0, -1, 1], [1, -1, -1]], [1, 1, 2, 1, 1], [0, 2, 0, 1, 0], [1, 0, 2]),
    }
    for rank, (dims, corners, steps, at, offsets) in shapes.items():
        load = load_kernel(family, rank, ".im2col")
        store = store_kernel(family, rank, ".im2col_no_offs")
        for ty, swizzle, nan in (("f16", 2, True), ("u32", 0, False), ("u8", 1, False)):
            size = SIZES[TYPES.index(ty)]
            channels = {2: 32, 4: 16, 1: 16}[size]
            start = [at[0] * 2 // size * (size != 1)] + at[1:]
            tensor = Map(ty, dims, [channels], steps=steps, swizzle=swizzle, nan=nan, corners=corners, pixels=19)
            load_case(family, load, f"columns_{ty}_{rank}d", tensor, start, offsets)
            tensor = Map(ty, dims, [channels], steps=steps, swizzle=swizzle, corners=[[0] * (rank - 2)] * 2, pixels=11)
            store_case(family, store, f"columns_store_{ty}_{rank}d", tensor, [0] + [1] * (rank - 2) + [0])
    dims, corners, steps, at, offsets = shapes[3]
    tensor = Map("f16", dims, [16], steps=steps, corners=corners, pixels=9)
    load_case(family, load_kernel(family, 3, ".im2col", hint), "columns_hint", tensor, at, offsets)
    for more in ("", hint):
        entry = load_kernel(family, 3, ".im2col", more, True)
        load_case(family, entry, f"columns_multicast{'_hint' * bool(more)}", tensor, at, offsets, blocks=2)
    tensor = Map("u32", dims, [8], corners=[[0], [0]], pixels=9)
    store_case(family, store_kernel(family, 3, ".im2col_no_offs", hint=hint), "columns_store_hint", tensor, [8, 1, 0])
    for more in ("", hint):
        entry = store_kernel(family, 3, ".im2col_no_offs", "add", more)
        store_case(family, entry, f"columns_add{'_hint' * bool(more)}", tensor, [8, 1, 0], "add")


def slices(family):
    """Interleaved tensors: width, perhaps height and depth, slices of channels, pictures."""
    shapes = {
        3: ([7, 3, 4], [1, 3], [1, 1, 1], [[-1, 0], [0, 1]]),
        4: ([6, 4, 3, 2], [3, 1, 2], [2, 1, 1, 1], [[-1, -2, 1], [0, 1, 0]]),
        5: ([4, 3, 2, 3, 2], [2, 2, 1, 2], [1, 2, 1, 1, 1], [[2, -1, 0, 2], [1, 0, -1, 0]]),
    }
    load = {rank: load_kernel(family, rank, ".tile" if rank % 2 else "") for rank in shapes}
    store = {rank: store_kernel(family, rank, ".tile" if rank % 2 else "") for rank in shapes}
    for index, ty in enumerate(TYPES):
        for interleave in (1, 2):
            rank = (index + interleave) % 3 + 3
            dims, box, steps, starts = shapes[rank]
            # As many elements as 16 bytes have, which is how many slices beside each other a box has at least.
            box = [16 // SIZES[index]] + box
            more = {"steps": steps, "swizzle": (index + interleave) % 4, "nan": index >= 6 and interleave == 2, "interleave": interleave}
            tensor = Map(ty, dims, box, **more)
            first = starts[index % 2]
            at = first + [0] * (rank - len(first))
            label = f"{ty.replace('.', '_')}_{rank}d_{16 * interleave}"
            load_case(family, load[rank], f"load_{label}", tensor, [index % 3 - 1] + at[1:])
            store_case(family, store[rank], f"store_{label}", tensor, [abs(coordinate) for coordinate in at])
    sides = {
        3: ([[-1], [1]], [1, 1, 1], [0, 1, 0], [2]),
        4: ([[-1, 0], [0, -1]], [1, 2, 1, 1], [2, 1, 2, 0], [0, 1]),
        5: ([[0, -1, 1], [-1, 1, 0]], [2, 1, 1, 1, 1], [1, 0, 1, 2, 0], [1, 0, 0]),
    }
    for rank, (corners, steps, at, offsets) in sides.items():
        load = load_kernel(family, rank, ".im2col")
        store = store_kernel(family, rank, ".im2col_no_offs")
        for interleave, ty, swizzle in ((1, "f16", 0), (2, "u32", 1), (1, "u8", 3), (2, "tf32", 2)):
            more = {"steps": steps, "swizzle": swizzle, "interleave": interleave}
            channels = [16 // SIZES[TYPES.index(ty)]]
            label = f"{ty}_{rank}d_{16 * interleave}"
            tensor = Map(ty, shapes[rank][0], channels, corners=corners, pixels=37, nan=ty == "f16", **more)
            load_case(family, load, f"columns_{label}", tensor, at, offsets)
            tensor = Map(ty, shapes[rank][0], channels, corners=[[0] * (rank - 2)] * 2, pixels=11, **more)
            store_case(family, store, f"columns_store_{label}", tensor, [0] * (rank - 2) + [1, 0])
    for interleave, op, ty in ((1, "add", "f16"), (2, "max", "s32"), (1, "xor", "u64")):
        entry = store_kernel(family, 3, ".tile", op)
        tensor = Map(ty, [7, 3, 4], [16 // SIZES[TYPES.index(ty)], 2, 3], steps=[2, 1, 1], swizzle=interleave, interleave=interleave)
        store_case(family, entry, f"{op}_{ty}_{16 * interleave}", tensor, [1, 2, 1], op)


def rows(family):
    """Four rows of a matrix, anywhere and in any order, some outside."""
    gather, scatter = ".tile::gather4", ".tile::scatter4"
    load, store = load_kernel(family, 2, gather), store_kernel(family, 2, scatter)
    for turn, (ty, swizzle, at) in enumerate((
        ("u8", 0, [16, 3, 0, 6, 3]), ("f16", 2, [0, 8, 1, -1, 2]), ("f32", 3, [4, 5, 4, 3, 2]), ("u64", 1, [-2, 6, 0, 7, 1]),
        ("tf32", 0, [0, 1, 3, 6, 4]), ("bf16", 3, [8, 2, 9, 0, 5]),
    )):
        size = SIZES[TYPES.index(ty)]
        inner = 16 << swizzle if swizzle else 48
        tensor = Map(ty, [80 // size + 1, 7], [inner // size, 1], swizzle=swizzle, nan=turn % 2 == 1 and ty in FORMATS)
        load_case(family, load, f"gather_{ty}", tensor, at)
        # Stores begin inside, and rows are others than each other.
        store_case(family, store, f"scatter_{ty}", tensor, [abs(at[0]), 5, 9, 0, 3])
    hint = ".L2::cache_hint"
    tensor = Map("u16", [40, 9], [24, 1])
    at = [8, 7, 0, 2, 12]
    for space in ("shared::cta", "shared::cluster"):
        for group in ("", ".cta_group::1", ".cta_group::2"):
            entry = load_kernel(family, 2, gather, hint if group else "", False, space, group) if group or space == "shared::cta" else load
            load_case(family, entry, f"gather_{space[8:]}_{group[-1:] or 'plain'}", tensor, at)
    for space, group in (("shared::cta", ""), ("shared::cluster", ""), ("shared::cta", ".cta_group::1")):
        more = "" if group else hint
        load_case(family, load_kernel(family, 2, gather, more, False, space, group), f"gather_more_{space[8:]}_{group[-1:]}", tensor, at)
    for more in ("", hint):
        label = "_hint" * bool(more)
        load_case(family, load_kernel(family, 2, gather, more, True), f"gather_multicast{label}", tensor, at, blocks=2)
        entry = store_kernel(family, 2, scatter, "add", more)
        store_case(family, entry, f"scatter_add{label}", Map("u32", [40, 9], [12, 1]), at, "add")
    store_case(family, store_kernel(family, 2, scatter, hint=hint), "scatter_hint", tensor, at)


def pairs(family):
    """Pairs of blocks, of which one counts."""
    hint = ".L2::cache_hint"
    tensor = Map("u16", [40, 9], [24, 5], swizzle=2)
    columns = Map("u16", [40, 7, 3], [16], corners=[[-1], [-1]], pixels=9)
    for mask in (0, 0b1101, 0b0010):
        copied = {"blocks": 4, "mask": mask or 1}
        load_case(family, pair_kernel(family, 2, "", mask), f"pair_{mask:b}", tensor, [8, 3], **copied)
        load_case(family, pair_kernel(family, 2, ".tile::gather4", mask), f"pair_gather_{mask:b}", tensor, [8, 3, 1, 8, 0], **copied)
        load_case(family, pair_kernel(family, 3, ".im2col", mask), f"pair_columns_{mask:b}", columns, [8, -1, 0], [2], **copied)
    load_case(family, pair_kernel(family, 2, ".tile::gather4", 3, hint), "pair_gather_hint", tensor, [8, 3, 1, 8, 0], blocks=4, mask=3)
    for group in (".cta_group::1", ".cta_group::2"):
        for space in ("shared::cta", "shared::cluster"):
            entry = load_kernel(family, 2, ".tile", "", False, space, group)
            load_case(family, entry, f"group_{group[-1]}_{space[8:]}", tensor, [8, 3])
    load_case(family, load_kernel(family, 2, "", "", True, group=".cta_group::1"), "group_multicast", tensor, [8, 3], blocks=2)


def atoms(family):
    """Swizzling of 128 bytes that keeps 32 or 64 bytes together."""
    load, store = load_kernel(family, 2, ""), store_kernel(family, 2, "")
    for atom, inner in ((1, 128), (3, 128), (1, 48), (3, 80)):
        tensor = Map("u16", [inner // 2 + 8, 12], [inner // 2, 10], swizzle=3, atom=atom)
        load_case(family, load, f"atom_{atom}_{inner}", tensor, [8, 2])
        store_case(family, store, f"atom_store_{atom}_{inner}", tensor, [8, 2])
    for space in (".global", ".shared::cta"):
        for atom in (0, 1, 3):
            entry = f"replace_atomicity{space.replace('.', '_').replace('::', '_')}_{atom}"
            at = "%map" if space == ".global" else "%at"
            lines = ["ld.param.u64 %map, [map];", "mov.u32 %at, data;", "ld.global.u32 %v, [%map+8];", "st.shared.u32 [%at+8], %v;"]
            lines += [f"tensormap.replace.tile.swizzle_atomicity{space}.b1024.b32 [{at}], {atom};"]
            lines += ["ld.shared.u32 %v, [%at+8];", "st.global.u32 [%map+8], %v;"] * (at == "%at")
            family.kernel(entry, [".param .u64 map"], DECLARED, lines)
            [old, new] = [Map("f16", [64, 8], [64, 8], swizzle=3, nan=True, atom=atom).words() for atom in (3 - atom & 3, atom)]
            family.case(entry, entry, [{"type": "u32", "data": old}], [{"arg": 0, "data": new}], block=1)


def sums(family):
    valid = {
        "add": ("u32", "s32", "u64", "f16", "f32", "f64", "bf16", "f32.ftz", "tf32", "tf32.ftz"), "inc": ("u32",), "dec": ("u32",),
        "min": ("u32", "s32", "u64", "s64", "f16", "bf16"), "max": ("u32", "s32", "u64", "s64", "f16", "bf16"),
        "and": ("u32", "s32", "u64"), "or": ("u32", "u64"), "xor": ("u32", "u64"),
    }
    for op, types in valid.items():
        entry = store_kernel(family, 2, ".tile", op)
        for ty in types:
            size = SIZES[TYPES.index(ty)]
            tensor = Map(ty, [112 // size + 1, 7], [64 // size, 6], swizzle=2)
            store_case(family, entry, f"{op}_{ty.replace('.', '_')}", tensor, [64 // size, 2], op)
    entry = store_kernel(family, 3, "", "add", ".L2::cache_hint")
    store_case(family, entry, "add_3d_hint", Map("u32", [9, 3, 4], [8, 3, 2], steps=[1, 2, 1]), [4, 0, 1], "add")


def maps(family):
    """Fields are replaced one by one in a map that all threads then copy."""
    final = Map("f16", [300, 70000, 5], [128, 77, 3], strides=[(1 << 38) + 640, 48 << 20], steps=[1, 8, 3], swizzle=2, nan=True, interleave=2)
    for space, name in (("", "generic"), (".global", "global"), (".shared::cta", "shared")):
        at = "%at" if name == "shared" else "%map"
        form = lambda field, ty: f"tensormap.replace.tile.{field}{space}.b1024.{ty} [{at}],"
        lines = ["mov.u32 %t, %tid.x;", "ld.param.u64 %map, [map];", "ld.param.u64 %y, [out];", "mov.u32 %at, data;"]
        lines += ["setp.ne.u32 %p, %t, 0;", "@%p bra replaced;"]
        if name == "shared":
            for offset in range(0, 128, 4):
                lines += [f"ld.global.u32 %v, [%map+{offset}];", f"st.shared.u32 [%at+{offset}], %v;"]
        lines += ["mov.u64 %x, 0x0123456789abcde0;", form("global_address", "b64") + " %x;", "mov.u32 %v, 2;", form("rank", "b32") + " %v;"]
        for field, values, ty in (
            ("box_dim", final.box, "b32"), ("global_dim", final.dims, "b32"), ("element_stride", final.steps, "b32"),
            ("global_stride", final.strides, "b64"),
        ):
            for number, value in enumerate(values):
                register = "%x" if ty == "b64" else "%v"
                lines += [f"mov.{ty.replace('b', 'u')} {register}, {value};", form(field, ty) + f" {number}, {register};"]
        for field, value in (("elemtype", 6), ("interleave_layout", 2), ("swizzle_mode", 2), ("fill_mode", 1)):
            lines.append(form(field, "b32") + f" {value};")
        lines += ["replaced:", "bar.sync 0;"]
        if name == "shared":
            lines += ["tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%y], [%at], 128;"]
        else:
            lines += ["mul.wide.u32 %x, %t, 4;", "add.u64 %y, %y, %x;", "add.u64 %map, %map, %x;", "ld.global.u32 %v, [%map];"]
            lines += ["st.global.u32 [%y], %v;"]
        entry = f"replace_{name}"
        family.kernel(entry, [".param .u64 out", ".param .u64 map"], DECLARED, lines)
        # What the driver notes behind the fields stays.
        before = Map("s64", [1, 1, 1], [1, 1, 1], swizzle=1)
        expected = final.words(0x0123456789ABCDE0)[:16] + before.words()[16:]
        args = [{"type": "u32", "zeros": 32}, {"type": "u32", "data": before.words()}]
        family.case(entry, entry, args, [{"arg": 0, "data": expected}], block=32)
    # Dynamic memory, where boxes mostly come to, is aligned behind whatever else there is.
    lines = ["mov.u32 %bar, barrier;", "mov.u32 %v, behind;", "st.shared.u32 [%bar], %v;", "and.b32 %v, %v, 1023;"]
    lines += ["ld.param.u64 %y, [out];", "st.global.u32 [%y], %v;"]
    family.kernel("dynamic_aligned", [".param .u64 out"], DECLARED, lines)
    family.case("dynamic_aligned", "dynamic_aligned", [{"type": "u32", "data": [7]}], [{"arg": 0, "data": [0]}], block=1, dynamic_shared_bytes=64)
    # Types that are read as tf32 set a bit of their own, which NVIDIA's assembler leaves as it is for other types.
    box = {"ty": "u32", "dims": [8, 1, 1], "box": [8, 1, 1], "strides": [128, 128], "swizzle": 1}
    plain, interleaved = Map(**box), Map(**box, interleave=1)
    line = Map("u32", [8], [8])
    for name, field, number, before, after in (
        ("tf32", "elemtype", 12, line, Map("tf32.ftz", [8], [8])),
        ("f32", "elemtype", 7, Map("tf32.ftz", [8], [8]), Map("tf32", [8], [8])),
        ("interleaved", "interleave_layout", 1, plain, interleaved),
        ("contiguous", "interleave_layout", 0, interleaved, plain),
    ):
        entry = f"replace_{name}"
        lines = ["ld.param.u64 %map, [map];", f"tensormap.replace.tile.{field}.global.b1024.b32 [%map], {number};"]
        family.kernel(entry, [".param .u64 map"], DECLARED, lines)
        family.case(entry, entry, [{"type": "u32", "data": before.words()}], [{"arg": 0, "data": after.words()}], block=1)


def families(tables):
    built = []
    for name, purpose, fill, target in (
        ("tensor_tiles", "Boxes of tensors to shared memory and back.", tiles, HEADER),
        ("tensor_columns", "Columns of pixels (im2col) to shared memory and back.", columns, HEADER),
        ("tensor_slices", "Interleaved tensors, to shared memory and back.", slices, HEADER),
        ("tensor_reductions", "Reductions of boxes.", sums, HEADER),
        ("tensor_maps", "Fields of tensor maps.", maps, HEADER),
        ("newer_tensor_rows", "Four rows of a matrix, to shared memory and back.", rows, BLACKWELL),
        ("newer_tensor_pairs", "Loads that the mbarriers of pairs of blocks count.", pairs, BLACKWELL),
        ("newer_tensor_atoms", "Swizzling that keeps more than 16 bytes together.", atoms, BLACKWELL),
    ):
        family = Family(name, purpose, tables, ALIGNED, header=target)
        fill(family)
        built.append(family)
    return built

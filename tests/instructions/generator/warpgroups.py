"""Products of matrices by warpgroups: `wgmma`, whose second factor, and perhaps the first, is in shared memory.

Sums are those of `mma`, but for floats of eight bits: there all products and the addend are added at once, of which 13 bits are kept below the largest
exponent, and an f32 result has 13 bits behind its first one.
"""

import random

from .matrices import FORMATS, decode, element, fused, hexadecimal
from .products import BITS, CATEGORIES, Form, elements, joined, metadata, word
from .ptx import Family

HEADER = ".version 8.4\n.target sm_90a\n.address_size 64\n"
THREADS = 128
# Where the second factor begins in shared memory.
SECOND = 16384
SPANS = {0: 16, 1: 128, 2: 64, 3: 32}


class Layout:
    """How a factor lies in shared memory: whether its lines lie together, and the fields of its descriptor.

    Formulas are those of PTX section 9.7.15.5.1.2.1.3, on elements of `size` bytes.
    """

    def __init__(self, turned=0, mode=0, leading=None, stride=None, start=0, base=0, lines=64, depth=32):
        self.turned, self.mode, self.start, self.base = turned, mode, start, base
        # Of two bytes, as many pieces as eights of elements.
        span, eights, pieces = SPANS[mode], lines // 8, depth // 16
        if turned:
            usual = (span * 8 * pieces, span * 8) if mode else (128 * eights, 128)
        else:
            usual = (128, 128 * pieces) if mode == 0 else (16, span * 8)
        self.leading = usual[0] if leading is None else leading
        self.stride = usual[1] if stride is None else stride

    def descriptor(self):
        fields = ((self.start, 0), (self.leading, 16), (self.stride, 32))
        return sum((value >> 4) << position for value, position in fields) | self.base << 49 | self.mode << 62

    def offset(self, line, k, size):
        """The byte at which an element lies."""
        t, span = 16 // size, SPANS[self.mode]
        if not self.turned and self.mode == 0:
            offset = line % 8 * 16 + line // 8 * self.stride + k % t * size + k // t * self.leading
        elif not self.turned:
            offset = line % 8 * span + line // 8 * self.stride + k * size
        elif self.mode == 0:
            offset = line % t * size + line // t * self.stride + k % 8 * 16 + k // 8 * self.leading
        else:
            s = span // 16
            offset = line % t * size + line // t % s * 16 + line // (t * s) * self.leading + k % 8 * span + k // 8 * self.stride
        offset += self.start
        return offset ^ ((offset >> 7) - self.base & span // 16 - 1) << 4

    def image(self, rng, lines, ty):
        """Words of memory that hold a matrix, given by its lines of elements; the rest is random."""
        bits = BITS[ty]
        if bits < 8:
            lines = [[sum(bit << i for i, bit in enumerate(line[at:at + 8])) for at in range(0, len(line), 8)] for line in lines]
        size = max(bits // 8, 1)
        content = {}
        for number, line in enumerate(lines):
            for k, element in enumerate(line):
                at = self.offset(number, k, size)
                for byte in range(size):
                    assert at + byte not in content
                    content[at + byte] = element >> 8 * byte & 255
        return [sum(content.get(4 * i + byte, rng.getrandbits(8)) << 8 * byte for byte in range(4)) for i in range(max(content) // 4 + 1)]


class Warpgroup(Form):
    """A form of a product: as of a warp's 16 rows."""

    def __init__(self, shape, d, a, b, **more):
        super().__init__(shape, d, a, b, d, **more)
        self.rows, self.turned = 16, False
        # Whether A is in registers, signs of A and B, and turns of both.
        self.held, self.signs, self.turns = more.get("held", False), more.get("signs", (1, 1)), more.get("turns", (0, 0))
        self.scale = more.get("scale", "%scale")
        # What is unusual: memory is dynamic in a `cluster` of two, each warp stores its `own_rows` of A, or `late_rows` lane by lane, or the
        # metadata's register is `shared` with D.
        self.variant = more.get("variant")

    def text(self):
        d, a, b, _ = self.types.values()
        saturates, operator = ".satfinite" if self.saturates else "", ".and.popc" if a == "b1" else ""
        return f"wgmma.mma_async{'.sp' if self.sparse else ''}.sync.aligned.{self.shape}{saturates}.{d}.{a}.{b}{operator}"

    def name(self):
        name = self.text().replace("wgmma.mma_async", "wgmma").replace("sync.aligned.", "").replace(".", "_")
        if self.sparse:
            name += f"_s{self.selector}"
        name += "_held" if self.held else ""
        name += f"_{self.variant}" if self.variant else ""
        name += "".join(f"_minus_{matrix}" for matrix, sign in zip("ab", self.signs) if sign < 0)
        name += "".join(f"_turned_{matrix}" for matrix, turn in zip("ab", self.turns) if turn)
        return name + {"%scale": "", "!%scale": "_unless", "1": "_adds", "0": "_alone"}[self.scale]

    def operands(self, a, b):
        ty = self.types["a"]
        metadata = "%d0" if self.variant == "shared" else "%m0"
        parts = [a, b] + ([metadata, str(self.selector)] if self.sparse else []) + [self.scale]
        parts += map(str, self.signs if ty in FORMATS else [])
        turns = self.turns[1:] if self.held else self.turns
        parts += map(str, turns if ty in ("f16", "bf16") else [])
        return ", ".join(parts)

    def sum(self, row, column, addend):
        d, a, b, _ = self.types.values()
        if self.signs[0] != self.signs[1]:
            row = [bits ^ 1 << BITS[a] - 1 for bits in row]
        if a == "b1":
            return addend + sum(x & y for x, y in zip(row, column)) & 0xFFFFFFFF
        if a in FORMATS and BITS[a] == 8:
            terms = [(decode(a, x), decode(b, y)) for x, y in zip(row, column)]
            total = fused(d, decode(d, addend), terms, kept=13)
            is_number = decode(d, total)[0] == "number"
            return total & ~0x3FF if d == "f32" and is_number else total
        return super().sum(row, column, addend)


def kernel(family, form):
    counts = form.counts()
    d = form.register("d")
    params = [".param .u64 out", ".param .u64 a", ".param .u64 b", ".param .u64 c"] + [".param .u64 m"] * bool(form.sparse)
    params += [".param .u64 da", ".param .u64 db", ".param .u32 na", ".param .u32 nb", ".param .u32 scale"]
    clustered, late_rows = form.variant == "cluster", form.variant == "late_rows"
    own_rows = late_rows or form.variant == "own_rows"
    memory = "dynamic" if clustered else "memory"
    body = ["mov.u32 %t, %tid.x;", "mov.u32 %g, %ctaid.x;", f"mad.lo.u32 %u, %g, {THREADS}, %t;"]
    factors = (("b", SECOND),) if form.held else (("a", 0), ("b", SECOND))
    for use, at in reversed(factors) if own_rows else factors:
        body += [f"ld.param.u64 %p, [{use}];", f"ld.param.u32 %n, [n{use}];", "mul.lo.u32 %i, %g, %n;", "mul.wide.u32 %q, %i, 4;", "add.u64 %p, %p, %q;"]
        body += [f"mov.u32 %s, {memory};", f"add.u32 %s, %s, {at};", "mov.u32 %i, %t;"]
        if own_rows and use == "a":
            # Each warp has a fourth of the 512 words, which lanes store for each other.
            body += ["and.b32 %turn, %t, 31;", "shr.u32 %x, %t, 5;", "mov.u32 %turns, turns;", "mad.lo.u32 %turns, %x, 4, %turns;", "setp.eq.u32 %e, %turn, 0;", "@%e st.shared.u32 [%turns], %turn;"] * late_rows
            body += ["bar.sync 0;", "and.b32 %x, %t, 96;", "mad.lo.u32 %i, %x, 3, %t;", "xor.b32 %i, %i, 31;", "mul.wide.u32 %q, %i, 4;", "add.u64 %p, %p, %q;", "mad.lo.u32 %x, %i, 4, %s;"]
            body += ["wait: ld.volatile.shared.u32 %w, [%turns];", "setp.ne.u32 %e, %w, %turn;", "@%e bra wait;"] * late_rows
            body += [line for i in range(4) for line in (f"ld.global.u32 %w, [%p+{128 * i}];", f"st.shared.u32 [%x+{128 * i}], %w;")]
            body += ["red.shared.add.u32 [%turns], 1;"] * late_rows
        else:
            body += [f"next_{use}: setp.ge.u32 %e, %i, %n;", f"@%e bra done_{use};", "mul.wide.u32 %q, %i, 4;", "add.u64 %q, %p, %q;", "ld.global.u32 %w, [%q];"]
            body += ["shl.b32 %x, %i, 2;", "add.u32 %x, %x, %s;", "st.shared.u32 [%x], %w;", f"add.u32 %i, %i, {THREADS};", f"bra next_{use};", f"done_{use}:"]
        body += ["shr.u32 %x, %s, 4;", "cvt.u64.u32 %q, %x;", f"ld.param.u64 %d{use}, [d{use}];", f"add.u64 %d{use}, %d{use}, %q;"]
    body += ["fence.proxy.async;"] + ["bar.sync 0;"] * (not own_rows)
    if form.held:
        body += ["ld.param.u64 %p, [a];", f"mad.wide.u32 %p, %u, {4 * counts['a']}, %p;"]
        body += [f"ld.global.b32 %a{i}, [%p+{4 * i}];" for i in range(counts["a"])]
    if form.sparse:
        body += ["ld.param.u64 %p, [m];", "mad.wide.u32 %p, %u, 4, %p;", "ld.global.b32 %m0, [%p];"]
    body += ["ld.param.u64 %p, [c];", f"mad.wide.u32 %p, %u, {4 * counts['d']}, %p;"]
    body += [f"ld.global.{d} %d{i}, [%p+{4 * i}];" for i in range(counts["d"])]
    body += ["mov.b32 %d0, %m0;"] * (form.variant == "shared")
    body += ["ld.param.u32 %n, [scale];", "setp.ne.u32 %scale, %n, 0;"]
    vector = lambda use: "{" + ", ".join(f"%{use}{i}" for i in range(counts[use])) + "}"
    operands = form.operands(vector("a") if form.held else "%da", "%db")
    body += ["wgmma.fence.sync.aligned;", f"{form.text()} {vector('d')}, {operands};"]
    body += ["wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;"]
    body += ["ld.param.u64 %p, [out];", f"mad.wide.u32 %p, %u, {4 * counts['d']}, %p;"]
    body += [f"st.global.{d} [%p+{4 * i}], %d{i};" for i in range(counts["d"])]
    registers = [".reg .b32 %t, %g, %u, %i, %n, %s, %w, %x;", ".reg .b64 %p, %q, %da, %db;", ".reg .pred %e, %scale;"]
    registers += [f".reg .b32 %a<{counts['a']}>;"] * form.held + [".reg .b32 %m0;"] * bool(form.sparse)
    registers += [".reg .b32 %turn, %turns;", ".shared .align 4 .b8 turns[16];"] * late_rows
    registers += [f".reg .{d} %d<{counts['d']}>;"] + [f".shared .align 1024 .b8 memory[{2 * SECOND}];"] * (not clustered)
    family.kernel(form.name(), params, registers, body, " .reqnctapercluster 2, 1, 1" * clustered)


def product(family, form, groups=1, scale=1, layouts=None, categories=None, more="", seed=None):
    """A case for a form's kernel: `groups` blocks, each with its own matrices."""
    rng = random.Random(seed or form.name() + more + str(scale))
    filling = random.Random(form.name() + more)
    _, a, b, d = form.types.values()
    counts = form.counts()
    depth = form.depth // 2 if form.sparse else form.depth
    bytes_of = lambda ty, number: number * BITS[ty] // 8
    layouts = layouts or (Layout(turned=form.turns[0], depth=bytes_of(a, depth)), Layout(turned=form.turns[1], lines=form.columns, depth=bytes_of(b, form.depth)))
    images, held, addends, indices, expected = {"a": [], "b": []}, [], [], [], []
    categories = categories or [group * CATEGORIES // groups for group in range(groups)] if groups > 1 else [1]
    for category in categories:
        some = lambda ty, count: elements(ty, [word(rng, ty, category, False) for _ in range(-(-count * BITS[ty] // 32))])[:count]
        rows = [some(a, depth) for _ in range(64)]
        columns = [some(b, form.depth) for _ in range(form.columns)]
        for use, lines in (("a", rows), ("b", columns)):
            images[use].append(layouts["ab".index(use)].image(filling, lines, form.types[use]))
        for warp in range(4):
            meta = [metadata(rng, a) for _ in range(32)]
            indices += meta
            for lane in range(32):
                held += joined(a, [rows[16 * warp + row][k] for row, k in form.places("a", lane)])
                own = [word(rng, d, category, True) for _ in range(counts["d"])]
                addends += own
                summands = elements(d, own) if scale else [0] * len(form.places("d", lane))
                sums = []
                for (row, column), addend in zip(form.places("d", lane), summands):
                    kept = form.kept(meta, row)
                    line = rows[16 * warp + row]
                    sums.append(form.sum(line, [columns[column][k] for k in kept], addend))
                expected += joined(d, sums)
    lengths = {use: max(map(len, found)) for use, found in images.items()}
    flat = {use: [value for image in found for value in image + [0] * (lengths[use] - len(image))] for use, found in images.items()}
    words = lambda values: {"type": "u32", "bits": hexadecimal(values)}
    args = [{"type": "u32", "zeros": len(expected)}, words(held if form.held else flat["a"]), words(flat["b"]), words(addends)]
    args += [words(indices)] if form.sparse else []
    args += [{"type": "u64", "value": layout.descriptor()} for layout in layouts]
    args += [{"type": "u32", "value": lengths[use]} for use in "ab"]
    args += [{"type": "u32", "value": scale if form.scale == "%scale" else 1 - scale}]
    # So that the second block's memory lies at no multiple of what swizzling repeats after.
    launch = {"dynamic_shared_bytes": 2 * SECOND + 16} if form.variant == "cluster" else {}
    family.case(form.name() + more, form.name(), args, [{"arg": 0, "bits": hexadecimal(expected)}], block=THREADS, grid=len(categories), **launch)


def pipeline(family):
    """A warp fills one buffer again and again, and a warpgroup multiplies what is there. One of its threads says that its product is complete."""
    form, steps = Warpgroup("m64n8k16", "f32", "f16", "f16"), 5
    layouts = Layout(), Layout(lines=8)
    wait = lambda name, barrier: [f"{name}: mbarrier.try_wait.parity.shared.b64 %e, [{barrier}], %x;", f"@!%e bra {name};"]
    body = ["mov.u32 %t, %tid.x;", "setp.ne.u32 %e, %t, 0;", "@%e bra begun;", "mbarrier.init.shared.b64 [full], 32;", "mbarrier.init.shared.b64 [empty], 1;"]
    body += ["begun: bar.sync 0;", "mov.u32 %i, 0;", "mov.u32 %s, memory;", f"setp.ge.u32 %e, %t, {THREADS};", "@%e bra fill;"]
    for use, at in (("a", 0), ("b", 2048)):
        body += [f"add.u32 %x, %s, {at};", "shr.u32 %x, %x, 4;", "cvt.u64.u32 %q, %x;", f"ld.param.u64 %d{use}, [d{use}];", f"add.u64 %d{use}, %d{use}, %q;"]
    body += ["mov.f32 %d0, 0f00000000;", *(f"mov.f32 %d{i}, %d0;" for i in (1, 2, 3)), "next: and.b32 %x, %i, 1;", *wait("filled", "full")]
    body += ["wgmma.fence.sync.aligned;", f"{form.text()} {{%d0, %d1, %d2, %d3}}, %da, %db, 1, 1, 1, 0, 0;", "wgmma.commit_group.sync.aligned;"]
    body += ["wgmma.wait_group.sync.aligned 0;", "setp.ne.u32 %e, %t, 0;", "@%e bra given;", "mbarrier.arrive.shared.b64 _, [empty];", "given: add.u32 %i, %i, 1;"]
    body += [f"setp.lt.u32 %e, %i, {steps};", "@%e bra next;", "ld.param.u64 %p, [out];", "mad.wide.u32 %p, %t, 16, %p;", "st.global.v4.f32 [%p], {%d0, %d1, %d2, %d3};"]
    body += ["bra done;", f"fill: sub.u32 %t, %t, {THREADS};", "ld.param.u64 %p, [in];", "mad.wide.u32 %p, %t, 4, %p;", "mad.lo.u32 %s, %t, 4, %s;"]
    body += ["turn: setp.eq.u32 %e, %i, 0;", "@%e bra free;", "add.u32 %x, %i, 1;", "and.b32 %x, %x, 1;", *wait("emptied", "empty"), "free: mov.u32 %n, 0;"]
    # Of both matrices there are 576 words.
    body += ["copy: ld.global.u32 %w, [%p];", "add.u32 %x, %s, %n;", "st.shared.u32 [%x], %w;", "add.u64 %p, %p, 128;", "add.u32 %n, %n, 128;", "setp.lt.u32 %e, %n, 2304;"]
    body += ["@%e bra copy;", "fence.proxy.async;", "mbarrier.arrive.shared.b64 _, [full];", "add.u32 %i, %i, 1;", f"setp.lt.u32 %e, %i, {steps};", "@%e bra turn;", "done:"]
    registers = [".reg .b32 %t, %i, %n, %s, %w, %x;", ".reg .b64 %p, %q, %da, %db;", ".reg .pred %e;", ".reg .f32 %d<4>;"]
    registers += [".shared .align 128 .b8 memory[2304];", ".shared .align 8 .b64 full, empty;"]
    family.kernel("pipeline", [".param .u64 out", ".param .u64 in", ".param .u64 da", ".param .u64 db"], registers, body)
    rng = random.Random("pipeline")
    given, totals = [], {}
    for _ in range(steps):
        rows, columns = ([[element(rng, "f16", 1, False) for _ in range(16)] for _ in range(lines)] for lines in (64, 8))
        given += layouts[0].image(rng, rows, "f16") + layouts[1].image(rng, columns, "f16")
        for row in range(64):
            for column in range(8):
                totals[row, column] = form.sum(rows[row], columns[column], totals.get((row, column), 0))
    expected = [totals[16 * warp + row, column] for warp in range(4) for lane in range(32) for row, column in form.places("d", lane)]
    args = [{"type": "u32", "zeros": len(expected)}, {"type": "u32", "bits": hexadecimal(given)}]
    args += [{"type": "u64", "value": layout.descriptor()} for layout in layouts]
    family.case("pipeline", "pipeline", args, [{"arg": 0, "bits": hexadecimal(expected)}], block=THREADS + 32)


def dense(tables):
    dynamic = ".extern .shared .align 16 .b8 dynamic[];\n"
    family = Family("matrix_warpgroups", "Products of matrices of warpgroups.", tables, dynamic, header=HEADER)
    # Arithmetic.
    for d, a, b, depth, groups in (
        ("f32", "f16", "f16", 16, CATEGORIES), ("f16", "f16", "f16", 16, CATEGORIES), ("f32", "bf16", "bf16", 16, CATEGORIES), ("f32", "tf32", "tf32", 8, CATEGORIES),
        ("f32", "e4m3", "e4m3", 32, CATEGORIES), ("f16", "e5m2", "e5m2", 32, CATEGORIES), ("f16", "e4m3", "e4m3", 32, 5), ("f32", "e5m2", "e5m2", 32, 5),
        ("f16", "e4m3", "e5m2", 32, 3), ("f32", "e5m2", "e4m3", 32, 3),
    ):
        form = Warpgroup(f"m64n8k{depth}", d, a, b, held=True)
        kernel(family, form)
        product(family, form, groups)
        product(family, form, scale=0, more="_alone")
    for a in ("s8", "u8"):
        for b in ("s8", "u8"):
            form = Warpgroup("m64n8k32", "s32", a, b, held=True, saturates=a == b)
            kernel(family, form)
            product(family, form, categories=[0, 1])
    # Descriptors.
    for turns in ((0, 0), (0, 1), (1, 0), (1, 1)):
        form = Warpgroup("m64n64k16", "f16", "f16", "f16", turns=turns)
        kernel(family, form)
        for mode in range(4):
            other = (mode + 2) % 4
            product(family, form, layouts=(Layout(turns[0], mode), Layout(turns[1], other)), more=f"_{SPANS[mode]}_{SPANS[other]}", seed="layouts")
    form = Warpgroup("m64n16k16", "f32", "bf16", "bf16", turns=(0, 1))
    kernel(family, form)
    for number, start in enumerate((32, 64, 96)):
        layouts = Layout(0, 1, start=start), Layout(1, 2 + number % 2, start=1024 * number)
        product(family, form, layouts=layouts, more=f"_from_{start}")
    product(family, form, layouts=(Layout(0, 0, leading=128 * 8 + 16, stride=128), Layout(1, 0, leading=400, stride=144)), more="_strides")
    product(family, form, layouts=(Layout(0, 1, stride=2048), Layout(1, 3, leading=1024, stride=256)), more="_far")
    form = Warpgroup("m64n8k16", "f32", "f16", "f16")
    kernel(family, form)
    for row in (1, 4):
        product(family, form, layouts=(Layout(0, 1, start=128 * row, base=row), Layout(0, 1, start=128 * row, base=row, lines=8)), more=f"_base_{row}")
    form = Warpgroup("m64n8k16", "f32", "f16", "f16", variant="cluster")
    kernel(family, form)
    product(family, form, groups=2, layouts=(Layout(0, 1), Layout(0, 1, lines=8)))
    for variant in ("own_rows", "late_rows"):
        form = Warpgroup("m64n8k16", "f32", "f16", "f16", variant=variant)
        kernel(family, form)
        product(family, form)
    for shape, d, a, b, mode in (
        ("m64n24k8", "f32", "tf32", "tf32", 1), ("m64n16k32", "f32", "e4m3", "e5m2", 2), ("m64n16k32", "s32", "s8", "s8", 3), ("m64n24k256", "s32", "b1", "b1", 1),
        ("m64n16k256", "s32", "b1", "b1", 0),
    ):
        form = Warpgroup(shape, d, a, b)
        kernel(family, form)
        product(family, form, layouts=(Layout(0, mode), Layout(0, mode, lines=form.columns)))
    # Signs, scales, and numbers of columns.
    for signs, scale in (((-1, 1), "!%scale"), ((1, -1), "1"), ((-1, -1), "0")):
        form = Warpgroup("m64n8k16", "f32", "f16", "f16", held=True, signs=signs, scale=scale)
        kernel(family, form)
        product(family, form, scale=0 if scale == "0" else 1)
    form = Warpgroup("m64n8k32", "f32", "e5m2", "e4m3", signs=(-1, 1))
    kernel(family, form)
    product(family, form)
    for shape, d, a, b in (
        ("m64n40k16", "f32", "bf16", "bf16"), ("m64n32k8", "f32", "tf32", "tf32"), ("m64n256k16", "f16", "f16", "f16"), ("m64n48k32", "s32", "u8", "s8"),
        ("m64n8k256", "s32", "b1", "b1"),
    ):
        form = Warpgroup(shape, d, a, b, held=True)
        kernel(family, form)
        product(family, form)
    pipeline(family)
    return family


def sparse(tables):
    family = Family("matrix_warpgroups_sparse", "Products of matrices of warpgroups of which one has half of its elements.", tables, header=HEADER)
    for d, a, b, depth, selectors, mode, groups in (
        ("f32", "f16", "f16", 32, (0, 1), 1, CATEGORIES), ("f16", "f16", "f16", 32, (1,), 2, 5), ("f32", "bf16", "bf16", 32, (0,), 0, 3),
        ("f32", "tf32", "tf32", 16, (0, 1), 1, 3), ("f32", "e4m3", "e5m2", 64, (0,), 2, CATEGORIES), ("f16", "e5m2", "e4m3", 64, (0,), 0, 3),
        ("s32", "s8", "u8", 64, (0,), 1, 2), ("s32", "u8", "s8", 64, (0,), 0, 2),
    ):
        for selector in selectors:
            for held in (True, False):
                form = Warpgroup(f"m64n8k{depth}", d, a, b, held=held, sparse="sp", selector=selector)
                kernel(family, form)
                layouts = Layout(0, mode), Layout(0, mode, lines=8, depth=64)
                product(family, form, groups if held else 1, layouts=layouts)
    form = Warpgroup("m64n16k32", "f32", "f16", "f16", sparse="sp", selector=0, turns=(1, 1))
    kernel(family, form)
    for mode in range(4):
        product(family, form, layouts=(Layout(1, mode), Layout(1, mode, lines=16, depth=64)), more=f"_{SPANS[mode]}")
    form = Warpgroup("m64n16k32", "f16", "f16", "f16", sparse="sp", selector=0, variant="shared")
    kernel(family, form)
    product(family, form, scale=0)
    form = Warpgroup("m64n16k64", "s32", "s8", "s8", sparse="sp", selector=0, saturates=True)
    kernel(family, form)
    product(family, form)
    return family


def families(tables):
    return [dense(tables), sparse(tables)]

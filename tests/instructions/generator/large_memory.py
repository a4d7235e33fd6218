"""More local and shared memory than many devices have: indexed, through pointers, by atomics, in large grids."""

import struct

from .ptx import Family, header

REGISTERS = [
    ".reg .pred %p, %q;",
    ".reg .b16 %h;",
    ".reg .b32 %t, %g, %n, %i, %j, %k, %m, %u, %v, %w, %sum;",
    ".reg .b64 %po, %x, %y, %z, %base, %src, %l;",
]
START = [
    "ld.param.u64 %po, [out];", "mov.u32 %t, %tid.x;", "mov.u32 %n, %ntid.x;", "mov.u32 %g, %ctaid.x;",
    "mad.lo.u32 %g, %g, %n, %t;", "mad.wide.u32 %po, %g, 4, %po;",
]
FINISH = ["st.global.u32 [%po], %sum;"]
LOCAL_SIZES = (20 << 10, 100 << 10, 400 << 10)
MASK = (1 << 32) - 1


def u32(value):
    return value & MASK


def words(family, name, entry, expected, block, grid=1, args=(), **more):
    """A case whose threads have a word of the result each."""
    out = [{"type": "u32", "zeros": len(expected)}]
    family.case(name, entry, [*out, *args], [{"arg": 0, "data": expected}], block=block, grid=grid, **more)


def local(tables):
    family = Family("large_local", "Local memory of 20, 100 and 400 KiB for each thread.", tables, FUNCTIONS)
    for size in LOCAL_SIZES:
        kib = size >> 10
        own = [f".local .align 16 .b8 memory[{size}];"]
        indexed(family, f"indexed_{kib}", own, size)
        widths(family, f"widths_{kib}", own, size)
        pointers(family, f"pointers_{kib}", own, size)
        exchanged(family, f"exchanged_{kib}", own, size)
    stacks(family)
    return family


def indexed(family, name, own, size):
    """Words at computed places, the first and the last among them; in many blocks too."""
    count, rounds, step = size // 4, 24, size // 4 // 24 | 1
    body = START + [
        "mov.u64 %base, memory;", "mul.lo.u32 %j, %g, 37;", f"rem.u32 %j, %j, {count};", "mov.u32 %i, 0;",
        "fill:", "mad.wide.u32 %x, %j, 4, %base;", "mad.lo.u32 %v, %g, 1000003, %i;", "st.local.u32 [%x], %v;",
        f"add.u32 %j, %j, {step};", f"rem.u32 %j, %j, {count};", "add.u32 %i, %i, 1;",
        f"setp.lt.u32 %p, %i, {rounds};", "@%p bra fill;",
        "st.local.u32 [memory], %g;", "not.b32 %v, %g;", f"st.local.u32 [memory+{size - 4}], %v;",
        "mul.lo.u32 %j, %g, 37;", f"rem.u32 %j, %j, {count};", "mov.u32 %i, 0;", "mov.u32 %sum, 0;",
        "read:", "mad.wide.u32 %x, %j, 4, %base;", "ld.local.u32 %v, [%x];", "mad.lo.u32 %sum, %sum, 33, %v;",
        f"add.u32 %j, %j, {step};", f"rem.u32 %j, %j, {count};", "add.u32 %i, %i, 1;",
        f"setp.lt.u32 %p, %i, {rounds};", "@%p bra read;",
        "ld.local.u32 %v, [memory];", "mad.lo.u32 %sum, %sum, 33, %v;",
        f"ld.local.u32 %v, [memory+{size - 4}];", "mad.lo.u32 %sum, %sum, 33, %v;", *FINISH,
    ]
    family.kernel(name, [".param .u64 out"], REGISTERS + own, body)

    def result(thread):
        places = [(thread * 37 + step * i) % count for i in range(rounds)]
        memory = {place: u32(thread * 1000003 + i) for i, place in enumerate(places)}
        memory |= {0: thread, count - 1: u32(~thread)}
        total = 0
        for place in [*places, 0, count - 1]:
            total = u32(total * 33 + memory[place])
        return total

    for what, block, grid in (("", 64, 3), ("_parts", 32, 100)):
        if grid == 3 or size == LOCAL_SIZES[-1]:
            words(family, name + what, name, [result(thread) for thread in range(block * grid)], block, grid)


def widths(family, name, own, size):
    """The same bytes at all widths, at a place that differs between threads."""
    body = START + [
        "mov.u64 %base, memory;", f"mad.lo.u32 %j, %g, 11, {size // 32};", f"rem.u32 %j, %j, {size // 16};",
        "mad.wide.u32 %x, %j, 16, %base;", "add.u32 %u, %g, 1;", "mul.lo.u32 %v, %g, 0x01010101;", "not.b32 %w, %g;",
        "st.local.v4.u32 [%x], {%g, %u, %v, %w};", "st.local.u8 [%x+5], %t;", "mul.lo.u32 %k, %g, 257;",
        "cvt.u16.u32 %h, %k;", "st.local.u16 [%x+10], %h;", "ld.local.u64 %y, [%x+8];", "mul.lo.u64 %y, %y, 3;",
        "st.local.u64 [%x], %y;", "ld.local.s8 %i, [%x+3];", "ld.local.u16 %h, [%x+6];", "cvt.u32.u16 %k, %h;",
        "ld.local.v2.u32 {%u, %v}, [%x+8];", "ld.local.v4.u8 {%m, %w, %n, %j}, [%x];", "mov.u32 %sum, %i;",
        *(f"mad.lo.u32 %sum, %sum, 33, {register};" for register in ("%k", "%u", "%v", "%m", "%w", "%n", "%j")),
        *FINISH,
    ]
    family.kernel(name, [".param .u64 out"], REGISTERS + own, body)

    def result(thread):
        start = [thread, thread + 1, u32(thread * 0x01010101), u32(~thread)]
        memory = bytearray(b"".join(word.to_bytes(4, "little") for word in start))
        memory[5] = thread % 64 & 255
        memory[10:12] = (thread * 257 & 0xFFFF).to_bytes(2, "little")
        number = int.from_bytes(memory[8:16], "little") * 3 & (1 << 64) - 1
        memory[0:8] = number.to_bytes(8, "little")
        total = memory[3] | (0xFFFFFF00 if memory[3] >= 128 else 0)
        parts = [memory[6:8], memory[8:12], memory[12:16], *(memory[i : i + 1] for i in range(4))]
        for part in parts:
            total = u32(total * 33 + int.from_bytes(part, "little"))
        return total

    words(family, name, name, [result(thread) for thread in range(128)], 64, 2)


def pointers(family, name, own, size):
    """Generic pointers to local memory that go through global and through local memory, and one that may be global."""
    middle = size // 2 // 16 * 16
    body = START + [
        "ld.param.u64 %src, [slots];", "mad.wide.u32 %src, %g, 32, %src;", "mov.u64 %base, memory;",
        "cvta.local.u64 %l, %base;", f"add.u64 %x, %l, {middle};", "st.global.u64 [%src], %x;", "st.local.u64 [memory], %x;",
        "add.u32 %v, %g, 1000;", f"st.local.u32 [memory+{middle}], %v;", "mov.u32 %sum, 0;",
        # By way of global memory.
        "ld.global.u64 %y, [%src];", "ld.u32 %v, [%y];", "mad.lo.u32 %sum, %sum, 33, %v;", "st.u32 [%y+4], %g;",
        # By way of local memory, through a pointer to a pointer.
        "ld.u64 %y, [%l];", "ld.u64 %y, [%l];", "ld.u32 %v, [%y+4];", "mad.lo.u32 %sum, %sum, 33, %v;",
        # Odd threads write to global memory.
        "and.b32 %u, %g, 1;", "setp.eq.u32 %p, %u, 1;", "add.u64 %z, %src, 16;", "cvta.global.u64 %z, %z;",
        "selp.b64 %z, %z, %y, %p;", "add.u32 %w, %g, 7;", "st.u32 [%z], %w;", "ld.u32 %v, [%y];",
        "mad.lo.u32 %sum, %sum, 33, %v;", "ld.global.u32 %v, [%src+16];", "mad.lo.u32 %sum, %sum, 33, %v;",
        "isspacep.local %q, %z;", "selp.u32 %v, 1, 0, %q;", "mad.lo.u32 %sum, %sum, 33, %v;",
        "isspacep.shared %q, %y;", "selp.u32 %v, 1, 0, %q;", "mad.lo.u32 %sum, %sum, 33, %v;",
        # Addresses compare, and give distances.
        "setp.gt.u64 %q, %y, %l;", "selp.u32 %v, 1, 0, %q;", "mad.lo.u32 %sum, %sum, 33, %v;", "sub.u64 %z, %y, %l;",
        "cvt.u32.u64 %v, %z;", "mad.lo.u32 %sum, %sum, 33, %v;", "cvta.to.local.u64 %z, %y;", "ld.local.u32 %v, [%z+4];",
        "mad.lo.u32 %sum, %sum, 33, %v;", *FINISH,
    ]
    family.kernel(name, [".param .u64 out", ".param .u64 slots"], REGISTERS + own, body)

    def result(thread):
        odd = thread & 1
        parts = [thread + 1000, thread, thread + 1000 if odd else thread + 7, thread + 7 if odd else 0, 1 - odd, 0, 1]
        total = 0
        for part in [*parts, middle, thread]:
            total = u32(total * 33 + part)
        return total

    slots = [{"type": "u64", "zeros": 4 * 128}]
    words(family, name, name, [result(thread) for thread in range(128)], 64, 2, slots)


def exchanged(family, name, own, size):
    """Values from local memory go between the threads of a warp."""
    count = size // 4
    body = START + [
        "mov.u64 %base, memory;", f"mad.lo.u32 %j, %t, {count // 64}, 3;", "mad.wide.u32 %x, %j, 4, %base;",
        "mul.lo.u32 %v, %g, 2654435761;", "st.local.u32 [%x], %v;", "mov.u32 %sum, 0;", "mov.u32 %i, 1;",
        "more:", "ld.local.u32 %v, [%x];", "shfl.sync.bfly.b32 %u, %v, %i, 31, -1;", "mad.lo.u32 %sum, %sum, 33, %u;",
        "xor.b32 %v, %v, %u;", "st.local.u32 [%x], %v;", "shl.b32 %i, %i, 1;", "setp.lt.u32 %p, %i, 32;", "@%p bra more;",
        *FINISH,
    ]
    family.kernel(name, [".param .u64 out"], REGISTERS + own, body)
    values = [u32(thread * 2654435761) for thread in range(128)]
    sums = [0] * 128
    for step in (1, 2, 4, 8, 16):
        other = [values[thread ^ step] for thread in range(128)]
        sums = [u32(total * 33 + value) for total, value in zip(sums, other)]
        values = [value ^ new for value, new in zip(values, other)]
    words(family, name, name, sums, 64, 2)


FUNCTIONS = """
.func (.reg .b32 %result) depths(.reg .b32 %n, .reg .b64 %outer)
{
	.local .align 8 .b8 own[32];
	.reg .pred %p;
	.reg .b32 %a, %b;
	.reg .b64 %x;
	ld.u32 %a, [%outer];
	add.u32 %a, %a, %n;
	st.local.u32 [own+8], %a;
	setp.eq.u32 %p, %n, 0;
	mov.u32 %result, %a;
	@%p ret;
	mov.u64 %x, own;
	cvta.local.u64 %x, %x;
	add.u64 %x, %x, 8;
	sub.u32 %b, %n, 1;
	call (%result), depths, (%b, %x);
	ld.local.u32 %a, [own+8];
	mad.lo.u32 %result, %result, 5, %a;
	st.u32 [%outer], %result;
}
.func (.reg .b32 %result) filled(.reg .b32 %n)
{
	.local .align 4 .b8 own[40960];
	.reg .pred %p;
	.reg .b32 %i;
	.reg .b64 %x, %y;
	mov.u64 %x, own;
	mov.u32 %i, 0;
	mov.u32 %result, 0;
next:
	mad.wide.u32 %y, %i, 4, %x;
	st.local.u32 [%y], %n;
	ld.local.u32 %result, [%y];
	add.u32 %i, %i, 1279;
	setp.lt.u32 %p, %i, 10240;
	@%p bra next;
	mad.lo.u32 %result, %result, 3, %i;
}
"""


def stacks(family):
    """Recursion, alloca and functions with memory of their own, beside a large array."""
    own = [".local .align 16 .b8 memory[32768];"]
    recursion = START + [
        "mov.u64 %base, memory;", "cvta.local.u64 %l, %base;", "add.u64 %l, %l, 32752;", "st.u32 [%l], %g;",
        "and.b32 %v, %g, 3;", "call (%sum), depths, (%v, %l);", "ld.local.u32 %u, [memory+32752];",
        "mad.lo.u32 %sum, %sum, 33, %u;", *FINISH,
    ]
    family.kernel("recursion", [".param .u64 out"], REGISTERS + own, recursion)

    def depths(n, outer):
        own = [u32(outer[0] + n)]
        if n == 0:
            return own[0]
        below = depths(n - 1, own)
        outer[0] = u32(below * 5 + own[0])
        return outer[0]

    def recursed(thread):
        outer = [thread]
        return u32(depths(thread & 3, outer) * 33 + outer[0])

    words(family, "recursion", "recursion", [recursed(thread) for thread in range(64)], 64)

    calls = START + ["call (%u), filled, (%g);", "add.u32 %v, %g, 5;", "call (%v), filled, (%v);", "mad.lo.u32 %sum, %u, 33, %v;", *FINISH]
    family.kernel("functions", [".param .u64 out"], REGISTERS, calls)
    filled = lambda n: u32(n * 3 + 1279 * -(-10240 // 1279))
    expected = [u32(filled(thread) * 33 + filled(thread + 5)) for thread in range(64)]
    words(family, "functions", "functions", expected, 64)

    alloca = START + [
        "st.local.u32 [memory+32764], %g;", "and.b32 %k, %t, 15;", "add.u32 %k, %k, 1;", "shl.b32 %m, %k, 2;",
        "cvt.u64.u32 %y, %m;", "alloca.u64 %x, %y, 16;", "mov.u32 %i, 0;",
        "fill:", "mad.wide.u32 %y, %i, 4, %x;", "mad.lo.u32 %v, %g, 3, %i;", "st.local.u32 [%y], %v;",
        "add.u32 %i, %i, 1;", "setp.lt.u32 %p, %i, %k;", "@%p bra fill;", "mov.u32 %sum, 0;", "cvta.local.u64 %x, %x;",
        "sum:", "sub.u32 %i, %i, 1;", "mad.wide.u32 %y, %i, 4, %x;", "ld.u32 %v, [%y];",
        "mad.lo.u32 %sum, %sum, 33, %v;", "setp.ne.u32 %p, %i, 0;", "@%p bra sum;", "ld.local.u32 %v, [memory+32764];",
        "mad.lo.u32 %sum, %sum, 33, %v;", *FINISH,
    ]
    family.kernel("alloca", [".param .u64 out"], REGISTERS + own, alloca)

    def allocated(thread):
        total = 0
        for i in reversed(range(thread % 64 % 16 + 1)):
            total = u32(total * 33 + u32(thread * 3 + i))
        return u32(total * 33 + thread)

    words(family, "alloca", "alloca", [allocated(thread) for thread in range(128)], 64, 2)


SHARED = ".extern .shared .align 16 .b8 dynamic[];\n"
# Static memory of exactly 48 KiB, and dynamic memory.
SHARED_SIZES = {"static": 48 << 10, "64": 64 << 10, "100": 100 << 10, "200": 200 << 10}


def shared(tables):
    family = Family("large_shared", "Shared memory of 48 KiB, declared, and of up to 200 KiB, dynamic.", tables, SHARED, header=header("8.0"))
    for what, size in SHARED_SIZES.items():
        is_static = what == "static"
        memory = f"own_{what}" if is_static else "dynamic"
        own = [f".shared .align 16 .b8 {memory}[{size}];"] if is_static else []
        more = {} if is_static else {"dynamic_shared_bytes": size}
        arguments = (family, what, memory, own, size, more)
        permuted(*arguments)
        narrow(*arguments)
        counted(*arguments)
        fenced(*arguments)
        divergent(*arguments)
        generic(*arguments)
        arrivals(*arguments)
        copied(*arguments)
        parts(*arguments)
    return family


def permuted(family, what, memory, own, size, more):
    """Each thread writes words all over the memory, and reads what others have written."""
    threads, rounds = 128, 16
    step = size // 4 // (threads * rounds)
    body = START + [
        f"mov.u64 %base, {memory};", "mov.u32 %i, 0;",
        "fill:", f"mad.lo.u32 %j, %i, {threads}, %t;", f"mul.lo.u32 %k, %j, {4 * step};", "cvt.u64.u32 %x, %k;",
        "add.u64 %x, %base, %x;", "mad.lo.u32 %v, %j, 2654435761, %g;", "st.shared.u32 [%x], %v;",
        "add.u32 %i, %i, 1;", f"setp.lt.u32 %p, %i, {rounds};", "@%p bra fill;", "bar.sync 0;", "mov.u32 %i, 0;",
        "mov.u32 %sum, 0;",
        "read:", f"mad.lo.u32 %j, %t, {rounds}, %i;", f"mul.lo.u32 %k, %j, {4 * step};", "cvt.u64.u32 %x, %k;",
        "add.u64 %x, %base, %x;", "ld.shared.u32 %v, [%x];", "mad.lo.u32 %sum, %sum, 33, %v;",
        "add.u32 %i, %i, 1;", f"setp.lt.u32 %p, %i, {rounds};", "@%p bra read;", *FINISH,
    ]
    family.kernel(f"permuted_{what}", [".param .u64 out"], REGISTERS + own, body)
    expected = []
    for group in range(3):
        written = [u32(place * 2654435761 + group * threads + place % threads) for place in range(threads * rounds)]
        for thread in range(threads):
            total = 0
            for place in range(thread * rounds, (thread + 1) * rounds):
                total = u32(total * 33 + written[place])
            expected.append(total)
    words(family, f"permuted_{what}", f"permuted_{what}", expected, threads, 3, **more)


def narrow(family, what, memory, own, size, more):
    """Neighbours write bytes and halves of the same words, at the memory's end."""
    threads = 64
    body = START + [
        f"mov.u64 %base, {memory};", f"add.u64 %base, %base, {size - 4 * threads};", "cvt.u64.u32 %x, %t;",
        "add.u64 %x, %base, %x;", "mul.lo.u32 %v, %t, 7;", "st.shared.u8 [%x], %v;", "mad.wide.u32 %y, %t, 2, %base;",
        "mul.lo.u32 %w, %t, 777;", "cvt.u16.u32 %h, %w;", f"st.shared.u16 [%y+{threads}], %h;", "bar.sync 0;",
        "and.b32 %u, %t, 15;", "mad.wide.u32 %x, %u, 4, %base;", "ld.shared.u32 %sum, [%x];",
        "and.b32 %u, %t, 31;", "mad.wide.u32 %x, %u, 4, %base;", f"ld.shared.u32 %v, [%x+{threads}];",
        "mad.lo.u32 %sum, %sum, 33, %v;", "xor.b32 %u, %t, 1;", "cvt.u64.u32 %x, %u;", "add.u64 %x, %base, %x;",
        "ld.shared.s8 %v, [%x];", "mad.lo.u32 %sum, %sum, 33, %v;", *FINISH,
    ]
    family.kernel(f"narrow_{what}", [".param .u64 out"], REGISTERS + own, body)
    low = bytes(thread * 7 & 255 for thread in range(threads))
    high = b"".join((thread * 777 & 0xFFFF).to_bytes(2, "little") for thread in range(threads))
    word = lambda memory, place: int.from_bytes(memory[4 * place : 4 * place + 4], "little")
    signed = lambda byte: u32(byte - 256) if byte >= 128 else byte
    expected = [
        u32(u32(word(low, thread & 15) * 33 + word(high, thread & 31)) * 33 + signed(low[thread ^ 1]))
        for thread in range(threads)
    ]
    words(family, f"narrow_{what}", f"narrow_{what}", expected, threads, **more)


def counted(family, what, memory, own, size, more):
    """Atomics of 32 and 64 bits on the last words of the memory."""
    threads = 96
    place = size - 64
    body = START + [
        "setp.ne.u32 %p, %t, 0;", "mov.u64 %y, -1;", "mov.u32 %v, 0;", "mov.u64 %x, 0;",
        *(f"@!%p st.shared.u32 [{memory}+{place + 4 * word}], %v;" for word in range(8)),
        *(f"@!%p st.shared.u64 [{memory}+{place + 32 + 8 * word}], %x;" for word in range(3)),
        f"@!%p st.shared.u64 [{memory}+{place + 56}], %y;", "bar.sync 0;", "add.u32 %u, %t, 1;", "cvt.u64.u32 %x, %u;",
        "mul.lo.u64 %x, %x, 0x100000001;", f"atom.shared.add.u32 %v, [{memory}+{place}], %u;",
        f"red.shared.max.s32 [{memory}+{place + 4}], %u;", f"red.shared.xor.b32 [{memory}+{place + 8}], %u;",
        f"atom.shared.inc.u32 %v, [{memory}+{place + 12}], 9;", "cvt.rn.f32.u32 %w, %u;",
        f"red.shared.add.f32 [{memory}+{place + 16}], %w;", f"red.shared.add.u64 [{memory}+{place + 32}], %x;",
        f"atom.shared.max.u64 %y, [{memory}+{place + 40}], %x;", f"red.shared.or.b64 [{memory}+{place + 48}], %x;",
        f"red.shared.min.u64 [{memory}+{place + 56}], %x;",
        # A sum by compare-and-swap.
        f"ld.relaxed.cta.shared.u32 %v, [{memory}+{place + 20}];",
        "again:", "mad.lo.u32 %w, %u, 3, %v;", f"atom.shared.cas.b32 %i, [{memory}+{place + 20}], %v, %w;",
        "setp.ne.u32 %q, %i, %v;", "mov.u32 %v, %i;", "@%q bra again;", "bar.sync 0;",
        "and.b32 %u, %t, 15;", f"mov.u64 %base, {memory};", "mad.wide.u32 %x, %u, 4, %base;",
        f"ld.shared.u32 %sum, [%x+{place}];", *FINISH,
    ]
    family.kernel(f"counted_{what}", [".param .u64 out"], REGISTERS + own, body)
    numbers = range(1, threads + 1)
    total, xor, combined = sum(numbers), 0, 0
    for number in numbers:
        xor ^= number
        combined |= number
    (number,) = struct.unpack("<I", struct.pack("<f", total))
    memory = [total, threads, xor, threads % 10, number, total * 3, 0, 0]
    memory += [total, total, threads, threads, combined, combined, 1, 1]
    words(family, f"counted_{what}", f"counted_{what}", [memory[thread & 15] for thread in range(threads)], threads, **more)


def fenced(family, what, memory, own, size, more):
    """The last thread to arrive sums up what the others have written, without a barrier between."""
    threads = 64
    body = START + [
        "setp.ne.u32 %p, %t, 0;", "mov.u32 %v, 0;", f"@!%p st.shared.u32 [{memory}+{size - 4}], %v;", "bar.sync 0;",
        f"mov.u64 %base, {memory};", f"mul.lo.u32 %j, %t, {size // threads // 4 * 4};", "cvt.u64.u32 %x, %j;",
        "add.u64 %x, %base, %x;", "mad.lo.u32 %v, %t, %t, 5;", "st.shared.u32 [%x], %v;", "fence.sc.cta;",
        f"atom.shared.add.u32 %u, [{memory}+{size - 4}], 1;", "membar.cta;", "mov.u32 %sum, 0;",
        f"setp.ne.u32 %p, %u, {threads - 1};", "@%p bra done;", "mov.u32 %i, 0;",
        "next:", f"mul.lo.u32 %j, %i, {size // threads // 4 * 4};", "cvt.u64.u32 %x, %j;", "add.u64 %x, %base, %x;",
        "ld.shared.u32 %v, [%x];", "mad.lo.u32 %sum, %sum, 33, %v;", "add.u32 %i, %i, 1;",
        f"setp.lt.u32 %p, %i, {threads};", "@%p bra next;",
        # The number of the last thread must not matter.
        "mul.wide.u32 %x, %t, 4;", "sub.u64 %po, %po, %x;", *FINISH, "done:",
    ]
    family.kernel(f"fenced_{what}", [".param .u64 out"], REGISTERS + own, body)
    total = 0
    for thread in range(threads):
        total = u32(total * 33 + thread * thread + 5)
    words(family, f"fenced_{what}", f"fenced_{what}", [total, *[0] * (threads - 1)], threads, **more)


def divergent(family, what, memory, own, size, more):
    """Two groups of warps meet at barriers of their own, each in a loop; then a reduction over all."""
    threads, rounds = 128, 5
    half = size // 2 // 16 * 16
    body = START + [
        f"mov.u64 %base, {memory};", "setp.lt.u32 %q, %t, 64;", "and.b32 %k, %t, 63;", f"selp.u32 %m, 0, {half}, %q;",
        "cvt.u64.u32 %x, %m;", "add.u64 %base, %base, %x;", "mad.wide.u32 %x, %k, 4, %base;", "st.shared.u32 [%x], %g;",
        "xor.b32 %j, %k, 33;", "mad.wide.u32 %y, %j, 4, %base;", "mov.u32 %i, 0;", "mov.u32 %sum, 0;",
        "@!%q bra second;",
        "first:", "bar.sync 1, 64;", "ld.shared.u32 %v, [%y];", "mad.lo.u32 %sum, %sum, 33, %v;", "bar.sync 1, 64;",
        "add.u32 %v, %sum, %i;", "st.shared.u32 [%x], %v;", "add.u32 %i, %i, 1;", f"setp.lt.u32 %p, %i, {rounds};",
        "@%p bra first;", "bra.uni joined;",
        "second:", "bar.sync 2, 64;", "ld.shared.u32 %v, [%y];", "mad.lo.u32 %sum, %sum, 35, %v;", "bar.sync 2, 64;",
        "sub.u32 %v, %sum, %i;", "st.shared.u32 [%x], %v;", "add.u32 %i, %i, 1;",
        f"setp.lt.u32 %p, %i, {rounds + 2};", "@%p bra second;",
        "joined:", "and.b32 %u, %sum, 1;", "setp.eq.u32 %p, %u, 1;", "bar.red.popc.u32 %v, 0, %p;",
        "mad.lo.u32 %sum, %sum, 33, %v;", *FINISH,
    ]
    family.kernel(f"divergent_{what}", [".param .u64 out"], REGISTERS + own, body)
    sums = []
    for first, factor, sign, count in ((0, 33, 1, rounds), (64, 35, -1, rounds + 2)):
        memory = [first + thread for thread in range(64)]
        group = [0] * 64
        for i in range(count):
            group = [u32(group[thread] * factor + memory[thread ^ 33]) for thread in range(64)]
            memory = [u32(total + sign * i) for total in group]
        sums += group
    odd = sum(total & 1 for total in sums)
    words(family, f"divergent_{what}", f"divergent_{what}", [u32(total * 33 + odd) for total in sums], threads, **more)


def generic(family, what, memory, own, size, more):
    """Pointers to shared memory handed to other threads through memory, atomics through them, and one that may be global."""
    threads = 64
    place = size - 8 * threads - 1024
    body = START + [
        "ld.param.u64 %src, [slots];", f"mov.u64 %base, {memory};", "cvta.shared.u64 %l, %base;",
        "mad.wide.u32 %x, %t, 8, %l;", f"add.u64 %x, %x, {place};", "mad.wide.u32 %y, %t, 8, %src;", "st.global.u64 [%y], %x;",
        "mul.lo.u32 %v, %t, 5;", "st.u32 [%x], %v;", "mad.wide.u32 %z, %t, 8, %base;", "st.shared.u64 [%z], %x;", "bar.sync 0;",
        "xor.b32 %j, %t, 21;", "mad.wide.u32 %y, %j, 8, %src;", "ld.global.u64 %x, [%y];", "ld.u32 %sum, [%x];",
        "atom.add.u32 %u, [%x], 1000;", "mad.lo.u32 %sum, %sum, 33, %u;", "bar.sync 0;",
        "mad.wide.u32 %z, %t, 8, %base;", "ld.shared.u64 %x, [%z];", "ld.u32 %v, [%x];", "mad.lo.u32 %sum, %sum, 33, %v;",
        "isspacep.shared %q, %x;", "selp.u32 %v, 1, 0, %q;", "mad.lo.u32 %sum, %sum, 33, %v;",
        "mad.wide.u32 %y, %t, 8, %src;", "and.b32 %u, %t, 1;", "setp.eq.u32 %p, %u, 1;", "selp.b64 %x, %x, %y, %p;",
        "st.u32 [%x], %t;", "ld.u32 %v, [%x];", "mad.lo.u32 %sum, %sum, 33, %v;", "sub.u64 %x, %x, %l;",
        "cvt.u32.u64 %v, %x;", "@!%p mov.u32 %v, 0;", "mad.lo.u32 %sum, %sum, 33, %v;", *FINISH,
    ]
    family.kernel(f"generic_{what}", [".param .u64 out", ".param .u64 slots"], REGISTERS + own, body)
    expected = []
    for thread in range(threads):
        other = (thread ^ 21) * 5
        distance = place + 8 * thread if thread & 1 else 0
        total = other
        for part in (other, thread * 5 + 1000, 1, thread, distance):
            total = u32(total * 33 + part)
        expected.append(total)
    slots = [{"type": "u64", "zeros": threads}]
    words(family, f"generic_{what}", f"generic_{what}", expected, threads, 1, slots, **more)


def arrivals(family, what, memory, own, size, more):
    """An mbarrier at the memory's end orders what warps write before others read it."""
    threads = 64
    place = size - 16
    body = START + [
        f"mov.u64 %base, {memory};", "setp.ne.u32 %p, %t, 0;",
        f"@!%p mbarrier.init.shared.b64 [{memory}+{place}], {threads};", "bar.sync 0;", "mov.u32 %i, 0;", "mov.u32 %sum, 0;",
        "round:", f"mul.lo.u32 %j, %i, {size // 8 // 4 * 4};", "mad.lo.u32 %k, %t, 4, %j;", "cvt.u64.u32 %x, %k;",
        "add.u64 %x, %base, %x;", "mad.lo.u32 %v, %g, 17, %i;", "st.shared.u32 [%x], %v;",
        f"mbarrier.arrive.shared.b64 %y, [{memory}+{place}];",
        "wait:", f"mbarrier.try_wait.shared.b64 %q, [{memory}+{place}], %y;", "@!%q bra wait;",
        "xor.b32 %u, %t, 37;", "mad.lo.u32 %k, %u, 4, %j;", "cvt.u64.u32 %x, %k;", "add.u64 %x, %base, %x;",
        "ld.shared.u32 %v, [%x];", "mad.lo.u32 %sum, %sum, 33, %v;", "add.u32 %i, %i, 1;", "setp.lt.u32 %p, %i, 6;",
        "@%p bra round;", *FINISH,
    ]
    family.kernel(f"arrivals_{what}", [".param .u64 out"], REGISTERS + own, body)
    expected = []
    for thread in range(threads):
        total = 0
        for i in range(6):
            total = u32(total * 33 + (thread ^ 37) * 17 + i)
        expected.append(total)
    words(family, f"arrivals_{what}", f"arrivals_{what}", expected, threads, **more)


def copied(family, what, memory, own, size, more):
    """Asynchronous copies to the memory, read back as vectors."""
    threads = 64
    place = (size - 16 * threads) // 16 * 16
    body = START + [
        "ld.param.u64 %src, [slots];", "mad.wide.u32 %x, %t, 16, %src;", f"mov.u64 %base, {memory};",
        f"add.u64 %base, %base, {place};", "mad.wide.u32 %y, %t, 16, %base;", "cp.async.cg.shared.global [%y], [%x], 16;",
        "cp.async.commit_group;", "cp.async.wait_group 0;", "bar.sync 0;", "xor.b32 %u, %t, 50;",
        "mad.wide.u32 %y, %u, 16, %base;", "ld.shared.v4.u32 {%sum, %i, %j, %k}, [%y];",
        *(f"mad.lo.u32 %sum, %sum, 33, {register};" for register in ("%i", "%j", "%k")),
        "ld.shared.v2.u64 {%x, %z}, [%y];", "cvt.u32.u64 %v, %z;", "mad.lo.u32 %sum, %sum, 33, %v;", *FINISH,
    ]
    family.kernel(f"copied_{what}", [".param .u64 out", ".param .u64 slots"], REGISTERS + own, body)
    source = [u32(place * 2654435761) for place in range(4 * threads)]
    expected = []
    for thread in range(threads):
        first, *rest = source[4 * (thread ^ 50) : 4 * (thread ^ 50) + 4]
        total = first
        for value in [*rest, rest[1]]:
            total = u32(total * 33 + value)
        expected.append(total)
    slots = [{"type": "u32", "data": source}]
    words(family, f"copied_{what}", f"copied_{what}", expected, threads, 1, slots, **more)


def parts(family, what, memory, own, size, more):
    """More blocks than there is scratch memory for at once; of each, some pages are touched."""
    if what != "200":
        return
    threads, grid = 32, (900, 2, 2)
    body = [
        "ld.param.u64 %po, [out];", "mov.u32 %t, %tid.x;", "mov.u32 %g, %ctaid.z;", "mov.u32 %u, %ctaid.y;",
        "mad.lo.u32 %g, %g, 2, %u;", "mov.u32 %u, %ctaid.x;", "mad.lo.u32 %g, %g, 900, %u;", f"mov.u64 %base, {memory};",
        "shr.u32 %j, %t, 3;", f"mul.lo.u32 %j, %j, {(size - 64) // 3 // 4 * 4};", "and.b32 %k, %t, 7;", "mad.lo.u32 %j, %k, 4, %j;",
        "cvt.u64.u32 %x, %j;", "add.u64 %x, %base, %x;", "mad.lo.u32 %v, %g, 33, %t;", "st.shared.u32 [%x], %v;", "bar.sync 0;",
        "xor.b32 %u, %t, 29;", "shr.u32 %j, %u, 3;", f"mul.lo.u32 %j, %j, {(size - 64) // 3 // 4 * 4};", "and.b32 %k, %u, 7;",
        "mad.lo.u32 %j, %k, 4, %j;", "cvt.u64.u32 %x, %j;", "add.u64 %x, %base, %x;", "ld.shared.u32 %v, [%x];",
        "mad.wide.u32 %po, %g, 4, %po;", "red.global.add.u32 [%po], %v;",
    ]
    family.kernel(f"parts_{what}", [".param .u64 out"], REGISTERS + own, body)
    expected = [u32(threads * group * 33 + sum(range(threads))) for group in range(3600)]
    words(family, f"parts_{what}", f"parts_{what}", expected, threads, grid, **more)


def clusters(tables):
    """Blocks of a cluster that read each other's memory, 100 KiB each."""
    family = Family("large_cluster", "Clusters of two blocks with 100 KiB of shared memory each.", tables, SHARED, header=header("8.0"))
    size, threads = 100 << 10, 64
    body = START + [
        "mov.u32 %k, %cluster_ctarank;", "xor.b32 %k, %k, 1;", "mov.u64 %base, dynamic;",
        f"mul.lo.u32 %j, %t, {size // threads // 4 * 4};", "cvt.u64.u32 %x, %j;", "add.u64 %x, %base, %x;",
        "mad.lo.u32 %v, %g, 97, 3;", "st.shared.u32 [%x], %v;", "setp.ne.u32 %p, %t, 0;",
        "mov.u32 %v, 0;", f"@!%p st.shared.u32 [dynamic+{size - 4}], %v;", "barrier.cluster.arrive;", "barrier.cluster.wait;",
        "mapa.shared::cluster.u64 %y, %x, %k;", "ld.shared::cluster.u32 %sum, [%y];", f"add.u64 %z, %base, {size - 4};",
        "mapa.shared::cluster.u64 %z, %z, %k;", "red.shared::cluster.add.u32 [%z], %t;", "barrier.cluster.arrive;",
        "barrier.cluster.wait;", f"ld.shared.u32 %v, [dynamic+{size - 4}];", "mad.lo.u32 %sum, %sum, 33, %v;", *FINISH,
    ]
    family.kernel("swapped", [".param .u64 out"], REGISTERS, body, " .reqnctapercluster 2, 1, 1")
    total = sum(range(threads))
    expected = []
    for thread in range(4 * threads):
        group, place = divmod(thread, threads)
        expected.append(u32(u32(((group ^ 1) * threads + place) * 97 + 3) * 33 + total))
    words(family, "swapped", "swapped", expected, threads, 4, dynamic_shared_bytes=size)
    return family


def families(tables):
    return [local(tables), shared(tables), clusters(tables)]

"""Variables of every space with initial contents and relocations, shared memory at several widths, large parameters, and
memory by alloca."""

import random
import struct

from .ptx import Family, header


def initialisers(tables):
    """Every kind of initial content, read back by its own type and by bytes."""
    directives = """
.global .u8 bytes[4] = {1, 255, 0x7f, 0x80};
.global .s16 halves[2][2] = {{-1, 2}, {-32768, 32767}};
.global .align 4 .u32 words[4] = {10, 11};
.global .s64 longs[2] = {-9223372036854775807, 1};
.global .f32 floats[3] = {0f3fc00000, -2.5, 1e10};
.global .f64 doubles[2] = {0d3ff8000000000000, 0.1};
.global .align 8 .v2 .f32 pairs[2] = {{1.0, 2.0}, {3.0, 4.0}};
.global .align 16 .v4 .u32 quad = {5, 6, 7, 8};
.const .align 4 .u32 table[3] = {100, 200, 300};
.const .u64 number = 0xfedcba9876543210;
.visible .global .u32 one = 1 + 2 * 3;
.weak .global .u32 feeble = 77;
.common .global .u32 common_word;
.global .align 64 .u32 aligned = 64;
.global .attribute(.managed) .u32 managed_word = 4711;
.global .u64 to_words = words + 4;
.global .u64 generic_words = generic(words) + 8;
.global .u64 both[2] = {generic(table), generic(quad)};
.const .u64 from_const = generic(floats);
.global .u8 address_bytes[8] = {
    0xff(generic(words)), 0xff00(generic(words)), 0xff0000(generic(words)), 0xff000000(generic(words)),
    0xff00000000(generic(words)), 0xff0000000000(generic(words)), 0xff000000000000(generic(words)),
    0xff00000000000000(generic(words))
};
.global .align 8 .u64 untouched[2];
"""
    family = Family("variables", "Initial contents of module variables.", tables, directives, header=header("7.8"))
    body, expected = ["ld.param.u64 %po, [out];"], []

    def put(lines, value):
        body.extend([*lines, f"st.global.u64 [%po+{8 * len(expected)}], %v;"])
        expected.append(value & (1 << 64) - 1)

    f32 = lambda value: struct.unpack("<I", struct.pack("<f", value))[0]
    f64 = lambda value: struct.unpack("<Q", struct.pack("<d", value))[0]
    reads = {
        "global.u8": ("bytes", 1, [1, 255, 127, 128]), "global.s16": ("halves", 2, [-1, 2, -32768, 32767]),
        "global.u32": ("words", 4, [10, 11, 0, 0]), "global.s64": ("longs", 8, [-9223372036854775807, 1]),
        "const.u32": ("table", 4, [100, 200, 300]), "const.u64": ("number", 8, [0xFEDCBA9876543210]),
    }
    for form, (name, size, values) in reads.items():
        for place, value in enumerate(values):
            put([f"ld.{form} %v, [{name}+{size * place}];"], value)
    for name, values in (("floats", [1.5, -2.5, 1e10]), ("pairs", [1.0, 2.0, 3.0, 4.0])):
        for place, value in enumerate(values):
            put([f"ld.global.b32 %v, [{name}+{4 * place}];"], f32(value))
    for place, value in enumerate([1.5, 0.1]):
        put([f"ld.global.b64 %v, [doubles+{8 * place}];"], f64(value))
    for name, value in (("one", 7), ("feeble", 77), ("common_word", 0), ("aligned", 64), ("managed_word", 4711), ("untouched", 0)):
        put([f"ld.global.u32 %v, [{name}];"], value)
    for place in range(4):
        put([f"ld.global.u32 %v, [quad+{4 * place}];"], 5 + place)
    put(["ld.global.u64 %x, [to_words];", "ld.global.u32 %v, [%x];"], 11)
    put(["ld.global.u64 %x, [generic_words];", "ld.u32 %v, [%x+-8];"], 10)
    put(["ld.global.u64 %x, [both];", "ld.u32 %v, [%x+4];"], 200)
    put(["ld.global.u64 %x, [both+8];", "ld.u32 %v, [%x+12];"], 8)
    put(["ld.const.u64 %x, [from_const];", "ld.b32 %v, [%x+4];"], f32(-2.5))
    joined = ["mov.u64 %x, 0;"]
    for place in range(8):
        joined += [f"ld.global.u8 %v, [address_bytes+{place}];", f"shl.b64 %v, %v, {8 * place};", "or.b64 %x, %x, %v;"]
    put([*joined, "ld.u32 %v, [%x+4];"], 11)
    put(["mov.u64 %x, aligned;", "and.b64 %v, %x, 63;"], 0)
    family.kernel("read", [".param .u64 out"], [".reg .b64 %po, %v, %x;"], body)
    family.case("read", "read", [{"type": "u64", "zeros": len(expected)}], [{"arg": 0, "data": expected}], block=1)
    return family


def aliases(tables):
    """The same bytes of shared memory at every width, static and dynamic; extern arrays of several types."""
    directives = (
        ".extern .shared .align 16 .b8 raw[];\n.extern .shared .align 16 .u16 as_halves[];\n"
        ".extern .shared .align 16 .f64 as_doubles[];\n.extern .shared .align 16 .v4 .u32 as_quads[];\n"
    )
    family = Family("shared_aliases", "Shared memory at several widths.", tables, directives)
    content = bytes(tables["mixed"][1][256:320])
    stores = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "f64": 8, "v2.u8": 2, "v4.u8": 4, "v2.u16": 4, "v4.u16": 8, "v2.u32": 8, "v4.u32": 16, "v2.u64": 16, "v4.f32": 16}

    def element(form):
        return form.split(".")[-1]

    def count(form):
        return int(form[1]) if form[0] == "v" else 1

    def registers(form, letter):
        names = [f"%{letter}_{element(form)}_{place}" for place in range(count(form))]
        return names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"

    types = ["u8", "u16", "u32", "u64", "f32", "f64"]
    declared = [".reg .b64 %po, %pa, %s;"]
    for letter in "ab":
        declared += [f".reg {'.b16' if ty == 'u8' else '.' + ty} %{letter}_{ty}_<4>;" for ty in types]
    for kind in ("static", "dynamic"):
        base = "own" if kind == "static" else None
        extra = [".shared .align 16 .b8 own[64];"] if kind == "static" else []
        for form, size in stores.items():
            body = ["ld.param.u64 %pa, [a];", "ld.param.u64 %po, [out];"]
            name = base or {"u16": "as_halves", "f64": "as_doubles", "u32": "as_quads"}.get(element(form), "raw")
            # Written by one form, read by all.
            for place in range(0, 64, size):
                body += [f"ld.global.{form} {registers(form, 'a')}, [%pa+{place}];", f"st.shared.{form} [{name}+{place}], {registers(form, 'a')};"]
            expected = b""
            for other, step in stores.items():
                start = len(expected)
                other_name = base or {"u16": "as_halves", "f64": "as_doubles", "u32": "as_quads"}.get(element(other), "raw")
                for place in range(0, 64, step):
                    body += [f"ld.shared.{other} {registers(other, 'b')}, [{other_name}+{place}];", f"st.global.{other} [%po+{start + place}], {registers(other, 'b')};"]
                expected += content
            entry = f"{kind}_{form}".replace(".", "_")
            family.kernel(entry, [".param .u64 out", ".param .u64 a"], declared + extra, body)
            args = [{"type": "u8", "zeros": len(expected)}, {"type": "u8", "data": list(content)}]
            more = {} if kind == "static" else {"dynamic_shared_bytes": 64}
            family.case(entry, entry, args, [{"arg": 0, "data": list(expected)}], block=1, **more)
    return family


def parameters(tables):
    """Structs by value of up to 4 KiB and 32,764 bytes, at fixed and at computed places."""
    rng = random.Random("parameters")
    for size, version in ((4096, "7.8"), (32764, "8.1")):
        family = Family(f"memory_param_{size}", f"Parameters of {size} bytes together.", tables, header=header(version))
        bytes_ = size - 16
        value = bytes(rng.getrandbits(8) for _ in range(bytes_))
        words = [int.from_bytes(value[place : place + 4], "little") for place in range(0, bytes_ - 3, 4)]
        threads = 64
        body = [
            "ld.param.u64 %po, [out];", "ld.param.u32 %s, [step];", "mov.u32 %t, %tid.x;", "mov.u64 %x, p;",
            "mul.lo.u32 %u, %t, %s;", "mad.wide.u32 %y, %u, 4, %x;", "ld.param.u32 %v, [%y];",
            "cvta.param.u64 %z, %y;", "ld.u8 %w, [%z+3];", "add.u32 %v, %v, %w;",
            f"ld.param.u32 %w, [p+{bytes_ // 4 * 4 - 4}];", "xor.b32 %v, %v, %w;", "mad.wide.u32 %po, %t, 4, %po;",
            "st.global.u32 [%po], %v;",
        ]
        declared = [".reg .b64 %po, %x, %y, %z;", ".reg .b32 %t, %u, %v, %w, %s;"]
        step = len(words) // threads
        params = [".param .u64 out", ".param .u32 step", f".param .align 4 .b8 p[{bytes_}]"]
        family.kernel("large", params, declared, body)
        expected = []
        for thread in range(threads):
            word = words[thread * step]
            expected.append((word + (word >> 24)) % (1 << 32) ^ words[-1])
        args = [{"type": "u32", "zeros": threads}, {"type": "u32", "value": step}, {"type": "bytes", "value": value.hex()}]
        family.case("large", "large", args, [{"arg": 0, "data": expected}], block=threads)
        yield family


def stack(tables):
    """Each thread takes as much as it likes, gives back, and takes again."""
    family = Family("stack", "alloca, stacksave and stackrestore.", tables)
    threads = 32
    for bits in (64, 32):
        wide = bits == 64
        address = "%x" if wide else "%a"
        size = "%n" if wide else "%m"
        # A pointer to generic memory is made of a local address of either width.
        use = [] if wide else ["cvt.u64.u32 %x, %a;"]
        body = [
            "ld.param.u64 %po, [out];", "mov.u32 %t, %tid.x;", "mad.wide.u32 %po, %t, 16, %po;", "mov.u32 %sum, 0;",
            f"stacksave.u{bits} {'%s' if wide else '%b'};", "mov.u32 %i, 0;", "rounds:",
            # 4 * (tid + i + 1) bytes, filled and summed from the last to the first.
            "add.u32 %c, %t, %i;", "add.u32 %c, %c, 1;", "shl.b32 %m, %c, 2;", "cvt.u64.u32 %n, %m;",
            f"alloca.u{bits} {address}, {size};", *use, "mov.u32 %j, 0;",
            "fill:", "mad.wide.u32 %y, %j, 4, %x;", "mad.lo.u32 %v, %j, 3, %i;", "st.local.u32 [%y], %v;",
            "add.u32 %j, %j, 1;", "setp.lt.u32 %p, %j, %c;", "@%p bra fill;",
            f"alloca.u{bits} {address}, {size}, 64;", *use, "and.b64 %y, %x, 63;", "cvt.u32.u64 %v, %y;",
            "add.u32 %sum, %sum, %v;", "cvta.local.u64 %y, %x;", "st.u32 [%y], %t;", "ld.local.u32 %v, [%x];",
            "add.u32 %sum, %sum, %v;",
            f"stackrestore.u{bits} {'%s' if wide else '%b'};",
            f"alloca.u{bits} {address}, {size};", *use,
            "sum:", "sub.u32 %j, %j, 1;", "mad.wide.u32 %y, %j, 4, %x;", "mov.u32 %v, %j;", "st.local.u32 [%y], %v;",
            "ld.local.u32 %v, [%y];", "add.u32 %sum, %sum, %v;", "setp.ne.u32 %p, %j, 0;", "@%p bra sum;",
            f"stackrestore.u{bits} {'%s' if wide else '%b'};",
            "add.u32 %i, %i, 1;", "setp.lt.u32 %p, %i, 40;", "@%p bra rounds;", "st.global.u32 [%po], %sum;",
        ]
        declared = [
            ".reg .b64 %po, %x, %y, %n, %s;", ".reg .b32 %t, %i, %j, %c, %m, %v, %a, %b, %sum;", ".reg .pred %p;",
        ]
        entry = f"rounds_u{bits}"
        family.kernel(entry, [".param .u64 out"], declared, body)
        expected = []
        for thread in range(threads):
            total = sum(thread + (thread + i + 1) * (thread + i) // 2 for i in range(40))
            expected += [total % (1 << 32), 0, 0, 0]
        args = [{"type": "u32", "zeros": 4 * threads}]
        family.case(entry, entry, args, [{"arg": 0, "data": expected}], block=threads)
    return family


def families(tables):
    return [initialisers(tables), aliases(tables), *parameters(tables), stack(tables)]

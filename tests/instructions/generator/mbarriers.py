"""mbarriers, asynchronous copies, and what a cluster of one block has."""

from . import exact
from .exact import HALVES
from .floats import extremum
from .ptx import Family, header

REGISTERS = [
    ".reg .b32 %t, %v, %u, %i, %n, %b, %a, %g;",
    ".reg .b64 %po, %x, %y, %s, %src, %gen;",
    ".reg .pred %p, %q, %r;",
]
MEMORY = ".shared .align 8 .b64 barriers[4];\n.shared .align 16 .b8 data[2048];\n"


class Results:
    """Lines that store words one after the other, and what they must be."""

    def __init__(self):
        self.lines, self.expected = [], []

    def word(self, register, value):
        self.lines.append(f"st.global.u32 [%po+{4 * len(self.expected)}], {register};")
        self.expected.append(value)

    def truth(self, predicate, value):
        self.lines.append(f"selp.u32 %v, 1, 0, {predicate};")
        self.word("%v", int(value))


def alone(tables):
    """One thread takes barriers through their phases, by every form."""
    family = Family("mbarrier_forms", "mbarrier instructions in every form, by one thread.", tables, MEMORY, header=header("8.0"))
    start = ["ld.param.u64 %po, [out];", "mov.u64 %x, barriers;", "cvt.u32.u64 %a, %x;", "cvta.shared.u64 %gen, %x;"]
    for space, address in (("", "[%gen+8]"), (".shared", "[%a+8]"), (".shared::cta", "[barriers+8]")):
        out = Results()
        add = out.lines.append
        forms = [""] + [f"{sem}{scope}" for sem in (".release",) for scope in (".cta", ".cluster")]
        add("mov.u32 %n, 12;")
        add(f"mbarrier.init{space}.b64 {address}, %n;")
        pending = 12
        for form in forms:
            for what in ("arrive", "arrive_drop"):
                no_complete = ".release.cta" if form == ".release.cluster" else form
                add(f"mbarrier.{what}.noComplete{no_complete}{space}.b64 %s, {address}, 2;")
                add("mbarrier.pending_count.b64 %u, %s;")
                out.word("%u", pending)
                pending -= 2
        # Six have been dropped from the next phases; none is left in this one.
        acquire = ["", ".acquire.cta", ".acquire.cluster"]
        for sem in acquire:
            add(f"mbarrier.test_wait.parity{sem}{space}.b64 %p, {address}, 0;")
            out.truth("%p", True)
            add(f"mbarrier.try_wait.parity{sem}{space}.b64 %p, {address}, 0;")
            out.truth("%p", True)
            add(f"mbarrier.test_wait.parity{sem}{space}.b64 %p, {address}, 1;")
            out.truth("%p", False)
        pending = 6
        phase = 1
        for form in forms:
            for sem in acquire:
                add(f"mbarrier.arrive{form}{space}.b64 %s, {address};")
                add(f"mbarrier.test_wait{sem}{space}.b64 %p, {address}, %s;")
                pending -= 1
                out.truth("%p", pending == 0)
                add(f"mbarrier.arrive{form}{space}.b64 _, {address}, 1;")
                pending -= 1
                add(f"mbarrier.try_wait{sem}{space}.b64 %p, {address}, %s, 20;")
                out.truth("%p", pending == 0)
                add(f"mbarrier.try_wait.parity{sem}{space}.b64 %p, {address}, {phase}, 20;")
                out.truth("%p", pending == 0)
                if pending == 0:
                    pending, phase = 6, 1 - phase
        # Bytes keep a phase from its end, whether they are expected or complete first.
        add(f"mbarrier.inval{space}.b64 {address};")
        add(f"mbarrier.init{space}.b64 {address}, 2;")
        phase = 0

        def parity(value):
            nonlocal phase
            add(f"mbarrier.test_wait.parity{space}.b64 %p, {address}, {phase};")
            out.truth("%p", value)
            phase ^= value

        for form in forms:
            relaxed = form.replace(".release", ".relaxed")
            add(f"mbarrier.expect_tx{relaxed}{space}.b64 {address}, 1000;")
            add(f"mbarrier.arrive.expect_tx{form}{space}.b64 %s, {address}, 24;")
            add(f"mbarrier.arrive{form}{space}.b64 _, {address};")
            parity(0)
            add(f"mbarrier.complete_tx{relaxed}{space}.b64 {address}, 1000;")
            parity(0)
            add("mov.u32 %n, 24;")
            add(f"mbarrier.complete_tx{relaxed}{space}.b64 {address}, %n;")
            parity(1)
        add(f"mbarrier.arrive{space}.b64 _, {address};")
        add(f"mbarrier.arrive_drop.expect_tx{space}.b64 %s, {address}, 1048575;")
        parity(0)
        add(f"mbarrier.complete_tx{space}.b64 {address}, 1048575;")
        parity(1)
        add(f"mbarrier.arrive_drop{space}.b64 _, {address};")
        parity(1)
        name = "generic" if not space else space[1:].replace("::", "_")
        family.kernel(name, [".param .u64 out"], REGISTERS, start + out.lines)
        args = [{"type": "u32", "zeros": len(out.expected)}]
        family.case(name, name, args, [{"arg": 0, "data": out.expected}], block=1)
    return family


THREAD = ["ld.param.u64 %po, [out];", "mov.u32 %t, %tid.x;", "mov.u32 %n, %ntid.x;"]


def initialised(count):
    return [
        "setp.eq.u32 %q, %t, 0;",
        f"@%q mbarrier.init.shared.b64 [barriers], {count};",
        "@%q fence.mbarrier_init.release.cluster;" if count == "%n" else "@%q fence.proxy.async.shared::cta;",
        "bar.sync 0;",
    ]


def waiting(label, form, operand, hint=""):
    return [f"{label}:", f"mbarrier.{form}.shared.b64 %p, [barriers], {operand}{hint};", f"@!%p bra {label};"]


def together(tables):
    """Threads that wait for each other at an mbarrier."""
    family = Family("mbarrier_threads", "Threads that wait at mbarriers.", tables, MEMORY, header=header("8.0"))
    for name, wait in (
        ("test_state", lambda k: waiting(f"wait{k}", "test_wait", "%s")),
        ("try_state", lambda k: waiting(f"wait{k}", "try_wait", "%s", ", 100")),
        ("try_parity", lambda k: waiting(f"wait{k}", "try_wait.parity", "%b")),
    ):
        body = THREAD + initialised("%n") + ["mov.u64 %x, data;", "mad.wide.u32 %x, %t, 4, %x;", "mov.u32 %i, 0;"]
        body += ["mov.u32 %v, %t;", "sub.u32 %u, %n, %t;", "sub.u32 %u, %u, 1;", "mov.u64 %y, data;"]
        body += ["mad.wide.u32 %y, %u, 4, %y;", "round:", "st.shared.u32 [%x], %v;"]
        body += ["mbarrier.arrive.shared.b64 %s, [barriers];", "and.b32 %b, %i, 1;"]
        body += wait(0)
        # The second phase of each round has the other parity.
        body += ["ld.shared.u32 %v, [%y];", "add.u32 %v, %v, 7;", "add.u32 %i, %i, 1;"]
        body += ["mbarrier.arrive.shared.b64 %s, [barriers];", "and.b32 %b, %i, 1;"]
        body += wait(1)
        body += ["add.u32 %i, %i, 1;", "setp.lt.u32 %q, %i, 10;", "@%q bra round;"]
        body += ["mad.wide.u32 %po, %t, 4, %po;", "st.global.u32 [%po], %v;"]
        family.kernel(name, [".param .u64 out"], REGISTERS, body)
        for block in (64, 50):
            expected = [block - 1 - t + 35 for t in range(block)]
            args = [{"type": "u32", "zeros": block}]
            family.case(f"{name}/{block}", name, args, [{"arg": 0, "data": expected}], block=block)
    return family


def bytes_of(count, seed):
    return [(seed + 37 * index + index // 7) & 0xFF for index in range(count)]


def copies(tables):
    """cp.async in every size, with zeros after them and without."""
    family = Family("copy_async", "cp.async.", tables, MEMORY, header=header("8.0"))
    source = bytes_of(2048, 5)
    start = THREAD + ["ld.param.u64 %src, [source];", "mov.u64 %x, data;", "cvt.u32.u64 %a, %x;"]
    params = [".param .u64 out", ".param .u64 source"]
    waits = {
        "all": ["cp.async.wait_all;"],
        "group": ["cp.async.commit_group;", "cp.async.commit_group;", "cp.async.wait_group 1;"],
        "none": ["cp.async.commit_group;", "cp.async.wait_group 0;"],
    }
    # Thread t copies `size` bytes to 16 t; the rest of the 16 bytes holds 0xee.
    variants = [("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)]
    spaces = ("shared", "shared::cta")
    for number, (cache, size) in enumerate(variants):
        for space in spaces:
            for hint, prefetch in (("", ""), ("", ".L2::64B"), ("", ".L2::128B"), (".L2::cache_hint", ""), (".L2::cache_hint", ".L2::256B")):
                if space == "shared::cta" and prefetch:
                    continue
                policy = ", %s" if hint else ""
                for kind in ("whole", "part", "fixed", "ignore"):
                    if prefetch and kind != "whole":
                        continue
                    extra = {"whole": "", "part": ", %b", "fixed": f", {size - 1}", "ignore": ", %p"}[kind]
                    wait = list(waits)[number % 3]
                    name = f"{cache}_{size}_{space}_{kind}{prefetch}{'_hint' if hint else ''}".replace("::", "_").replace(".", "_")
                    body = start + ["mad.lo.u32 %a, %t, 16, %a;", "mov.u32 %v, 0xeeeeeeee;"]
                    body += [f"st.shared.u32 [%a+{4 * word}], %v;" for word in range(4)]
                    body += ["mad.wide.u32 %src, %t, 16, %src;", f"rem.u32 %b, %t, {size + 1};", "and.b32 %u, %t, 1;"]
                    body += ["setp.ne.u32 %p, %u, 0;"]
                    if hint:
                        body += ["mov.u64 %s, 0x14f0000000000000;"]
                    body += [f"cp.async.{cache}.{space}.global{hint}{prefetch} [%a], [%src], {size}{extra}{policy};"]
                    body += waits[wait] + ["mad.wide.u32 %po, %t, 16, %po;"]
                    for word in range(4):
                        body += [f"ld.shared.u32 %v, [%a+{4 * word}];", f"st.global.u32 [%po+{4 * word}], %v;"]
                    family.kernel(name, params, REGISTERS, body)
                    expected = []
                    for t in range(34):
                        given = {"whole": size, "part": t % (size + 1), "fixed": size - 1, "ignore": 0 if t % 2 else size}[kind]
                        expected += source[16 * t : 16 * t + given] + [0] * (size - given) + [0xEE] * (16 - size)
                    args = [{"type": "u8", "zeros": 34 * 16}, {"type": "u8", "data": source}]
                    family.case(name, name, args, [{"arg": 0, "data": expected}], block=34)
    # Copies that arrive at an mbarrier.
    for name, noinc, space in (("arrive", "", ".shared"), ("arrive_cta", "", ".shared::cta"), ("arrive_noinc", ".noinc", ".shared"), ("arrive_generic", "", ""), ("arrive_noinc_generic", ".noinc", "")):
        count = "%n" if not noinc else "%g"
        address = "[barriers]" if space else "[%gen]"
        body = start + ["shl.b32 %g, %n, 1;", "mov.u64 %y, barriers;", "cvta.shared.u64 %gen, %y;"] + initialised(count)
        body += ["mad.lo.u32 %u, %t, 16, %a;", "mad.wide.u32 %src, %t, 16, %src;"]
        body += ["cp.async.cg.shared.global [%u], [%src], 16;", f"cp.async.mbarrier.arrive{noinc}{space}.b64 {address};"]
        body += ["mbarrier.arrive.shared.b64 %s, [barriers];"] + waiting("wait", "try_wait", "%s")
        body += ["xor.b32 %b, %t, 33;", "mad.lo.u32 %u, %b, 16, %a;", "mad.wide.u32 %po, %t, 16, %po;"]
        for word in range(4):
            body += [f"ld.shared.u32 %v, [%u+{4 * word}];", f"st.global.u32 [%po+{4 * word}], %v;"]
        family.kernel(name, params, REGISTERS, body)
        expected = sum((source[16 * (t ^ 33) : 16 * (t ^ 33) + 16] for t in range(64)), [])
        args = [{"type": "u8", "zeros": 1024}, {"type": "u8", "data": source}]
        family.case(name, name, args, [{"arg": 0, "data": expected}], block=64)
    return family


def bulk_load(family, name, copy, more):
    """A kernel that copies a kibibyte to shared memory in two parts. `more` are operands after the barrier."""
    source = bytes_of(1024, 11)
    body = THREAD + ["ld.param.u64 %src, [source];", "mov.u64 %x, data;", "cvt.u32.u64 %a, %x;"]
    body += ["mov.u64 %s, 0x14f0000000000000;", "mov.u16 %h, 1;", *initialised("1"), "mov.u32 %n, 992;"]
    body += ["@!%q bra wait;", "mbarrier.arrive.expect_tx.shared.b64 _, [barriers], 1024;"]
    body += [f"{copy} [%a], [%src], 32, [barriers]{more};"]
    body += [f"{copy} [%a+32], [%src+32], %n, [barriers]{more};"]
    body += waiting("wait", "try_wait.parity", "0")
    body += ["mad.lo.u32 %u, %t, 16, %a;", "mad.wide.u32 %po, %t, 16, %po;"]
    for word in range(4):
        body += [f"ld.shared.u32 %v, [%u+{4 * word}];", f"st.global.u32 [%po+{4 * word}], %v;"]
    family.kernel(name, [".param .u64 out", ".param .u64 source"], REGISTERS + [".reg .b16 %h;"], body)
    args = [{"type": "u8", "zeros": 1024}, {"type": "u8", "data": source}]
    family.case(name, name, args, [{"arg": 0, "data": source}], block=64)


def bulk(tables):
    """cp.async.bulk and cp.reduce.async.bulk between the block's shared memory and device memory."""
    family = Family("copy_bulk", "Bulk copies and reductions.", tables, MEMORY, header=header("8.0"))
    params = [".param .u64 out", ".param .u64 source"]
    source = bytes_of(1024, 11)
    start = THREAD + ["ld.param.u64 %src, [source];", "mov.u64 %x, data;", "cvt.u32.u64 %a, %x;"]
    hints = (("", ""), (".L2::cache_hint", ", %s"))
    for hint, policy in hints:
        for multicast, mask in (("", ""), (".multicast::cluster", ", %h")):
            name = "load" + ("_multicast" if multicast else "") + ("_hint" if hint else "")
            copy = f"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{multicast}{hint}"
            bulk_load(family, name, copy, f"{mask}{policy}")
        # Words of the thread's number and more, from shared memory.
        name = "store" + ("_hint" if hint else "")
        prefetch = f"cp.async.bulk.prefetch.L2.global{hint} [%src], 64{policy};"
        body = start + ["mov.u64 %s, 0x14f0000000000000;", prefetch, "mad.lo.u32 %u, %t, 4, %a;"]
        body += ["mad.lo.u32 %v, %t, 3, 100;", "st.shared.u32 [%u], %v;", "fence.proxy.async.shared::cta;", "bar.sync 0;"]
        body += ["setp.eq.u32 %q, %t, 0;", "@!%q bra done;", "mov.u32 %n, 240;"]
        copy = f"cp.async.bulk.global.shared::cta.bulk_group{hint}"
        body += [f"{copy} [%po], [%a], %n{policy};", "cp.async.bulk.commit_group;", f"{copy} [%po+256], [data], 16{policy};"]
        body += ["cp.async.bulk.commit_group;", "cp.async.bulk.wait_group.read 1;", "cp.async.bulk.wait_group 0;", "done:"]
        family.kernel(name, params, REGISTERS, body)
        words = [100 + 3 * t for t in range(60)]
        args = [{"type": "u32", "zeros": 68}, {"type": "u8", "data": source}]
        family.case(name, name, args, [{"arg": 0, "data": words + [0] * 4 + words[:4]}], block=64)
        for operations, types in (
            (("and", "or", "xor"), ("b32", "b64")),
            (("add",), ("u32", "s32", "u64", "f32", "f64")),
            (("min", "max"), ("u32", "s32", "u64", "s64")),
            (("inc", "dec"), ("u32",)),
            (("add", "min", "max"), ("f16", "bf16")),
        ):
            for operation in operations:
                for ty in types:
                    reduction(family, operation, ty, hint, policy, start, params)
    return family


def reduction(family, operation, ty, hint, policy, start, params):
    bits = int(ty.lstrip("bfsu"))
    count = 128 * 8 // bits
    name = f"{operation}_{ty}" + ("_hint" if hint else "")
    noftz = ".noftz" if bits == 16 and operation == "add" else ""
    body = start + ["mov.u64 %s, 0x14f0000000000000;", "mad.lo.u32 %u, %t, 4, %a;", "mad.wide.u32 %y, %t, 4, %src;"]
    body += ["ld.global.u32 %v, [%y];", "st.shared.u32 [%u], %v;", "fence.proxy.async;", "bar.sync 0;"]
    body += ["setp.eq.u32 %q, %t, 0;", "@!%q bra done;"]
    body += [f"cp.reduce.async.bulk.global.shared::cta.bulk_group{hint}.{operation}{noftz}.{ty} [%po], [%a], 128{policy};"]
    body += ["cp.async.bulk.commit_group;", "cp.async.bulk.wait_group 0;", "done:"]
    family.kernel(name, params, REGISTERS, body)
    mask = (1 << bits) - 1
    if bits == 16:
        old, new, expected = halves(operation, ty, count)
        args = [{"type": "u16", "data": old}, {"type": "u16", "data": new}]
        family.case(name, name, args, [{"arg": 0, "type": ty, "data": [f"0x{value:04x}" for value in expected]}], block=32)
        return
    if ty[0] == "f":
        old, new = [index * 1.5 - 7 for index in range(count)], [float(index * index) for index in range(count)]
        expected = [a + b for a, b in zip(old, new)]
    else:
        old = [index * 0x9E3779B97F4A7C15 + 12345 & mask for index in range(count)]
        new = [index * 0xC2B2AE3D27D4EB4F + 777 & mask for index in range(count)]
        old[:6], new[:6] = [0, 5, 5, 6, mask, 0], [5, 5, 9, 5, 3, 0]
        signed = lambda value: value - (1 << bits) if ty[0] == "s" and value >> (bits - 1) else value
        old, new = [signed(value) for value in old], [signed(value) for value in new]
        functions = {
            "and": lambda a, b: a & b,
            "or": lambda a, b: a | b,
            "xor": lambda a, b: a ^ b,
            "add": lambda a, b: a + b,
            "min": min,
            "max": max,
            "inc": lambda a, b: 0 if a >= b else a + 1,
            "dec": lambda a, b: b if a == 0 or a > b else a - 1,
        }
        expected = [signed(functions[operation](a, b) & mask) for a, b in zip(old, new)]
    args = [{"type": ty, "data": old}, {"type": ty, "data": new}]
    family.case(name, name, args, [{"arg": 0, "data": expected}], block=32)


def halves(operation, ty, count):
    """Bits of operands and results: subnormals, infinities and NaNs among them."""
    edges = [0, 0x8000, 1, 0x8001, 0x3FF, 0x3C00, 0xBC00, 0x7BFF, 0x7C00, 0xFC00, 0x7E00, 0x7F7F, 0x7F80, 0xFF80, 0x7FC0, 0x0080]
    old = [edges[index % 16] for index in range(count)]
    new = [edges[(index * 5 + index // 16 * 3 + 1) % 16] for index in range(count)]
    fmt = HALVES[ty]
    function = extremum(fmt, operation == "max", False, False)
    if operation == "add":
        function = lambda a, b: exact.add(fmt, a, b)
    return old, new, [function(a, b) for a, b in zip(old, new)]


def cluster(tables):
    """A cluster of one block."""
    family = Family("cluster_alone", "What a cluster of one block has.", tables, MEMORY, header=header("8.0"))
    body = THREAD + ["mov.u64 %x, data;", "cvt.u32.u64 %a, %x;", "mad.lo.u32 %a, %t, 4, %a;", "mov.u32 %v, %t;"]
    rounds = 0
    for arrive in ("", ".release", ".relaxed"):
        for wait in ("", ".acquire"):
            for aligned in ("", ".aligned"):
                fence = ["fence.acq_rel.cluster;"] if arrive == ".relaxed" else []
                meet = [*fence, f"barrier.cluster.arrive{arrive}{aligned};", f"barrier.cluster.wait{wait}{aligned};"]
                body += ["st.shared.u32 [%a], %v;", *meet, "xor.b32 %u, %t, 63;", "mov.u64 %y, data;"]
                body += ["mad.wide.u32 %y, %u, 4, %y;", "ld.shared.u32 %v, [%y];", "add.u32 %v, %v, 10;", *meet]
                rounds += 1
    body += ["mov.u32 %u, 0;", "mapa.shared::cluster.u32 %b, %a, %u;", "ld.shared.u32 %i, [%b];", "cvt.u64.u32 %x, %a;"]
    body += ["cvta.shared.u64 %gen, %x;", "mapa.u64 %s, %gen, %u;", "ld.u32 %g, [%s];", "add.u32 %i, %i, %g;"]
    body += ["mapa.shared::cluster.u32 %b, data, 0;", "mapa.shared::cluster.u64 %s, %x, 0;", "ld.shared.u32 %g, [%s];"]
    body += ["add.u32 %i, %i, %g;"]
    body += ["getctarank.shared::cluster.u32 %g, %a;", "add.u32 %v, %v, %g;", "getctarank.u64 %g, %gen;"]
    body += ["add.u32 %v, %v, %g;", "getctarank.shared::cluster.u64 %g, %x;", "add.u32 %v, %v, %g;"]
    body += ["fence.proxy.alias;", "membar.proxy.alias;", "fence.proxy.async;", "fence.proxy.async.global;"]
    body += ["fence.proxy.async.shared::cluster;", "griddepcontrol.launch_dependents;", "griddepcontrol.wait;"]
    body += ["mad.wide.u32 %po, %t, 8, %po;", "st.global.u32 [%po], %v;", "st.global.u32 [%po+4], %i;"]
    family.kernel("cluster", [".param .u64 out"], REGISTERS, body)
    # An even number of rounds leads back to the thread itself; the last store was one round earlier.
    expected = []
    for thread in range(64):
        expected += [thread + 10 * rounds, 3 * ((thread ^ 63) + 10 * (rounds - 1))]
    family.case("cluster", "cluster", [{"type": "u32", "zeros": 128}], [{"arg": 0, "data": expected}])
    values, expected = [], []
    for letter, own, number in (("x", 0, 1), ("y", 0, 1), ("z", 0, 1)):
        for name, value in (("cluster_ctaid", own), ("cluster_nctaid", number)):
            values.append(f"%{name}.{letter}")
            expected.append(value)
    values += ["%clusterid.y", "%clusterid.z", "%nclusterid.y", "%nclusterid.z", "%nclusterid.x", "%cluster_ctarank", "%cluster_nctarank"]
    expected += [0, 0, 1, 1, 3, 0, 1]
    body = ["ld.param.u64 %po, [out];", "mov.u32 %v, %clusterid.x;", f"mad.wide.u32 %po, %v, {4 * len(values) + 4}, %po;"]
    body += ["st.global.u32 [%po], %v;"]
    for place, name in enumerate(values, 1):
        body += [f"mov.u32 %v, {name};", f"st.global.u32 [%po+{4 * place}], %v;"]
    family.kernel("registers", [".param .u64 out"], REGISTERS, body)
    data = [value for block in range(3) for value in [block, *expected]]
    family.case("registers", "registers", [{"type": "u32", "zeros": len(data)}], [{"arg": 0, "data": data}], block=1, grid=3)
    yield family
    family = Family("register_count", "setmaxnreg.", tables, header="".join((".version 8.0\n", ".target sm_90a\n", ".address_size 64\n")))
    body = ["ld.param.u64 %po, [out];", "setmaxnreg.dec.sync.aligned.u32 40;", "mov.u32 %t, %tid.x;"]
    body += ["mad.wide.u32 %po, %t, 4, %po;", "setmaxnreg.inc.sync.aligned.u32 48;", "st.global.u32 [%po], %t;"]
    family.kernel("registers", [".param .u64 out"], [".reg .b32 %t;", ".reg .b64 %po;"], body)
    args = [{"type": "u32", "zeros": 128}]
    family.case("registers", "registers", args, [{"arg": 0, "data": list(range(128))}], block=128)
    yield family


def families(tables):
    return [alone(tables), together(tables), copies(tables), bulk(tables), *cluster(tables)]

"""Barriers, fences, and a kernel with branches, a call and returns."""

from .exact import wrap
from .ptx import Family, header


def synchronisation(tables):
    forms = [
        "bar.sync 0;",
        "bar.sync 1;",
        "bar.cta.sync 0;",
        "bar.cta.sync 3;",
        "barrier.sync 0;",
        "barrier.sync.aligned 4;",
        "barrier.cta.sync 5;",
        "barrier.cta.sync.aligned 0;",
    ]
    counted = ["bar.sync 2, 64;", "bar.cta.sync 3, 64;", "barrier.sync 0, 64;", "barrier.cta.sync.aligned 5, 64;"]
    fences = [f"membar.{scope};" for scope in ("cta", "gl", "sys")]
    fences += [f"fence{order}.{scope};" for order in ("", ".sc", ".acq_rel") for scope in ("cta", "gpu", "sys")] + [
        "fence.acq_rel.cluster;",
        "fence.sc.cluster;",
        "fence.cluster;",
    ]
    scopes = ("cta", "cluster", "gpu", "sys")
    restricted = [f"fence{order}.{scope};" for order in (".acquire", ".release") for scope in scopes]
    restricted += ["fence.acquire.sync_restrict::shared::cluster.cluster;", "fence.release.sync_restrict::shared::cta.cluster;"]
    restricted += ["fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;",
                   "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;"]  # fmt: skip
    restricted += [f"fence.proxy.tensormap::generic.release.{scope};" for scope in scopes]
    restricted += [f"fence.proxy.tensormap::generic.acquire.{scope} [%z], 128;" for scope in scopes]
    declared = [".reg .b32 %t, %u, %v;", ".reg .b64 %po, %x, %y, %z;", ".shared .align 4 .b8 everyone[256];"]
    start = [
        "ld.param.u64 %po, [out];",
        "mov.u64 %z, %po;",
        "mov.u32 %t, %tid.x;",
        "mad.wide.u32 %po, %t, 4, %po;",
        "mov.u64 %x, everyone;",
    ]
    place = [
        "mov.u64 %y, %x;",
        "mad.wide.u32 %x, %t, 4, %x;",
        "add.u32 %u, %t, 1;",
        "and.b32 %u, %u, 63;",
        "mad.wide.u32 %y, %u, 4, %y;",
        "mov.u32 %v, %t;",
    ]
    for name, forms_, purpose in (
        ("barriers", forms, "Every barrier that waits."),
        ("barriers_counted", counted, "Barriers that count the threads of the whole block."),
        ("fences", fences, "Every fence, each followed by a barrier."),
        ("fences_restricted", restricted, "Fences of some directions and proxies, each followed by a barrier."),
    ):
        purpose = f"{purpose} Values walk from thread to thread, one further at every step."
        family = Family(name, purpose, tables, header=header("8.7" if name == "fences_restricted" else "7.8"))
        body = start + place
        for form in forms_:
            wait = [form, "bar.sync 0;"] if name.startswith("fences") else [form]
            body += ["st.shared.u32 [%x], %v;", *wait, "ld.shared.u32 %v, [%y];", "add.u32 %v, %v, 1000;", *wait]
        family.kernel(name, [".param .u64 out"], declared, body + ["st.global.u32 [%po], %v;"])
        steps = len(forms_)
        family.case(
            name,
            name,
            [{"type": "u32", "zeros": 64}],
            [{"arg": 0, "data": [(thread + steps) % 64 + 1000 * steps for thread in range(64)]}],
        )
        yield family


def control(tables):
    """Just enough that every row of the instruction table has a kernel here; `tests/kernels` has real control flow."""
    function = (
        ".func (.param .b32 result) twice(.param .b32 value)\n{\n\t.reg .u32 %v;\n\tld.param.u32 %v, [value];\n"
        "\tadd.u32 %v, %v, %v;\n\tst.param.u32 [result], %v;\n\tret.uni;\n}\n"
    )
    family = Family("control", "Branches, a call, returns.", tables, function)
    body = [
        "mov.u32 %d, 0;",
        "mov.u32 %i, 5;",
        "again:",
        "add.u32 %d, %d, %a;",
        "sub.u32 %i, %i, 1;",
        "setp.ne.u32 %p, %i, 0;",
        "@%p bra.uni again;",
        "setp.gt.u32 %p, %a, 1000;",
        "@%p bra done;",
        "{",
        ".param .b32 given;",
        ".param .b32 taken;",
        "st.param.b32 [given], %d;",
        "call.uni (taken), twice, (given);",
        "ld.param.b32 %d, [taken];",
        "}",
        "done:",
    ]
    family.elementwise(
        "control",
        [("u32", "i32_u")],
        "u32",
        body,
        lambda a: wrap(5 * a if a > 1000 else 10 * a, "u32"),
        ".reg .pred %p; .reg .u32 %i;",
    )
    return family


CALLS = """.func (.param .b32 result) doubled(.param .b32 value)
{
	.reg .u32 %v;
	ld.param.u32 %v, [value];
	add.u32 %v, %v, %v;
	st.param.u32 [result], %v;
	ret;
}
.func (.param .b32 result) squared(.param .b32 value)
{
	.reg .u32 %v;
	ld.param.u32 %v, [value];
	mul.lo.u32 %v, %v, %v;
	st.param.u32 [result], %v;
	ret;
}
.func (.param .b32 result) flipped(.param .b32 value)
{
	.reg .u32 %v;
	ld.param.u32 %v, [value];
	not.b32 %v, %v;
	st.param.u32 [result], %v;
	ret;
}
.func (.param .b64 result) other_shape(.param .b64 value)
{
	.reg .u64 %v;
	ld.param.u64 %v, [value];
	st.param.u64 [result], %v;
	ret;
}
// n + (n - 1) + ... with a product of what comes back, so that much lives across the call.
.func (.param .b32 result) sums(.param .b32 value)
{
	.reg .pred %p;
	.reg .u32 %v, %w, %r;
	.reg .u64 %x;
	ld.param.u32 %v, [value];
	setp.eq.u32 %p, %v, 0;
	mov.u32 %r, 1;
	@%p bra done;
	mul.wide.u32 %x, %v, 1000003;
	sub.u32 %w, %v, 1;
	setp.gt.u32 %p, %v, 5;
	{
	.param .b32 given;
	.param .b32 taken;
	st.param.b32 [given], %w;
	call.uni (taken), sums, (given);
	ld.param.b32 %r, [taken];
	}
	cvt.u32.u64 %w, %x;
	add.u32 %r, %r, %w;
	@%p add.u32 %r, %r, %v;
done:
	st.param.u32 [result], %r;
	ret;
}
.func (.param .b32 result) odd(.param .b32 value);
.func (.param .b32 result) even(.param .b32 value)
{
	.reg .pred %p;
	.reg .u32 %v;
	ld.param.u32 %v, [value];
	setp.eq.u32 %p, %v, 0;
	@%p st.param.u32 [result], 1;
	@%p ret;
	sub.u32 %v, %v, 1;
	{
	.param .b32 given;
	.param .b32 taken;
	st.param.b32 [given], %v;
	call (taken), odd, (given);
	ld.param.b32 %v, [taken];
	}
	st.param.u32 [result], %v;
	ret;
}
.func (.param .b32 result) odd(.param .b32 value)
{
	.reg .pred %p;
	.reg .u32 %v;
	ld.param.u32 %v, [value];
	setp.eq.u32 %p, %v, 0;
	@%p st.param.u32 [result], 0;
	@%p ret;
	sub.u32 %v, %v, 1;
	{
	.param .b32 given;
	.param .b32 taken;
	st.param.b32 [given], %v;
	call (taken), even, (given);
	ld.param.b32 %v, [taken];
	}
	st.param.u32 [result], %v;
	ret;
}
.const .u64 functions[3] = { doubled, squared, flipped };
"""


def call(target, argument, result, tail=""):
    return [
        "{",
        ".param .b32 given;",
        ".param .b32 taken;",
        f"st.param.b32 [given], {argument};",
        f"call (taken), {target}, (given){tail};",
        f"ld.param.b32 {result}, [taken];",
        "}",
    ]


def calls(tables):
    """Calls through registers, by every way to say what they may reach, and functions that call themselves."""
    family = Family("calls", "Calls through registers; recursion, direct and mutual.", tables, CALLS)
    functions = [lambda a: wrap(2 * a, "u32"), lambda a: wrap(a * a, "u32"), lambda a: wrap(~a, "u32")]
    registers = ".reg .u32 %i; .reg .u64 %f, %g; .reg .pred %p;"
    choose = [
        "rem.u32 %i, %a, 3;",
        "mov.u64 %f, doubled;",
        "setp.eq.u32 %p, %i, 1;",
        "mov.u64 %g, squared;",
        "selp.b64 %f, %g, %f, %p;",
        "setp.eq.u32 %p, %i, 2;",
        "mov.u64 %g, flipped;",
        "selp.b64 %f, %g, %f, %p;",
    ]
    load = ["mov.u64 %f, functions;", "rem.u32 %i, %a, 3;", "mad.wide.u32 %f, %i, 8, %f;", "ld.const.u64 %f, [%f];"]
    prototype = ["shape: .callprototype (.param .b32 _) _ (.param .b32 _);"]
    targets = ["list: .calltargets doubled, squared, flipped;"]
    for name, body in (
        ("prototype", prototype + choose + call("%f", "%a", "%d", ", shape")),
        ("targets", targets + choose + call("%f", "%a", "%d", ", list")),
        ("table", prototype + load + call("%f", "%a", "%d", ", shape")),
    ):
        family.elementwise(name, [("u32", "i32_u")], "u32", body, lambda a: functions[a % 3](a), registers)
    body = [*call("doubled", "%a", "%d"), "and.b32 %i, %d, 6;", *call("squared", "%i", "%d")]
    family.elementwise("chain", [("u32", "i32_u")], "u32", body, lambda a: wrap((2 * a & 6) ** 2, "u32"), registers)

    def sums(n):
        result = 1
        for v in range(1, n + 1):
            result += v * 1000003 + (v if v > 5 else 0)
        return wrap(result, "u32")

    body = ["and.b32 %i, %a, 15;", *call("sums", "%i", "%d")]
    family.elementwise("recursion", [("u32", "i32_u")], "u32", body, lambda a: sums(a & 15), registers)
    body = ["and.b32 %i, %a, 31;", *call("even", "%i", "%d")]
    family.elementwise("mutual", [("u32", "i32_u")], "u32", body, lambda a: 1 - (a & 1), registers)
    return family


def jumps(tables):
    """Indexed branches, and instructions that end a launch, which no thread gets to."""
    family = Family("jumps", "Branches through a table of labels; guarded ends of the launch.", tables)
    for uni in ("", ".uni"):
        body = [
            "places: .branchtargets first, second, third, second;",
            "rem.u32 %i, %a, 4;",
            "mov.u32 %d, 7;",
            *(["mov.u32 %i, 2;"] if uni else []),
            f"brx.idx{uni} %i, places;",
            "first:",
            "add.u32 %d, %d, 100;",
            "second:",
            "add.u32 %d, %d, %a;",
            "bra done;",
            "third:",
            "not.b32 %d, %a;",
            "done:",
        ]
        results = [lambda a: wrap(107 + a, "u32"), lambda a: wrap(7 + a, "u32"), lambda a: wrap(~a, "u32")]
        order = [2, 2, 2, 2] if uni else [0, 1, 2, 1]
        name = "brx_uni" if uni else "brx"
        family.elementwise(
            name, [("u32", "i32_u")], "u32", body, lambda a, order=order: results[order[a % 4]](a), ".reg .u32 %i;"
        )
    # Tables of one label and of a thousand, and a loop that a table keeps going.
    case = lambda name, body, reference: family.elementwise(
        name, [("u32", "i32_u")], "u32", body, reference, ".reg .pred %p; .reg .u32 %i;"
    )
    case("brx_one", ["place: .branchtargets on;", "mov.u32 %i, 0;", "mov.u32 %d, %a;", "brx.idx %i, place;", "not.b32 %d, %d;", "on:"],
         lambda a: a)  # fmt: skip
    labels = 1000
    body = [f"places: .branchtargets {', '.join(f'to{index}' for index in range(labels))};", f"rem.u32 %i, %a, {labels};"]
    body += ["brx.idx %i, places;", *(line for index in range(labels) for line in (f"to{index}:", f"mov.u32 %d, {index * 7 + 3};", "bra done;"))]
    case("brx_thousand", [*body, "done:"], lambda a: a % labels * 7 + 3)
    body = ["places: .branchtargets again, done;", "mov.u32 %d, 0;", "again:", "add.u32 %d, %d, 3;", "and.b32 %i, %a, 31;"]
    body += ["setp.gt.u32 %p, %d, %i;", "selp.u32 %i, 1, 0, %p;", "brx.idx %i, places;", "done:"]
    case("brx_loop", body, lambda a: ((a & 31) // 3 + 1) * 3)
    body = [
        "setp.eq.u32 %p, %t, 1000;",
        "@%p trap;",
        "@%p brkpt;",
        "nanosleep.u32 20;",
        "mov.u32 %i, 50;",
        "nanosleep.u32 %i;",
        "add.u32 %d, %a, 1;",
    ]
    family.elementwise(
        "ends", [("u32", "i32_u")], "u32", body, lambda a: wrap(a + 1, "u32"), ".reg .pred %p; .reg .u32 %i;"
    )
    return family


def special_registers(tables):
    """What special registers say that is the same on every device: clocks run, identifiers are in range."""
    family = Family("special_registers", "Special registers, as far as they say the same on every device.", tables, header=header("8.1"))
    declared = [".reg .b64 %po, %x, %y, %g;", ".reg .b32 %r, %a, %b;", ".reg .pred %p;", ".shared .b32 own;"]
    start = ["ld.param.u64 %po, [out];"]

    def kernel(name, body, expected):
        family.kernel(name, [".param .u64 out"], declared, start + body)
        family.case(name, name, [{"type": "u32", "zeros": len(expected)}], [{"arg": 0, "data": expected}], block=1)

    def true(index, condition):
        return [*condition, "selp.u32 %r, 1, 0, %p;", f"st.global.u32 [%po+{4 * index}], %r;"]

    kernel(
        "clocks",
        true(0, ["mov.u64 %x, %clock64;", "mov.u64 %y, %clock64;", "setp.le.u64 %p, %x, %y;"])
        + true(1, ["mov.u64 %x, %globaltimer;", "mov.u64 %y, %globaltimer;", "setp.le.u64 %p, %x, %y;"])
        + true(2, ["mov.u32 %a, %clock_hi;", "mov.u64 %y, %clock64;", "shr.u64 %y, %y, 32;", "cvt.u32.u64 %b, %y;",
                   "setp.le.u32 %p, %a, %b;"])
        + true(3, ["mov.u32 %a, %globaltimer_hi;", "mov.u32 %b, %globaltimer_lo;", "mov.b64 %x, {%b, %a};",
                   "setp.ne.u64 %p, %x, 0;"]),
        [1] * 4,
    )  # fmt: skip
    kernel(
        "identifiers",
        true(0, ["mov.u32 %a, %smid;", "mov.u32 %b, %nsmid;", "setp.lt.u32 %p, %a, %b;"])
        + true(1, ["mov.u64 %x, %gridid;", "mov.u64 %y, %gridid;", "setp.eq.u64 %p, %x, %y;"])
        + true(2, ["mov.u64 %x, %current_graph_exec;", "setp.eq.u64 %p, %x, 0;"])
        + true(3, ["mov.u64 %x, %gridid;", "setp.ge.u64 %p, %x, 0;"])
        + true(4, ["mov.u32 %a, %total_smem_size;", "mov.u32 %b, %aggr_smem_size;", "setp.le.u32 %p, %a, %b;"])
        + true(5, ["mov.u32 %a, %reserved_smem_offset_begin;", "mov.u32 %b, %reserved_smem_offset_end;",
                   "setp.le.u32 %p, %a, %b;"])
        + true(6, ["mov.u32 %r, %reserved_smem_offset_1;", "setp.ge.u32 %p, %r, %a;", "setp.lt.and.u32 %p, %r, %b, %p;"])
        + true(7, ["st.shared.u32 [own], %r;", "mov.u32 %r, own;", "setp.ge.u32 %p, %r, %b;", "setp.lt.or.u32 %p, %r, %a, %p;"]),
        [1] * 8,
    )  # fmt: skip
    return family


def families(tables):
    return [
        *synchronisation(tables),
        control(tables),
        calls(tables),
        jumps(tables),
        special_registers(tables),
    ]

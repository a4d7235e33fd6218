"""Barriers, fences, and a kernel with branches, a call and returns."""

from .exact import wrap
from .ptx import Family


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
        "fence.acq_rel.cluster;"
    ]
    declared = [".reg .b32 %t, %u, %v;", ".reg .b64 %po, %x, %y;", ".shared .align 4 .b8 everyone[256];"]
    start = [
        "ld.param.u64 %po, [out];",
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
    ):
        family = Family(name, f"{purpose} Values walk from thread to thread, one further at every step.", tables)
        body = start + place
        for form in forms_:
            wait = [form, "bar.sync 0;"] if name == "fences" else [form]
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


def families(tables):
    return [*synchronisation(tables), control(tables)]

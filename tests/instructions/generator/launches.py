"""What a kernel knows of its launch: the size of its shared memory, clusters, the grid's number. Events too."""

from .ptx import Family, header

REGISTERS = [".reg .pred %p, %q;", ".reg .b16 %h;", ".reg .b32 %t, %u, %v;", ".reg .b64 %po, %x;"]


def sizes(tables):
    """Shared memory as hardware of compute capability 9.0 gives it away: in units of 128 bytes."""
    directives = ".extern .shared .align 16 .b8 dynamic[];\n"
    purpose = "How large a block's shared memory is."
    family = Family("special_shared_sizes", purpose, tables, directives, header=header("8.1"))
    variants = {"none": [], "declared": [".shared .align 4 .b8 own[20];"], "larger": [".shared .align 16 .b8 own[1000];"]}
    bytes_of = {"none": 0, "declared": 20, "larger": 1000}
    for name, declared in variants.items():
        use = ["mov.u32 %u, own;", "st.shared.u32 [%u+4], %u;"] if declared else []
        body = ["ld.param.u64 %po, [out];", "ld.param.u32 %t, [some];", "setp.ne.u32 %p, %t, 0;", *use]
        # Nothing is written where there is no dynamic memory, but the kernel has it.
        body += ["mov.u32 %u, dynamic;", "@%p st.shared.u32 [%u], %t;", "mov.u32 %u, %dynamic_smem_size;"]
        body += ["mov.u32 %v, %total_smem_size;", "st.global.u32 [%po], %u;", "st.global.u32 [%po+4], %v;"]
        body += ["cvt.u64.u32 %x, %dynamic_smem_size;", "st.global.u64 [%po+8], %x;"]
        family.kernel(name, [".param .u64 out", ".param .u32 some"], REGISTERS + declared, body)
        for dynamic in (0, 4, 16, 100, 129, 1024):
            start = -(-bytes_of[name] // 16) * 16
            total = -(-(start + dynamic) // 128) * 128
            args = [{"type": "u32", "zeros": 4}, {"type": "u32", "value": int(dynamic > 0)}]
            expect = [{"arg": 0, "data": [dynamic, total, dynamic, 0]}]
            family.case(f"{name}_{dynamic}", name, args, expect, block=1, dynamic_shared_bytes=dynamic)
    return family


def clusters(tables):
    family = Family("special_cluster", "Clusters of one block, and the grid's number in all widths.", tables, header=header("8.1"))
    body = ["ld.param.u64 %po, [out];", "mov.pred %p, %is_explicit_cluster;", "selp.u32 %v, 7, 3, %p;", "st.global.u32 [%po], %v;"]
    body += ["mov.u32 %v, %cluster_nctarank;", "st.global.u32 [%po+4], %v;"]
    for name, directives, explicit in (
        ("plain", "", False),
        ("required", " .reqnctapercluster 1, 1, 1", True),
        ("explicit", " .explicitcluster .reqnctapercluster 1, 1, 1", True),
    ):
        family.kernel(name, [".param .u64 out"], REGISTERS, body, directives)
        expect = [{"arg": 0, "data": [7 if explicit else 3, 1]}]
        family.case(name, name, [{"type": "u32", "zeros": 2}], expect, block=1)
    widths = ["ld.param.u64 %po, [out];", "mov.u64 %x, %gridid;", "mov.u32 %u, %gridid;", "mov.u16 %h, %gridid;"]
    widths += ["cvt.u32.u64 %v, %x;", "setp.eq.u32 %p, %u, %v;", "cvt.u32.u16 %t, %h;", "and.b32 %v, %v, 65535;"]
    widths += ["setp.eq.and.u32 %p, %t, %v, %p;", "selp.u32 %v, 1, 0, %p;", "st.global.u32 [%po], %v;"]
    family.kernel("gridid", [".param .u64 out"], REGISTERS, widths)
    family.case("gridid", "gridid", [{"type": "u32", "zeros": 1}], [{"arg": 0, "data": [1]}], block=1)
    return family


def events(tables):
    """Counters are for the host: here they only must not disturb."""
    family = Family("events", "pmevent beside other work, in uniform and divergent code.", tables)
    body = ["ld.param.u64 %po, [out];", "mov.u32 %t, %tid.x;", "mad.wide.u32 %po, %t, 4, %po;", "pmevent 0;"]
    body += ["setp.lt.u32 %p, %t, 40;", "@%p pmevent 7;", "mov.u32 %v, 0;", "mov.u32 %u, %t;", "again:", "pmevent.mask 0xf0;"]
    body += ["add.u32 %v, %v, %u;", "setp.ne.u32 %q, %u, 0;", "sub.u32 %u, %u, 1;", "@%q bra again;", "@!%p bra done;"]
    body += ["pmevent 1;", "add.u32 %v, %v, 1000;", "done:", "st.global.u32 [%po], %v;"]
    family.kernel("events", [".param .u64 out"], REGISTERS, body)
    expected = [thread * (thread + 1) // 2 + (1000 if thread < 40 else 0) for thread in range(100)]
    family.case("events", "events", [{"type": "u32", "zeros": 100}], [{"arg": 0, "data": expected}], block=100)
    return family


def families(tables):
    return [sizes(tables), clusters(tables), events(tables)]

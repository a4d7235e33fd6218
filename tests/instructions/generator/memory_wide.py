"""Accesses of 128 and 256 bits; cache policies and other advice to caches; memory-mapped and cluster-wide accesses."""

from .memory import contents, expectation
from .ptx import Family, header

NEW = "8.6"


def kernel(family, entry, declared, body, expected, out_type="u64", params=(), args=(), header_args=None, block=1):
    family.kernel(entry, [".param .u64 out", ".param .u64 a", *params], declared, [
        "ld.param.u64 %po, [out];", "ld.param.u64 %pa, [a];", *body,
    ])
    given = [{"type": out_type, "zeros": len(expected)}, {"type": "u8", "table": "mixed"}, *args]
    family.case(entry, entry, given, [expectation(out_type, expected)], block=block)


def quads(tables):
    """128 bits at once through every space."""
    bytes_ = ", ".join(str(byte) for byte in tables["mixed"][1][:64])
    family = Family(
        "memory_b128", "ld, ldu and st of .b128 in every space.", tables,
        f".const .align 16 .b8 table[64] = {{{bytes_}}};\n", header=header(NEW),
    )
    declared = [
        ".reg .b64 %po, %pa, %s;", ".reg .b128 %q, %r;", ".shared .align 16 .b8 everyone[64];",
        ".local .align 16 .b8 own[64];",
    ]
    words = lambda start: contents(tables, "u64", 2, 2 * start)
    copies = {
        "global": ["ld.global.b128 %q, [%pa+16];", "st.global.b128 [%po], %q;"],
        "generic": ["ld.b128 %q, [%pa+16];", "st.b128 [%po], %q;"],
        "weak": ["ld.weak.global.b128 %q, [%pa+16];", "st.weak.global.b128 [%po], %q;"],
        "nc": ["ld.global.nc.b128 %q, [%pa+16];", "st.global.cs.b128 [%po], %q;"],
        "ldu": ["ldu.global.b128 %q, [%pa+16];", "st.global.b128 [%po], %q;"],
        "const": ["ld.const.b128 %q, [table+16];", "st.global.b128 [%po], %q;"],
        "shared": [
            "ld.global.b128 %r, [%pa+16];", "st.shared.b128 [everyone+32], %r;", "ld.shared.b128 %q, [everyone+32];",
            "st.global.b128 [%po], %q;",
        ],
        "local": [
            "ld.global.b128 %r, [%pa+16];", "st.local.b128 [own+16], %r;", "ld.local.b128 %q, [own+16];",
            "st.global.b128 [%po], %q;",
        ],
    }
    for name, lines in copies.items():
        kernel(family, name, declared, lines, words(1))
    value = bytes(tables["mixed"][1][:32]).hex()
    kernel(
        family, "param", declared, ["ld.param.b128 %q, [p+16];", "st.global.b128 [%po], %q;"], words(1),
        params=[".param .align 16 .b8 p[32]"], args=[{"type": "bytes", "value": value}],
    )
    return family


def advice(tables):
    """What names caches: it changes no value."""
    family = Family(
        "memory_policies", "createpolicy, and accesses with the policies it makes.", tables, header=header("7.8")
    )
    declared = [
        ".reg .b64 %po, %pa, %p, %q;", ".reg .b32 %v, %w, %x, %y;", ".reg .f32 %f;",
    ]
    body, expected = [], []
    policies = [
        "createpolicy.fractional.L2::evict_last.b64 %p, 0.5;",
        "createpolicy.fractional.L2::evict_normal.b64 %p;",
        "mov.f32 %f, 0f3f800000; createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %p, %f;",
        "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %p, [%pa], 1024, 2048;",
        "mov.u32 %v, 1024; createpolicy.range.L2::evict_unchanged.b64 %p, [%pa], %v, %v;",
        "createpolicy.cvt.L2.b64 %p, 0x10000000;",
    ]
    loads = [
        "ld.global.L2::cache_hint", "ld.L2::cache_hint", "ld.relaxed.gpu.global.L2::cache_hint",
        "ld.global.nc.L2::cache_hint", "ld.global.L1::evict_last.L2::cache_hint.L2::64B",
        "ld.acquire.sys.L2::cache_hint.L2::128B",
    ]
    stores = [
        "st.global.L2::cache_hint", "st.L2::cache_hint", "st.relaxed.gpu.global.L2::cache_hint",
        "st.release.sys.L2::cache_hint", "st.weak.global.L1::no_allocate.L2::cache_hint", "st.global.cg.L2::cache_hint",
    ]
    values = contents(tables, "u32", len(policies))
    for place, (policy, load, store) in enumerate(zip(policies, loads, stores)):
        body += [policy, f"{load}.u32 %v, [%pa+{4 * place}], %p;", f"{store}.u32 [%po+{4 * place}], %v, %p;"]
        expected.append(values[place])
    kernel(family, "policies", declared, body, expected, "u32")
    yield family
    family = Family(
        "memory_advice", "applypriority, discard, and prefetches with eviction priorities.", tables, header=header("8.0")
    )
    body = [
        "prefetch.global.L2::evict_last [%pa];", "prefetch.L2::evict_normal [%pa];",
        "applypriority.global.L2::evict_normal [%pa], 128;", "applypriority.L2::evict_normal [%pa], 128;",
        "ld.global.u32 %v, [%pa];", "st.global.u32 [%po], %v;",
        # What is discarded and not written again could be anything.
        "discard.global.L2 [%po+128], 128;", "discard.L2 [%po+128], 128;",
    ]
    body += [f"st.global.u32 [%po+{128 + 4 * place}], %v;" for place in range(32)]
    word = contents(tables, "u32", 1)[0]
    kernel(family, "advice", declared, body, [word] + [0] * 31 + [word] * 32, "u32")
    yield family


def tensor_prefetch(tables):
    family = Family("memory_prefetch_tensor", "prefetch.tensormap, which has no effect to see.", tables, header=header("8.0"))
    body = [
        "setp.eq.u64 %n, %pa, 0;", "@%n prefetch.tensormap [%pa];", "@%n prefetch.param.tensormap [map];",
        "ld.global.u32 %v, [%pa];", "st.global.u32 [%po], %v;",
    ]
    declared = [".reg .b64 %po, %pa;", ".reg .pred %n;", ".reg .b32 %v;"]
    kernel(
        family, "prefetches", declared, body, contents(tables, "u32", 1), "u32",
        params=[".param .align 64 .b8 map[128]"], args=[{"type": "bytes", "value": "00" * 128}],
    )
    return family


def mapped(tables):
    family = Family("memory_mmio", "Accesses to memory-mapped input and output.", tables, header=header("8.2"))
    declared = [".reg .b64 %po, %pa;", ".reg .b32 %v;", ".reg .f64 %d;"]
    body = [
        "ld.mmio.relaxed.sys.global.u32 %v, [%pa];", "st.mmio.relaxed.sys.global.u32 [%po], %v;",
        "ld.mmio.relaxed.sys.u32 %v, [%pa+4];", "st.mmio.relaxed.sys.u32 [%po+4], %v;",
        "ld.mmio.relaxed.sys.global.f64 %d, [%pa+8];", "st.mmio.relaxed.sys.f64 [%po+8], %d;",
    ]
    kernel(family, "mapped", declared, body, contents(tables, "u32", 4), "u32")
    return family


def unified(tables):
    family = Family("memory_unified", "Loads that promise a unified address.", tables, header=header("8.0"))
    declared = [".reg .b64 %po, %pa, %p;", ".reg .b32 %v;"]
    body = [
        "ld.global.u32 %v, [%pa].unified;", "st.global.u32 [%po], %v;", "ld.u32 %v, [%pa+4].unified;",
        "st.global.u32 [%po+4], %v;", "createpolicy.fractional.L2::evict_first.b64 %p;",
        "ld.global.L2::cache_hint.u32 %v, [%pa+8].unified, %p;", "st.global.u32 [%po+8], %v;",
    ]
    kernel(family, "unified", declared, body, contents(tables, "u32", 3), "u32")
    return family


def cluster(tables):
    """A block is a cluster of its own."""
    family = Family(
        "memory_shared_cluster", "Accesses to .shared::cluster by a block that is its own cluster.", tables,
        header=header("7.8"),
    )
    declared = [
        ".reg .b64 %po, %pa, %s, %g;", ".reg .b32 %v;", ".reg .pred %p;", ".shared .align 16 .b8 everyone[64];",
    ]
    body = ["ld.global.u32 %v, [%pa];", "mov.u64 %s, everyone;"]
    pairs = [
        ("st.shared::cluster", "ld.shared::cluster"), ("st.weak.shared::cluster", "ld.shared::cta"),
        ("st.volatile.shared::cluster", "ld.volatile.shared::cluster"),
        ("st.relaxed.cluster.shared::cluster", "ld.acquire.cluster.shared::cluster"),
        ("st.release.cluster.shared::cluster", "ld.relaxed.cluster.shared::cluster"),
    ]
    expected, word = [], contents(tables, "u32", 1)[0]
    for place, (store, load) in enumerate(pairs):
        body += [
            "add.u32 %v, %v, 1;", f"{store}.u32 [%s+{4 * place}], %v;", f"{load}.u32 %v, [everyone+{4 * place}];",
            f"st.global.u32 [%po+{4 * place}], %v;",
        ]
        expected.append(word + place + 1 & 0xFFFFFFFF)
    body += [
        "cvta.shared::cluster.u64 %g, everyone;", "isspacep.shared::cluster %p, %g;", "selp.u32 %v, 1, 0, %p;",
        f"st.global.u32 [%po+{4 * len(pairs)}], %v;", "isspacep.shared::cluster %p, %pa;", "selp.u32 %v, 1, 0, %p;",
        f"st.global.u32 [%po+{4 * len(pairs) + 4}], %v;", "cvta.to.shared::cluster.u64 %g, %g;",
        "setp.eq.u64 %p, %g, %s;", "selp.u32 %v, 1, 0, %p;", f"st.global.u32 [%po+{4 * len(pairs) + 8}], %v;",
    ]
    kernel(family, "cluster", declared, body, [*expected, 1, 0, 1], "u32")
    return family


def octets(tables):
    """256 bits at once, which only the newest hardware has."""
    family = Family(
        "memory_256", "ld and st of 256 bits: eight elements of 32 bits, four of 64.", tables,
        header=header("8.8").replace("sm_90", "sm_100"),
    )
    for ty, count in (("b32", 8), ("u32", 8), ("s32", 8), ("f32", 8), ("b64", 4), ("u64", 4), ("s64", 4), ("f64", 4)):
        names = "{" + ", ".join(f"%v{place}" for place in range(count)) + "}"
        declared = [".reg .b64 %po, %pa, %p;", f".reg .{ty} %v<8>;"]
        form = f"v{count}.{ty}"
        lines = [
            (f"ld.global.{form}", f"st.global.{form}"), (f"ld.{form}", f"st.{form}"),
            (f"ld.global.nc.{form}", f"st.global.{form}"), (f"ld.relaxed.gpu.global.{form}", f"st.release.gpu.global.{form}"),
            (f"ld.volatile.global.{form}", f"st.volatile.global.{form}"),
            (f"ld.global.L1::evict_last.L2::evict_last.{form}", f"st.global.L2::evict_first.{form}"),
        ]
        body = []
        for place, (load, store) in enumerate(lines):
            body += [f"{load} {names}, [%pa+{32 * place}];", f"{store} [%po+{32 * place}], {names};"]
        total = count * len(lines)
        out = ty if ty[0] != "b" else f"u{ty[1:]}"
        kernel(family, f"copy_{ty}", declared, body, contents(tables, out, total), out)
    return family


def families(tables):
    return [
        quads(tables), *advice(tables), tensor_prefetch(tables), mapped(tables), unified(tables), cluster(tables),
        octets(tables),
    ]

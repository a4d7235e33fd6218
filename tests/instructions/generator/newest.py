"""Forms that PTX has since 9.1: narrow floats from and to bf16, fixed point, packed bytes, functions of turns, asynchronous stores."""

import math
import random
from fractions import Fraction

from .approximate import NAN, f32
from .convert_half import E4M3, E5M2
from .exact import BF16, F16, F32, clamp, number
from .half import relu
from .mbarriers import MEMORY, REGISTERS, THREAD, bytes_of, initialised, waiting
from .newer import NARROW, name, narrow_operands
from .packed import join, parts, words
from .ptx import Family
from .values import WORDS, fill


def header(target):
    return f".version 9.5\n.target {target}\n.address_size 64\n"


# Formats with their bits in a pair.
FORMATS = NARROW | {"e4m3x2": (E4M3, 8), "e5m2x2": (E5M2, 8)}
SCALED = ".scaled::n2::ue8m0"
ONE = 0x7F
SCALES = [ONE, 0, 0xFF, 0xFE, ONE + 1, ONE - 1, ONE + 7, ONE - 9, 1, 0x90, 0x60]


def scale(bits):
    return Fraction(2) ** (bits - ONE)


def narrowed(fmt, source, modifiers):
    """One number in a narrow format, with `.satfinite`. What has no NaN gets its largest number instead."""
    largest = fmt.infinity - 1
    nan = fmt.sign - 1

    def reference(bits):
        if source.is_nan(bits):
            return nan
        negative = source.negative(bits)
        if "relu" in modifiers and negative:
            return 0
        magnitude = largest if source.is_infinite(bits) else min(fmt.round(abs(source.value(bits))), largest)
        return magnitude | negative * fmt.sign

    return reference


def widened(fmt, modifiers):
    """One narrow number times a power of two in bf16."""

    def reference(bits, power=ONE):
        if fmt.is_nan(bits) or power == 0xFF:
            return BF16.nan
        if fmt.is_infinite(bits):
            result = BF16.infinity | fmt.negative(bits) * BF16.sign
        else:
            result = BF16.round(fmt.value(bits) * scale(power), fmt.negative(bits))
        if "satfinite" in modifiers and BF16.is_infinite(result):
            result -= 1
        return relu(BF16, result) if "relu" in modifiers else result

    return reference


def pairs(function, source, target):
    """A function on both numbers of pairs, and of their scales if there are any. Numbers have that many bits."""

    def reference(*operands):
        halves = []
        for place in (0, 1):
            lanes = [operands[0] >> place * source & ((1 << source) - 1)]
            lanes += [operand >> place * 8 & 0xFF for operand in operands[1:]]
            halves.append(function(*lanes))
        return halves[0] | halves[1] << target

    return reference


def conversions(tables):
    family = Family(
        "newest_conversions", "cvt between pairs of narrow floats and of f16 or bf16, with and without scales.", tables,
        header=header("sm_100f"),
    )
    rng = random.Random("narrow pairs")
    for ty, (fmt, width) in FORMATS.items():
        for source, wide in (("f16x2", F16), ("bf16x2", BF16)):
            if source == "f16x2" and width == 8 and ty in ("e4m3x2", "e5m2x2"):
                continue
            singles = {wide.nan, wide.infinity, wide.infinity - 1, wide.nan | wide.sign, wide.sign, 0, 1}
            for bits in narrow_operands(fmt) if ty in NARROW else [F32.round(fmt.value(bits)) for bits in range(fmt.infinity)]:
                if not F32.is_nan(bits) and not F32.is_infinite(bits):
                    near = wide.round(F32.value(bits))
                    singles |= {near, near ^ wide.sign, near ^ 1}
            low = sorted(singles)
            high = rng.sample(low, len(low))
            table = f"{ty}_of_{source}"
            family.operands(table, 32, [a | b << 16 for a, b in zip(low, high)])
            for modifiers in (".satfinite", ".satfinite.relu"):
                form = f"cvt.rn{modifiers}.{ty}.{source}"
                body, registers = [f"{form} %d, %a;"], ""
                reference = pairs(narrowed(fmt, wide, modifiers), 16, width)
                if width == 4:
                    body, registers = [f"{form} %q, %a;", "mov.b16 %d, {%q, %q};"], ".reg .b8 %q;"
                    reference = lambda bits, single=reference: single(bits) * 0x101
                family.elementwise(name(form), [("b32", table)], "b16", body, reference, registers, count=len(low))
        mask = 2 * fmt.sign - 1
        sources = [fill(list(range(mask + 1)), 2 * (mask + 1), lambda: rng.randrange(mask + 1)) for _ in "ab"]
        rng.shuffle(sources[1])
        powers = [fill(SCALES, len(sources[0]), lambda: rng.choice(SCALES + [rng.randrange(256)])) for _ in "ab"]
        for power in powers:
            rng.shuffle(power)
        family.operands(f"{ty}_numbers", 16, [a | b << width for a, b in zip(*sources)])
        family.operands(f"{ty}_scales", 16, [a | b << 8 for a, b in zip(*powers)])
        for scaled in ("", SCALED):
            for modifiers in ("", ".relu", ".satfinite", ".satfinite.relu"):
                form = f"cvt.rn{modifiers}{scaled}.bf16x2.{ty}"
                operand, registers, body = "%a", "", []
                if width == 4:
                    operand, registers, body = "%q", ".reg .b8 %q, %s;", ["mov.b16 {%q, %s}, %a;"]
                body += [f"{form} %d, {operand}{', %b' if scaled else ''};"]
                inputs = [("b16", f"{ty}_numbers")] + ([("b16", f"{ty}_scales")] if scaled else [])
                reference = pairs(widened(fmt, modifiers), width, 16)
                entry = name(form.replace("::", "_"))
                family.elementwise(entry, inputs, "b32", body, reference, registers, count=len(sources[0]))
    return family


def to_fixed(wide, modifiers):
    def reference(bits, power=ONE):
        if wide.is_nan(bits) or power == 0xFF:
            return 127
        negative = wide.negative(bits)
        if negative and "relu" in modifiers:
            return 0
        if wide.is_infinite(bits):
            return 0x80 if negative else 127
        # Python rounds ties to even.
        return max(-128, min(127, round(wide.value(bits) * 64 / scale(power)))) & 0xFF

    return reference


def of_fixed(modifiers):
    def reference(bits, power=ONE):
        if power == 0xFF:
            return BF16.nan
        value = Fraction(number(bits, "s8"), 64) * scale(power)
        result = BF16.round(value)
        if "satfinite" in modifiers and BF16.is_infinite(result):
            result -= 1
        return relu(BF16, result) if "relu" in modifiers else result

    return reference


def fixed(tables):
    family = Family("newest_fixed", "cvt to and from s2f6, with and without scales.", tables, header=header("sm_103a"))
    rng = random.Random("fixed point")
    count = 256
    steps = [Fraction(step, 256) for step in range(-600, 600, 3)] + [Fraction(step, 128) for step in range(-260, 260)]
    ends = [0, F32.sign, 1, F32.sign | 1, 0x7FFFFF, F32.infinity, F32.sign | F32.infinity, F32.nan, 0xFFC00000, F32.infinity - 1]

    def number_near(power):
        return F32.round(rng.choice(steps) * scale(power)) + rng.choice((0, 0, 1)) if power != 0xFF else rng.getrandbits(32)

    lanes = []
    for _ in "ab":
        powers = fill(SCALES, count, lambda: rng.choice(SCALES + [rng.randrange(256)]))
        rng.shuffle(powers)
        plain = fill(ends, count, lambda: number_near(ONE))
        rng.shuffle(plain)
        scaled = [rng.choice(ends) if place % 16 == 0 else number_near(power) for place, power in enumerate(powers)]
        lanes.append((plain, scaled, powers))
    (low, low_scaled, low_powers), (high, high_scaled, high_powers) = lanes
    for table, values in (("low", low), ("high", high), ("low_scaled", low_scaled), ("high_scaled", high_scaled)):
        family.operands(f"fixed_{table}", 32, values)
    half = lambda bits: bits >> 16
    family.operands("fixed_pairs", 32, [half(a) | half(b) << 16 for a, b in zip(low, high)])
    family.operands("fixed_pairs_scaled", 32, [half(a) | half(b) << 16 for a, b in zip(low_scaled, high_scaled)])
    family.operands("fixed_scales", 16, [a | b << 8 for a, b in zip(low_powers, high_powers)])
    family.operands("fixed_numbers", 16, [a | rng.randrange(256) << 8 for a in range(256)])
    for scaled in ("", SCALED):
        suffix = "_scaled" if scaled else ""
        inputs = [("b16", "fixed_scales")] if scaled else []
        for modifiers in (".satfinite", ".satfinite.relu"):
            single = to_fixed(F32, modifiers)

            def reference(a, b, powers=ONE * 0x101, single=single):
                return single(b, powers & 0xFF) | single(a, powers >> 8) << 8

            form = f"cvt.rn{modifiers}{scaled}.s2f6x2.f32"
            operands = [("f32", f"fixed_high{suffix}"), ("f32", f"fixed_low{suffix}"), *inputs]
            body = [f"{form} %d, %a, %b{', %c' if scaled else ''};"]
            family.elementwise(name(form.replace("::", "_")), operands, "b16", body, reference, count=count)
            form = f"cvt.rn{modifiers}{scaled}.s2f6x2.bf16x2"
            body = [f"{form} %d, %a{', %b' if scaled else ''};"]
            operands = [("b32", f"fixed_pairs{suffix}"), *inputs]
            reference = pairs(to_fixed(BF16, modifiers), 16, 8)
            family.elementwise(name(form.replace("::", "_")), operands, "b16", body, reference, count=count)
        for modifiers in ("", ".relu", ".satfinite", ".satfinite.relu"):
            form = f"cvt.rn{modifiers}{scaled}.bf16x2.s2f6x2"
            body = [f"{form} %d, %a{', %b' if scaled else ''};"]
            reference = pairs(of_fixed(modifiers), 8, 16)
            entry = name(form.replace("::", "_"))
            family.elementwise(entry, [("b16", "fixed_numbers"), *inputs], "b32", body, reference, count=count)
    return family


def packed(tables):
    family = Family("newest_packed", "Arithmetic on four bytes, and with .sat on half-words and u32.", tables, header=header("sm_120a"))
    family.elementwise("add_sat_u32", words("u32", 2), "u32", ["add.sat.u32 %d, %a, %b;"], lambda a, b: clamp(a + b, "u32"), count=WORDS)
    operations = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "min": min, "max": max, "neg": lambda a: -a}
    forms = [(opcode, modifier, f"{sign}8x4") for opcode in ("add", "sub") for modifier in ("", ".sat") for sign in "us"]
    forms += [("add", ".sat", f"{sign}16x2") for sign in "us"] + [("neg", "", "s8x4")]
    forms += [(opcode, modifier, ty) for opcode in ("min", "max") for modifier, ty in (("", "u8x4"), ("", "s8x4"), (".relu", "s8x4"))]
    for opcode, modifier, ty in forms:
        part = ty[: ty.index("x")]
        then = {"": lambda value, _: value, ".sat": clamp, ".relu": lambda value, _: max(value, 0)}[modifier]

        def reference(*operands, do=operations[opcode], part=part, then=then):
            return join([then(do(*lanes), part) for lanes in zip(*(parts(word, part) for word in operands))], part)

        count = 1 if opcode == "neg" else 2
        registers = ", ".join(["%d", "%a", "%b"][: count + 1])
        form = f"{opcode}{modifier}.{ty}"
        family.elementwise(name(form), words("b32", count), "b32", [f"{form} {registers};"], reference, count=WORDS)
    return family


def turns(tables):
    """Operands are numbers of turns, so that whole ones change nothing."""
    family = Family("newest_turns", "sin.approx and cos.approx of numbers of turns.", tables, header=header("sm_90"))
    rng = random.Random("turns")
    ends = [0, F32.sign, 1, F32.sign | 1, F32.infinity, F32.sign | F32.infinity, F32.nan, *(f32(x) for x in (0.25, 0.5, -0.75, 1.0, -3.5))]
    ends += [f32(x) for x in (2.0**22 + 0.5, 2.0**23 + 1, -(2.0**24) - 2, 1e30)]
    family.operands("turns", 32, fill(ends, 96, lambda: f32(rng.uniform(-1, 1) * 2 ** rng.randrange(-12, 21))))
    for opcode, function in (("sin", math.sin), ("cos", math.cos)):

        def reference(bits, function=function):
            if F32.is_nan(bits) or F32.is_infinite(bits):
                return NAN
            part = F32.value(F32.flush(bits)) % 1
            return f32(function(math.tau * float(part if part <= Fraction(1, 2) else part - 1)))

        form = f"{opcode}.approx.ftz.2pi.f32"
        family.elementwise(name(form), [("f32", "turns")], "f32", [f"{form} %d, %a;"], reference, count=96, check={"abs": 2**-20.5})
    return family


STORES = ("b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f32", "f64")
REDUCTIONS = [
    (op, ty)
    for ops, types in (("add", "u32 s32 u64 s64"), ("min max", "u32 s32"), ("inc dec", "u32"), ("and or xor", "b32"))
    for op in ops.split()
    for ty in types.split()
]


def result(op, ty, old, value):
    """What a reduction leaves in memory."""
    if op in ("inc", "dec"):
        return (0 if old >= value else old + 1) if op == "inc" else (value if old == 0 or old > value else old - 1)
    a, b = number(old, ty), number(value, ty)
    done = {"add": a + b, "min": min(a, b), "max": max(a, b), "and": a & b, "or": a | b, "xor": a ^ b}[op]
    return done & (1 << int(ty[1:])) - 1


def memory(tables):
    """One thread stores, and other launches would see it: asynchronous stores need nothing that waits for them."""
    family = Family("newest_memory", "Asynchronous stores and reductions with .release, and .mmio with an order.", tables, header=header("sm_100"))
    declared = [".reg .b64 %po, %pa, %d;", ".reg .b32 %v;", ".reg .b16 %h;", ".reg .b8 %b;", ".reg .b128 %w;"]
    start = ["ld.param.u64 %po, [out];", "ld.param.u64 %pa, [in];", "ld.global.u64 %d, [%pa];", "ld.global.u32 %v, [%pa];"]
    start += ["ld.global.u16 %h, [%pa];", "ld.global.u8 %b, [%pa];"]
    registers = {8: "%b", 16: "%h", 32: "%v", 64: "%d"}
    params = [".param .u64 out", ".param .u64 in"]
    value = 0x8123456789ABCDEF
    source = {"type": "u64", "data": [value, 0x1122334455667788]}
    for index, (form, types) in enumerate((
        ("st.async.release.gpu.global", STORES), ("st.async.release.sys", STORES[2:4]), ("st.async.mmio.release.sys.global", STORES[1:6]),
    )):
        body, expected = list(start), []
        for place, ty in enumerate(types):
            body += [f"{form}.{ty} [%po+{8 * place}], {registers[int(ty[1:])]};"]
            expected.append(value & (1 << int(ty[1:])) - 1)
        entry = f"store_{index}"
        family.kernel(entry, params, declared, body)
        family.case(entry, entry, [{"type": "u64", "zeros": len(expected)}, source], [{"arg": 0, "data": expected}], block=1)
    for index, (scope, reductions) in enumerate((
        (".release.gpu.global", REDUCTIONS), (".release.sys", REDUCTIONS[:4]), (".mmio.release.sys.global", REDUCTIONS[:4]),
    )):
        body, old, expected = list(start), [], []
        for place, (op, ty) in enumerate(reductions):
            bits = int(ty[1:])
            body += [f"red.async{scope}.{op}.{ty} [%po+{8 * place}], {registers[bits]};"]
            old.append((0x9E3779B97F4A7C15 * (place + 1)) & (1 << bits) - 1)
            expected.append(result(op, ty, old[-1], value & (1 << bits) - 1))
        entry = f"reduce_{index}"
        family.kernel(entry, params, declared, body)
        family.case(entry, entry, [{"type": "u64", "data": old}, source], [{"arg": 0, "data": expected}], block=1)
    body = list(start[:2])
    for place, (order, space) in enumerate((("acquire", ".global"), ("acquire", ""), ("relaxed", ".global"))):
        other = {"acquire": "release"}.get(order, order)
        body += [f"ld.mmio.{order}.sys{space}.b32 %v, [%pa+{4 * place}];", f"st.mmio.{other}.sys{space}.b32 [%po+{4 * place}], %v;"]
    body += ["ld.mmio.acquire.sys.global.b128 %w, [%pa];", "st.mmio.release.sys.global.b128 [%po+16], %w;"]
    family.kernel("mapped", params, declared, body)
    data = [1, 2, 3, 4]
    args = [{"type": "u32", "zeros": 8}, {"type": "u32", "data": data}]
    family.case("mapped", "mapped", args, [{"arg": 0, "data": [1, 2, 3, 0, *data]}], block=1)
    return family


def barriers(tables):
    family = Family(
        "newest_barriers", "Asynchronous stores of 128 bits, bulk copies that may end outside, exchanges with a hint.", tables, MEMORY,
        header=header("sm_90"),
    )
    declared = [*REGISTERS, ".reg .b128 %w, %z;", ".reg .b64 %l, %h;"]
    for entry, space in (("store_b128", ".shared::cluster"), ("store_b128_generic", "")):
        body = [*THREAD, *initialised("1"), "mov.u64 %x, data;", "cvt.u32.u64 %a, %x;", "mad.lo.u32 %a, %t, 16, %a;"]
        body += ["@%q mbarrier.arrive.expect_tx.shared.b64 _, [barriers], 1024;", "cvt.u64.u32 %l, %t;", "add.u64 %h, %l, 0x123456789a;"]
        body += ["mov.b128 %w, {%l, %h};", "mov.u64 %y, barriers;", "cvt.u32.u64 %i, %y;"]
        to, barrier = "%a", "%i"
        if not space:
            body += ["cvt.u64.u32 %x, %a;", "cvta.shared.u64 %x, %x;", "cvta.shared.u64 %y, %y;"]
            to, barrier = "%x", "%y"
        body += [f"st.async{space}.mbarrier::complete_tx::bytes.b128 [{to}], %w, [{barrier}];"]
        body += waiting("wait", "try_wait.parity", "0")
        body += ["ld.shared.b128 %w, [%a];", "mad.wide.u32 %po, %t, 16, %po;", "st.global.b128 [%po], %w;"]
        family.kernel(entry, [".param .u64 out"], declared, body)
        expected = [half for t in range(64) for half in (t, t + 0x123456789A)]
        family.case(entry, entry, [{"type": "u64", "zeros": 128}], [{"arg": 0, "data": expected}], block=64)
    data = bytes_of(128, 5)
    for hint, policy in (("", ""), (".L2::cache_hint", ", %s")):
        entry = "load_ignored" + ("_hint" if hint else "")
        copy = f"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes{hint}.ignore_oob"
        body = [*THREAD, "ld.param.u64 %src, [source];", "mov.u64 %x, data;", "cvt.u32.u64 %a, %x;", "mov.u64 %s, 0x14f0000000000000;"]
        body += [*initialised("1"), "@!%q bra wait;", "mbarrier.arrive.expect_tx.shared.b64 _, [barriers], 128;", "mov.u32 %n, 7;"]
        # The buffer ends 7 bytes before the second copy does. What the copies leave open isn't looked at.
        body += [f"{copy} [%a], [%src], 64, 15, 0, [barriers]{policy};", f"{copy} [%a+64], [%src+64], 64, 0, %n, [barriers]{policy};"]
        body += waiting("wait", "try_wait.parity", "0")
        body += ["mad.lo.u32 %u, %t, 4, %a;", "ld.shared.u32 %v, [%u];"]
        for condition, mask in (("lt.u32 %p, %t, 3", "0"), ("eq.u32 %p, %t, 3", "0xff000000"), ("eq.u32 %p, %t, 30", "0xff"), ("eq.u32 %p, %t, 31", "0")):
            body += [f"setp.{condition};", f"@%p and.b32 %v, %v, {mask};"]
        body += ["mad.wide.u32 %po, %t, 4, %po;", "st.global.u32 [%po], %v;"]
        family.kernel(entry, [".param .u64 out", ".param .u64 source"], declared, body)
        args = [{"type": "u8", "zeros": 128}, {"type": "u8", "data": data[:121]}]
        family.case(entry, entry, args, [{"arg": 0, "data": [0] * 15 + data[15:121] + [0] * 7}], block=32)
    body = ["ld.param.u64 %po, [out];", "createpolicy.fractional.L2::evict_first.b64 %s;", "mov.b64 %l, 5;", "mov.b64 %h, 9;", "mov.b128 %w, {%l, %h};"]
    body += ["atom.global.exch.L2::cache_hint.b128 %z, [%po], %w, %s;", "st.global.b128 [%po+16], %z;"]
    family.kernel("exchange_hint", [".param .u64 out"], declared, body)
    args = [{"type": "u64", "data": [3, 4, 0, 0]}]
    family.case("exchange_hint", "exchange_hint", args, [{"arg": 0, "data": [5, 9, 3, 4]}], block=1)
    return family


def cancellation(tables):
    """A grid of which all clusters are launched has none to cancel."""
    family = Family("newest_cancel", "clusterlaunchcontrol where no cluster is left.", tables, MEMORY, header=header("sm_100"))
    declared = [*REGISTERS, ".reg .b128 %w;", ".reg .b32 %c<4>;"]
    for entry, space in (("try_cancel", ".shared::cta"), ("try_cancel_generic", "")):
        body = [*THREAD, *initialised("1"), "mov.u64 %x, data;", "mov.u64 %y, barriers;"]
        body += [] if space else ["cvta.shared.u64 %x, %x;", "cvta.shared.u64 %y, %y;"]
        body += ["@%q mbarrier.arrive.expect_tx.shared.b64 _, [barriers], 16;"]
        body += [f"@%q clusterlaunchcontrol.try_cancel.async{space}.mbarrier::complete_tx::bytes.b128 [%x], [%y];"]
        body += waiting("wait", "try_wait.parity", "0")
        body += ["ld.shared.b128 %w, [data];", "mov.u32 %v, 7;", "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p, %w;", "@!%p bra none;"]
        body += ["clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%c0, %c1, %c2, _}, %w;"]
        body += [f"clusterlaunchcontrol.query_cancel.get_first_ctaid::{d}.b32.b128 %c3, %w;" for d in "xyz"]
        body += ["add.u32 %v, %c0, %c3;", "none:", "mov.u32 %u, %ctaid.x;", "mad.lo.u32 %u, %u, 32, %t;"]
        body += ["mad.wide.u32 %po, %u, 4, %po;", "st.global.u32 [%po], %v;"]
        family.kernel(entry, [".param .u64 out"], declared, body)
        args = [{"type": "u32", "zeros": 96}]
        family.case(entry, entry, args, [{"arg": 0, "data": [7] * 96}], block=32, grid=3)
    return family


def families(tables):
    return [conversions(tables), fixed(tables), packed(tables), turns(tables), memory(tables), barriers(tables), cancellation(tables)]

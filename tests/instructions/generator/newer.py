"""Forms that PTX has since 8.6, most of them for sm_100: packed f32, mixed precision, minimum of three, narrow floats."""

import random
from fractions import Fraction

from . import exact
from .convert_half import convert, operands, rounded
from .exact import F16, F32, HALVES, Format
from .floats import choices, extremum, finished, subtract
from .half import relu
from .mbarriers import MEMORY, REGISTERS, THREAD, Results, bulk_load
from .ptx import Family, header
from .values import fill

SM100 = ".version 8.8\n.target sm_100a\n.address_size 64\n"
COUNT = 48


class AllFinite(Format):
    """A narrow format all of whose bits are numbers; NaN becomes the largest."""

    def __init__(self, bits, fraction):
        super().__init__(bits, fraction)
        self.infinity = self.sign


NARROW = {"e2m1x2": (AllFinite(4, 1), 4), "e2m3x2": (AllFinite(6, 3), 8), "e3m2x2": (AllFinite(6, 2), 8)}


def name(form):
    return form.replace(".", "_")


def packed(family):
    """Pairs of f32, each of which is computed like one alone."""
    for letter in "abc":
        column, other = (family.tables[f"f32_{letter}"][1] for _ in range(2))
        family.operands(f"f32x2_{letter}", 64, [low | high << 32 for low, high in zip(column, other[1:] + other[:1])])
    for opcode, function, count in (("add", exact.add, 2), ("sub", subtract, 2), ("mul", exact.mul, 2), ("fma", exact.fma, 3)):
        for modifiers in (".rn", ".rn.ftz", ".rz", ".rp", ".rm.ftz") if count == 3 else ("", ".rn.ftz", ".rz", ".rp", ".rm.ftz"):
            single = finished(F32, function, modifiers)

            def reference(*values, single=single):
                halves = [single(*(value >> place & 0xFFFFFFFF for value in values)) for place in (0, 32)]
                return halves[0] | halves[1] << 32

            form = f"{opcode}{modifiers}.f32x2"
            registers = ", ".join(["%d", "%a", "%b", "%c"][: count + 1])
            inputs = [("b64", f"f32x2_{letter}") for letter in "abc"[:count]]
            family.elementwise(name(form), inputs, "b64", [f"{form} {registers};"], reference, count=COUNT)


def widened(fmt, bits):
    """An f32 from a number of 16 bits, exactly."""
    sign = F32.sign if fmt.negative(bits) else 0
    if fmt.is_nan(bits):
        return F32.nan
    return sign | F32.infinity if fmt.is_infinite(bits) else F32.round(fmt.value(bits), bool(sign))


def mixed(family):
    for ty, fmt in HALVES.items():
        for opcode, function, narrow, count in (
            ("add", exact.add, 1, 2), ("sub", subtract, 1, 2), ("fma", exact.fma, 2, 3),
        ):
            for modifiers in (".rn", ".rz.sat", ".rp", ".rm", ".rn.sat") if opcode == "fma" else ("", ".rz.sat", ".rp", ".rm", ".sat"):
                single = finished(F32, function, modifiers)

                def reference(*values, single=single, fmt=fmt, narrow=narrow):
                    return single(*(widened(fmt, bits) for bits in values[:narrow]), *values[narrow:])

                form = f"{opcode}{modifiers}.f32.{ty}"
                registers = ", ".join(["%d", "%a", "%b", "%c"][: count + 1])
                inputs = [("b16", f"{ty}_{letter}") for letter in "ab"[:narrow]] + [("f32", "f32_c")]
                family.elementwise(name(form), inputs, "f32", [f"{form} {registers};"], reference, count=COUNT)


def three(family):
    inputs = [("f32", "f32_x"), ("f32", "f32_y"), ("f32", "f32_u")]
    for opcode in ("min", "max"):
        for modifiers in choices(".ftz", ".NaN", ".abs"):
            two = extremum(F32, opcode == "max", ".ftz" in modifiers, ".NaN" in modifiers)

            def reference(*values, two=two, modifiers=modifiers):
                a, b, c = (value & (F32.sign - 1) for value in values) if ".abs" in modifiers else values
                return two(two(a, b), c)

            form = f"{opcode}{modifiers}.f32"
            family.elementwise(
                f"{name(form)}_3", inputs, "f32", [f"{form} %d, %a, %b, %c;"], reference, count=COUNT, check={"nan": "bits"}
            )


def arithmetic(tables):
    family = Family(
        "newer_arithmetic", "Packed f32, mixed precision, minimum and maximum of three.", tables, header=SM100
    )
    packed(family)
    mixed(family)
    three(family)
    return family


def narrow_operands(fmt):
    """All numbers of a format, what lies halfway between them and beside that, and what it can't hold, as f32."""
    numbers = [fmt.value(bits) for bits in range(fmt.sign)]
    halfway = [(low + high) / 2 for low, high in zip(numbers, numbers[1:])]
    beyond = [numbers[-1] + (numbers[-1] - numbers[-2]) / 2, numbers[-1] * 2, Fraction(2) ** 100, numbers[1] / 2, numbers[1] / 4]
    table = [F32.round(number) for number in numbers + halfway + beyond]
    table += [F32.round(number) + step for number in halfway + beyond for step in (-1, 1)]
    table += [0, 1, F32.infinity, F32.nan, F32.infinity | 1, F32.sign - 1]
    return table + [bits | F32.sign for bits in table]


def to_narrow(fmt, modifiers):
    def reference(bits):
        if F32.is_nan(bits):
            return fmt.sign - 1
        negative = F32.negative(bits)
        magnitude = fmt.sign - 1 if F32.is_infinite(bits) else fmt.round(abs(F32.value(bits)))
        result = min(magnitude, fmt.sign - 1) | negative * fmt.sign
        return 0 if ".relu" in modifiers and negative else result

    return reference


def conversions(tables):
    family = Family(
        "newer_conversions", "cvt to and from e2m1, e2m3 and e3m2, to tf32 without infinities.", tables,
        header=SM100,
    )
    for mode in ("rn", "rz"):
        for modifiers in (".satfinite", ".satfinite.relu"):
            reference = lambda bits, function=rounded("tf32", "f32", mode, modifiers): function(bits) << 13
            convert(family, "tf32", "f32", mode, modifiers, reference, operands(family, "f32", "tf32"))
    rng = random.Random("narrow floats")
    for to, (fmt, width) in NARROW.items():
        high = narrow_operands(fmt)
        low = rng.sample(high, len(high))
        family.operands(f"{to}_high", 32, high)
        family.operands(f"{to}_low", 32, low)
        for modifiers in ("", ".relu"):
            single = to_narrow(fmt, modifiers)

            def reference(a, b, single=single, width=width):
                pair = single(a) << width | single(b)
                return pair | pair << 8 if width == 4 else pair

            form = f"cvt.rn.satfinite{modifiers}.{to}.f32"
            body, registers = [f"{form} %d, %a, %b;"], ""
            if width == 4:
                body, registers = [f"{form} %q, %a, %b;", "mov.b16 %d, {%q, %q};"], ".reg .b8 %q;"
            inputs = [("f32", f"{to}_high"), ("f32", f"{to}_low")]
            family.elementwise(name(form), inputs, "b16", body, reference, registers, count=len(high))
        pairs = [fill([], fmt.sign * 4, lambda: rng.randrange(2 * fmt.sign)) for _ in "ab"]
        pairs[0][: 2 * fmt.sign] = range(2 * fmt.sign)
        family.operands(f"{to}_pairs", 16, [a << width | b for a, b in zip(*pairs)])
        for modifiers in ("", ".relu"):

            def reference(bits, fmt=fmt, width=width, modifiers=modifiers):
                parts = [bits >> place & (2 * fmt.sign - 1) for place in (0, width)]
                halves = [F16.round(fmt.value(part), fmt.negative(part)) for part in parts]
                halves = [relu(F16, half) for half in halves] if modifiers else halves
                return halves[0] | halves[1] << 16

            form = f"cvt.rn{modifiers}.f16x2.{to}"
            body, registers = [f"{form} %d, %a;"], ""
            if width == 4:
                body, registers = ["mov.b16 {%q, %s}, %a;", f"{form} %d, %q;"], ".reg .b8 %q, %s;"
            count = fmt.sign * 4
            family.elementwise(name(form), [("b16", f"{to}_pairs")], "b32", body, reference, registers, count=count)
    return family


def warps(tables):
    family = Family("newer_warps", "redux.sync on f32.", tables, header=SM100)
    rng = random.Random("redux")
    numbers = [0, F32.sign, 1, F32.sign | 1, F32.infinity, F32.sign | F32.infinity, F32.nan, 0x7F800001, 0xFFC00000]
    mixture = fill(numbers, 32, lambda: rng.getrandbits(32))
    warps = [mixture, [rng.choice((0, F32.sign)) for _ in range(32)], [rng.choice(numbers[6:]) for _ in range(32)]]
    warps.append([F32.round(Fraction(rng.randrange(-999, 999), 8)) for _ in range(32)])
    family.operands("redux_f32", 32, [bits for warp in warps for bits in warp])
    for opcode in ("min", "max"):
        for modifiers in choices(".abs", ".NaN"):
            two = extremum(F32, opcode == "max", False, ".NaN" in modifiers)
            results = []
            for warp in warps:
                values = [bits & (F32.sign - 1) for bits in warp] if ".abs" in modifiers else warp
                result = values[0]
                for bits in values[1:]:
                    result = two(result, bits)
                results += [result] * 32
            expected = iter(results)
            form = f"redux.sync.{opcode}{modifiers}.f32"
            family.elementwise(
                name(form), [("f32", "redux_f32")], "f32", [f"{form} %d, %a, 0xffffffff;"],
                lambda _, expected=expected: next(expected), count=len(results), check={"nan": "bits"},
            )
    return family


def memory(tables):
    family = Family(
        "newer_memory", "st.bulk, masked bulk copies, and vectors of eight short elements.", tables, MEMORY, header=SM100
    )
    zeros(family)
    for hint, policy in (("", ""), (".L2::cache_hint", ", %s")):
        bulk_store_masked(family, "store_masked" + ("_hint" if hint else ""), hint, policy)
    eights(family)
    return family


def eights(family):
    """Vectors of eight are loaded, turned by three places, and stored."""
    for ty in ("u8", "s8", "b16", "u16"):
        size = int(ty[1:]) // 8
        elements = [(37 * place + 130) % 256 ** size for place in range(16)]
        turned = [elements[8 * (place // 8) + (place + 3) % 8] for place in range(16)]
        names = ", ".join(f"%h{place}" for place in range(8))
        others = ", ".join(f"%h{(place + 3) % 8}" for place in range(8))
        body = [*THREAD, "ld.param.u64 %x, [in];", f"mad.wide.u32 %x, %t, {8 * size}, %x;", f"ld.global.v8.{ty} {{{names}}}, [%x];"]
        body += [f"mad.lo.u32 %u, %t, {8 * size}, 64;", "mov.u64 %y, data;"]
        body += ["cvt.u32.u64 %a, %y;", "add.u32 %a, %a, %u;", f"st.shared.v8.{ty} [%a], {{{others}}};"]
        body += [f"ld.shared.v8.{ty} {{{names}}}, [%a];", f"mad.wide.u32 %po, %t, {8 * size}, %po;"]
        body += [f"st.global.v8.{ty} [%po], {{{names}}};"]
        entry = f"eight_{ty}"
        family.kernel(entry, [".param .u64 out", ".param .u64 in"], [*REGISTERS, ".reg .b16 %h<8>;"], body)
        kind = f"u{8 * size}"
        args = [{"type": kind, "zeros": 16}, {"type": kind, "data": elements}]
        family.case(entry, entry, args, [{"arg": 0, "data": turned}], block=2)


def zeros(family):
    """Half of a block's shared memory is overwritten, by an address in shared memory and by a generic one."""
    for form, address in (("st.bulk.weak.shared::cta", "[%s+64]"), ("st.bulk", "[%gen+64]")):
        body = [*THREAD, "mov.u64 %s, data;", "cvta.shared.u64 %gen, %s;", "mad.wide.u32 %x, %t, 4, %s;", "add.u32 %v, %t, 1;"]
        body += ["st.shared.u32 [%x], %v;", "bar.sync 0;", "setp.eq.u32 %q, %t, 0;", "mov.u64 %y, 72;"]
        body += [f"@%q {form} {address}, %y, 0;", "bar.sync 0;", "ld.shared.u32 %v, [%x];"]
        body += ["mad.wide.u32 %po, %t, 4, %po;", "st.global.u32 [%po], %v;"]
        entry = name(form.replace("::", "_"))
        family.kernel(entry, [".param .u64 out"], REGISTERS, body)
        expected = [0 if 16 <= t < 34 else t + 1 for t in range(64)]
        family.case(entry, entry, [{"type": "u32", "zeros": 64}], [{"arg": 0, "data": expected}], block=64)


def barriers(tables):
    """Relaxed arrivals and waits, and bulk copies to the block's own memory."""
    family = Family(
        "newer_barriers", "Relaxed forms of mbarrier, and bulk copies that name the block's own shared memory.", tables,
        MEMORY, header=header("8.8"),
    )
    out = Results()
    add = out.lines.append

    def complete(form, phase, value):
        # One that may wait is asked when there is nothing to wait for: hardware goes on meanwhile, and the thread's own
        # later arrivals may end it.
        for wait in ("test_wait", "try_wait") if value else ("test_wait",):
            add(f"mbarrier.{wait}{form}.shared.b64 %p, [barriers], %s;")
            out.truth("%p", value)
            add(f"mbarrier.{wait}.parity{form}.shared.b64 %p, [barriers], {phase};")
            out.truth("%p", value)

    add("ld.param.u64 %po, [out];")
    add("mbarrier.init.shared.b64 [barriers], 4;")
    for phase, form in enumerate((".relaxed.cta", ".relaxed.cluster")):
        add(f"mbarrier.arrive{form}.shared.b64 %s, [barriers];")
        add(f"mbarrier.arrive.expect_tx{form}.shared.b64 _, [barriers], 8;")
        complete(form, phase, False)
        if phase == 0:
            add(f"mbarrier.arrive{form}.shared.b64 _, [barriers], 1;")
        # All have arrived, one of them for the last time; the bytes are still to come.
        add(f"mbarrier.arrive_drop{form}.shared.b64 _, [barriers];")
        complete(form, phase, False)
        add(f"mbarrier.complete_tx{form}.shared.b64 [barriers], 8;")
        complete(form, phase, True)
    family.kernel("relaxed", [".param .u64 out"], REGISTERS, out.lines)
    args = [{"type": "u32", "zeros": len(out.expected)}]
    family.case("relaxed", "relaxed", args, [{"arg": 0, "data": out.expected}], block=1)
    for hint, policy in (("", ""), (".L2::cache_hint", ", %s")):
        copy = f"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes{hint}"
        bulk_load(family, "load" + ("_hint" if hint else ""), copy, policy)
    return family


def bulk_store_masked(family, entry, hint, policy):
    """Each thread copies 32 bytes, of which a mask of its own leaves some out."""
    masks = [0, 0xFFFF, 1, 0x8000, 0xF, 0xFFF0, 0x7FFE, 0x1248, 0xAAAA, 0x00FF, 0x3C5A, 0xEFFF]
    copy = f"cp.async.bulk.global.shared::cta.bulk_group{hint}.cp_mask"
    body = [*THREAD, "mov.u64 %x, data;", "cvt.u32.u64 %a, %x;", "mad.lo.u32 %a, %t, 32, %a;"]
    for word in range(8):
        body += [f"mad.lo.u32 %v, %t, 8, {word + 1};", "mul.lo.u32 %v, %v, 0x01030507;", f"st.shared.u32 [%a+{4 * word}], %v;"]
    body += ["ld.param.u64 %x, [masks];", "mad.wide.u32 %x, %t, 2, %x;", "ld.global.u16 %h, [%x];", "mad.wide.u32 %po, %t, 32, %po;"]
    body += ["mov.u64 %s, 0x14f0000000000000;", "fence.proxy.async.shared::cta;", f"{copy} [%po], [%a], 32{policy}, %h;"]
    body += ["cp.async.bulk.commit_group;", "cp.async.bulk.wait_group 0;"]
    family.kernel(entry, [".param .u64 out", ".param .u64 masks"], [*REGISTERS, ".reg .b16 %h;"], body)
    expected = []
    for thread, mask in enumerate(masks):
        words = [(8 * thread + word + 1) * 0x01030507 & 0xFFFFFFFF for word in range(8)]
        source = [word >> 8 * byte & 0xFF for word in words for byte in range(4)]
        expected += [value if mask >> place % 16 & 1 else 0xEE for place, value in enumerate(source)]
    args = [{"type": "u8", "data": [0xEE] * 32 * len(masks)}, {"type": "u16", "data": masks}]
    family.case(entry, entry, args, [{"arg": 0, "data": expected}], block=len(masks))


def families(tables):
    return [arithmetic(tables), conversions(tables), warps(tables), memory(tables), barriers(tables)]
